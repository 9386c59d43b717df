//! Points in time, and lengths of it, in steps of 2⁻⁶⁴ ns.
//!
//! The gate adds up 1/μ, up to 10⁹ times and more. 1/1053 s is no whole number of nanoseconds and no exact `f64`, and
//! such an error grows with each turn. Here it is below 2⁻⁶⁴ ns each, 10⁻¹⁰ ns after 10⁹ turns, and adding 128-bit numbers
//! costs two instructions.

use std::ops::Add;
use units::{Nanos, PerSecond};

/// Nanoseconds, times 2⁶⁴. Sums saturate at the end of the range, which is 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Fine(u128);

impl From<Nanos> for Fine {
    fn from(time: Nanos) -> Fine {
        Fine(u128::from(time.0) << 64)
    }
}

impl Add for Fine {
    type Output = Fine;
    fn add(self, other: Fine) -> Fine {
        Fine(self.0.saturating_add(other.0))
    }
}

impl Fine {
    /// The last whole nanosecond that is not after it.
    pub fn floor(self) -> Nanos {
        Nanos((self.0 >> 64) as u64)
    }

    /// So much later.
    pub fn after(self, time: Nanos) -> Fine {
        self + Fine::from(time)
    }

    /// `self − earlier`, or zero.
    pub fn since(self, earlier: Fine) -> Fine {
        Fine(self.0.saturating_sub(earlier.0))
    }

    /// 1/rate, rounded down; the end of the range for rate 0.
    pub fn interval(rate: PerSecond) -> Fine {
        let Some((mantissa, exponent)) = decompose(rate.get()) else { return Fine(u128::MAX) };
        // 10⁹·2⁶⁴ / (mantissa·2^exponent) by long division, bit by bit: the dividend has more than 128 bits.
        let (mut quotient, mut rest) = (1_000_000_000 / mantissa, 1_000_000_000 % mantissa);
        let steps = 64 - exponent;
        if steps < 0 {
            return Fine(0);
        }
        for _ in 0..steps {
            if quotient > u128::MAX / 2 {
                return Fine(u128::MAX);
            }
            rest *= 2;
            quotient *= 2;
            if rest >= mantissa {
                rest -= mantissa;
                quotient += 1;
            }
        }
        Fine(quotient)
    }

    /// `self · to / from`, within one part in 2⁵⁰.
    pub fn scaled(self, to: Fine, from: Fine) -> Fine {
        if to == from {
            return self;
        }
        Fine((self.0 as f64 * (to.0 as f64 / from.0 as f64)) as u128)
    }
}

/// `value = mantissa · 2^exponent`; `None` for zero.
fn decompose(value: f64) -> Option<(u128, i32)> {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52) & 0x7FF, bits & ((1 << 52) - 1));
    let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
    (mantissa > 0).then(|| (u128::from(mantissa), (field.max(1) as i32) - 1075))
}
