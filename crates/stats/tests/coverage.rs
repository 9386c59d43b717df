//! Do the intervals hold the truth as often as they say?
//!
//! Processes with a known truth, 200 seeds each. What is counted is the share of runs whose interval misses: a
//! run that states none claims nothing. Set TRUETAIL_SOAK=1 for 2,000 seeds and the longer runs.
//!
//! A gap, known and documented: a run that is shorter than the time between rare events has not seen what it
//! would have to know. Stalls once in two seconds are not tested on runs of two seconds.

mod planted;

use planted::{Process, distribution};
use stats::Difference;
use units::{Estimate, Quantile, Seed};

const LEVEL: f64 = 0.95;

fn soak() -> bool {
    std::env::var("TRUETAIL_SOAK").is_ok_and(|v| v == "1")
}

/// p50, p95, p99 and the mean, as far as they are stated.
fn estimates(process: Process, n: usize, seed: u64) -> Vec<Option<Estimate>> {
    let samples = distribution(&process.requests(n, &mut Seed(seed).derive("process").rng()));
    let view = samples.view();
    let quantile = |q| Quantile::new(q).and_then(|q| view.quantile(q, LEVEL));
    let mean = view.moments(LEVEL, Seed(seed)).map(|m| m.mean);
    vec![quantile(0.5), quantile(0.95), quantile(0.99), mean]
}

fn truth(process: Process) -> Vec<f64> {
    let known = |q| process.quantile(q);
    if let (Some(a), Some(b), Some(c), Some(d)) = (known(0.5), known(0.95), known(0.99), process.mean()) {
        return vec![a, b, c, d];
    }
    // No closed form: the mean of long runs.
    let long = distribution(&process.requests(8_000_000, &mut Seed(77).rng()));
    let view = long.view();
    let value = |q| Quantile::new(q).and_then(|q| view.value(q)).unwrap_or(f64::NAN);
    let mean = view.moments(LEVEL, Seed(1)).map_or(f64::NAN, |m| m.mean.point);
    vec![value(0.5), value(0.95), value(0.99), mean]
}

/// Shares of runs whose interval misses, and of runs that state one.
fn rates(process: Process, n: usize) -> (Vec<f64>, Vec<f64>) {
    let seeds = if soak() { 2_000 } else { 200 };
    let truth = truth(process);
    let (mut missed, mut stated) = (vec![0.0; 4], vec![0.0; 4]);
    for seed in 0..seeds {
        for (i, estimate) in estimates(process, n, seed).iter().enumerate() {
            let Some((low, high)) = estimate.as_ref().and_then(|e| e.interval) else { continue };
            stated[i] += 1.0 / f64::from(seeds as u32);
            if truth[i] < low || truth[i] > high {
                missed[i] += 1.0 / f64::from(seeds as u32);
            }
        }
    }
    println!("{process:?} n {n}: missed {missed:.3?}, stated {stated:.2?}");
    (missed, stated)
}

/// 8 % missed of 200: three standard errors above the nominal 5 % would be 9.6 %.
fn check(process: Process, n: usize, most_missed: f64, least_stated: [f64; 4]) {
    let (missed, stated) = rates(process, n);
    assert!(missed.iter().all(|m| *m <= most_missed), "{process:?} n {n}: missed {missed:?}");
    let enough = stated.iter().zip(least_stated).all(|(s, least)| *s >= least);
    assert!(enough, "{process:?} n {n}: stated {stated:?}");
}

const ALL: [f64; 4] = [0.98; 4];

#[test]
fn independent_samples() {
    for process in
        [Process::Lognormal(1.0), Process::Lognormal(2.0), Process::Exponential, Process::Pareto(2.5)]
    {
        check(process, 2_000, 0.08, ALL);
        check(process, 20_000, 0.08, ALL);
    }
}

#[test]
fn autoregressive_samples() {
    check(Process::Autoregressive(0.5), 2_000, 0.08, [0.98, 0.98, 0.7, 0.98]);
    check(Process::Autoregressive(0.5), 20_000, 0.08, ALL);
    check(Process::Autoregressive(0.9), 2_000, 0.08, [0.98, 0.6, 0.0, 0.98]);
    check(Process::Autoregressive(0.9), 20_000, 0.08, ALL);
}

#[test]
fn queues_in_long_runs() {
    check(Process::PoissonQueue(0.5), 20_000, 0.08, ALL);
    check(Process::PoissonQueue(0.8), 20_000, 0.08, [0.98, 0.9, 0.0, 0.98]);
    check(Process::PoissonQueue(0.9), 20_000, 0.08, [0.98, 0.0, 0.0, 0.98]);
    check(Process::RegularQueue(0.5), 20_000, 0.08, ALL);
    check(Process::RegularQueue(0.8), 20_000, 0.08, [0.98, 0.9, 0.2, 0.98]);
    check(Process::RegularQueue(0.9), 20_000, 0.08, [0.98, 0.4, 0.0, 0.98]);
    check(Process::Stalls, 20_000, 0.08, [0.98, 0.6, 0.2, 0.98]);
}

/// Runs that last hardly longer than their queues remember: wider, and mostly without an interval for the tail.
#[test]
fn queues_in_short_runs() {
    check(Process::PoissonQueue(0.5), 2_000, 0.08, [0.98, 0.8, 0.0, 0.98]);
    check(Process::RegularQueue(0.8), 2_000, 0.08, [0.98, 0.0, 0.0, 0.98]);
    check(Process::PoissonQueue(0.8), 2_000, 0.09, [0.98, 0.0, 0.0, 0.98]);
    check(Process::PoissonQueue(0.9), 2_000, 0.09, [0.8, 0.0, 0.0, 0.9]);
    check(Process::Autoregressive(0.99), 2_000, 0.09, [0.8, 0.0, 0.0, 0.9]);
}

/// Two runs of the same process: how often a difference is shown that is none.
#[test]
fn ratios_of_equal_processes_show_no_difference() {
    for (process, n) in [
        (Process::Lognormal(1.0), 5_000),
        (Process::Pareto(2.5), 5_000),
        (Process::Autoregressive(0.9), 20_000),
        (Process::PoissonQueue(0.8), 20_000),
        (Process::Stalls, 40_000),
    ] {
        let pairs = if soak() { 1_000 } else { 100 };
        let mut shown = [0u32; 4];
        for pair in 0..pairs {
            let (base, new) = (estimates(process, n, 2 * pair), estimates(process, n, 2 * pair + 1));
            for (count, (a, b)) in shown.iter_mut().zip(base.iter().zip(&new)) {
                let ratio = a.as_ref().zip(b.as_ref()).and_then(|(a, b)| stats::ratio(a, b));
                *count += u32::from(ratio.is_some_and(|r| Difference::of(&r) != Difference::NotShown));
            }
        }
        println!("{process:?} n {n}: differences shown {shown:?} of {pairs}");
        assert!(shown.iter().all(|s| f64::from(*s) <= 0.10 * pairs as f64), "{process:?}: {shown:?}");
    }
}

/// How often a stationary run is called drifting, at the limits of the verdict (p < 0.001, 10 % change).
#[test]
fn stationary_processes_do_not_drift() {
    for process in [
        Process::Exponential,
        Process::Autoregressive(0.9),
        Process::PoissonQueue(0.8),
        Process::PoissonQueue(0.9),
        Process::Stalls,
    ] {
        let seeds = if soak() { 2_000 } else { 200 };
        let called = (0..seeds).filter(|seed| {
            let samples = distribution(&process.requests(20_000, &mut Seed(*seed).derive("drift").rng()));
            let drift = samples.view().drift().expect("enough blocks");
            drift.p_value < 0.001 && (drift.median_ratio - 1.0).abs() > 0.1
        });
        let called = called.count();
        println!("{process:?}: {called} of {seeds} called drifting");
        assert!(called as f64 <= 0.015 * seeds as f64, "{process:?}: {called} of {seeds}");
    }
}

#[test]
fn long_runs_when_asked() {
    if !soak() {
        return;
    }
    check(Process::PoissonQueue(0.9), 200_000, 0.07, [0.98, 0.98, 0.2, 0.98]);
    check(Process::RegularQueue(0.9), 200_000, 0.07, [0.98, 0.98, 0.5, 0.98]);
    check(Process::Stalls, 200_000, 0.07, ALL);
}
