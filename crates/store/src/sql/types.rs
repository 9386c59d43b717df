//! Types: their numbers on the wire, and their values as text and in binary.

use super::datum::Datum;
use super::error::{SqlError, state};
use super::moment;
use std::borrow::Cow;

/// A type of columns, parameters and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Bool,
    Bytea,
    Int2,
    Int4,
    Int8,
    Oid,
    Float8,
    Text,
    Varchar,
    Bpchar,
    Name,
    Timestamp,
    Timestamptz,
}

/// A type with its length, where it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ColumnType {
    pub(crate) kind: Type,
    /// Characters of `varchar(n)` and `char(n)`, in [1, 10485760].
    pub(crate) length: Option<u32>,
}

/// Types within which values can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Bool,
    Bytes,
    Number,
    Text,
    Moment,
}

impl From<Type> for ColumnType {
    fn from(kind: Type) -> ColumnType {
        ColumnType { kind, length: None }
    }
}

impl ColumnType {
    /// PostgreSQL's "type modifier": the length and the four bytes of a header; −1 without one.
    pub(crate) fn modifier(self) -> i32 {
        self.length.and_then(|length| i32::try_from(length + 4).ok()).unwrap_or(-1)
    }
}

impl Type {
    const ALL: [Type; 13] = [
        Type::Bool,
        Type::Bytea,
        Type::Int2,
        Type::Int4,
        Type::Int8,
        Type::Oid,
        Type::Float8,
        Type::Text,
        Type::Varchar,
        Type::Bpchar,
        Type::Name,
        Type::Timestamp,
        Type::Timestamptz,
    ];

    /// Its number in PostgreSQL's catalog.
    pub(crate) fn oid(self) -> u32 {
        match self {
            Type::Bool => 16,
            Type::Bytea => 17,
            Type::Name => 19,
            Type::Int8 => 20,
            Type::Int2 => 21,
            Type::Int4 => 23,
            Type::Text => 25,
            Type::Oid => 26,
            Type::Float8 => 701,
            Type::Bpchar => 1042,
            Type::Varchar => 1043,
            Type::Timestamp => 1114,
            Type::Timestamptz => 1184,
        }
    }

    pub(crate) fn from_oid(oid: u32) -> Option<Type> {
        Type::ALL.into_iter().find(|kind| kind.oid() == oid)
    }

    /// As PostgreSQL calls it in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::Bool => "boolean",
            Type::Bytea => "bytea",
            Type::Int2 => "smallint",
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Oid => "oid",
            Type::Float8 => "double precision",
            Type::Text => "text",
            Type::Varchar => "character varying",
            Type::Bpchar => "character",
            Type::Name => "name",
            Type::Timestamp => "timestamp without time zone",
            Type::Timestamptz => "timestamp with time zone",
        }
    }

    /// As PostgreSQL's catalog calls it, and result columns that are nothing but a cast.
    pub(crate) fn catalog_name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::Bytea => "bytea",
            Type::Int2 => "int2",
            Type::Int4 => "int4",
            Type::Int8 => "int8",
            Type::Oid => "oid",
            Type::Float8 => "float8",
            Type::Text => "text",
            Type::Varchar => "varchar",
            Type::Bpchar => "bpchar",
            Type::Name => "name",
            Type::Timestamp => "timestamp",
            Type::Timestamptz => "timestamptz",
        }
    }

    /// Bytes of a value; negative where that varies.
    pub(crate) fn size(self) -> i16 {
        match self {
            Type::Bool => 1,
            Type::Int2 => 2,
            Type::Int4 | Type::Oid => 4,
            Type::Int8 | Type::Float8 | Type::Timestamp | Type::Timestamptz => 8,
            Type::Name => 64,
            Type::Bytea | Type::Text | Type::Varchar | Type::Bpchar => -1,
        }
    }

    pub(crate) fn family(self) -> Family {
        match self {
            Type::Bool => Family::Bool,
            Type::Bytea => Family::Bytes,
            Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid | Type::Float8 => Family::Number,
            Type::Text | Type::Varchar | Type::Bpchar | Type::Name => Family::Text,
            Type::Timestamp | Type::Timestamptz => Family::Moment,
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid)
    }

    /// The least and the greatest value of an integer type.
    fn bounds(self) -> (i64, i64) {
        match self {
            Type::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Type::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Type::Oid => (0, i64::from(u32::MAX)),
            _ => (i64::MIN, i64::MAX),
        }
    }

    /// The number, if the type can hold it.
    pub(crate) fn checked(self, value: i64) -> Result<i64, SqlError> {
        let (least, most) = self.bounds();
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(self.out_of_range())
    }

    pub(crate) fn out_of_range(self) -> SqlError {
        SqlError::new(state::NUMBER_OUT_OF_RANGE, format!("{} out of range", self.name()))
    }

    /// What a client wrote, as a value of this type.
    pub(crate) fn parse(self, text: &str) -> Result<Datum<'static>, SqlError> {
        let invalid = || {
            let shown: String = text.chars().take(100).collect();
            SqlError::new(
                state::INVALID_TEXT,
                format!("invalid input syntax for type {}: \"{shown}\"", self.name()),
            )
        };
        match self {
            Type::Bool => parse_bool(text).map(Datum::Bool).ok_or_else(invalid),
            Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid => {
                let trimmed = text.trim();
                match trimmed.parse::<i64>() {
                    Ok(value) => self.checked(value).map(Datum::Int).map_err(|_| self.no_room_for(trimmed)),
                    Err(_) if is_digits(trimmed) => Err(self.no_room_for(trimmed)),
                    Err(_) => Err(invalid()),
                }
            }
            Type::Float8 => match parse_float(text.trim()) {
                Some(value) if fits_float(text, value) => Ok(Datum::Float(value)),
                Some(_) => Err(self.no_room_for(text.trim())),
                None => Err(invalid()),
            },
            Type::Text | Type::Varchar | Type::Bpchar | Type::Name => {
                Ok(Datum::Text(Cow::Owned(text.to_owned())))
            }
            Type::Bytea => parse_bytes(text).map(|bytes| Datum::Bytes(Cow::Owned(bytes))).ok_or_else(|| {
                let state =
                    if text.starts_with("\\x") { state::INVALID_PARAMETER } else { state::INVALID_TEXT };
                SqlError { state, ..invalid() }
            }),
            Type::Timestamp | Type::Timestamptz => moment::parse(text.trim(), self).map(Datum::Moment),
        }
    }

    fn no_room_for(self, text: &str) -> SqlError {
        let shown: String = text.chars().take(100).collect();
        let message = format!("value \"{shown}\" is out of range for type {}", self.name());
        SqlError::new(state::NUMBER_OUT_OF_RANGE, message)
    }

    /// The value that [`Datum::write_text`] wrote into a record.
    pub(crate) fn stored(self, bytes: &[u8]) -> Result<Datum<'_>, SqlError> {
        let damaged = || SqlError::new(state::INTERNAL, format!("a stored value is no {}", self.name()));
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        match self {
            Type::Text | Type::Varchar | Type::Bpchar | Type::Name => Ok(Datum::Text(Cow::Borrowed(text))),
            _ => self.parse(text),
        }
    }

    /// A value in the binary format.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Datum<'static>, SqlError> {
        let wrong = || {
            let message = format!("{} bytes are no binary {}", bytes.len(), self.name());
            let needed = usize::try_from(self.size()).unwrap_or(0);
            let is_short = bytes.len() < needed;
            SqlError::new(if is_short { state::PROTOCOL_VIOLATION } else { state::INVALID_BINARY }, message)
        };
        Ok(match self {
            Type::Bool => match bytes {
                [byte] => Datum::Bool(*byte != 0),
                _ => return Err(wrong()),
            },
            Type::Int2 => Datum::Int(i16::from_be_bytes(bytes.try_into().map_err(|_| wrong())?).into()),
            Type::Int4 => Datum::Int(i32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?).into()),
            Type::Oid => Datum::Int(u32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?).into()),
            Type::Int8 => Datum::Int(i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?)),
            Type::Float8 => Datum::Float(f64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?)),
            Type::Timestamp | Type::Timestamptz => {
                let micros = i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?);
                Datum::Moment(moment::checked(micros)?)
            }
            Type::Bytea => Datum::Bytes(Cow::Owned(bytes.to_vec())),
            Type::Text | Type::Varchar | Type::Bpchar | Type::Name => {
                Datum::Text(Cow::Owned(text_of(bytes)?.to_owned()))
            }
        })
    }
}

/// Bytes from a client as text.
///
/// # Errors
/// They are not UTF-8, or have a zero byte, which no text of PostgreSQL has.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, SqlError> {
    let wrong = |at: usize| {
        let byte = bytes.get(at).copied().unwrap_or(0);
        SqlError::new(
            state::CHARACTER_NOT_IN_REPERTOIRE,
            format!("invalid byte sequence for encoding \"UTF8\": 0x{byte:02x}"),
        )
    };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to()))?;
    match bytes.iter().position(|byte| *byte == 0) {
        Some(at) => Err(wrong(at)),
        None => Ok(text),
    }
}

fn is_digits(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Any beginning of true, false, yes, no; on, off; 1, 0.
fn parse_bool(text: &str) -> Option<bool> {
    let word = text.trim().to_ascii_lowercase();
    match word.as_str() {
        "" => None,
        "1" | "on" => Some(true),
        "0" | "of" | "off" => Some(false),
        word if "true".starts_with(word) || "yes".starts_with(word) => Some(true),
        word if "false".starts_with(word) || "no".starts_with(word) => Some(false),
        _ => None,
    }
}

fn parse_float(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "infinity" | "inf" | "+infinity" | "+inf" => Some(f64::INFINITY),
        "-infinity" | "-inf" => Some(f64::NEG_INFINITY),
        word if word.bytes().all(|b| b.is_ascii_digit() || b"+-.e".contains(&b)) => word.parse().ok(),
        _ => None,
    }
}

/// Whether digits became neither infinite nor nothing.
fn fits_float(text: &str, value: f64) -> bool {
    let mut mantissa = text.bytes().take_while(|b| !b.eq_ignore_ascii_case(&b'e'));
    let is_word = text.bytes().any(|b| b.eq_ignore_ascii_case(&b'n'));
    is_word || (value.is_finite() && (value != 0.0 || !mantissa.any(|b| matches!(b, b'1'..=b'9'))))
}

/// `\x` and hexadecimal digits, or bytes with `\\` and `\ooo`.
fn parse_bytes(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: Vec<u8> = digits.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        return digits.chunks(2).map(|p| if p.len() == 2 { pair(p) } else { None }).collect();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        match (first, tail) {
            (b'\\', [b'\\', tail @ ..]) => {
                bytes.push(b'\\');
                rest = tail;
            }
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            (b'\\', _) => return None,
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: Type, text: &str) -> Result<String, &'static str> {
        let datum = kind.parse(text).map_err(|error| error.state)?;
        let mut out = Vec::new();
        datum.write_text(kind, &mut out);
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn what_is_written_comes_back_in_postgres_spelling() {
        for (kind, text, expected) in [
            (Type::Bool, " YES ", "t"),
            (Type::Bool, "f", "f"),
            (Type::Int2, "-32768", "-32768"),
            (Type::Int4, " +7 ", "7"),
            (Type::Float8, "1e20", "1e+20"),
            (Type::Float8, "0.0001", "0.0001"),
            (Type::Float8, "0.00001", "1e-05"),
            (Type::Float8, "123456789012345", "123456789012345"),
            (Type::Float8, "1234567890123456", "1.234567890123456e+15"),
            (Type::Float8, "0.14285714285714285", "0.14285714285714285"),
            (Type::Float8, "-0", "-0"),
            (Type::Float8, "inf", "Infinity"),
            (Type::Bytea, "a\\\\\\001", "\\x615c01"),
            (Type::Bytea, "\\xDEad", "\\xdead"),
            (Type::Timestamp, "2023-11-14 22:13:20.000001+00", "2023-11-14 22:13:20.000001"),
            (Type::Timestamptz, "2023-11-14 22:13:20+02", "2023-11-14 20:13:20+00"),
        ] {
            assert_eq!(shown(kind, text).as_deref(), Ok(expected), "{text}");
        }
        for (kind, text, expected) in [
            (Type::Bool, "o", "22P02"),
            (Type::Int2, "32768", "22003"),
            (Type::Int8, "99999999999999999999", "22003"),
            (Type::Int4, "1.5", "22P02"),
            (Type::Int4, "", "22P02"),
            (Type::Float8, "infinit", "22P02"),
            (Type::Bytea, "\\x1", "22023"),
            (Type::Float8, "1e400", "22003"),
            (Type::Float8, "1e-400", "22003"),
            (Type::Bytea, "\\9", "22P02"),
            (Type::Timestamp, "yesterday", "22007"),
        ] {
            assert_eq!(shown(kind, text), Err(expected), "{text}");
        }
    }

    #[test]
    fn binary_comes_back() {
        for (kind, text) in [
            (Type::Bool, "t"),
            (Type::Int2, "-2"),
            (Type::Int4, "70000"),
            (Type::Int8, "-9223372036854775808"),
            (Type::Oid, "4294967295"),
            (Type::Float8, "0.1"),
            (Type::Text, "grüße"),
            (Type::Bytea, "\\x00ff"),
            (Type::Timestamp, "1999-12-31 23:59:59.999999"),
        ] {
            let datum = kind.parse(text).unwrap();
            let mut out = Vec::new();
            datum.write_binary(kind, &mut out);
            assert_eq!(kind.decode(&out).unwrap(), datum, "{text}");
            if kind.size() > 0 {
                assert_eq!(out.len(), usize::try_from(kind.size()).unwrap(), "{text}");
                assert_eq!(kind.decode(&out[1..]).unwrap_err().state, "08P01", "{text}");
                assert_eq!(kind.decode(&[&out[..], b"x"].concat()).unwrap_err().state, "22P03", "{text}");
            }
        }
        assert_eq!(Type::Text.decode(b"a\0b").unwrap_err().state, "22021");
        assert_eq!(Type::Text.decode(b"\xff").unwrap_err().state, "22021");
    }

    #[test]
    fn numbers_of_types_are_found_again() {
        for kind in Type::ALL {
            assert_eq!(Type::from_oid(kind.oid()), Some(kind));
        }
        assert_eq!(Type::from_oid(0), None);
    }
}
