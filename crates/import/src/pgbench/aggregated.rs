//! pgbench's log with `--aggregate-interval`: a line for each interval and thread.
//!
//! `interval_start transactions sum sum² min max [lag sum, sum², min, max] [skipped] [retried retries failures…]`, times in
//! µs, the start in seconds since 1970. Threads' lines of one interval are put together: counts and sums add up, extremes are
//! the extremes.

use super::{MICRO, Summary};
use crate::ImportError;
use crate::format::{Format, Output, file, name_of, quoted};
use crate::report::{Reported, StatedFrom, ToolReport};
use std::collections::BTreeMap;
use std::path::PathBuf;
use units::Nanos;

const NAME: &str = "pgbench-log";
/// What the intervals are called together: pgbench leaves the last one of each thread out of its log, so that these are not
/// all transactions.
pub(crate) const LOGGED: &str = "latency, logged intervals";
const SECOND_NS: u64 = 1_000_000_000;

/// One interval, of one thread or of all.
#[derive(Clone, Copy, Default)]
struct Interval {
    count: u64,
    sum_us: f64,
    min_us: f64,
    max_us: f64,
    has_lag: bool,
    skipped: u64,
}

impl Interval {
    fn of(line: &str) -> Option<(u64, Interval)> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let real = |at: usize| {
            let value: f64 = fields.get(at)?.parse().ok()?;
            (value.is_finite() && value >= 0.0).then_some(value)
        };
        // The longest time that fits into 64 bits of nanoseconds.
        let time = |at: usize| real(at).filter(|us| *us < 1.8e16);
        let start: u64 = fields.first()?.parse().ok()?;
        let interval = Interval {
            count: fields.get(1)?.parse().ok()?,
            sum_us: real(2)?,
            min_us: time(4)?,
            max_us: time(5)?,
            has_lag: fields.len() >= 10 && real(9)? > 0.0,
            skipped: fields.get(10).map_or(Some(0), |text| text.parse().ok())?,
        };
        (start.checked_mul(SECOND_NS).is_some() && interval.min_us <= interval.max_us)
            .then_some((start, interval))
    }

    fn add(&mut self, other: Interval) {
        if other.count > 0 {
            self.min_us = if self.count > 0 { self.min_us.min(other.min_us) } else { other.min_us };
            self.max_us = self.max_us.max(other.max_us);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_us += other.sum_us;
        self.has_lag |= other.has_lag;
        self.skipped = self.skipped.saturating_add(other.skipped);
    }

    fn row(&self, interval: Option<(u64, u64)>, counted_from: StatedFrom) -> Reported {
        let some = self.count > 0;
        let time = |us: f64| Nanos((us * 1_000.0).round() as u64);
        let mean = self.sum_us / self.count.max(1) as f64;
        Reported {
            measure: "latency".to_owned(),
            counted_from,
            interval,
            count: Some(self.count),
            mean: (some && mean < 1.8e16).then(|| time(mean)),
            min: some.then(|| time(self.min_us)),
            max: some.then(|| time(self.max_us)),
            resolution: Some(MICRO),
            ..Reported::default()
        }
    }
}

/// Reads the logs of all threads: first all of the run, then interval by interval.
pub(crate) fn read(printed: &str, files: &[PathBuf]) -> Result<ToolReport, ImportError> {
    let mut summary = Summary::default();
    let place = "standard output".to_owned();
    summary.take_all(&Output { format: Format::PgbenchLog, place, text: printed })?;
    let mut intervals: BTreeMap<u64, Interval> = BTreeMap::new();
    for path in files {
        let text = file(path)?;
        let output = Output { format: Format::PgbenchLog, place: name_of(path), text: &text };
        for (line, text) in output.lines().filter(|(_, text)| !text.trim().is_empty()) {
            let (start, interval) = Interval::of(text).ok_or_else(|| {
                output.wrong_line(line, format!("{} is no line of an aggregated log", quoted(text)))
            })?;
            intervals.entry(start).or_default().add(interval);
        }
    }
    let mut total = Interval::default();
    intervals.values().for_each(|interval| total.add(*interval));
    if total.count == 0 {
        let hint = "the log files hold no transaction".to_owned();
        return Err(ImportError::Nothing { format: NAME, hint });
    }
    let from = if total.has_lag { StatedFrom::Schedule } else { summary.counted_from() };
    // Intervals are as long as the least step between their begins; pgbench leaves out those without a transaction.
    let starts: Vec<u64> = intervals.keys().copied().collect();
    let step = starts.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(1).max(1);
    let mut report = summary.stated();
    report.rows.push(Reported { measure: LOGGED.to_owned(), ..total.row(None, from) });
    report.rows.extend(intervals.iter().map(|(start, interval)| {
        interval.row(Some((start * SECOND_NS, start.saturating_add(step).saturating_mul(SECOND_NS))), from)
    }));
    report.skipped = report.skipped.or(Some(total.skipped));
    Ok(report)
}
