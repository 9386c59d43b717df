//! Differences that were planted are found, and none are found where there is none.

mod made;

use analysis::{Analysis, CompareError, CompareOptions, ComparedRow, Unit, VerdictState, compare, facts};
use made::{Run, S, took};
use record::{LoadModel, Measure, Provenance};
use stats::Difference;
use units::{Nanos, PerSecond, Quantile, Seed};

/// Exponential service times with this mean, in an open load of 1/ms for 10 s.
fn run(seed: u64, mean_ns: f64) -> Analysis {
    let draw = move |i: u64| (Seed(seed).at(i).exponential() * mean_ns) as u64 + 1;
    Run::new(LoadModel::Open, 10).each_ms(10_000, |i, sample| took(sample, draw(i))).analyse()
}

fn difference(base: &[Analysis], new: &[Analysis]) -> Difference {
    let (base, new): (Vec<_>, Vec<_>) = (base.iter().collect(), new.iter().collect());
    compare(&base, &new, &CompareOptions::default()).expect("comparable").difference
}

#[test]
fn planted_differences_are_shown_in_the_right_direction() {
    let (slow, fast) = (run(1, 3e5), run(2, 2e5));
    assert_eq!(difference(std::slice::from_ref(&fast), std::slice::from_ref(&slow)), Difference::Slower);
    let found = compare(&[&slow], &[&fast], &CompareOptions::default()).unwrap();
    assert_eq!((found.difference, found.decided_by.as_str()), (Difference::Faster, "p99"));
    assert_eq!(found.measure, Measure::Response);
    let mean = found.rows.iter().find(|r| r.name == "mean").unwrap().ratio.clone().unwrap();
    assert!(mean.low() < 2.0 / 3.0 && 2.0 / 3.0 < mean.high(), "{mean:?}");
    assert_eq!((found.base.1, found.new.1), (VerdictState::Valid, VerdictState::Valid));
    let max = found.rows.iter().find(|r| r.name == "max").unwrap();
    assert_eq!((max.difference, max.ratio.clone().unwrap().interval), (Difference::NotShown, None));
}

#[test]
fn equal_sides_show_no_difference_and_are_equivalent() {
    let shown = (0..40)
        .filter(|i| difference(&[run(100 + 2 * i, 3e5)], &[run(101 + 2 * i, 3e5)]) != Difference::NotShown);
    // 5 % of 40 is 2; the intervals are on the wide side.
    assert!(shown.count() <= 4);
    let options =
        CompareOptions { margin: Some(0.1), headline: Quantile::PRINTED[0], ..CompareOptions::default() };
    let (a, b) = (run(1, 3e5), run(2, 3e5));
    let found = compare(&[&a], &[&b], &options).unwrap();
    assert_eq!((found.decided_by.as_str(), found.rows[0].equivalent), ("p50", Some(true)));
}

/// 0.2 ms and an exponential part: the mean is 0.3 ms for all, the spread is `part` of it.
fn spread(seed: u64, part: f64) -> Analysis {
    let draw = move |i: u64| (3e5 * (1.0 - part + part * Seed(seed).at(i).exponential())) as u64;
    // 0.1 ms of each response time is waiting.
    let late = |s: record::Sample| record::Sample { sent: s.sent + Nanos(100_000), ..s };
    Run::new(LoadModel::Open, 10).each_ms(10_000, |i, s| took(late(s), draw(i))).analyse()
}

const SPREADS: [&str; 6] =
    ["variance", "standard deviation", "coefficient of variation", "p99/mean", "max/median", "median/min"];

fn row<'a>(rows: &'a [ComparedRow], name: &str) -> &'a ComparedRow {
    rows.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no row {name}"))
}

#[test]
fn planted_spreads_are_shown_for_both_times() {
    // The same mean, half the standard deviation: of the service time, by construction, exactly a quarter of
    // the variance, and half of the coefficient of variation.
    let (wild, calm) = (spread(1, 0.8), spread(2, 0.4));
    let found = compare(&[&wild], &[&calm], &CompareOptions::default()).unwrap();
    assert_eq!(found.measure, Measure::Response);
    let [service] = &found.others[..] else { panic!("{:?}", found.others) };
    assert_eq!(service.measure, Measure::Service);
    let planted = [
        ("variance", Unit::SquaredNanos, 0.25),
        ("standard deviation", Unit::Nanos, 0.5),
        ("coefficient of variation", Unit::Ratio, 0.5),
        // p99 of 0.3 ms · (1 − part + part · ln 100).
        ("p99/mean", Unit::Ratio, (0.6 + 0.4 * 100f64.ln()) / (0.2 + 0.8 * 100f64.ln())),
    ];
    for (name, unit, truth) in planted {
        let found = row(&service.rows, name);
        let ratio = found.ratio.clone().unwrap();
        assert!(ratio.low() < truth && truth < ratio.high() && ratio.high() < 0.9, "{name}: {ratio:?}");
        assert_eq!((found.difference, found.unit), (Difference::Steadier, unit), "{name}");
        let back = compare(&[&calm], &[&wild], &CompareOptions::default()).unwrap();
        assert_eq!(row(&back.others[0].rows, name).difference, Difference::LessSteady, "{name}");
    }
    // The waiting is in the response time alone: the same variance, a smaller share of the mean.
    let (response, service) = (row(&found.rows, "variance"), row(&service.rows, "variance"));
    assert!((response.base.point / service.base.point - 1.0).abs() < 1e-6);
    let cv = "coefficient of variation";
    let (response, service) = (row(&found.rows, cv), row(&found.others[0].rows, cv));
    assert!((response.base.point / service.base.point - 0.75).abs() < 0.01, "{response:?}");
    assert_eq!(row(&found.rows, "mean").difference, Difference::NotShown, "nothing is faster");
}

#[test]
fn one_runs_extremes_show_nothing_and_repeats_can() {
    let (wild, calm) = (spread(1, 0.8), spread(2, 0.4));
    let single = compare(&[&wild], &[&calm], &CompareOptions::default()).unwrap();
    for name in ["max", "max/median", "median/min"] {
        let found = row(&single.rows, name);
        assert_eq!((found.difference, found.ratio.clone().unwrap().interval), (Difference::NotShown, None));
    }
    let repeats =
        |part: f64, seed: u64| -> Vec<Analysis> { (0..4).map(|i| spread(seed + i, part)).collect() };
    let (wild, calm) = (repeats(0.8, 10), repeats(0.4, 20));
    let (wild, calm): (Vec<_>, Vec<_>) = (wild.iter().collect(), calm.iter().collect());
    let found = compare(&wild, &calm, &CompareOptions::default()).unwrap();
    for name in SPREADS {
        assert_eq!(row(&found.others[0].rows, name).difference, Difference::Steadier, "{name}");
    }
}

#[test]
fn equal_spreads_are_equivalent_and_a_closed_loop_has_one_time() {
    let (a, b) = (spread(1, 0.4), spread(2, 0.4));
    let options = CompareOptions { margin: Some(0.25), ..CompareOptions::default() };
    let found = compare(&[&a], &[&b], &options).unwrap();
    for rows in [&found.rows, &found.others[0].rows] {
        for name in &SPREADS[..4] {
            let found = row(rows, name);
            assert_eq!((found.difference, found.equivalent), (Difference::NotShown, Some(true)), "{name}");
        }
        assert_eq!(row(rows, "max/median").equivalent, None, "no interval, no answer");
    }
    let closed = || Run::new(LoadModel::Closed, 2).each_ms(2_000, |i, s| took(s, i + 1)).analyse();
    let found = compare(&[&closed()], &[&closed()], &options).unwrap();
    assert_eq!((found.measure, found.others.len()), (Measure::Service, 0));
    assert!(SPREADS.iter().all(|name| found.rows.iter().any(|r| r.name == *name)));
}

/// Runs that differ by 20 % from one to the next: a difference of 10 % between two means nothing, and only
/// repeats can tell.
#[test]
fn the_spread_between_repeats_decides() {
    let side = |seed: u64, mean: f64| -> Vec<Analysis> {
        let factor = |i: u64| (0.2 * Seed(seed).at(i).normal()).exp();
        (0..3).map(|i| run(seed * 10 + i, mean * factor(i))).collect()
    };
    let (mut single, mut repeated) = (0, 0);
    for pair in 0..15 {
        let (base, new) = (side(500 + 2 * pair, 3e5), side(501 + 2 * pair, 3e5));
        single += u32::from(difference(&base[..1], &new[..1]) != Difference::NotShown);
        repeated += u32::from(difference(&base, &new) != Difference::NotShown);
    }
    assert!(single >= 5, "one run each shows differences that are none: {single} of 15");
    assert!(repeated <= 2, "three runs each do not: {repeated} of 15");
}

#[test]
fn runs_of_different_lengths_are_named() {
    let of = |count: u64| {
        let run = Run::new(LoadModel::Open, count / 1_000);
        run.each_ms(count, |i, s| took(s, (Seed(5).at(i).exponential() * 3e5) as u64 + 1)).analyse()
    };
    let said = |base: u64, new: u64| {
        let found = compare(&[&of(base)], &[&of(new)], &CompareOptions::default()).unwrap();
        found.warnings.into_iter().find(|w| w.contains("grow with their number"))
    };
    assert_eq!(said(10_000, 10_000), None);
    let warning = said(10_000, 30_000).expect("three times as many");
    assert!(warning.starts_with("10,000 requests in a base run against 30,000"), "{warning}");
}

#[test]
fn different_loads_are_refused_unless_asked() {
    let open = run(1, 3e5);
    let mut faster = open.clone();
    faster.recordings[0].header.phases[0].offered = PerSecond::new(1_500.0).map(|r| (r, r));
    let refused = compare(&[&open], &[&faster], &CompareOptions::default()).unwrap_err();
    assert!(matches!(refused, CompareError::Rates { .. }), "{refused}");
    assert!(refused.to_string().contains("1500.0/s") && !refused.to_string().contains('\n'));
    let closed = Run::new(LoadModel::Closed, 10).each_ms(10_000, |_, s| took(s, 1_000)).analyse();
    let refused = compare(&[&open], &[&closed], &CompareOptions::default()).unwrap_err();
    assert!(matches!(refused, CompareError::Models { .. }), "{refused}");
    let allowed = CompareOptions { allow_different_loads: true, ..CompareOptions::default() };
    let found = compare(&[&open], &[&closed], &allowed).unwrap();
    assert_eq!(found.measure, Measure::Service);
    assert!(found.warnings[0].contains("closed loop"), "{:?}", found.warnings);
    assert!(matches!(compare(&[], &[&open], &allowed), Err(CompareError::Nothing { side: "base" })));
    let empty = Run::new(LoadModel::Open, 1).analyse();
    assert!(matches!(compare(&[&empty], &[&empty], &allowed), Err(CompareError::NoSamples { .. })));
    assert_eq!(open.measured.1.0, 10 * S);
}

#[test]
fn what_is_not_alike_is_named() {
    let warnings = |base: &Run, new: &Run| {
        let (base, new) = (base.analyse(), new.analyse());
        compare(&[&base], &[&new], &CompareOptions::default()).expect("comparable").warnings.join("\n")
    };
    let base = Run::new(LoadModel::Open, 10).each_ms(10_000, |_, s| took(s, 300_000));
    assert!(!warnings(&base, &base).contains("differ"));
    let mut new = base.clone();
    new.input.info.header.provenance = Provenance::Imported { tool: "pgbench".to_owned() };
    assert!(warnings(&base, &new).contains("the tools differ, truetail and pgbench: what each of them adds"));
    new = base.clone();
    new.input.info.header.workload = "noop".to_owned();
    new.input.info.header.target = "redis://b".to_owned();
    let found = warnings(&base, &new);
    assert!(found.contains("the workloads differ, test and noop"), "{found}");
    assert!(found.contains("the targets differ, null: and redis://b"), "{found}");
    // Who does not tell differs from nobody.
    for untold in ["", facts::NO_WORKLOAD] {
        new.input.info.header.workload = untold.to_owned();
        assert!(!warnings(&base, &new).contains("workloads"));
    }
    new.input.info.header.target = facts::NO_TARGET.to_owned();
    assert!(!warnings(&base, &new).contains("targets"));
}

/// A clock that tells whole steps shows short requests as zero: what they would divide is unknown, and no row of a comparison.
#[test]
fn what_a_time_of_zero_would_divide_is_unknown_and_not_compared() {
    let some = |part: u64| {
        let run = Run::new(LoadModel::Closed, 10);
        run.each_ms(10_000, move |i, s| took(s, if i % part == 0 { 1_000_000 } else { 0 })).analyse()
    };
    let spreads = |analysis: &Analysis| {
        let service = analysis.total.measure(Measure::Service).expect("all were served");
        service.spreads.clone()
    };
    let (all_zero, half_zero, long) = (spreads(&some(u64::MAX)), spreads(&some(3)), run(1, 3e5));
    // The first of them took its time.
    assert!(all_zero.coefficient_of_variation.is_some() && all_zero.max_over_median.is_none());
    assert_eq!(all_zero.p99_over_mean.map(|e| (e.point, e.interval)), Some((0.0, None)));
    assert_eq!((half_zero.max_over_median, half_zero.median_over_min), (None, None));
    assert!(half_zero.p99_over_mean.is_some());
    let none = spreads(&Run::new(LoadModel::Closed, 10).each_ms(10_000, |_, s| s).analyse());
    assert_eq!((none.coefficient_of_variation, none.p99_over_mean), (None, None));
    assert_eq!((none.max_over_median, none.median_over_min), (None, None));
    let known = spreads(&long);
    assert!(known.max_over_median.is_some() && known.median_over_min.is_some());
    let found = compare(&[&some(3)], &[&some(3)], &CompareOptions::default()).expect("comparable");
    let has = |name: &str| found.rows.iter().any(|row| row.name == name);
    assert!(has("p99/mean") && has("coefficient of variation"));
    assert!(!has("max/median") && !has("median/min"), "{:?}", found.rows);
}
