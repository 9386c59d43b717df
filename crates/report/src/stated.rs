//! What another tool stated, in the same words on every page.

use record::{Stated, StatedFrom};
use units::{Nanos, Quantile, format_nanos};

/// Intervals that a page lists, at most.
pub(crate) const MOST_INTERVALS: usize = 60;

/// Whose claims these are.
pub(crate) const CLAIM: &str = "The tool’s own claims, as it printed them; none of them has an interval. A range is the bucket of its counts that holds the quantile; “not told” is what it did not say.";

/// Both ends of what is told.
pub(crate) fn range(ends: Option<(u64, u64)>) -> String {
    match ends {
        None => "not told".to_owned(),
        Some((low, high)) if low == high => format_nanos(Nanos(high)),
        Some((low, high)) => format!("{} … {}", format_nanos(Nanos(low)), format_nanos(Nanos(high))),
    }
}

/// Statements of the whole run.
pub(crate) fn whole(all: &[Stated]) -> Vec<&Stated> {
    all.iter().filter(|stated| stated.interval.is_none()).collect()
}

/// Statements of single intervals.
pub(crate) fn intervals(all: &[Stated]) -> Vec<&Stated> {
    all.iter().filter(|stated| stated.interval.is_some()).collect()
}

/// The usual quantiles, and those that the tool printed besides.
pub(crate) fn asked(all: &[&Stated]) -> Vec<Quantile> {
    analysis::stated_quantiles(all, &Quantile::PRINTED)
}

/// A quantile's cell.
pub(crate) fn quantile(stated: &Stated, q: Quantile) -> String {
    range(stated.ends(q))
}

/// A figure's cell.
pub(crate) fn figure(value: Option<Nanos>) -> String {
    value.map_or_else(|| "not told".to_owned(), format_nanos)
}

/// Whose figures a column holds: operation, measure, origin.
pub(crate) fn title(stated: &Stated) -> String {
    match (stated.operation.as_str(), stated.measure.as_str()) {
        ("", measure) => measure.to_owned(),
        (operation, measure) if measure.contains(operation) => measure.to_owned(),
        (operation, "") => operation.to_owned(),
        (operation, measure) => format!("{operation} {measure}"),
    }
}

/// What its times count from.
pub(crate) fn from(stated: &Stated) -> &'static str {
    match stated.counted_from {
        StatedFrom::Schedule => "the schedule",
        StatedFrom::Send => "sending",
        StatedFrom::Unsaid => "not told",
    }
}

/// `2.0 s`, where an interval begins.
pub(crate) fn begin(stated: &Stated) -> String {
    stated.interval.map_or_else(String::new, |(begin, _)| format!("{:.1} s", begin.0 as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::StatedRounding;

    #[test]
    fn a_quantile_that_the_tool_rounds_coarsely_is_a_range() {
        let p95 = Quantile::new(0.95).expect("is in [0, 1]");
        let told = |micros: u64, step: u64, rounding| {
            let stated = Stated {
                quantiles: vec![(p95, Nanos::from_micros(micros))],
                resolution: Some(Nanos::from_micros(step)),
                rounding,
                ..Stated::default()
            };
            quantile(&stated, p95)
        };
        let (down, unsaid) = (StatedRounding::Down, StatedRounding::Unsaid);
        assert_eq!(told(0, 1_000, down), "0 ns … 1.00 ms");
        assert_eq!(told(1_000, 1_000, down), "1.00 ms … 2.00 ms");
        assert_eq!(told(19_000, 1_000, down), "19.0 ms … 20.0 ms");
        assert_eq!(told(20_000, 1_000, down), "20.0 ms", "5 % is fine");
        assert_eq!(told(100, 10, unsaid), "90.0 µs … 110 µs");
        assert_eq!(told(0, 1, unsaid), "0 ns … 1.00 µs");
        assert_eq!(told(0, 0, unsaid), "0 ns", "a tool that is exact may say zero");
        let wide = Stated {
            quantiles: vec![(p95, Nanos(1_000))],
            relative_resolution: Some(0.1),
            ..Stated::default()
        };
        assert_eq!(wide.ends(p95), Some((900, 1_100)));
    }
}
