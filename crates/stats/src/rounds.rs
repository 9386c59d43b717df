//! Two sets of rounds against each other, and what rounds say of two quantities together.

use crate::longrun::{normal_quantile, student_quantile};
use statrs::distribution::{ContinuousCDF, StudentsT};
use units::{Bound, Estimate, Seed};

/// The method name of ratios between rounds in `docs/statistics.md`.
pub const METHOD_ROUNDS: &str = "Welch's test on rounds";

/// new / base by rounds.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundsRatio {
    /// The ratio of the geometric means.
    pub ratio: Estimate,
    /// Probability of a ratio as far from 1 if both sides were alike, to either side.
    pub p_value: f64,
}

impl RoundsRatio {
    /// Whether the whole interval lies between 1/(1 + margin) and 1 + margin. With an interval of level 1 − 2α these are
    /// two one-sided tests at α (Schuirmann 1987); the limits are as far from 1 in either direction as ratios go.
    pub fn is_within(&self, margin: f64) -> bool {
        self.ratio.interval.is_some_and(|(low, high)| low * (1.0 + margin) >= 1.0 && high <= 1.0 + margin)
    }
}

/// Compares rounds that were made apart from each other; `None` with fewer than two rounds on a side, and when a point is
/// not above zero.
///
/// Welch's test on the logarithms of the points: each side has its own spread between rounds, estimated from its few
/// rounds, with Welch and Satterthwaite's degrees of freedom. Never narrower than what the intervals within the rounds give, where
/// they have some: of three rounds that happen to be alike nobody may conclude that the fourth is.
pub fn ratio_of_rounds(base: &[Estimate], new: &[Estimate], level: f64) -> Option<RoundsRatio> {
    let (base, new) = (Side::of(base)?, Side::of(new)?);
    let difference = new.mean - base.mean;
    let squared = base.squared_error() + new.squared_error();
    let part = |side: &Side| side.squared_error().powi(2) / (side.count - 1.0);
    let parts = part(&base) + part(&new);
    let freedom =
        if parts > 0.0 { squared * squared / parts } else { base.count.min(new.count) - 1.0 }.max(1.0);
    let p = 0.5 + level / 2.0;
    let between = student_quantile(p, freedom) * squared.sqrt();
    let within = (base.within + new.within).sqrt();
    let half = between.max(normal_quantile(p) * within);
    let p_value = two_sided(difference, squared.sqrt(), freedom).max(normal_two_sided(difference, within));
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
    })
}

/// One side's rounds on the logarithmic scale.
struct Side {
    count: f64,
    mean: f64,
    /// Variance between rounds.
    variance: f64,
    /// Squared standard error of the mean, as the rounds' own intervals tell it; 0 where they have none.
    within: f64,
    n: u64,
    at_least: bool,
}

impl Side {
    fn of(rounds: &[Estimate]) -> Option<Side> {
        if rounds.len() < 2 || rounds.iter().any(|round| round.point <= 0.0) {
            return None;
        }
        let count = rounds.len() as f64;
        let logs: Vec<f64> = rounds.iter().map(|round| round.point.ln()).collect();
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let squared = |round: &Estimate| {
            let (low, high) = round.interval.filter(|(low, _)| *low > 0.0)?;
            let z = normal_quantile(0.5 + round.level / 2.0);
            Some(((high / low).ln() / (2.0 * z)).powi(2))
        };
        let within: f64 = rounds.iter().filter_map(squared).filter(|squared| squared.is_finite()).sum();
        Some(Side {
            count,
            mean,
            variance,
            within: within / (count * count),
            n: rounds.iter().map(|round| round.n).sum(),
            at_least: rounds.iter().any(|round| round.bound == Bound::AtLeast),
        })
    }

    fn squared_error(&self) -> f64 {
        self.variance / self.count
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

/// Whether two quantities rise together from round to round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankCorrelation {
    /// Spearman's, in [−1, 1].
    pub rho: f64,
    /// Probability of one at least as large if any pairing were as likely.
    pub p_value: f64,
    /// Pairs.
    pub pairs: usize,
}

/// Fewer pairs than this can't show anything at 5 %: of four, the best of the 24 orders comes by chance 4 times in 100,
/// and of three once in six.
pub const FEWEST_PAIRS: usize = 4;
/// Permutations that are tried.
const PERMUTATIONS: usize = 9_999;

/// Spearman's rank correlation with a permutation test to the positive side; `None` with fewer than [`FEWEST_PAIRS`] pairs,
/// and when either quantity is the same in all of them.
pub fn rank_correlation(pairs: &[(f64, f64)], seed: Seed) -> Option<RankCorrelation> {
    if pairs.len() < FEWEST_PAIRS {
        return None;
    }
    let first = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<f64>>());
    let mut second = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<f64>>());
    let spread = (spread(&first) * spread(&second)).sqrt();
    if spread <= 0.0 {
        return None;
    }
    let rho_of = |second: &[f64]| first.iter().zip(second).map(|(a, b)| a * b).sum::<f64>() / spread;
    let rho = rho_of(&second);
    let mut rng = seed.derive("rank correlation").rng();
    let mut as_large = 0;
    for _ in 0..PERMUTATIONS {
        for index in (1..second.len()).rev() {
            second.swap(index, rng.below(index as u64 + 1) as usize);
        }
        as_large += usize::from(rho_of(&second) >= rho - 1e-12);
    }
    let p_value = (1 + as_large) as f64 / (1 + PERMUTATIONS) as f64;
    Some(RankCorrelation { rho, p_value, pairs: pairs.len() })
}

/// Ranks less their mean; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mean = (values.len() as f64 + 1.0) / 2.0;
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let alike = values.iter().filter(|other| *other == value).count() as f64;
        below + (alike + 1.0) / 2.0 - mean
    };
    values.iter().map(rank).collect()
}

fn spread(ranks: &[f64]) -> f64 {
    ranks.iter().map(|rank| rank * rank).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rng;

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
            says(&ratio_of_rounds(&base, &new, 0.9).expect("several rounds above zero"))
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
        let found = ratio_of_rounds(&alike, &alike, 0.9).expect("three rounds");
        // Each mean's standard error is ln(1.25) / 1.96 / √3.
        let half = 1.645 * (2.0f64 / 3.0).sqrt() * 1.25f64.ln() / 1.96;
        let (low, high) = found.ratio.interval.expect("stated");
        assert!((high.ln() - half).abs() < 1e-3 && (low.ln() + half).abs() < 1e-3 && found.p_value == 1.0);
        let exact = vec![Estimate::exact(2.0, 1); 3];
        let found = ratio_of_rounds(&exact, &exact, 0.9).expect("three rounds");
        assert_eq!((found.ratio.interval, found.p_value), (Some((1.0, 1.0)), 1.0));
        assert_eq!(ratio_of_rounds(&exact[..1], &exact, 0.9), None);
        assert_eq!(ratio_of_rounds(&[Estimate::exact(0.0, 1), Estimate::exact(1.0, 1)], &exact, 0.9), None);
    }

    #[test]
    fn holm_is_holm() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(corrected.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{corrected:?}");
        assert_eq!((holm(&[]), holm(&[0.6, 0.7])), (vec![], vec![1.0, 1.0]));
    }

    #[test]
    fn what_rises_together_is_seen_and_what_does_not_is_not() {
        let of = |pairs: &[(f64, f64)]| rank_correlation(pairs, Seed(1));
        let rising: Vec<(f64, f64)> = (0..6).map(|i| (f64::from(i), f64::from(i * i))).collect();
        let found = of(&rising).expect("six pairs");
        // One order of 720.
        assert!((found.rho - 1.0).abs() < 1e-12 && found.p_value < 0.005, "{found:?}");
        let falling: Vec<(f64, f64)> = rising.iter().map(|(a, b)| (*a, -b)).collect();
        assert!(of(&falling).is_some_and(|found| found.rho < -0.99 && found.p_value > 0.99));
        assert!(
            of(&rising[..3]).is_none() && of(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (1.0, 4.0)]).is_none()
        );
        let mut rng = Seed(5).rng();
        let alarms = (0..200).filter(|_| {
            let pairs: Vec<(f64, f64)> = (0..8).map(|_| (rng.unit(), rng.unit())).collect();
            of(&pairs).is_some_and(|found| found.p_value <= 0.05)
        });
        // 10 expected, standard deviation 3.1.
        assert!(alarms.count() <= 20);
    }
}
