//! The native protocol, version 4, on the wire: frames, and what is in them.
//!
//! Source: "CQL BINARY PROTOCOL v4" of the Cassandra project, sections 2 to 4 and 9. Compression, tracing, events and
//! paging of sessions are never asked for.

use std::fmt;
use units::Outcome;

/// Version 4, as a client says it and as a server does.
pub(crate) const REQUEST: u8 = 0x04;
const RESPONSE: u8 = 0x84;

/// Bytes before a frame's body.
pub(crate) const HEADER: usize = 9;

/// A longer body is refused: the protocol's own limit.
pub(crate) const BODY_LIMIT: usize = 256 << 20;

/// What a frame is.
pub(crate) mod opcode {
    pub(crate) const ERROR: u8 = 0x00;
    pub(crate) const STARTUP: u8 = 0x01;
    pub(crate) const READY: u8 = 0x02;
    pub(crate) const AUTHENTICATE: u8 = 0x03;
    pub(crate) const OPTIONS: u8 = 0x05;
    pub(crate) const SUPPORTED: u8 = 0x06;
    pub(crate) const QUERY: u8 = 0x07;
    pub(crate) const RESULT: u8 = 0x08;
    pub(crate) const PREPARE: u8 = 0x09;
    pub(crate) const EXECUTE: u8 = 0x0A;
    pub(crate) const AUTH_CHALLENGE: u8 = 0x0E;
    pub(crate) const AUTH_RESPONSE: u8 = 0x0F;
    pub(crate) const AUTH_SUCCESS: u8 = 0x10;
}

/// What a result is.
pub(crate) mod kind {
    pub(crate) const VOID: i32 = 1;
    pub(crate) const ROWS: i32 = 2;
    pub(crate) const SET_KEYSPACE: i32 = 3;
    pub(crate) const PREPARED: i32 = 4;
    pub(crate) const SCHEMA_CHANGE: i32 = 5;
}

/// Flags of a frame: a server adds these to the body's beginning.
const FLAG_TRACING: u8 = 0x02;
const FLAG_PAYLOAD: u8 = 0x04;
const FLAG_WARNINGS: u8 = 0x08;

/// Flags of a query's parameters.
const WITH_VALUES: u8 = 0x01;
const SKIP_METADATA: u8 = 0x02;
const WITH_PAGE_SIZE: u8 = 0x04;
const WITH_PAGING_STATE: u8 = 0x08;

/// Flags of a result's metadata.
const GLOBAL_TABLE: i32 = 0x01;
const MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;

/// What can't be understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// Another version of the protocol, or another protocol.
    Version(u8),
    /// A length beyond the limit or below zero.
    Length(i32),
    /// A body that ends before what is in it does.
    Short,
    /// Another kind of frame than can follow what was asked.
    Opcode(u8),
    /// Another kind of result.
    Kind(i32),
    /// Rows of another width than was asked for.
    Columns(i32),
    /// An answer to something else than what was asked.
    Stream(i16),
    /// More than was asked for.
    Surplus,
    /// A column's type that nobody knows.
    Type(u16),
}

impl fmt::Display for Garbage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Garbage::Version(byte) => {
                write!(f, "a frame begins with {byte:#04x}, which is not version 4 of the native protocol")
            }
            Garbage::Length(length) => write!(f, "a length of {length} in an answer"),
            Garbage::Short => f.write_str("an answer that ends too early"),
            Garbage::Opcode(opcode) => write!(f, "an unexpected answer of kind {opcode:#04x}"),
            Garbage::Kind(kind) => write!(f, "an unexpected result of kind {kind}"),
            Garbage::Columns(columns) => {
                write!(f, "rows of {columns} columns, which is not what was asked for")
            }
            Garbage::Stream(stream) => write!(f, "an answer to request {stream}, which is not in flight"),
            Garbage::Surplus => f.write_str("more was answered than was asked"),
            Garbage::Type(number) => write!(f, "a column of unknown type {number:#06x}"),
        }
    }
}

/// How many replicas must have answered before the coordinator does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Consistency(u16);

/// Names and numbers of the levels.
pub(crate) const LEVELS: &[(&str, Consistency)] = &[
    ("any", Consistency(0)),
    ("one", Consistency(1)),
    ("two", Consistency(2)),
    ("three", Consistency(3)),
    ("quorum", Consistency(4)),
    ("all", Consistency(5)),
    ("local_quorum", Consistency(6)),
    ("each_quorum", Consistency(7)),
    ("local_one", Consistency(10)),
];

impl Consistency {
    /// What YCSB's binding asks for unless told otherwise.
    pub(crate) const QUORUM: Consistency = Consistency(4);

    /// By its name, in any case.
    pub(crate) fn named(name: &str) -> Option<Consistency> {
        let name = name.to_ascii_lowercase();
        LEVELS.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }

    pub(crate) fn name(self) -> &'static str {
        LEVELS.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }
}

/// Appends a frame; `body` writes what is in it.
#[inline]
pub(crate) fn frame(out: &mut Vec<u8>, stream: i16, opcode: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&[REQUEST, 0]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.push(opcode);
    sized(out, body);
}

/// What `body` appends, with its length before it.
#[inline]
pub(crate) fn sized(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
}

/// A value: \[bytes\].
#[inline]
pub(crate) fn value(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// \[string\], and the identifier of a prepared statement, \[short bytes\].
#[inline]
pub(crate) fn short(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The parameters of a query without paging, up to its values, of which as many must follow.
#[inline]
pub(crate) fn parameters(out: &mut Vec<u8>, consistency: Consistency, values: usize) {
    out.extend_from_slice(&consistency.0.to_be_bytes());
    out.push(WITH_VALUES | SKIP_METADATA);
    out.extend_from_slice(&(values as u16).to_be_bytes());
}

/// All parameters of a query that gives pages of rows.
pub(crate) fn paged(
    out: &mut Vec<u8>,
    consistency: Consistency,
    values: &[&[u8]],
    rows: i32,
    state: Option<&[u8]>,
) {
    out.extend_from_slice(&consistency.0.to_be_bytes());
    let paging = if state.is_some() { WITH_PAGING_STATE } else { 0 };
    out.push(WITH_VALUES | SKIP_METADATA | WITH_PAGE_SIZE | paging);
    out.extend_from_slice(&(values.len() as u16).to_be_bytes());
    values.iter().for_each(|bytes| value(out, bytes));
    out.extend_from_slice(&rows.to_be_bytes());
    if let Some(state) = state {
        value(out, state);
    }
}

/// A frame's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) stream: i16,
    pub(crate) opcode: u8,
    flags: u8,
    /// Where its body begins and ends in the bytes.
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

/// The whole frame at `at`; `None` while some of it is missing.
#[inline]
pub(crate) fn head(bytes: &[u8], at: usize) -> Result<Option<Head>, Garbage> {
    let Some(rest) = bytes.get(at..) else { return Ok(None) };
    if let Some(version) = rest.first().filter(|version| **version != RESPONSE) {
        return Err(Garbage::Version(*version));
    }
    let Some(head) = rest.first_chunk::<HEADER>() else { return Ok(None) };
    let [_, flags, stream @ ..] = head;
    let [high, low, opcode, length @ ..] = stream;
    let length = i32::from_be_bytes(*length);
    let size = usize::try_from(length).ok().filter(|size| *size <= BODY_LIMIT);
    let size = size.ok_or(Garbage::Length(length))?;
    let begin = at + HEADER;
    let frame = Head {
        stream: i16::from_be_bytes([*high, *low]),
        opcode: *opcode,
        flags: *flags,
        begin,
        end: begin + size,
    };
    Ok((bytes.len() >= frame.end).then_some(frame))
}

/// Reads a frame's body; what it gives are places in the bytes that the frame is in.
pub(crate) struct Body<'a> {
    /// Up to the body's end.
    bytes: &'a [u8],
    at: usize,
}

/// Where something begins and ends.
pub(crate) type Place = (usize, usize);

impl<'a> Body<'a> {
    /// Of a frame in `bytes`, behind warnings and the like.
    #[inline]
    pub(crate) fn of(bytes: &'a [u8], head: Head) -> Result<Body<'a>, Garbage> {
        let mut body = Body { bytes: &bytes[..head.end], at: head.begin };
        if head.flags != 0 {
            body.skip_extras(head.flags)?;
        }
        Ok(body)
    }

    #[cold]
    fn skip_extras(&mut self, flags: u8) -> Result<(), Garbage> {
        if flags & FLAG_TRACING != 0 {
            self.take(16)?;
        }
        if flags & FLAG_WARNINGS != 0 {
            for _ in 0..self.short()? {
                self.string()?;
            }
        }
        if flags & FLAG_PAYLOAD != 0 {
            for _ in 0..self.short()? {
                self.string()?;
                self.bytes()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<Place, Garbage> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len()).ok_or(Garbage::Short)?;
        let begin = std::mem::replace(&mut self.at, end);
        Ok((begin, end))
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbage> {
        let (begin, _) = self.take(N)?;
        self.bytes[begin..].first_chunk().copied().ok_or(Garbage::Short)
    }

    #[inline]
    pub(crate) fn int(&mut self) -> Result<i32, Garbage> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn short(&mut self) -> Result<u16, Garbage> {
        self.array().map(u16::from_be_bytes)
    }

    /// \[string\] and \[short bytes\].
    pub(crate) fn string(&mut self) -> Result<Place, Garbage> {
        let length = self.short()?;
        self.take(length.into())
    }

    /// \[bytes\]; `None` is NULL.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Result<Option<Place>, Garbage> {
        let length = self.int()?;
        match usize::try_from(length) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The bytes of a place.
    pub(crate) fn at(&self, place: Place) -> &'a [u8] {
        &self.bytes[place.0..place.1]
    }

    /// Whether all of it was read.
    pub(crate) fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Metadata of rows: how many columns, and the state of paging where there are more pages.
    pub(crate) fn metadata(&mut self) -> Result<(i32, Option<Place>), Garbage> {
        let (flags, columns) = (self.int()?, self.int()?);
        let state = if flags & MORE_PAGES != 0 { self.bytes()? } else { None };
        if flags & NO_METADATA != 0 {
            return Ok((columns, state));
        }
        let is_global = flags & GLOBAL_TABLE != 0;
        if is_global {
            self.string()?;
            self.string()?;
        }
        for _ in 0..columns {
            if !is_global {
                self.string()?;
                self.string()?;
            }
            self.string()?;
            self.skip_type()?;
        }
        Ok((columns, state))
    }

    /// A column's type, however deep: types in it are counted off, not descended into. Users' own types are in no column that is
    /// asked for.
    fn skip_type(&mut self) -> Result<(), Garbage> {
        let mut pending = 1_u32;
        while pending > 0 {
            pending -= 1;
            match self.short()? {
                0x0000 => {
                    self.string()?;
                }
                0x0001..=0x0015 => {}
                0x0020 | 0x0022 => pending += 1,
                0x0021 => pending += 2,
                0x0031 => pending += u32::from(self.short()?),
                unknown => return Err(Garbage::Type(unknown)),
            }
        }
        Ok(())
    }
}

/// An error's number and words.
pub(crate) fn error<'a>(body: &mut Body<'a>) -> Result<(i32, &'a [u8]), Garbage> {
    let code = body.int()?;
    let words = body.string()?;
    Ok((code, body.at(words)))
}

/// The server does not know the prepared statement any more: it was restarted, or the table has changed.
pub(crate) const UNPREPARED: i32 = 0x2500;

/// The class of an error, by its number.
///
/// What a coordinator says when replicas are down, did not answer in its own time limit, or must not be asked more now, is
/// one class: nobody has refused the request for what it is, and it may be sent once more. Of a write that timed out
/// nobody knows whether it was carried out; those that are made here give the same when they are carried out twice.
pub(crate) fn outcome(code: i32) -> Outcome {
    match code {
        // Unavailable, overloaded, bootstrapping, write timeout, read timeout, and see above.
        0x1000 | 0x1001 | 0x1002 | 0x1100 | 0x1200 | UNPREPARED => Outcome::Unavailable,
        0x000A => Outcome::Protocol,
        _ => Outcome::Server,
    }
}

/// The name of an error's number, for the words that are shown.
pub(crate) fn error_name(code: i32) -> &'static str {
    match code {
        0x0000 => "server error",
        0x000A => "protocol error",
        0x0100 => "bad credentials",
        0x1000 => "unavailable",
        0x1001 => "overloaded",
        0x1002 => "bootstrapping",
        0x1003 => "truncate error",
        0x1100 => "write timeout",
        0x1200 => "read timeout",
        0x1300 => "read failure",
        0x1500 => "write failure",
        0x2000 => "syntax error",
        0x2100 => "unauthorized",
        0x2200 => "invalid",
        0x2300 => "configuration error",
        0x2400 => "already exists",
        UNPREPARED => "unprepared",
        _ => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_classes() {
        for code in [0x1000, 0x1001, 0x1002, 0x1100, 0x1200, UNPREPARED] {
            assert_eq!(outcome(code), Outcome::Unavailable, "{}", error_name(code));
        }
        for code in [0x0000, 0x0100, 0x1003, 0x1300, 0x1500, 0x2000, 0x2200, 0x7777] {
            assert_eq!(outcome(code), Outcome::Server, "{}", error_name(code));
        }
    }

    #[test]
    fn frames_are_written_with_their_lengths() {
        let mut out = vec![7];
        frame(&mut out, 3, opcode::PREPARE, |out| sized(out, |out| out.extend_from_slice(b"abc")));
        assert_eq!(out, b"\x07\x04\0\0\x03\x09\0\0\0\x07\0\0\0\x03abc");
        let mut out = Vec::new();
        parameters(&mut out, Consistency::QUORUM, 2);
        assert_eq!(out, [0, 4, 3, 0, 2]);
    }

    #[test]
    fn metadata_is_read_over_however_deep_its_types_are() {
        // Two columns of one table: `a`, a map of text and list of int, and `b`, a tuple of two.
        let mut bytes = vec![0, 0, 0, 1, 0, 0, 0, 2];
        bytes.extend_from_slice(
            b"\0\x01k\0\x01t\0\x01a\0\x21\0\x0D\0\x20\0\x09\0\x01b\0\x31\0\x02\0\x09\0\x0D!",
        );
        let mut body = Body { bytes: &bytes, at: 0 };
        assert_eq!(body.metadata(), Ok((2, None)));
        assert_eq!(&bytes[body.at..], b"!");
        let unknown = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x77, 0x77];
        assert_eq!(Body { bytes: &unknown, at: 0 }.metadata(), Err(Garbage::Type(0x7777)));
    }

    #[test]
    fn levels_are_found_by_name() {
        for (name, level) in LEVELS {
            assert_eq!(Consistency::named(&name.to_uppercase()), Some(*level));
            assert_eq!(level.name(), *name);
        }
        assert_eq!(Consistency::named("most"), None);
    }
}
