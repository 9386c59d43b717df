//! The replies of one batch, parsed as they come in.

use crate::codec::{self, Garbage, Item};
use driver::{Fields, OpError, Reply};

/// What a command's reply means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// `+PONG`
    Ping,
    /// A record.
    Record(Wanted),
    /// A number that doesn't matter: fields were written.
    Write,
    /// The same, and one of the index.
    Insert,
    /// How many records went, and one of the index.
    Delete,
    /// The keys of a scan; its records follow when they have been asked for.
    Scan,
}

/// Which fields of a record come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// Names and values of all of them, in turns.
    All,
    /// So many values.
    Named(usize),
}

/// A value that was read: where it begins and ends in the receive buffer.
type Place = (u32, u32);

/// The place of a field that a record lacks.
const NOWHERE: Place = (u32::MAX, u32::MAX);

/// From one place of a list to another.
type Range = (u32, u32);

/// A scan: its keys come first, and then their records are asked for.
#[derive(Clone, Copy, Debug)]
struct Scan {
    command: usize,
    wanted: Wanted,
    /// In `names`: the fields' names as they are sent.
    names: Range,
    /// In `keys`.
    keys: Range,
}

/// A command that was sent, and what has come of it.
#[derive(Clone, Copy)]
struct Command {
    asked: Asked,
    reply: Reply,
    /// In `rows`.
    rows: Range,
}

#[derive(Default)]
pub(crate) struct Replies {
    /// In one place: with many sessions each of the lists costs a miss of the cache, for each request.
    commands: Vec<Command>,
    /// Of each row where its values end; it begins where the one before ends.
    rows: Vec<u32>,
    values: Vec<Place>,
    scans: Vec<Scan>,
    keys: Vec<Place>,
    names: Vec<u8>,
    /// Commands whose own answers are in.
    answered: usize,
    /// Answers that the current command has had, of those that take more than one.
    parts: u32,
    /// Scans that have their records, and records that the next of them has.
    scanned: usize,
    records: u32,
    /// Items of the current record that are still to come; 0 between records.
    pending: usize,
    /// Items of the current record that are there.
    seen: usize,
    failure: Option<OpError>,
    error: Vec<u8>,
}

const ROOM: usize = 64;
/// Values and keys: a usual scan has so many records of ten fields.
const ROOM_FOR_SCANS: usize = 1024;

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            commands: Vec::with_capacity(ROOM),
            rows: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(ROOM_FOR_SCANS),
            keys: Vec::with_capacity(ROOM),
            scans: Vec::with_capacity(ROOM),
            names: Vec::with_capacity(256),
            error: Vec::with_capacity(256),
            ..Replies::default()
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.commands.clear();
        self.rows.clear();
        self.values.clear();
        self.scans.clear();
        self.keys.clear();
        self.names.clear();
        (self.answered, self.parts, self.scanned, self.records) = (0, 0, 0, 0);
        (self.pending, self.seen) = (0, 0);
        self.failure = None;
        self.error.clear();
    }

    #[inline]
    pub(crate) fn expect(&mut self, asked: Asked) {
        self.commands.push(Command { asked, reply: Reply::default(), rows: (0, 0) });
    }

    /// Expects the keys of a scan. Of its records these fields will be asked for.
    pub(crate) fn expect_scan(&mut self, fields: Fields<'_>) {
        let begin = self.names.len() as u32;
        let wanted = match fields {
            Fields::All => Wanted::All,
            Fields::One(name) => {
                codec::part(&mut self.names, name.as_bytes());
                Wanted::Named(1)
            }
            Fields::Named(names) => {
                names.iter().for_each(|name| codec::part(&mut self.names, name.as_bytes()));
                Wanted::Named(names.len())
            }
        };
        let names = (begin, self.names.len() as u32);
        self.scans.push(Scan { command: self.commands.len(), wanted, names, keys: (0, 0) });
        self.expect(Asked::Scan);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Parses what there is from `start` on. Gives where the first incomplete item begins, and whether all that was sent is
    /// answered.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: &[u8], start: usize) -> Result<(usize, bool), Garbage> {
        let mut at = start;
        let before = self.answered < self.commands.len();
        while let Some(asked) = self.next() {
            // The records of scans have to be asked for first.
            if before && self.answered == self.commands.len() {
                break;
            }
            let Some((item, next)) = codec::item(bytes, at)? else { return Ok((at, false)) };
            at = next;
            self.take(asked, item, bytes)?;
        }
        Ok((at, true))
    }

    /// What comes next; `None` when all is there.
    #[inline]
    fn next(&mut self) -> Option<Asked> {
        if let Some(command) = self.commands.get(self.answered) {
            return Some(command.asked);
        }
        while let Some(scan) = self.scans.get(self.scanned) {
            if scan.keys.0 + self.records < scan.keys.1 {
                return Some(Asked::Record(scan.wanted));
            }
            (self.scanned, self.records) = (self.scanned + 1, 0);
        }
        None
    }

    /// Whether records of scans are still to be asked for, now that all else is answered.
    #[inline]
    pub(crate) fn lacks_records(&mut self) -> bool {
        !self.scans.is_empty() && self.next().is_some()
    }

    /// Encodes the requests for the records of all scans.
    pub(crate) fn ask_for_records(&self, bytes: &[u8], out: &mut Vec<u8>) {
        for scan in &self.scans {
            for (begin, end) in &self.keys[scan.keys.0 as usize..scan.keys.1 as usize] {
                let key = &bytes[*begin as usize..*end as usize];
                match scan.wanted {
                    Wanted::All => {
                        codec::command(out, 2);
                        codec::part(out, b"HGETALL");
                        codec::part(out, key);
                    }
                    Wanted::Named(count) => {
                        codec::command(out, 2 + count);
                        codec::part(out, b"HMGET");
                        codec::part(out, key);
                        out.extend_from_slice(&self.names[scan.names.0 as usize..scan.names.1 as usize]);
                    }
                }
            }
        }
    }

    #[inline]
    fn take(&mut self, asked: Asked, item: Item, bytes: &[u8]) -> Result<(), Garbage> {
        if self.pending > 0 {
            return self.take_part(asked, item);
        }
        match (asked, item) {
            (_, Item::Error { begin, end }) => {
                self.fail(&bytes[begin..end]);
                self.answer(asked, 0);
            }
            (Asked::Ping, Item::Simple { .. }) => self.answer(asked, 0),
            (Asked::Record(_) | Asked::Scan, Item::Array(0) | Item::Nil) => self.end_record(asked, false),
            (Asked::Record(Wanted::All), Item::Array(count)) if count % 2 == 0 => self.pending = count,
            (Asked::Record(Wanted::Named(names)), Item::Array(count)) if count == names => {
                self.pending = count;
            }
            (Asked::Scan, Item::Array(count)) => self.pending = count,
            (Asked::Write | Asked::Insert, Item::Integer(_)) => self.answer(asked, 1),
            (Asked::Delete, Item::Integer(count)) => self.answer(asked, u64::try_from(count).unwrap_or(0)),
            (_, item) => return Err(Garbage::Unexpected(tag(item))),
        }
        Ok(())
    }

    /// An item of an array.
    #[inline]
    fn take_part(&mut self, asked: Asked, item: Item) -> Result<(), Garbage> {
        match (asked, item) {
            // Names and values take turns.
            (Asked::Record(Wanted::All), Item::Bulk { .. }) if self.seen.is_multiple_of(2) => {}
            (Asked::Record(_), Item::Bulk { begin, end }) => self.values.push((begin as u32, end as u32)),
            (Asked::Record(Wanted::Named(_)), Item::Nil) => self.values.push(NOWHERE),
            (Asked::Scan, Item::Bulk { begin, end }) => self.keys.push((begin as u32, end as u32)),
            (_, item) => return Err(Garbage::Unexpected(tag(item))),
        }
        self.seen += 1;
        self.pending -= 1;
        if self.pending == 0 {
            self.end_record(asked, true);
        }
        Ok(())
    }

    /// A record or the keys of a scan are there whole, or there are none.
    #[inline]
    fn end_record(&mut self, asked: Asked, any: bool) {
        self.seen = 0;
        if asked == Asked::Scan {
            let end = self.keys.len() as u32;
            let begin = self.scans.iter().map(|scan| scan.keys.1).max().unwrap_or(0);
            let command = self.answered;
            if let Some(scan) = self.scans.iter_mut().find(|scan| scan.command == command) {
                scan.keys = (begin, end);
            }
            return self.answer(asked, 0);
        }
        let begin = self.rows.last().map_or(0, |end| *end as usize);
        let found = any && self.values[begin..].iter().any(|place| *place != NOWHERE);
        if !found {
            self.values.truncate(begin);
        }
        let scanned = self.answered == self.commands.len();
        let command = if scanned { self.scans[self.scanned].command } else { self.answered };
        if found {
            let row = self.rows.len() as u32;
            self.rows.push(self.values.len() as u32);
            let command = &mut self.commands[command];
            command.reply.rows += 1;
            let first = if command.reply.rows == 1 { row } else { command.rows.0 };
            command.rows = (first, row + 1);
        }
        self.answer(asked, 0);
    }

    /// One answer of the current command is in: the first of an insert or delete, which says what became of the record,
    /// or any other.
    #[inline]
    fn answer(&mut self, asked: Asked, affected: u64) {
        if self.answered == self.commands.len() {
            self.records += 1;
            return;
        }
        let reply = &mut self.commands[self.answered].reply;
        if self.parts == 0 {
            reply.affected = affected;
        }
        self.parts += 1;
        let all = if matches!(asked, Asked::Insert | Asked::Delete) { 2 } else { 1 };
        if self.parts == all {
            (self.answered, self.parts) = (self.answered + 1, 0);
        }
    }

    #[cold]
    fn fail(&mut self, words: &[u8]) {
        if let Some(command) = self.commands.get_mut(self.answered) {
            command.reply = Reply::default();
        }
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
        if command < self.answered { self.commands[command].reply } else { Reply::default() }
    }

    /// Where the value of a row's column stands; the inner `None` is that of a field which the record lacks.
    pub(crate) fn value(&self, command: usize, row: usize, column: usize) -> Option<Option<Place>> {
        let (first, end) = self.commands.get(command)?.rows;
        let row = (first as usize).checked_add(row).filter(|row| *row < end as usize)?;
        let begin = if row == 0 { 0 } else { self.rows[row - 1] as usize };
        let place = *self.values.get(begin..self.rows[row] as usize)?.get(column)?;
        Some((place != NOWHERE).then_some(place))
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
