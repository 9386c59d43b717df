//! Values that stay the same, in the type that is asked for.

use super::Law;
use crate::definition::{Scalar, ValueDefinition};
use crate::document::shown;
use crate::expression::Number;
use driver::{Decimal, Value, ValueType};

/// A value that stays the same.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Fixed {
    Int(i64),
    Float(f64),
    Text(String),
    Timestamp(i64),
    Decimal(Decimal),
}

impl Fixed {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Fixed::Int(n) => Value::Int(*n),
            Fixed::Float(x) => Value::Float(*x),
            Fixed::Text(text) => Value::Text(text),
            Fixed::Timestamp(micros) => Value::Timestamp(*micros),
            Fixed::Decimal(decimal) => Value::Decimal(*decimal),
        }
    }

    pub(super) fn value_type(&self) -> ValueType {
        match self {
            Fixed::Int(_) => ValueType::Int,
            Fixed::Float(_) => ValueType::Float,
            Fixed::Text(_) => ValueType::Text,
            Fixed::Timestamp(_) => ValueType::Timestamp,
            Fixed::Decimal(decimal) => ValueType::Decimal(decimal.scale),
        }
    }
}

pub(super) fn too_fine(number: Number, scale: u8) -> String {
    format!("{number} does not fit decimal({scale})")
}

/// A number in units of its last digit, if no digit is lost.
pub(super) fn scaled(number: Number, scale: u8) -> Option<i64> {
    match number {
        Number::Int(n) => n.checked_mul(10_i64.checked_pow(scale.into())?),
        Number::Float(x) => {
            let unscaled = x * 10f64.powi(scale.into());
            let whole = unscaled.round();
            ((unscaled - whole).abs() < 1e-6 && whole.abs() < 9e15).then_some(whole as i64)
        }
    }
}

pub(super) fn fixed(
    value: &ValueDefinition,
    scalars: &[Scalar],
    cumulative: Vec<f64>,
) -> Result<Law, String> {
    let has_float = scalars.iter().any(|scalar| matches!(scalar, Scalar::Float(_)));
    let one = |scalar: &Scalar| {
        let cannot = |what: &str| Err(value.place.error(format!("{} can't be {what}", plain(scalar))));
        Ok(match (scalar, value.stated) {
            (Scalar::Int(n), Some(ValueType::Decimal(scale))) => decimal(value, Number::Int(*n), scale)?,
            (Scalar::Float(x), Some(ValueType::Decimal(scale))) => decimal(value, Number::Float(*x), scale)?,
            (Scalar::Int(n), Some(ValueType::Float)) => Fixed::Float(*n as f64),
            (Scalar::Int(n), None) if has_float => Fixed::Float(*n as f64),
            (Scalar::Int(n), None | Some(ValueType::Int)) => Fixed::Int(*n),
            (Scalar::Int(n), Some(ValueType::Text)) => Fixed::Text(n.to_string()),
            (Scalar::Float(x), None | Some(ValueType::Float)) => Fixed::Float(*x),
            (Scalar::Float(x), Some(ValueType::Int)) if x.fract() == 0.0 && x.abs() < 9e15 => {
                Fixed::Int(*x as i64)
            }
            (Scalar::Text(text), None | Some(ValueType::Text)) => Fixed::Text(text.clone()),
            (Scalar::Timestamp(micros), None | Some(ValueType::Timestamp)) => Fixed::Timestamp(*micros),
            (_, Some(ValueType::Int)) => return cannot("a whole number"),
            (_, Some(ValueType::Float)) => return cannot("a number"),
            (_, Some(ValueType::Text)) => return cannot("text"),
            (_, Some(ValueType::Timestamp)) => return cannot("a timestamp"),
            (_, Some(ValueType::Decimal(_))) => return cannot("a decimal"),
        })
    };
    let values: Vec<Fixed> = scalars.iter().map(one).collect::<Result<_, String>>()?;
    if let Some(odd) = values.iter().position(|v| v.value_type() != values[0].value_type()) {
        let words = "are of different types; all must be of one";
        return Err(value.place.error(format!(
            "{} and {} {words}",
            plain(&scalars[0]),
            plain(&scalars[odd])
        )));
    }
    Ok(Law::Fixed { values, cumulative })
}

fn decimal(value: &ValueDefinition, number: Number, scale: u8) -> Result<Fixed, String> {
    let unscaled = scaled(number, scale).ok_or_else(|| value.place.error(too_fine(number, scale)))?;
    Ok(Fixed::Decimal(Decimal { unscaled, scale }))
}

fn plain(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Int(n) => n.to_string(),
        Scalar::Float(x) => x.to_string(),
        Scalar::Text(text) => format!("`{}`", shown(text)),
        Scalar::Timestamp(_) => "a date".to_owned(),
    }
}
