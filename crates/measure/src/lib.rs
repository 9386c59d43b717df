//! One call from a target and a workload to a recording.
//!
//! For programs that bring a [`Workload`] of their own in Rust; `docs/own-workloads.md` walks through one. It does what
//! `truetail run` does between its flags and its page: the data set is loaded where it is missing, sessions are connected,
//! observers watch the host, every request is recorded, the data set is verified, and the recording is closed. Judging is
//! left to whoever reads it: `truetail report DIR`.
//!
//! What it leaves out is what only flags ask for: floors, logs of servers, probes of staleness, the time of single statements,
//! a live view.
//!
//! ```no_run
//! # fn example(target: impl driver::Target, workload: impl workload::Workload) -> Result<(), measure::MeasureError> {
//! let spec = measure::open_loop("1s@200/s, 10s@1000/s", 4, &workload.operations())?;
//! let finished = measure::measure(&target, workload, &spec, "recordings/mine".as_ref())?;
//! assert!(finished.end.samples > 0);
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

pub use load::Retry;

mod header;
mod watch;

use clock::{Clock, ClockChoice, LiveClock};
use driver::{Dialect, Execution, Target};
use load::arrivals::Process;
use load::{LoadSpec, LoadTotals, Model, Pacing, Subject};
use record::{
    Consumer, EndOfRun, Ending, EventKind, EventSink, Finished, Producer, Recorder, RecorderConfig,
};
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use units::{Nanos, Seed, Ticks};
use workload::dataset::{DataSet, Loader, Status, check_dataset, status};
use workload::{Operation, Workload};

/// Why a measurement could not be made: one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeasureError(String);

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MeasureError {}

/// An error of another crate, in its words.
fn failed(error: impl fmt::Display) -> MeasureError {
    MeasureError(error.to_string())
}

/// An open loop with Poisson arrivals: phases such as `2s@100/s, 10s@1000/s`, that many sessions, the workload's own mix.
/// All else is a public field of what comes back.
///
/// # Errors
/// Names the phase and the part of it that is wrong.
pub fn open_loop(phases: &str, sessions: u32, operations: &[Operation]) -> Result<LoadSpec, MeasureError> {
    let process = Process::parse("poisson").map_err(failed)?;
    let spec = LoadSpec {
        model: Model::Open { process },
        phases: load::parse_phases(phases).map_err(failed)?,
        operations: operations.iter().map(|operation| operation.name.to_owned()).collect(),
        mix: operations.iter().map(|operation| operation.weight).collect(),
        sessions,
        workers: 1,
        requests: None,
        timeout: None,
        drain: Nanos::from_secs(5),
        retry: Retry::NONE,
        pacing: Pacing::SleepThenSpin,
        cpus: Vec::new(),
        seed: Seed(1),
    };
    spec.check().map_err(failed)?;
    Ok(spec)
}

/// Makes the load that `spec` asks for and records it in `directory`, which must be empty or not be there.
///
/// The data set is loaded where it is missing. When the load is over it is verified; a broken invariant is a fact of the
/// recording, which makes its verdict invalid.
///
/// # Errors
/// [`MeasureError`], before the first request, or when the recording can't be closed.
pub fn measure<T: Target, W: Workload>(
    target: &T,
    mut workload: W,
    spec: &LoadSpec,
    directory: &Path,
) -> Result<Finished, MeasureError> {
    record::require_vacant(directory).map_err(failed)?;
    let statements = workload.statements(target.dialect()).map_err(failed)?;
    let calibration = clock::calibrate(ClockChoice::Auto).map_err(failed)?;
    let facts = prepare(target, &mut workload)?;
    let isolation = workload.isolation(target.dialect());
    let sessions = load::connect_all(target, &statements, isolation, spec.sessions).map_err(failed)?;
    let watching = watch::Watching::plan(spec, target.execution(), &calibration);
    let mut header = header::make(spec, target.execution(), &facts, &workload.facts(), &calibration)?;
    header.capabilities.extend(watching.facts());

    let (producers, consumers) = rings(spec, target.execution());
    let clock = calibration.start();
    let recorder =
        Recorder::start(RecorderConfig::new(directory, header), consumers, clock).map_err(failed)?;
    record::keep_texts(directory, &workload.files()).map_err(failed)?;
    let observer = watching.start(&recorder, clock);
    let journal = Events(recorder.events());
    let subject = Subject { target, sessions, statements: &statements, isolation, workload: &workload };
    let never = AtomicBool::new(false);
    let totals = load::run(subject, spec, clock, producers, &journal, &never).map_err(failed)?;
    let observed = observer.stop();
    set_phase_spans(&recorder, spec, clock, totals);

    let mut end = EndOfRun::new(Ending::Completed);
    end.facts.extend(verified(target, &workload));
    end.facts.push(("requests never sent".to_owned(), totals.never_sent.to_string()));
    let counts = workload.counts().into_iter();
    end.facts.extend(counts.map(|(name, count)| (format!("count: {name}"), count.to_string())));
    end.facts.extend(observed.map(watch::cost));
    recorder.finish(end).map_err(failed)
}

/// Loads the data set where it is missing, and lets the workload look at it.
fn prepare<T: Target, W: Workload>(
    target: &T,
    workload: &mut W,
) -> Result<driver::TargetFacts, MeasureError> {
    let has_data = target.dialect() != Dialect::Null;
    let mut administration = target.administer().map_err(failed)?;
    if let Some(data) = workload.dataset().filter(|_| has_data) {
        match status(administration.as_mut(), data).map_err(failed)? {
            Status::Matching { .. } => {}
            Status::Missing | Status::Incomplete => load_data(target, data)?,
            other => return Err(MeasureError(other.describe(data))),
        }
    }
    if has_data {
        workload.observe(administration.as_mut()).map_err(failed)?;
    }
    administration.facts().map_err(failed)
}

fn load_data<T: Target>(target: &T, data: &dyn DataSet) -> Result<(), MeasureError> {
    let loader = Loader {
        connect: &|| target.administer(),
        dialect: target.dialect(),
        connections: std::thread::available_parallelism().map_or(1, usize::from),
        progress: &|_| (),
    };
    loader.load(data).map(drop).map_err(failed)
}

/// What holds of the data set and what does not; an inability to verify is a broken invariant.
fn verified<T: Target, W: Workload>(target: &T, workload: &W) -> Vec<(String, String)> {
    let asked = |data: &&dyn DataSet| target.dialect() != Dialect::Null && data.check_is_cheap();
    let Some(data) = workload.dataset().filter(asked) else { return Vec::new() };
    let results = target
        .administer()
        .and_then(|mut administration| check_dataset(administration.as_mut(), data, target.dialect()));
    match results {
        Ok(results) => {
            let state = |passed: bool| if passed { "holds" } else { "broken" };
            let fact = |name: &str, words: String| (format!("invariant: {name}"), words);
            results.iter().map(|r| fact(&r.name, format!("{}: {}", state(r.passed), r.detail))).collect()
        }
        Err(error) => {
            vec![("invariant: the data set can be verified".to_owned(), format!("broken: {error}"))]
        }
    }
}

/// Samples that a ring holds: four seconds of a worker at 65,000/s; blocking sessions have smaller ones.
fn rings(spec: &LoadSpec, execution: Execution) -> (Vec<Producer>, Vec<Consumer>) {
    let capacity = match execution {
        Execution::Polled => 1 << 18,
        Execution::Blocking => 1 << 15,
    };
    (0..load::rings_needed(spec, execution)).map(|_| record::ring(capacity)).unzip()
}

struct Events(EventSink);

impl load::Journal for Events {
    fn event(&self, kind: EventKind, begin: Ticks, end: Ticks, subject: String, detail: String) {
        self.0.push(kind, begin, end, subject, detail);
    }
}

/// Tells the recording when each phase really was: one of so many requests ended early.
fn set_phase_spans(recorder: &Recorder, spec: &LoadSpec, clock: LiveClock, totals: LoadTotals) {
    let mut begin = totals.started;
    for (index, phase) in spec.phases.iter().enumerate() {
        let planned = Ticks(begin.0 + clock.ticks_in(phase.duration));
        let ended = Ticks(planned.0.min(totals.ended.0.max(begin.0)));
        recorder.phase_span(index as u8, begin, if spec.requests.is_some() { ended } else { planned });
        begin = planned;
    }
}
