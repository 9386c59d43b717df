//! YCSB's measurements.
//!
//! The text exporter prints `[READ], 99thPercentileLatency(us), 828`, the JSON exporters the same three parts as
//! objects; `measurementtype=raw` adds a row for each request. With `measurement.interval=both` each operation appears
//! twice, the second time as `Intended-READ`. With `op` and with `intended` alone the names are the same, so that the
//! output does not say which it is.

pub(crate) mod command;
pub(crate) mod names;

use crate::ImportError;
use crate::figures::{elapsed, number, percentile, rate, scaled};
use crate::format::{Output, quoted};
use crate::report::{ForeignSample, Reported, StatedFrom, StatedRounding, ToolReport};
use command::{CommandLine, Target};
use names::Name;
use serde_json::Value;
use units::{Nanos, Outcome, Quantile};

pub(crate) const MICRO: Nanos = Nanos::from_micros(1);
pub(crate) const MILLI: Nanos = Nanos::from_millis(1);
pub(crate) const INTENDED: &str = "Intended-";
/// Before the command line, which YCSB repeats first of all.
pub(crate) const COMMAND_LINE: &str = "Command line: ";
/// How the quantiles of YCSB's two histograms are called.
const OF_HISTOGRAM: &str = "PercentileLatency(us)";
/// HdrHistogram keeps three digits of what YCSB counts in it.
const THREE_DIGITS: f64 = 0.001;
/// Names of measurements at most: 255 operations, each with its failures, from sending and from the schedule.
pub(crate) const MOST_NAMES: usize = 4096;

/// Reads text, JSON and raw rows, whichever come.
pub(crate) fn read(outputs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut report = ToolReport { tool: "YCSB".to_owned(), ..ToolReport::default() };
    for output in outputs {
        let before = report.rows.len();
        read_lines(output, &mut report)?;
        // What begins like JSON in a text report is some other program's.
        if report.rows.len() == before {
            read_json(output, &mut report)?;
        }
    }
    finish_stated(&mut report);
    if report.rows.is_empty() {
        let hint =
            "neither a line like `[READ], Operations, 1000` nor JSON of its exporters; did the client fail?";
        return Err(ImportError::Nothing { format: "ycsb", hint: hint.to_owned() });
    }
    Ok(report)
}

fn read_lines(output: &Output, report: &mut ToolReport) -> Result<(), ImportError> {
    for (line, text) in output.lines() {
        let taken = match raw(text) {
            Some((operation, time, elapsed)) => take_raw(report, operation, time, elapsed),
            None if is_strange_row(text) => Err(format!("{} names no operation", quoted(text))),
            None => take_line(report, text),
        };
        taken.map_err(|why| output.wrong_line(line, why))?;
    }
    Ok(())
}

/// A line that is no raw row.
pub(crate) fn take_line(report: &mut ToolReport, text: &str) -> Result<(), String> {
    if let Some(version) = text.strip_prefix("YCSB Client ") {
        report.tool = format!("YCSB {}", version.trim());
    } else if let Some(command) = text.strip_prefix(COMMAND_LINE) {
        if let Target::Rate(rate) = CommandLine(command).target() {
            report.asked = Some(rate);
        }
    } else if let Some((metric, measurement, value)) = exported(text) {
        take(report, metric, measurement, value)?;
    }
    Ok(())
}

/// `[METRIC], measurement, value`. The measurement may hold anything, a comma included.
fn exported(line: &str) -> Option<(&str, &str, &str)> {
    let (metric, rest) = line.strip_prefix('[')?.split_once("], ")?;
    let (measurement, value) = rest.rsplit_once(", ")?;
    Some((metric, measurement, value))
}

/// `READ,1795247156328,13993`. What YCSB's own classes measure is known with whatever figures stand behind it; what else has
/// the shape of a name must have a moment of today behind it.
pub(crate) fn raw(line: &str) -> Option<(&str, &str, &str)> {
    let (name, time, elapsed) = three(line)?;
    let figures =
        [time, elapsed].iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
    let named = name.strip_prefix(INTENDED).unwrap_or(name);
    let is_known = Name::of(name).is_known() && figures;
    let of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let looks_like_one = named.starts_with(|c: char| c.is_ascii_uppercase()) && named.chars().all(of_name);
    (is_known || (looks_like_one && has_figures_of_a_row(time, elapsed))).then_some((name, time, elapsed))
}

/// Whether a line has the figures of a raw row behind something that is no name of an operation.
pub(crate) fn is_strange_row(line: &str) -> bool {
    let has_figures = |(_, time, elapsed)| has_figures_of_a_row(time, elapsed);
    raw(line).is_none() && three(line).is_some_and(has_figures)
}

fn three(line: &str) -> Option<(&str, &str, &str)> {
    let mut parts = line.split(',');
    let found = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(found)
}

/// Milliseconds since 1970 have 13 digits until the year 2286.
fn has_figures_of_a_row(time: &str, elapsed: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    time.len() == 13 && digits(time) && digits(elapsed.strip_prefix('-').unwrap_or(elapsed))
}

fn read_json(output: &Output, report: &mut ToolReport) -> Result<(), ImportError> {
    let mut start = 0;
    for line in output.text.split_inclusive('\n') {
        let begins = line.trim_end();
        if begins.starts_with('{') || begins.starts_with("[ {") || begins.starts_with("[{") {
            return read_documents(output, &output.text[start..], report);
        }
        start += line.len();
    }
    Ok(())
}

/// One array of objects, or objects one after the other.
fn read_documents(output: &Output, text: &str, report: &mut ToolReport) -> Result<(), ImportError> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let rest = text.get(documents.byte_offset()..).unwrap_or_default();
        // What follows the objects is some other program's.
        if !rest.trim_start().starts_with(['{', '[']) {
            return Ok(());
        }
        let Some(document) = documents.next() else { return Ok(()) };
        let document = document.map_err(|error| output.wrong(format!("its JSON is damaged: {error}")))?;
        let entries = match &document {
            Value::Array(entries) => entries.as_slice(),
            one => std::slice::from_ref(one),
        };
        for entry in entries {
            take_json(report, entry).map_err(|why| output.wrong(why))?;
        }
    }
}

fn take_json(report: &mut ToolReport, entry: &Value) -> Result<(), String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let value =
        entry.get("value").map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    match (text("metric"), text("measurement"), value) {
        (Some(metric), Some(measurement), Some(value)) => take(report, metric, measurement, &value),
        _ => Err(format!("{} has no `metric`, `measurement` and `value`", quoted(&entry.to_string()))),
    }
}

/// What a measurement's name stands for.
enum Figure<'a> {
    Count,
    Mean,
    Min,
    Max,
    /// Only the histogram of 1 ms buckets prints it; its percentiles are the lower ends of buckets.
    Variance,
    Return(&'a str),
    Quantile(Quantile),
}

impl<'a> Figure<'a> {
    /// `None` for what has no place in a report: garbage collections, buckets, averages over time.
    fn of(measurement: &'a str) -> Option<Figure<'a>> {
        match measurement {
            "Operations" | "Total Operations" => Some(Figure::Count),
            "AverageLatency(us)" | "Average" => Some(Figure::Mean),
            "MinLatency(us)" | "Min" => Some(Figure::Min),
            "MaxLatency(us)" | "Max" => Some(Figure::Max),
            "LatencyVariance(us)" => Some(Figure::Variance),
            _ => match measurement.strip_prefix("Return=") {
                Some(status) => Some(Figure::Return(status)),
                None => quantile(measurement).map(Figure::Quantile),
            },
        }
    }
}

/// One exported figure.
fn take(report: &mut ToolReport, metric: &str, measurement: &str, value: &str) -> Result<(), String> {
    if metric == "OVERALL" {
        if measurement == "Throughput(ops/sec)" {
            // A run without an operation prints NaN.
            report.achieved = rate(value);
        }
        return Ok(());
    }
    let Some(figure) = Figure::of(measurement) else { return Ok(()) };
    let bad = || format!("[{metric}], {measurement}: {} is no figure of it", quoted(value));
    let count = || value.parse::<u64>().map_err(|_| bad());
    let time = || elapsed(value, MICRO).ok_or_else(bad);
    let row = row(report, metric)?;
    match figure {
        Figure::Count if row.count.is_some() => {
            return Err(format!("[{metric}] is there twice; hand over the output of one run"));
        }
        Figure::Count => row.count = Some(count()?),
        // The mean of no request.
        Figure::Mean if value == "NaN" => {}
        Figure::Mean => row.mean = Some(time()?),
        Figure::Min => row.min = Some(time()?),
        Figure::Max => row.max = Some(time()?),
        Figure::Variance => {
            (row.resolution, row.relative_resolution) = (Some(MILLI), None);
            row.rounding = StatedRounding::Down;
        }
        Figure::Return(status) => row.returns.push((status.to_owned(), count()?)),
        Figure::Quantile(q) => {
            row.quantiles.push((q, time()?));
            // The raw type calls them `p99`, and has each value; of 1 ms buckets the variance has told already.
            if measurement.ends_with(OF_HISTOGRAM) && row.rounding != StatedRounding::Down {
                row.relative_resolution = Some(THREE_DIGITS);
            }
        }
    }
    Ok(())
}

/// `99thPercentileLatency(us)`, `99.9PercentileLatency(us)`, and `p99.9` of the raw type.
fn quantile(measurement: &str) -> Option<Quantile> {
    if let Some(name) = measurement.strip_prefix('p') {
        return percentile(name);
    }
    let name = measurement.strip_suffix(OF_HISTOGRAM)?;
    percentile(name.trim_end_matches(|c: char| c.is_ascii_alphabetic()))
}

fn take_raw(report: &mut ToolReport, operation: &str, time: &str, spent: &str) -> Result<(), String> {
    let bad = || {
        format!(
            "`{operation},…`: {} is no time in ms and elapsed time in µs",
            quoted(&format!("{time},{spent}"))
        )
    };
    let completed = number(time).and_then(|ms| scaled(ms, MILLI)).ok_or_else(bad)?;
    let sample = ForeignSample {
        completed_wall_ns: Some(completed.0),
        elapsed: Some(elapsed(spent, MICRO).ok_or_else(bad)?),
        schedule_lag: None,
        session: None,
        failed: Name::of(operation).outcome() != Outcome::Ok,
    };
    row(report, operation)?.samples.push(sample);
    Ok(())
}

/// The row of this name, made if it is not there.
fn row<'a>(report: &'a mut ToolReport, measure: &str) -> Result<&'a mut Reported, String> {
    let known = report.rows.iter().position(|row| row.measure == measure);
    if known.is_none() && report.rows.len() == MOST_NAMES {
        return Err(too_many_names());
    }
    let at = known.unwrap_or_else(|| {
        let intended = measure.strip_prefix(INTENDED);
        let name = Name::of(measure);
        report.rows.push(Reported {
            operation: intended.unwrap_or(measure).to_owned(),
            measure: measure.to_owned(),
            counted_from: if intended.is_some() { StatedFrom::Schedule } else { StatedFrom::Unsaid },
            resolution: Some(MICRO),
            is_apart: !name.is_of_load() || name.status.is_some(),
            ..Reported::default()
        });
        report.rows.len() - 1
    });
    Ok(&mut report.rows[at])
}

/// That no file of YCSB's has as many names as this one.
pub(crate) fn too_many_names() -> String {
    format!("more than {MOST_NAMES} names of measurements; is it YCSB's?")
}

/// What the rows say of each other, once all are there.
pub(crate) fn finish_stated(report: &mut ToolReport) {
    // Where a schedule's figures stand beside them, the others are counted from sending.
    let both = report.rows.iter().any(|row| row.counted_from == StatedFrom::Schedule);
    for row in &mut report.rows {
        if both && row.counted_from == StatedFrom::Unsaid {
            row.counted_from = StatedFrom::Send;
        }
        if row.count.is_none() && !row.samples.is_empty() {
            row.describe_samples();
        }
    }
    // Compound operations are made of others, which are counted already.
    let counted =
        report.rows.iter().filter(|row| row.is_of_requests() && row.counted_from != StatedFrom::Schedule);
    let ended: Vec<&(String, u64)> = counted.flat_map(|row| &row.returns).collect();
    if !ended.is_empty() {
        let bad = ended.iter().filter(|(status, _)| !["OK", "BATCHED_OK"].contains(&status.as_str()));
        report.errors = Some(bad.fold(0, |sum, (_, count)| sum.saturating_add(*count)));
    }
}
