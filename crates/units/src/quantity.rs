//! The plain quantities.

use std::fmt;
use std::ops::{Add, Sub};

/// Elapsed time in nanoseconds; covers 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// From whole microseconds; saturates at the type's range.
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(micros.saturating_mul(1_000))
    }

    /// From whole milliseconds; saturates at the type's range.
    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(millis.saturating_mul(1_000_000))
    }

    /// From whole seconds; saturates at the type's range.
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs.saturating_mul(1_000_000_000))
    }

    /// From seconds; negative values and NaN give zero, values past the range its end.
    pub fn from_secs_f64(secs: f64) -> Nanos {
        // `as` saturates and maps NaN to zero, which is what the documentation promises.
        Nanos((secs * 1e9).round() as u64)
    }

    /// In seconds, rounded to the nearest `f64`.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self − other`, or zero when `other` is longer.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// As the standard library's type, for calls into it.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&crate::format_nanos(*self))
    }
}

/// A point in time of a run: nanoseconds since the run's epoch, the moment of its start line.
///
/// [`Instant::NONE`] stands for "did not happen or was not observed". It is never a zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instant(pub u64);

impl Instant {
    /// Not observed.
    pub const NONE: Instant = Instant(u64::MAX);
    /// The run's epoch.
    pub const EPOCH: Instant = Instant(0);

    /// Whether the point was observed.
    pub fn is_some(self) -> bool {
        self != Instant::NONE
    }

    /// As an option, for code off the hot path.
    pub fn get(self) -> Option<Instant> {
        self.is_some().then_some(self)
    }

    /// `self − earlier`: zero when `earlier` is later, `None` when either was not observed.
    pub fn since(self, earlier: Instant) -> Option<Nanos> {
        (self.is_some() && earlier.is_some()).then(|| Nanos(self.0.saturating_sub(earlier.0)))
    }
}

impl Add<Nanos> for Instant {
    type Output = Instant;
    fn add(self, elapsed: Nanos) -> Instant {
        Instant(self.0.saturating_add(elapsed.0))
    }
}

impl Sub<Instant> for Instant {
    type Output = Nanos;
    fn sub(self, earlier: Instant) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A raw reading of the run's clock, in ticks since the run's epoch.
///
/// What a tick is depends on the clock; `clock::Anchors` turns ticks into [`Instant`]s after the fact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Not observed.
    pub const NONE: Ticks = Ticks(u64::MAX);
    /// The run's epoch.
    pub const EPOCH: Ticks = Ticks(0);

    /// Whether the reading exists.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.0 != u64::MAX
    }

    /// The later of two readings.
    #[inline(always)]
    pub fn max(self, other: Ticks) -> Ticks {
        Ticks(self.0.max(other.0))
    }
}

/// A rate in events per second; finite and not negative.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct PerSecond(f64);

impl PerSecond {
    /// `None` unless `rate` is finite and at least zero.
    pub fn new(rate: f64) -> Option<PerSecond> {
        (rate.is_finite() && rate >= 0.0).then_some(PerSecond(rate))
    }

    /// `count` events in `elapsed`; zero elapsed time gives zero, since no rate was seen.
    pub fn of(count: u64, elapsed: Nanos) -> PerSecond {
        if elapsed == Nanos::ZERO { PerSecond(0.0) } else { PerSecond(count as f64 / elapsed.as_secs_f64()) }
    }

    /// The value in 1/s.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&crate::format_rate(*self))
    }
}

/// A position in a distribution, in [0, 1]. Only rendered text says "p99.9".
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Quantile(f64);

impl Quantile {
    /// The quantiles that every page prints, when the sample count carries them.
    pub const PRINTED: [Quantile; 7] = [
        Quantile(0.5),
        Quantile(0.75),
        Quantile(0.9),
        Quantile(0.95),
        Quantile(0.99),
        Quantile(0.999),
        Quantile(0.9999),
    ];

    /// `None` outside [0, 1].
    pub fn new(q: f64) -> Option<Quantile> {
        (0.0..=1.0).contains(&q).then_some(Quantile(q))
    }

    /// The value in [0, 1].
    pub fn get(self) -> f64 {
        self.0
    }

    /// The fewest samples that can carry this quantile: 10/(1 − q), as the verdict's rule has it.
    ///
    /// The largest value that fits stands for q = 1, which is the maximum and not an estimate.
    pub fn samples_needed(self) -> u64 {
        let beyond = 1.0 - self.0;
        if beyond <= 0.0 { u64::MAX } else { (10.0 / beyond - 1e-6).ceil() as u64 }
    }

    /// The quantile's rank among `count` values, the least having rank 1: ⌈q·count⌉, at least 1 (Hyndman & Fan 1996,
    /// definition 1; the inverse of the empirical distribution function).
    ///
    /// A millionth of a rank is forgiven, since 0.999 · 1,000 is not 999 in binary.
    pub fn rank(self, count: u64) -> u64 {
        ((self.0 * count as f64 - 1e-6).ceil() as u64).clamp(1, count.max(1))
    }

    /// The name in rendered text and in JSON: `p50`, `p99.9`, `max`.
    pub fn name(self) -> String {
        if self.0 >= 1.0 {
            return "max".to_owned();
        }
        let mut digits = format!("{:.6}", self.0 * 100.0);
        while digits.ends_with('0') {
            digits.pop();
        }
        format!("p{}", digits.trim_end_matches('.'))
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_names_are_the_fields_own() {
        let names: Vec<String> = Quantile::PRINTED.iter().map(|q| q.name()).collect();
        assert_eq!(names, ["p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99"]);
        assert_eq!(Quantile::new(1.0).unwrap().name(), "max");
    }

    #[test]
    fn samples_needed_is_ten_beyond_the_quantile() {
        let needed: Vec<u64> = Quantile::PRINTED.iter().map(|q| q.samples_needed()).collect();
        assert_eq!(needed, [20, 40, 100, 200, 1_000, 10_000, 100_000]);
        assert_eq!(Quantile::new(1.0).unwrap().samples_needed(), u64::MAX);
    }

    #[test]
    fn ranks_are_whole_where_the_product_is() {
        let rank = |q: f64, count| Quantile::new(q).unwrap().rank(count);
        assert_eq!([rank(0.999, 1_000), rank(0.95, 20), rank(0.99, 100), rank(0.07, 100)], [999, 19, 99, 7]);
        assert_eq!([rank(0.5, 4), rank(0.5, 5), rank(0.0, 5), rank(1.0, 5), rank(0.5, 0)], [2, 3, 1, 5, 1]);
        assert_eq!(rank(0.999, 1_001), 1_000);
    }

    #[test]
    fn absent_is_not_zero() {
        assert_eq!(Instant::NONE.since(Instant::EPOCH), None);
        assert_eq!(Instant(5).since(Instant::NONE), None);
        assert_eq!(Instant(5).since(Instant(7)), Some(Nanos::ZERO));
        assert_eq!(PerSecond::new(f64::NAN), None);
        assert_eq!(PerSecond::new(-1.0), None);
    }
}
