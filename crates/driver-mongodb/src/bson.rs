//! BSON (bsonspec.org, version 1.1), as far as commands and their answers need it: written in place, read in place.

use std::fmt;

/// Appends a document that `inside` fills with elements.
#[inline]
pub(crate) fn document(out: &mut Vec<u8>, inside: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    inside(out);
    out.push(0);
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

#[inline]
fn head(out: &mut Vec<u8>, tag: u8, name: &str) {
    out.push(tag);
    out.extend_from_slice(name.as_bytes());
    out.push(0);
}

/// Appends an element that is a document.
#[inline]
pub(crate) fn embedded(out: &mut Vec<u8>, name: &str, inside: impl FnOnce(&mut Vec<u8>)) {
    head(out, DOCUMENT, name);
    document(out, inside);
}

/// Appends an array; its elements' names are their numbers.
#[inline]
pub(crate) fn array(out: &mut Vec<u8>, name: &str, inside: impl FnOnce(&mut Vec<u8>)) {
    head(out, ARRAY, name);
    document(out, inside);
}

/// Appends a text.
#[inline]
pub(crate) fn text(out: &mut Vec<u8>, name: &str, value: &str) {
    head(out, TEXT, name);
    out.extend_from_slice(&(value.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(value.as_bytes());
    out.push(0);
}

/// Appends bytes, of the generic kind.
#[inline]
pub(crate) fn binary(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    head(out, BINARY, name);
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.push(0);
    out.extend_from_slice(value);
}

/// Appends a number of 32 bits.
#[inline]
pub(crate) fn int(out: &mut Vec<u8>, name: &str, value: i32) {
    head(out, INT, name);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a number of 64 bits.
pub(crate) fn long(out: &mut Vec<u8>, name: &str, value: i64) {
    head(out, LONG, name);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a truth value.
#[inline]
pub(crate) fn boolean(out: &mut Vec<u8>, name: &str, value: bool) {
    head(out, BOOLEAN, name);
    out.push(value.into());
}

const DOUBLE: u8 = 0x01;
const TEXT: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const BOOLEAN: u8 = 0x08;
const INT: u8 = 0x10;
const LONG: u8 = 0x12;

/// A document where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document<'a> {
    /// Its elements, without length and end.
    elements: &'a [u8],
}

/// A value where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    Double(f64),
    Text(&'a [u8]),
    Document(Document<'a>),
    Array(Document<'a>),
    Binary(&'a [u8]),
    Boolean(bool),
    Int(i32),
    Long(i64),
    /// Of a type that nothing here needs.
    Other(u8),
}

/// What is not BSON, or not what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// A length that can't be, or that ends elsewhere.
    Length,
    /// An element of an unknown type.
    Type(u8),
    /// A message of an unknown kind.
    Kind(u32),
    /// The answer to another request.
    Order,
    /// More than was asked for.
    Surplus,
    /// An answer without what it must have.
    Answer,
}

impl fmt::Display for Garbage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Garbage::Length => f.write_str("the server sent a message whose lengths do not agree"),
            Garbage::Type(tag) => write!(f, "the server sent a value of unknown type {tag:#04x}"),
            Garbage::Kind(kind) => write!(f, "the server sent a message of kind {kind} instead of OP_MSG"),
            Garbage::Order => f.write_str("the server answered a request that is not the one in flight"),
            Garbage::Surplus => f.write_str("the server sent more than it was asked for"),
            Garbage::Answer => f.write_str("the server sent an answer without `ok` or without its records"),
        }
    }
}

/// The first `count` bytes, which are taken away.
#[inline]
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Garbage> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(Garbage::Length)?;
    *bytes = rest;
    Ok(taken)
}

#[inline]
fn take_number<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], Garbage> {
    take(bytes, N)?.try_into().map_err(|_| Garbage::Length)
}

/// A length of 32 bits; a negative one is none.
#[inline]
fn take_length(bytes: &mut &[u8]) -> Result<usize, Garbage> {
    usize::try_from(i32::from_le_bytes(take_number(bytes)?)).map_err(|_| Garbage::Length)
}

/// Bytes up to a NUL.
#[inline]
fn take_name<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Garbage> {
    let end = bytes.iter().position(|byte| *byte == 0).ok_or(Garbage::Length)?;
    let name = take(bytes, end)?;
    take(bytes, 1)?;
    Ok(name)
}

/// A text with its length, the NUL behind it included.
#[inline]
fn take_text<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Garbage> {
    let length = take_length(bytes)?;
    match take(bytes, length)?.split_last() {
        Some((0, text)) => Ok(text),
        _ => Err(Garbage::Length),
    }
}

#[inline]
fn take_document<'a>(bytes: &mut &'a [u8]) -> Result<Document<'a>, Garbage> {
    let length = take_length(bytes)?.checked_sub(4).ok_or(Garbage::Length)?;
    match take(bytes, length)?.split_last() {
        Some((0, elements)) => Ok(Document { elements }),
        _ => Err(Garbage::Length),
    }
}

impl<'a> Document<'a> {
    /// One without elements.
    pub(crate) const EMPTY: Document<'static> = Document { elements: &[] };

    /// Its bytes, for longer than what it was read from.
    pub(crate) fn copied(self) -> Vec<u8> {
        let mut copy = Vec::with_capacity(self.elements.len() + 5);
        document(&mut copy, |out| out.extend_from_slice(self.elements));
        copy
    }

    /// The one document that `bytes` are.
    #[inline]
    pub(crate) fn whole(mut bytes: &'a [u8]) -> Result<Document<'a>, Garbage> {
        let document = take_document(&mut bytes)?;
        if bytes.is_empty() { Ok(document) } else { Err(Garbage::Length) }
    }

    /// Name and value of the next element, which is taken away.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(&'a [u8], Item<'a>)>, Garbage> {
        let Some((tag, mut rest)) = self.elements.split_first() else { return Ok(None) };
        let name = take_name(&mut rest)?;
        let item = item(*tag, &mut rest)?;
        self.elements = rest;
        Ok(Some((name, item)))
    }

    /// The value of this name; for set-up.
    pub(crate) fn find(mut self, wanted: &str) -> Result<Option<Item<'a>>, Garbage> {
        while let Some((name, item)) = self.next()? {
            if name == wanted.as_bytes() {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}

#[inline]
fn item<'a>(tag: u8, rest: &mut &'a [u8]) -> Result<Item<'a>, Garbage> {
    Ok(match tag {
        DOUBLE => Item::Double(f64::from_le_bytes(take_number(rest)?)),
        TEXT => Item::Text(take_text(rest)?),
        DOCUMENT => Item::Document(take_document(rest)?),
        ARRAY => Item::Array(take_document(rest)?),
        BINARY => {
            let length = take_length(rest)?;
            take(rest, 1)?; // which kind of bytes does not matter
            Item::Binary(take(rest, length)?)
        }
        BOOLEAN => Item::Boolean(take(rest, 1)? != [0]),
        INT => Item::Int(i32::from_le_bytes(take_number(rest)?)),
        LONG => Item::Long(i64::from_le_bytes(take_number(rest)?)),
        _ => {
            pass(tag, rest)?;
            Item::Other(tag)
        }
    })
}

/// Goes by a value of a type that nothing here needs.
#[cold]
fn pass(tag: u8, rest: &mut &[u8]) -> Result<(), Garbage> {
    let fixed = match tag {
        // Undefined, null, the lowest and the highest key.
        0x06 | 0x0A | 0x7F | 0xFF => 0,
        // An id; a moment, a timestamp; a decimal.
        0x07 => 12,
        0x09 | 0x11 => 8,
        0x13 => 16,
        // A regular expression is two names, a pointer a text and an id.
        0x0B => {
            take_name(rest)?;
            take_name(rest)?;
            0
        }
        0x0C => {
            take_text(rest)?;
            12
        }
        // Code, symbol.
        0x0D | 0x0E => {
            take_text(rest)?;
            0
        }
        // Code with its scope has a length of its own, which counts itself.
        0x0F => take_length(rest)?.checked_sub(4).ok_or(Garbage::Length)?,
        _ => return Err(Garbage::Type(tag)),
    };
    take(rest, fixed)?;
    Ok(())
}

impl<'a> Item<'a> {
    /// A number of whichever type.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Item::Double(number) => Some(number),
            Item::Int(number) => Some(number.into()),
            Item::Long(number) => Some(number as f64),
            Item::Boolean(truth) => Some(truth.into()),
            _ => None,
        }
    }

    /// A whole number of whichever type.
    pub(crate) fn whole(self) -> Option<i64> {
        match self {
            Item::Int(number) => Some(number.into()),
            Item::Long(number) => Some(number),
            Item::Double(number) => Some(number as i64),
            _ => None,
        }
    }

    /// A text, in set-up.
    pub(crate) fn shown(self) -> Option<String> {
        match self {
            Item::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        }
    }

    /// Text or bytes: what a field of a record is.
    #[inline]
    pub(crate) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Item::Binary(bytes) | Item::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A document or an array.
    pub(crate) fn inside(self) -> Option<Document<'a>> {
        match self {
            Item::Document(document) | Item::Array(document) => Some(document),
            _ => None,
        }
    }

    /// What people call its type.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Item::Double(_) => "a double",
            Item::Text(_) => "a text",
            Item::Document(_) => "a document",
            Item::Array(_) => "an array",
            Item::Binary(_) => "binary data",
            Item::Boolean(_) => "a truth value",
            Item::Int(_) | Item::Long(_) => "a whole number",
            Item::Other(0x0A) => "null",
            Item::Other(_) => "of another type",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification, and one of each kind of value.
    #[test]
    fn documents_are_written_as_the_specification_has_them() {
        let mut out = Vec::new();
        document(&mut out, |out| text(out, "hello", "world"));
        assert_eq!(out, b"\x16\x00\x00\x00\x02hello\x00\x06\x00\x00\x00world\x00\x00");
        out.clear();
        document(&mut out, |out| {
            int(out, "a", -1);
            binary(out, "b", b"\xFF\0");
            boolean(out, "c", true);
            array(out, "d", |out| embedded(out, "0", |_| ()));
            long(out, "e", 1);
        });
        let expected = b"\x35\0\0\0\x10a\0\xFF\xFF\xFF\xFF\x05b\0\x02\0\0\0\0\xFF\0\x08c\0\x01\
            \x04d\0\x0D\0\0\0\x030\0\x05\0\0\0\0\0\x12e\0\x01\0\0\0\0\0\0\0\0";
        assert_eq!(out, expected);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut out = Vec::new();
        document(&mut out, |out| {
            text(out, "t", "größe");
            binary(out, "b", b"x");
            int(out, "i", 7);
            long(out, "l", -7);
            boolean(out, "f", false);
            embedded(out, "d", |out| int(out, "inner", 1));
        });
        let document = Document::whole(&out).unwrap();
        let find = |name| document.find(name).unwrap().unwrap();
        assert_eq!(find("t").shown().unwrap(), "größe");
        assert_eq!(find("b").bytes().unwrap(), b"x");
        assert_eq!((find("i").whole(), find("l").number()), (Some(7), Some(-7.0)));
        assert_eq!(find("d").inside().unwrap().find("inner").unwrap().unwrap().whole(), Some(1));
        assert!(document.find("none").unwrap().is_none());
    }

    #[test]
    fn values_of_all_types_are_passed() {
        let values: [(u8, &[u8]); 14] = [
            (0x06, b""),
            (0x07, &[1; 12]),
            (0x09, &[1; 8]),
            (0x0A, b""),
            (0x0B, b"a\0i\0"),
            (0x0C, b"\x02\0\0\0x\0yyyyyyyyyyyy"),
            (0x0D, b"\x02\0\0\0x\0"),
            (0x0E, b"\x02\0\0\0x\0"),
            (0x0F, b"\x04\0\0\0"),
            (0x11, &[1; 8]),
            (0x13, &[1; 16]),
            (0x7F, b""),
            (0xFF, b""),
            (0x01, &[0; 8]),
        ];
        for (tag, bytes) in values {
            let mut out = Vec::new();
            document(&mut out, |out| {
                head(out, tag, "x");
                out.extend_from_slice(bytes);
                int(out, "last", 9);
            });
            let last = Document::whole(&out).unwrap().find("last").unwrap();
            assert_eq!(last.and_then(Item::whole), Some(9), "{tag:#x}");
        }
    }

    #[test]
    fn lengths_that_do_not_agree_are_garbage() {
        for bytes in [
            &b""[..],
            b"\x05\0\0\0",
            b"\x05\0\0\0\x01",
            b"\x06\0\0\0\0",
            b"\xFF\xFF\xFF\xFF\0",
            b"\x03\0\0\0\0",
            b"\x05\0\0\0\0\0",
        ] {
            assert!(Document::whole(bytes).is_err(), "{bytes:?}");
        }
        for elements in [&b"\x02a\0\x09\0\0\0x\0"[..], b"\x02a\0\0\0\0\0", b"\x02a", b"\x10a\0\0", b"\x99a\0"]
        {
            let mut out = Vec::new();
            document(&mut out, |out| out.extend_from_slice(elements));
            assert!(Document::whole(&out).unwrap().next().is_err(), "{elements:?}");
        }
    }
}
