//! Quantity by quantity: what both sides show of one time.

use crate::MeasureSummary;
use stats::Difference;
use units::Estimate;

/// One quantity on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedRow {
    /// `p99`, `mean`, `max`, `p99/mean`, …
    pub name: String,
    /// What `base` and `new` are counted in.
    pub unit: Unit,
    /// The base: of one run, or across its runs.
    pub base: Estimate,
    /// The new side.
    pub new: Estimate,
    /// new / base; `None` when either is zero.
    pub ratio: Option<Estimate>,
    /// What the ratio's interval says: of times faster or slower, of spreads steadier or less steady.
    pub difference: Difference,
    /// Whether the ratio certainly lies within the margin; `None` when not asked or not known.
    pub equivalent: Option<bool>,
}

/// What a compared quantity is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Nanoseconds.
    Nanos,
    /// Nanoseconds squared.
    SquaredNanos,
    /// None: a ratio of two times.
    Ratio,
}

impl Unit {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Nanos => "ns",
            Unit::SquaredNanos => "ns^2",
            Unit::Ratio => "ratio",
        }
    }
}

/// Whether less of it means faster or steadier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Time,
    Spread,
}

/// Takes a quantity out of a summary.
pub(crate) type Of<'a> = Box<dyn Fn(&MeasureSummary) -> Option<Estimate> + 'a>;

/// A quantity of a summary.
pub(crate) struct Pick<'a> {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    kind: Kind,
    pub(crate) of: Of<'a>,
}

fn pick<'a>(
    name: &str,
    unit: Unit,
    kind: Kind,
    of: impl Fn(&MeasureSummary) -> Option<Estimate> + 'a,
) -> Pick<'a> {
    Pick { name: name.to_owned(), unit, kind, of: Box::new(of) }
}

/// All quantities, in the order of the rows.
pub(crate) fn picks(like: &MeasureSummary) -> Vec<Pick<'_>> {
    let quantile = |(q, _): &(units::Quantile, Estimate)| {
        let q = *q;
        pick(&q.name(), Unit::Nanos, Kind::Time, move |m| m.quantile(q).cloned())
    };
    let mut all: Vec<Pick<'_>> = like.quantiles.iter().map(quantile).collect();
    all.extend([
        pick("max", Unit::Nanos, Kind::Time, |m| Some(m.maximum())),
        pick("mean", Unit::Nanos, Kind::Time, |m| Some(m.mean.clone())),
        pick("variance", Unit::SquaredNanos, Kind::Spread, |m| Some(m.variance.clone())),
        pick("standard deviation", Unit::Nanos, Kind::Spread, |m| Some(m.sd.clone())),
        pick("coefficient of variation", Unit::Ratio, Kind::Spread, |m| {
            m.spreads.coefficient_of_variation.clone()
        }),
        pick("p99/mean", Unit::Ratio, Kind::Spread, |m| m.spreads.p99_over_mean.clone()),
        pick("max/median", Unit::Ratio, Kind::Spread, |m| m.spreads.max_over_median.clone()),
        pick("median/min", Unit::Ratio, Kind::Spread, |m| m.spreads.median_over_min.clone()),
    ]);
    all
}

/// The quantities that all runs of both sides have.
pub(crate) fn rows(
    base: &[&MeasureSummary],
    new: &[&MeasureSummary],
    margin: Option<f64>,
) -> Vec<ComparedRow> {
    let Some(like) = base.first() else { return Vec::new() };
    let row = |pick: Pick<'_>| {
        let across = |side: &[&MeasureSummary]| -> Option<Estimate> {
            let runs: Option<Vec<Estimate>> = side.iter().map(|m| (pick.of)(m)).collect();
            combined(&runs?)
        };
        let sides = (across(base)?, across(new)?);
        Some(compared(pick, sides, margin))
    };
    picks(like).into_iter().filter_map(row).collect()
}

/// Across runs; values of zero have no logarithm, so that theirs is the mean without an interval.
pub(crate) fn combined(runs: &[Estimate]) -> Option<Estimate> {
    let mean = || runs.iter().map(|r| r.point).sum::<f64>() / runs.len() as f64;
    stats::across_runs(runs).or_else(|| {
        let first = runs.first()?;
        Some(Estimate { point: mean(), interval: None, method: stats::METHOD_REPEATS, ..first.clone() })
    })
}

fn compared(pick: Pick<'_>, (base, new): (Estimate, Estimate), margin: Option<f64>) -> ComparedRow {
    let ratio = stats::ratio(&base, &new);
    let says = match pick.kind {
        Kind::Time => Difference::of,
        Kind::Spread => Difference::of_spreads,
    };
    ComparedRow {
        name: pick.name,
        unit: pick.unit,
        difference: ratio.as_ref().map_or(Difference::NotShown, says),
        equivalent: margin.and_then(|margin| stats::equivalent(ratio.as_ref()?, margin)),
        ratio,
        base,
        new,
    }
}
