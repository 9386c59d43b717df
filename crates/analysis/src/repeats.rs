//! What repeats of one run show together: how far the next one may be expected to differ.

use crate::compared::{Unit, combined, picks};
use crate::{Analysis, MeasureSummary};
use record::Measure;
use units::Estimate;

/// One time across runs.
#[derive(Clone, PartialEq, Debug)]
pub struct RepeatedMeasure {
    /// Which time.
    pub measure: Measure,
    /// Quantity by quantity, in the order of [`Comparison::rows`](crate::Comparison::rows); those that a run
    /// lacks are left out.
    pub rows: Vec<RepeatedRow>,
}

/// One quantity across runs.
#[derive(Clone, PartialEq, Debug)]
pub struct RepeatedRow {
    /// `p99`, `mean`, `max`, `variance`, …
    pub name: String,
    /// What all but `most_over_least` are counted in.
    pub unit: Unit,
    /// Of all runs, with the interval between them (`stats::across_runs`).
    pub across: Estimate,
    /// The runs' own points, in their order.
    pub points: Vec<f64>,
    /// The smallest of them.
    pub least: f64,
    /// The largest of them.
    pub most: f64,
    /// The spread between the runs as a ratio, at least 1; it grows with their number. `None` with a single
    /// run, or when the smallest is zero.
    pub most_over_least: Option<f64>,
}

/// Response and service time across runs of one configuration; times that a run lacks are left out, and there
/// are none without runs. Cost ≈ 10 µs per run.
pub fn across_repeats(runs: &[&Analysis]) -> Vec<RepeatedMeasure> {
    [Measure::Response, Measure::Service].into_iter().filter_map(|measure| repeated(runs, measure)).collect()
}

fn repeated(runs: &[&Analysis], measure: Measure) -> Option<RepeatedMeasure> {
    let summaries: Option<Vec<&MeasureSummary>> = runs.iter().map(|a| a.total.measure(measure)).collect();
    let summaries = summaries?;
    let row = |pick: crate::compared::Pick<'_>| {
        let estimates: Option<Vec<Estimate>> = summaries.iter().map(|m| (pick.of)(m)).collect();
        let estimates = estimates?;
        let points: Vec<f64> = estimates.iter().map(|e| e.point).collect();
        let least = points.iter().copied().fold(f64::INFINITY, f64::min);
        let most = points.iter().copied().fold(0.0, f64::max);
        let several = points.len() > 1 && least > 0.0;
        Some(RepeatedRow {
            across: combined(&estimates)?,
            name: pick.name.clone(),
            unit: pick.unit,
            least,
            most,
            most_over_least: several.then(|| most / least),
            points,
        })
    };
    let rows = picks(summaries.first()?).into_iter().filter_map(row).collect();
    Some(RepeatedMeasure { measure, rows })
}
