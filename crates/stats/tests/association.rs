//! Association by circular shifts: chance gives uniform p-values, a planted link small ones, and the fast overlap is the
//! slow one's.

use proptest::prelude::*;
use stats::{Association, IntervalSeries, association};
use units::{Rng, Seed};

const SPAN: u64 = 10_000_000;

fn tested(first: &[(u64, u64)], second: &[(u64, u64)], seed: u64) -> Association {
    let series = IntervalSeries { first, second };
    association(&[series], (0, SPAN), 0.95, Seed(seed)).expect("both have intervals")
}

/// Clusters of intervals: as requests behind a stall are, and pauses of one collection.
fn clusters(rng: &mut Rng, count: usize, each: u64, length: f64) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for _ in 0..count {
        let at = rng.below(SPAN);
        for _ in 0..=rng.below(each) {
            let begin = at + (length * rng.exponential()) as u64;
            all.push((begin, begin + 1 + (length * rng.exponential()) as u64));
        }
    }
    all
}

#[test]
fn independent_series_give_uniform_p_values() {
    const RUNS: u64 = 600;
    let p_values: Vec<f64> = (0..RUNS)
        .map(|run| {
            let mut rng = Seed(run).derive("independent").rng();
            let requests = clusters(&mut rng, 40, 5, 40_000.0);
            let pauses = clusters(&mut rng, 40, 5, 20_000.0);
            tested(&requests, &pauses, run).p_value
        })
        .collect();
    for limit in [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9] {
        let below = p_values.iter().filter(|p| **p <= limit).count() as f64;
        // Four standard deviations of a binomial count.
        let (mean, sd) = (RUNS as f64 * limit, (RUNS as f64 * limit * (1.0 - limit)).sqrt());
        assert!((below - mean).abs() < 4.0 * sd, "{below} of {RUNS} below {limit}");
    }
}

/// The ratio's interval holds 1 where nothing links them, …
#[test]
fn the_interval_of_chance_holds_one() {
    const RUNS: u64 = 400;
    let holds = |run: u64| {
        let mut rng = Seed(run).derive("chance").rng();
        let requests = clusters(&mut rng, 60, 4, 40_000.0);
        let pauses = clusters(&mut rng, 60, 4, 30_000.0);
        let (low, high) = tested(&requests, &pauses, run).ratio.interval.expect("always has one");
        low <= 1.0 && 1.0 <= high
    };
    let held = (0..RUNS).filter(|run| holds(*run)).count() as f64 / RUNS as f64;
    assert!(held > 0.95 - 4.0 * (0.95f64 * 0.05 / RUNS as f64).sqrt(), "{held}");
}

/// … and the planted ratio where something does.
#[test]
fn the_interval_of_a_link_holds_the_planted_ratio() {
    const RUNS: u64 = 300;
    // 50 pauses of 4,000 cover 2 %; of 400 short requests three in ten begin in one.
    let (pauses, length, linked) = (50u64, 4_000u64, 0.3);
    let truth = (linked + (1.0 - linked) * 0.02) / 0.02;
    let mut held = 0u64;
    for run in 0..RUNS {
        let mut rng = Seed(run).derive("linked").rng();
        let gap = SPAN / pauses;
        let paused: Vec<(u64, u64)> = (0..pauses)
            .map(|i| i * gap + rng.below(gap - length - 10))
            .map(|begin| (begin, begin + length))
            .collect();
        let requests: Vec<(u64, u64)> = (0..400)
            .map(|_| match rng.unit() < linked {
                true => paused[rng.below(pauses) as usize].0 + rng.below(length - 10),
                false => rng.below(SPAN - 10),
            })
            .map(|begin| (begin, begin + 10))
            .collect();
        let found = tested(&requests, &paused, run);
        assert!(found.p_value <= 0.01, "{found:?}");
        let (low, high) = found.ratio.interval.expect("always has one");
        assert!(low > 1.0, "{found:?}");
        held += u64::from(low <= truth && truth <= high);
    }
    assert!(held * 100 >= RUNS * 95, "{held} of {RUNS}");
}

#[test]
fn one_stall_that_holds_all_slow_requests_is_seen() {
    let requests: Vec<(u64, u64)> = (0..30).map(|i| (5_000_000 + 1_000 * i, 5_050_000)).collect();
    let found = tested(&requests, &[(5_000_000, 5_050_000)], 3);
    assert_eq!(found.p_value, 0.001);
    // All of their time, where 0.5 % of it would be chance.
    assert!((found.ratio.point - 200.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let mut rng = Seed(8).rng();
    let (a, b) = (clusters(&mut rng, 20, 3, 1e4), clusters(&mut rng, 20, 3, 1e4));
    assert_eq!(tested(&a, &b, 5), tested(&a, &b, 5));
    // Order does not matter.
    let mut turned = a.clone();
    turned.reverse();
    assert_eq!(tested(&a, &b, 5), tested(&turned, &b, 5));
}

/// Nanosecond by nanosecond.
fn slow_overlap(first: &[(u64, u64)], second: &[(u64, u64)], span: (u64, u64)) -> u64 {
    let within =
        |list: &[(u64, u64)], at: u64| list.iter().filter(|(b, e)| *b <= at && at < *e).count() as u64;
    (span.0..span.1).map(|at| within(first, at) * within(second, at).min(1)).sum()
}

/// The mean over every shift there is.
fn slow_mean(first: &[(u64, u64)], second: &[(u64, u64)], span: (u64, u64)) -> f64 {
    let length = span.1 - span.0;
    let covered = |at: u64| second.iter().any(|(b, e)| *b <= at && at < *e);
    let depth = |at: u64| first.iter().filter(|(b, e)| *b <= at && at < *e).count() as u64;
    let sum: u64 = (0..length)
        .map(|shift| {
            let back = |at: u64| span.0 + (at - span.0 + length - shift) % length;
            (span.0..span.1).map(|at| depth(at) * u64::from(covered(back(at)))).sum::<u64>()
        })
        .sum();
    sum as f64 / length as f64
}

fn intervals() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((0u64..90, 0u64..25).prop_map(|(begin, length)| (begin, begin + length)), 0..12)
}

proptest! {
    #[test]
    fn the_overlap_is_the_slow_ones(
        first in intervals(),
        second in intervals(),
        begin in 0u64..40,
        length in 1u64..70,
    ) {
        let span = (begin, begin + length);
        let series = IntervalSeries { first: &first, second: &second };
        let found = association(&[series], span, 0.95, Seed(1));
        let mean = slow_mean(&first, &second, span);
        match found {
            None => prop_assert_eq!(mean, 0.0),
            Some(found) => {
                prop_assert_eq!(found.overlap, slow_overlap(&first, &second, span) as f64);
                prop_assert!((found.by_chance - mean).abs() <= 1e-9 * mean.max(1.0), "{:?} {}", found, mean);
                prop_assert!(found.p_value > 0.0 && found.p_value <= 1.0);
                let (low, high) = found.ratio.interval.expect("always has one");
                prop_assert!(low <= found.ratio.point && found.ratio.point <= high, "{:?}", found);
            }
        }
    }
}

/// Long series are not tested for seconds: fewer shifts do.
#[test]
fn long_series_are_shifted_less_often() {
    let many: Vec<(u64, u64)> = (0..60_000).map(|i| (i * 150, i * 150 + 40)).collect();
    let found = tested(&many, &many, 1);
    assert_eq!((found.shifts, found.overlap), (333, 60_000.0 * 40.0));
    assert!(found.p_value <= 0.02, "only shifts by whole periods give as much: {}", found.p_value);
}
