//! Doubles that the tests of this crate share, its unit tests too: a load to begin with, a journal that nobody reads,
//! and those parts of targets, sessions and workloads that no test asks anything of.
#![allow(dead_code, unused_imports, unused_macros, reason = "each test file uses its share")]

mod bare;

pub(crate) use bare::{bare_session, bare_target, numbered_requests};

use clock::LiveClock;
use driver::Target;
use load::{EngineError, Journal, LoadSpec, LoadTotals, Model, Pacing, Subject, parse_phases};
use record::{EventKind, RawSample};
use std::sync::atomic::AtomicBool;
use units::{Nanos, Seed, Ticks};
use workload::noop::{Mode, NoOp};

/// Hears of everything and keeps nothing.
pub struct Silent;

impl Journal for Silent {
    fn event(&self, _: EventKind, _: Ticks, _: Ticks, _: String, _: String) {}
}

/// One session on one worker that sleeps, no limits, one operation. A test says what it changes, and that is what it
/// is about: `LoadSpec { sessions: 4, ..plain(model, "10s@100/s") }`.
pub fn plain(model: Model, phases: &str) -> LoadSpec {
    LoadSpec {
        model,
        phases: parse_phases(phases).expect("phases as on the command line"),
        operations: vec!["NoOp".to_owned()],
        mix: vec![1.0],
        sessions: 1,
        workers: 1,
        requests: None,
        timeout: None,
        drain: Nanos::from_secs(1),
        retry: load::Retry::NONE,
        pacing: Pacing::Sleep,
        cpus: vec![],
        seed: Seed(1),
    }
}

/// Runs pings against `target` to the end, live: what the engine says, and the samples, worker by worker. Up to 2,048
/// of each worker are kept.
pub fn run_pings<T: Target>(
    target: &T,
    spec: &LoadSpec,
    clock: LiveClock,
) -> (Result<LoadTotals, EngineError>, Vec<RawSample>) {
    let workload = NoOp::new(Mode::Ping);
    let sessions = load::connect_all(target, &[], None, spec.sessions).expect("sessions");
    let subject = Subject { target, sessions, statements: &[], isolation: None, workload: &workload };
    let rings = (0..load::rings_needed(spec, target.execution())).map(|_| record::ring(1 << 11));
    let (producers, mut consumers): (Vec<_>, Vec<_>) = rings.unzip();
    let result = load::run(subject, spec, clock, producers, &Silent, &AtomicBool::new(false));
    let mut samples = Vec::new();
    consumers.iter_mut().for_each(|consumer| {
        consumer.drain(|sample| samples.push(*sample));
    });
    (result, samples)
}
