//! sysbench's report.
//!
//! It prints one percentile, rounded to 10 µs. With `--histogram=on` there is a table of its 1024 buckets too, whose
//! printed values are the buckets' centres on a logarithmic scale from 1 µs to 100 s: a value lies within 0.9 % of the
//! centre (`sb_histogram_update` of sb_histogram.c). With `--rate` figures count from the moment at which sysbench's one
//! generator thread put the request into its queue.

use crate::ImportError;
use crate::figures::{cumulated, elapsed, number, percentile, rate};
use crate::format::{Output, quoted};
use crate::report::{Reported, StatedFrom, ToolReport};
use units::{Nanos, PerSecond};

const MILLI: Nanos = Nanos::from_millis(1);
/// Of the percentile line; the table has 1 µs.
const RESOLUTION: Nanos = Nanos::from_micros(10);
/// Neighbouring centres differ by the factor exp(ln(10⁸)/1023).
const BUCKET: f64 = 0.018_169;

/// Reads the report.
pub(crate) fn read(outputs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut reading = Reading::default();
    for output in outputs {
        for (line, text) in output.lines() {
            let known = reading.take(text);
            known.ok_or_else(|| output.wrong_line(line, format!("{} holds no such figure", quoted(text))))?;
        }
    }
    if reading.row.mean.is_none() {
        let said = outputs.iter().flat_map(Output::lines).find(|(_, line)| line.starts_with("FATAL:"));
        let hint = said.map_or_else(
            || "no block `Latency (ms):`; did sysbench fail?".to_owned(),
            |(_, line)| format!("sysbench said {}", quoted(line)),
        );
        return Err(ImportError::Nothing { format: "sysbench", hint });
    }
    reading.finish().ok_or_else(|| ImportError::Nothing {
        format: "sysbench",
        hint: "its histogram counts more requests than can be".to_owned(),
    })
}

#[derive(Default)]
struct Reading {
    tool: Option<String>,
    row: Reported,
    buckets: Vec<(Nanos, u64)>,
    transactions: Option<PerSecond>,
    events: Option<PerSecond>,
    ignored: Option<u64>,
    asked: Option<PerSecond>,
    in_latency: bool,
}

impl Reading {
    /// `None` if the line is one of the report and its figure can't be read.
    fn take(&mut self, line: &str) -> Option<()> {
        let words = line.trim();
        if !line.starts_with([' ', '\t']) {
            self.in_latency = words == "Latency (ms):";
        }
        if let Some(version) = line.strip_prefix("sysbench ") {
            // Hints of a failed call begin with the name, too.
            let number = version.split(' ').next()?;
            if number.starts_with(|c: char| c.is_ascii_digit()) {
                self.tool = Some(format!("sysbench {number}"));
            }
        } else if let Some(value) = line.strip_prefix("Target transaction rate:") {
            self.row.counted_from = StatedFrom::Schedule;
            self.asked = value.trim().strip_suffix("/sec").and_then(rate);
        } else if let Some(value) = words.strip_prefix("transactions:") {
            self.transactions = Some(rate(between(value, "(", " per sec")?)?);
        } else if let Some(value) = words.strip_prefix("events/s (eps):") {
            self.events = Some(rate(value)?);
        } else if let Some(value) = words.strip_prefix("ignored errors:") {
            self.ignored = Some(value.split_ascii_whitespace().next()?.parse().ok()?);
        } else if let Some(value) = words.strip_prefix("total number of events:") {
            self.row.count = Some(value.trim().parse().ok()?);
        } else if self.in_latency {
            self.take_latency(words)?;
        } else if let Some((value, bar)) = line.split_once(" |")
            && let Some(value) = elapsed(value, MILLI)
        {
            let count = bar.trim_start_matches('*').trim().parse().ok()?;
            self.buckets.push((value, count));
        }
        Some(())
    }

    fn take_latency(&mut self, words: &str) -> Option<()> {
        let Some((name, value)) = words.split_once(':') else { return Some(()) };
        let value = value.trim();
        match name {
            "min" => self.row.min = Some(elapsed(value, MILLI)?),
            "avg" => self.row.mean = Some(elapsed(value, MILLI)?),
            "max" => self.row.max = Some(elapsed(value, MILLI)?),
            _ => {
                // "percentile stats: disabled" has no number before the word.
                if let Some(name) = name.strip_suffix(" percentile") {
                    let name = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                    self.row.quantiles.push((percentile(name)?, elapsed(value, MILLI)?));
                }
            }
        }
        Some(())
    }

    /// `None` if the counts do not fit into 64 bits.
    fn finish(mut self) -> Option<ToolReport> {
        self.row.measure = "Latency".to_owned();
        self.row.resolution = Some(RESOLUTION);
        if self.row.counted_from == StatedFrom::Unsaid {
            self.row.counted_from = StatedFrom::Send;
        }
        if !self.buckets.is_empty() {
            self.row.relative_resolution = Some(BUCKET);
            let mut sum = 0_u64;
            for (_, count) in &mut self.buckets {
                sum = sum.checked_add(*count)?;
                *count = sum;
            }
            self.row.cumulative = cumulated(self.buckets)?;
        }
        Some(ToolReport {
            tool: self.tool.unwrap_or_else(|| "sysbench".to_owned()),
            asked: self.asked,
            achieved: self.transactions.or(self.events),
            errors: self.ignored,
            skipped: None,
            rows: vec![self.row],
        })
    }
}

/// The text between two marks.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    let (value, _) = rest.split_once(after)?;
    number(value).is_some().then_some(value)
}
