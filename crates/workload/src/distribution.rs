//! How keys are drawn.
//!
//! Every draw is a pure function of a [`units::Rng`]: no state is advanced, so that request *n* stays a function of
//! (seed, n). All are O(1) (expected, where they reject) and allocate nothing.
//!
//! Two Zipf generators live here on purpose. [`Zipf`] is exact for any exponent. [`GrayZipf`] is the approximation
//! that YCSB and BenchBase use, and [`ScrambledZipf`] is what YCSB builds on it, with its known distortion;
//! numbers that are to be compared with theirs need the same skew, distortion included.
//!
//! ```
//! use units::Seed;
//! let zipf = workload::distribution::Zipf::new(1_000, 0.99);
//! let rank = zipf.draw(&mut Seed(1).at(17));
//! assert!(rank < 1_000);
//! ```

mod gray;
mod keys;
mod nurand;
mod zipf;

pub use gray::{GrayZipf, ScrambledZipf, ycsb_hash, zeta};
pub use keys::{Exponential, Hotspot, KeyDraw};
pub use nurand::NuRand;
pub use zipf::Zipf;

#[cfg(test)]
pub(crate) mod chi_square {
    //! The test that the generators are held to.
    use units::{Rng, Seed};

    /// Draws `n` times and compares with exact probabilities; cells that expect fewer than five draws are merged.
    pub(crate) fn assert_law(
        name: &str,
        n: u64,
        probabilities: &[f64],
        mut draw: impl FnMut(&mut Rng) -> u64,
    ) {
        let total: f64 = probabilities.iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{name}: probabilities sum to {total}");
        let mut counts = vec![0u64; probabilities.len()];
        let seed = Seed(20_240_229).derive(name);
        for index in 0..n {
            counts[draw(&mut seed.at(index)) as usize] += 1;
        }
        let (mut statistic, mut cells) = (0.0, 0);
        let (mut expected, mut seen) = (0.0, 0.0);
        for (count, probability) in counts.iter().zip(probabilities) {
            expected += probability * n as f64;
            seen += *count as f64;
            if expected >= 5.0 {
                statistic += (seen - expected).powi(2) / expected;
                cells += 1;
                (expected, seen) = (0.0, 0.0);
            }
        }
        let limit = quantile(f64::from(cells - 1));
        assert!(statistic < limit, "{name}: chi-square {statistic:.1} over {cells} cells, limit {limit:.1}");
    }

    /// The 0.9999 quantile of chi-square (Wilson & Hilferty 1931).
    fn quantile(df: f64) -> f64 {
        let c = 2.0 / (9.0 * df);
        df * (1.0 - c + 3.719 * c.sqrt()).powi(3)
    }
}
