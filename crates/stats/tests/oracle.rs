//! The fast histogram against sorted vectors.

use proptest::prelude::*;
use stats::{Distribution, LogHistogram, Ranks};
use units::{Bound, Instant, Nanos, Quantile, Seed};

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..5_000, any::<u64>(), (0u32..64).prop_map(|b| 1u64 << b), 1_000_000u64..1_000_200]
}

fn histogram(values: &[u64]) -> LogHistogram {
    let mut all = LogHistogram::new();
    values.iter().for_each(|v| all.record(*v));
    all
}

proptest! {
    #[test]
    fn ranks_bracket_the_sorted_values(mut values in prop::collection::vec(value(), 1..300)) {
        let found = histogram(&values);
        values.sort_unstable();
        for (index, exact) in values.iter().enumerate() {
            let (low, high) = found.value_at_rank(index as u64 + 1).unwrap();
            prop_assert!(low <= *exact && *exact <= high);
            prop_assert!((high - low) as f64 <= low as f64 / 4096.0);
        }
        prop_assert_eq!(found.value_at_rank(0), None);
        prop_assert_eq!(found.value_at_rank(values.len() as u64 + 1), None);
        prop_assert_eq!(found.min(), values.first().copied());
        prop_assert_eq!(found.max(), values.last().copied());
        prop_assert_eq!(found.sum(), values.iter().map(|v| u128::from(*v)).sum::<u128>());
    }

    #[test]
    fn counts_above_are_exact_at_bucket_limits(values in prop::collection::vec(value(), 1..200), limit in value()) {
        let found = histogram(&values);
        let ranks = Ranks::new(&found);
        prop_assert_eq!(ranks.above(limit), found.count_above(limit));
        let exact = values.iter().filter(|v| **v > limit).count() as u64;
        let near = values.iter().filter(|v| v.abs_diff(limit) as f64 <= limit as f64 / 4096.0).count() as u64;
        prop_assert!(found.count_above(limit) <= exact && exact <= found.count_above(limit) + near);
        if limit < 4096 {
            prop_assert_eq!(found.count_above(limit), exact);
        }
    }

    #[test]
    fn merging_is_exact_in_any_order(
        a in prop::collection::vec(value(), 0..100),
        b in prop::collection::vec(value(), 0..100),
        c in prop::collection::vec(value(), 0..100),
    ) {
        let whole = histogram(&[a.clone(), b.clone(), c.clone()].concat());
        let mut left = histogram(&a);
        left.merge(&histogram(&b));
        left.merge(&histogram(&c));
        let mut right = histogram(&c);
        right.merge(&histogram(&b));
        right.merge(&histogram(&a));
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(&right, &whole);
    }

    #[test]
    fn ranks_without_the_censored_are_those_of_the_rest(
        known in prop::collection::vec(value(), 0..100),
        cut in prop::collection::vec(value(), 0..100),
    ) {
        let whole = histogram(&[known.clone(), cut.clone()].concat());
        let rest = Ranks::without(&whole, &histogram(&cut));
        let mut sorted = known;
        sorted.sort_unstable();
        prop_assert_eq!(rest.count(), sorted.len() as u64);
        for (index, exact) in sorted.iter().enumerate() {
            let (low, high) = rest.at(index as u64 + 1).unwrap();
            prop_assert!(low <= *exact && *exact <= high);
        }
    }
}

fn spread_out(n: u64, value: impl Fn(u64) -> u64) -> Distribution {
    let mut all = Distribution::new(Instant::EPOCH);
    (0..n).for_each(|i| all.record(Instant(i * 1_000_000), Nanos(value(i))));
    all
}

fn q(q: f64) -> Quantile {
    Quantile::new(q).unwrap()
}

#[test]
fn a_quantile_is_the_value_at_its_rank() {
    // 1 to 1000 in a scrambled order: rank r has value r, exactly.
    let all = spread_out(1_000, |i| i * 389 % 1_000 + 1);
    let view = all.view();
    for (at, expected) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
        let found = view.quantile(q(at), 0.95).unwrap();
        assert_eq!((found.point, found.n, found.bound), (expected, 1_000, Bound::Exact));
        assert!(found.low() <= expected && expected <= found.high());
    }
    assert_eq!(view.quantile(q(0.999), 0.95), None, "needs 10,000 samples");
    assert_eq!(view.quantile(q(1.0), 0.95).unwrap().point, 1_000.0);
}

#[test]
fn the_same_samples_and_seed_give_the_same_bits() {
    let all = spread_out(5_000, |i| 1_000 + i * i % 7_919);
    let first = all.view().moments(0.95, Seed(4)).unwrap();
    assert_eq!(first, all.view().moments(0.95, Seed(4)).unwrap());
    assert_ne!(first.mean.interval, all.view().moments(0.95, Seed(5)).unwrap().mean.interval);
}

#[test]
fn censored_samples_make_lower_bounds_where_they_matter() {
    let mut all = spread_out(10_000, |i| i * 389 % 10_000 + 1);
    // 1 % more that were given up at 9,500: they hide the top, and leave the median alone.
    (0..100).for_each(|i| all.record_censored(Instant(i * 90_000_000), Nanos(9_500)));
    let view = all.view();
    let median = view.quantile(q(0.5), 0.95).unwrap();
    assert_eq!((median.bound, median.interval.is_some()), (Bound::Exact, true));
    let high = view.quantile(q(0.99), 0.95).unwrap();
    assert_eq!(high.bound, Bound::AtLeast);
    assert_eq!(view.maximum().unwrap().bound, Bound::AtLeast);
    assert_eq!(view.moments(0.95, Seed(1)).unwrap().mean.bound, Bound::AtLeast);
    // Had none of them ended, rank 9,999 of 10,100 were value 9,999: the interval must reach it or be silent.
    assert!(high.interval.is_none_or(|(_, limit)| limit >= 9_999.0));
}

/// A request in flight when the run ends is cut at a short time. One of them hides nothing worth telling.
#[test]
fn a_single_unfinished_request_moves_no_quantile() {
    let mut all = spread_out(10_000, |i| i * 389 % 10_000 + 1);
    all.record_censored(Instant(1), Nanos(3));
    let view = all.view();
    for at in [0.5, 0.9, 0.99] {
        let found = view.quantile(q(at), 0.95).unwrap();
        assert_eq!(found.bound, Bound::Exact, "{found:?}");
    }
    assert_eq!(view.maximum().unwrap().bound, Bound::AtLeast, "it may have become the longest");
}

#[test]
fn identical_and_single_samples_are_no_trouble() {
    let same = spread_out(1_000, |_| 77);
    let median = same.view().quantile(q(0.5), 0.95).unwrap();
    assert_eq!((median.point, median.interval), (77.0, Some((77.0, 77.0))));
    let moments = same.view().moments(0.95, Seed(1)).unwrap();
    assert_eq!((moments.mean.point, moments.sd.point), (77.0, 0.0));
    let one = spread_out(1, |_| 5);
    assert_eq!(one.view().moments(0.95, Seed(1)).unwrap().mean.interval, None);
    assert!(Distribution::new(Instant::EPOCH).view().moments(0.95, Seed(1)).is_none());
    assert!(Distribution::new(Instant::EPOCH).view().maximum().is_none());
}

#[test]
fn drift_is_seen_and_not_imagined() {
    let mut rng = Seed(8).rng();
    let draws: Vec<f64> = (0..20_000).map(|_| rng.exponential()).collect();
    let steady = spread_out(20_000, |i| (draws[i as usize] * 1e6) as u64);
    assert!(steady.view().drift().unwrap().p_value > 0.001);
    let growing = spread_out(20_000, |i| (draws[i as usize] * (1e6 + 50.0 * i as f64)) as u64);
    let found = growing.view().drift().unwrap();
    assert!(found.p_value < 1e-3 && found.median_ratio > 1.2, "{found:?}");
}
