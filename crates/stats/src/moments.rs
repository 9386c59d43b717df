//! Mean, variance and their kin, with intervals by a studentised block bootstrap.
//!
//! The blocks of time are resampled in batches as long as the dependence lasts (as `longrun` finds it), and
//! each replicate is studentised by its own spread (Efron & Tibshirani, *An Introduction to the Bootstrap*,
//! §12.5; for blocks Götze & Künsch 1996): with the right-skewed sums that waiting makes, the plain percentile
//! bootstrap misses above. Everything starts from a seed; the same samples give the same bits.

use crate::distribution::View;
use crate::longrun::{FEWEST_BATCHES, LongRun, batch_sums, short_run_penalty, student_quantile};
use units::{Bound, Estimate, Seed};

/// The method name of these estimates in `docs/statistics.md`.
pub const METHOD_BOOTSTRAP: &str = "studentised block bootstrap";
/// As [`METHOD_BOOTSTRAP`], where the blocks are too few for an interval.
pub const METHOD_NO_BLOCKS: &str = "too few blocks for an interval";
/// As [`METHOD_BOOTSTRAP`], where a few samples decide, or too few are effective, for an interval of a spread.
pub const METHOD_FEW: &str = "a few samples decide: no interval";

/// Share of the variance that the few largest samples may make. Exponential times: a quarter in 2,000 samples;
/// log-normal ones with σ 2, and Pareto with shape 2.5: most of it in any run. Found by the coverage tests.
const MOST_OF_FEW: f64 = 0.35;
/// Effective samples of the mean below which spreads have no interval. Found by the coverage tests.
const FEWEST_EFFECTIVE: f64 = 100.0;
/// See [`short_run_penalty`].
const SHORT_RUN: f64 = 1_500.0;
/// Student's quantile is 4.3 there, and grows beyond all use below.
const FEWEST_FREEDOM: f64 = 2.0;

const REPLICATES: usize = 999;
/// Resampling fewer batches than this gives the bootstrap too few different replicates.
const FEWEST_RESAMPLED: usize = 16;
/// Limits of the bootstrap's quantile as a multiple of Student's: never narrower, and not ruled by a replicate
/// whose spread came out near zero.
const STUDENT_MULTIPLE_MOST: f64 = 4.0;

/// Mean, variance and what follows from them; values in ns, the variance in ns².
#[derive(Clone, PartialEq, Debug)]
pub struct Moments {
    /// Mean.
    pub mean: Estimate,
    /// Variance (n − 1).
    pub variance: Estimate,
    /// Standard deviation.
    pub sd: Estimate,
    /// Standard deviation / mean; 0 when the mean is 0.
    pub coefficient_of_variation: Estimate,
}

/// How an interval is laid around its point.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// point ± …
    Linear,
    /// point · e^±…, for what can't be negative.
    Logarithmic,
}

/// A point whose sampling error is Σ residuals / n to first order.
struct Linearised {
    point: f64,
    /// Per block; sums to zero.
    residuals: Vec<f64>,
    scale: Scale,
    /// Effective samples of the same blocks that are known already; `None` to find them.
    known: Option<f64>,
}

impl View<'_> {
    /// Moments of all samples; `None` when there are none. Censored samples count with the value where they
    /// were cut, which makes the mean a lower bound; the others then are of what was seen, and marked alike.
    pub fn moments(&self, level: f64, seed: Seed) -> Option<Moments> {
        let values = self.source.values();
        let n = values.count() as f64;
        if n == 0.0 {
            return None;
        }
        let mean = values.sum() as f64 / n;
        let blocks = self.source.blocks().span();
        let counts: Vec<f64> = blocks.iter().map(|b| b.count as f64).collect();
        // Deviations from the mean: Σ(x − m)² per block, without the cancellation of Σx² − 2mΣx + nm²
        // wherever it matters (values are integers below 2^53 in all runs that last less than 100 days).
        let sums: Vec<f64> = blocks.iter().map(|b| b.sum as f64 - b.count as f64 * mean).collect();
        let squares: Vec<f64> = blocks
            .iter()
            .map(|b| (b.squares as f64 - 2.0 * mean * b.sum as f64 + b.count as f64 * mean * mean).max(0.0))
            .collect();
        let population = squares.iter().sum::<f64>() / n;
        let variance = if n > 1.0 { population * n / (n - 1.0) } else { 0.0 };
        let about =
            |q: &[f64]| -> Vec<f64> { q.iter().zip(&counts).map(|(s, c)| s - c * population).collect() };
        let spread = about(&squares);
        let relative: Vec<f64> = if mean > 0.0 && population > 0.0 {
            spread.iter().zip(&sums).map(|(v, s)| v / (2.0 * population) - s / mean).collect()
        } else {
            vec![0.0; counts.len()]
        };
        let cv = if mean > 0.0 { variance.sqrt() / mean } else { 0.0 };
        let relative: Vec<f64> = relative.iter().map(|r| r * cv).collect();
        let of = |what: Linearised, label| self.bootstrap(&what, &counts, level, seed.derive(label));
        let mean = of(Linearised { point: mean, residuals: sums, scale: Scale::Linear, known: None }, "mean");
        let too_few = self.few_decide(mean.point) || mean.n_effective < FEWEST_EFFECTIVE;
        let logarithmic = |point, residuals| Linearised {
            point,
            residuals,
            scale: Scale::Logarithmic,
            known: Some(mean.n_effective),
        };
        let stated =
            |e: Estimate| if too_few { Estimate { interval: None, method: METHOD_FEW, ..e } } else { e };
        let variance = stated(of(logarithmic(variance, spread), "variance"));
        let sd = map(&variance, f64::sqrt);
        let cv = no_surer_than_half(stated(of(logarithmic(cv, relative), "cv")), &sd);
        Some(Moments { mean, sd, variance, coefficient_of_variation: cv })
    }

    /// Whether the largest hundredth of the samples, at most fifty, makes so much of the variance that what the
    /// next fifty would be decides it: no interval made of these would hold what it says.
    fn few_decide(&self, mean: f64) -> bool {
        let n = self.source.count();
        let others = n - (n / 100).clamp(1, 50);
        let (mut below, mut theirs, mut all) = (0, 0.0, 0.0);
        for (low, high, count) in self.source.values().buckets() {
            let square = ((low as f64 + high as f64) / 2.0 - mean).powi(2);
            below += count;
            theirs += square * below.saturating_sub(others).min(count) as f64;
            all += square * count as f64;
        }
        theirs > MOST_OF_FEW * all
    }

    fn bootstrap(&self, what: &Linearised, counts: &[f64], level: f64, seed: Seed) -> Estimate {
        let n = self.source.count();
        let bound = if self.source.censored_count() > 0 { Bound::AtLeast } else { Bound::Exact };
        let Some(run) = LongRun::of(&what.residuals, level) else {
            let method = METHOD_NO_BLOCKS;
            return Estimate { point: what.point, interval: None, level, n, n_effective: 1.0, bound, method };
        };
        let effective = what.known.unwrap_or_else(|| self.effective(what, run, n as f64));
        let error = (run.variance * short_run_penalty(effective, SHORT_RUN)).sqrt() / n as f64;
        let (low, high) = studentised(what, counts, run, level, seed);
        let limits = match what.scale {
            Scale::Linear => (what.point - high * error, what.point - low * error),
            Scale::Logarithmic if what.point > 0.0 => {
                let relative = error / what.point;
                (what.point * (-high * relative).exp(), what.point * (-low * relative).exp())
            }
            Scale::Logarithmic => (what.point, what.point),
        };
        Estimate {
            point: what.point,
            interval: Some((limits.0.max(0.0).min(what.point), limits.1.max(what.point))),
            level,
            n,
            n_effective: effective,
            bound,
            method: METHOD_BOOTSTRAP,
        }
    }

    /// n over the long-run variance of the mean relative to that of independent samples. The others have the
    /// mean's: their fourth moments are not kept.
    fn effective(&self, what: &Linearised, run: LongRun, n: f64) -> f64 {
        let mean = what.point;
        let independent = self.source.values().squares() as f64 - n * mean * mean;
        if run.variance > 0.0 && independent > 0.0 {
            (n * independent / run.variance).clamp(1.0, n)
        } else {
            n
        }
    }
}

/// Degrees of freedom of a variance that is estimated by these residuals: k − 1 when they are normal, fewer where a
/// few of them make most of it. The variance of Σr² is k(m₄ − m₂²), that of a χ² with f degrees is 2f.
fn freedom(residuals: &[f64]) -> f64 {
    let count = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let fourths: f64 = residuals.iter().map(|r| r.powi(4)).sum();
    if squares <= 0.0 {
        return count - 1.0;
    }
    let kurtosis = count * fourths / (squares * squares);
    (2.0 * count / (kurtosis - 1.0).max(f64::MIN_POSITIVE)).clamp(FEWEST_FREEDOM, count - 1.0)
}

/// The coefficient of variation, with an interval at least half as wide as the standard deviation's, as factors.
///
/// In a queue mean and standard deviation rise together, so that to first order their ratio hardly moves, and what is
/// left out of the first order is what moves it.
fn no_surer_than_half(cv: Estimate, sd: &Estimate) -> Estimate {
    let Some(((low, high), (sd_low, sd_high))) = cv.interval.zip(sd.interval) else { return cv };
    if sd_low <= 0.0 || sd.point <= 0.0 {
        return cv;
    }
    let (down, up) = ((sd_low / sd.point).sqrt(), (sd_high / sd.point).sqrt());
    Estimate { interval: Some((low.min(cv.point * down), high.max(cv.point * up))), ..cv }
}

/// An estimate of f(x) for an increasing f.
pub(crate) fn map(estimate: &Estimate, f: impl Fn(f64) -> f64) -> Estimate {
    Estimate {
        point: f(estimate.point),
        interval: estimate.interval.map(|(low, high)| (f(low), f(high))),
        ..estimate.clone()
    }
}

/// Lower and upper quantile of the studentised replicates.
fn studentised(what: &Linearised, counts: &[f64], run: LongRun, level: f64, seed: Seed) -> (f64, f64) {
    let tail = (1.0 - level) / 2.0;
    let freedom = match what.scale {
        Scale::Linear => run.batches as f64 - 1.0,
        Scale::Logarithmic => freedom(&batch_sums(&what.residuals, run.batches)),
    };
    let student = student_quantile(1.0 - tail, freedom);
    let batches = run.batches.max(FEWEST_RESAMPLED.min(counts.len())).max(FEWEST_BATCHES);
    let residuals = batch_sums(&what.residuals, batches);
    let sizes = batch_sums(counts, batches);
    let mut rng = seed.rng();
    let mut replicates: Vec<f64> = Vec::with_capacity(REPLICATES);
    let mut drawn = vec![0usize; batches];
    for _ in 0..REPLICATES {
        drawn.iter_mut().for_each(|d| *d = rng.below(batches as u64) as usize);
        replicates.extend(replicate(&drawn, &residuals, &sizes, what));
    }
    if replicates.len() < REPLICATES / 2 {
        return (-student, student);
    }
    replicates.sort_by(f64::total_cmp);
    let at = |p: f64| replicates[((p * replicates.len() as f64) as usize).min(replicates.len() - 1)];
    let most = STUDENT_MULTIPLE_MOST * student;
    (at(tail).clamp(-most, -student), at(1.0 - tail).clamp(student, most))
}

/// One replicate's error over its own standard error; `None` when the draw shows no spread.
fn replicate(drawn: &[usize], residuals: &[f64], sizes: &[f64], what: &Linearised) -> Option<f64> {
    let n: f64 = drawn.iter().map(|b| sizes[*b]).sum();
    if n <= 0.0 {
        return None;
    }
    let error = drawn.iter().map(|b| residuals[*b]).sum::<f64>() / n;
    let batches = drawn.len() as f64;
    let spread: f64 = drawn.iter().map(|b| (residuals[*b] - error * sizes[*b]).powi(2)).sum();
    let standard = (spread * batches / (batches - 1.0)).sqrt() / n;
    if standard <= 0.0 {
        return None;
    }
    match what.scale {
        Scale::Linear => Some(error / standard),
        Scale::Logarithmic => {
            let ratio = (what.point + error) / what.point;
            (ratio > 0.0).then(|| ratio.ln() * ratio * what.point / standard)
        }
    }
}
