//! The load as a sequence: what request *n* is and when it is due.
//!
//! A pure function of the specification and the seed. Nothing here knows of threads, sessions or clocks;
//! that is why the same seed gives the same load whatever the number of workers.

use crate::arrivals::Arrivals;
use crate::spec::{LONGEST_VISIT, LoadSpec, Model, SpecError};
use std::sync::Mutex;
use units::{Nanos, Seed};
use workload::{OpId, Tickets};

/// One request of the sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Offset of its intended start from the load's start. `None` in closed loops, and for the second and
    /// later requests of a visit, which follow a completion.
    pub intended: Option<Nanos>,
    /// What to do.
    pub op: OpId,
    /// The workload's ticket.
    pub ticket: u64,
    /// Index of its phase; 0 in closed loops whose phases all have the same mix.
    pub phase: u8,
    /// How many requests of the same visit follow; 0 but in partly open loads.
    pub follow: u16,
}

/// Makes the sequence, one request at a time.
pub struct Sequencer {
    arrivals: Option<Arrivals>,
    /// Geometric visits: probability of stopping after each request; `None` where there are no visits.
    stop_probability: Option<f64>,
    mixes: Vec<Mix>,
    /// Ends of the phases as offsets from the load's start.
    ends: Vec<Nanos>,
    tickets: Box<dyn Tickets>,
    mix_seed: Seed,
    visit_seed: Seed,
    limit: u64,
    seq: u64,
    /// The rest of the current visit: (requests still to come, phase).
    visit: (u16, u8),
}

/// Cumulative weights, normalised to end at 1.
#[derive(PartialEq)]
struct Mix {
    cumulative: Vec<f64>,
}

impl Mix {
    fn new(weights: &[f64]) -> Mix {
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let cumulative = weights
            .iter()
            .map(|w| {
                sum += w;
                sum / total
            })
            .collect();
        Mix { cumulative }
    }

    fn pick(&self, u: f64) -> OpId {
        let index = self.cumulative.iter().position(|&c| u < c);
        // Rounding can leave the last cumulative weight a hair below 1: then the last operation that has a
        // share of its own is meant.
        let last = || self.cumulative.iter().rposition(|&c| c > 0.0).unwrap_or(0);
        OpId(index.unwrap_or_else(last) as u8)
    }
}

impl Sequencer {
    /// The sequence of `spec`, with the workload's sequential state.
    ///
    /// # Errors
    /// See [`LoadSpec::check`].
    pub fn new(spec: &LoadSpec, tickets: Box<dyn Tickets>) -> Result<Sequencer, SpecError> {
        spec.check()?;
        let process = match &spec.model {
            Model::Open { process } | Model::PartlyOpen { process, .. } => Some(process.clone()),
            Model::Closed { .. } | Model::ThrottledClosed | Model::Terminals => None,
        };
        let profile = spec.profile();
        let arrivals =
            process.zip(profile).map(|(process, profile)| Arrivals::new(process, profile, spec.seed));
        let stop_probability = match &spec.model {
            Model::PartlyOpen { visit, .. } => Some(1.0 / visit.mean_requests),
            _ => None,
        };
        let mut end = Nanos::ZERO;
        let mut ends = Vec::with_capacity(spec.phases.len());
        let mut mixes = Vec::with_capacity(spec.phases.len());
        for phase in &spec.phases {
            end = end + phase.duration;
            ends.push(end);
            mixes.push(Mix::new(&spec.phase_mix(phase)?));
        }
        Ok(Sequencer {
            arrivals,
            stop_probability,
            mixes,
            ends,
            tickets,
            mix_seed: spec.seed.derive("mix"),
            visit_seed: spec.seed.derive("visits"),
            limit: spec.requests.unwrap_or(u64::MAX),
            seq: 0,
            visit: (0, 0),
        })
    }

    /// Requests made so far: the number of the next one.
    pub fn position(&self) -> u64 {
        self.seq
    }

    /// The next request; `None` when the schedule or the request limit has ended. A closed loop's sequence
    /// ends with the limit alone: its end in time is the clock's business.
    pub fn next_request(&mut self) -> Option<Planned> {
        if self.seq >= self.limit {
            return None;
        }
        let (intended, phase, follow) = if self.visit.0 > 0 {
            self.visit.0 -= 1;
            (None, self.visit.1, self.visit.0)
        } else if let Some(arrivals) = &mut self.arrivals {
            let at = arrivals.next_start()?;
            let phase = self.ends.partition_point(|&end| end <= at).min(self.ends.len() - 1) as u8;
            let follow = self.draw_visit();
            self.visit = (follow, phase);
            (Some(at), phase, follow)
        } else {
            (None, 0, 0)
        };
        Some(self.make(intended, phase, follow))
    }

    /// The sequence of a closed loop whose phases have different mixes; `None` for other loads.
    ///
    /// In which phase such a request is sent is known when a session claims it and not before. So it is made
    /// then, under a lock, and request *n* is a function of the seed, *n*, and the numbers at which the phases
    /// changed.
    pub(crate) fn made_when_claimed(
        spec: &LoadSpec,
        tickets: Box<dyn Tickets>,
    ) -> Result<Option<Mutex<Sequencer>>, SpecError> {
        let sequencer = Sequencer::new(spec, tickets)?;
        let closed = matches!(spec.model, Model::Closed { .. } | Model::ThrottledClosed);
        let differ = sequencer.mixes.windows(2).any(|pair| pair[0] != pair[1]);
        Ok((closed && differ).then(|| Mutex::new(sequencer)))
    }

    /// The next request, of a closed loop in this phase; `None` when the request limit has ended.
    pub(crate) fn next_request_in(&mut self, phase: u8) -> Option<Planned> {
        (self.seq < self.limit).then(|| self.make(None, phase, 0))
    }

    fn make(&mut self, intended: Option<Nanos>, phase: u8, follow: u16) -> Planned {
        let u = self.mix_seed.at(self.seq).unit();
        let op = self.mixes[usize::from(phase)].pick(u);
        let ticket = self.tickets.next(self.seq, op);
        self.seq += 1;
        Planned { intended, op, ticket, phase, follow }
    }

    /// Further requests of the visit that begins with the next one.
    fn draw_visit(&self) -> u16 {
        let Some(stop) = self.stop_probability else { return 0 };
        if stop >= 1.0 {
            return 0;
        }
        let u = self.visit_seed.at(self.seq).unit_positive();
        let further = (u.ln() / (1.0 - stop).ln()).floor();
        let rest = self.limit - self.seq - 1;
        (further as u64).min(LONGEST_VISIT - 1).min(rest) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Process;
    use crate::doubles::plain;
    use crate::spec::{Think, UserVisit};
    use workload::NoTickets;

    fn spec(model: Model, phases: &str) -> LoadSpec {
        LoadSpec {
            operations: vec!["A".into(), "B".into()],
            mix: vec![3.0, 1.0],
            sessions: 4,
            seed: Seed(7),
            ..plain(model, phases)
        }
    }

    fn all(spec: &LoadSpec) -> Vec<Planned> {
        let mut sequencer = Sequencer::new(spec, Box::new(NoTickets)).unwrap();
        std::iter::from_fn(|| sequencer.next_request()).collect()
    }

    #[test]
    fn phases_change_rate_and_mix() {
        let spec = spec(Model::Open { process: Process::Poisson }, "10s@1000/s, 10s@100/s mix=B=1");
        let sequence = all(&spec);
        let (first, second): (Vec<Planned>, Vec<Planned>) = sequence.into_iter().partition(|p| p.phase == 0);
        // Five standard errors of a Poisson count.
        assert!((first.len() as f64 - 10_000.0).abs() < 5.0 * 100.0);
        assert!((second.len() as f64 - 1_000.0).abs() < 5.0 * 32.0);
        assert!(second.iter().all(|p| p.op == OpId(1)));
        let share = first.iter().filter(|p| p.op == OpId(0)).count() as f64 / first.len() as f64;
        assert!((share - 0.75).abs() < 5.0 * (0.75f64 * 0.25 / 10_000.0).sqrt(), "{share}");
    }

    #[test]
    fn visits_are_geometric() {
        let visit = UserVisit { mean_requests: 4.0, think: Think::None };
        let sequence = all(&spec(Model::PartlyOpen { process: Process::Poisson, visit }, "100s@100/s"));
        let users = sequence.iter().filter(|p| p.intended.is_some()).count() as f64;
        let mean = sequence.len() as f64 / users;
        // Standard deviation of a geometric count with mean 4 is sqrt(12).
        assert!((mean - 4.0).abs() < 5.0 * (12.0 / users).sqrt(), "{mean}");
        for pair in sequence.windows(2) {
            assert_eq!(pair[1].intended.is_none(), pair[0].follow > 0);
        }
    }

    #[test]
    fn the_request_limit_also_cuts_a_visit() {
        let visit = UserVisit { mean_requests: 50.0, think: Think::None };
        let mut spec = spec(Model::PartlyOpen { process: Process::Constant, visit }, "10s@1/s");
        spec.requests = Some(7);
        let sequence = all(&spec);
        assert_eq!(sequence.len(), 7);
        assert_eq!(sequence[6].follow, 0);
    }

    #[test]
    fn a_mix_with_a_zero_weight_never_picks_it() {
        let mix = Mix::new(&[0.0, 1.0, 0.0]);
        assert!([0.0, 0.5, 0.999_999_999_999_999_9].iter().all(|&u| mix.pick(u) == OpId(1)));
    }
}
