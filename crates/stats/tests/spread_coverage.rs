//! Do the intervals of spreads hold the truth as often as they say? As `coverage.rs`, for p99.9, the variance and
//! what follows from it, and p99/mean.

mod planted;

use planted::{Process, distribution};
use units::{Estimate, Quantile, Seed};

const LEVEL: f64 = 0.95;
const NAMES: [&str; 5] = ["p99.9", "variance", "sd", "cv", "p99/mean"];

fn soak() -> bool {
    std::env::var("TRUETAIL_SOAK").is_ok_and(|v| v == "1")
}

fn seeds() -> u64 {
    if soak() { 2_000 } else { 100 }
}

/// In the order of `NAMES`, as far as they are stated.
fn estimates(process: Process, n: usize, seed: u64) -> [Option<Estimate>; 5] {
    let samples = distribution(&process.requests(n, &mut Seed(seed).derive("process").rng()));
    let view = samples.view();
    let quantile = |q| Quantile::new(q).and_then(|q| view.quantile(q, LEVEL));
    let moments = view.moments(LEVEL, Seed(seed)).expect("samples");
    let over_mean = quantile(0.99).and_then(|p99| stats::ratio(&moments.mean, &p99));
    [
        quantile(0.999),
        Some(moments.variance),
        Some(moments.sd),
        Some(moments.coefficient_of_variation),
        over_mean,
    ]
}

fn truth(process: Process) -> [f64; 5] {
    let known = (process.quantile(0.999), process.sd(), process.mean(), process.quantile(0.99));
    if let (Some(p999), Some(sd), Some(mean), Some(p99)) = known {
        return [p999, sd * sd, sd, sd / mean, p99 / mean];
    }
    let long = distribution(&process.requests(8_000_000, &mut Seed(77).rng()));
    let view = long.view();
    let value = |q| Quantile::new(q).and_then(|q| view.value(q)).unwrap_or(f64::NAN);
    let m = view.moments(LEVEL, Seed(1)).expect("samples");
    let (mean, sd) = (m.mean.point, m.sd.point);
    [value(0.999), m.variance.point, sd, sd / mean, value(0.99) / mean]
}

/// Of so many runs: how many have an interval that misses, and how many state one, of each of `NAMES`.
fn counts(process: Process, n: usize) -> ([u64; 5], [u64; 5]) {
    let truth = truth(process);
    let (mut missed, mut stated) = ([0; 5], [0; 5]);
    for seed in 0..seeds() {
        for (i, estimate) in estimates(process, n, seed).iter().enumerate() {
            let Some((low, high)) = estimate.as_ref().and_then(|e| e.interval) else { continue };
            stated[i] += 1;
            missed[i] += u64::from(truth[i] < low || truth[i] > high);
        }
    }
    println!("{process:?} n {n}: {NAMES:?}: missed {missed:?}, stated {stated:?} of {}", seeds());
    (missed, stated)
}

/// At most what is nominal and three standard errors, and enough that state one.
fn check(process: Process, n: usize, least_stated: [f64; 5]) {
    let (missed, stated) = counts(process, n);
    let all = seeds() as f64;
    let most = all * 0.05 + 3.0 * (all * 0.05 * 0.95).sqrt();
    assert!(missed.iter().all(|m| *m as f64 <= most), "{process:?} n {n}: missed {missed:?} of {all}");
    let enough = stated.iter().zip(least_stated).all(|(s, least)| *s as f64 >= least * all);
    assert!(enough, "{process:?} n {n}: stated {stated:?} of {all}");
}

#[test]
fn independent_samples() {
    check(Process::Exponential, 2_000, [0.0, 0.95, 0.95, 0.95, 0.98]);
    check(Process::Exponential, 20_000, [0.9, 0.98, 0.98, 0.98, 0.98]);
    check(Process::Lognormal(1.0), 20_000, [0.9, 0.85, 0.85, 0.85, 0.98]);
    check(Process::Pareto(4.5), 20_000, [0.9, 0.9, 0.9, 0.9, 0.98]);
}

/// Fourth moments that do not exist, or that no run of this length sees: there is nothing to state.
#[test]
fn tails_so_heavy_that_a_few_requests_decide() {
    for process in [Process::Lognormal(2.0), Process::Pareto(2.5)] {
        let (_, stated) = counts(process, 20_000);
        assert!(stated[1..4].iter().all(|s| *s * 20 <= seeds()), "{process:?}: {stated:?}");
        check(process, 20_000, [0.9, 0.0, 0.0, 0.0, 0.98]);
    }
    check(Process::Lognormal(1.0), 2_000, [0.0, 0.0, 0.0, 0.0, 0.98]);
}

#[test]
fn autoregressive_samples() {
    check(Process::Autoregressive(0.5), 2_000, [0.0, 0.3, 0.3, 0.3, 0.8]);
    check(Process::Autoregressive(0.9), 20_000, [0.0, 0.95, 0.95, 0.95, 0.95]);
    check(Process::Autoregressive(0.99), 2_000, [0.0; 5]);
}

#[test]
fn queues() {
    check(Process::PoissonQueue(0.5), 20_000, [0.0, 0.95, 0.95, 0.95, 0.95]);
    check(Process::PoissonQueue(0.8), 20_000, [0.0, 0.85, 0.85, 0.85, 0.0]);
    check(Process::PoissonQueue(0.9), 20_000, [0.0; 5]);
    check(Process::RegularQueue(0.8), 20_000, [0.0, 0.95, 0.95, 0.95, 0.3]);
    check(Process::PoissonQueue(0.8), 2_000, [0.0; 5]);
    check(Process::PoissonQueue(0.9), 2_000, [0.0; 5]);
}

/// Runs hardly longer than their queues remember: what they vary by is not in them.
#[test]
fn short_runs_state_none() {
    for process in [Process::PoissonQueue(0.9), Process::PoissonQueue(0.8), Process::Autoregressive(0.99)] {
        let (_, stated) = counts(process, 2_000);
        assert!(stated[1..4].iter().all(|s| *s * 10 <= seeds()), "{process:?}: {stated:?}");
    }
}

#[test]
fn stalls_when_asked() {
    if soak() {
        check(Process::Stalls, 20_000, [0.0, 0.8, 0.8, 0.8, 0.3]);
        check(Process::PoissonQueue(0.9), 200_000, [0.0, 0.9, 0.9, 0.9, 0.2]);
    }
}
