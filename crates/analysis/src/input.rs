//! What is analysed together, laid on one time axis.

use crate::{RecordingInfo, limits};
use record::{
    Ending, Event, JvmLogFacts, LoadModel, NoiseObservation, NoiseSourceFacts, PhaseKind, Provenance,
    ServerLogFacts, Stated,
};
use units::{Instant, Nanos, Quantile, Seed};

/// How to analyse.
#[derive(Clone, Debug)]
pub struct Options {
    /// Nominal coverage of the intervals, in (0, 1).
    pub level: f64,
    /// Quantiles to print, ascending.
    pub quantiles: Vec<Quantile>,
    /// Threads that read; at least 1.
    pub threads: usize,
    /// Seed of the bootstrap.
    pub seed: Seed,
    /// Requests that take longer are slow and attributed to causes; `None`: the slowest thousandth of each operation.
    pub above: Option<Nanos>,
    /// Slow requests that are kept one by one, at most.
    pub worst: usize,
    /// Called now and then with the samples read and those there are, from any of the threads; each is read twice.
    pub progress: Option<fn(done: u64, total: u64)>,
    /// What was found elsewhere and is laid over the recordings.
    pub laid_over: Vec<LaidOver>,
}

/// Events of another program, on the axis of one of the recordings.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LaidOver {
    /// Index of the recording; there must be one.
    pub recording: usize,
    /// The events.
    pub events: Vec<Event>,
    /// The same of what concerns the requests of all clients, such as a server's pauses, and is shown with another
    /// recording: placed by this one's own clocks, and for attribution alone.
    pub repeated: Vec<Event>,
    /// The logs that they come from, if they are JVMs'.
    pub jvm_logs: Vec<JvmLogFacts>,
    /// The logs that they come from, if they are a database server's.
    pub server_logs: Vec<ServerLogFacts>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            level: limits::LEVEL,
            quantiles: Quantile::PRINTED.to_vec(),
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            seed: Seed(0x7472_7565_7461_696C),
            above: None,
            worst: limits::MOST_WORST,
            progress: None,
            laid_over: Vec::new(),
        }
    }
}

/// All of a recording but its samples.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Name, header, how it ended.
    pub info: RecordingInfo,
    /// How it ended, when it did.
    pub ending: Option<Ending>,
    /// Samples that the disk did not take.
    pub unwritable: u64,
    /// Facts known at the end: (name, value). Those named `invariant…` must have a value that begins with
    /// `ok` or `holds`.
    pub facts: Vec<(String, String)>,
    /// What happened besides requests.
    pub events: Vec<Event>,
    /// See [`LaidOver::repeated`].
    pub repeated: Vec<Event>,
    /// Logs of JVMs whose pauses are among the events.
    pub jvm_logs: Vec<JvmLogFacts>,
    /// Logs of database servers whose checkpoints and the like are among the events.
    pub server_logs: Vec<ServerLogFacts>,
    /// Noise sources; observations index them.
    pub noise_sources: Vec<NoiseSourceFacts>,
    /// Their readings.
    pub noise: Vec<NoiseObservation>,
    /// What another tool stated of the run, where it was imported.
    pub stated: Vec<Stated>,
}

impl Input {
    /// Whether it is another tool's result.
    pub(crate) fn is_imported(&self) -> bool {
        matches!(self.info.header.provenance, Provenance::Imported { .. })
    }
}

/// Why recordings can't be analysed (together). One line each.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// No recording was given.
    #[error("no recording to analyse: name at least one directory")]
    Nothing,
    /// Clients of one run must make the same kind of load.
    #[error("{first} is a {first_model} and {second} a {second_model}: analyse them apart")]
    Models {
        /// A recording.
        first: String,
        /// Its model.
        first_model: &'static str,
        /// Another.
        second: String,
        /// Its model.
        second_model: &'static str,
    },
    /// Clients of one run must have the same operations and phases.
    #[error(
        "{first} and {second} have different {what}: they are not clients of one run; use `truetail compare`"
    )]
    Shapes {
        /// A recording.
        first: String,
        /// Another.
        second: String,
        /// Operations or phases.
        what: &'static str,
    },
    /// Clients of one run must measure at the same time.
    #[error(
        "{first} and {second} do not overlap in time ({gap} between them): they are not clients of one run; \
         use `truetail compare`"
    )]
    Apart {
        /// A recording.
        first: String,
        /// Another.
        second: String,
        /// How far they are apart.
        gap: String,
    },
    /// A truth log and a recording have no clock in common.
    #[error(
        "{truth}: the wall clock jumped when the recording began, so its requests can't be laid over the log's: make both again"
    )]
    Clocks {
        /// The log.
        truth: String,
    },
    /// A recording can't be read.
    #[error(transparent)]
    Record(#[from] record::RecordError),
}

/// A phase on the common axis.
#[derive(Clone, Debug)]
pub(crate) struct PlannedPhase {
    pub(crate) measured: bool,
    /// Where the blocks of its distributions begin: the same for all measured phases.
    pub(crate) origin: u64,
}

/// What all parts of an analysis know of its inputs.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) model: LoadModel,
    pub(crate) operations: usize,
    pub(crate) phases: Vec<PlannedPhase>,
    /// Per recording: what to add to its instants, ns.
    pub(crate) shifts: Vec<u64>,
    /// Per recording: when its first measured phase begins, and when all of them have ended.
    pub(crate) measured_spans: Vec<(u64, u64)>,
    /// Per recording: the client that all of its samples count as; `None` keeps each batch's own.
    pub(crate) clients: Vec<Option<u16>>,
}

impl Plan {
    /// Checks that the inputs belong together, and puts the earliest epoch at zero.
    pub(crate) fn new(inputs: &[Input]) -> Result<Plan, AnalysisError> {
        let Some((first, others)) = inputs.split_first() else { return Err(AnalysisError::Nothing) };
        let earliest = inputs.iter().map(|i| i.info.header.epoch_wall_ns).min().unwrap_or(0);
        let shifts: Vec<u64> = inputs.iter().map(|i| i.info.header.epoch_wall_ns - earliest).collect();
        for (other, shift) in others.iter().zip(&shifts[1..]) {
            same_shape(first, other)?;
            overlapping(first, shifts[0], other, *shift)?;
        }
        let header = &first.info.header;
        let (begin, _) = measured_span(first);
        let on_axis = |at: Instant| at.0.saturating_add(shifts[0]);
        let phases = header.phases.iter().map(|p| {
            let measured = p.kind == PhaseKind::Measured;
            let origin = on_axis(if measured { begin } else { p.begin });
            PlannedPhase { measured, origin }
        });
        let mut ids: Vec<u16> = inputs.iter().map(|i| i.info.header.client).collect();
        ids.sort_unstable();
        ids.dedup();
        let clash = ids.len() < inputs.len();
        let client = |index: usize, input: &Input| match clash {
            true => Some(index as u16),
            false if inputs.len() > 1 => Some(input.info.header.client),
            false => None,
        };
        let span = |(input, shift): (&Input, &u64)| {
            let (begin, end) = measured_span(input);
            (begin.0.saturating_add(*shift), end.0.saturating_add(*shift))
        };
        Ok(Plan {
            measured_spans: inputs.iter().zip(&shifts).map(span).collect(),
            model: header.load.model,
            operations: header.operations.len(),
            phases: phases.collect(),
            shifts,
            clients: inputs.iter().enumerate().map(|(i, input)| client(i, input)).collect(),
        })
    }

    /// An instant of a recording on the common axis.
    pub(crate) fn on_axis(&self, recording: usize, at: Instant) -> Instant {
        if at.is_some() { Instant(at.0.saturating_add(self.shifts[recording])) } else { at }
    }
}

/// From the first measured phase's begin to the last one's end, on the recording's own axis; the whole of it
/// where nothing is marked as measured.
pub(crate) fn measured_span(input: &Input) -> (Instant, Instant) {
    let phases = &input.info.header.phases;
    let measured = || phases.iter().filter(|p| p.kind == PhaseKind::Measured);
    let begin = measured().map(|p| p.begin).min().unwrap_or(Instant::EPOCH);
    let end = measured().map(|p| p.end).filter(|e| e.is_some()).max().unwrap_or(begin);
    (begin, end.max(begin))
}

fn same_shape(first: &Input, other: &Input) -> Result<(), AnalysisError> {
    let (a, b) = (&first.info.header, &other.info.header);
    if a.load.model != b.load.model {
        return Err(AnalysisError::Models {
            first: first.info.name.clone(),
            first_model: a.load.model.name(),
            second: other.info.name.clone(),
            second_model: b.load.model.name(),
        });
    }
    let phases = |h: &record::RunHeader| -> Vec<(PhaseKind, String)> {
        h.phases.iter().map(|p| (p.kind, p.name.clone())).collect()
    };
    let what = match (a.operations == b.operations, phases(a) == phases(b)) {
        (true, true) => return Ok(()),
        (false, _) => "operations",
        (true, false) => "phases",
    };
    Err(AnalysisError::Shapes { first: first.info.name.clone(), second: other.info.name.clone(), what })
}

fn overlapping(first: &Input, shift: u64, other: &Input, other_shift: u64) -> Result<(), AnalysisError> {
    let on_axis = |input: &Input, shift: u64| {
        let (begin, end) = measured_span(input);
        (begin.0.saturating_add(shift), end.0.saturating_add(shift))
    };
    let (a, b) = (on_axis(first, shift), on_axis(other, other_shift));
    let gap = a.0.max(b.0).saturating_sub(a.1.min(b.1));
    if gap == 0 {
        return Ok(());
    }
    Err(AnalysisError::Apart {
        first: first.info.name.clone(),
        second: other.info.name.clone(),
        gap: units::format_nanos(Nanos(gap)),
    })
}
