//! How much a total varies when its parts depend on each other.
//!
//! Batch means (Law & Kelton, *Simulation Modeling and Analysis*, §9.5.3) over blocks of time, as ratio
//! estimates, since equal times hold different numbers of samples. Each block brings a residual dⱼ, such as
//! (samples above Q) − p̂·(samples), that sums to zero. If blocks were independent, Σ dⱼ² would be the variance
//! of the total; where they are not, batches of neighbours show more. The batch size that shows the most is
//! taken, with Student's quantile of its degrees of freedom: the result errs towards too wide.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Fewer batches than this say too little of their own variance.
pub(crate) const FEWEST_BATCHES: usize = 8;

/// Widening of the variance when the run holds few effective samples: the longest batches are then hardly
/// longer than the dependence lasts and don't show all of it. Found by the coverage tests, not derived; `square` is
/// what the square of their number weighs, since a quantile is not moved by how far out the extremes lie.
pub(crate) fn short_run_penalty(effective: f64, square: f64) -> f64 {
    let effective = effective.max(1.0);
    1.0 + 15.0 / effective + square / (effective * effective)
}

/// Quantile of the standard normal distribution.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Quantile of Student's distribution; the normal one when `freedom` is not positive.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or_else(|_| normal_quantile(p), |t| t.inverse_cdf(p))
}

/// The long-run variance of a sum of residuals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LongRun {
    /// Variance of the total.
    pub(crate) variance: f64,
    /// Number of batches that gave it.
    pub(crate) batches: usize,
}

/// Sums of neighbours: `batches` groups whose sizes differ by one at most.
pub(crate) fn batch_sums(values: &[f64], batches: usize) -> Vec<f64> {
    let edge = |b: usize| b * values.len() / batches;
    (0..batches).map(|b| values[edge(b)..edge(b + 1)].iter().sum()).collect()
}

impl LongRun {
    /// From residuals per block, in time order. `None` for fewer than [`FEWEST_BATCHES`] blocks.
    ///
    /// `level` is that of the interval to be made: the choice of the batch size weighs variance by the square
    /// of Student's quantile.
    pub(crate) fn of(residuals: &[f64], level: f64) -> Option<LongRun> {
        let mut best: Option<(f64, LongRun)> = None;
        let mut finer: Option<f64> = None;
        let mut batches = residuals.len();
        while batches >= FEWEST_BATCHES {
            let sums = batch_sums(residuals, batches);
            let count = batches as f64;
            let plain = sums.iter().map(|d| d * d).sum::<f64>() * count / (count - 1.0);
            // What batches cut off is proportional to 1/length: twice this one less half of it is free of it.
            let variance = finer.map_or(plain, |finer| plain.max(2.0 * plain - finer));
            finer = Some(plain);
            let weighed = variance * student_quantile(0.5 + level / 2.0, count - 1.0).powi(2);
            if best.is_none_or(|(most, _)| weighed > most) {
                best = Some((weighed, LongRun { variance, batches }));
            }
            batches /= 2;
        }
        best.map(|(_, run)| run)
    }

    /// (Student's quantile / the normal one)²: what the uncertainty of the variance itself costs.
    pub(crate) fn penalty(&self, level: f64) -> f64 {
        let p = 0.5 + level / 2.0;
        (student_quantile(p, self.batches as f64 - 1.0) / normal_quantile(p)).powi(2)
    }
}
