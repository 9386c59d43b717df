//! Two tools' statements side by side: what can be said of them without the requests behind them. Where one side has requests,
//! it states of them what a tool would.

use crate::{Analysis, MeasureSummary, Scope, ScopeSummary};
use record::{Measure, Stated, StatedFrom};
use units::{Bound, Estimate, Nanos, Quantile};

/// What a comparison of statements can't do, in one line.
pub const STATED_LIMIT: &str = "a side has no single requests, so that nothing has an interval: what follows is how the figures of these two \
    runs differ, and not whether another run would differ";

/// Half of a bucket, relative to the value: how far a printed quantile lies from its sample at most.
const HALF_BUCKET: f64 = 1.0 / 8192.0;

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
    /// Least and most that new / base can be, with what the steps of both tools' figures leave open; `None` where a side tells
    /// nothing, or the base may be zero.
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
///
/// Where one side has requests and the other statements alone, the requests' response times stand beside what counts from
/// the schedule, their service times beside what counts from sending, and both beside what does not say. `READ-MODIFY-WRITE`
/// and `ReadModifyWriteRecord` are one operation; the only one of a side stands for all.
pub fn stated_pairs(base: &Analysis, new: &Analysis, quantiles: &[Quantile]) -> Vec<StatedPair> {
    let pair = |base: &Stated, new: &Stated| StatedPair {
        base: base.clone(),
        new: new.clone(),
        figures: figures(base, new, quantiles),
    };
    let (bases, news) = match (base.is_stated_alone(), new.is_stated_alone()) {
        (false, true) => (measured(base), whole(new)),
        (true, false) => (whole(base), measured(new)),
        _ => return of_tools(&whole(base), &whole(new), pair),
    };
    let alone = (is_of_all(&bases, &news), is_of_all(&news, &bases));
    let is_one = |a: &Stated, b: &Stated| {
        let name =
            |stated: &Stated, is_all: bool| if is_all { String::new() } else { plain(&stated.operation) };
        let from = |stated: &Stated| stated.counted_from;
        name(a, alone.0) == name(b, alone.1)
            && (from(a) == from(b) || [from(a), from(b)].contains(&StatedFrom::Unsaid))
    };
    let of_base = |base: &Stated| {
        news.iter().filter(|new| is_one(base, new)).map(|new| pair(base, new)).collect::<Vec<_>>()
    };
    bases.iter().flat_map(of_base).collect()
}

/// A tool's statements of the whole run.
fn whole(side: &Analysis) -> Vec<Stated> {
    side.stated.iter().filter(|stated| stated.interval.is_none()).cloned().collect()
}

fn of_tools(
    bases: &[Stated],
    news: &[Stated],
    pair: impl Fn(&Stated, &Stated) -> StatedPair,
) -> Vec<StatedPair> {
    let same = |a: &Stated, b: &Stated| {
        a.operation == b.operation && a.counted_from == b.counted_from && a.measure == b.measure
    };
    let alone = bases.len() == 1 && news.len() == 1 && bases[0].counted_from == news[0].counted_from;
    let of_base = |base: &Stated| news.iter().find(|new| alone || same(base, new)).map(|new| pair(base, new));
    bases.iter().filter_map(of_base).collect()
}

/// An operation's name as all tools write it: letters and digits, without `Record`.
fn plain(operation: &str) -> String {
    let name: String =
        operation.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    name.strip_suffix("record").unwrap_or(&name).to_owned()
}

/// Whether a side's statements are all of one operation, which the other side does not have by its name.
fn is_of_all(side: &[Stated], other: &[Stated]) -> bool {
    let Some(first) = side.first().map(|stated| plain(&stated.operation)) else { return false };
    side.iter().all(|stated| plain(&stated.operation) == first)
        && !other.iter().any(|stated| plain(&stated.operation) == first)
}

/// What a run's requests say, of all together and, where there are several operations, of each.
fn measured(run: &Analysis) -> Vec<Stated> {
    let operations: Vec<&ScopeSummary> =
        run.scopes.iter().filter(|scope| matches!(scope.scope, Scope::Operation(_))).collect();
    let several = if operations.len() > 1 { operations.as_slice() } else { &[] };
    let of_scope = |operation: &str, scope: &ScopeSummary| {
        [(Measure::Response, StatedFrom::Schedule), (Measure::Service, StatedFrom::Send)]
            .into_iter()
            .filter_map(|(measure, from)| Some(statement(operation, scope.measure(measure)?, from)))
            .collect::<Vec<Stated>>()
    };
    let mut all = of_scope("", &run.total);
    all.extend(several.iter().flat_map(|scope| of_scope(&scope.name, scope)));
    all
}

/// One measure as a tool would state it. What timeouts hide is not told.
fn statement(operation: &str, summary: &MeasureSummary, counted_from: StatedFrom) -> Stated {
    let told =
        |estimate: &Estimate| (estimate.bound == Bound::Exact).then(|| Nanos(estimate.point.round() as u64));
    let quantiles = summary.quantiles.iter().filter_map(|(q, estimate)| Some((*q, told(estimate)?)));
    Stated {
        operation: operation.to_owned(),
        measure: format!("{}, measured", summary.measure.name()),
        counted_from,
        count: Some(summary.n),
        mean: told(&summary.mean),
        min: Some(summary.min),
        max: Some(summary.max).filter(|_| summary.censored == 0),
        quantiles: quantiles.collect(),
        relative_resolution: Some(HALF_BUCKET),
        ..Stated::default()
    }
}

/// The usual quantiles below the maximum, and those that tools printed besides; ascending. The hundreds of rows of a histogram's table
/// are no quantiles that anybody asked for.
pub fn stated_quantiles(all: &[&Stated], usual: &[Quantile]) -> Vec<Quantile> {
    const MOST: usize = 12;
    let few = all.iter().filter(|stated| stated.quantiles.len() <= MOST);
    let printed = few.flat_map(|stated| stated.quantiles.iter().map(|(q, _)| *q));
    let mut asked: Vec<Quantile> = usual.iter().copied().chain(printed).filter(|q| q.get() < 1.0).collect();
    asked.sort_by(|a, b| a.get().total_cmp(&b.get()));
    asked.dedup_by(|a, b| (a.get() - b.get()).abs() < 1e-9);
    asked
}

fn figures(base: &Stated, new: &Stated, quantiles: &[Quantile]) -> Vec<StatedFigure> {
    let asked = stated_quantiles(&[base, new], quantiles);
    let of_quantile = |q: &Quantile| {
        let side = |stated: &Stated| Side { told: stated.ends(*q), stands_for: stated.range(*q) };
        figure(q.name(), side(base), side(new))
    };
    let single = |name: &str, of: fn(&Stated) -> Option<Nanos>| {
        let side = |stated: &Stated| Side {
            told: of(stated).map(|value| (value.0, value.0)),
            stands_for: of(stated).map(|value| stated.true_range(value)),
        };
        figure(name.to_owned(), side(base), side(new))
    };
    let more = [single("max", |stated| stated.max), single("mean", |stated| stated.mean)];
    let all = asked.iter().map(of_quantile).chain(more);
    all.filter(|figure| figure.base.is_some() || figure.new.is_some()).collect()
}

/// One figure of one side, ns.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Both ends of what is told.
    told: Option<(u64, u64)>,
    /// Both ends of what it may stand for. A bucket is a step already.
    stands_for: Option<(u64, u64)>,
}

fn figure(name: String, base: Side, new: Side) -> StatedFigure {
    let ratio = base
        .stands_for
        .zip(new.stands_for)
        .filter(|(base, _)| base.0 > 0)
        .map(|(base, new)| (new.0 as f64 / base.1 as f64, new.1 as f64 / base.0 as f64));
    StatedFigure { name, base: base.told, new: new.told, ratio }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::StatedRounding;

    #[test]
    fn ratios_of_buckets_are_as_wide_as_the_buckets() {
        let within =
            |above, at_most| Side { told: Some((above, at_most)), stands_for: Some((above, at_most)) };
        let told = |value| within(value, value);
        assert_eq!(figure("p99".to_owned(), told(100), told(150)).ratio, Some((1.5, 1.5)));
        assert_eq!(figure("p99".to_owned(), within(100, 200), within(100, 300)).ratio, Some((0.5, 3.0)));
        assert_eq!(figure(String::new(), within(0, 200), told(1)).ratio, None);
        assert_eq!(figure(String::new(), Side::default(), told(1)).ratio, None);
    }

    /// What two runs' figures stand for is planted, and the range must hold its ratio.
    #[test]
    fn ratios_of_told_figures_are_as_wide_as_their_steps() {
        let milli = Nanos::from_millis(1);
        let of = |ms: u64, rounding| Stated {
            max: Some(Nanos::from_millis(ms)),
            quantiles: Quantile::new(0.99).map(|q| (q, Nanos::from_millis(ms))).into_iter().collect(),
            resolution: Some(milli),
            rounding,
            ..Stated::default()
        };
        // Lower ends of buckets of 1 ms: true values lie in [1, 2] and [2, 3] ms.
        let (base, new) = (of(1, StatedRounding::Down), of(2, StatedRounding::Down));
        for figure in figures(&base, &new, &[]) {
            assert_eq!(figure.ratio, Some((1.0, 3.0)), "{}", figure.name);
            // A quantile whose step is as large as itself is shown as what it stands for; a maximum as it was printed.
            let ms = |ends: Option<(u64, u64)>| ends.map(|(low, high)| (low / 1_000_000, high / 1_000_000));
            let shown = if figure.name == "max" { [(1, 1), (2, 2)] } else { [(1, 2), (2, 3)] };
            assert_eq!([ms(figure.base), ms(figure.new)], shown.map(Some), "{}", figure.name);
        }
        // Either side, where the tool does not say: [3, 5] and [7, 9] ms.
        let (base, new) = (of(4, StatedRounding::Unsaid), of(8, StatedRounding::Unsaid));
        assert!(figures(&base, &new, &[]).iter().all(|figure| figure.ratio == Some((7.0 / 5.0, 3.0))));
        // It may have been next to nothing.
        assert_eq!(figures(&of(1, StatedRounding::Unsaid), &new, &[])[0].ratio, None);
        let wide = |ms| Stated {
            relative_resolution: Some(0.1),
            resolution: None,
            ..of(ms, StatedRounding::Unsaid)
        };
        let ratio = figures(&wide(10), &wide(20), &[])[0].ratio.expect("both are told");
        assert!((ratio.0 - 18.0 / 11.0).abs() < 1e-9 && (ratio.1 - 22.0 / 9.0).abs() < 1e-9, "{ratio:?}");
    }
}
