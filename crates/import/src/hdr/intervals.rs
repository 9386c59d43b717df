//! The intervals of HdrHistogram's logs, one by one.

use super::{Log, decode, interval};
use crate::ImportError;
use crate::figures::{number, scaled};
use crate::format::{Format, Output, STANDARD_OUTPUT, TimeUnit, file, name_of};
use crate::report::Reported;
use std::path::PathBuf;
use units::{Nanos, Quantile};

/// The intervals of logs, one row each, in the order of the files; of percentile files there are none. Moments are ns since
/// 1970 where the log says when it began, else since then. Of the counts, those are kept between which a quantile lies that
/// pages print: all of them for each second of an hour are more than anybody has asked for.
pub(crate) fn intervals(
    printed: &str,
    files: &[PathBuf],
    unit: Option<TimeUnit>,
) -> Result<Vec<Reported>, ImportError> {
    let mut rows = Vec::new();
    let mut texts = vec![(STANDARD_OUTPUT.to_owned(), printed.to_owned())];
    for path in files {
        texts.push((name_of(path), file(path)?));
    }
    for (place, text) in texts {
        let output = Output::new(Format::Hdr(unit), place, &text);
        let mut log = Log::default();
        let (mut base, mut start) = (0.0, 0.0);
        for (line, text) in output.lines() {
            if log.header(text) {
                continue;
            }
            if let Some(seconds) = stated_seconds(text, "#[BaseTime: ") {
                base = seconds;
            } else if let Some(seconds) = stated_seconds(text, "#[StartTime: ") {
                start = seconds;
            } else if let Some((tag, encoded)) = interval(text) {
                let histogram = decode(encoded).map_err(|why| output.wrong_line(line, why))?;
                let Some(row) = log.row(tag, &histogram, unit.unwrap_or(log.unit())) else { continue };
                let cumulative = around_quantiles(&row.cumulative);
                rows.push(Reported { interval: interval_span(text, base, start), cumulative, ..row });
            }
        }
    }
    Ok(rows)
}

/// Of counts, both ends of each bucket that holds one of the usual quantiles, and the last: what is said of these quantiles stays
/// the same, and of others it is said less exactly.
fn around_quantiles(cumulative: &[(Nanos, u64)]) -> Vec<(Nanos, u64)> {
    let Some(last) = cumulative.len().checked_sub(1) else { return Vec::new() };
    let total = cumulative[last].1;
    let bucket = |q: &Quantile| cumulative.partition_point(|(_, count)| *count < q.rank(total));
    let mut kept: Vec<usize> =
        Quantile::PRINTED.iter().map(bucket).flat_map(|at| [at.saturating_sub(1), at]).collect();
    kept.push(last);
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().filter_map(|at| cumulative.get(at).copied()).collect()
}

/// `#[StartTime: 1795247146.105 (seconds since epoch), …`.
fn stated_seconds(line: &str, begin: &str) -> Option<f64> {
    number(line.strip_prefix(begin)?.split([' ', ']']).next()?)
}

/// Begin and end of an interval, ns. Its start is since 1970 or, as libraries differ, since the log's own start.
fn interval_span(line: &str, base: f64, start: f64) -> Option<(u64, u64)> {
    // No run is as long as this; whatever is larger counts from 1970.
    const YEAR_S: f64 = 31_536_000.0;
    let fields = match line.strip_prefix("Tag=") {
        Some(tagged) => tagged.split_once(',')?.1,
        None => line,
    };
    let mut fields = fields.split(',');
    let (begin, length) = (number(fields.next()?)?, number(fields.next()?)?);
    let begin = if begin > YEAR_S {
        begin
    } else if base > 0.0 {
        base + begin
    } else {
        start + begin
    };
    let nanos = |seconds: f64| scaled(seconds, Nanos::from_secs(1)).map(|nanos| nanos.0);
    Some((nanos(begin)?, nanos(begin + length)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_counts_tell_the_same_of_the_usual_quantiles() {
        let cumulative: Vec<(Nanos, u64)> = (1..=10_000_u64).map(|n| (Nanos(n * n), 3 * n)).collect();
        let few = around_quantiles(&cumulative);
        assert!(few.len() <= 2 * Quantile::PRINTED.len() + 1, "{few:?}");
        assert_eq!(few.last(), cumulative.last());
        let of = |counts: &[(Nanos, u64)], q| record::bucket_of(counts, Some(Nanos(1)), q);
        for q in Quantile::PRINTED {
            assert_eq!(of(&few, q), of(&cumulative, q), "{q}");
        }
        // What is said of another quantile is still true.
        let q = Quantile::new(0.6).expect("a quantile");
        let (whole, part) = (of(&cumulative, q).expect("counted"), of(&few, q).expect("counted"));
        assert!(part.0 <= whole.0 && whole.1 <= part.1 && part != whole, "{whole:?} {part:?}");
        assert!(around_quantiles(&[]).is_empty());
        assert_eq!(around_quantiles(&[(Nanos(5), 1)]), [(Nanos(5), 1)]);
    }
}
