//! PostgreSQL's types: how arguments are written and kept columns are read.
//!
//! The server infers each parameter's type, and arguments are sent in its own width, so that a statement is
//! planned as the workload's author wrote it: declaring every integer as `bigint` would compare `integer`
//! columns with `bigint` values.

use driver::{Decimal, Value, ValueType};
use std::io::Write;

pub(crate) const BOOL: u32 = 16;
pub(crate) const INT8: u32 = 20;
pub(crate) const INT2: u32 = 21;
pub(crate) const INT4: u32 = 23;
pub(crate) const FLOAT4: u32 = 700;
pub(crate) const FLOAT8: u32 = 701;
pub(crate) const DATE: u32 = 1082;
pub(crate) const TIMESTAMP: u32 = 1114;
pub(crate) const TIMESTAMPTZ: u32 = 1184;
pub(crate) const NUMERIC: u32 = 1700;

/// Microseconds from 1970 to 2000, where PostgreSQL's timestamps begin.
const EPOCH_2000: i64 = 946_684_800_000_000;

/// How arguments of a parameter are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parameter {
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Timestamp,
    /// As text, which the server converts to whatever it wants; the type that the workload promised.
    Text(ValueType),
}

/// Why an argument can't be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unfit {
    /// Not of the type that the statement promised.
    Kind,
    /// Outside of the parameter's range.
    Range,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unfit::Kind => "not of the type that the statement declares",
            Unfit::Range => "out of the range of the server's type",
        })
    }
}

impl Parameter {
    /// For arguments of `promised` type where the server wants type `oid`; `None` when they don't fit.
    pub(crate) fn new(promised: ValueType, oid: u32) -> Option<Parameter> {
        Some(match (promised, oid) {
            (ValueType::Int, INT2) => Parameter::Int2,
            (ValueType::Int, INT4) => Parameter::Int4,
            (ValueType::Int, INT8) => Parameter::Int8,
            (ValueType::Int | ValueType::Float, DATE | TIMESTAMP | TIMESTAMPTZ) => return None,
            (ValueType::Float, FLOAT4) => Parameter::Float4,
            (ValueType::Float, FLOAT8) => Parameter::Float8,
            (ValueType::Float, INT2 | INT4 | INT8 | BOOL) => return None,
            (ValueType::Timestamp, TIMESTAMP | TIMESTAMPTZ) => Parameter::Timestamp,
            (ValueType::Timestamp, _) => return None,
            (ValueType::Decimal(scale), NUMERIC) if scale <= Decimal::MOST_SCALE => Parameter::Text(promised),
            (ValueType::Decimal(_), _) => return None,
            (promised, _) => Parameter::Text(promised),
        })
    }

    /// The format code in Bind.
    pub(crate) fn format(self) -> u16 {
        u16::from(!matches!(self, Parameter::Text(_)))
    }

    /// Appends the argument with its length.
    #[inline]
    pub(crate) fn encode(self, out: &mut Vec<u8>, value: Value<'_>) -> Result<(), Unfit> {
        match (self, value) {
            (_, Value::Null) => out.extend_from_slice(&(-1_i32).to_be_bytes()),
            (Parameter::Int8, Value::Int(v)) => sized(out, v.to_be_bytes()),
            (Parameter::Int4, Value::Int(v)) => {
                sized(out, i32::try_from(v).map_err(|_| Unfit::Range)?.to_be_bytes())
            }
            (Parameter::Int2, Value::Int(v)) => {
                sized(out, i16::try_from(v).map_err(|_| Unfit::Range)?.to_be_bytes())
            }
            (Parameter::Float8, Value::Float(v)) => sized(out, v.to_be_bytes()),
            (Parameter::Float4, Value::Float(v)) => {
                let narrow = v as f32; // rounds; only what would become infinite is refused
                if narrow.is_infinite() && v.is_finite() {
                    return Err(Unfit::Range);
                }
                sized(out, narrow.to_be_bytes());
            }
            (Parameter::Timestamp, Value::Timestamp(v)) => {
                sized(out, v.checked_sub(EPOCH_2000).ok_or(Unfit::Range)?.to_be_bytes())
            }
            (Parameter::Text(ValueType::Text), Value::Text(v)) => {
                let length = i32::try_from(v.len()).map_err(|_| Unfit::Range)?;
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(v.as_bytes());
            }
            (Parameter::Text(ValueType::Int), Value::Int(v)) => written(out, format_args!("{v}")),
            (Parameter::Text(ValueType::Float), Value::Float(v)) => written(out, format_args!("{v}")),
            (Parameter::Text(ValueType::Decimal(_)), Value::Decimal(v)) => written(out, format_args!("{v}")),
            _ => return Err(Unfit::Kind),
        }
        Ok(())
    }
}

#[inline(always)]
fn sized<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&(N as i32).to_be_bytes());
    out.extend_from_slice(&bytes);
}

/// A number as text. It allocates nothing but `out`'s growth.
fn written(out: &mut Vec<u8>, number: std::fmt::Arguments<'_>) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    // Writing into a Vec cannot fail.
    let _ = out.write_fmt(number);
    let length = (out.len() - at - 4) as u32; // a number has less than 400 digits
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// How values of a kept column are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Timestamp,
    Text,
    /// A number that only comes as text (`numeric`).
    FloatText,
    /// The same, exact, with so many digits after the point.
    Decimal(u8),
}

impl Column {
    /// For values of `wanted` type where the server gives type `oid`; `None` when they don't fit.
    pub(crate) fn new(wanted: ValueType, oid: u32) -> Option<Column> {
        Some(match (wanted, oid) {
            (ValueType::Text, _) => Column::Text,
            (ValueType::Int, BOOL) => Column::Bool,
            (ValueType::Int, INT2) => Column::Int2,
            (ValueType::Int, INT4) => Column::Int4,
            (ValueType::Int, INT8) => Column::Int8,
            (ValueType::Float, FLOAT4) => Column::Float4,
            (ValueType::Float, FLOAT8) => Column::Float8,
            (ValueType::Float, NUMERIC) => Column::FloatText,
            (ValueType::Decimal(scale), NUMERIC) if scale <= Decimal::MOST_SCALE => Column::Decimal(scale),
            (ValueType::Timestamp, TIMESTAMP | TIMESTAMPTZ) => Column::Timestamp,
            _ => return None,
        })
    }

    /// The format code in Bind.
    pub(crate) fn format(self) -> u16 {
        u16::from(!matches!(self, Column::Text | Column::FloatText | Column::Decimal(_)))
    }

    /// Reads a value; `None` when the bytes are not of the type.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<Value<'_>> {
        Some(match self {
            Column::Bool => Value::Int(i64::from(*<&[u8; 1]>::try_from(bytes).ok()? != [0])),
            Column::Int2 => Value::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
            Column::Int4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
            Column::Int8 => Value::Int(i64::from_be_bytes(bytes.try_into().ok()?)),
            Column::Float4 => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
            Column::Float8 => Value::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
            Column::Timestamp => {
                // `infinity` is the largest value and stays it.
                let micros = i64::from_be_bytes(bytes.try_into().ok()?);
                Value::Timestamp(micros.saturating_add(EPOCH_2000))
            }
            Column::Text => Value::Text(std::str::from_utf8(bytes).ok()?),
            Column::Decimal(scale) => Value::Decimal(Decimal::parse(bytes, scale)?),
            Column::FloatText => Value::Float(std::str::from_utf8(bytes).ok()?.parse().ok()?),
        })
    }
}

/// The name of a type, for messages.
pub(crate) fn name(oid: u32) -> String {
    let name = match oid {
        BOOL => "boolean",
        INT2 => "smallint",
        INT4 => "integer",
        INT8 => "bigint",
        FLOAT4 => "real",
        FLOAT8 => "double precision",
        NUMERIC => "numeric",
        DATE => "date",
        TIMESTAMP => "timestamp",
        TIMESTAMPTZ => "timestamptz",
        25 => "text",
        1042 => "character",
        1043 => "varchar",
        _ => return format!("the type of OID {oid}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(parameter: Parameter, value: Value<'_>) -> Result<Vec<u8>, Unfit> {
        let mut out = Vec::new();
        parameter.encode(&mut out, value).map(|()| out)
    }

    #[test]
    fn integers_take_the_servers_width_and_fail_loudly() {
        let int2 = Parameter::new(ValueType::Int, INT2).unwrap();
        assert_eq!(encoded(int2, Value::Int(-2)), Ok(vec![0, 0, 0, 2, 0xFF, 0xFE]));
        assert_eq!(encoded(int2, Value::Int(40_000)), Err(Unfit::Range));
        let int4 = Parameter::new(ValueType::Int, INT4).unwrap();
        assert_eq!(encoded(int4, Value::Int(i64::from(i32::MIN) - 1)), Err(Unfit::Range));
        assert_eq!(encoded(int4, Value::Text("1")), Err(Unfit::Kind));
        assert_eq!(encoded(int4, Value::Null), Ok(vec![0xFF; 4]));
    }

    #[test]
    fn numbers_go_as_text_where_the_server_wants_another_type() {
        let numeric = Parameter::new(ValueType::Int, NUMERIC).unwrap();
        assert_eq!(encoded(numeric, Value::Int(i64::MIN)).unwrap()[4..], *b"-9223372036854775808");
        let numeric = Parameter::new(ValueType::Float, NUMERIC).unwrap();
        assert_eq!(encoded(numeric, Value::Float(-0.25)).unwrap(), b"\0\0\0\x05-0.25");
    }

    #[test]
    fn impossible_pairs_are_refused_before_the_run() {
        assert_eq!(Parameter::new(ValueType::Int, TIMESTAMP), None);
        assert_eq!(Parameter::new(ValueType::Float, INT4), None);
        assert_eq!(Parameter::new(ValueType::Timestamp, INT8), None);
        assert_eq!(Column::new(ValueType::Int, NUMERIC), None);
        assert_eq!(Column::new(ValueType::Float, INT4), None);
        assert_eq!(Parameter::new(ValueType::Decimal(2), FLOAT8), None);
        assert_eq!(Column::new(ValueType::Decimal(2), INT8), None);
    }

    #[test]
    fn values_survive_the_way_there_and_back() {
        let pairs = [
            (Parameter::Int2, Column::Int2, Value::Int(-7)),
            (Parameter::Int4, Column::Int4, Value::Int(i64::from(i32::MAX))),
            (Parameter::Int8, Column::Int8, Value::Int(i64::MIN)),
            (Parameter::Float4, Column::Float4, Value::Float(0.5)),
            (Parameter::Float8, Column::Float8, Value::Float(-1e300)),
            (Parameter::Timestamp, Column::Timestamp, Value::Timestamp(-1)),
            (Parameter::Text(ValueType::Text), Column::Text, Value::Text("é")),
            (Parameter::Text(ValueType::Float), Column::FloatText, Value::Float(1.0 / 3.0)),
            (
                Parameter::Text(ValueType::Decimal(2)),
                Column::Decimal(2),
                Value::Decimal(Decimal { unscaled: -5, scale: 2 }),
            ),
        ];
        for (parameter, column, value) in pairs {
            let bytes = encoded(parameter, value).unwrap();
            assert_eq!(column.decode(&bytes[4..]), Some(value));
        }
        assert_eq!(Column::Int4.decode(b"123"), None);
        assert_eq!(Column::Text.decode(&[0xFF]), None);
        assert_eq!(Column::Decimal(2).decode(b"0.005"), None, "digits would be lost");
    }
}
