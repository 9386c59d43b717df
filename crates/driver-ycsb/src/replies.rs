//! The replies of one batch, parsed as they come in.

use crate::codec::{self, Ended, Garbage, Reader};
use crate::spent::Spent;
use driver::{OpError, Reply};

/// What a command's answer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    Ping,
    /// One record, as it is.
    Record,
    /// One record, if any of the fields is there.
    Named,
    Write,
    Scan,
}

/// A value that was read: where it begins and ends in the receive buffer.
type Place = (u32, u32);

#[derive(Default)]
pub(crate) struct Replies {
    asked: Vec<Asked>,
    replies: Vec<Reply>,
    /// Of all rows in order; `row_ends` says where each row's end, and `ends` where each command's rows do.
    values: Vec<Place>,
    row_ends: Vec<u32>,
    ends: Vec<u32>,
    failure: Option<OpError>,
    error: Vec<u8>,
}

const ROOM: usize = 64;
/// A scan has many rows, each with all fields.
const VALUES: usize = 4096;

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            asked: Vec::with_capacity(ROOM),
            replies: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(VALUES),
            row_ends: Vec::with_capacity(VALUES),
            ends: Vec::with_capacity(ROOM),
            failure: None,
            error: Vec::with_capacity(1024),
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.asked.clear();
        self.replies.clear();
        self.values.clear();
        self.row_ends.clear();
        self.ends.clear();
        self.failure = None;
        self.error.clear();
    }

    #[inline]
    pub(crate) fn expect(&mut self, asked: Asked) {
        self.asked.push(asked);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Parses what there is from `start` on. Gives where the first incomplete answer begins, and whether all commands are
    /// answered.
    #[inline]
    pub(crate) fn consume(
        &mut self,
        bytes: &[u8],
        start: usize,
        spent: &Spent,
    ) -> Result<(usize, bool), Garbage> {
        let mut at = start;
        while let Some(&asked) = self.asked.get(self.replies.len()) {
            let Some(reader) = Reader::whole(bytes, at)? else { return Ok((at, false)) };
            at = reader.end();
            self.take(asked, reader, spent)?;
        }
        Ok((at, true))
    }

    #[inline]
    fn take(&mut self, asked: Asked, mut answer: Reader<'_>, spent: &Spent) -> Result<(), Garbage> {
        let head = answer.head()?;
        if asked != Asked::Ping {
            spent.add(head);
        }
        let reply = match head.ended {
            Ended::Failed => {
                let (status, words) = (answer.text()?, answer.text()?);
                self.fail(status, words);
                Reply::default()
            }
            Ended::NotFound if answer.number()? == 0 => Reply::default(),
            Ended::NotFound => return Err(Garbage::Unexpected),
            Ended::Done => self.take_rows(asked, &mut answer)?,
        };
        answer.over()?;
        self.replies.push(reply);
        self.ends.push(self.row_ends.len() as u32);
        Ok(())
    }

    #[inline]
    fn take_rows(&mut self, asked: Asked, answer: &mut Reader<'_>) -> Result<Reply, Garbage> {
        let rows = answer.number()?;
        for _ in 0..rows {
            let columns = answer.number()?;
            for _ in 0..columns {
                self.values.push(answer.place()?);
            }
            self.row_ends.push(self.values.len() as u32);
        }
        match (asked, rows) {
            (Asked::Ping, 0) => Ok(Reply::default()),
            (Asked::Write, 0) => Ok(Reply { rows: 0, affected: 1 }),
            // A record without any of the fields that were asked for is a miss.
            (Asked::Named, 0) => Ok(Reply::default()),
            (Asked::Record | Asked::Named, 1) => Ok(Reply { rows: 1, affected: 0 }),
            (Asked::Scan, rows) => Ok(Reply { rows: rows as u64, affected: 0 }),
            _ => Err(Garbage::Unexpected),
        }
    }

    #[cold]
    fn fail(&mut self, status: &[u8], words: &[u8]) {
        if self.failure.is_none() {
            self.failure = Some(OpError::refused(codec::outcome(status)));
            for part in [status, b": ", words] {
                self.error.extend_from_slice(&part[..part.len().min(500)]);
            }
        }
    }

    /// The first command's failure, if any.
    #[inline]
    pub(crate) fn failure(&self) -> Option<OpError> {
        self.failure
    }

    /// Its status and words.
    pub(crate) fn error(&self) -> &[u8] {
        &self.error
    }

    #[inline]
    pub(crate) fn reply(&self, command: usize) -> Reply {
        self.replies.get(command).copied().unwrap_or_default()
    }

    /// Where the value of a row's column stands.
    pub(crate) fn value(&self, command: usize, row: usize, column: usize) -> Option<Place> {
        let rows = between(&self.ends, command)?;
        let row = rows.clone().nth(row)?;
        self.values.get(between(&self.row_ends, row)?)?.get(column).copied()
    }
}

/// From the end of the one before it to its own.
fn between(ends: &[u32], index: usize) -> Option<std::ops::Range<usize>> {
    let end = *ends.get(index)? as usize;
    let begin = if index == 0 { 0 } else { *ends.get(index - 1)? as usize };
    Some(begin..end)
}
