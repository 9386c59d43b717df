//! A value while it is computed with.

use super::error::{SqlError, state};
use super::moment;
use super::types::{ColumnType, Family, Type};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::Write;

/// A value; which type it has is known to whoever holds it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Datum<'a> {
    Null,
    Bool(bool),
    /// Of any integer type.
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    /// Microseconds since 2000.
    Moment(i64),
}

impl Datum<'_> {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// The same, on its own.
    pub(crate) fn into_owned(self) -> Datum<'static> {
        match self {
            Datum::Null => Datum::Null,
            Datum::Bool(value) => Datum::Bool(value),
            Datum::Int(value) => Datum::Int(value),
            Datum::Float(value) => Datum::Float(value),
            Datum::Moment(value) => Datum::Moment(value),
            Datum::Text(text) => Datum::Text(Cow::Owned(text.into_owned())),
            Datum::Bytes(bytes) => Datum::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }

    /// How it compares with a value of the same family, neither being null. Text compares by bytes (collation C), NaN
    /// is the greatest number.
    pub(crate) fn compare(&self, other: &Datum<'_>) -> Ordering {
        match (self, other) {
            (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
            (Datum::Int(a), Datum::Int(b)) | (Datum::Moment(a), Datum::Moment(b)) => a.cmp(b),
            (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
            (Datum::Int(_) | Datum::Float(_), Datum::Int(_) | Datum::Float(_)) => {
                compare_floats(self.as_float(), other.as_float())
            }
            _ => Ordering::Equal, // no comparison is planned between families
        }
    }

    pub(crate) fn as_float(&self) -> f64 {
        match self {
            Datum::Int(value) => *value as f64,
            Datum::Float(value) => *value,
            _ => f64::NAN,
        }
    }

    /// Appends it as PostgreSQL would print it; nothing for a null.
    pub(crate) fn write_text(&self, kind: Type, out: &mut Vec<u8>) {
        // Writing into a Vec cannot fail.
        let _ = match self {
            Datum::Null => Ok(()),
            Datum::Bool(value) => out.write_all(if *value { b"t" } else { b"f" }),
            Datum::Int(value) => write!(out, "{value}"),
            Datum::Float(value) => write_float(*value, out),
            Datum::Text(text) => out.write_all(text.as_bytes()),
            Datum::Bytes(bytes) => {
                out.extend_from_slice(b"\\x");
                bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
            Datum::Moment(micros) => {
                moment::write(*micros, kind, out);
                Ok(())
            }
        };
    }

    /// Its text as a string of its own.
    pub(crate) fn to_text(&self, kind: Type) -> String {
        let mut out = Vec::new();
        self.write_text(kind, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Appends it in the binary format of its type; nothing for a null.
    pub(crate) fn write_binary(&self, kind: Type, out: &mut Vec<u8>) {
        match self {
            Datum::Null => {}
            Datum::Bool(value) => out.push(u8::from(*value)),
            // A value of a type is within its bounds: the lower bytes are all there is of it.
            Datum::Int(value) => match kind {
                Type::Int2 => out.extend_from_slice(&value.to_be_bytes()[6..]),
                Type::Int4 | Type::Oid => out.extend_from_slice(&value.to_be_bytes()[4..]),
                _ => out.extend_from_slice(&value.to_be_bytes()),
            },
            Datum::Float(value) => out.extend_from_slice(&value.to_be_bytes()),
            Datum::Text(text) => out.extend_from_slice(text.as_bytes()),
            Datum::Bytes(bytes) => out.extend_from_slice(bytes),
            Datum::Moment(micros) => out.extend_from_slice(&micros.to_be_bytes()),
        }
    }

    /// The value as one of another type. `explicit` is a cast, which cuts texts that are too long; an assignment
    /// refuses them.
    pub(crate) fn convert(self, from: Type, to: ColumnType, explicit: bool) -> Result<Self, SqlError> {
        if self.is_null() {
            return Ok(self);
        }
        let converted = match (from.family(), to.kind.family()) {
            (Family::Number, Family::Number) => self.into_number(to.kind)?,
            (Family::Number, Family::Bool) => match self {
                Datum::Int(value) => Datum::Bool(value != 0),
                other => other,
            },
            (Family::Bool, Family::Number) => match self {
                Datum::Bool(value) => Datum::Int(i64::from(value)),
                other => other,
            },
            (Family::Text, Family::Text) if from == Type::Bpchar && to.kind != Type::Bpchar => self.trimmed(),
            (Family::Text, Family::Text) => self,
            // A cast to text spells truth out, while a result column has one letter.
            (Family::Bool, Family::Text) => {
                Datum::Text(Cow::Borrowed(if self == Datum::Bool(true) { "true" } else { "false" }))
            }
            (_, Family::Text) => Datum::Text(Cow::Owned(self.to_text(from))),
            (Family::Text, _) => match &self {
                Datum::Text(text) => to.kind.parse(text)?,
                _ => self,
            },
            _ => self,
        };
        match (converted, to.length) {
            (Datum::Text(text), Some(length)) => fit(text, to.kind, length, explicit).map(Datum::Text),
            (converted, _) => Ok(converted),
        }
    }

    /// A `char(n)` as other texts: blanks at its end do not count.
    pub(crate) fn trimmed(self) -> Self {
        match self {
            Datum::Text(text) if text.ends_with(' ') => {
                Datum::Text(Cow::Owned(text.trim_end_matches(' ').to_owned()))
            }
            other => other,
        }
    }

    fn into_number(self, to: Type) -> Result<Self, SqlError> {
        match self {
            Datum::Int(value) if to.is_integer() => to.checked(value).map(Datum::Int),
            Datum::Int(value) => Ok(Datum::Float(value as f64)),
            Datum::Float(value) if to.is_integer() => {
                let rounded = value.round_ties_even();
                // 2^63 is the first that does not fit; the least i64 is a float exactly.
                if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
                    return Err(to.out_of_range());
                }
                to.checked(rounded as i64).map(Datum::Int)
            }
            other => Ok(other),
        }
    }
}

fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The shortest digits that give the number back, in C's `%g` form as PostgreSQL prints them.
fn write_float(value: f64, out: &mut Vec<u8>) -> std::io::Result<()> {
    if value.is_nan() {
        return out.write_all(b"NaN");
    }
    if value.is_infinite() {
        return out.write_all(if value > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        return write!(out, "{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "{digits}e{sign}{:02}", exponent.abs())
}

/// The text in a column of `length` characters: cut, filled with blanks, or refused.
fn fit(text: Cow<'_, str>, kind: Type, length: u32, explicit: bool) -> Result<Cow<'_, str>, SqlError> {
    let length = length as usize; // 32 bits fit
    let characters = text.chars().count();
    if characters < length && kind == Type::Bpchar {
        let mut filled = text.into_owned();
        filled.extend(std::iter::repeat_n(' ', length - characters));
        return Ok(Cow::Owned(filled));
    }
    if characters <= length {
        return Ok(text);
    }
    let end = text.char_indices().nth(length).map_or(text.len(), |(at, _)| at);
    if explicit || text[end..].bytes().all(|b| b == b' ') {
        let mut cut = text.into_owned();
        cut.truncate(end);
        return Ok(Cow::Owned(cut));
    }
    Err(SqlError::new(state::STRING_TOO_LONG, format!("value too long for type {}({length})", kind.name())))
}
