//! Two tools' statements side by side: what can be said of them without the requests behind them.

use crate::Analysis;
use record::{Stated, StatedQuantile};
use units::{Nanos, Quantile};

/// What a comparison of statements can't do, in one line.
pub const STATED_LIMIT: &str = "a side has no single requests, so that nothing has an interval: what follows is how the figures of these two \
    runs differ, and not whether another run would differ";

impl Analysis {
    /// Whether there are another tool's statements and no request.
    pub fn is_stated_alone(&self) -> bool {
        self.total.counts.total == 0 && !self.stated.is_empty()
    }
}

/// One figure on both sides; both ends of what is told, ns.
#[derive(Clone, PartialEq, Debug)]
pub struct StatedFigure {
    /// `p99`, `max`, `mean`.
    pub name: String,
    /// Of the base; `None`: not told.
    pub base: Option<(u64, u64)>,
    /// Of the new side.
    pub new: Option<(u64, u64)>,
    /// Least and most that new / base can be; `None` where a side tells nothing, or the base may be zero.
    pub ratio: Option<(f64, f64)>,
}

/// One operation and measure on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct StatedPair {
    /// The base's statement.
    pub base: Stated,
    /// The new side's.
    pub new: Stated,
    /// Figures that a side tells at least.
    pub figures: Vec<StatedFigure>,
}

/// Statements of the whole run that both sides have: of one operation, and counted from one moment. One statement on each
/// side is a pair whatever they are called.
pub fn stated_pairs(base: &Analysis, new: &Analysis, quantiles: &[Quantile]) -> Vec<StatedPair> {
    let whole = |side: &Analysis| -> Vec<Stated> {
        side.stated.iter().filter(|stated| stated.interval.is_none()).cloned().collect()
    };
    let (bases, news) = (whole(base), whole(new));
    let same = |a: &Stated, b: &Stated| {
        a.operation == b.operation && a.counted_from == b.counted_from && a.measure == b.measure
    };
    let alone = bases.len() == 1 && news.len() == 1 && bases[0].counted_from == news[0].counted_from;
    let pair = |base: &Stated| {
        let new = news.iter().find(|new| alone || same(base, new))?;
        Some(StatedPair { base: base.clone(), new: new.clone(), figures: figures(base, new, quantiles) })
    };
    bases.iter().filter_map(pair).collect()
}

fn figures(base: &Stated, new: &Stated, quantiles: &[Quantile]) -> Vec<StatedFigure> {
    let printed = base.quantiles.iter().chain(&new.quantiles).map(|(q, _)| *q).filter(|q| q.get() < 1.0);
    // The hundreds of rows of a histogram's table are no quantiles that anybody asked for.
    let few = base.quantiles.len().max(new.quantiles.len()) <= 12;
    let mut asked: Vec<Quantile> = quantiles.iter().copied().chain(printed.filter(|_| few)).collect();
    asked.sort_by(|a, b| a.get().total_cmp(&b.get()));
    asked.dedup_by(|a, b| (a.get() - b.get()).abs() < 1e-9);
    let of_quantile = |q: &Quantile| figure(q.name(), ends(base.quantile(*q)), ends(new.quantile(*q)));
    let single = |name: &str, base: Option<Nanos>, new: Option<Nanos>| {
        let both = |value: Option<Nanos>| value.map(|value| (value.0, value.0));
        figure(name.to_owned(), both(base), both(new))
    };
    let more = [single("max", base.max, new.max), single("mean", base.mean, new.mean)];
    let all = asked.iter().map(of_quantile).chain(more);
    all.filter(|figure| figure.base.is_some() || figure.new.is_some()).collect()
}

fn ends(said: StatedQuantile) -> Option<(u64, u64)> {
    match said {
        StatedQuantile::Told(value) => Some((value.0, value.0)),
        StatedQuantile::Within(above, at_most) => Some((above.0, at_most.0)),
        StatedQuantile::NotTold => None,
    }
}

fn figure(name: String, base: Option<(u64, u64)>, new: Option<(u64, u64)>) -> StatedFigure {
    let ratio = base
        .zip(new)
        .filter(|(base, _)| base.0 > 0)
        .map(|(base, new)| (new.0 as f64 / base.1 as f64, new.1 as f64 / base.0 as f64));
    StatedFigure { name, base, new, ratio }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_buckets_are_as_wide_as_the_buckets() {
        let told = figure("p99".to_owned(), Some((100, 100)), Some((150, 150)));
        assert_eq!(told.ratio, Some((1.5, 1.5)));
        let within = figure("p99".to_owned(), Some((100, 200)), Some((100, 300)));
        assert_eq!(within.ratio, Some((0.5, 3.0)));
        assert_eq!(figure(String::new(), Some((0, 200)), Some((1, 1))).ratio, None);
        assert_eq!(figure(String::new(), None, Some((1, 1))).ratio, None);
    }
}
