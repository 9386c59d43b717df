//! pgbench's log with `--aggregate-interval`: a line for each interval and thread.
//!
//! `interval_start transactions sum sum² min max [lag sum, sum², min, max] [skipped] [retried retries failures…]`, times in
//! µs, the start in seconds since 1970. Threads' lines of one interval are put together: counts and sums add up, extremes are
//! the extremes.
//!
//! Each thread begins at a moment of its own and cuts it to whole seconds: threads that began a hundredth of a second apart may
//! have begins that differ by a whole one, in all of their lines. So the length of an interval is what parts the lines of one
//! file, and not of two; and a line belongs to the nearest of the intervals that follow one another from the first begin of all.

use super::{MICRO, Summary};
use crate::ImportError;
use crate::format::{Format, Output, STANDARD_OUTPUT, file, name_of, quoted};
use crate::report::{Reported, StatedFrom, ToolReport};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
    summary.take_all(&Output::new(Format::PgbenchLog, STANDARD_OUTPUT, printed))?;
    let threads = files.iter().map(|path| thread(path)).collect::<Result<Vec<_>, _>>()?;
    let mut total = Interval::default();
    threads.iter().flatten().for_each(|(_, interval)| total.add(*interval));
    if total.count == 0 {
        let hint = "the log files hold no transaction".to_owned();
        return Err(ImportError::Nothing { format: NAME, hint });
    }
    let from = if total.has_lag { StatedFrom::Schedule } else { summary.counted_from() };
    let mut report = summary.stated();
    report.rows.push(Reported { measure: LOGGED.to_owned(), ..total.row(None, from) });
    // Of a log of one interval nobody knows how long that was.
    let together = length(&threads).map(|length| (length, together(&threads, length)));
    report.rows.extend(together.into_iter().flat_map(|(length, intervals)| {
        let end = move |begin: u64| begin.saturating_add(length).saturating_mul(SECOND_NS);
        intervals.into_iter().map(move |(begin, interval)| {
            interval.row(Some((begin.saturating_mul(SECOND_NS), end(begin))), from)
        })
    }));
    report.skipped = report.skipped.or(Some(total.skipped));
    Ok(report)
}

/// The lines of one thread: begins in seconds, and what each interval holds.
fn thread(path: &Path) -> Result<Vec<(u64, Interval)>, ImportError> {
    let text = file(path)?;
    let output = Output::new(Format::PgbenchLog, name_of(path), &text);
    let lines = output.lines().filter(|(_, text)| !text.trim().is_empty());
    let interval = |(line, text): (usize, &str)| {
        Interval::of(text).ok_or_else(|| {
            output.wrong_line(line, format!("{} is no line of an aggregated log", quoted(text)))
        })
    };
    lines.map(interval).collect()
}

/// Seconds from one begin to the next: the longest time of which all steps within a thread are multiples, as some versions
/// leave out intervals without a transaction. `None` where no thread has two begins.
fn length(threads: &[Vec<(u64, Interval)>]) -> Option<u64> {
    let steps = threads.iter().flat_map(|lines| lines.windows(2).map(|pair| pair[0].0.abs_diff(pair[1].0)));
    Some(steps.fold(0, greatest_common_divisor)).filter(|length| *length > 0)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The intervals of all threads by their begins.
fn together(threads: &[Vec<(u64, Interval)>], length: u64) -> BTreeMap<u64, Interval> {
    let first = threads.iter().flatten().map(|(begin, _)| *begin).min().unwrap_or(0);
    let mut intervals: BTreeMap<u64, Interval> = BTreeMap::new();
    for (begin, interval) in threads.iter().flatten() {
        // The nearest; half-way between two, the earlier.
        let nearest = (begin - first + (length - 1) / 2) / length;
        intervals.entry(first + nearest * length).or_default().add(*interval);
    }
    intervals
}
