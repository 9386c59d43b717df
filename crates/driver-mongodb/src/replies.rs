//! The replies of one batch, parsed as they come in.

use crate::bson::{Document, Garbage, Item};
use crate::message;
use crate::outcome::outcome;
use driver::{Fields, KeyValue, OpError, Reply};
use units::Outcome;

/// What a command's reply means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    /// That it is there.
    Ping,
    /// Records with all of their fields.
    All,
    /// Records with the fields of these names, a range of `names`.
    Named(Range),
    /// How many were written.
    Write,
}

/// A value that was read: where it begins and ends in the receive buffer.
type Place = (u32, u32);

/// The place of a field that a record lacks.
const NOWHERE: Place = (u32::MAX, u32::MAX);

/// From one place of a list to another.
type Range = (u32, u32);

/// Names of fields, one after the other.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Names {
    fn push(&mut self, name: &str) {
        self.bytes.extend_from_slice(name.as_bytes());
        self.ends.push(self.bytes.len() as u32);
    }

    fn get(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let begin = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[begin..self.ends[at] as usize]
    }
}

#[derive(Default)]
pub(crate) struct Replies {
    asked: Vec<Asked>,
    /// The number of the batch's first command.
    first: u32,
    replies: Vec<Reply>,
    /// Of each command the range in `rows`.
    rows_of: Vec<Range>,
    /// Of each row where its values end; it begins where the one before ends.
    rows: Vec<u32>,
    values: Vec<Place>,
    names: Names,
    answered: usize,
    failure: Option<OpError>,
    error: Vec<u8>,
}

const ROOM: usize = 64;
/// Values: a usual scan has so many records of ten fields.
const ROOM_FOR_SCANS: usize = 1024;

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            asked: Vec::with_capacity(ROOM),
            replies: Vec::with_capacity(ROOM),
            rows_of: Vec::with_capacity(ROOM),
            rows: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(ROOM_FOR_SCANS),
            names: Names { bytes: Vec::with_capacity(256), ends: Vec::with_capacity(ROOM) },
            error: Vec::with_capacity(256),
            ..Replies::default()
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.asked.clear();
        self.replies.clear();
        self.rows_of.clear();
        self.rows.clear();
        self.values.clear();
        self.names.bytes.clear();
        self.names.ends.clear();
        self.answered = 0;
        self.failure = None;
        self.error.clear();
    }

    #[inline]
    fn expect(&mut self, id: u32, asked: Asked) {
        if self.asked.is_empty() {
            self.first = id;
        }
        self.asked.push(asked);
        self.replies.push(Reply::default());
        self.rows_of.push((0, 0));
    }

    #[inline]
    pub(crate) fn expect_ping(&mut self, id: u32) {
        self.expect(id, Asked::Ping);
    }

    #[inline]
    pub(crate) fn expect_key_value(&mut self, id: u32, operation: &KeyValue<'_>) {
        let asked = match operation {
            KeyValue::Read { fields, .. } | KeyValue::Scan { fields, .. } => self.wanted(*fields),
            KeyValue::Insert { .. } | KeyValue::Update { .. } | KeyValue::Delete { .. } => Asked::Write,
        };
        self.expect(id, asked);
    }

    fn wanted(&mut self, fields: Fields<'_>) -> Asked {
        let begin = self.names.ends.len() as u32;
        match fields {
            Fields::All => return Asked::All,
            Fields::One(name) => self.names.push(name),
            Fields::Named(names) => names.iter().for_each(|name| self.names.push(name)),
        }
        Asked::Named((begin, self.names.ends.len() as u32))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Parses what there is from `start` on. Gives where the first incomplete message begins, and whether all that was sent
    /// is answered.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: &[u8], start: usize) -> Result<(usize, bool), Garbage> {
        let mut at = start;
        while self.answered < self.asked.len() {
            let Some((message, next)) = message::message(bytes, at)? else { return Ok((at, false)) };
            if message.answers != self.first.wrapping_add(self.answered as u32) {
                return Err(Garbage::Order);
            }
            self.take(bytes, message.document)?;
            self.answered += 1;
            at = next;
        }
        Ok((at, true))
    }

    /// The answer to the command whose turn it is.
    #[inline]
    fn take(&mut self, bytes: &[u8], mut document: Document<'_>) -> Result<(), Garbage> {
        let (mut ok, mut code, mut words, mut count) = (None, 0, &b""[..], None);
        let mut records = None;
        while let Some((name, item)) = document.next()? {
            match name {
                b"ok" => ok = item.number(),
                b"n" => count = item.whole(),
                b"code" => code = item.whole().unwrap_or(0),
                b"errmsg" => words = item.bytes().unwrap_or_default(),
                b"cursor" => records = item.inside(),
                b"writeErrors" | b"writeConcernError" => {
                    (code, words) = refusal(item)?;
                    self.fail(outcome(code), words);
                }
                _ => {}
            }
        }
        match ok {
            None => return Err(Garbage::Answer),
            Some(1.0) => {}
            Some(_) => {
                self.fail(outcome(code), words);
                return Ok(());
            }
        }
        match self.asked[self.answered] {
            Asked::Ping => Ok(()),
            Asked::Write => {
                let affected = count.and_then(|count| u64::try_from(count).ok()).ok_or(Garbage::Answer)?;
                self.replies[self.answered].affected = affected;
                Ok(())
            }
            wanted @ (Asked::All | Asked::Named(_)) => self.records(bytes, wanted, records),
        }
    }

    #[inline]
    fn records(&mut self, bytes: &[u8], wanted: Asked, cursor: Option<Document<'_>>) -> Result<(), Garbage> {
        let batch = cursor.ok_or(Garbage::Answer)?.find("firstBatch")?;
        let mut batch = batch.and_then(Item::inside).ok_or(Garbage::Answer)?;
        let first = (self.rows.len(), self.values.len());
        while let Some((_, record)) = batch.next()? {
            let record = record.inside().ok_or(Garbage::Answer)?;
            let begin = self.values.len();
            let readable = match wanted {
                Asked::Named(names) => self.named(bytes, record, names)?,
                _ => self.all(bytes, record)?,
            };
            if !readable {
                self.rows.truncate(first.0);
                self.values.truncate(first.1);
                return Ok(());
            }
            // What has none of the wanted fields is as if it was not there.
            let is_there = wanted == Asked::All || self.values[begin..].iter().any(|place| *place != NOWHERE);
            if is_there {
                self.rows.push(self.values.len() as u32);
            } else {
                self.values.truncate(begin);
            }
        }
        self.rows_of[self.answered] = (first.0 as u32, self.rows.len() as u32);
        self.replies[self.answered].rows = (self.rows.len() - first.0) as u64;
        Ok(())
    }

    /// All fields but the key. False where one is not text.
    #[inline]
    fn all(&mut self, bytes: &[u8], mut record: Document<'_>) -> Result<bool, Garbage> {
        while let Some((name, item)) = record.next()? {
            if name == b"_id" {
                continue;
            }
            let Some(value) = item.bytes() else { return Ok(self.unreadable(name, item)) };
            self.values.push(place(bytes, value));
        }
        Ok(true)
    }

    #[inline]
    fn named(&mut self, bytes: &[u8], mut record: Document<'_>, names: Range) -> Result<bool, Garbage> {
        let begin = self.values.len();
        self.values.resize(begin + (names.1 - names.0) as usize, NOWHERE);
        while let Some((name, item)) = record.next()? {
            let Some(at) = (names.0..names.1).position(|at| self.names.get(at) == name) else { continue };
            let Some(value) = item.bytes() else { return Ok(self.unreadable(name, item)) };
            self.values[begin + at] = place(bytes, value);
        }
        Ok(true)
    }

    /// A field whose value is none that a workload could have written.
    #[cold]
    fn unreadable(&mut self, name: &[u8], item: Item<'_>) -> bool {
        if self.failure.is_none() {
            self.error.extend_from_slice(b"the field `");
            self.error.extend_from_slice(name);
            self.error.extend_from_slice(b"` holds ");
            self.error.extend_from_slice(item.kind().as_bytes());
            self.error.extend_from_slice(b", and neither binary data nor text");
            self.failure = Some(OpError::refused(Outcome::Server));
        }
        false
    }

    /// The first failure of a batch is the one that is told.
    #[cold]
    fn fail(&mut self, outcome: Outcome, words: &[u8]) {
        if self.failure.is_none() {
            self.failure = Some(OpError::refused(outcome));
            self.error.extend_from_slice(words);
        }
    }

    pub(crate) fn failure(&self) -> Option<OpError> {
        self.failure
    }

    /// The words of the first failure.
    pub(crate) fn error(&self) -> &[u8] {
        &self.error
    }

    #[inline]
    pub(crate) fn reply(&self, command: usize) -> Reply {
        if command < self.answered { self.replies[command] } else { Reply::default() }
    }

    /// Where the value of a row's column stands; the inner `None` is that of a field which the record lacks.
    pub(crate) fn value(&self, command: usize, row: usize, column: usize) -> Option<Option<Place>> {
        let (first, end) = *self.rows_of.get(command)?;
        let row = (first as usize).checked_add(row).filter(|row| *row < end as usize)?;
        let begin = if row == 0 { 0 } else { self.rows[row - 1] as usize };
        let place = *self.values.get(begin..self.rows[row] as usize)?.get(column)?;
        Some((place != NOWHERE).then_some(place))
    }
}

/// Number and words of a write's first error.
#[cold]
fn refusal(item: Item<'_>) -> Result<(i64, &[u8]), Garbage> {
    let document = match item {
        Item::Array(mut list) => list.next()?.and_then(|(_, first)| first.inside()),
        other => other.inside(),
    };
    let document = document.ok_or(Garbage::Answer)?;
    let code = document.find("code")?.and_then(Item::whole).unwrap_or(0);
    Ok((code, document.find("errmsg")?.and_then(Item::bytes).unwrap_or_default()))
}

/// Where a part of the received bytes lies among them.
#[inline]
fn place(bytes: &[u8], part: &[u8]) -> Place {
    let begin = part.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
    (begin as u32, (begin + part.len()) as u32)
}
