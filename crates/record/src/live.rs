//! What a live view shows while the run goes on; results come from the recording alone.

use crate::{LoadModel, Measure, Sample};
use std::sync::{Mutex, PoisonError};
use units::{Instant, Nanos, Outcome, OutcomeClass, PerSecond};

/// The state of the run as of the last update (four times a second).
#[derive(Clone, PartialEq, Debug)]
pub struct LiveSnapshot {
    /// The newest completion seen; the epoch before there is any.
    pub newest: Instant,
    /// Samples so far, any outcome.
    pub samples: u64,
    /// Requests that the schedule has handed out so far: the highest number seen, plus one.
    pub offered: u64,
    /// Requests completed so far, any outcome but unfinished.
    pub completed: u64,
    /// Completed per second, over the last second.
    pub achieved: PerSecond,
    /// What the quantiles are of: response time, or service time where the load model has no response time.
    pub measure: Measure,
    /// Over the last second, rounded to ± 1.6 %; `None` while nothing completed.
    pub p50: Option<Nanos>,
    /// As `p50`.
    pub p99: Option<Nanos>,
    /// As `p50`.
    pub p999: Option<Nanos>,
    /// Over the last second, exact.
    pub max: Option<Nanos>,
    /// Errors so far.
    pub errors: u64,
    /// Timeouts so far.
    pub timeouts: u64,
    /// Misses so far.
    pub misses: u64,
    /// Aborts so far.
    pub aborts: u64,
    /// Samples that found their ring full, so far.
    pub dropped: u64,
    /// Samples that the disk did not take, so far.
    pub unwritable: u64,
}

/// Where the recorder puts snapshots and a live view takes them; a lock that no worker ever touches.
#[derive(Debug)]
pub struct Live {
    latest: Mutex<LiveSnapshot>,
}

impl Live {
    pub(crate) fn new(measure: Measure) -> Live {
        Live { latest: Mutex::new(LiveSnapshot::empty(measure)) }
    }

    /// The latest snapshot.
    pub fn snapshot(&self) -> LiveSnapshot {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn publish(&self, snapshot: LiveSnapshot) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}

impl LiveSnapshot {
    fn empty(measure: Measure) -> LiveSnapshot {
        LiveSnapshot {
            newest: Instant::EPOCH,
            samples: 0,
            offered: 0,
            completed: 0,
            achieved: PerSecond::of(0, Nanos::ZERO),
            measure,
            p50: None,
            p99: None,
            p999: None,
            max: None,
            errors: 0,
            timeouts: 0,
            misses: 0,
            aborts: 0,
            dropped: 0,
            unwritable: 0,
        }
    }
}

/// Slices of the last second.
const SLICES: usize = 4;
/// Buckets per octave: a value lies within ± 1/64 of its bucket's middle.
const PER_OCTAVE_BITS: u32 = 5;
const BUCKETS: usize = ((64 - PER_OCTAVE_BITS as usize) + 1) << PER_OCTAVE_BITS;

/// A log-linear histogram over a slice of time; fixed size, no allocation after the start.
struct Slice {
    buckets: Box<[u32]>,
    values: u64,
    completed: u64,
    max: Option<u64>,
}

impl Slice {
    fn new() -> Slice {
        Slice { buckets: vec![0; BUCKETS].into(), values: 0, completed: 0, max: None }
    }

    fn clear(&mut self) {
        self.buckets.fill(0);
        (self.values, self.completed, self.max) = (0, 0, None);
    }

    fn add(&mut self, value: u64) {
        self.buckets[bucket(value)] += 1;
        self.values += 1;
        self.max = self.max.max(Some(value));
    }
}

fn bucket(value: u64) -> usize {
    let octave = (63 - (value | 1).leading_zeros()).saturating_sub(PER_OCTAVE_BITS);
    // Below 2^(bits+1) buckets are one unit wide; above, `octave` says how many low bits are dropped.
    ((octave as usize) << PER_OCTAVE_BITS) + (value >> octave) as usize
}

fn middle(bucket: usize) -> u64 {
    let per_octave = 1usize << PER_OCTAVE_BITS;
    let octave = (bucket >> PER_OCTAVE_BITS).saturating_sub(1) as u32;
    let mantissa = (bucket - ((octave as usize) * per_octave)) as u64;
    (mantissa << octave) + ((1u64 << octave) >> 1)
}

/// Counts on the recorder's thread; one per recorder.
pub(crate) struct LiveCounts {
    model: LoadModel,
    slices: [Slice; SLICES],
    current: usize,
    filled: usize,
    totals: LiveSnapshot,
}

impl LiveCounts {
    pub(crate) fn new(model: LoadModel) -> LiveCounts {
        LiveCounts {
            model,
            slices: std::array::from_fn(|_| Slice::new()),
            current: 0,
            filled: 0,
            totals: LiveSnapshot::empty(live_measure(model)),
        }
    }

    /// ≈ 5 ns.
    pub(crate) fn add(&mut self, sample: &Sample) {
        let totals = &mut self.totals;
        totals.samples += 1;
        totals.offered = totals.offered.max(sample.seq.saturating_add(1));
        if sample.completed.is_some() {
            totals.newest = totals.newest.max(sample.completed);
        }
        match sample.outcome.class() {
            OutcomeClass::Error => totals.errors += 1,
            OutcomeClass::Timeout => totals.timeouts += 1,
            OutcomeClass::Miss => totals.misses += 1,
            OutcomeClass::Abort => totals.aborts += 1,
            OutcomeClass::Ok | OutcomeClass::Unfinished => {}
        }
        if sample.outcome == Outcome::Unfinished {
            return;
        }
        totals.completed += 1;
        let slice = &mut self.slices[self.current];
        slice.completed += 1;
        if let Some(value) = sample.measure(totals.measure, self.model) {
            slice.add(value.0);
        }
    }

    /// Closes the current slice, which lasted `slice_length`, and gives the view over the last four.
    pub(crate) fn turn(&mut self, slice_length: Nanos, dropped: u64, unwritable: u64) -> LiveSnapshot {
        self.filled = (self.filled + 1).min(SLICES);
        let covered = Nanos(slice_length.0.saturating_mul(self.filled as u64));
        let completed = self.slices.iter().map(|s| s.completed).sum();
        let snapshot = LiveSnapshot {
            achieved: PerSecond::of(completed, covered),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.slices.iter().filter_map(|s| s.max).max().map(Nanos),
            dropped,
            unwritable,
            ..self.totals.clone()
        };
        self.current = (self.current + 1) % SLICES;
        self.slices[self.current].clear();
        snapshot
    }

    fn quantile(&self, quantile: f64) -> Option<Nanos> {
        let values: u64 = self.slices.iter().map(|s| s.values).sum();
        let rank = ((values as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0u64;
        (0..BUCKETS).find_map(|b| {
            seen += self.slices.iter().map(|s| u64::from(s.buckets[b])).sum::<u64>();
            (values > 0 && seen >= rank).then(|| Nanos(middle(b)))
        })
    }
}

/// What a live view shows for this load model.
pub(crate) fn live_measure(model: LoadModel) -> Measure {
    if model.has_response_time() { Measure::Response } else { Measure::Service }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(seq: u64, response: u64, outcome: Outcome) -> Sample {
        Sample {
            intended: Instant(1_000),
            ready: Instant(1_000),
            sent: Instant(1_100),
            arrived: Instant::NONE,
            completed: Instant(1_000 + response),
            seq,
            client: 0,
            session: 0,
            op: 0,
            phase: 0,
            outcome,
            retries: 0,
            flags: 0,
        }
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_own_middle_and_is_narrow(value in 0u64..) {
            let b = bucket(value);
            prop_assert!(b < BUCKETS);
            prop_assert_eq!(bucket(middle(b)), b);
            prop_assert!(middle(b).abs_diff(value) <= value / 32);
        }
    }

    #[test]
    fn quantiles_are_of_the_last_four_slices() {
        let mut counts = LiveCounts::new(LoadModel::Open);
        let quarter = Nanos::from_millis(250);
        counts.add(&sample(0, 5_000_000, Outcome::Ok));
        assert_eq!(counts.turn(quarter, 0, 0).max, Some(Nanos(5_000_000)));
        for turn in 0..4u64 {
            for n in 0..250 {
                let response = 1_000 * (n + 1);
                counts.add(&sample(1 + turn * 250 + n, response, Outcome::Ok));
            }
            counts.turn(quarter, 0, 0);
        }
        counts.add(&sample(2_000, 1, Outcome::Timeout));
        counts.add(&sample(2_001, 1, Outcome::Unfinished));
        let view = counts.turn(quarter, 3, 4);
        assert_eq!((view.offered, view.samples, view.completed), (2_002, 1_003, 1_002));
        assert_eq!((view.timeouts, view.dropped, view.unwritable), (1, 3, 4));
        assert_eq!(view.max, Some(Nanos(250_000)));
        let p50 = view.p50.map_or(0, |n| n.0);
        assert!(p50.abs_diff(125_000) < 125_000 / 30, "{p50}");
        assert!((view.achieved.get() - 751.0).abs() < 1e-9, "{}", view.achieved);
    }

    #[test]
    fn a_closed_loop_shows_service_times() {
        let mut counts = LiveCounts::new(LoadModel::Closed);
        counts.add(&sample(0, 600, Outcome::Ok));
        let view = counts.turn(Nanos::from_millis(250), 0, 0);
        assert_eq!((view.measure, view.max), (Measure::Service, Some(Nanos(500))));
    }
}
