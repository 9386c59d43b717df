//! OP_MSG: a command or its answer in one document, behind a head of 16 bytes and flags.

use crate::bson::{self, Document, Garbage};

/// Of a message; the servers' own limit.
pub(crate) const MESSAGE_LIMIT: usize = 48_000_000;

const OP_MSG: u32 = 2013;
const HEAD: usize = 16;
/// The least: head, flags, kind of section, empty document.
const LEAST: usize = HEAD + 4 + 1 + 5;

/// Four bytes of a checksum, which no server sends to who sends none, stand at the end.
const HAS_CHECKSUM: u32 = 1;
/// Bits that a receiver must understand.
const REQUIRED: u32 = 0xFFFF;

/// Appends a command as one message. `inside` writes its elements, the command's name first.
#[inline]
pub(crate) fn command(out: &mut Vec<u8>, id: u32, database: &str, inside: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&0_u32.to_le_bytes());
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    out.extend_from_slice(&[0; 5]); // no flags; the section of one document
    bson::document(out, |out| {
        inside(out);
        bson::text(out, "$db", database);
    });
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// A message where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// The request that it answers.
    pub(crate) answers: u32,
    pub(crate) document: Document<'a>,
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The message at `start` and where the next one begins; `None` while it is not all there.
#[inline]
pub(crate) fn message(bytes: &[u8], start: usize) -> Result<Option<(Message<'_>, usize)>, Garbage> {
    let bytes = bytes.get(start..).unwrap_or_default();
    if bytes.len() < HEAD {
        // Whoever speaks another protocol may never send as much.
        let is_length = bytes.len() < 4 || (LEAST..=MESSAGE_LIMIT).contains(&(word(bytes, 0) as usize));
        return if is_length { Ok(None) } else { Err(Garbage::Length) };
    }
    let length = word(bytes, 0) as usize;
    if !(LEAST..=MESSAGE_LIMIT).contains(&length) {
        return Err(Garbage::Length);
    }
    if word(bytes, 12) != OP_MSG {
        return Err(Garbage::Kind(word(bytes, 12)));
    }
    let Some(message) = bytes.get(..length) else { return Ok(None) };
    let flags = word(message, HEAD);
    if flags & REQUIRED & !HAS_CHECKSUM != 0 {
        return Err(Garbage::Surplus); // another answer would follow
    }
    if message[HEAD + 4] != 0 {
        return Err(Garbage::Answer);
    }
    let end = if flags & HAS_CHECKSUM == 0 { length } else { length - 4 };
    let document = Document::whole(&message[HEAD + 5..end])?;
    Ok(Some((Message { answers: word(message, 8), document }, start + length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_message() {
        let mut out = vec![7];
        command(&mut out, 3, "admin", |out| bson::int(out, "ping", 1));
        let expected = b"\x33\0\0\0\x03\0\0\0\0\0\0\0\xDD\x07\0\0\0\0\0\0\0\
            \x1E\0\0\0\x10ping\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0\0";
        assert_eq!(&out[1..], expected);
        let (read, next) = message(&out, 1).unwrap().unwrap();
        assert_eq!((read.answers, next), (0, out.len()));
        assert_eq!(read.document.find("ping").unwrap().unwrap().whole(), Some(1));
        for end in 1..out.len() {
            assert!(message(&out[..end], 1).unwrap().is_none(), "{end}");
        }
    }

    #[test]
    fn other_protocols_are_not_taken_for_this_one() {
        for bytes in
            [&b"-ERR unknown\r\n"[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", b"J\0\0\0\x0a5.5.5-10.11.19"]
        {
            assert!(message(bytes, 0).is_err(), "{bytes:?}");
        }
        let mut out = Vec::new();
        command(&mut out, 3, "admin", |out| bson::int(out, "ping", 1));
        let changed = |at: usize, to: u8| {
            let mut bytes = out.clone();
            bytes[at] = to;
            message(&bytes, 0).err()
        };
        assert_eq!(changed(12, 1), Some(Garbage::Kind(0x0701)));
        assert_eq!(changed(16, 2), Some(Garbage::Surplus));
        assert_eq!(changed(20, 1), Some(Garbage::Answer));
        assert_eq!(changed(21, 0x1D), Some(Garbage::Length));
        assert_eq!(changed(3, 0x7F), Some(Garbage::Length));
    }
}
