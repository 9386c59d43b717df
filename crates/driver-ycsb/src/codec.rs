//! The bridge's protocol: requests out, answers in. Numbers are big-endian, and a length stands before each text and frame.
//!
//! ```text
//!  request  length  kind                                     ping
//!                         table  key  count  name*           read; no name means all fields
//!                         table  key  count  (name value)*   update, insert
//!                         table  key                         delete
//!                         table  key  count  name*  count    scan; the last is of records
//!  answer   length  kind  call ns  all ns  rows (columns value*)*      done: 0
//!                                          0                           not found: 1
//!                                          status  words               failed: 2
//! ```
//!
//! A value that a record lacks has the length [`ABSENT`].

use driver::{Fields, KeyValue};
use units::Outcome;

/// A longer answer is refused.
pub(crate) const MESSAGE_LIMIT: usize = 512 << 20;

/// In place of a length: there is no value.
pub(crate) const ABSENT: usize = u32::MAX as usize;

/// Where such a value stands.
pub(crate) const NOWHERE: (u32, u32) = (u32::MAX, u32::MAX);

/// What a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    Ping = 0,
    Read = 1,
    Update = 2,
    Insert = 3,
    Delete = 4,
    Scan = 5,
}

/// Appends a ping, which the bridge answers by itself.
#[inline]
pub(crate) fn ping(out: &mut Vec<u8>) {
    frame(out, |out| out.push(Kind::Ping as u8));
}

/// Appends an operation.
#[inline]
pub(crate) fn operation(out: &mut Vec<u8>, operation: KeyValue<'_>) {
    frame(out, |out| match operation {
        KeyValue::Read { table, key, fields } => {
            begin(out, Kind::Read, table, key);
            names(out, fields);
        }
        KeyValue::Update { table, key, fields } => {
            begin(out, Kind::Update, table, key);
            values(out, fields);
        }
        KeyValue::Insert { table, key, fields } => {
            begin(out, Kind::Insert, table, key);
            values(out, fields);
        }
        KeyValue::Delete { table, key } => begin(out, Kind::Delete, table, key),
        KeyValue::Scan { table, key, count, fields } => {
            begin(out, Kind::Scan, table, key);
            names(out, fields);
            // Java's numbers have a sign.
            number(out, count.min(i32::MAX as u32) as usize);
        }
    });
}

/// Appends what a connection begins with.
pub(crate) fn hello(out: &mut Vec<u8>, token: &[u8]) {
    frame(out, |out| {
        number(out, token.len());
        out.extend_from_slice(token);
    });
}

#[inline]
fn frame(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

#[inline]
fn begin(out: &mut Vec<u8>, kind: Kind, table: &str, key: &str) {
    out.push(kind as u8);
    text(out, table);
    text(out, key);
}

#[inline]
fn names(out: &mut Vec<u8>, fields: Fields<'_>) {
    match fields {
        Fields::All => number(out, 0),
        Fields::One(name) => {
            number(out, 1);
            text(out, name);
        }
        Fields::Named(names) => {
            number(out, names.len());
            names.iter().for_each(|name| text(out, name));
        }
    }
}

#[inline]
fn values(out: &mut Vec<u8>, fields: &[(&str, &str)]) {
    number(out, fields.len());
    for (name, value) in fields {
        text(out, name);
        text(out, value);
    }
}

#[inline]
fn number(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&(number as u32).to_be_bytes());
}

#[inline]
fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// What can't be understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// An answer of a kind that there is not.
    Kind(u8),
    /// One that says more or less than it holds.
    Torn,
    /// Something else than what answers this command.
    Unexpected,
    /// More than the limit.
    TooLong,
    /// More than was asked for, or before it was asked for.
    Surplus,
}

impl std::fmt::Display for Garbage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Garbage::Kind(kind) => write!(f, "the bridge sent an answer of unknown kind {kind}"),
            Garbage::Torn => f.write_str("the bridge sent an answer whose lengths do not fit"),
            Garbage::Unexpected => f.write_str("the bridge sent an answer to something else"),
            Garbage::TooLong => write!(f, "the bridge sent more than {MESSAGE_LIMIT} bytes"),
            Garbage::Surplus => f.write_str("the bridge sent more than it was asked for"),
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    Done,
    NotFound,
    Failed,
}

/// The head of an answer; its body follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) ended: Ended,
    /// How long the binding's call took, by the JVM's clock.
    pub(crate) call_ns: u64,
    /// From the request's last byte to just before the answer was sent, the call within.
    pub(crate) all_ns: u64,
}

/// Reads an answer from front to back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// In the whole buffer.
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// The answer that begins at `start`; `None` while it is incomplete.
    #[inline]
    pub(crate) fn whole(bytes: &'a [u8], start: usize) -> Result<Option<Reader<'a>>, Garbage> {
        let mut reader = Reader { bytes, at: start, end: bytes.len() };
        let Ok(length) = reader.number() else { return Ok(None) };
        if length > MESSAGE_LIMIT {
            return Err(Garbage::TooLong);
        }
        reader.end = reader.at + length;
        Ok((reader.end <= bytes.len()).then_some(reader))
    }

    /// Where the next answer begins.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    #[inline]
    pub(crate) fn head(&mut self) -> Result<Head, Garbage> {
        let ended = match self.take(1)?[0] {
            0 => Ended::Done,
            1 => Ended::NotFound,
            2 => Ended::Failed,
            kind => return Err(Garbage::Kind(kind)),
        };
        Ok(Head { ended, call_ns: self.nanos()?, all_ns: self.nanos()? })
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<usize, Garbage> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    }

    fn nanos(&mut self) -> Result<u64, Garbage> {
        let bytes = self.take(8)?.try_into().map_err(|_| Garbage::Torn)?;
        Ok(u64::from_be_bytes(bytes))
    }

    /// Where a text stands in the buffer.
    #[inline]
    pub(crate) fn place(&mut self) -> Result<(u32, u32), Garbage> {
        let length = self.number()?;
        if length == ABSENT {
            return Ok(NOWHERE);
        }
        let begin = self.at;
        self.take(length)?;
        Ok((begin as u32, self.at as u32))
    }

    pub(crate) fn text(&mut self) -> Result<&'a [u8], Garbage> {
        let length = self.number()?;
        self.take(length)
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Garbage> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.end).ok_or(Garbage::Torn)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// That nothing is left.
    #[inline]
    pub(crate) fn over(&self) -> Result<(), Garbage> {
        if self.at == self.end { Ok(()) } else { Err(Garbage::Torn) }
    }
}

/// What a status of YCSB says of the request; names that bindings made up are errors like others.
pub(crate) fn outcome(status: &[u8]) -> Outcome {
    match status {
        b"SERVICE_UNAVAILABLE" => Outcome::Unavailable,
        // The binding can't do what was asked.
        b"NOT_IMPLEMENTED" => Outcome::Protocol,
        _ => Outcome::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_framed() {
        let mut out = vec![9];
        operation(&mut out, KeyValue::Read { table: "t", key: "k1", fields: Fields::One("f") });
        ping(&mut out);
        operation(&mut out, KeyValue::Insert { table: "t", key: "k", fields: &[("n", "vv")] });
        operation(&mut out, KeyValue::Scan { table: "t", key: "", count: u32::MAX, fields: Fields::All });
        let read = b"\x09\0\0\0\x15\x01\0\0\0\x01t\0\0\0\x02k1\0\0\0\x01\0\0\0\x01f";
        let ping = b"\0\0\0\x01\0";
        let insert = b"\0\0\0\x1A\x03\0\0\0\x01t\0\0\0\x01k\0\0\0\x01\0\0\0\x01n\0\0\0\x02vv";
        let scan = b"\0\0\0\x12\x05\0\0\0\x01t\0\0\0\0\0\0\0\0\x7F\xFF\xFF\xFF";
        assert_eq!(out, [&read[..], ping, insert, scan].concat());
    }

    #[test]
    fn answers_are_read_when_they_are_whole() {
        let mut bytes = vec![0, 0, 0, 30, 0];
        bytes.extend([7_u64, 9].map(u64::to_be_bytes).concat());
        bytes.extend([1_u32, 1].map(u32::to_be_bytes).concat());
        bytes.extend([0, 0, 0, 1]);
        for cut in 0..bytes.len() {
            assert!(Reader::whole(&bytes[..cut], 0).unwrap().is_none(), "{cut}");
        }
        bytes.push(b'v');
        let mut reader = Reader::whole(&bytes, 0).unwrap().unwrap();
        assert_eq!(reader.head(), Ok(Head { ended: Ended::Done, call_ns: 7, all_ns: 9 }));
        assert_eq!((reader.number(), reader.number()), (Ok(1), Ok(1)));
        assert_eq!(reader.over(), Err(Garbage::Torn));
        let (begin, end) = reader.place().unwrap();
        assert_eq!(&bytes[begin as usize..end as usize], b"v");
        assert_eq!((reader.over(), reader.end()), (Ok(()), bytes.len()));
        assert_eq!(reader.number(), Err(Garbage::Torn));
    }

    #[test]
    fn statuses_have_classes() {
        for (status, expected) in [
            ("ERROR", Outcome::Server),
            ("UNEXPECTED_STATE", Outcome::Server),
            ("SERVICE_UNAVAILABLE", Outcome::Unavailable),
            ("NOT_IMPLEMENTED", Outcome::Protocol),
            ("EXCEPTION", Outcome::Server),
            ("mine", Outcome::Server),
        ] {
            assert_eq!(outcome(status.as_bytes()), expected, "{status}");
        }
    }
}
