//! Random processes whose quantiles and means are known, for coverage tests.
#![allow(dead_code, reason = "each test file uses its share")]

use units::{Instant, Nanos, Rng};

/// One request: when it was intended and how long it took, ns.
pub type Request = (u64, u64);

/// A stationary process that makes n requests.
#[derive(Clone, Copy, Debug)]
pub enum Process {
    /// Independent, log-normal with this sigma.
    Lognormal(f64),
    /// Independent, exponential.
    Exponential,
    /// Independent, Pareto with this shape.
    Pareto(f64),
    /// exp of a Gaussian AR(1) process with this coefficient and standard deviation 0.8.
    Autoregressive(f64),
    /// Waiting and service in M/M/1 at this utilisation.
    PoissonQueue(f64),
    /// The same in D/M/1: regular arrivals.
    RegularQueue(f64),
    /// 0.2 ms ± noise at 1,000/s; each second with probability 1/2 a stall of 100 ms that later requests queue
    /// behind (a server twice as fast as the load).
    Stalls,
}

/// Gap between requests where the process does not say otherwise: 1 ms.
const GAP: f64 = 1e6;
const UNIT: f64 = 1e6;

impl Process {
    pub fn requests(self, n: usize, rng: &mut Rng) -> Vec<Request> {
        match self {
            Process::PoissonQueue(rho) => queue(n, rho, rng, |rng| rng.exponential()),
            Process::RegularQueue(rho) => queue(n, rho, rng, |_| 1.0),
            Process::Stalls => stalls(n, rng),
            Process::Autoregressive(phi) => {
                let mut x = rng.normal();
                independent(n, rng, move |rng| {
                    x = phi * x + (1.0 - phi * phi).sqrt() * rng.normal();
                    (0.8 * x).exp()
                })
            }
            Process::Lognormal(sigma) => independent(n, rng, |rng| (sigma * rng.normal()).exp()),
            Process::Exponential => independent(n, rng, |rng| rng.exponential()),
            Process::Pareto(shape) => independent(n, rng, |rng| rng.unit_positive().powf(-1.0 / shape)),
        }
    }

    /// The true q-quantile in ns; `None` where there is no closed form.
    pub fn quantile(self, q: f64) -> Option<f64> {
        let z = stats_normal_quantile(q);
        let unit = match self {
            Process::Lognormal(sigma) => (sigma * z).exp(),
            Process::Autoregressive(_) => (0.8 * z).exp(),
            Process::Exponential => -(1.0 - q).ln(),
            Process::Pareto(shape) => (1.0 - q).powf(-1.0 / shape),
            // Response time in G/M/1 is exponential with rate mu (1 − sigma); arrivals have rate 1.
            Process::PoissonQueue(rho) => -(1.0 - q).ln() / (1.0 / rho * (1.0 - rho)),
            Process::RegularQueue(rho) => -(1.0 - q).ln() / (1.0 / rho * (1.0 - regular_sigma(rho))),
            Process::Stalls => return None,
        };
        Some(unit * UNIT)
    }

    /// The true standard deviation in ns; `None` where there is no closed form. Infinite for Pareto up to shape 2.
    pub fn sd(self) -> Option<f64> {
        let lognormal = |s2: f64| ((s2.exp() - 1.0) * s2.exp()).sqrt();
        let unit = match self {
            Process::Lognormal(sigma) => lognormal(sigma * sigma),
            Process::Autoregressive(_) => lognormal(0.64),
            Process::Pareto(shape) if shape <= 2.0 => f64::INFINITY,
            Process::Pareto(shape) => (shape / (shape - 2.0)).sqrt() / (shape - 1.0),
            // Exponential: as long as the mean.
            Process::Exponential | Process::PoissonQueue(_) | Process::RegularQueue(_) => {
                return self.mean();
            }
            Process::Stalls => return None,
        };
        Some(unit * UNIT)
    }

    /// The true mean in ns.
    pub fn mean(self) -> Option<f64> {
        let unit = match self {
            Process::Lognormal(sigma) => (sigma * sigma / 2.0).exp(),
            Process::Autoregressive(_) => 0.32f64.exp(),
            Process::Exponential => 1.0,
            Process::Pareto(shape) => shape / (shape - 1.0),
            Process::PoissonQueue(rho) => rho / (1.0 - rho),
            Process::RegularQueue(rho) => rho / (1.0 - regular_sigma(rho)),
            Process::Stalls => return None,
        };
        Some(unit * UNIT)
    }
}

/// sigma = E exp(−mu (1 − sigma) A) of D/M/1 with A = 1.
fn regular_sigma(rho: f64) -> f64 {
    (0..200).fold(0.5, |sigma, _| (-(1.0 - sigma) / rho).exp())
}

fn independent(n: usize, rng: &mut Rng, mut draw: impl FnMut(&mut Rng) -> f64) -> Vec<Request> {
    (0..n).map(|i| ((i as f64 * GAP) as u64, (draw(rng) * UNIT) as u64)).collect()
}

/// Lindley's recursion after a warm-up that lets the queue forget that it started empty.
fn queue(n: usize, rho: f64, rng: &mut Rng, mut gap: impl FnMut(&mut Rng) -> f64) -> Vec<Request> {
    let warm = (20.0 / (1.0 - rho).powi(2)) as usize;
    let (mut wait, mut at) = (0.0f64, 0.0);
    let mut requests = Vec::with_capacity(n);
    for i in 0..n + warm {
        let service = rho * rng.exponential();
        if i >= warm {
            requests.push(((at * GAP) as u64, ((wait + service) * UNIT) as u64));
        }
        let step = gap(rng);
        if i >= warm {
            at += step;
        }
        wait = (wait + service - step).max(0.0);
    }
    requests
}

fn stalls(n: usize, rng: &mut Rng) -> Vec<Request> {
    let mut backlog = 0.0f64;
    let mut stall_at = None;
    (0..n)
        .map(|i| {
            if i.is_multiple_of(1000) {
                stall_at = (rng.unit() < 0.5).then(|| i + rng.below(1000) as usize);
            }
            backlog = (backlog - 0.5).max(0.0);
            if stall_at == Some(i) {
                backlog += 100.0;
            }
            let value = backlog + 0.2 + 0.02 * rng.exponential();
            ((i as f64 * GAP) as u64, (value * UNIT) as u64)
        })
        .collect()
}

pub fn distribution(requests: &[Request]) -> stats::Distribution {
    let mut all = stats::Distribution::new(Instant::EPOCH);
    requests.iter().for_each(|(at, value)| all.record(Instant(*at), Nanos(*value)));
    all
}

fn stats_normal_quantile(p: f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    Normal::standard().inverse_cdf(p)
}
