//! Was the second half of the time like the first?

use crate::blocks::{Block, coarse_limits};
use crate::distribution::View;
use crate::longrun::{FEWEST_BATCHES, LongRun, short_run_penalty};
use statrs::distribution::{ContinuousCDF, StudentsT};
use units::Quantile;

/// How the second half differs from the first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drift {
    /// Median of the second half / median of the first, to 2^−6.
    pub median_ratio: f64,
    /// Probability of a difference at least as large between halves of a stationary run.
    pub p_value: f64,
}

impl View<'_> {
    /// Compares the halves of the time by the share of samples above the common median: not moved by a single
    /// stall, as the mean is. Student's test with the long-run variance of what remains when each half has its
    /// own share. `None` when the blocks are too few, or all samples alike.
    pub fn drift(&self) -> Option<Drift> {
        let blocks = self.source.blocks().span();
        if blocks.len() < 2 * FEWEST_BATCHES {
            return None;
        }
        let median = self.value(Quantile::new(0.5)?)? as u64;
        let (limit, _) = coarse_limits(median);
        let (first, second) = blocks.split_at(blocks.len() / 2);
        let share = |half: &[Block]| {
            let n: u64 = half.iter().map(|b| b.count).sum();
            let above: u64 = half.iter().map(|b| b.from(limit)).sum();
            (n > 0).then(|| (above as f64 / n as f64, n as f64))
        };
        let ((p1, n1), (p2, n2)) = (share(first)?, share(second)?);
        let residual = |b: &Block, p: f64| b.from(limit) as f64 - p * b.count as f64;
        let residuals: Vec<f64> =
            first.iter().map(|b| residual(b, p1)).chain(second.iter().map(|b| residual(b, p2))).collect();
        let run = LongRun::of(&residuals, 0.95)?;
        let n = n1 + n2;
        let independent = n1 * p1 * (1.0 - p1) + n2 * p2 * (1.0 - p2);
        let inflation = if independent > 0.0 { (run.variance / independent).max(1.0) } else { 1.0 };
        let per_sample = inflation * short_run_penalty(n / inflation, 0.0) * independent.max(0.25) / n;
        let error = (per_sample * (1.0 / n1 + 1.0 / n2)).sqrt();
        let freedom = (run.batches as f64 - 2.0).max(1.0);
        let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let p_value = 2.0 * t.cdf(-((p2 - p1) / error).abs());
        Some(Drift { median_ratio: coarse_median(second)? / coarse_median(first)?, p_value })
    }
}

/// The median of some blocks, to the width of their buckets.
fn coarse_median(blocks: &[Block]) -> Option<f64> {
    let n: u64 = blocks.iter().map(|b| b.count).sum();
    let above = |limit: u64| blocks.iter().map(|b| b.from(limit)).sum::<u64>();
    // The largest value that at least half of the samples reach.
    let (mut low, mut high) = (0u64, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2 + 1;
        if above(coarse_limits(middle).0) * 2 >= n { low = middle } else { high = middle - 1 }
    }
    let (bucket_low, bucket_high) = coarse_limits(low);
    let median = bucket_low as f64 + (bucket_high - bucket_low) as f64 / 2.0;
    (n > 0).then(|| median.max(0.5))
}
