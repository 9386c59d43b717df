//! What a tool's summary states for a recording: the figures, interval by interval where it has them, and what they lack.

use crate::report::{Reported, StatedFrom, ToolReport};
use crate::requests::Gap;
use crate::{Format, ImportError, hdr, pgbench, ycsb};
use std::path::PathBuf;
use units::{Nanos, PerSecond, Quantile, format_count, format_counted};

/// Reads what a tool states of its run. As [`read`](crate::read), but that intervals are kept beside their sum: those of
/// HdrHistogram logs, and of pgbench's `--aggregate-interval`.
///
/// # Errors
/// Those of [`read`](crate::read).
pub fn statements(format: Format, printed: &str, files: &[PathBuf]) -> Result<ToolReport, ImportError> {
    match format {
        Format::PgbenchLog => pgbench::aggregated::read(printed, files),
        Format::Hdr(unit) => {
            let mut report = crate::read(format, printed, files)?;
            let intervals = hdr::intervals(printed, files, unit)?;
            report.rows.extend(intervals);
            Ok(report)
        }
        _ => crate::read(format, printed, files),
    }
}

/// What a summary of this format can't tell, and what follows.
pub fn summary_gaps(format: Format, report: &ToolReport) -> Vec<Gap> {
    let tool = &report.tool;
    let whole: Vec<&Reported> =
        report.rows.iter().filter(|row| row.interval.is_none() && row.is_of_requests()).collect();
    let mut gaps = vec![Gap::suspect(
        format!(
            "{tool} states figures, and not the requests behind them: there are no intervals, nothing over time but what it \
             states, and nobody can tell whose the tail is"
        ),
        how_to_log(format),
    )];
    gaps.extend(origin(tool, &whole));
    gaps.extend(reach(&whole));
    gaps.extend(coarse(&whole));
    gaps.extend(of_format(format, &whole));
    gaps.extend(unlogged(&whole));
    gaps.extend(not_reached(report, &whole));
    match report.errors {
        Some(errors) if errors > 0 => gaps.push(Gap::suspect(
            format!(
                "{} counted apart: how long such requests took is in no figure",
                format_counted(errors, "error is", "errors are")
            ),
            "",
        )),
        Some(_) => {}
        None => gaps.push(Gap::note(format!("{tool} does not say whether requests failed"))),
    }
    if let Some(skipped) = report.skipped.filter(|skipped| *skipped > 0) {
        let text = format!(
            "{} too late and never sent: no figure holds what was not sent",
            format_counted(skipped, "request was", "requests were")
        );
        gaps.push(Gap::suspect(text, ""));
    }
    gaps.push(Gap::note(
        "requests that were not finished when the tool ended are in no figure, as far as it says",
    ));
    gaps
}

/// Requests per second that a noted command line of the tool states; `None` where it states none.
pub fn asked_rate(format: Format, command: &str) -> Option<PerSecond> {
    match format {
        Format::Pgbench | Format::PgbenchLog => pgbench::command::asked(command),
        Format::Ycsb => match ycsb::command::CommandLine(command).target() {
            ycsb::command::Target::Rate(rate) => Some(rate),
            _ => None,
        },
        _ => None,
    }
}

/// A rate that was asked for and not made; how many requests a random schedule has differs by chance.
fn not_reached(report: &ToolReport, rows: &[&Reported]) -> Option<Gap> {
    const REACHED: f64 = 0.99;
    let (asked, achieved) = (report.asked?, report.achieved?);
    let counted: u64 =
        rows.iter().filter(|row| row.counted_from != StatedFrom::Schedule).filter_map(|row| row.count).sum();
    let counted = counted.max(rows.iter().filter_map(|row| row.count).max().unwrap_or(0)) as f64;
    let chance = if counted > 0.0 { 3.0 / counted.sqrt() } else { 0.0 };
    let text = format!(
        "{} was to make {asked} and made {achieved}: its figures are of the lower rate, and requests that it did not send have none",
        report.tool
    );
    let is_short = achieved.get() < asked.get() * REACHED.min(1.0 - chance);
    is_short.then(|| Gap::suspect(text, "lower the rate, or add sessions"))
}

/// pgbench leaves the last interval of each thread out of an aggregated log.
fn unlogged(rows: &[&Reported]) -> Option<Gap> {
    let (logged, others): (Vec<&Reported>, Vec<&Reported>) =
        rows.iter().partition(|row| row.measure == pgbench::aggregated::LOGGED);
    let (logged, all) = (logged.first()?.count?, others.first()?.count?);
    let text = format!(
        "the log holds {} of the {} transactions that pgbench counted: it leaves out each thread's last interval",
        format_count(logged),
        format_count(all)
    );
    (logged < all).then(|| Gap::suspect(text, ""))
}

/// How the same tool tells of single requests.
fn how_to_log(format: Format) -> &'static str {
    match format {
        Format::Ycsb | Format::Hdr(_) => {
            "of YCSB, -p measurementtype=raw -p measurement.interval=both has a row for each request"
        }
        Format::Pgbench | Format::PgbenchLog => {
            "pgbench --log, without --aggregate-interval, has a line for each transaction"
        }
        _ => "`truetail run` records each request",
    }
}

fn origin(tool: &str, rows: &[&Reported]) -> Option<Gap> {
    let has = |from: StatedFrom| rows.iter().any(|row| row.counted_from == from);
    if has(StatedFrom::Schedule) {
        return None;
    }
    if has(StatedFrom::Unsaid) {
        let text = format!(
            "{tool} does not say whether its times count from the schedule or from sending: if it ran at a rate, the time \
             that requests were late may be in no figure"
        );
        return Some(Gap::suspect(text, ""));
    }
    Some(Gap::note(format!(
        "times count from sending: if {tool} ran at a rate, how late requests were sent is in no figure"
    )))
}

/// Above the highest quantile that is told, the maximum alone is known.
fn reach(rows: &[&Reported]) -> Option<Gap> {
    if rows.is_empty() || rows.iter().any(|row| !row.cumulative.is_empty()) {
        return None;
    }
    let highest =
        rows.iter().filter_map(|row| row.quantiles.last().map(|(q, _)| q.get())).fold(0.0, f64::max);
    let max = match rows.iter().any(|row| row.max.is_some()) {
        true => "but the maximum",
        false => "not even a maximum",
    };
    Some(match Quantile::new(highest).filter(|q| q.get() > 0.0) {
        Some(q) => Gap::note(format!("nothing is told above {q}, {max}")),
        None => Gap::suspect(format!("no quantile is told, {max}"), ""),
    })
}

fn coarse(rows: &[&Reported]) -> Option<Gap> {
    let widest = rows.iter().filter_map(|row| row.relative_resolution).fold(0.0, f64::max);
    let step = rows.iter().filter_map(|row| row.resolution).max().unwrap_or(Nanos::ZERO);
    let mut words = Vec::new();
    if step > Nanos::from_micros(1) {
        words.push(format!("steps of {step}"));
    }
    if widest >= 0.005 {
        words.push(format!("buckets {:.1} % wide", widest * 100.0));
    }
    (!words.is_empty()).then(|| Gap::note(format!("figures are told in {}", words.join(" and "))))
}

/// What a tool is known to leave out, whatever it printed.
fn of_format(format: Format, rows: &[&Reported]) -> Option<Gap> {
    const CAP: Nanos = Nanos::from_secs(3);
    const LAST: Nanos = Nanos::from_secs(100);
    let reaches = |limit: Nanos| rows.iter().any(|row| row.max.is_some_and(|max| max >= limit));
    match format {
        Format::RedisBenchmark if reaches(CAP) => Some(Gap::suspect(
            "redis-benchmark takes whatever lasts longer than 3 s for 3 s, and its maximum is 3 s: requests may have taken any \
             time above",
            "",
        )),
        Format::RedisBenchmark => Some(Gap::note(
            "redis-benchmark takes whatever lasts longer than 3 s for 3 s; its maximum is below",
        )),
        Format::Sysbench if reaches(LAST) => {
            Some(Gap::suspect("sysbench counts whatever lasts longer than 100 s in its last bucket", ""))
        }
        Format::Ycsb => Some(Gap::note(
            "YCSB puts requests that failed into rows of their own: its quantiles are of successes",
        )),
        Format::Pgbench => {
            Some(Gap::note("pgbench's mean holds transactions that failed where its summary says so"))
        }
        _ => None,
    }
}
