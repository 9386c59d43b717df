//! A series over time at every zoom, and its sliding mean.

use crate::limits::{SLIDING_POINTS, SLIDING_WINDOW};
use crate::{Pyramid, PyramidLevel};
use units::{Instant, Nanos};

/// Most buckets of the finest level: a bucket is 1 ms wide in a run of a minute.
const MOST_BUCKETS: usize = 1 << 16;
/// The coarsest level has no more buckets than this.
const COARSEST: usize = 64;
/// Buckets start at 2^14 ns ≈ 16 µs.
const FIRST_SHIFT: u32 = 14;

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Time and value of the first request; the smaller value of two at once.
    first: (u64, u64),
    last: (u64, u64),
    min: u64,
    max: u64,
    count: u64,
    sum: u128,
}

const EMPTY: Bucket =
    Bucket { first: (u64::MAX, u64::MAX), last: (0, 0), min: u64::MAX, max: 0, count: 0, sum: 0 };

impl Bucket {
    fn merge(&mut self, other: &Bucket) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// The finest level while it is made. Widths are powers of two and double when the run outgrows them, so that
/// the parts of several threads fit together.
#[derive(Clone, Debug)]
pub(crate) struct PyramidBuilder {
    shift: u32,
    buckets: Vec<Bucket>,
}

impl PyramidBuilder {
    pub(crate) fn new() -> PyramidBuilder {
        PyramidBuilder { shift: FIRST_SHIFT, buckets: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, at: u64, value: u64) {
        let mut index = (at >> self.shift) as usize;
        if index >= self.buckets.len() {
            index = self.make_room(at);
        }
        let bucket = &mut self.buckets[index];
        bucket.first = bucket.first.min((at, value));
        bucket.last = bucket.last.max((at, value));
        bucket.min = bucket.min.min(value);
        bucket.max = bucket.max.max(value);
        bucket.count += 1;
        bucket.sum += u128::from(value);
    }

    #[cold]
    fn make_room(&mut self, at: u64) -> usize {
        while (at >> self.shift) as usize >= MOST_BUCKETS {
            self.coarsen();
        }
        let index = (at >> self.shift) as usize;
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, EMPTY);
        }
        index
    }

    fn coarsen(&mut self) {
        self.buckets = grouped(&self.buckets, 2);
        self.shift += 1;
    }

    pub(crate) fn merge(&mut self, mut other: PyramidBuilder) {
        while self.shift < other.shift {
            self.coarsen();
        }
        while other.shift < self.shift {
            other.coarsen();
        }
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), EMPTY);
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(a, b)| a.merge(b));
    }

    pub(crate) fn pyramid(&self) -> Pyramid {
        let mut levels = Vec::new();
        let (mut buckets, mut width) = (self.buckets.clone(), 1u64 << self.shift);
        loop {
            levels.push(level(&buckets, width));
            if buckets.len() <= COARSEST {
                break;
            }
            buckets = grouped(&buckets, 4);
            width *= 4;
        }
        Pyramid { begin: Instant::EPOCH, levels }
    }

    /// Mean over the window of requests centred on each of equally spaced moments; windows shrink at the ends.
    ///
    /// Requests are taken to be spread evenly in their bucket of the finest level: exact to what one bucket
    /// holds, and where one holds more than a window, its mean.
    pub(crate) fn sliding_mean(&self) -> Vec<(Instant, f64)> {
        let mut sums = vec![(0.0, 0.0)];
        for bucket in &self.buckets {
            let (count, sum) = sums[sums.len() - 1];
            sums.push((count + bucket.count as f64, sum + bucket.sum as f64));
        }
        let total = sums[sums.len() - 1].0;
        let Some(first) = self.buckets.iter().position(|b| b.count > 0) else { return Vec::new() };
        let moment = |bucket: usize| (bucket as u64).saturating_mul(1 << self.shift);
        let (begin, end) = (moment(first), moment(self.buckets.len()));
        let step = ((end - begin) / SLIDING_POINTS).max(1 << self.shift);
        let mut points = Vec::new();
        let mut at = begin + step / 2;
        while at < end {
            let position = at as f64 / (1u64 << self.shift) as f64;
            let index = (position as usize).min(self.buckets.len() - 1);
            let centre = sums[index].0 + (position - index as f64) * self.buckets[index].count as f64;
            let half = (SLIDING_WINDOW / 2.0).min(centre).min(total - centre).max(0.5);
            let (from, to) = ((centre - half).max(0.0), (centre + half).min(total));
            if self.occupied_near(index) && to > from {
                points.push((Instant(at), (sum_to(&sums, to) - sum_to(&sums, from)) / (to - from)));
            }
            at = at.saturating_add(step);
        }
        points
    }

    /// No mean is drawn through a time without requests.
    fn occupied_near(&self, index: usize) -> bool {
        let reach = self.buckets.len() / SLIDING_POINTS as usize + 1;
        let (from, to) = (index.saturating_sub(reach), (index + reach + 1).min(self.buckets.len()));
        self.buckets[from..to].iter().any(|b| b.count > 0)
    }
}

/// Sum of the first `rank` requests, linear between the ends of buckets.
fn sum_to(sums: &[(f64, f64)], rank: f64) -> f64 {
    let after = sums.partition_point(|(count, _)| *count < rank).min(sums.len() - 1);
    if after == 0 {
        return 0.0;
    }
    let ((c0, s0), (c1, s1)) = (sums[after - 1], sums[after]);
    if c1 > c0 { s0 + (s1 - s0) * (rank - c0) / (c1 - c0) } else { s1 }
}

fn grouped(buckets: &[Bucket], size: usize) -> Vec<Bucket> {
    let group = |group: &[Bucket]| {
        let mut merged = group[0];
        group[1..].iter().for_each(|b| merged.merge(b));
        merged
    };
    buckets.chunks(size).map(group).collect()
}

fn level(buckets: &[Bucket], width: u64) -> PyramidLevel {
    let of = |pick: fn(&Bucket) -> u64| -> Vec<u64> {
        buckets.iter().map(|b| if b.count > 0 { pick(b) } else { u64::MAX }).collect()
    };
    PyramidLevel {
        width: Nanos(width),
        first: of(|b| b.first.1),
        last: of(|b| b.last.1),
        min: of(|b| b.min),
        max: of(|b| b.max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn no_level_loses_an_extreme() {
        let mut rng = Seed(3).rng();
        let mut parts = [PyramidBuilder::new(), PyramidBuilder::new()];
        let samples: Vec<(u64, u64)> =
            (0..100_000u64).map(|i| (i * 50_000, 1 + rng.below(1_000_000))).collect();
        samples.iter().enumerate().for_each(|(i, (at, v))| parts[i % 2].add(*at, *v));
        let [mut all, other] = parts;
        all.merge(other);
        let pyramid = all.pyramid();
        let (min, max) = (samples.iter().map(|s| s.1).min(), samples.iter().map(|s| s.1).max());
        for (finer, level) in pyramid.levels.iter().zip(&pyramid.levels[1..]) {
            assert_eq!(level.min.len(), finer.min.len().div_ceil(4));
        }
        for level in &pyramid.levels {
            assert_eq!(level.min.iter().min().copied(), min);
            assert_eq!(level.max.iter().filter(|v| **v != u64::MAX).max().copied(), max);
            assert_eq!(level.first[0], samples[0].1);
            assert_eq!(level.last.iter().rfind(|v| **v != u64::MAX).copied(), Some(samples[99_999].1));
        }
        assert!(pyramid.levels[0].min.len() <= MOST_BUCKETS);
    }

    #[test]
    fn the_sliding_mean_is_that_of_a_thousand_requests() {
        let mut builder = PyramidBuilder::new();
        let value = |i: u64| 1_000 + i / 7 % 5_000;
        (0..50_000u64).for_each(|i| builder.add(i * 1_000_000, value(i)));
        let points = builder.sliding_mean();
        assert!(points.len() as u64 <= SLIDING_POINTS + 1 && points.len() > 1_000);
        for (at, mean) in points {
            let centre = at.0 as f64 / 1e6;
            let half = 500f64.min(centre).min(50_000.0 - centre);
            let (from, to) = ((centre - half) as u64, ((centre + half) as u64).clamp(1, 50_000));
            let exact = (from..to).map(value).sum::<u64>() as f64 / (to - from).max(1) as f64;
            assert!((mean - exact).abs() <= 0.01 * exact + 1.0, "at {at:?}: {mean}, exactly {exact}");
        }
        assert!(PyramidBuilder::new().sliding_mean().is_empty());
    }
}
