//! Points in time, and lengths of it, in steps of 2⁻⁶⁴ ns.
//!
//! The gate adds up 1/μ, up to 10⁹ times and more. 1/1053 s is no whole number of nanoseconds and no exact `f64`, and
//! such an error grows with each turn. Here it is below 2⁻⁶⁴ ns each, 10⁻¹⁰ ns after 10⁹ turns, and adding 128-bit numbers
//! costs two instructions.
//!
//! The errors go up and never down. So a turn that is due at a whole nanosecond is never put a hair before it, neither by
//! `floor` nor, much worse, in front of a hiccup that begins there; and what `floor` gives is the same that exact fractions
//! would give, up to 2⁶⁴/μ turns.

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
    /// The longest interval, 2⁵⁶ ns or two years.
    const NEVER: Fine = Fine(1 << 120);

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

    /// 1/rate, rounded up; [`Fine::NEVER`] where that is longer.
    pub fn interval(rate: PerSecond) -> Fine {
        let Some((mantissa, exponent)) = decompose(rate.get()) else { return Fine::NEVER };
        // 10⁹·2⁶⁴ / (mantissa·2^exponent) by long division, bit by bit: the dividend has more than 128 bits.
        let (mut quotient, mut rest) = (1_000_000_000 / mantissa, 1_000_000_000 % mantissa);
        for _ in 0..64 - exponent {
            (quotient, rest) = (quotient * 2, rest * 2);
            if rest >= mantissa {
                (quotient, rest) = (quotient + 1, rest - mantissa);
            }
            if quotient >= Fine::NEVER.0 {
                return Fine::NEVER;
            }
        }
        Fine(quotient + u128::from(rest > 0))
    }

    /// `self · to / from`, rounded up; `self` ≤ `from`, and all are intervals.
    pub fn scaled(self, to: Fine, from: Fine) -> Fine {
        // Long multiplication from the front, divided as it goes: the product may have more than 128 bits.
        let (mut quotient, mut rest) = (0, 0);
        for bit in (0..u128::BITS - to.0.leading_zeros()).rev() {
            quotient *= 2;
            rest = rest * 2 + if to.0 >> bit & 1 == 1 { self.0 } else { 0 };
            quotient += rest / from.0;
            rest %= from.0;
        }
        Fine(quotient + u128::from(rest > 0))
    }
}

/// `value = mantissa · 2^exponent`; `None` for zero.
fn decompose(value: f64) -> Option<(u128, i32)> {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52) & 0x7FF, bits & ((1 << 52) - 1));
    let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
    (mantissa > 0).then(|| (u128::from(mantissa), (field.max(1) as i32) - 1075))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_thousand_million_turns_do_not_drift() {
        for per_second in [1_000u64, 1_053, 1_111, 1_333, 1_430, 1_666, 30_000, 999_999_937, 1_000_000_000] {
            let interval = Fine::interval(PerSecond::new(per_second as f64).unwrap());
            for turns in [1, 7, 1_000_003, 999_999_999, 1_000_000_000u64] {
                let reached = Fine(interval.0 * u128::from(turns)).floor();
                let exact = u128::from(turns) * 1_000_000_000 / u128::from(per_second);
                assert_eq!(u128::from(reached.0), exact, "{turns} turns at {per_second}/s");
            }
        }
    }

    #[test]
    fn rates_that_make_no_sense_have_an_interval() {
        let of = |rate| Fine::interval(PerSecond::new(rate).unwrap());
        assert_eq!(of(0.0), Fine::NEVER);
        assert_eq!(of(1e-300), Fine::NEVER);
        assert_eq!(of(f64::MAX), Fine(1));
        assert_eq!(of(0.5), Fine::from(Nanos::from_secs(2)));
    }

    proptest! {
        #[test]
        fn scaling_is_exact(whole in 1u64..1 << 40, part in 0.0f64..=1.0, to in 1u64..1 << 20) {
            let rest = (whole as f64 * part) as u64;
            // Small enough for the product to be made directly.
            let exact = (u128::from(rest) * u128::from(to)).div_ceil(u128::from(whole));
            prop_assert_eq!(Fine(rest.into()).scaled(Fine(to.into()), Fine(whole.into())), Fine(exact));
            let large = |n: u64| Fine(u128::from(n) << 64);
            let scaled = large(rest).scaled(large(to), large(whole)).floor();
            prop_assert_eq!(u128::from(scaled.0), u128::from(rest) * u128::from(to) / u128::from(whole));
        }
    }
}
