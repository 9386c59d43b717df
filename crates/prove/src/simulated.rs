//! Truetail's own harness through the scenarios, on the simulated clock.
//!
//! What is graded is all that stands between the schedule and a printed number: the live session loop (its clock and its
//! server are simulated, see [`load::simulate`]), the samples that it makes, and their analysis. The server keeps the
//! very timing model that `truetail store` keeps over the network.

use crate::grade::{Grade, Limits, stated};
use crate::scenario::{self, Scenario, Size};
use crate::truth;
use crate::{Clock, Figures, ScenarioResult, Statistic};
use analysis::{Input, Options, RecordingInfo, analyse_batches};
use load::simulate::simulate;
use load::{LoadSpec, SpecError};
use record::{
    HostFacts, LoadFacts, Measure, PhaseFacts, PhaseKind, Provenance, RawSample, RunHeader, Sample,
    SampleBatch,
};
use store::SimulatedServer;
use units::{Instant, Outcome, Ticks};
use workload::noop::{Mode, NoOp};

/// Every scenario in its simulated size; all of them within a few seconds.
///
/// # Errors
/// See [`run`].
pub fn all() -> Result<Vec<ScenarioResult>, SpecError> {
    scenario::all(Size::Simulated).into_iter().map(run).collect()
}

/// One scenario, as truetail measures it: an open loop.
///
/// # Errors
/// When the scenario is no load that can be made.
pub fn run(scenario: Scenario) -> Result<ScenarioResult, SpecError> {
    let spec = scenario.load();
    let samples = samples(&scenario, &spec)?;
    Ok(graded(scenario, &spec, &samples))
}

/// What the session loop makes of the scenario under a load.
///
/// # Errors
/// When `spec` is no load that can be made.
pub fn samples(scenario: &Scenario, spec: &LoadSpec) -> Result<Vec<RawSample>, SpecError> {
    let model = scenario.timing.model();
    let server = SimulatedServer::new(&model, scenario.seed);
    simulate(spec, &NoOp::new(Mode::Ping), Box::new(server))
}

/// Grades samples that a load made of the scenario.
pub fn graded(scenario: Scenario, spec: &LoadSpec, samples: &[RawSample]) -> ScenarioResult {
    let truth = truth::truth(&scenario);
    let (response, service) = measured(&scenario, spec, samples);
    let grade = Grade::new(&truth, &response, &service, Limits::Simulated);
    let timeline = crate::Timeline::new(&scenario, samples);
    ScenarioResult { scenario, clock: Clock::Simulated, truth, response, service, grade, timeline }
}

/// Response and service time as truetail's analysis states them.
fn measured(scenario: &Scenario, spec: &LoadSpec, samples: &[RawSample]) -> (Figures, Figures) {
    let batches: Vec<SampleBatch> = samples.chunks(10_000).map(batch).collect();
    let quantiles = Statistic::ALL.iter().filter(|s| **s != Statistic::Max).filter_map(|s| s.quantile());
    let options = Options { quantiles: quantiles.collect(), threads: 1, ..Options::default() };
    let analysis = analyse_batches(vec![input(scenario, spec)], batches.iter().map(|b| (0, b)), &options);
    match analysis {
        Ok(analysis) => {
            (stated(&analysis.total, Measure::Response), stated(&analysis.total, Measure::Service))
        }
        // One input is always a run; were it not, nothing was measured, and the grade says so.
        Err(_) => (Figures::default(), Figures::default()),
    }
}

fn batch(samples: &[RawSample]) -> SampleBatch {
    let mut batch = SampleBatch::default();
    samples.iter().filter_map(sample).for_each(|sample| batch.push(&sample));
    batch
}

/// A tick of the simulated clock is a nanosecond, and its epoch is the load's start.
fn sample(raw: &RawSample) -> Option<Sample> {
    let at = |ticks: Ticks| if ticks.is_some() { Instant(ticks.0) } else { Instant::NONE };
    Some(Sample {
        intended: at(raw.intended),
        ready: at(raw.ready),
        sent: at(raw.sent),
        arrived: Instant::NONE,
        completed: at(raw.completed),
        seq: raw.seq,
        client: 0,
        session: raw.session,
        op: raw.op,
        phase: raw.phase,
        outcome: Outcome::from_code(raw.outcome)?,
        retries: raw.retries,
        flags: raw.flags,
    })
}

/// A header as a run would write it.
fn input(scenario: &Scenario, spec: &LoadSpec) -> Input {
    let phases = spec.phases.iter().map(|phase| PhaseFacts {
        name: phase.name.clone(),
        kind: PhaseKind::Measured,
        begin: Instant::EPOCH,
        end: Instant::EPOCH + phase.duration,
        offered: phase.rate,
        sessions: spec.sessions,
        mix: spec.mix.clone(),
    });
    let header = RunHeader {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "truetail prove".to_owned(),
        client: 0,
        epoch_wall_ns: 0,
        provenance: Provenance::Simulated,
        load: LoadFacts {
            model: spec.model.load_model(),
            arrivals: spec.model.describe(),
            sessions: spec.sessions,
            workers: spec.workers,
            timeout: spec.timeout,
            pacing: "simulated".to_owned(),
            seed: spec.seed.0,
        },
        phases: phases.collect(),
        operations: spec.operations.clone(),
        statements: None,
        workload: "noop".to_owned(),
        workload_facts: Vec::new(),
        target: format!("store: {}", scenario.name),
        target_facts: Vec::new(),
        host: HostFacts::default(),
        clock_facts: Vec::new(),
        capabilities: Vec::new(),
        config: String::new(),
    };
    let name = scenario.name.to_owned();
    let info = RecordingInfo { name, header, complete: true, unreadable: Vec::new(), dropped: 0 };
    Input {
        info,
        ending: Some(record::Ending::Completed),
        unwritable: 0,
        facts: Vec::new(),
        events: Vec::new(),
        repeated: Vec::new(),
        jvm_logs: Vec::new(),
        server_logs: Vec::new(),
        noise_sources: Vec::new(),
        noise: Vec::new(),
        stated: Vec::new(),
    }
}
