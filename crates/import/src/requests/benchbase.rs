//! BenchBase's and OLTPBench's `raw.csv`.
//!
//! The column `Start Time (microseconds)` holds seconds since 1970 with six decimals; the latency is in microseconds, as its
//! name says. A latency counts from when a terminal took the transaction up, retries and all; how long it lay in the queue of
//! a rate is in no column, and neither is how it ended. `truetail benchbase` writes such files, too, with columns for both.

use super::lines::{Lines, wrong_line};
use super::{Gap, Log, Logged, Outputs, PassFacts, Take, YEAR_2000};
use crate::csv::fields;
use crate::figures::{decimal, elapsed};
use crate::format::{name_of, quoted};
use crate::report::ToolReport;
use crate::{Format, ImportError};
use std::path::{Path, PathBuf};
use units::{Nanos, Outcome};

const NAME: &str = "benchbase";
const SECOND: Nanos = Nanos::from_secs(1);
const MICRO: Nanos = Nanos::from_micros(1);

/// Whether a line heads such a file: OLTPBench's names are shorter.
pub(crate) fn is_header(line: &str) -> bool {
    line.starts_with("Transaction Type Index,") && line.contains("Start Time") && line.contains("Latency")
}

pub(super) struct BenchBaseLog {
    files: Vec<PathBuf>,
}

/// Where the columns are.
struct Columns {
    name: Option<usize>,
    index: usize,
    start: usize,
    latency: usize,
    worker: Option<usize>,
    phase: Option<usize>,
    /// Of `truetail benchbase`: when it was intended, and how it ended.
    own: Option<(usize, usize)>,
    count: usize,
}

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let at = |begin: &str| names.iter().position(|name| name.starts_with(begin));
        Some(Columns {
            index: at("Transaction Type Index")?,
            name: at("Transaction Name"),
            start: at("Start Time")?,
            latency: at("Latency")?,
            worker: at("Worker Id"),
            phase: at("Phase Id"),
            own: at("truetail Intended Start").zip(at("truetail Outcome")),
            count: names.len(),
        })
    }

    fn take(&self, line: &str, take: Take<'_>) -> Result<Result<(), ImportError>, String> {
        let fields = fields(line).map_err(|why| format!("{}: {why}", quoted(line)))?;
        if fields.len() != self.count {
            return Err(format!("{} has {} fields, the header {}", quoted(line), fields.len(), self.count));
        }
        let text = |at: usize| fields[at].as_ref();
        let bad = |what: &str, at: usize| format!("{} is no {what}", quoted(text(at)));
        let start = decimal(text(self.start), SECOND)
            .ok_or_else(|| bad("start in seconds since 1970", self.start))?;
        if start < YEAR_2000 {
            return Err(format!(
                "start {} is before the year 2000: it should be in seconds since 1970, whatever the column's name says",
                quoted(text(self.start))
            ));
        }
        let spent = elapsed(text(self.latency), MICRO).ok_or_else(|| bad("latency in µs", self.latency))?;
        let phase = match self.phase {
            Some(at) => text(at).parse().map_err(|_| bad("phase", at))?,
            None => 0,
        };
        let (intended, outcome) = match self.own {
            None => (None, Outcome::Ok), // The file does not tell.
            Some((intended, outcome)) => (
                Some(text(intended)).filter(|text| !text.is_empty()).map(|text| {
                    decimal(text, SECOND)
                        .filter(|at| *at <= start)
                        .ok_or_else(|| bad("intended start in seconds", intended))
                }),
                Outcome::ALL
                    .into_iter()
                    .find(|known| known.name() == text(outcome))
                    .ok_or_else(|| bad("outcome", outcome))?,
            ),
        };
        let name = self.name.map(|at| fields[at].clone()).filter(|name| !name.is_empty());
        Ok(take(&Logged {
            operation: name.unwrap_or_else(|| format!("type {}", text(self.index)).into()),
            session: self.worker.map(|at| fields[at].clone()),
            intended: intended.transpose()?,
            sent: Some(start),
            completed: Some(start.checked_add(spent.0).ok_or_else(|| bad("latency in µs", self.latency))?),
            outcome,
            phase,
        }))
    }
}

impl BenchBaseLog {
    pub(super) fn new(outputs: Outputs<'_>) -> BenchBaseLog {
        BenchBaseLog { files: outputs.files.to_vec() }
    }

    /// Whether the file has truetail's columns.
    fn file(path: &Path, take: Take<'_>, cut_off: &mut Vec<(String, usize)>) -> Result<bool, ImportError> {
        let mut lines = Lines::open(path, NAME)?;
        let header =
            lines.next()?.filter(|line| is_header(line.text)).and_then(|line| Columns::of(line.text));
        let Some(columns) = header else {
            let hint = format!(
                "{} does not begin with `Transaction Type Index,…`; hand over the file `….raw.csv`",
                name_of(path)
            );
            return Err(ImportError::Nothing { format: NAME, hint });
        };
        while let Some(line) = lines.next()? {
            if !line.is_ended {
                cut_off.push((name_of(path), line.number));
                break;
            }
            let number = line.number;
            columns.take(line.text, take).map_err(|why| wrong_line(NAME, path, number, why))??;
        }
        Ok(columns.own.is_some())
    }
}

impl Log for BenchBaseLog {
    fn pass(&self, take: Take<'_>) -> Result<PassFacts, ImportError> {
        let mut cut_off = Vec::new();
        if self.files.is_empty() {
            let hint = "no file was given; hand over `results/….raw.csv`".to_owned();
            return Err(ImportError::Nothing { format: NAME, hint });
        }
        let mut is_own = true;
        for path in &self.files {
            is_own &= BenchBaseLog::file(path, take, &mut cut_off)?;
        }
        Ok(PassFacts {
            stated: ToolReport { tool: Format::BenchBase.tool().to_owned(), ..ToolReport::default() },
            cut_off,
            gaps: if is_own { Vec::new() } else { gaps() },
            is_wall_time: true,
            has_schedule: is_own,
            resolution: (MICRO, MICRO),
            ..PassFacts::default()
        })
    }
}

fn gaps() -> Vec<Gap> {
    vec![
        Gap::suspect(
            "raw.csv does not tell when a transaction was intended: if BenchBase ran at a rate, the time that transactions \
             lay in its queue is in no figure, and a stall of the database shortens the queue's customers, not their number",
            "take its service times as what they are; `truetail run --rate` measures response times",
        ),
        Gap::note(
            "raw.csv does not tell how transactions ended: those that failed or were rolled back count as ok",
        ),
        Gap::note(
            "BenchBase leaves out transactions that began before the measured time or ended after it: the longest are the \
             likeliest to be missing",
        ),
    ]
}
