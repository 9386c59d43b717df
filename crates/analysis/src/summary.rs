//! From a cell to what is said of it.

use crate::cell::Cell;
use crate::input::Options;
use crate::{BoxPlot, MeasureSummary, Scope, ScopeSummary, SpectrumPoint, Spreads};
use record::Measure;
use stats::{Distribution, View};
use units::{Bound, Estimate, Nanos, Quantile};

/// The method name of extremes in `docs/statistics.md`: unlike an exact number, it has no interval.
pub(crate) const OBSERVED_ONCE: &str = "observed in one run";

/// All measures that exist in the cell.
pub(crate) fn scope_summary(scope: Scope, name: String, cell: &Cell, options: &Options) -> ScopeSummary {
    let measures = Measure::ALL.iter().filter_map(|m| measure_summary(*m, cell.measure(*m), options));
    ScopeSummary { scope, name, counts: cell.counts(), measures: measures.collect() }
}

/// `None` when no sample has the measure.
pub(crate) fn measure_summary(
    measure: Measure,
    distribution: &Distribution,
    options: &Options,
) -> Option<MeasureSummary> {
    let view = distribution.view();
    let (min, max) = (distribution.values().min()?, distribution.values().max()?);
    let moments = view.moments(options.level, options.seed.derive(measure.key()))?;
    let asked = options.quantiles.iter().filter(|q| q.get() < 1.0);
    let estimates = asked.map(|q| (*q, view.quantile(*q, options.level)));
    let (mut quantiles, mut withheld) = (Vec::new(), Vec::new());
    for (quantile, estimate) in estimates {
        match estimate {
            Some(estimate) => quantiles.push((quantile, estimate)),
            None => withheld.push(quantile),
        }
    }
    Some(MeasureSummary {
        measure,
        n: distribution.count(),
        censored: distribution.censored_count(),
        min: Nanos(min),
        max: Nanos(max),
        spreads: spreads(&view, &moments.mean, moments.coefficient_of_variation, options),
        quantiles,
        withheld,
        mean: moments.mean,
        sd: moments.sd,
        variance: moments.variance,
        above: above(&view, max),
        spectrum: spectrum(&view),
        box_plot: box_plot(&view, min, max)?,
    })
}

fn quantile(q: f64) -> Quantile {
    // Only constants in [0, 1] come here; the median stands for anything else.
    Quantile::new(q).unwrap_or(Quantile::PRINTED[0])
}

fn spreads(view: &View<'_>, mean: &Estimate, cv: Estimate, options: &Options) -> Spreads {
    let p99 = view.quantile(quantile(0.99), options.level);
    let median = view.quantile(quantile(0.5), options.level).or_else(|| {
        let point = view.value(quantile(0.5))?;
        let unsure = Estimate {
            interval: None,
            level: options.level,
            method: stats::METHOD_NO_INTERVAL,
            ..mean.clone()
        };
        Some(Estimate { point, ..unsure })
    });
    let n = mean.n;
    // One run's extremes say nothing of the next one's: what is made of them has no interval either.
    let seen = |e: Estimate| Estimate { method: OBSERVED_ONCE, ..e };
    let min = view.ranks().at(1).map(|(low, _)| seen(Estimate::exact(low as f64, n)));
    let max = view.maximum().map(seen);
    let over = |base: Option<Estimate>, new: Option<Estimate>| {
        // Both are of the same samples: these must not count twice.
        over(&base?, &new?).map(|r| Estimate { n, ..r })
    };
    Spreads {
        coefficient_of_variation: Some(cv).filter(|_| mean.point > 0.0),
        p99_over_mean: over(Some(mean.clone()), p99),
        max_over_median: over(median.clone(), max),
        median_over_min: over(min, median),
    }
}

/// new / base. A time of zero is shorter than the clock can tell: what it would divide is unknown.
fn over(base: &Estimate, new: &Estimate) -> Option<Estimate> {
    if new.point == 0.0 && base.point > 0.0 {
        let unsure = Estimate { interval: None, method: stats::METHOD_RATIO, ..base.clone() };
        return Some(Estimate { point: 0.0, bound: new.bound, ..unsure });
    }
    stats::ratio(base, new)
}

/// Samples above 1, 2, 5 · 10^k ns, from the first limit above p99 on to the last below the maximum.
fn above(view: &View<'_>, max: u64) -> Vec<(Nanos, u64)> {
    let p99 = view.value(quantile(0.99)).unwrap_or(0.0);
    let limits = (3..19).flat_map(|k| [1u64, 2, 5].map(|m| m * 10u64.pow(k)));
    let within = limits.filter(|l| *l as f64 > p99 && *l < max);
    within.map(|l| (Nanos(l), view.ranks().above(l))).filter(|(_, n)| *n > 0).collect()
}

/// Points evenly spaced in the number of nines: ten per halving of what is left, to the last sample.
fn spectrum(view: &View<'_>) -> Vec<SpectrumPoint> {
    let n = view.ranks().count();
    let mut points = Vec::new();
    let mut push = |q: f64| {
        if let Some(value_ns) = Quantile::new(q).and_then(|q| view.value(q)) {
            points.push(SpectrumPoint { quantile: quantile(q), value_ns });
        }
    };
    (0..10).for_each(|i| push(f64::from(i) / 20.0));
    let mut left = 0.5f64;
    while left * n as f64 >= 1.0 {
        push(1.0 - left);
        left *= 0.5f64.powf(0.1);
    }
    push(1.0);
    points
}

fn box_plot(view: &View<'_>, min: u64, max: u64) -> Option<BoxPlot> {
    let value = |q: f64| view.value(quantile(q));
    let (q1, median, q3) = (value(0.25)?, value(0.5)?, value(0.75)?);
    let (reach, ranks) = (1.5 * (q3 - q1), view.ranks());
    let low = ranks.first_from((q1 - reach).max(0.0).ceil() as u64).unwrap_or(min);
    let high = ranks.last_to((q3 + reach).floor() as u64).unwrap_or(max);
    let carried = |q: f64| if ranks.count() >= quantile(q).samples_needed() { value(q) } else { None };
    Some(BoxPlot {
        min: min as f64,
        whisker_low: (low as f64).min(q1),
        q1,
        median,
        q3,
        whisker_high: (high as f64).max(q3),
        p95: carried(0.95).unwrap_or(max as f64),
        p99: carried(0.99).unwrap_or(max as f64),
        max: max as f64,
    })
}

impl MeasureSummary {
    /// The estimate of a printed quantile.
    pub fn quantile(&self, q: Quantile) -> Option<&Estimate> {
        self.quantiles.iter().find(|(p, _)| *p == q).map(|(_, e)| e)
    }

    /// The largest, as an estimate without an interval: one run's maximum says nothing of the next one's. A
    /// lower bound where requests were given up, which may have taken longer than any that was seen to its end.
    pub fn maximum(&self) -> Estimate {
        Estimate {
            level: self.mean.level,
            bound: if self.censored > 0 { Bound::AtLeast } else { Bound::Exact },
            method: OBSERVED_ONCE,
            ..Estimate::exact(self.max.0 as f64, self.n)
        }
    }

    /// Printed quantiles that censored samples make lower bounds.
    pub fn bounded(&self) -> impl Iterator<Item = Quantile> + '_ {
        self.quantiles.iter().filter(|(_, e)| e.bound == Bound::AtLeast).map(|(q, _)| *q)
    }
}

impl ScopeSummary {
    /// One measure; `None` where it does not exist.
    pub fn measure(&self, measure: Measure) -> Option<&MeasureSummary> {
        self.measures.iter().find(|m| m.measure == measure)
    }

    /// Response time where it exists, else service time.
    pub fn whole(&self) -> Option<&MeasureSummary> {
        self.measure(Measure::Response).or_else(|| self.measure(Measure::Service))
    }
}
