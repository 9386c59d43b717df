//! The replies of one batch, parsed when each has come in whole.

use crate::codec::{self, Body, Garbage, Head, UNPREPARED, kind, opcode};
use driver::{OpError, Reply};

/// What a command's answer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// What the server supports.
    Ping,
    /// Records, with all of so many columns. Those that a record lacks are left out.
    All(usize),
    /// Records, with so many columns that were named.
    Named(usize),
    /// Nothing: something was written.
    Write,
}

/// A value that was read: where it begins and ends in the receive buffer.
type Span = (u32, u32);

/// The place of a field that a record lacks.
const NOWHERE: Span = (u32::MAX, u32::MAX);

#[derive(Default)]
pub(crate) struct Replies {
    asked: Vec<Asked>,
    replies: Vec<Reply>,
    /// Of each command the range in `rows`.
    rows_of: Vec<Span>,
    /// Of each row where its values end; it begins where the one before ends.
    rows: Vec<u32>,
    values: Vec<Span>,
    /// Commands whose answers are in.
    answered: usize,
    /// The number that the first command's request has; the others follow.
    first: u16,
    failure: Option<OpError>,
    /// The first error's number, and its words.
    code: i32,
    error: Vec<u8>,
}

const ROOM: usize = 64;
/// Values: a usual scan has so many records of ten fields.
const ROOM_FOR_SCANS: usize = 1024;

/// Requests are numbered below this: what is negative belongs to events.
const STREAMS: u16 = 1 << 15;

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            asked: Vec::with_capacity(ROOM),
            replies: Vec::with_capacity(ROOM),
            rows_of: Vec::with_capacity(ROOM),
            rows: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(ROOM_FOR_SCANS),
            error: Vec::with_capacity(256),
            ..Replies::default()
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.first = (self.first + (self.asked.len() % usize::from(STREAMS)) as u16) % STREAMS;
        self.asked.clear();
        self.replies.clear();
        self.rows_of.clear();
        self.rows.clear();
        self.values.clear();
        self.answered = 0;
        self.failure = None;
        self.error.clear();
    }

    /// Expects the answer to one more command; gives the number that its request is to have.
    #[inline]
    pub(crate) fn expect(&mut self, asked: Asked) -> i16 {
        let stream = self.stream(self.asked.len());
        self.asked.push(asked);
        self.replies.push(Reply::default());
        self.rows_of.push((0, 0));
        stream
    }

    /// Each request has a number of its own, so that an answer that was meant for another one is not taken for its.
    #[inline]
    fn stream(&self, command: usize) -> i16 {
        ((self.first + (command % usize::from(STREAMS)) as u16) % STREAMS) as i16
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Parses the answer that begins at `start`. Gives where the next would begin; `None` while it is not there whole.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: &[u8], start: usize) -> Result<Option<usize>, Garbage> {
        let Some(head) = codec::head(bytes, start)? else { return Ok(None) };
        let Some(asked) = self.asked.get(self.answered).copied() else { return Err(Garbage::Surplus) };
        if head.stream != self.stream(self.answered) {
            return Err(Garbage::Stream(head.stream));
        }
        let mut body = Body::of(bytes, head)?;
        self.take(asked, head, &mut body)?;
        self.answered += 1;
        Ok(Some(head.end))
    }

    #[inline]
    fn take(&mut self, asked: Asked, head: Head, body: &mut Body<'_>) -> Result<(), Garbage> {
        match (head.opcode, asked) {
            (opcode::ERROR, _) => {
                let (code, words) = codec::error(body)?;
                self.fail(code, words);
                Ok(())
            }
            (opcode::SUPPORTED, Asked::Ping) => Ok(()),
            (opcode::RESULT, Asked::Write) => match body.int()? {
                kind::VOID => {
                    self.replies[self.answered].affected = 1;
                    Ok(())
                }
                other => Err(Garbage::Kind(other)),
            },
            (opcode::RESULT, Asked::All(columns) | Asked::Named(columns)) => match body.int()? {
                kind::ROWS => self.take_rows(columns, matches!(asked, Asked::Named(_)), body),
                other => Err(Garbage::Kind(other)),
            },
            (other, _) => Err(Garbage::Opcode(other)),
        }
    }

    #[inline]
    fn take_rows(&mut self, wanted: usize, named: bool, body: &mut Body<'_>) -> Result<(), Garbage> {
        let (columns, _) = body.metadata()?;
        if wanted == 0 || usize::try_from(columns) != Ok(wanted) {
            return Err(Garbage::Columns(columns));
        }
        let count = body.int()?;
        let first = self.rows.len() as u32;
        for _ in 0..count {
            let begin = self.values.len();
            let mut any = false;
            for _ in 0..wanted {
                match body.bytes()? {
                    Some((from, to)) => {
                        any = true;
                        self.values.push((from as u32, to as u32));
                    }
                    None if named => self.values.push(NOWHERE),
                    None => {}
                }
            }
            // A record without any of the fields that were named is as good as none.
            if named && !any {
                self.values.truncate(begin);
            } else {
                self.rows.push(self.values.len() as u32);
            }
        }
        if !body.is_over() {
            return Err(Garbage::Surplus);
        }
        let end = self.rows.len() as u32;
        self.rows_of[self.answered] = (first, end);
        self.replies[self.answered].rows = u64::from(end - first);
        Ok(())
    }

    #[cold]
    fn fail(&mut self, code: i32, words: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let outcome = codec::outcome(code);
        // What was prepared is gone, and nothing is prepared again in secret.
        let lost = code == UNPREPARED;
        self.failure = Some(if lost { OpError::lost(outcome) } else { OpError::refused(outcome) });
        self.code = code;
        self.error.extend_from_slice(&words[..words.len().min(1000)]);
    }

    /// The first command's failure, if any.
    #[inline]
    pub(crate) fn failure(&self) -> Option<OpError> {
        self.failure
    }

    /// What the server said of it.
    pub(crate) fn error(&self) -> Option<String> {
        self.failure?;
        Some(format!("{}: {}", codec::error_name(self.code), String::from_utf8_lossy(&self.error)))
    }

    #[inline]
    pub(crate) fn reply(&self, command: usize) -> Reply {
        self.replies.get(command).copied().unwrap_or_default()
    }

    /// Where the value of a row's column stands; the inner `None` is that of a field which the record lacks.
    pub(crate) fn value(&self, command: usize, row: usize, column: usize) -> Option<Option<Span>> {
        let (first, end) = *self.rows_of.get(command)?;
        let row = (first as usize).checked_add(row).filter(|row| *row < end as usize)?;
        let begin = if row == 0 { 0 } else { self.rows[row - 1] as usize };
        let span = *self.values.get(begin..self.rows[row] as usize)?.get(column)?;
        Some((span != NOWHERE).then_some(span))
    }
}
