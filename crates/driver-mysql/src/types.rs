//! The servers' types: how arguments are written and kept columns are read.
//!
//! Arguments carry their own type, since the servers do not say which type a parameter has: integers go as BIGINT, floats as
//! DOUBLE, text as VARCHAR, moments as DATETIME, decimals as DECIMAL. What does not fit a column is refused by the server,
//! which sessions set to strict mode.

use crate::codec::{self, Inside};
use crate::date::Moment;
use driver::{Decimal, Value, ValueType};
use std::io::Write;

const OLD_DECIMAL: u8 = 0x00;
const TINY: u8 = 0x01;
const SHORT: u8 = 0x02;
const LONG: u8 = 0x03;
const FLOAT: u8 = 0x04;
pub(crate) const DOUBLE: u8 = 0x05;
const NULL: u8 = 0x06;
const TIMESTAMP: u8 = 0x07;
pub(crate) const LONGLONG: u8 = 0x08;
const INT24: u8 = 0x09;
const DATE: u8 = 0x0A;
const TIME: u8 = 0x0B;
pub(crate) const DATETIME: u8 = 0x0C;
const YEAR: u8 = 0x0D;
const VARCHAR: u8 = 0x0F;
const BIT: u8 = 0x10;
const JSON: u8 = 0xF5;
pub(crate) const NEWDECIMAL: u8 = 0xF6;
const ENUM: u8 = 0xF7;
const SET: u8 = 0xF8;
const TINY_BLOB: u8 = 0xF9;
pub(crate) const BLOB: u8 = 0xFC;
pub(crate) const VAR_STRING: u8 = 0xFD;
const STRING: u8 = 0xFE;

/// In a column's flags: without a sign.
const UNSIGNED: u16 = 0x20;

/// Why an argument can't be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unfit {
    /// Not of the type that the statement promised.
    Kind,
    /// Outside of what a DATETIME can hold.
    Range,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unfit::Kind => "not of the type that the statement declares",
            Unfit::Range => "a moment outside of the years 1 to 9999",
        })
    }
}

/// The server's type that arguments of this type have.
pub(crate) fn parameter(promised: ValueType) -> u8 {
    match promised {
        ValueType::Int => LONGLONG,
        ValueType::Float => DOUBLE,
        ValueType::Text => VAR_STRING,
        ValueType::Timestamp => DATETIME,
        ValueType::Decimal(_) => NEWDECIMAL,
    }
}

/// Appends an argument that is not NULL.
#[inline]
pub(crate) fn encode(promised: ValueType, out: &mut Vec<u8>, value: Value<'_>) -> Result<(), Unfit> {
    match (promised, value) {
        (ValueType::Int, Value::Int(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (ValueType::Float, Value::Float(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (ValueType::Text, Value::Text(v)) => codec::push_counted(out, v.as_bytes()),
        (ValueType::Timestamp, Value::Timestamp(v)) => push_moment(out, Moment::new(v).ok_or(Unfit::Range)?),
        (ValueType::Decimal(_), Value::Decimal(v)) => {
            let at = out.len();
            out.push(0);
            // Writing into a Vec cannot fail.
            let _ = write!(out, "{v}");
            out[at] = (out.len() - at - 1) as u8; // at most 21 characters
        }
        _ => return Err(Unfit::Kind),
    }
    Ok(())
}

fn push_moment(out: &mut Vec<u8>, moment: Moment) {
    let [low, high] = moment.year.to_le_bytes();
    let Moment { month, day, hour, minute, second, micros, .. } = moment;
    out.extend_from_slice(&[11, low, high, month, day, hour, minute, second]);
    out.extend_from_slice(&micros.to_le_bytes());
}

/// A column as the server has it, and what is wanted of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    kind: u8,
    unsigned: bool,
    /// `None` for columns that the workload does not read.
    wanted: Option<ValueType>,
}

impl Column {
    /// Reads a column's definition; its name, too, for messages.
    pub(crate) fn parse(body: &[u8], wanted: Option<ValueType>) -> Option<(Column, String)> {
        let mut inside = Inside(body);
        for _ in 0..4 {
            inside.counted()?; // catalogue, schema, table, table's own name
        }
        let name = String::from_utf8_lossy(inside.counted()?).into_owned();
        let (kind, unsigned) = Column::kind(body)?;
        Some((Column { kind, unsigned, wanted }, name))
    }

    /// Type and sign: the definition's fixed end, so that what stands before it need not be read.
    #[inline]
    fn kind(body: &[u8]) -> Option<(u8, bool)> {
        let [kind, low, high, _decimals, _, _] = body.last_chunk()?;
        Some((*kind, u16::from_le_bytes([*low, *high]) & UNSIGNED != 0))
    }

    /// The column after the server has defined it again: mostly the same.
    #[inline]
    pub(crate) fn redefined(self, body: &[u8]) -> Option<Column> {
        let (kind, unsigned) = Column::kind(body)?;
        Some(Column { kind, unsigned, ..self })
    }

    /// Whether values of the column can be read as what is wanted.
    pub(crate) fn fits(self) -> bool {
        let Some(wanted) = self.wanted else { return true };
        match self.kind {
            NULL => true,
            TINY | SHORT | LONG | INT24 | LONGLONG | YEAR | BIT => wanted == ValueType::Int,
            FLOAT | DOUBLE => wanted == ValueType::Float,
            TIMESTAMP | DATETIME | DATE => wanted == ValueType::Timestamp,
            // Sums of integers are decimals.
            OLD_DECIMAL | NEWDECIMAL => match wanted {
                ValueType::Decimal(scale) => scale <= Decimal::MOST_SCALE,
                ValueType::Int | ValueType::Float | ValueType::Text => true,
                ValueType::Timestamp => false,
            },
            VARCHAR | JSON | ENUM | SET | TINY_BLOB..=STRING => wanted == ValueType::Text,
            _ => false,
        }
    }

    /// The bytes of a value that is not NULL.
    fn take<'a>(self, inside: &mut Inside<'a>) -> Option<&'a [u8]> {
        match self.kind {
            NULL => Some(&[]),
            TINY => inside.take(1),
            SHORT | YEAR => inside.take(2),
            LONG | INT24 | FLOAT => inside.take(4),
            LONGLONG | DOUBLE => inside.take(8),
            TIMESTAMP | DATETIME | DATE | TIME => {
                let length = inside.byte()?;
                inside.take(length.into())
            }
            _ => inside.counted(),
        }
    }

    /// Reads a value; `None` when the bytes are not of the type.
    fn decode(self, bytes: &[u8]) -> Option<Value<'_>> {
        Some(match self.wanted? {
            ValueType::Int => Value::Int(match self.kind {
                OLD_DECIMAL | NEWDECIMAL => Decimal::parse(bytes, 0)?.unscaled,
                BIT => integer_of_bits(bytes)?,
                _ => integer(bytes, self.unsigned || self.kind == YEAR)?,
            }),
            ValueType::Float => Value::Float(match self.kind {
                FLOAT => f32::from_le_bytes(bytes.try_into().ok()?).into(),
                DOUBLE => f64::from_le_bytes(bytes.try_into().ok()?),
                _ => std::str::from_utf8(bytes).ok()?.parse().ok()?,
            }),
            ValueType::Text => Value::Text(std::str::from_utf8(bytes).ok()?),
            ValueType::Timestamp => Value::Timestamp(moment(bytes)?.micros_since_1970()?),
            ValueType::Decimal(scale) => Value::Decimal(Decimal::parse(bytes, scale)?),
        })
    }

    /// The name of its type, for messages.
    pub(crate) fn type_name(self) -> String {
        let name = match self.kind {
            TINY => "tinyint",
            SHORT => "smallint",
            LONG => "int",
            INT24 => "mediumint",
            LONGLONG => "bigint",
            FLOAT => "float",
            DOUBLE => "double",
            OLD_DECIMAL | NEWDECIMAL => "decimal",
            TIMESTAMP => "timestamp",
            DATETIME => "datetime",
            DATE => "date",
            TIME => "time",
            YEAR => "year",
            BIT => "bit",
            JSON => "json",
            VARCHAR | VAR_STRING | STRING => "text",
            TINY_BLOB..=BLOB => "blob or text",
            kind => return format!("the type of number {kind}"),
        };
        name.to_owned()
    }
}

/// An integer of any width. `None` where it is above the largest signed one.
#[inline]
fn integer(bytes: &[u8], unsigned: bool) -> Option<i64> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i64::from_le_bytes(wide);
    if unsigned {
        return (value >= 0).then_some(value);
    }
    let unused = 64 - 8 * u32::try_from(bytes.len()).ok().filter(|length| *length > 0)?;
    Some(value << unused >> unused)
}

/// BIT comes with its highest byte first.
fn integer_of_bits(bytes: &[u8]) -> Option<i64> {
    let value = bytes
        .iter()
        .try_fold(0_u64, |value, byte| (value >> 56 == 0).then(|| value << 8 | u64::from(*byte)))?;
    i64::try_from(value).ok()
}

/// Trailing parts that are zero are left out.
fn moment(bytes: &[u8]) -> Option<Moment> {
    let mut inside = Inside(bytes);
    let (year, month, day) = (inside.u16()?, inside.byte()?, inside.byte()?);
    let [hour, minute, second] = match inside.0 {
        [] => [0; 3],
        _ => *inside.take(3)?.first_chunk()?,
    };
    let micros = if inside.0.is_empty() { 0 } else { inside.u32()? };
    Some(Moment { year, month, day, hour, minute, second, micros })
}

/// The value in a column of a row's body; `None` past the end, or where the bytes are not of the type.
pub(crate) fn value<'a>(columns: &[Column], row: &'a [u8], index: usize) -> Option<Value<'a>> {
    let wanted = *columns.get(index)?;
    wanted.wanted?;
    let mut inside = Inside(row.get(1..)?);
    // Two bits come before those of the columns.
    let nulls = inside.take((columns.len() + 9) / 8)?;
    let is_null = |column: usize| nulls[(column + 2) / 8] >> ((column + 2) % 8) & 1 == 1;
    if is_null(index) {
        return Some(Value::Null);
    }
    for (at, column) in columns[..index].iter().enumerate() {
        if !is_null(at) {
            column.take(&mut inside)?;
        }
    }
    wanted.decode(wanted.take(&mut inside)?)
}

#[cfg(test)]
#[path = "types_tests.rs"]
mod tests;
