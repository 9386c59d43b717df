//! Differences that were planted are found, and none are found where there is none.

mod made;

use analysis::{Analysis, CompareError, CompareOptions, VerdictState, compare};
use made::{Run, S, took};
use record::{LoadModel, Measure};
use stats::Difference;
use units::{PerSecond, Quantile, Seed};

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
