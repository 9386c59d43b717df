//! Two sets of rounds against each other.

use crate::longrun::{normal_quantile, student_quantile};
use statrs::distribution::{ContinuousCDF, StudentsT};
use units::{Bound, Estimate};

/// The method name of ratios between rounds in `docs/statistics.md`.
pub const METHOD_ROUNDS: &str = "Welch's test on rounds";

/// What the points of rounds are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Points {
    /// Observed as they are, such as a maximum or a count: nothing within a round is uncertain.
    Observed,
    /// Estimated from samples, such as a quantile: each is uncertain by itself, by as much as its interval says, and by who
    /// knows how much where it has none.
    Estimated,
}

/// new / base by rounds.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundsRatio {
    /// The ratio of the geometric means; a lower bound where timeouts hide times of the new side.
    pub ratio: Estimate,
    /// Probability of a ratio as far from 1 if both sides were alike, to either side.
    pub p_value: f64,
    /// Whether timeouts hide times of the base: then the ratio is an upper bound.
    pub at_most: bool,
    /// Whether it is known how uncertain the rounds are by themselves: then the interval is no narrower than that. Where it is not,
    /// the interval may be too narrow, and shows no equality.
    pub knows_within: bool,
}

impl RoundsRatio {
    /// The interval, where the ratio is known to lie in it on either side.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.ratio.interval.filter(|_| self.knows_within && !self.at_most && self.ratio.bound == Bound::Exact)
    }

    /// Whether the whole interval lies between 1/(1 + margin) and 1 + margin. With an interval of level 1 − 2α these are
    /// two one-sided tests at α (Schuirmann 1987); the limits are as far from 1 in either direction as ratios go.
    pub fn is_within(&self, margin: f64) -> bool {
        self.bounds().is_some_and(|(low, high)| low * (1.0 + margin) >= 1.0 && high <= 1.0 + margin)
    }

    /// Whether it is above 1, if it differs from 1 at all: what timeouts hide can only add to it.
    pub fn may_be_higher(&self) -> bool {
        self.ratio.point > 1.0 && !self.at_most
    }

    /// Whether it is below 1, if it differs from 1 at all.
    pub fn may_be_lower(&self) -> bool {
        self.ratio.point < 1.0 && self.ratio.bound == Bound::Exact
    }
}

/// Compares rounds that were made apart from each other; `None` with fewer than two rounds on a side, when a point is not
/// above zero, and when timeouts hide times of both sides: then the ratio may be anything.
///
/// Welch's test on the logarithms of the points: each side has its own spread between rounds, estimated from its few
/// rounds, with Welch and Satterthwaite's degrees of freedom. Never narrower than what the intervals within the rounds give: of
/// three rounds that happen to be alike nobody may conclude that the fourth is. An estimate without an interval counts as
/// uncertain as the most uncertain one of its side. Where a side has none, or one without an end, how uncertain its rounds are is
/// not known: see [`RoundsRatio::knows_within`].
pub fn ratio_of_rounds(
    base: &[Estimate],
    new: &[Estimate],
    points: Points,
    level: f64,
) -> Option<RoundsRatio> {
    let (base, new) = (Side::of(base, points)?, Side::of(new, points)?);
    if base.at_least && new.at_least {
        return None;
    }
    let difference = new.mean - base.mean;
    let squared = base.squared_error() + new.squared_error();
    let part = |side: &Side| side.squared_error().powi(2) / (side.count - 1.0);
    let parts = part(&base) + part(&new);
    let freedom =
        if parts > 0.0 { squared * squared / parts } else { base.count.min(new.count) - 1.0 }.max(1.0);
    let p = 0.5 + level / 2.0;
    let between = student_quantile(p, freedom) * squared.sqrt();
    let by_rounds = two_sided(difference, squared.sqrt(), freedom);
    let within = (base.within.at_least + new.within.at_least).sqrt();
    let half = between.max(normal_quantile(p) * within);
    // Rounds that are all the same are told no finer than that: by how much they differ is not known.
    let is_told = squared > 0.0 || within > 0.0;
    let knows_within = is_told && base.within.is_all && new.within.is_all;
    let p_value = if is_told { by_rounds.max(normal_two_sided(difference, within)) } else { 1.0 };
    Some(RoundsRatio {
        ratio: Estimate {
            point: difference.exp(),
            interval: Some(((difference - half).exp(), (difference + half).exp())),
            level,
            n: base.n + new.n,
            n_effective: base.count.min(new.count),
            bound: if new.at_least { Bound::AtLeast } else { Bound::Exact },
            method: METHOD_ROUNDS,
        },
        p_value,
        at_most: base.at_least,
        knows_within,
    })
}

/// One side's rounds on the logarithmic scale.
struct Side {
    count: f64,
    mean: f64,
    /// Variance between rounds.
    variance: f64,
    within: Within,
    n: u64,
    at_least: bool,
}

impl Side {
    fn of(rounds: &[Estimate], points: Points) -> Option<Side> {
        if rounds.len() < 2 || rounds.iter().any(|round| round.point <= 0.0) {
            return None;
        }
        let count = rounds.len() as f64;
        let logs: Vec<f64> = rounds.iter().map(|round| round.point.ln()).collect();
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Some(Side {
            count,
            mean,
            variance,
            within: match points {
                Points::Observed => Within { at_least: 0.0, is_all: true },
                Points::Estimated => Within::of(rounds),
            },
            n: rounds.iter().map(|round| round.n).sum(),
            at_least: rounds.iter().any(|round| round.bound == Bound::AtLeast),
        })
    }

    fn squared_error(&self) -> f64 {
        self.variance / self.count
    }
}

/// How uncertain the mean logarithm is by the rounds' own intervals.
struct Within {
    /// Squared standard error.
    at_least: f64,
    /// Whether it is no more: not where no round has an interval, or one has no end.
    is_all: bool,
}

impl Within {
    fn of(rounds: &[Estimate]) -> Within {
        let squared = |round: &Estimate| {
            let (low, high) = round.interval?;
            let z = normal_quantile(0.5 + round.level / 2.0);
            let squared = ((high / low.max(0.0)).ln() / (2.0 * z)).powi(2);
            // The limits of a level of 1 say nothing of the spread.
            Some(if z.is_finite() { squared } else { f64::INFINITY })
        };
        let stated: Vec<f64> = rounds.iter().filter_map(squared).collect();
        let ended: Vec<f64> = stated.iter().copied().filter(|squared| squared.is_finite()).collect();
        let largest = ended.iter().copied().fold(0.0, f64::max);
        let others = (rounds.len() - ended.len()) as f64;
        Within {
            at_least: (ended.iter().sum::<f64>() + others * largest) / (rounds.len() as f64).powi(2),
            is_all: !stated.is_empty() && ended.len() == stated.len(),
        }
    }
}

fn two_sided(difference: f64, error: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) if error > 0.0 => (2.0 * t.cdf(-(difference / error).abs())).clamp(0.0, 1.0),
        _ => f64::from(u8::from(difference == 0.0)),
    }
}

fn normal_two_sided(difference: f64, error: f64) -> f64 {
    if error > 0.0 { statrs::function::erf::erfc((difference / error).abs() / 2f64.sqrt()) } else { 0.0 }
}

/// By how much so many rounds on either side may scatter, as a standard deviation of the logarithm, so that two sides that are
/// the same are still shown to be equal within the margin; `None` for fewer than two rounds.
pub fn carried_scatter(rounds: usize, margin: f64, level: f64) -> Option<f64> {
    let count = rounds as f64;
    let quantile = student_quantile(0.5 + level / 2.0, 2.0 * (count - 1.0));
    (rounds > 1).then(|| (1.0 + margin).ln() / (quantile * (2.0 / count).sqrt()))
}

/// Holm's correction (*Scandinavian Journal of Statistics* 1979): of so many tests at once, the probability of even one
/// false alarm stays below the limit that the corrected values are held to. In the order given; no independence is assumed.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut so_far = 0.0f64;
    for (rank, index) in order.iter().enumerate() {
        so_far = so_far.max(p_values[*index] * (p_values.len() - rank) as f64).min(1.0);
        corrected[*index] = so_far;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Rng, Seed};

    fn rounds(rng: &mut Rng, count: usize, centre: f64, spread: f64) -> Vec<Estimate> {
        (0..count).map(|_| Estimate::exact(centre * (spread * rng.normal()).exp(), 100)).collect()
    }

    /// How often `says` holds of 2,000 pairs of sides.
    fn how_often(
        counts: (usize, usize),
        ratio: f64,
        spreads: (f64, f64),
        says: impl Fn(&RoundsRatio) -> bool,
    ) -> f64 {
        let mut rng = Seed(17).rng();
        let one = |_| {
            let base = rounds(&mut rng, counts.0, 1e6, spreads.0);
            let new = rounds(&mut rng, counts.1, ratio * 1e6, spreads.1);
            says(&ratio_of_rounds(&base, &new, Points::Observed, 0.9).expect("several rounds above zero"))
        };
        (0..2_000).map(one).filter(|says| *says).count() as f64 / 2_000.0
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        for (counts, spreads) in [((3, 3), (0.1, 0.1)), ((5, 5), (0.3, 0.05)), ((3, 5), (0.2, 0.2))] {
            let held = how_often(counts, 1.5, spreads, |found| {
                found.ratio.interval.is_some_and(|(low, high)| low <= 1.5 && 1.5 <= high)
            });
            // 90 % meant; Welch's approximation errs towards wide with three rounds.
            assert!((0.88..=0.96).contains(&held), "{counts:?} {spreads:?}: {held}");
        }
    }

    #[test]
    fn differences_come_by_chance_as_often_as_they_say() {
        for counts in [(3, 3), (5, 5)] {
            let false_alarms = how_often(counts, 1.0, (0.2, 0.2), |found| found.p_value <= 0.05);
            assert!((0.02..=0.065).contains(&false_alarms), "{counts:?}: {false_alarms}");
            let found = how_often(counts, 3.0, (0.1, 0.1), |found| found.p_value <= 0.05);
            assert!(found > 0.99, "{counts:?}: {found}");
        }
    }

    /// At the margin itself equivalence is claimed in one of twenty; well within it, nearly always.
    #[test]
    fn equivalence_is_claimed_as_often_as_it_may() {
        for counts in [(3, 3), (5, 5)] {
            let wrong = how_often(counts, 1.25, (0.05, 0.05), |found| found.is_within(0.25));
            assert!(wrong <= 0.065, "{counts:?}: {wrong}");
            let right = how_often(counts, 1.0, (0.05, 0.05), |found| found.is_within(0.25));
            assert!(right > 0.97, "{counts:?}: {right}");
        }
        // What is said of three rounds: at that scatter, just shown where the sides' means happen to be the same.
        let scatter = carried_scatter(3, 0.25, 0.9).expect("three rounds");
        assert!((scatter - 0.128).abs() < 0.001 && carried_scatter(1, 0.25, 0.9).is_none(), "{scatter}");
        // Three rounds that scatter by 30 % carry no claim of ±25 %.
        let unsure = how_often((3, 3), 1.0, (0.3, 0.3), |found| found.is_within(0.25));
        assert!(unsure < 0.15, "{unsure}");
    }

    #[test]
    fn rounds_that_happen_to_be_alike_are_no_wider_known_than_each() {
        let round = Estimate { interval: Some((0.8, 1.25)), level: 0.95, ..Estimate::exact(1.0, 100) };
        let alike = vec![round; 3];
        let found = ratio_of_rounds(&alike, &alike, Points::Estimated, 0.9).expect("three rounds");
        // Each mean's standard error is ln(1.25) / 1.96 / √3.
        let half = 1.645 * (2.0f64 / 3.0).sqrt() * 1.25f64.ln() / 1.96;
        let (low, high) = found.ratio.interval.expect("stated");
        assert!((high.ln() - half).abs() < 1e-3 && (low.ln() + half).abs() < 1e-3 && found.p_value == 1.0);
        let exact = vec![Estimate::exact(2.0, 1); 3];
        let found = ratio_of_rounds(&exact, &exact, Points::Observed, 0.9).expect("three rounds");
        assert_eq!((found.ratio.interval, found.p_value), (Some((1.0, 1.0)), 1.0));
        let none = |base: &[Estimate]| assert_eq!(ratio_of_rounds(base, &exact, Points::Observed, 0.9), None);
        none(&exact[..1]);
        none(&[Estimate::exact(0.0, 1), Estimate::exact(1.0, 1)]);
    }

    /// What a coarse tool tells of three rounds each: alike to the digit, and a step apart.
    #[test]
    fn rounds_that_are_the_same_to_the_digit_show_nothing() {
        let told = |ms: f64| vec![Estimate::exact(ms, 1); 3];
        for new in [10.0, 11.0, 1_000.0] {
            let found =
                ratio_of_rounds(&told(10.0), &told(new), Points::Observed, 0.9).expect("three rounds");
            assert!(found.p_value == 1.0 && found.bounds().is_none() && !found.is_within(0.25), "{found:?}");
        }
        let mut one_differs = told(11.0);
        one_differs[0].point = 12.0;
        let found = ratio_of_rounds(&told(10.0), &one_differs, Points::Observed, 0.9).expect("three rounds");
        assert!(found.knows_within && found.p_value < 1.0, "{found:?}");
    }

    /// Three rounds of which the ends of the intervals are factors of `ends` from 1; `None` has no interval.
    fn three(ends: [Option<f64>; 3]) -> Vec<Estimate> {
        let round = |end: Option<f64>| Estimate {
            interval: end.map(|end| (1.0 / end, end)),
            level: 0.95,
            method: "test",
            ..Estimate::exact(1.0, 100)
        };
        ends.map(round).to_vec()
    }

    fn estimated(base: &[Estimate], new: &[Estimate]) -> RoundsRatio {
        ratio_of_rounds(base, new, Points::Estimated, 0.9).expect("three rounds above zero")
    }

    /// The rounds whose requests depend on each other the most are those without an interval: they are no more certain than
    /// the others.
    #[test]
    fn a_round_without_an_interval_counts_as_the_most_uncertain_of_the_others() {
        let sure = three([Some(1.01); 3]);
        let half = |new: &[Estimate]| estimated(&sure, new).ratio.interval.expect("stated").1.ln();
        let all = half(&three([Some(1.6); 3]));
        for ends in [[Some(1.6), None, None], [None, Some(1.6), Some(1.6)]] {
            assert!((half(&three(ends)) - all).abs() < 1e-12, "{ends:?}");
        }
        let one = estimated(&sure, &three([Some(1.6), None, None]));
        assert!(one.knows_within && !one.is_within(0.25), "{one:?}");
        assert!(half(&three([Some(1.2), Some(1.6), None])) > half(&three([Some(1.2), Some(1.6), Some(1.2)])));
        assert!(estimated(&sure, &three([Some(1.05), None, Some(1.04)])).is_within(0.25));
    }

    #[test]
    fn rounds_of_which_nobody_knows_how_sure_they_are_show_no_equality() {
        let sure = three([Some(1.01); 3]);
        let endless = |end: (f64, f64)| {
            let mut rounds = three([Some(1.01), Some(1.01), None]);
            rounds[2].interval = Some(end);
            rounds
        };
        for unsure in [three([None; 3]), endless((1.0, f64::INFINITY)), endless((0.0, 1.0))] {
            // What is known of the other side is not forgotten.
            let vague = estimated(&three([Some(1.6); 3]), &unsure).ratio.interval.expect("stated");
            assert!(vague.1.ln() > 0.99 * 1.6f64.ln() / 3f64.sqrt() * 1.645 / 1.96, "{vague:?}");
            for found in [estimated(&sure, &unsure), estimated(&unsure, &sure)] {
                assert!(
                    !found.is_within(0.25) && found.bounds().is_none() && found.p_value == 1.0,
                    "{found:?}"
                );
            }
        }
        // What is observed is as it is, and a difference of factors shows between rounds.
        let scattered = |at: f64| [1.0, 1.01, 0.99].map(|by| Estimate::exact(at * by, 100)).to_vec();
        let found = ratio_of_rounds(&sure, &scattered(1.0), Points::Observed, 0.9).expect("three rounds");
        assert!(found.is_within(0.25) && found.knows_within);
        let found = estimated(&scattered(1.0), &scattered(9.0));
        assert!(found.p_value < 0.001 && found.may_be_higher() && !found.is_within(100.0), "{found:?}");
    }

    /// Timeouts hide how long requests would have taken: on one side they move the ratio to one direction, on both to either.
    #[test]
    fn a_lower_bound_shows_one_direction_and_two_show_none() {
        let rounds = |at: f64, bound: Bound| {
            let round = |by: f64| Estimate { bound, ..Estimate::exact(at * by, 100) };
            [1.0, 1.001, 0.999].map(round).to_vec()
        };
        let ratio = |base: Bound, new: Bound, by: f64| {
            ratio_of_rounds(&rounds(1.0, base), &rounds(by, new), Points::Observed, 0.9)
        };
        let says = |base: Bound, new: Bound, by: f64| {
            let found = ratio(base, new, by).expect("a side is known");
            assert!(found.p_value < 0.05 || by == 1.0, "{found:?}");
            (found.is_within(0.25), found.may_be_higher(), found.may_be_lower())
        };
        use Bound::{AtLeast, Exact};
        assert_eq!(says(Exact, Exact, 1.0), (true, false, false));
        assert_eq!((says(Exact, AtLeast, 1.0).0, says(AtLeast, Exact, 1.0).0), (false, false));
        assert_eq!(
            (says(Exact, Exact, 3.0), says(Exact, Exact, 0.3)),
            ((false, true, false), (false, false, true))
        );
        assert_eq!(
            (says(Exact, AtLeast, 3.0), says(Exact, AtLeast, 0.3)),
            ((false, true, false), (false, false, false))
        );
        assert_eq!(
            (says(AtLeast, Exact, 3.0), says(AtLeast, Exact, 0.3)),
            ((false, false, false), (false, false, true))
        );
        assert_eq!(ratio(AtLeast, AtLeast, 3.0), None);
        assert_eq!(ratio(Exact, AtLeast, 3.0).map(|found| found.ratio.bound), Some(AtLeast));
    }

    #[test]
    fn holm_is_holm() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(corrected.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{corrected:?}");
        assert_eq!((holm(&[]), holm(&[0.6, 0.7])), (vec![], vec![1.0, 1.0]));
    }
}
