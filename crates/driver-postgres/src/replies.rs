//! From the server's bytes to replies, free of I/O.
//!
//! One [`Replies`] is filled once per batch and reused: its lists keep their room. Rows that are only counted
//! are skipped without being buffered, so that a result of any size needs no memory; kept rows are indexed
//! where they lie in the receive buffer.

use crate::codec::{Frame, Garbage, HEADER, Inside, MESSAGE_LIMIT, frame, header};
use crate::server_error::ServerError;
use driver::{OpError, Reply};
use units::Outcome;

/// What a command that was sent must be answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// An empty statement.
    Ping,
    /// BEGIN or ROLLBACK.
    Control,
    /// COMMIT, which the server answers with `ROLLBACK` when the transaction had failed.
    Commit,
    /// A statement whose rows are counted.
    Counted,
    /// A statement whose rows are kept, and its index.
    Kept(u32),
}

/// How far the batch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// More bytes are needed.
    Incomplete,
    /// The server is ready for the next batch.
    Ready,
    /// The server has ended the session with a fatal error.
    Ended,
}

struct Step {
    asked: Asked,
    reply: Reply,
    /// Index of its first kept row in `rows`.
    first_row: u32,
}

pub(crate) struct Replies {
    steps: Vec<Step>,
    /// The step that is being answered.
    current: usize,
    /// Bytes of a counted row that have not arrived yet.
    skip: usize,
    /// Where the kept rows' bodies begin in the receive buffer.
    rows: Vec<u32>,
    keeps: bool,
    failure: Option<OpError>,
    /// The server's first ErrorResponse of the batch, cut off at the room that was set aside.
    error: Vec<u8>,
}

const BATCH_ROOM: usize = 64;
const ROW_ROOM: usize = 1024;
const ERROR_ROOM: usize = 1024;

impl Replies {
    pub(crate) fn new() -> Replies {
        let mut error = vec![1; ERROR_ROOM]; // touched, so that the first error faults no page
        error.clear();
        let mut rows = vec![1; ROW_ROOM];
        rows.clear();
        Replies {
            steps: Vec::with_capacity(BATCH_ROOM),
            current: 0,
            skip: 0,
            rows,
            keeps: false,
            failure: None,
            error,
        }
    }

    /// Forgets the last batch.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.current = 0;
        self.skip = 0;
        self.rows.clear();
        self.keeps = false;
        self.failure = None;
        self.error.clear();
    }

    pub(crate) fn expect(&mut self, asked: Asked) {
        self.keeps |= matches!(asked, Asked::Kept(_));
        self.steps.push(Step { asked, reply: Reply::default(), first_row: 0 });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether bytes that were consumed must stay where they are.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// The first failure of the batch.
    pub(crate) fn failure(&self) -> Option<OpError> {
        self.failure
    }

    /// The server's words for [`Replies::failure`]; empty when the server has said nothing.
    pub(crate) fn error(&self) -> &[u8] {
        &self.error
    }

    pub(crate) fn reply(&self, command: usize) -> Reply {
        self.steps.get(command).map_or(Reply::default(), |step| step.reply)
    }

    /// Index of the statement and the row's body, for a row kept in `buffer`. It ends where its message does: what
    /// a row claims to have beyond that belongs to others.
    pub(crate) fn kept<'a>(&self, command: usize, row: usize, buffer: &'a [u8]) -> Option<(u32, &'a [u8])> {
        let step = self.steps.get(command)?;
        let Asked::Kept(statement) = step.asked else { return None };
        if row as u64 >= step.reply.rows {
            return None;
        }
        let body_at = *self.rows.get(step.first_row as usize + row)? as usize;
        let Frame { body, .. } = frame(buffer.get(body_at - HEADER..)?).ok()??;
        Some((statement, body))
    }

    /// Reads messages from `buffer[at..]` and gives the position behind the last one that was whole. When the
    /// batch keeps rows, `buffer` must begin where it began when the batch's first byte arrived.
    pub(crate) fn consume(&mut self, buffer: &[u8], mut at: usize) -> Result<(usize, Progress), Garbage> {
        loop {
            if self.skip > 0 {
                let skipped = self.skip.min(buffer.len() - at);
                at += skipped;
                self.skip -= skipped;
                if self.skip > 0 {
                    return Ok((at, Progress::Incomplete));
                }
            }
            let Some((tag, size)) = header(&buffer[at..])? else { return Ok((at, Progress::Incomplete)) };
            if tag == b'D' && !self.keeps_now() {
                self.count_row()?;
                at += HEADER;
                self.skip = size - HEADER;
                continue;
            }
            let Some(body) = buffer.get(at + HEADER..at + size) else {
                return Ok((at, Progress::Incomplete));
            };
            let progress = self.message(tag, body, at + HEADER)?;
            at += size;
            if progress != Progress::Incomplete {
                return Ok((at, progress));
            }
        }
    }

    #[inline(always)]
    fn message(&mut self, tag: u8, body: &[u8], body_at: usize) -> Result<Progress, Garbage> {
        match tag {
            b'2' => self.current_step(tag).map(drop)?, // BindComplete
            b'D' => self.keep_row(body_at)?,
            b'C' => self.command_complete(body)?,
            b'I' => self.next_step(tag)?, // EmptyQueryResponse
            b'Z' => return self.ready(body),
            b'E' => return Ok(self.fail(body)),
            // Notices, parameters and notifications come at any time and answer nothing.
            b'N' | b'S' | b'A' => {}
            _ => return Err(Garbage::Unexpected(tag)),
        }
        Ok(Progress::Incomplete)
    }

    #[inline(always)]
    fn keeps_now(&self) -> bool {
        self.keeps && matches!(self.steps.get(self.current), Some(Step { asked: Asked::Kept(_), .. }))
    }

    fn current_step(&mut self, tag: u8) -> Result<&mut Step, Garbage> {
        self.steps.get_mut(self.current).ok_or(Garbage::Unexpected(tag))
    }

    fn next_step(&mut self, tag: u8) -> Result<(), Garbage> {
        self.current_step(tag)?;
        self.current += 1;
        Ok(())
    }

    fn count_row(&mut self) -> Result<(), Garbage> {
        self.current_step(b'D')?.reply.rows += 1;
        Ok(())
    }

    fn keep_row(&mut self, body_at: usize) -> Result<(), Garbage> {
        if body_at > MESSAGE_LIMIT {
            return Err(Garbage::TooManyRows);
        }
        let index = self.rows.len() as u32; // below MESSAGE_LIMIT, since each row takes bytes
        let step = self.current_step(b'D')?;
        if step.reply.rows == 0 {
            step.first_row = index;
        }
        step.reply.rows += 1;
        self.rows.push(body_at as u32);
        Ok(())
    }

    fn command_complete(&mut self, body: &[u8]) -> Result<(), Garbage> {
        let step = self.current_step(b'C')?;
        match step.asked {
            Asked::Ping => return Err(Garbage::Unexpected(b'C')),
            Asked::Control => {}
            // The server rolls a failed transaction back however it is asked to end it. Whoever believed
            // to have committed must hear of it.
            Asked::Commit if body.starts_with(b"ROLLBACK") => {
                self.failure.get_or_insert(OpError::refused(Outcome::Server));
            }
            Asked::Commit => {}
            Asked::Counted | Asked::Kept(_) => {
                step.reply.affected = affected(body).ok_or(Garbage::Malformed(b'C'))?;
            }
        }
        self.current += 1;
        Ok(())
    }

    #[cold]
    fn fail(&mut self, body: &[u8]) -> Progress {
        let error = ServerError::parse(body);
        let fatal = error.is_fatal();
        if self.error.is_empty() {
            self.error.extend_from_slice(&body[..body.len().min(ERROR_ROOM)]);
            let outcome = error.outcome();
            self.failure = Some(if fatal { OpError::lost(outcome) } else { OpError::refused(outcome) });
        }
        // The server skips everything up to the end of the batch.
        self.current = self.steps.len();
        if fatal { Progress::Ended } else { Progress::Incomplete }
    }

    fn ready(&mut self, body: &[u8]) -> Result<Progress, Garbage> {
        if !matches!(body, [b'I' | b'T' | b'E']) {
            return Err(Garbage::Malformed(b'Z'));
        }
        if self.current != self.steps.len() {
            return Err(Garbage::AnswerCount);
        }
        Ok(Progress::Ready)
    }
}

/// Rows changed, out of a command tag such as `INSERT 0 1`; zero for commands that change none.
fn affected(body: &[u8]) -> Option<u64> {
    let tag = body.strip_suffix(b"\0")?;
    let changes = matches!(tag.first_chunk::<4>(), Some(b"INSE" | b"UPDA" | b"DELE" | b"MERG"));
    if !changes {
        return Some(0);
    }
    let digits = tag.rsplit(|b| *b == b' ').next()?;
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = digit.checked_sub(b'0').filter(|d| *d <= 9)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// The n-th field of a row's body: `Some(None)` is NULL, `None` is past the end.
#[expect(clippy::option_option, reason = "NULL and the end are two things")]
pub(crate) fn field(row: &[u8], column: usize) -> Option<Option<&[u8]>> {
    let mut inside = Inside(row);
    if column >= usize::try_from(inside.i16()?).ok()? {
        return None;
    }
    for _ in 0..column {
        inside.field()?;
    }
    inside.field()
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
