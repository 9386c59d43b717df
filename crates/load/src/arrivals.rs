//! Arrival processes: when the schedule says that requests start.
//!
//! Every process is a renewal process with gaps of mean 1 in *operational time*; the rate profile maps
//! operational time to seconds (Çınlar, *Introduction to Stochastic Processes*, 1975, ch. 4.7: for Poisson
//! arrivals this is exactly the non-homogeneous Poisson process of that rate). So one definition serves
//! constant rates, ramps and steps, and no process sees a clock or a completion.

use crate::phases::RateProfile;
use std::fmt;
use units::{Nanos, Rng, Seed};

/// The law of the gaps between arrivals, with mean 1.
#[derive(Clone, PartialEq, Debug)]
pub enum Process {
    /// All gaps alike.
    Constant,
    /// Exponential gaps: a Poisson process.
    Poisson,
    /// Pareto gaps with tail index alpha > 1 (infinite variance up to 2).
    Pareto {
        /// Tail index.
        alpha: f64,
    },
    /// Two exponential branches with balanced means and the given squared coefficient of variation ≥ 1.
    HyperExp {
        /// Squared coefficient of variation of the gaps.
        cv2: f64,
    },
    /// Lognormal gaps with the given sigma of the logarithm.
    LogNormal {
        /// Standard deviation of the gap's logarithm.
        sigma: f64,
    },
    /// Gamma gaps with the given shape; CV² = 1/shape.
    Gamma {
        /// Shape.
        shape: f64,
    },
    /// Arrival times from a file, as offsets from the start.
    Trace {
        /// Where they came from.
        file: String,
        /// Offsets from the start, non-decreasing.
        offsets: std::sync::Arc<Vec<Nanos>>,
    },
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Process::Constant => f.write_str("constant"),
            Process::Poisson => f.write_str("poisson"),
            Process::Pareto { alpha } => write!(f, "pareto:{alpha}"),
            Process::HyperExp { cv2 } => write!(f, "hyperexp:{cv2}"),
            Process::LogNormal { sigma } => write!(f, "lognormal:{sigma}"),
            Process::Gamma { shape } => write!(f, "gamma:{shape}"),
            Process::Trace { file, .. } => write!(f, "trace:{file}"),
        }
    }
}

impl Process {
    /// Reads `poisson`, `pareto:1.5`, `trace:FILE` (which reads the file).
    ///
    /// # Errors
    /// One line that names the text and what is accepted, or the file's line at fault.
    pub fn parse(text: &str) -> Result<Process, String> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let number = |default: f64, ok: fn(f64) -> bool, range: &str| match parameter {
            None => Ok(default),
            Some(p) => match p.parse::<f64>() {
                Ok(value) if value.is_finite() && ok(value) => Ok(value),
                _ => Err(format!("arrivals `{text}`: `{p}` is not {range}")),
            },
        };
        match name {
            "constant" if parameter.is_none() => Ok(Process::Constant),
            "poisson" if parameter.is_none() => Ok(Process::Poisson),
            "pareto" => Ok(Process::Pareto { alpha: number(1.5, |a| a > 1.0, "a tail index above 1")? }),
            "hyperexp" => {
                Ok(Process::HyperExp { cv2: number(4.0, |c| c >= 1.0, "a squared variation of at least 1")? })
            }
            "lognormal" => {
                Ok(Process::LogNormal { sigma: number(1.0, |s| s > 0.0 && s <= 5.0, "a sigma in (0, 5]")? })
            }
            "gamma" => Ok(Process::Gamma { shape: number(0.5, |k| k > 0.0, "a shape above 0")? }),
            "trace" => read_trace(parameter.unwrap_or("")),
            _ => Err(format!(
                "arrivals `{text}`: expected constant, poisson, pareto[:ALPHA], hyperexp[:CV2], \
                 lognormal[:SIGMA], gamma[:SHAPE] or trace:FILE"
            )),
        }
    }

    /// A gap with mean 1. Trace processes have none.
    fn gap(&self, rng: &mut Rng) -> f64 {
        match *self {
            Process::Constant | Process::Trace { .. } => 1.0,
            Process::Poisson => rng.exponential(),
            Process::Pareto { alpha } => pareto(rng, alpha),
            Process::HyperExp { cv2 } => hyper_exponential(rng, cv2),
            Process::LogNormal { sigma } => (sigma * rng.normal() - sigma * sigma / 2.0).exp(),
            Process::Gamma { shape } => gamma(rng, shape) / shape,
        }
    }
}

/// Pareto with mean 1: x_m = (α − 1)/α, by inversion.
pub(crate) fn pareto(rng: &mut Rng, alpha: f64) -> f64 {
    (alpha - 1.0) / alpha * rng.unit_positive().powf(-1.0 / alpha)
}

/// Two exponential branches with balanced means (p₁/λ₁ = p₂/λ₂), mean 1 (Morse 1958; Allen 1990, §5.1).
pub(crate) fn hyper_exponential(rng: &mut Rng, cv2: f64) -> f64 {
    let p = 0.5 * (1.0 + ((cv2 - 1.0) / (cv2 + 1.0)).sqrt());
    let share = if rng.unit() < p { p } else { 1.0 - p };
    rng.exponential() / (2.0 * share)
}

/// Gamma(shape, 1) by Marsaglia & Tsang, *A simple method for generating gamma variables*, TOMS 2000;
/// shapes below 1 by their boost U^(1/k).
fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = rng.unit_positive().powf(1.0 / shape);
        return gamma(rng, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = rng.normal();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && rng.unit_positive().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

fn read_trace(file: &str) -> Result<Process, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("arrivals trace `{file}`: {e}"))?;
    let mut offsets = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let fail = |problem: &str| format!("arrivals trace `{file}`, line {}: `{line}` {problem}", index + 1);
        let seconds: f64 = line.parse().map_err(|_| fail("is not a number of seconds"))?;
        if !(0.0..=1e9).contains(&seconds) {
            return Err(fail("is outside of 0..1e9 seconds"));
        }
        let offset = Nanos::from_secs_f64(seconds);
        if offsets.last().is_some_and(|&last| offset < last) {
            return Err(fail("is earlier than the line before"));
        }
        offsets.push(offset);
    }
    if offsets.is_empty() {
        return Err(format!(
            "arrivals trace `{file}`: no arrival in it; expected one offset in seconds a line"
        ));
    }
    Ok(Process::Trace { file: file.to_owned(), offsets: std::sync::Arc::new(offsets) })
}

/// The arrivals of a load: non-decreasing offsets from its start, a pure function of (process, profile, seed).
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: Process,
    profile: RateProfile,
    rng: Rng,
    /// Operational time of the next arrival.
    operational: f64,
    index: usize,
}

impl Arrivals {
    /// The arrivals of `process` under the rate profile.
    pub fn new(process: Process, profile: RateProfile, seed: Seed) -> Arrivals {
        let mut rng = seed.derive("arrivals").rng();
        // A constant schedule starts at once; the others with a gap, as a renewal process does.
        let operational = if process == Process::Constant { 0.0 } else { process.gap(&mut rng) };
        Arrivals { process, profile, rng, operational, index: 0 }
    }

    /// Offset of the next arrival from the load's start; `None` when the profile has ended.
    pub fn next_start(&mut self) -> Option<Nanos> {
        if let Process::Trace { offsets, .. } = &self.process {
            let offset = *offsets.get(self.index)?;
            self.index += 1;
            return (offset < self.profile.end()).then_some(offset);
        }
        let offset = self.profile.invert(self.operational)?;
        self.operational += self.process.gap(&mut self.rng);
        Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::PerSecond;

    fn gaps(process: &Process, seed: u64, count: usize) -> Vec<f64> {
        let mut rng = Seed(seed).rng();
        (0..count).map(|_| process.gap(&mut rng)).collect()
    }

    /// Mean and squared variation within five standard errors, over several seeds.
    #[test]
    fn gaps_have_the_moments_they_promise() {
        let cases = [
            (Process::Poisson, 1.0, 8.0),
            (Process::HyperExp { cv2: 4.0 }, 4.0, 60.0),
            (Process::LogNormal { sigma: 0.5 }, (0.25f64).exp() - 1.0, 8.0),
            (Process::Gamma { shape: 0.5 }, 2.0, 20.0),
            (Process::Gamma { shape: 4.0 }, 0.25, 5.0),
            (Process::Constant, 0.0, 0.0),
        ];
        let n = 200_000;
        for (process, cv2, kurtosis) in cases {
            for seed in 0..3 {
                let gaps = gaps(&process, seed, n);
                let mean = gaps.iter().sum::<f64>() / n as f64;
                let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n as f64;
                let mean_limit = 5.0 * (cv2 / n as f64).sqrt() + 1e-9;
                assert!((mean - 1.0).abs() <= mean_limit, "{process}: mean {mean}");
                let variance_limit = 5.0 * cv2 * ((kurtosis + 2.0) / n as f64).sqrt() + 1e-9;
                assert!((variance - cv2).abs() <= variance_limit, "{process}: variance {variance}");
            }
        }
    }

    #[test]
    fn pareto_gaps_have_the_right_tail() {
        // P(X > x) = (x_m/x)^α: check at two points, five standard errors.
        let alpha = 1.5;
        let n = 400_000;
        let gaps = gaps(&Process::Pareto { alpha }, 9, n);
        let minimum: f64 = (alpha - 1.0) / alpha;
        for x in [1.0, 10.0] {
            let expected = (minimum / x).powf(alpha);
            let seen = gaps.iter().filter(|&&g| g > x).count() as f64 / n as f64;
            let limit = 5.0 * (expected / n as f64).sqrt();
            assert!((seen - expected).abs() < limit, "tail at {x}: {seen} against {expected}");
        }
        assert!(gaps.iter().all(|&g| g >= minimum));
    }

    #[test]
    fn poisson_arrivals_have_poisson_counts() {
        // Index of dispersion of counts in 1 s windows is 1 for a Poisson process; over 20 seeds its mean has
        // a standard error of sqrt(2/(n·seeds)).
        let windows = 500;
        let seeds = 20;
        let mut dispersion = 0.0;
        for seed in 0..seeds {
            let profile = RateProfile::constant(PerSecond::new(200.0).unwrap(), Nanos::from_secs(windows));
            let mut arrivals = Arrivals::new(Process::Poisson, profile, Seed(seed));
            let mut counts = vec![0f64; windows as usize];
            while let Some(at) = arrivals.next_start() {
                counts[(at.0 / 1_000_000_000) as usize] += 1.0;
            }
            let mean = counts.iter().sum::<f64>() / windows as f64;
            let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (windows - 1) as f64;
            dispersion += variance / mean / seeds as f64;
        }
        let error = (2.0 / (windows as f64 * seeds as f64)).sqrt();
        assert!((dispersion - 1.0).abs() < 5.0 * error, "dispersion {dispersion}");
    }

    #[test]
    fn poisson_gaps_pass_kolmogorov_smirnov() {
        // D·√n against the 0.999 quantile of its limit law, 1.949.
        for seed in 0..10 {
            let n = 20_000;
            let mut gaps = gaps(&Process::Poisson, seed, n);
            gaps.sort_by(f64::total_cmp);
            let distance = gaps
                .iter()
                .enumerate()
                .map(|(i, &g)| {
                    let f = 1.0 - (-g).exp();
                    (f - i as f64 / n as f64).abs().max((f - (i + 1) as f64 / n as f64).abs())
                })
                .fold(0.0, f64::max);
            assert!(distance * (n as f64).sqrt() < 1.949, "seed {seed}: {distance}");
        }
    }

    #[test]
    fn a_constant_schedule_is_exactly_periodic() {
        let profile = RateProfile::constant(PerSecond::new(1000.0).unwrap(), Nanos::from_secs(1));
        let mut arrivals = Arrivals::new(Process::Constant, profile, Seed(1));
        let starts: Vec<u64> = std::iter::from_fn(|| arrivals.next_start()).map(|n| n.0).collect();
        assert_eq!(starts.len(), 1000);
        assert!(starts.iter().enumerate().all(|(i, &s)| s == i as u64 * 1_000_000));
    }

    #[test]
    fn bad_processes_are_refused_in_one_line() {
        for text in ["pareto:0.5", "gamma:-1", "poisson:2", "uniform", "hyperexp:x", "lognormal:NaN"] {
            let error = Process::parse(text).unwrap_err();
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
        assert!(Process::parse("trace:/nonexistent").unwrap_err().contains("/nonexistent"));
    }

    proptest! {
        #[test]
        fn arrivals_never_go_back(seed: u64, rate in 1.0f64..1e6, kind in 0usize..5) {
            let process = [
                Process::Poisson,
                Process::Pareto { alpha: 1.2 },
                Process::HyperExp { cv2: 9.0 },
                Process::LogNormal { sigma: 2.3 },
                Process::Gamma { shape: 0.1 },
            ][kind].clone();
            let profile = RateProfile::constant(PerSecond::new(rate).unwrap(), Nanos::from_secs(3600));
            let mut arrivals = Arrivals::new(process, profile, Seed(seed));
            let starts: Vec<_> = std::iter::from_fn(|| arrivals.next_start()).take(1000).collect();
            prop_assert!(starts.windows(2).all(|w| w[0] <= w[1]));
        }
    }
}
