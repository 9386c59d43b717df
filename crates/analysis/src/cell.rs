//! The smallest set of samples that is counted apart: one client, one operation, one phase.

use crate::Counts;
use record::Measure;
use stats::Distribution;
use units::{Instant, Nanos, Outcome};

/// Times of one request, ns on the common axis; `u64::MAX` where something does not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// When it was intended (sent, in a closed loop).
    pub(crate) at: u64,
    pub(crate) completed: u64,
    /// In the order of `Measure::ALL`.
    pub(crate) values: [u64; 5],
    pub(crate) seq: u64,
    pub(crate) client: u16,
    pub(crate) op: u8,
    pub(crate) outcome: Outcome,
    /// Whether it was ever sent.
    pub(crate) was_sent: bool,
    /// Whether its stamp may be later than its arrival: then its pick-up is a lower bound.
    pub(crate) late_stamp: bool,
}

/// Does not exist.
pub(crate) const NONE: u64 = u64::MAX;

impl Times {
    pub(crate) fn response(&self) -> u64 {
        self.values[0]
    }

    pub(crate) fn service(&self) -> u64 {
        self.values[1]
    }

    /// When it was sent; `None` where that is not known.
    pub(crate) fn sent(&self) -> Option<u64> {
        (self.service() != NONE).then(|| self.completed.saturating_sub(self.service()))
    }

    pub(crate) fn pool_wait(&self) -> u64 {
        self.values[2]
    }

    pub(crate) fn lag(&self) -> u64 {
        self.values[3]
    }

    pub(crate) fn pick_up(&self) -> u64 {
        self.values[4]
    }

    /// The measure that the whole request is judged by: response time, or service time in a closed loop.
    pub(crate) fn whole(&self, has_response: bool) -> u64 {
        if has_response { self.response() } else { self.service() }
    }
}

/// Counts and distributions of a set of samples.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    outcomes: [u64; Outcome::ALL.len()],
    retries: u64,
    retried: u64,
    gave_up: u64,
    /// In the order of `Measure::ALL`.
    pub(crate) measures: [Distribution; 5],
}

impl Cell {
    pub(crate) fn new(origin: u64) -> Cell {
        let empty = || Distribution::new(Instant(origin));
        Cell {
            outcomes: [0; Outcome::ALL.len()],
            retries: 0,
            retried: 0,
            gave_up: 0,
            measures: [empty(), empty(), empty(), empty(), empty()],
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, outcome: Outcome, retries: u8) {
        self.outcomes[usize::from(outcome.code())] += 1;
        if retries > 0 {
            self.retries += u64::from(retries);
            self.retried += 1;
            self.gave_up += u64::from(!matches!(outcome, Outcome::Ok | Outcome::Miss | Outcome::Abort));
        }
    }

    /// Records one of the measures, by its index in `Measure::ALL`, if the request has it.
    #[inline]
    pub(crate) fn record(&mut self, measure: usize, times: &Times) {
        let value = times.values[measure];
        if value == NONE {
            return;
        }
        // A pool wait is cut only when no session ever came; lag never is.
        let given_up = times.outcome.is_censored();
        let cut = match Measure::ALL[measure] {
            Measure::Response | Measure::Service => given_up,
            Measure::PoolWait => given_up && !times.was_sent,
            Measure::Lag => false,
            Measure::PickUp => times.late_stamp,
        };
        let distribution = &mut self.measures[measure];
        if cut {
            distribution.record_censored(Instant(times.at), Nanos(value));
        } else {
            distribution.record(Instant(times.at), Nanos(value));
        }
    }

    pub(crate) fn merge(&mut self, other: &Cell) {
        self.outcomes.iter_mut().zip(&other.outcomes).for_each(|(a, b)| *a += b);
        self.retries += other.retries;
        self.retried += other.retried;
        self.gave_up += other.gave_up;
        self.measures.iter_mut().zip(&other.measures).for_each(|(a, b)| a.merge(b));
    }

    pub(crate) fn measure(&self, measure: Measure) -> &Distribution {
        let index = Measure::ALL.iter().position(|m| *m == measure).unwrap_or(0);
        &self.measures[index]
    }

    pub(crate) fn counts(&self) -> Counts {
        let seen = Outcome::ALL.iter().zip(self.outcomes).filter(|(_, n)| *n > 0);
        Counts {
            total: self.outcomes.iter().sum(),
            outcomes: seen.map(|(o, n)| (*o, n)).collect(),
            retries: self.retries,
            retried: self.retried,
            gave_up: self.gave_up,
        }
    }
}
