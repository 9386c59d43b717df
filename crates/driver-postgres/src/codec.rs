//! The wire format of PostgreSQL's protocol 3.0, free of I/O.
//!
//! Messages are written into a buffer and read in place; nothing is copied and nothing allocates but the
//! buffer's own growth. What the server sends is never trusted: any bytes give a frame, "more is needed", or
//! an error.

/// The longest message that is accepted from a server: 1 GiB, PostgreSQL's own limit for a field.
pub(crate) const MESSAGE_LIMIT: usize = 1 << 30;

/// Tag and length.
pub(crate) const HEADER: usize = 5;

/// Bytes that no PostgreSQL server sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// A length below 4 or above [`MESSAGE_LIMIT`].
    Length(u32),
    /// A message of a kind that nobody asked for.
    Unexpected(u8),
    /// A message whose inside contradicts its kind.
    Malformed(u8),
    /// All commands were answered, or not, and yet the server is ready for the next.
    AnswerCount,
    /// Kept rows of one batch above [`MESSAGE_LIMIT`].
    TooManyRows,
}

impl std::fmt::Display for Garbage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Garbage::Length(length) => {
                write!(f, "the server sent a message of {length} bytes; the limit is {MESSAGE_LIMIT}")
            }
            Garbage::Unexpected(tag @ (b'G' | b'H' | b'W')) => {
                write!(f, "the server started a COPY (message `{}`); requests can't copy", tag as char)
            }
            Garbage::Unexpected(tag) => {
                write!(f, "the server sent message `{}` out of turn", tag.escape_ascii())
            }
            Garbage::Malformed(tag) => {
                write!(f, "the server sent a malformed message `{}`", tag.escape_ascii())
            }
            Garbage::AnswerCount => f.write_str("the server answered fewer commands than it was sent"),
            Garbage::TooManyRows => {
                write!(f, "the kept rows of one batch exceed {MESSAGE_LIMIT} bytes; count them instead")
            }
        }
    }
}

/// The tag and the size, header included, of the message that `bytes` begin with; `None` when the header is
/// not complete.
#[inline(always)]
pub(crate) fn header(bytes: &[u8]) -> Result<Option<(u8, usize)>, Garbage> {
    let Some(&[tag, a, b, c, d]) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
    let length = u32::from_be_bytes([a, b, c, d]);
    let size = length as usize;
    if !(4..=MESSAGE_LIMIT).contains(&size) {
        return Err(Garbage::Length(length));
    }
    Ok(Some((tag, size + 1)))
}

/// A whole message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) tag: u8,
    pub(crate) body: &'a [u8],
    /// All of its bytes, header included.
    pub(crate) size: usize,
}

/// The first message in `bytes`; `None` when it is not complete.
pub(crate) fn frame(bytes: &[u8]) -> Result<Option<Frame<'_>>, Garbage> {
    let Some((tag, size)) = header(bytes)? else { return Ok(None) };
    Ok(bytes.get(HEADER..size).map(|body| Frame { tag, body, size }))
}

/// A reader of a message's inside; `None` past the end.
#[derive(Clone, Copy)]
pub(crate) struct Inside<'a>(pub(crate) &'a [u8]);

impl<'a> Inside<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub(crate) fn i16(&mut self) -> Option<i16> {
        Some(i16::from_be_bytes(*self.take(2)?.first_chunk()?))
    }

    pub(crate) fn i32(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(*self.take(4)?.first_chunk()?))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(*self.take(4)?.first_chunk()?))
    }

    /// Up to a zero byte, which is skipped.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|b| *b == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }

    /// One value of a row: `Some(None)` is NULL.
    #[expect(clippy::option_option, reason = "NULL and the end are two things")]
    pub(crate) fn field(&mut self) -> Option<Option<&'a [u8]>> {
        match self.i32()? {
            -1 => Some(None),
            length => self.take(usize::try_from(length).ok()?).map(Some),
        }
    }
}

/// Writes one message: its tag, its length, and what `inside` appends.
pub(crate) fn message(out: &mut Vec<u8>, tag: u8, inside: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    lengthed(out, inside);
}

/// Writes a message without a tag: only those before the log-in have none.
pub(crate) fn lengthed(out: &mut Vec<u8>, inside: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    inside(out);
    patch_length(out, at);
}

/// Sets the length at `at` to the number of bytes from there to the end.
pub(crate) fn patch_length(out: &mut [u8], at: usize) {
    let length = (out.len() - at) as u32; // callers keep messages below MESSAGE_LIMIT
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Appends a text and its zero byte; zero bytes inside of it would end it early and are left out.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|b| *b != 0));
    out.push(0);
}

/// Ends a batch; the server answers with ReadyForQuery.
pub(crate) const SYNC: [u8; 5] = [b'S', 0, 0, 0, 4];

/// Says good-bye.
pub(crate) const TERMINATE: [u8; 5] = [b'X', 0, 0, 0, 4];

/// Asks for TLS.
pub(crate) const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F];

/// Asks for the end of what the session with this key (process number, secret) is doing.
pub(crate) fn cancel(out: &mut Vec<u8>, key: [u8; 8]) {
    out.extend_from_slice(&[0, 0, 0, 16, 0x04, 0xD2, 0x16, 0x2E]);
    out.extend_from_slice(&key);
}

/// Opens a session.
pub(crate) fn start_up(out: &mut Vec<u8>, parameters: &[(&str, &str)]) {
    lengthed(out, |out| {
        out.extend_from_slice(&[0, 3, 0, 0]); // protocol 3.0
        for (name, value) in parameters {
            push_text(out, name);
            push_text(out, value);
        }
        out.push(0);
    });
}

/// Prepares a statement and asks for its parameters and columns.
pub(crate) fn prepare(out: &mut Vec<u8>, name: &str, sql: &str) {
    message(out, b'P', |out| {
        push_text(out, name);
        push_text(out, sql);
        out.extend_from_slice(&[0, 0]); // the server infers the parameters' types
    });
    message(out, b'D', |out| {
        out.push(b'S');
        push_text(out, name);
    });
}

/// Runs SQL text by the simple protocol.
pub(crate) fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| push_text(out, sql));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_framed() {
        let mut out = Vec::new();
        query(&mut out, "SELECT 1");
        assert_eq!(out, b"Q\0\0\0\x0dSELECT 1\0");
        let whole = Frame { tag: b'Q', body: b"SELECT 1\0", size: out.len() };
        assert_eq!(frame(&out), Ok(Some(whole)));
        assert_eq!(frame(&out[..out.len() - 1]), Ok(None));
        assert_eq!(frame(&out[..4]), Ok(None));
    }

    #[test]
    fn impossible_lengths_are_refused() {
        assert_eq!(header(&[b'Z', 0, 0, 0, 3]), Err(Garbage::Length(3)));
        assert_eq!(header(&[b'Z', 0x40, 0, 0, 1]), Err(Garbage::Length(0x4000_0001)));
        assert_eq!(header(&[b'Z', 0x40, 0, 0, 0]), Ok(Some((b'Z', MESSAGE_LIMIT + 1))));
    }

    #[test]
    fn a_zero_byte_cannot_end_a_text_early() {
        let mut out = Vec::new();
        push_text(&mut out, "a\0b");
        assert_eq!(out, b"ab\0");
    }
}
