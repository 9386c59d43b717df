//! From the server's bytes to replies, free of I/O.
//!
//! One [`Replies`] is filled once per batch and reused: its lists keep their room. Rows that are only counted are skipped
//! without being buffered, so that a result of any size needs no memory; kept rows are indexed where they lie in the receive
//! buffer.
//!
//! The server answers each command for itself, also where one before it has failed; which commands are sent before which
//! answers is [`crate::session`]'s business, and noted here as the batch's parts.

use crate::codec::{self, Garbage, HEADER, Inside, KEPT_LIMIT, LONGEST};
use crate::server_error::ServerError;
use crate::types::Column;
use driver::{OpError, Reply};

/// What a command that was sent must be answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// An OK: COM_PING, BEGIN, COMMIT, ROLLBACK.
    Control,
    /// What the statement of this index gives; its rows are kept where its columns say so.
    Statement(u32),
}

/// A statement's columns as the server has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) keeps: bool,
    /// All that the server returns; empty where rows are not kept.
    pub(crate) columns: Box<[Column]>,
}

/// How far the batch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// More bytes are needed.
    Incomplete,
    /// All that was sent is answered.
    Answered,
    /// The server has ended the session.
    Ended,
}

struct Step {
    asked: Asked,
    reply: Reply,
    /// Index of its first kept row in `rows`.
    first_row: u32,
}

/// What comes next in the answer to a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaits {
    /// An OK, an error, or the number of columns.
    Head,
    /// So many definitions of columns, out of so many.
    Columns { left: u64, of: u64 },
    /// A row or the end of rows.
    Row,
}

pub(crate) struct Replies {
    shapes: Box<[Shape]>,
    /// Whether the number of columns is followed by a byte that says whether their definitions follow.
    tells_columns: bool,
    steps: Vec<Step>,
    /// Steps that begin a part: they are sent when those before them are answered.
    parts: Vec<usize>,
    /// How many parts are answered.
    part: usize,
    /// The step that is being answered, what comes next in its answer, and that packet's number.
    current: usize,
    awaits: Awaits,
    number: u8,
    /// Bytes of a counted row that have not arrived yet, and whether another packet of the same row follows.
    skip: usize,
    continued: bool,
    /// Where the kept rows' packets begin in the receive buffer.
    rows: Vec<u32>,
    keeps: bool,
    failure: Option<OpError>,
    /// The server's first error of the batch, cut off at the room that was set aside.
    error: Vec<u8>,
}

const BATCH_ROOM: usize = 64;
const ROW_ROOM: usize = 1024;
const ERROR_ROOM: usize = 1024;

impl Replies {
    pub(crate) fn new(shapes: Box<[Shape]>, tells_columns: bool) -> Replies {
        let mut error = vec![1; ERROR_ROOM]; // touched, so that the first error faults no page
        error.clear();
        let mut rows = vec![1; ROW_ROOM];
        rows.clear();
        Replies {
            shapes,
            tells_columns,
            steps: Vec::with_capacity(BATCH_ROOM),
            parts: Vec::with_capacity(BATCH_ROOM),
            part: 0,
            current: 0,
            awaits: Awaits::Head,
            number: 1,
            skip: 0,
            continued: false,
            rows,
            keeps: false,
            failure: None,
            error,
        }
    }

    /// Forgets the last batch.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.parts.clear();
        self.part = 0;
        self.current = 0;
        self.awaits = Awaits::Head;
        self.number = 1;
        self.skip = 0;
        self.continued = false;
        self.rows.clear();
        self.keeps = false;
        self.failure = None;
        self.error.clear();
    }

    pub(crate) fn expect(&mut self, asked: Asked) {
        if let Asked::Statement(index) = asked {
            self.keeps |= self.shapes[index as usize].keeps;
        }
        self.steps.push(Step { asked, reply: Reply::default(), first_row: 0 });
    }

    /// What is expected from here on is sent when all before it is answered.
    pub(crate) fn end_part(&mut self) {
        self.parts.push(self.steps.len());
    }

    /// The next part is sent.
    pub(crate) fn go_on(&mut self) {
        self.part += 1;
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

    /// The columns and the row's body, for a row kept in `buffer`. It ends where its packet does: what a row claims to have
    /// beyond that belongs to others.
    pub(crate) fn kept<'a>(
        &self,
        command: usize,
        row: usize,
        buffer: &'a [u8],
    ) -> Option<(&[Column], &'a [u8])> {
        let step = self.steps.get(command)?;
        let Asked::Statement(index) = step.asked else { return None };
        let shape = self.shapes.get(index as usize).filter(|shape| shape.keeps)?;
        if row as u64 >= step.reply.rows {
            return None;
        }
        let at = *self.rows.get(step.first_row as usize + row)? as usize;
        let (body, _) = codec::packet(buffer.get(at..)?)?;
        Some((&shape.columns, body))
    }

    /// Reads packets from `buffer[at..]` and gives the position behind the last one that was whole. When the batch keeps
    /// rows, `buffer` must begin where it began when the batch's first byte arrived.
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
            let Some((length, number)) = codec::header(&buffer[at..]) else {
                return Ok((at, Progress::Incomplete));
            };
            if self.continued {
                self.follows(number)?;
                self.continued = length == LONGEST;
                self.skip = length;
                at += HEADER;
                continue;
            }
            if self.awaits == Awaits::Row && !self.keeps_now() && length > 0 {
                let Some(&first) = buffer.get(at + HEADER) else { return Ok((at, Progress::Incomplete)) };
                if first == codec::OK {
                    self.follows(number)?;
                    self.count_row()?;
                    self.continued = length == LONGEST;
                    self.skip = length;
                    at += HEADER;
                    continue;
                }
            }
            let Some(body) = buffer.get(at + HEADER..at + HEADER + length) else {
                return Ok((at, Progress::Incomplete));
            };
            let progress = self.packet(body, number, at)?;
            at += HEADER + length;
            if progress != Progress::Incomplete {
                return Ok((at, progress));
            }
        }
    }

    #[inline(always)]
    fn packet(&mut self, body: &[u8], number: u8, at: usize) -> Result<Progress, Garbage> {
        let Some(&first) = body.first() else { return Err(Garbage::Malformed("packet without a body")) };
        if self.current >= self.sent() {
            return if first == codec::ERROR { Ok(self.fail(body)) } else { Err(Garbage::Unexpected(first)) };
        }
        // A server that ends the session in between says so with a number of its own.
        if first == codec::ERROR {
            return Ok(self.fail(body));
        }
        self.follows(number)?;
        match self.awaits {
            Awaits::Head => self.head(first, body)?,
            Awaits::Columns { left, of } => self.column(left, of, body)?,
            Awaits::Row => match first {
                codec::OK => self.keep_row(body, at)?,
                codec::END => self.done(body)?,
                _ => return Err(Garbage::Unexpected(first)),
            },
        }
        Ok(self.progress())
    }

    #[inline(always)]
    fn head(&mut self, first: u8, body: &[u8]) -> Result<(), Garbage> {
        match (first, self.steps[self.current].asked) {
            (codec::OK, _) => self.done(body),
            (codec::LOCAL_FILE | codec::END, _) | (_, Asked::Control) => Err(Garbage::Unexpected(first)),
            (_, Asked::Statement(index)) => {
                let mut inside = Inside(body);
                let of = inside.number().ok_or(Garbage::Malformed("number of columns"))?;
                let follow = match (self.tells_columns, inside.byte()) {
                    (false, None) | (true, Some(1)) => true,
                    (true, Some(0)) => false,
                    _ => return Err(Garbage::Malformed("number of columns")),
                };
                let shape = &self.shapes[index as usize];
                if shape.keeps && shape.columns.len() as u64 != of {
                    return Err(Garbage::ColumnCount(of));
                }
                self.awaits = if follow { Awaits::Columns { left: of, of } } else { Awaits::Row };
                Ok(())
            }
        }
    }

    /// Column definitions come with each result, or where the server keeps in mind what it has told, when they have changed.
    #[inline(always)]
    fn column(&mut self, left: u64, of: u64, body: &[u8]) -> Result<(), Garbage> {
        let Asked::Statement(index) = self.steps[self.current].asked else {
            return Err(Garbage::Malformed("definition of a column"));
        };
        let shape = &mut self.shapes[index as usize];
        if shape.keeps {
            let position = (of - left) as usize; // below the number of columns
            let column = &mut shape.columns[position];
            let now = column.redefined(body).ok_or(Garbage::Malformed("definition of a column"))?;
            if now != *column {
                // Rows of this batch that are kept already were of the old type.
                let has_rows = self.steps[..self.current]
                    .iter()
                    .any(|step| step.asked == Asked::Statement(index) && step.reply.rows > 0);
                if has_rows || !now.fits() {
                    return Err(Garbage::Column(position));
                }
                *column = now;
            }
        }
        self.awaits = if left > 1 { Awaits::Columns { left: left - 1, of } } else { Awaits::Row };
        Ok(())
    }

    /// Packets of an answer are numbered from 1 on, round a byte.
    #[inline(always)]
    fn follows(&mut self, found: u8) -> Result<(), Garbage> {
        if found != self.number {
            return Err(Garbage::OutOfOrder { found, expected: self.number });
        }
        self.number = found.wrapping_add(1);
        Ok(())
    }

    #[inline(always)]
    fn keeps_now(&self) -> bool {
        match self.steps.get(self.current) {
            Some(Step { asked: Asked::Statement(index), .. }) => self.shapes[*index as usize].keeps,
            _ => false,
        }
    }

    /// How many steps are sent.
    #[inline(always)]
    fn sent(&self) -> usize {
        self.parts.get(self.part).copied().unwrap_or(self.steps.len())
    }

    fn count_row(&mut self) -> Result<(), Garbage> {
        let step = self.steps.get_mut(self.current).ok_or(Garbage::Unexpected(codec::OK))?;
        step.reply.rows += 1;
        Ok(())
    }

    fn keep_row(&mut self, body: &[u8], at: usize) -> Result<(), Garbage> {
        if body.len() == LONGEST {
            return Err(Garbage::LongRow);
        }
        if at > KEPT_LIMIT {
            return Err(Garbage::TooManyRows);
        }
        let index = self.rows.len() as u32; // below KEPT_LIMIT, since each row takes bytes
        let step = &mut self.steps[self.current];
        if step.reply.rows == 0 {
            step.first_row = index;
        }
        step.reply.rows += 1;
        self.rows.push(at as u32);
        Ok(())
    }

    fn done(&mut self, body: &[u8]) -> Result<(), Garbage> {
        let done = codec::done(body)?;
        if done.status & codec::MORE_RESULTS != 0 {
            return Err(Garbage::SecondResult);
        }
        let step = &mut self.steps[self.current];
        if step.asked != Asked::Control {
            step.reply.affected = done.affected;
        }
        self.next();
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self) {
        self.current += 1;
        self.awaits = Awaits::Head;
        self.number = 1;
    }

    #[inline(always)]
    fn progress(&self) -> Progress {
        if self.current == self.sent() { Progress::Answered } else { Progress::Incomplete }
    }

    #[cold]
    fn fail(&mut self, body: &[u8]) -> Progress {
        let error = ServerError::parse(body);
        // Nobody asked: it can only be a good-bye.
        let fatal = error.is_fatal() || self.current >= self.sent();
        if self.failure.is_none() || fatal {
            self.error.clear();
            self.error.extend_from_slice(&body[..body.len().min(ERROR_ROOM)]);
            let outcome = error.outcome();
            self.failure = Some(if fatal { OpError::lost(outcome) } else { OpError::refused(outcome) });
        }
        if fatal {
            return Progress::Ended;
        }
        self.next();
        self.progress()
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
