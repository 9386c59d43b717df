//! A set of measured times, and the quantiles that are said of it.

use crate::blocks::{TimeBlocks, coarse_limits};
use crate::histogram::{LogHistogram, Ranks};
use crate::longrun::{FEWEST_BATCHES, LongRun, short_run_penalty};
use crate::order::enclosure;
use units::{Bound, Estimate, Instant, Nanos, Quantile};

/// The method name of quantile estimates in `docs/statistics.md`.
pub const METHOD_ORDER: &str = "order statistics on effective samples";
/// As [`METHOD_ORDER`], where the samples are too dependent for an interval.
pub const METHOD_NO_INTERVAL: &str = "too few effective samples for an interval";

/// See [`short_run_penalty`].
const SHORT_RUN: f64 = 300.0;

/// Effective samples beyond a quantile below which its own exceedances are not trusted alone.
const FEWEST_BEYOND: f64 = 10.0;

/// Measured times with what is needed to estimate from them: a fine histogram of all, one of the censored
/// ones, and blocks of time.
///
/// Merging is exact and does not depend on the order.
#[derive(Clone, Debug)]
pub struct Distribution {
    values: LogHistogram,
    /// Censored samples at the values where they were cut; they are in `values`, too.
    censored: LogHistogram,
    blocks: TimeBlocks,
}

impl Distribution {
    /// Empty; distributions that will be merged should share the origin.
    pub fn new(origin: Instant) -> Distribution {
        Distribution {
            values: LogHistogram::new(),
            censored: LogHistogram::new(),
            blocks: TimeBlocks::new(origin.0),
        }
    }

    /// Adds the time that a request took which began at `at`; ≈ 8 ns.
    #[inline]
    pub fn record(&mut self, at: Instant, value: Nanos) {
        self.values.record(value.0);
        self.blocks.record(at.0, value.0);
    }

    /// Adds a request that was given up after `value`: it takes at least that long.
    pub fn record_censored(&mut self, at: Instant, value: Nanos) {
        self.record(at, value);
        self.censored.record(value.0);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Distribution) {
        self.values.merge(&other.values);
        self.censored.merge(&other.censored);
        self.blocks.merge(&other.blocks);
    }

    /// All values, censored ones where they were cut.
    pub fn values(&self) -> &LogHistogram {
        &self.values
    }

    /// Number of samples, censored ones included.
    pub fn count(&self) -> u64 {
        self.values.count()
    }

    /// Number of censored samples.
    pub fn censored_count(&self) -> u64 {
        self.censored.count()
    }

    pub(crate) fn blocks(&self) -> &TimeBlocks {
        &self.blocks
    }

    /// Sorts it out once for many questions; linear in the histogram's size (≈ 100 µs).
    pub fn view(&self) -> View<'_> {
        let known = (self.censored.count() > 0).then(|| Ranks::without(&self.values, &self.censored));
        View { source: self, all: Ranks::new(&self.values), known }
    }
}

/// A [`Distribution`] made ready for questions.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub(crate) source: &'a Distribution,
    all: Ranks,
    /// Without the censored samples; `None` when there are none.
    known: Option<Ranks>,
}

impl View<'_> {
    /// The distribution function, for marks that need no interval.
    pub fn ranks(&self) -> &Ranks {
        &self.all
    }

    /// The value at a quantile without an interval: the middle of its bucket; `None` when empty.
    pub fn value(&self, q: Quantile) -> Option<f64> {
        let (low, high) = self.all.at(q.rank(self.all.count()))?;
        Some(middle(low, high))
    }

    /// The quantile with its interval; `None` when the samples are fewer than [`Quantile::samples_needed`]
    /// (`1.0`, the maximum, is [`Estimate::exact`]).
    ///
    /// The interval is that of order statistics, with the number of samples divided by how much more the count
    /// above the quantile varies from block to block than it would for independent samples. It is left out
    /// when the effective samples are too few to enclose the quantile, about 3.7/(1 − q) of them at 95 %.
    /// The interval's upper limit is what it would be if no censored sample had ever ended; where that would move
    /// the point itself out of its interval (or bucket, without one), the point is only a lower bound.
    pub fn quantile(&self, q: Quantile, level: f64) -> Option<Estimate> {
        let n = self.all.count();
        if q.get() >= 1.0 {
            return self.maximum();
        }
        if n < q.samples_needed() {
            return None;
        }
        let rank = q.rank(n);
        let (low, high) = self.all.at(rank)?;
        let point = middle(low, high);
        let dependence = self.dependence(q.get(), low, level);
        let interval = dependence.as_ref().and_then(|d| self.enclose(q.get(), d, level));
        let interval = interval.map(|(l, h)| (l.min(point), h.max(point)));
        Some(Estimate {
            point,
            interval,
            level,
            n,
            n_effective: dependence.map_or(1.0, |d| n as f64 / d.inflation),
            bound: self.bound(rank, interval.map_or(high as f64, |(_, limit)| limit)),
            method: if interval.is_some() { METHOD_ORDER } else { METHOD_NO_INTERVAL },
        })
    }

    /// The largest value; a lower bound when anything is censored.
    pub fn maximum(&self) -> Option<Estimate> {
        let max = self.source.values.max()?;
        let mut estimate = Estimate::exact(max as f64, self.all.count());
        estimate.bound = if self.known.is_some() { Bound::AtLeast } else { Bound::Exact };
        Some(estimate)
    }

    /// Whether the value of this rank would lie above `limit` had no censored sample ever ended.
    fn bound(&self, rank: u64, limit: f64) -> Bound {
        let Some(known) = &self.known else { return Bound::Exact };
        let moved = known.at(rank).is_none_or(|(low, _)| low as f64 > limit);
        if moved { Bound::AtLeast } else { Bound::Exact }
    }

    /// The limits by rank; `None` when a side has none.
    fn enclose(&self, q: f64, dependence: &Dependence, level: f64) -> Option<(f64, f64)> {
        let n = self.all.count() as f64;
        let ranks = enclosure(n / (dependence.inflation * dependence.penalty), q, level);
        let low_rank = (ranks.low? * n).floor().max(1.0) as u64;
        let high_rank = (ranks.high? * n).ceil() as u64;
        let mut low = self.all.at(low_rank)?.0;
        let mut high = self.known.as_ref().unwrap_or(&self.all).at(high_rank)?.1;
        if let Some((coarse_low, coarse_high)) = dependence.at_least {
            low = low.min(coarse_low);
            high = high.max(coarse_high);
        }
        Some((low as f64, high as f64))
    }

    /// How dependent the samples are in what decides this quantile. `None` when the blocks are too few.
    ///
    /// The counts above the two edges of the quantile's coarse bucket are asked. If they find fewer than ten
    /// effective samples beyond the quantile, those are too few to be asked alone (a run that happened to see
    /// few would get the narrowest interval), and the less extreme [`Quantile::PRINTED`] ones are asked, too.
    fn dependence(&self, q: f64, value: u64, level: f64) -> Option<Dependence> {
        let counts = self.source.blocks.counts();
        if counts.len() < FEWEST_BATCHES {
            return None;
        }
        let n = self.all.count();
        let ask = |value: u64| {
            let (low, high) = coarse_limits(value);
            let edges = [Some(low), high.checked_add(1)].into_iter().flatten();
            edges.filter_map(|edge| self.exceedance(edge, &counts, level)).collect::<Vec<_>>()
        };
        let own = ask(value);
        // An edge speaks for the quantile when the share above it is within a factor of four of 1 − q.
        let speaks = |p: f64| near(p, 1.0 - q) && near(1.0 - p, q);
        let at_least = if own.iter().any(|(p, _)| speaks(*p)) { None } else { Some(coarse_limits(value)) };
        let mut most = own.into_iter().map(|(_, d)| d).fold(Dependence::NONE, Dependence::worse);
        if n as f64 / most.inflation * (1.0 - q).min(q) < FEWEST_BEYOND {
            let easier = Quantile::PRINTED.iter().map(|p| p.get()).filter(|p| *p < q && q > 0.5);
            let values = easier.filter_map(|p| Some(self.all.at(Quantile::new(p)?.rank(n))?.0));
            most = values.flat_map(ask).map(|(_, d)| d).fold(most, Dependence::worse);
        }
        let penalty = most.penalty * short_run_penalty(n as f64 / most.inflation, SHORT_RUN);
        Some(Dependence { at_least, penalty, ..most })
    }

    /// Share of samples ≥ `edge`, and how much more its count varies than a binomial one; `None` when all or
    /// none are.
    fn exceedance(&self, edge: u64, counts: &[f64], level: f64) -> Option<(f64, Dependence)> {
        let above = self.source.blocks.counts_from(edge);
        let n: f64 = counts.iter().sum();
        let p = above.iter().sum::<f64>() / n;
        if p <= 0.0 || p >= 1.0 {
            return None;
        }
        let residuals: Vec<f64> = above.iter().zip(counts).map(|(x, c)| x - p * c).collect();
        let run = LongRun::of(&residuals, level)?;
        let inflation = (run.variance / (n * p * (1.0 - p))).max(1.0);
        Some((p, Dependence { inflation, penalty: run.penalty(level), at_least: None }))
    }
}

fn near(a: f64, b: f64) -> bool {
    a <= 4.0 * b && b <= 4.0 * a
}

fn middle(low: u64, high: u64) -> f64 {
    low as f64 + (high - low) as f64 / 2.0
}

/// What dependence does to a quantile's interval.
#[derive(Clone, Copy, Debug)]
struct Dependence {
    /// Variance of the count above, over that of independent samples; ≥ 1.
    inflation: f64,
    /// What not knowing `inflation` exactly costs.
    penalty: f64,
    /// Limits that the interval must contain, where the blocks are too coarse to tell.
    at_least: Option<(u64, u64)>,
}

impl Dependence {
    const NONE: Dependence = Dependence { inflation: 1.0, penalty: 1.0, at_least: None };

    fn worse(self, other: Dependence) -> Dependence {
        if other.inflation * other.penalty > self.inflation * self.penalty { other } else { self }
    }
}
