//! A second node joins while the load goes on: how long until response times are stable?
//!
//! One node serves μ₁. At some moment a second one begins to join: while data is streamed to it the first loses a part of
//! its capacity, afterwards both together serve μ₂. When less than the offered rate λ is left during the streaming, a
//! queue grows, and the joining node is of use only when that has drained.
//!
//! Closed form (fluid): streaming takes S and leaves a capacity of μ′ < λ. The queue is (λ − μ′)S at its end, and is gone
//! (λ − μ′)S/(μ₂ − λ) later. So response times are stable after **S·(1 + (λ − μ′)/(μ₂ − λ))**, provided μ₂ > λ.

use crate::Timeline;
use crate::scenario::{Scenario, Service, Timing};
use load::arrivals::Process;
use load::simulate::simulate;
use load::{LoadSpec, SpecError};
use record::RawSample;
use stats::{Recovery, Settled, Settling, recovery};
use store::{Join, SimulatedServer};
use units::{Instant, Nanos, PerSecond, Seed};
use workload::noop::{Mode, NoOp};

/// How far from the closed form the time to stable response times may be found: the width of a window.
pub const NEAR: Nanos = Nanos::from_secs(1);

/// What happens.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Elasticity {
    /// Offered rate λ.
    pub rate: PerSecond,
    /// How long it is offered.
    pub duration: Nanos,
    /// Capacity μ₁ of one node.
    pub before: PerSecond,
    /// When the second begins to join.
    pub at: Nanos,
    /// How long data is streamed to it.
    pub streaming: Nanos,
    /// How much of μ₁ is lost meanwhile, per cent, in [0, 100].
    pub dip_percent: f64,
    /// Capacity μ₂ of both.
    pub after: PerSecond,
}

impl Default for Elasticity {
    /// The shape of the slides' experiment (a node at a third of the run, which serves after as long again), in four
    /// minutes instead of a quarter of an hour: 1,000/s; 1,100/s, 880/s while streaming, 2,000/s.
    fn default() -> Elasticity {
        let per_second = |count| PerSecond::of(count, Nanos::from_secs(1));
        Elasticity {
            rate: per_second(1_000),
            duration: Nanos::from_secs(240),
            before: per_second(1_100),
            at: Nanos::from_secs(60),
            streaming: Nanos::from_secs(60),
            dip_percent: 20.0,
            after: per_second(2_000),
        }
    }
}

impl Elasticity {
    /// The capacity that is left while data is streamed, per second.
    pub fn during(&self) -> f64 {
        self.before.get() * (1.0 - self.dip_percent / 100.0)
    }

    /// The closed form of the time to stable response times, s. `None`: never, or the one node can't serve the load
    /// before, and what follows depends on when it began.
    pub fn expected_seconds(&self) -> Option<f64> {
        let (rate, after) = (self.rate.get(), self.after.get());
        let missing = (rate - self.during()).max(0.0);
        (after > rate && self.before.get() > rate).then(|| {
            if missing > 0.0 { self.streaming.as_secs_f64() * (1.0 + missing / (after - rate)) } else { 0.0 }
        })
    }

    fn scenario(&self) -> Scenario {
        Scenario {
            name: "elasticity",
            asks: "A second node joins: how long until response times are stable?",
            rate: self.rate,
            arrivals: Process::Constant,
            sessions: 64,
            duration: self.duration,
            timing: Timing {
                capacity: Some(self.before),
                servers: None,
                service: Service::Constant(Nanos::from_micros(200)),
                hiccups: None,
                delay: Nanos::ZERO,
            },
            seed: Seed(2017),
        }
    }

    /// The store's settings.
    pub fn model(&self) -> store::Model {
        let Elasticity { at, streaming, dip_percent, after, .. } = *self;
        let join = Some(Join { at, streaming, dip_percent, then: after });
        store::Model { join, ..self.scenario().timing.model() }
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct ElasticityResult {
    /// What happened.
    pub elasticity: Elasticity,
    /// What the response times show.
    pub recovery: Recovery,
    /// The run over time.
    pub timeline: Timeline,
}

impl ElasticityResult {
    /// Whether response times are stable within [`NEAR`] of the closed form; where that says never, whether they are
    /// found not to be.
    pub fn passed(&self) -> bool {
        match (self.recovery.settled, self.elasticity.expected_seconds()) {
            (Settled::After(found), Some(expected)) => {
                (found.as_secs_f64() - expected).abs() <= NEAR.as_secs_f64()
            }
            (Settled::NotReached, None) => true,
            _ => false,
        }
    }
}

/// Runs it on the simulated clock.
///
/// # Errors
/// One line: the setting that makes no load or no store.
pub fn run(elasticity: Elasticity) -> Result<ElasticityResult, SpecError> {
    let scenario = elasticity.scenario();
    let samples = samples(&elasticity, &scenario.load())?;
    let times =
        samples.iter().map(|s| (Instant(s.intended.0), Nanos(s.completed.0.saturating_sub(s.intended.0))));
    let on_axis = |at: Nanos| Instant::EPOCH + at;
    let recovery = recovery(times, on_axis(elasticity.at), on_axis(elasticity.duration), &Settling::new());
    Ok(ElasticityResult { elasticity, recovery, timeline: Timeline::new(&scenario, &samples) })
}

fn samples(elasticity: &Elasticity, spec: &LoadSpec) -> Result<Vec<RawSample>, SpecError> {
    let model = elasticity.model();
    model.check().map_err(SpecError)?;
    simulate(spec, &NoOp::new(Mode::Ping), Box::new(SimulatedServer::new(&model, spec.seed)))
}
