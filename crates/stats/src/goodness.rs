//! Do gaps between arrivals follow an exponential distribution?

/// A test's statistic and the probability of one at least as large when the hypothesis holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TestResult {
    /// The statistic, as each test defines it.
    pub statistic: f64,
    /// In [0, 1]; small values speak against the hypothesis.
    pub p_value: f64,
}

/// Kolmogorov and Smirnov's test that `samples` are exponential with this `mean`, known beforehand.
///
/// The statistic is D; its distribution is the limiting one with Stephens' correction for the sample size
/// (JRSS B 1970), good to two digits from n = 5 on. `None` for no samples or a mean that is not above zero.
pub fn kolmogorov_smirnov_exponential(samples: &[f64], mean: f64) -> Option<TestResult> {
    let u = transformed(samples, mean)?;
    let n = u.len() as f64;
    let distance = |(i, u): (usize, &f64)| (u - i as f64 / n).max((i + 1) as f64 / n - u);
    let d = u.iter().enumerate().map(distance).fold(0.0, f64::max);
    let lambda = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * d;
    Some(TestResult { statistic: d, p_value: kolmogorov_tail(lambda) })
}

/// Anderson and Darling's test that `samples` are exponential; it weighs the tails more.
///
/// With a `mean` known beforehand A² has its limiting distribution (Marsaglia & Marsaglia, *J. Statistical
/// Software* 9(2), 2004). With `None` the mean is estimated and A²(1 + 0.6/n) is read off Stephens' fit
/// (D'Agostino & Stephens, *Goodness-of-Fit Techniques*, §4.9). `None` as above.
pub fn anderson_darling_exponential(samples: &[f64], mean: Option<f64>) -> Option<TestResult> {
    let n = samples.len() as f64;
    let scale = mean.unwrap_or_else(|| samples.iter().sum::<f64>() / n.max(1.0));
    let u = transformed(samples, scale)?;
    let term = |i: usize| (2 * i + 1) as f64 * (clip(u[i]).ln() + (-clip(u[u.len() - 1 - i])).ln_1p());
    let statistic = -n - (0..u.len()).map(term).sum::<f64>() / n;
    let p_value = match mean {
        Some(_) => 1.0 - anderson_darling_limit(statistic),
        None => estimated_mean_tail(statistic * (1.0 + 0.6 / n)),
    };
    Some(TestResult { statistic, p_value: p_value.clamp(0.0, 1.0) })
}

/// The samples' places in the distribution, ascending.
fn transformed(samples: &[f64], mean: f64) -> Option<Vec<f64>> {
    if samples.is_empty() || mean.is_nan() || mean <= 0.0 || samples.iter().any(|x| x.is_nan()) {
        return None;
    }
    let mut u: Vec<f64> = samples.iter().map(|x| -(-x.max(0.0) / mean).exp_m1()).collect();
    u.sort_by(f64::total_cmp);
    Some(u)
}

/// Keeps logarithms finite: a gap of exactly zero is not infinitely unlikely on a clock with ticks.
fn clip(u: f64) -> f64 {
    u.clamp(1e-15, 1.0 - 1e-15)
}

/// P(√n D > lambda) in the limit.
fn kolmogorov_tail(lambda: f64) -> f64 {
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |k: i32| f64::from(1 - 2 * ((k + 1) % 2)) * (-2.0 * f64::from(k * k) * lambda * lambda).exp();
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

/// P(A² ≤ z) in the limit.
fn anderson_darling_limit(z: f64) -> f64 {
    let polynomial = |coefficients: &[f64]| coefficients.iter().rev().fold(0.0, |sum, c| sum * z + c);
    if z <= 0.0 {
        0.0
    } else if z < 2.0 {
        let p = polynomial(&[2.00012, 0.247105, -0.0649821, 0.0347962, -0.011672, 0.00168691]);
        (-1.2337141 / z).exp() / z.sqrt() * p
    } else {
        (-polynomial(&[1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146]).exp()).exp()
    }
}

/// P(A²(1 + 0.6/n) > z) when the mean is estimated.
fn estimated_mean_tail(z: f64) -> f64 {
    match z {
        z if z < 0.26 => 1.0 - (-12.2204 + 67.459 * z - 110.3 * z * z).exp(),
        z if z < 0.51 => 1.0 - (-6.1327 + 20.218 * z - 18.663 * z * z).exp(),
        z if z < 0.95 => (0.9209 - 3.353 * z + 0.3 * z * z).exp(),
        z if z < 10.0 => (0.731 - 3.009 * z + 0.15 * z * z).exp(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Rng, Seed};

    /// Share of 4,000 sets that each test rejects at `alpha`, for n = 200 draws.
    fn rejected(alpha: f64, draw: impl Fn(&mut Rng) -> f64) -> [f64; 3] {
        let mut rejected = [0.0; 3];
        for set in 0..4_000 {
            let mut rng = Seed(5).at(set);
            let samples: Vec<f64> = (0..200).map(|_| draw(&mut rng)).collect();
            let results = [
                kolmogorov_smirnov_exponential(&samples, 3.0),
                anderson_darling_exponential(&samples, Some(3.0)),
                anderson_darling_exponential(&samples, None),
            ];
            for (count, result) in rejected.iter_mut().zip(results) {
                *count += f64::from(u8::from(result.unwrap().p_value < alpha)) / 4_000.0;
            }
        }
        rejected
    }

    #[test]
    fn a_true_hypothesis_is_rejected_as_often_as_promised() {
        for alpha in [0.1, 0.05, 0.01] {
            let error = 4.0 * (alpha * (1.0 - alpha) / 4_000.0f64).sqrt();
            for share in rejected(alpha, |rng| 3.0 * rng.exponential()) {
                assert!((share - alpha).abs() < error, "{share} rejected at {alpha}");
            }
        }
    }

    #[test]
    fn wrong_shapes_are_rejected() {
        for share in rejected(0.01, |rng| 6.0 * rng.unit()) {
            assert!(share > 0.99, "uniform gaps: {share}");
        }
        let [smirnov, known, estimated] = rejected(0.01, |rng| 2.0 * rng.exponential());
        assert!(smirnov > 0.95 && known > 0.95, "wrong rate: {smirnov} {known}");
        assert!(estimated < 0.03, "an unknown rate is not wrong: {estimated}");
        assert_eq!(kolmogorov_smirnov_exponential(&[], 1.0), None);
        assert_eq!(anderson_darling_exponential(&[1.0], Some(0.0)), None);
    }
}
