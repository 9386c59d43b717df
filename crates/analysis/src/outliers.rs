//! The requests that a figure draws one by one: the extremes, and a sample of the others.

use crate::cell::Times;
use crate::limits::MOST_POINTS;
use crate::{Extreme, SampledPoint};
use std::cmp::Reverse;
use units::{Instant, Nanos};

/// A request with its place in the order of values; ties go by number, so that threads don't matter.
type Ranked = (u64, u64, u16);

fn ranked(e: &Extreme) -> Ranked {
    (e.value.0, e.seq, e.client)
}

/// The largest and the smallest requests, [`MOST_POINTS`] of each at least.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtremesBuilder {
    largest: Vec<Extreme>,
    smallest: Vec<Extreme>,
    /// Values below can't be among the largest any more.
    floor: u64,
    /// Values above can't be among the smallest any more; stored inverted, so that the default is right.
    ceiling_inverted: u64,
}

impl ExtremesBuilder {
    #[inline]
    pub(crate) fn add(&mut self, times: &Times, value: u64) {
        if value >= self.floor {
            self.largest.push(extreme(times, value));
            if self.largest.len() >= 2 * MOST_POINTS {
                self.prune_largest();
            }
        }
        if value <= !self.ceiling_inverted {
            self.smallest.push(extreme(times, value));
            if self.smallest.len() >= 2 * MOST_POINTS {
                self.prune_smallest();
            }
        }
    }

    #[cold]
    fn prune_largest(&mut self) {
        keep_first(&mut self.largest, |e| Reverse(ranked(e)));
        self.floor = self.largest.iter().map(|e| e.value.0).min().unwrap_or(0);
    }

    #[cold]
    fn prune_smallest(&mut self) {
        keep_first(&mut self.smallest, ranked);
        self.ceiling_inverted = !self.smallest.iter().map(|e| e.value.0).max().unwrap_or(u64::MAX);
    }

    pub(crate) fn merge(&mut self, other: ExtremesBuilder) {
        self.largest.extend(other.largest);
        self.smallest.extend(other.smallest);
        self.prune_largest();
        self.prune_smallest();
    }

    /// The largest request of all.
    pub(crate) fn largest(&self) -> Option<&Extreme> {
        self.largest.iter().max_by_key(|e| ranked(e))
    }

    /// Those beyond the limits, in order of time: all, or the [`MOST_POINTS`] whose logarithms lie farthest out.
    pub(crate) fn beyond(mut self, low: f64, high: f64) -> Vec<Extreme> {
        self.prune_largest();
        self.prune_smallest();
        let mut found: Vec<Extreme> = self.largest.into_iter().filter(|e| e.value.0 as f64 >= high).collect();
        found.extend(self.smallest.into_iter().filter(|e| (e.value.0 as f64) < low));
        let distance = |e: &Extreme| {
            let value = e.value.0.max(1) as f64;
            if value >= high { value / high.max(1.0) } else { low / value }
        };
        found.sort_by(|a, b| distance(b).total_cmp(&distance(a)).then(ranked(a).cmp(&ranked(b))));
        found.truncate(MOST_POINTS);
        found.sort_by_key(|e| (e.at, ranked(e)));
        found
    }
}

fn keep_first<K: Ord>(list: &mut Vec<Extreme>, key: impl Fn(&Extreme) -> K) {
    if list.len() > MOST_POINTS {
        list.select_nth_unstable_by_key(MOST_POINTS - 1, &key);
        list.truncate(MOST_POINTS);
    }
}

fn extreme(times: &Times, value: u64) -> Extreme {
    Extreme {
        at: Instant(times.at),
        value: Nanos(value),
        seq: times.seq,
        client: times.client,
        op: times.op,
        outcome: times.outcome,
    }
}

/// A uniform sample by a hash of the request's number: the same whatever the division among threads.
#[derive(Clone, Debug)]
pub(crate) struct PointSampler {
    /// Points with a hash below this are kept; a power of two, or all.
    keep_below: u128,
    points: Vec<(u64, SampledPoint)>,
}

impl PointSampler {
    pub(crate) fn new() -> PointSampler {
        PointSampler { keep_below: 1 << 64, points: Vec::new() }
    }

    /// The hash of a request.
    #[inline]
    pub(crate) fn hash(seq: u64, client: u16) -> u64 {
        // MurmurHash3's finaliser: every bit of the input moves half of the output's.
        let mut z = seq ^ (u64::from(client) << 48) ^ 0x9E37_79B9_7F4A_7C15;
        z = (z ^ (z >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        z = (z ^ (z >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        z ^ (z >> 33)
    }

    #[inline]
    pub(crate) fn add(&mut self, hash: u64, at: u64, value: u64) {
        if u128::from(hash) < self.keep_below {
            self.points.push((hash, SampledPoint { at: Instant(at), value: Nanos(value) }));
            self.thin();
        }
    }

    fn thin(&mut self) {
        while self.points.len() > MOST_POINTS {
            self.keep_below /= 2;
            let keep_below = self.keep_below;
            self.points.retain(|(hash, _)| u128::from(*hash) < keep_below);
        }
    }

    pub(crate) fn merge(&mut self, other: PointSampler) {
        self.keep_below = self.keep_below.min(other.keep_below);
        self.points.extend(other.points);
        let keep_below = self.keep_below;
        self.points.retain(|(hash, _)| u128::from(*hash) < keep_below);
        self.thin();
    }

    /// Points within the limits, in order of time, and the share of requests that was sampled.
    pub(crate) fn within(mut self, low: f64, high: f64) -> (Vec<SampledPoint>, f64) {
        let share = self.keep_below as f64 / (1u128 << 64) as f64;
        self.points.retain(|(_, p)| (p.value.0 as f64) >= low && (p.value.0 as f64) < high);
        self.points.sort_by_key(|(hash, p)| (p.at, *hash));
        (self.points.into_iter().map(|(_, p)| p).collect(), share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::NONE;
    use units::{Outcome, Seed};

    fn times(seq: u64) -> Times {
        Times {
            at: seq * 1_000,
            completed: NONE,
            values: [NONE; 5],
            seq,
            client: 0,
            op: 0,
            outcome: Outcome::Ok,
            was_sent: true,
            late_stamp: false,
        }
    }

    #[test]
    fn extremes_and_samples_do_not_depend_on_the_division() {
        let mut rng = Seed(2).rng();
        let values: Vec<u64> = (0..200_000).map(|_| (rng.exponential() * 1e6) as u64).collect();
        let build = |parts: usize| {
            let mut all = vec![(ExtremesBuilder::default(), PointSampler::new()); parts];
            for (i, v) in values.iter().enumerate() {
                let (extremes, sampler) = &mut all[i % parts];
                extremes.add(&times(i as u64), *v);
                sampler.add(PointSampler::hash(i as u64, 0), i as u64, *v);
            }
            let (mut extremes, mut sampler) = all.swap_remove(0);
            for (e, s) in all {
                extremes.merge(e);
                sampler.merge(s);
            }
            (extremes, sampler)
        };
        let ((one, sample_one), (four, sample_four)) = (build(1), build(4));
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let (low, high) = (sorted[50] as f64, sorted[199_950] as f64);
        let found = one.beyond(low, high);
        assert_eq!(found, four.beyond(low, high));
        let exact = values.iter().filter(|v| (**v as f64) < low || **v as f64 >= high).count();
        assert_eq!(found.len(), exact);
        assert_eq!(found.iter().map(|e| e.value.0).max(), sorted.last().copied());
        let (points, share) = sample_one.within(low, high);
        assert_eq!((points.clone(), share), sample_four.within(low, high));
        let expected = share * 200_000.0;
        assert!(
            points.len() <= MOST_POINTS && (points.len() as f64 - expected).abs() < 6.0 * expected.sqrt()
        );
    }

    #[test]
    fn of_too_many_extremes_the_farthest_stay() {
        let mut builder = ExtremesBuilder::default();
        (0..50_000u64).for_each(|i| builder.add(&times(i), 1_000 + i * 7_919 % 50_000));
        assert_eq!(builder.largest().map(|e| e.value.0), Some(50_999));
        let found = builder.beyond(0.0, 2_000.0);
        assert_eq!((found.len(), found.iter().map(|e| e.value.0).min()), (MOST_POINTS, Some(46_000)));
    }
}
