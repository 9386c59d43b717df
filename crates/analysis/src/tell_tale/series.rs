//! What a figure over time draws of one round: thin, and without the loss of an extreme.

use crate::limits::MOST_POINTS;
use crate::outliers::{ExtremesBuilder, PointSampler};
use crate::pyramid::PyramidBuilder;
use crate::{PyramidLevel, cell::Times};
use stats::Distribution;
use units::{Instant, Nanos, Quantile, Seed};

/// Most columns: a level of the pyramid has at least a quarter of them.
const MOST_COLUMNS: usize = 1_024;
/// Most sampled points.
const MOST_SAMPLED: usize = 400;
/// Most extremes that are drawn one by one; of more the columns tell.
const MOST_EXTREMES: usize = 1_000;

/// Share of all requests that count as extremes, half of them at either end (Fruth et al., TPCTC 2021).
pub(super) fn extreme_share(workload: &str) -> f64 {
    let is_tpcc = workload.to_ascii_lowercase().replace('-', "").starts_with("tpcc");
    if is_tpcc { 0.005 } else { 0.000_5 }
}

/// One round over its measured time; times since its begin.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundSeries {
    /// Length of the measured time.
    pub length: Nanos,
    /// Smallest and largest request of each column of time: no extreme is missing here.
    pub columns: PyramidLevel,
    /// Mean over 1,000 requests in order of their start, centred, shrinking at the ends: (when, ns).
    pub sliding_mean: Vec<(Instant, f64)>,
    /// Share of requests that count as extremes, half at either end.
    pub extreme_share: f64,
    /// Below the first and from the second on, ns.
    pub limits: (f64, f64),
    /// All extremes one by one, in order of time; `None` where there are more than 1,000, which the columns show.
    pub extremes: Option<Vec<(Instant, Nanos)>>,
    /// How many there are.
    pub extremes_total: u64,
    /// A uniform sample of the others.
    pub sampled: Vec<(Instant, Nanos)>,
    /// At this rate.
    pub sampled_share: f64,
    /// The longest request.
    pub longest: (Instant, Nanos),
    /// The shortest.
    pub shortest: (Instant, Nanos),
}

/// A series in the making.
#[derive(Clone, Debug)]
pub(super) struct Builder {
    distribution: Distribution,
    pyramid: PyramidBuilder,
    extremes: ExtremesBuilder,
    sampler: PointSampler,
    shortest: Option<(Nanos, Instant)>,
}

impl Builder {
    pub(super) fn new() -> Builder {
        Builder {
            distribution: Distribution::new(Instant::EPOCH),
            pyramid: PyramidBuilder::new(),
            extremes: ExtremesBuilder::default(),
            sampler: PointSampler::new(),
            shortest: None,
        }
    }

    /// Adds a request; `times.at` is since the begin of the measured time.
    pub(super) fn add(&mut self, times: &Times, whole: u64) {
        self.distribution.record(Instant(times.at), Nanos(whole));
        self.pyramid.add(times.at, whole);
        self.extremes.add(times, whole);
        self.sampler.add(PointSampler::hash(times.seq, times.client), times.at, whole);
        let short = (Nanos(whole), Instant(times.at));
        self.shortest = Some(self.shortest.map_or(short, |so_far| so_far.min(short)));
    }

    pub(super) fn merge(&mut self, other: Builder) {
        self.distribution.merge(&other.distribution);
        self.pyramid.merge(other.pyramid);
        self.extremes.merge(other.extremes);
        self.sampler.merge(other.sampler);
        self.shortest = [self.shortest, other.shortest].into_iter().flatten().min();
    }

    /// `None` without requests.
    pub(super) fn finish(self, length: Nanos, extreme_share: f64, seed: Seed) -> Option<RoundSeries> {
        let (longest, shortest) = (*self.extremes.largest()?, self.shortest?);
        let view = self.distribution.view();
        let at = |q: f64| Quantile::new(q).and_then(|q| view.value(q)).unwrap_or(0.0);
        let limits = (at(extreme_share / 2.0), at(1.0 - extreme_share / 2.0));
        let ranks = view.ranks();
        let beyond = ranks.above(limits.1 as u64) + ranks.up_to((limits.0 as u64).saturating_sub(1));
        let found = self.extremes.beyond(limits.0, limits.1);
        // The builder holds all unless there are more than it keeps; then the histogram counts them.
        let all_kept = found.len() < MOST_POINTS;
        let extremes_total = if all_kept { found.len() as u64 } else { beyond.max(found.len() as u64) };
        let extremes: Vec<(Instant, Nanos)> =
            found.iter().map(|extreme| (extreme.at, extreme.value)).collect();
        let (sampled, share) = self.sampler.within(limits.0, limits.1);
        let sampled: Vec<(Instant, Nanos)> = sampled.iter().map(|point| (point.at, point.value)).collect();
        let (sampled, sampled_share) = thinned(sampled, share, seed);
        let pyramid = self.pyramid.pyramid();
        let fits = |level: &&PyramidLevel| level.max.len() <= MOST_COLUMNS;
        Some(RoundSeries {
            length,
            columns: pyramid.levels.iter().find(fits).or(pyramid.levels.last())?.clone(),
            sliding_mean: self.pyramid.sliding_mean(),
            extreme_share,
            limits,
            extremes: (extremes_total <= MOST_EXTREMES as u64).then_some(extremes),
            extremes_total,
            sampled,
            sampled_share,
            longest: (longest.at, longest.value),
            shortest: (shortest.1, shortest.0),
        })
    }
}

/// A sample of the sample, without replacement, and the rate of both.
fn thinned(mut points: Vec<(Instant, Nanos)>, share: f64, seed: Seed) -> (Vec<(Instant, Nanos)>, f64) {
    let all = points.len();
    if all <= MOST_SAMPLED {
        return (points, share);
    }
    let mut rng = seed.derive("sampled points").rng();
    for index in 0..MOST_SAMPLED {
        let other = index + rng.below((all - index) as u64) as usize;
        points.swap(index, other);
    }
    points.truncate(MOST_SAMPLED);
    points.sort_unstable();
    (points, share * MOST_SAMPLED as f64 / all as f64)
}
