//! redis-benchmark: its text, `--csv`, and the lines of `-q`.
//!
//! Figures count from the moment at which a request is written, since the tool is a closed loop.

use crate::ImportError;
use crate::figures::{cumulated, elapsed, percentile, rate};
use crate::format::{Output, quoted};
use crate::report::{Reported, StatedFrom, ToolReport};
use units::{Nanos, PerSecond};

const MILLI: Nanos = Nanos::from_millis(1);
/// It prints milliseconds with three decimals.
const RESOLUTION: Nanos = Nanos::from_micros(1);

/// Reads whichever of the three forms there is.
pub(crate) fn read(outputs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut reading = Reading::default();
    for output in outputs {
        for (line, text) in output.lines() {
            let known = reading.take(text);
            known.ok_or_else(|| output.wrong_line(line, format!("{} holds no such figure", quoted(text))))?;
        }
    }
    reading.finish()
}

/// What is below the line that says it.
#[derive(Clone, Copy, PartialEq, Default)]
enum Part {
    #[default]
    Elsewhere,
    /// The names of the summary's columns come next.
    Names,
    /// Its values.
    Values,
}

#[derive(Default)]
struct Reading {
    rows: Vec<Reported>,
    rates: Vec<PerSecond>,
    counts: Vec<(Nanos, u64)>,
    columns: Vec<String>,
    part: Part,
    csv: Vec<String>,
    /// A larger value had a smaller count.
    contradiction: bool,
}

impl Reading {
    /// `None` if the line is one of the report and its figure can't be read.
    fn take(&mut self, line: &str) -> Option<()> {
        // Progress and a heading share a line where the output is no terminal.
        if let Some(name) = heading(line) {
            self.begin(name);
            return Some(());
        }
        if line.starts_with('"') {
            return self.take_csv(line);
        }
        if let Some((name, figures)) = line.split_once(" requests per second") {
            return self.take_short(name, figures);
        }
        match line.trim() {
            "" => return Some(()),
            "latency summary (msec):" => self.part = Part::Names,
            words if self.part == Part::Names => {
                self.columns = words.split_ascii_whitespace().map(str::to_owned).collect();
                self.part = Part::Values;
            }
            words if self.part == Part::Values => {
                self.part = Part::Elsewhere;
                return self.take_values(&words.split_ascii_whitespace().collect::<Vec<_>>());
            }
            words => return self.take_line(words),
        }
        Some(())
    }

    fn begin(&mut self, name: &str) {
        self.end();
        self.rows.push(Reported {
            operation: name.to_owned(),
            measure: "latency".to_owned(),
            counted_from: StatedFrom::Send,
            resolution: Some(RESOLUTION),
            ..Reported::default()
        });
        self.part = Part::Elsewhere;
    }

    /// What was counted belongs to the operation before.
    fn end(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let Some(row) = self.rows.last_mut() else { return };
        if !counts.is_empty() {
            match cumulated(counts) {
                Some(counts) => row.cumulative = counts,
                None => self.contradiction = true,
            }
        }
    }

    fn take_line(&mut self, words: &str) -> Option<()> {
        if let Some((count, _)) = words.split_once(" requests completed in ") {
            self.rows.last_mut()?.count = Some(count.parse().ok()?);
        } else if let Some((_, rest)) = words.split_once("% <= ")
            && let Some((value, count)) = rest.split_once(" milliseconds (cumulative count ")
        {
            // The shares are rounded to 0.001 %, which is coarse in the tail; the counts are exact.
            self.counts.push((elapsed(value, MILLI)?, count.strip_suffix(')')?.parse().ok()?));
        }
        Some(())
    }

    fn take_values(&mut self, values: &[&str]) -> Option<()> {
        let columns = std::mem::take(&mut self.columns);
        if columns.len() != values.len() {
            return None;
        }
        for (column, value) in columns.iter().zip(values) {
            self.take_figure(column, value)?;
        }
        Some(())
    }

    fn take_figure(&mut self, column: &str, value: &str) -> Option<()> {
        let row = self.rows.last_mut()?;
        let value = elapsed(value, MILLI)?;
        match column {
            "avg" => row.mean = Some(value),
            "min" => row.min = Some(value),
            "max" => row.max = Some(value),
            _ => {
                if let Some(q) = column.strip_prefix('p').and_then(percentile) {
                    row.quantiles.push((q, value));
                }
            }
        }
        Some(())
    }

    /// A header, then `"GET","74019.25","0.038",…`; before 7.0 without a header and with the rate alone.
    fn take_csv(&mut self, line: &str) -> Option<()> {
        let fields: Vec<&str> = line.trim_end().split(',').map(|field| field.trim_matches('"')).collect();
        if fields.first() == Some(&"test") {
            self.csv = fields.iter().map(|field| (*field).to_owned()).collect();
            return Some(());
        }
        let (name, achieved) = (fields.first()?, fields.get(1)?);
        self.begin(name);
        self.rates.push(rate(achieved)?);
        let columns = std::mem::take(&mut self.csv);
        if fields.len() != columns.len().max(2) {
            return None;
        }
        for (column, value) in columns.iter().zip(&fields).skip(2) {
            self.take_figure(column.strip_suffix("_latency_ms").unwrap_or(column), value)?;
        }
        self.csv = columns;
        Some(())
    }

    /// `  throughput summary: 73260.07`, or `GET: 73260.07 …, p50=0.039 msec`.
    fn take_short(&mut self, before: &str, after: &str) -> Option<()> {
        let (name, achieved) = before.rsplit_once(": ").unwrap_or(("", before));
        self.rates.push(rate(achieved)?);
        // Old versions have no name before it.
        if ["throughput summary", ""].contains(&name.trim()) {
            return Some(());
        }
        self.begin(name.trim());
        for figure in after.split(", ") {
            if let Some((column, value)) = figure.split_once('=') {
                self.take_figure(column, value.split(' ').next()?)?;
            }
        }
        Some(())
    }

    fn finish(mut self) -> Result<ToolReport, ImportError> {
        self.end();
        let nothing = |hint: &str| ImportError::Nothing { format: "redis-benchmark", hint: hint.to_owned() };
        if self.contradiction {
            return Err(nothing("its cumulative counts fall; was the output damaged?"));
        }
        if self.rows.is_empty() {
            return Err(nothing("neither `====== GET ======` nor rows of `--csv`; did it fail to connect?"));
        }
        // One operation after the other: there is no rate of all together.
        let achieved = if self.rows.len() == 1 { self.rates.first().copied() } else { None };
        Ok(ToolReport {
            tool: "redis-benchmark".to_owned(),
            achieved,
            rows: self.rows,
            ..ToolReport::default()
        })
    }
}

/// `====== GET ======`, at the end of a line.
fn heading(line: &str) -> Option<&str> {
    let before = line.trim_end().strip_suffix(" ======")?;
    let (_, name) = before.rsplit_once("====== ")?;
    Some(name)
}
