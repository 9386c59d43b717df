//! Whether two quantities rise together from round to round.

use units::Seed;

/// Whether two quantities rise together.
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
