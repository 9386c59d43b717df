//! Which order statistics enclose a quantile.
//!
//! Of n independent values, the number below the q-quantile is binomial: so the l-th smallest lies below it
//! with probability I_q(l, n − l + 1), the regularised incomplete beta function (David & Nagaraja, *Order
//! Statistics*, §7.1). No shape of the distribution is assumed. With dependent values n becomes the number of
//! effective ones, which need not be whole; the beta form carries over as it is.

use crate::longrun::normal_quantile;
use statrs::function::beta::beta_reg;

/// Fractions of the sample, in (0, 1], whose order statistics enclose the quantile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Enclosure {
    /// `None` when even the smallest value is not safely below.
    pub(crate) low: Option<f64>,
    /// `None` when even the largest value is not safely above.
    pub(crate) high: Option<f64>,
}

/// P(at least `rank` of `n` values lie below the q-quantile), for real arguments.
fn at_least(rank: f64, n: f64, q: f64) -> f64 {
    beta_reg(rank, n - rank + 1.0, q)
}

/// Where `at_least` falls to `target`; it decreases in the rank.
fn rank_where(target: f64, n: f64, q: f64) -> f64 {
    let (mut low, mut high) = (1.0, n);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at_least(middle, n, q) > target { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The enclosure of the q-quantile, 0 < q < 1, by `n` effective values at this level.
pub(crate) fn enclosure(n: f64, q: f64, level: f64) -> Enclosure {
    let tail = (1.0 - level) / 2.0;
    let has_low = n * (-q).ln_1p() <= tail.ln();
    let has_high = n * q.ln() <= tail.ln();
    let spread = n * q * (1.0 - q);
    if spread > 25.0 {
        // Cornish & Fisher's first two terms: within 0.1 of a rank from here on (tested below).
        let z = normal_quantile(1.0 - tail);
        let skew = (z * z - 1.0) * (1.0 - 2.0 * q) / 6.0;
        let (centre, half) = (n * q + skew + 0.5, z * spread.sqrt());
        return Enclosure {
            low: has_low.then(|| ((centre - half) / n).max(0.0)),
            high: has_high.then(|| ((centre + half) / n).min(1.0)),
        };
    }
    Enclosure {
        low: has_low.then(|| rank_where(1.0 - tail, n, q) / n),
        high: has_high.then(|| (rank_where(tail, n, q) / n).min(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binomial distribution function by summing logarithms: slow and plain.
    fn binomial_cdf(k: u64, n: u64, q: f64) -> f64 {
        let mut log_term = n as f64 * (-q).ln_1p();
        let mut total = log_term.exp();
        for i in 1..=k {
            log_term += ((n - i + 1) as f64 / i as f64).ln() + (q / (1.0 - q)).ln();
            total += log_term.exp();
        }
        total
    }

    #[test]
    fn enclosures_hold_their_level_exactly() {
        for (n, q) in [
            (20, 0.5),
            (100, 0.9),
            (1_000, 0.99),
            (5_000, 0.99),
            (40_000, 0.9995),
            (9_000, 0.999),
            (300, 0.5),
        ] {
            let found = enclosure(n as f64, q, 0.95);
            let low = (found.low.expect("low") * n as f64 + 1e-9).floor() as u64;
            let high = (found.high.expect("high") * n as f64 - 1e-9).ceil() as u64;
            // The interval misses when fewer than `low` values lie below the quantile, or at least `high` do.
            let below = binomial_cdf(low - 1, n, q);
            let above = 1.0 - binomial_cdf(high - 1, n, q);
            assert!(below <= 0.026 && above <= 0.026, "n {n} q {q}: misses {below} {above}");
            // One rank further in, it would miss too often: no wider than needed.
            let wider = (binomial_cdf(low, n, q), 1.0 - binomial_cdf(high - 2, n, q));
            assert!(wider.0 > 0.024 && wider.1 > 0.024, "n {n} q {q}: {wider:?} could be narrower");
        }
    }

    #[test]
    fn too_few_values_enclose_nothing() {
        assert_eq!(enclosure(3.0, 0.5, 0.95), Enclosure { low: None, high: None });
        assert_eq!(enclosure(100.0, 0.99, 0.95).high, None);
        assert!(enclosure(369.0, 0.99, 0.95).high.is_some());
    }
}
