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
    std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(if soak() { 2_000 } else { 200 })
}

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

fn rates(process: Process, n: usize) -> ([f64; 5], [f64; 5]) {
    let truth = truth(process);
    let (mut missed, mut stated) = ([0.0; 5], [0.0; 5]);
    let (mut low_misses, mut width) = ([0.0; 5], [0.0; 5]);
    let each = 1.0 / seeds() as f64;
    for seed in 0..seeds() {
        for (i, estimate) in estimates(process, n, seed).iter().enumerate() {
            let Some((low, high)) = estimate.as_ref().and_then(|e| e.interval) else { continue };
            stated[i] += each;
            if truth[i] < low || truth[i] > high {
                missed[i] += each;
            }
            if truth[i] < low {
                low_misses[i] += each;
            }
            width[i] += (high / low).ln() / 2.0 * each;
        }
    }
    let shown: Vec<String> = (0..5)
        .map(|i| {
            format!(
                "{} {:.1} (lo {:.1}) st {:.0} w {:.2}",
                NAMES[i],
                100.0 * missed[i],
                100.0 * low_misses[i],
                100.0 * stated[i],
                width[i]
            )
        })
        .collect();
    println!("{process:?} n {n}: {}", shown.join("; "));
    (missed, stated)
}

#[test]
fn explore() {
    let cases = [
        (Process::Lognormal(1.0), 2_000),
        (Process::Lognormal(1.0), 20_000),
        (Process::Lognormal(2.0), 20_000),
        (Process::Exponential, 2_000),
        (Process::Exponential, 20_000),
        (Process::Pareto(2.5), 20_000),
        (Process::Pareto(4.5), 20_000),
        (Process::Autoregressive(0.5), 2_000),
        (Process::Autoregressive(0.9), 20_000),
        (Process::PoissonQueue(0.5), 20_000),
        (Process::PoissonQueue(0.8), 20_000),
        (Process::PoissonQueue(0.9), 20_000),
        (Process::RegularQueue(0.8), 20_000),
        (Process::Stalls, 20_000),
        (Process::PoissonQueue(0.8), 2_000),
        (Process::PoissonQueue(0.9), 2_000),
        (Process::Autoregressive(0.99), 2_000),
    ];
    for (process, n) in cases {
        rates(process, n);
    }
}
