//! Repeats: the interval is that between runs, not that within one.

mod made;

use analysis::{Analysis, RepeatedMeasure, RepeatedRow, across_repeats};
use made::{Run, took};
use record::{LoadModel, Measure};
use units::Seed;

/// Exponential service times with this mean, 1/ms for 5 s.
fn run(model: LoadModel, seed: u64, mean_ns: f64) -> Analysis {
    let draw = move |i: u64| (Seed(seed).at(i).exponential() * mean_ns) as u64 + 1;
    Run::new(model, 5).each_ms(5_000, |i, sample| took(sample, draw(i))).analyse()
}

fn across(runs: &[Analysis]) -> Vec<RepeatedMeasure> {
    across_repeats(&runs.iter().collect::<Vec<_>>())
}

fn row<'a>(found: &'a [RepeatedMeasure], name: &str) -> &'a RepeatedRow {
    let rows = found.first().map(|m| &m.rows).expect("a measure");
    rows.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn runs_that_differ_widen_the_interval() {
    // Conditions that no single run can see: each run has a mean of its own around 0.3 ms.
    let means = [2.4e5, 3.0e5, 3.6e5, 2.7e5, 3.3e5];
    let runs: Vec<Analysis> = (1u64..).zip(means).map(|(seed, m)| run(LoadModel::Open, seed, m)).collect();
    let found = across(&runs);
    let mean = row(&found, "mean");
    let (low, high) = mean.across.interval.expect("five runs have an interval");
    assert!(low < 3e5 && 3e5 < high, "{low} to {high}");
    let within = runs[1].total.measure(Measure::Response).expect("has it").mean.interval.expect("has one");
    assert!(high - low > 3.0 * (within.1 - within.0), "{low} to {high}, within one run {within:?}");
    assert!((mean.least / 2.4e5 - 1.0).abs() < 0.05 && (mean.most / 3.6e5 - 1.0).abs() < 0.05, "{mean:?}");
    let spread = mean.most_over_least.expect("several runs");
    assert!((spread - mean.most / mean.least).abs() < 1e-12 && (spread - 1.5).abs() < 0.1, "{spread}");
    assert_eq!(mean.points.len(), 5);
    // Quantiles and spreads, of both times.
    assert_eq!(found.iter().map(|m| m.measure).collect::<Vec<_>>(), [Measure::Response, Measure::Service]);
    for name in ["p50", "p99", "max", "variance", "coefficient of variation", "p99/mean", "median/min"] {
        assert!(row(&found, name).across.interval.is_some(), "{name}");
    }
}

#[test]
fn one_run_has_no_spread_and_none_has_nothing() {
    let found = across(&[run(LoadModel::Closed, 1, 3e5)]);
    assert_eq!(found.iter().map(|m| m.measure).collect::<Vec<_>>(), [Measure::Service]);
    assert_eq!(row(&found, "p50").most_over_least, None);
    assert_eq!(across(&[]), []);
}
