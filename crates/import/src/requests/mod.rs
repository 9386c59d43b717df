//! Logs of single requests, one request after the other: what becomes the samples of a recording.
//!
//! A log is read twice, line by line. The first pass finds what a recording must say before its first sample: which
//! operations there are, when the first request began. It also meets every damaged line before anything is written. The
//! second hands out the requests. Neither keeps the log in memory, but for YCSB's raw rows: there a request's two rows lie
//! far apart in the file, and one of them, 8 bytes of it, waits for the other.

mod benchbase;
mod csv;
mod gaps;
mod lines;
mod pgbench;
mod survey;
mod ycsb;

pub(crate) use benchbase::is_header as is_benchbase_header;
pub use gaps::{Gap, Weight};
pub use survey::{LoggedPhase, Request, Survey};

use crate::csv::ColumnMap;
use crate::{ForeignSample, Format, ImportError, Reported, StatedFrom, ToolReport};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use survey::Names;
use units::{Nanos, Outcome};

/// 2000-01-01, ns since 1970: earlier moments are of another unit, or of a clock of the file's own.
const YEAR_2000: u64 = 946_684_800 * 1_000_000_000;

/// The number of a phase that does not count. No tool numbers so many.
const WARM_UP: u32 = u32::MAX;

/// One request as a line tells it, moments in ns since 1970 (or of whatever clock the log has).
#[derive(Clone, PartialEq, Debug)]
struct Logged<'a> {
    operation: Cow<'a, str>,
    session: Option<Cow<'a, str>>,
    intended: Option<u64>,
    sent: Option<u64>,
    completed: Option<u64>,
    outcome: Outcome,
    /// The tool's number of its phase, or [`WARM_UP`].
    phase: u32,
}

/// What takes the requests of a pass.
type Take<'t> = &'t mut dyn FnMut(&Logged<'_>) -> Result<(), ImportError>;

/// What a pass found besides requests.
#[derive(Clone, Default)]
struct PassFacts {
    /// The tool's own summary; its rows have no samples.
    stated: ToolReport,
    /// Requests that it left out itself.
    skipped: u64,
    /// Files that end within a line: (name, line).
    cut_off: Vec<(String, usize)>,
    /// What the format can't tell.
    gaps: Vec<Gap>,
    /// Whether the moments lie on the axis of 1970.
    is_wall_time: bool,
    /// Whether the tool had a schedule that intended moments come from.
    has_schedule: bool,
    /// The finest step of moments, and of lengths of time.
    resolution: (Nanos, Nanos),
    /// Further facts: (name, value).
    facts: Vec<(String, String)>,
}

/// A reader of one format.
trait Log {
    /// Hands over all requests, the same in each pass.
    fn pass(&self, take: Take<'_>) -> Result<PassFacts, ImportError>;
}

/// A log of requests after its first pass.
pub struct Requests {
    log: Box<dyn Log>,
    names: Names,
    survey: Survey,
}

/// What there is to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outputs<'a> {
    /// What the tool printed, where that was kept.
    pub printed: Option<&'a str>,
    /// The files that it wrote.
    pub files: &'a [PathBuf],
    /// Which column is what, for `csv`.
    pub columns: Option<&'a ColumnMap>,
    /// The tool's command line, where somebody noted it. What it states is taken; what it leaves out may have been left out of
    /// the note.
    pub command: Option<&'a str>,
    /// Set when whoever waits wants no more; looked at with each request of the first pass.
    pub stop: Option<&'a AtomicBool>,
}

/// Reads a log of single requests for the first time; `None` where the outputs hold summaries alone, which is for
/// [`read`](crate::read) then.
///
/// # Errors
/// A file that can't be read, a damaged line, no request where the format has nothing else; [`ImportError::Stopped`] when
/// [`Outputs::stop`] was set.
pub fn requests(format: Format, outputs: Outputs<'_>) -> Result<Option<Requests>, ImportError> {
    let log: Box<dyn Log> = match format {
        Format::PgbenchLog if pgbench::is_aggregated(outputs.files)? => return Ok(None),
        Format::PgbenchLog => Box::new(pgbench::PgbenchLog::new(outputs)?),
        Format::BenchBase => Box::new(benchbase::BenchBaseLog::new(outputs)),
        Format::Csv => Box::new(csv::Table::new(outputs)),
        Format::Ycsb => match ycsb::RawRows::read(outputs)? {
            Some(rows) => Box::new(rows),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let (names, survey) = survey::first_pass(&*log, format, outputs.stop)?;
    Ok(Some(Requests { log, names, survey }))
}

impl Requests {
    /// What the first pass found.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Hands over each request that has a moment, in the order of the log. Time is proportional to the log.
    ///
    /// # Errors
    /// Those of `take`, and of a log that changed since the first pass.
    pub fn each<E: From<ImportError>>(
        &self,
        mut take: impl FnMut(&Request) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut failed = None;
        let mut number = 0;
        let passed = self.log.pass(&mut |logged| {
            let request = self.names.request(number, logged)?;
            number += 1;
            let Some(request) = request else { return Ok(()) };
            take(&request).map_err(|error| {
                failed = Some(error);
                ImportError::Stopped
            })
        });
        match (failed, passed) {
            (Some(error), _) => Err(error),
            (None, passed) => passed.map(drop).map_err(E::from),
        }
    }
}

/// BenchBase's file as a report with samples, a row for each transaction.
pub(crate) fn collected(files: &[PathBuf]) -> Result<ToolReport, ImportError> {
    let outputs = Outputs { files, ..Outputs::default() };
    let hint = "no file was given; hand over `results/….raw.csv`";
    let nothing = || ImportError::Nothing { format: "benchbase", hint: hint.to_owned() };
    let log = requests(Format::BenchBase, outputs)?.ok_or_else(nothing)?;
    let survey = log.survey();
    let row = |operation: &String| Reported {
        operation: operation.clone(),
        measure: "Latency".to_owned(),
        counted_from: StatedFrom::Send,
        resolution: Some(survey.length_resolution),
        ..Reported::default()
    };
    let mut rows: Vec<Reported> = survey.operations.iter().map(row).collect();
    log.each::<ImportError>(|request| {
        rows[usize::from(request.operation)].samples.push(ForeignSample {
            completed_wall_ns: Some(request.completed),
            elapsed: request.sent.map(|sent| Nanos(request.completed - sent)),
            schedule_lag: None,
            session: request.session.map(u32::from),
            failed: false,
        });
        Ok(())
    })?;
    rows.iter_mut().for_each(Reported::describe_samples);
    Ok(ToolReport { rows, ..survey.stated.clone() })
}
