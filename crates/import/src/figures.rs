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

/// Nanoseconds of a decimal number of units, every digit kept where it fits: a moment of today in seconds has more digits than
/// a floating point number. `None` for what is no such number, or is out of range.
pub(crate) fn decimal(text: &str, unit: Nanos) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return elapsed(text, unit).map(|nanos| nanos.0);
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // Units are powers of ten up to 10⁹: digits behind the ninth are below a nanosecond.
    let fraction = &fraction[..fraction.len().min(9)];
    let numerator: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let part = numerator * u128::from(unit.0) / 10_u128.pow(fraction.len() as u32);
    u64::try_from(whole.checked_mul(u128::from(unit.0))?.checked_add(part)?).ok()
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
