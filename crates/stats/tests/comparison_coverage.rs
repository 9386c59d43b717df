//! Do the intervals of ratios and of repeated runs hold the truth as often as they say? As `coverage.rs`; what is
//! planted here is the true ratio, and the spread between runs.

mod planted;

use planted::{Process, Request, distribution};
use stats::Difference;
use units::{Estimate, Quantile, Seed};

const LEVEL: f64 = 0.95;
const NAMES: [&str; 6] = ["p50", "p95", "mean", "sd", "cv", "p99/mean"];

fn soak() -> bool {
    std::env::var("TRUETAIL_SOAK").is_ok_and(|v| v == "1")
}

fn seeds() -> u64 {
    if soak() { 2_000 } else { 100 }
}

/// As `NAMES`; every time is `factor` longer.
fn estimates(process: Process, n: usize, seed: u64, factor: f64) -> Vec<Option<Estimate>> {
    let requests = process.requests(n, &mut Seed(seed).derive("process").rng());
    let longer = |(at, value): &Request| (*at, (*value as f64 * factor) as u64);
    let samples = distribution(&requests.iter().map(longer).collect::<Vec<_>>());
    let view = samples.view();
    let quantile = |q| Quantile::new(q).and_then(|q| view.quantile(q, LEVEL));
    let m = view.moments(LEVEL, Seed(seed)).expect("samples");
    let over_mean = quantile(0.99).and_then(|p99| stats::ratio(&m.mean, &p99));
    vec![quantile(0.5), quantile(0.95), Some(m.mean), Some(m.sd), Some(m.coefficient_of_variation), over_mean]
}

/// Of so many runs: how many have an interval that misses, and how many have one.
struct Tally {
    missed: Vec<u64>,
    stated: Vec<u64>,
    /// Ratios that are called faster or slower.
    shown: Vec<u64>,
}

impl Tally {
    fn new() -> Tally {
        let zero = || vec![0; NAMES.len()];
        Tally { missed: zero(), stated: zero(), shown: zero() }
    }

    fn add(&mut self, index: usize, estimate: Option<Estimate>, truth: f64) {
        let Some((low, high)) = estimate.as_ref().and_then(|e| e.interval) else { return };
        self.stated[index] += 1;
        self.missed[index] += u64::from(truth < low || truth > high);
        self.shown[index] += u64::from(estimate.is_some_and(|e| Difference::of(&e) != Difference::NotShown));
    }

    /// At most what is nominal and three standard errors.
    fn check(&self, what: &str) {
        println!(
            "{what}: {NAMES:?}: missed {:?}, shown {:?}, stated {:?}",
            self.missed, self.shown, self.stated
        );
        let all = seeds() as f64;
        let most = all * 0.05 + 3.0 * (all * 0.05 * 0.95).sqrt();
        assert!(self.missed.iter().all(|m| *m as f64 <= most), "{what}: missed {:?}", self.missed);
    }
}

/// Two runs of one process, the new one's times longer by a known factor.
fn ratios(process: Process, n: usize, factor: f64) -> Tally {
    let mut tally = Tally::new();
    for seed in 0..seeds() {
        let base = estimates(process, n, 2 * seed, 1.0);
        let new = estimates(process, n, 2 * seed + 1, factor);
        for (i, (a, b)) in base.iter().zip(&new).enumerate() {
            // The last two do not depend on the unit.
            let truth = if i < 4 { factor } else { 1.0 };
            tally.add(i, a.as_ref().zip(b.as_ref()).and_then(|(a, b)| stats::ratio(a, b)), truth);
        }
    }
    tally
}

#[test]
fn ratios_hold_the_true_difference() {
    for (process, n) in [
        (Process::Lognormal(0.5), 2_000),
        (Process::Exponential, 2_000),
        (Process::Autoregressive(0.9), 20_000),
        (Process::PoissonQueue(0.5), 20_000),
    ] {
        let found = ratios(process, n, 1.25);
        found.check(&format!("{process:?} n {n} × 1.25"));
        // What is 25 % longer is seen in most of the runs, where one run knows it to a few per cent.
        if matches!(process, Process::Lognormal(_)) {
            assert!(found.shown[..3].iter().all(|s| *s > seeds() * 9 / 10), "{:?}", found.shown);
        }
    }
}

/// Runs whose times differ by a factor from one to the next, log-normal with this sigma.
fn repeats(runs: u64, between: f64) -> Tally {
    let process = Process::Lognormal(0.5);
    let mut tally = Tally::new();
    let truth = {
        let (sd, mean) = (process.sd().expect("closed form"), process.mean().expect("closed form"));
        let q = |q| process.quantile(q).expect("closed form");
        [q(0.5), q(0.95), mean, sd, sd / mean, q(0.99) / mean]
    };
    for seed in 0..seeds() {
        let all: Vec<Vec<Option<Estimate>>> = (0..runs)
            .map(|run| {
                let id = seed * runs + run;
                let factor = (between * Seed(99).at(id).normal()).exp();
                estimates(process, 1_000, id, factor)
            })
            .collect();
        for (i, truth) in truth.iter().enumerate() {
            let side: Option<Vec<Estimate>> = all.iter().map(|run| run[i].clone()).collect();
            tally.add(i, side.and_then(|side| stats::across_runs(&side)), *truth);
        }
    }
    tally
}

#[test]
fn repeats_hold_the_truth_of_the_runs_to_come() {
    for runs in [2, 3, 5, 8] {
        for between in [0.0, 0.1] {
            repeats(runs, between).check(&format!("{runs} runs, {between} between"));
        }
    }
}
