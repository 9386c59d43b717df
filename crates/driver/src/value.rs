//! Values that go to a database and come back.

use std::fmt;

/// The type of a statement's parameter or of a kept result column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueType {
    /// 64-bit signed integer. Drivers narrow it to the column's type and fail loudly if it doesn't fit.
    Int,
    /// 64-bit float.
    Float,
    /// UTF-8 text.
    Text,
    /// Microseconds since 1970, UTC.
    Timestamp,
    /// Exact number with so many digits after the point. See [`Decimal`].
    Decimal(u8),
}

/// An argument of a command; borrowed, so that binding allocates nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// See [`ValueType::Int`].
    Int(i64),
    /// See [`ValueType::Float`].
    Float(f64),
    /// See [`ValueType::Text`].
    Text(&'a str),
    /// See [`ValueType::Timestamp`].
    Timestamp(i64),
    /// See [`ValueType::Decimal`]; a kept value has the scale that its column was asked with.
    Decimal(Decimal),
}

/// A value out of a kept row; borrowed from the session until the next command is staged.
pub type ValueRef<'a> = Value<'a>;

/// An exact number: `unscaled` / 10^`scale`. Money is `Decimal { unscaled: cents, scale: 2 }`.
///
/// Where a database has no exact decimals (SQLite), the column is an integer that holds `unscaled`
/// ([`crate::Dialect::decimal`]). Sums and differences are the same there; a product's scale is not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Decimal {
    /// The number in units of its last digit.
    pub unscaled: i64,
    /// Digits after the point, at most 18.
    pub scale: u8,
}

impl Decimal {
    /// The largest scale.
    pub const MOST_SCALE: u8 = 18;

    /// The same number with another scale; `None` where digits would be lost, or it does not fit.
    pub fn with_scale(self, scale: u8) -> Option<Decimal> {
        let power = 10_i64.checked_pow(u32::from(self.scale.abs_diff(scale)))?;
        let unscaled = if scale >= self.scale {
            self.unscaled.checked_mul(power)?
        } else {
            (self.unscaled % power == 0).then(|| self.unscaled / power)?
        };
        Some(Decimal { unscaled, scale })
    }

    /// Reads `-12.50` as a number of this scale; `None` where digits would be lost, it does not fit, or the text is not a
    /// plain decimal number. Allocates nothing.
    pub fn parse(text: &[u8], scale: u8) -> Option<Decimal> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let mut unscaled: i64 = 0;
        let (mut after_point, mut seen_point, mut any) = (0_u8, false, false);
        for &byte in digits {
            match byte {
                b'.' if !seen_point => seen_point = true,
                b'0'..=b'9' => {
                    any = true;
                    if seen_point && after_point == scale {
                        if byte != b'0' {
                            return None;
                        }
                        continue;
                    }
                    // Downwards, since the least number has no positive twin.
                    unscaled = unscaled.checked_mul(10)?.checked_sub(i64::from(byte - b'0'))?;
                    after_point += u8::from(seen_point);
                }
                _ => return None,
            }
        }
        let missing = 10_i64.checked_pow(u32::from(scale - after_point))?;
        let unscaled = unscaled.checked_mul(missing)?;
        let unscaled = if negative { unscaled } else { unscaled.checked_neg()? };
        any.then_some(Decimal { unscaled, scale })
    }
}

impl fmt::Display for Decimal {
    /// `-12.50`; allocates nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = 10_u64.pow(u32::from(self.scale.min(Decimal::MOST_SCALE)));
        let magnitude = self.unscaled.unsigned_abs();
        if self.unscaled < 0 {
            f.write_str("-")?;
        }
        write!(f, "{}", magnitude / power)?;
        if self.scale > 0 {
            write!(f, ".{:0width$}", magnitude % power, width = usize::from(self.scale))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i64, scale: u8) -> Decimal {
        Decimal { unscaled, scale }
    }

    #[test]
    fn decimals_are_written_and_read() {
        let cases = [
            (decimal(0, 0), "0"),
            (decimal(5, 2), "0.05"),
            (decimal(-5, 2), "-0.05"),
            (decimal(-1250, 2), "-12.50"),
            (decimal(i64::MAX, 4), "922337203685477.5807"),
            (decimal(i64::MIN, 18), "-9.223372036854775808"),
            (decimal(i64::MIN, 0), "-9223372036854775808"),
        ];
        for (number, text) in cases {
            assert_eq!(number.to_string(), text);
            assert_eq!(Decimal::parse(text.as_bytes(), number.scale), Some(number));
        }
    }

    #[test]
    fn nothing_is_lost_on_the_way() {
        assert_eq!(Decimal::parse(b"12.5", 2), Some(decimal(1250, 2)));
        assert_eq!(Decimal::parse(b"12.500", 2), Some(decimal(1250, 2)));
        assert_eq!(Decimal::parse(b"12.505", 2), None);
        assert_eq!(Decimal::parse(b".5", 1), Some(decimal(5, 1)));
        assert_eq!(Decimal::parse(b"9223372036854775808", 0), None);
        for text in ["", "-", ".", "1e3", "1.2.3", "+1", " 1", "NaN"] {
            assert_eq!(Decimal::parse(text.as_bytes(), 2), None, "{text}");
        }
        assert_eq!(decimal(1250, 2).with_scale(1), Some(decimal(125, 1)));
        assert_eq!(decimal(1250, 2).with_scale(4), Some(decimal(125_000, 4)));
        assert_eq!(decimal(1251, 2).with_scale(1), None);
        assert_eq!(decimal(i64::MAX, 2).with_scale(3), None);
    }
}
