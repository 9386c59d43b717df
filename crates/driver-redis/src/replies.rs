//! The replies of one batch, parsed as they come in.

use crate::codec::{self, Garbage, Item};
use driver::{OpError, Reply};

/// What a command's reply means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// `+PONG`
    Ping,
    /// Names and values of a hash, all of them.
    AllFields,
    /// An array of the one value.
    OneField,
    /// A number that doesn't matter: the record was written.
    Write,
    /// How many records went.
    Delete,
}

/// A value that was read: where it begins and ends in the receive buffer.
type Place = (u32, u32);

#[derive(Default)]
pub(crate) struct Replies {
    asked: Vec<Asked>,
    replies: Vec<Reply>,
    /// Values of all reads in order; `ends` says where each command's end.
    values: Vec<Place>,
    ends: Vec<u32>,
    /// Items of the current reply that are still to come; 0 between replies.
    pending: usize,
    /// Items of the current reply that are there.
    seen: usize,
    failure: Option<OpError>,
    error: Vec<u8>,
}

const ROOM: usize = 64;

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            asked: Vec::with_capacity(ROOM),
            replies: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(ROOM),
            ends: Vec::with_capacity(ROOM),
            error: Vec::with_capacity(256),
            ..Replies::default()
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.asked.clear();
        self.replies.clear();
        self.values.clear();
        self.ends.clear();
        (self.pending, self.seen) = (0, 0);
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

    /// Parses what there is from `start` on. Gives where the first incomplete item begins, and whether all commands are
    /// answered.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: &[u8], start: usize) -> Result<(usize, bool), Garbage> {
        let mut at = start;
        while let Some(&asked) = self.asked.get(self.replies.len()) {
            let Some((item, next)) = codec::item(bytes, at)? else { return Ok((at, false)) };
            at = next;
            self.take(asked, item, bytes)?;
        }
        Ok((at, true))
    }

    #[inline]
    fn take(&mut self, asked: Asked, item: Item, bytes: &[u8]) -> Result<(), Garbage> {
        if self.pending > 0 {
            return self.take_value(asked, item);
        }
        match (asked, item) {
            (_, Item::Error { begin, end }) => {
                self.fail(&bytes[begin..end]);
                self.finish(Reply::default());
            }
            (Asked::Ping, Item::Simple { .. }) => self.finish(Reply::default()),
            (Asked::AllFields | Asked::OneField, Item::Array(0) | Item::Nil) => self.finish(Reply::default()),
            (Asked::AllFields, Item::Array(count)) if count % 2 == 0 => self.pending = count,
            (Asked::OneField, Item::Array(1)) => self.pending = 1,
            (Asked::Write, Item::Integer(_)) => self.finish(Reply { rows: 0, affected: 1 }),
            (Asked::Delete, Item::Integer(count)) => {
                self.finish(Reply { rows: 0, affected: u64::try_from(count).unwrap_or(0) });
            }
            (_, item) => return Err(Garbage::Unexpected(tag(item))),
        }
        Ok(())
    }

    /// An item of an array.
    #[inline]
    fn take_value(&mut self, asked: Asked, item: Item) -> Result<(), Garbage> {
        match (asked, item) {
            // Names and values take turns.
            (Asked::AllFields, Item::Bulk { .. }) if self.seen.is_multiple_of(2) => {}
            (_, Item::Bulk { begin, end }) => self.values.push((begin as u32, end as u32)),
            (Asked::OneField, Item::Nil) => {
                self.pending = 0;
                self.finish(Reply::default());
                return Ok(());
            }
            (_, item) => return Err(Garbage::Unexpected(tag(item))),
        }
        self.seen += 1;
        self.pending -= 1;
        if self.pending == 0 {
            self.finish(Reply { rows: 1, affected: 0 });
        }
        Ok(())
    }

    #[inline]
    fn finish(&mut self, reply: Reply) {
        self.replies.push(reply);
        self.ends.push(self.values.len() as u32);
        self.seen = 0;
    }

    #[cold]
    fn fail(&mut self, words: &[u8]) {
        if self.failure.is_none() {
            self.failure = Some(OpError::refused(codec::outcome(words)));
            self.error.extend_from_slice(&words[..words.len().min(1000)]);
        }
    }

    /// The first command's failure, if any.
    #[inline]
    pub(crate) fn failure(&self) -> Option<OpError> {
        self.failure
    }

    /// The server's words of it.
    pub(crate) fn error(&self) -> &[u8] {
        &self.error
    }

    #[inline]
    pub(crate) fn reply(&self, command: usize) -> Reply {
        self.replies.get(command).copied().unwrap_or_default()
    }

    /// Where the value of a read's column stands.
    pub(crate) fn value(&self, command: usize, column: usize) -> Option<Place> {
        let end = *self.ends.get(command)? as usize;
        let begin = if command == 0 { 0 } else { *self.ends.get(command - 1)? as usize };
        self.values.get(begin..end)?.get(column).copied()
    }
}

fn tag(item: Item) -> u8 {
    match item {
        Item::Simple { .. } => b'+',
        Item::Error { .. } => b'-',
        Item::Integer(_) => b':',
        Item::Bulk { .. } | Item::Nil => b'$',
        Item::Array(_) => b'*',
    }
}
