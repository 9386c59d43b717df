//! Figures as tools print them.

use units::{Nanos, PerSecond, Quantile};

/// A number that is finite and not negative.
pub(crate) fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Elapsed time of a number of units; `None` for what is no time: negative, infinite, more than 584 years.
pub(crate) fn elapsed(text: &str, unit: Nanos) -> Option<Nanos> {
    scaled(number(text)?, unit)
}

/// As [`elapsed`], of a number that has been read already.
pub(crate) fn scaled(value: f64, unit: Nanos) -> Option<Nanos> {
    let nanos = (value * unit.0 as f64).round();
    // 2⁶⁴ itself is the first that does not fit.
    (0.0..u64::MAX as f64).contains(&nanos).then_some(Nanos(nanos as u64))
}

/// A rate per second.
pub(crate) fn rate(text: &str) -> Option<PerSecond> {
    number(text).and_then(PerSecond::new)
}

/// `99.9`, in per cent.
pub(crate) fn percentile(text: &str) -> Option<Quantile> {
    number(text).and_then(|percent| Quantile::new(percent / 100.0))
}

/// Sorts quantiles and drops what is stated twice.
pub(crate) fn ascending(quantiles: &mut Vec<(Quantile, Nanos)>) {
    quantiles.sort_by(|a, b| a.0.get().total_cmp(&b.0.get()));
    quantiles.dedup();
}

/// Sorts counts by value; where one value is counted twice the larger count stands. `None` if a larger value has a
/// smaller count, which no distribution has.
pub(crate) fn cumulated(mut counts: Vec<(Nanos, u64)>) -> Option<Vec<(Nanos, u64)>> {
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = next.1;
        }
        same
    });
    counts.windows(2).all(|pair| pair[0].1 <= pair[1].1).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit_or_not_at_all() {
        let milli = Nanos::from_millis(1);
        assert_eq!(elapsed("0.139", milli), Some(Nanos(139_000)));
        assert_eq!(elapsed(" 17 ", Nanos::from_micros(1)), Some(Nanos(17_000)));
        for bad in ["", "-1", "nan", "inf", "1e300", "1,5", "18446744073709551616"] {
            assert_eq!(elapsed(bad, Nanos::from_secs(1)), None, "{bad}");
        }
    }

    #[test]
    fn counts_ascend_in_both_or_are_none() {
        let at = |value, count| (Nanos(value), count);
        let unsorted = vec![at(3, 9), at(1, 2), at(3, 10), at(2, 2)];
        assert_eq!(cumulated(unsorted), Some(vec![at(1, 2), at(2, 2), at(3, 10)]));
        assert_eq!(cumulated(vec![at(1, 3), at(2, 2)]), None);
    }
}
