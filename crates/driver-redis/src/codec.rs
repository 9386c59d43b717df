//! RESP on the wire: commands out, replies in.

use units::Outcome;

/// A reply that is longer than this is refused; Redis's own limit for one value.
pub(crate) const MESSAGE_LIMIT: usize = 512 << 20;

/// Appends the head of a command of `parts` parts; the parts follow.
#[inline]
pub(crate) fn command(out: &mut Vec<u8>, parts: usize) {
    length(out, b'*', parts);
}

/// Appends one part.
#[inline]
pub(crate) fn part(out: &mut Vec<u8>, bytes: &[u8]) {
    length(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn length(out: &mut Vec<u8>, tag: u8, length: usize) {
    out.push(tag);
    if length < 10 {
        out.push(b'0' + length as u8);
    } else {
        let mut digits = [0; DIGITS];
        out.extend_from_slice(decimal(&mut digits, length as u64));
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a number as a part.
#[inline]
pub(crate) fn number(out: &mut Vec<u8>, number: i64) {
    let mut digits = [0; DIGITS];
    let absolute = decimal(&mut digits, number.unsigned_abs());
    if number >= 0 {
        return part(out, absolute);
    }
    let mut signed = [b'-'; DIGITS + 1];
    signed[1..=absolute.len()].copy_from_slice(absolute);
    part(out, &signed[..=absolute.len()]);
}

/// Of the largest number.
const DIGITS: usize = 20;

/// A number's digits. The standard library's formatting costs more than the rest of a command's head.
#[inline]
fn decimal(digits: &mut [u8; DIGITS], mut number: u64) -> &[u8] {
    let mut first = DIGITS;
    while number > 0 || first == DIGITS {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    &digits[first..]
}

/// What can't be understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// A reply that begins with something else than a RESP 2 type.
    Type(u8),
    /// A length or number that is none, or beyond the limit.
    Number,
    /// A line without end, or a value not followed by one.
    LineEnd,
    /// Something else than what answers this command.
    Unexpected(u8),
    /// More than the limit.
    TooLong,
    /// More than was asked for, or before it was asked for.
    Surplus,
}

impl std::fmt::Display for Garbage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Garbage::Type(byte) => write!(f, "the server sent a reply of unknown type 0x{byte:02x}"),
            Garbage::Number => f.write_str("the server sent a length that is none"),
            Garbage::LineEnd => f.write_str("the server sent a line without its end"),
            Garbage::Unexpected(tag) => {
                write!(f, "the server sent a reply of type `{}` that answers nothing", char::from(*tag))
            }
            Garbage::Surplus => f.write_str("the server sent more than it was asked for"),
            Garbage::TooLong => write!(f, "the server sent more than {MESSAGE_LIMIT} bytes"),
        }
    }
}

/// One item of a reply: a scalar, or the head of an array whose items follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// `+`: a short text, from `begin` to `end`.
    Simple { begin: usize, end: usize },
    /// `-`: an error.
    Error { begin: usize, end: usize },
    /// `:`
    Integer(i64),
    /// `$`: a value.
    Bulk { begin: usize, end: usize },
    /// `$-1` or `*-1`
    Nil,
    /// `*`: so many items follow.
    Array(usize),
}

/// A line's longest length: numbers are short, and errors repeat what was sent only in part.
const LINE_LIMIT: usize = 64 * 1024;

/// The item at `at`, and where the next one begins; `None` while it is incomplete.
#[inline]
pub(crate) fn item(bytes: &[u8], at: usize) -> Result<Option<(Item, usize)>, Garbage> {
    let Some(&tag) = bytes.get(at) else { return Ok(None) };
    if !matches!(tag, b'+' | b'-' | b':' | b'$' | b'*') {
        return Err(Garbage::Type(tag));
    }
    let begin = at + 1;
    let rest = &bytes[begin..];
    let Some(length) = rest.iter().take(LINE_LIMIT).position(|&b| b == b'\n') else {
        return if rest.len() >= LINE_LIMIT { Err(Garbage::LineEnd) } else { Ok(None) };
    };
    let Some(end) = (begin + length).checked_sub(1).filter(|&end| end >= begin && bytes[end] == b'\r') else {
        return Err(Garbage::LineEnd);
    };
    let next = end + 2;
    let line = &bytes[begin..end];
    let found = match tag {
        b'+' => Item::Simple { begin, end },
        b'-' => Item::Error { begin, end },
        b':' => Item::Integer(integer(line)?),
        b'*' => match integer(line)? {
            -1 => Item::Nil,
            count => Item::Array(size(count)?),
        },
        _ => match integer(line)? {
            -1 => Item::Nil,
            count => {
                let end = next + size(count)?;
                return match bytes.get(end..end + 2) {
                    None => Ok(None),
                    Some(b"\r\n") => Ok(Some((Item::Bulk { begin: next, end }, end + 2))),
                    Some(_) => Err(Garbage::LineEnd),
                };
            }
        },
    };
    Ok(Some((found, next)))
}

fn integer(line: &[u8]) -> Result<i64, Garbage> {
    std::str::from_utf8(line).ok().and_then(|text| text.parse().ok()).ok_or(Garbage::Number)
}

fn size(count: i64) -> Result<usize, Garbage> {
    let count = usize::try_from(count).map_err(|_| Garbage::Number)?;
    if count <= MESSAGE_LIMIT { Ok(count) } else { Err(Garbage::TooLong) }
}

/// What an error's first word says of the request.
pub(crate) fn outcome(error: &[u8]) -> Outcome {
    let word = error.split(|&b| b == b' ').next().unwrap_or(error);
    match word {
        b"LOADING" | b"MASTERDOWN" | b"CLUSTERDOWN" | b"NOREPLICAS" | b"OOM" | b"READONLY" => {
            Outcome::Unavailable
        }
        b"BUSY" | b"TRYAGAIN" => Outcome::Busy,
        b"EXECABORT" => Outcome::Serialization,
        b"MOVED" | b"ASK" => Outcome::Redirected,
        _ => Outcome::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_are_arrays_of_values() {
        let mut out = Vec::new();
        command(&mut out, 2);
        part(&mut out, b"GET");
        part(&mut out, b"a key of 16 byte");
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$16\r\na key of 16 byte\r\n");
        for value in [0, 7, -1, 42, i64::MAX, i64::MIN] {
            let (mut out, mut expected) = (Vec::new(), Vec::new());
            number(&mut out, value);
            part(&mut expected, value.to_string().as_bytes());
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn items_are_found_when_they_are_whole() {
        let bytes = b"+OK\r\n-ERR no\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*2\r\n*-1\r\n";
        let (mut at, mut items) = (0, Vec::new());
        while let Some((found, next)) = item(bytes, at).unwrap() {
            items.push(found);
            at = next;
        }
        assert_eq!(at, bytes.len());
        assert_eq!(
            items,
            [
                Item::Simple { begin: 1, end: 3 },
                Item::Error { begin: 6, end: 12 },
                Item::Integer(-7),
                Item::Bulk { begin: 23, end: 26 },
                Item::Nil,
                Item::Array(2),
                Item::Nil,
            ]
        );
    }

    #[test]
    fn garbage_is_named() {
        for (bytes, garbage) in [
            (&b"hello\r\n"[..], Garbage::Type(b'h')),
            (b":12x\r\n", Garbage::Number),
            (b"$-2\r\n", Garbage::Number),
            (b"$99999999999\r\n", Garbage::TooLong),
            (b"$99999999999999999999\r\n", Garbage::Number),
            (b"*536870913\r\n", Garbage::TooLong),
            (b"$\r\n", Garbage::Number),
            (b"+OK\n", Garbage::LineEnd),
            (b"$2\r\nabc\r\n", Garbage::LineEnd),
        ] {
            assert_eq!(item(bytes, 0), Err(garbage), "{bytes:?}");
        }
    }

    #[test]
    fn errors_have_classes() {
        assert_eq!(outcome(b"LOADING Redis is loading the dataset in memory"), Outcome::Unavailable);
        assert_eq!(outcome(b"MOVED 3999 127.0.0.1:6381"), Outcome::Redirected);
        assert_eq!(outcome(b"ASK 3999 127.0.0.1:6381"), Outcome::Redirected);
        assert_eq!(outcome(b"TRYAGAIN Multiple keys request during rehashing of slot"), Outcome::Busy);
        assert_eq!(outcome(b"CLUSTERDOWN The cluster is down"), Outcome::Unavailable);
        assert_eq!(outcome(b"BUSY Redis is busy running a script."), Outcome::Busy);
        assert_eq!(outcome(b"ERR unknown command"), Outcome::Server);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..100_usize) {
            if let Ok(Some((_, next))) = item(&bytes, at) {
                prop_assert!(next > at && next <= bytes.len());
            }
        }
    }
}
