mod planted;
use planted::{Process, distribution};
use units::{Quantile, Seed};

fn q(x: f64) -> Quantile { Quantile::new(x).unwrap() }

#[test]
fn explore() {
    let seeds = 200u64;
    for process in [
        Process::Lognormal(1.0), Process::Lognormal(2.0), Process::Exponential, Process::Pareto(2.5),
        Process::Autoregressive(0.5), Process::Autoregressive(0.9), Process::Autoregressive(0.99),
        Process::PoissonQueue(0.5), Process::PoissonQueue(0.8), Process::PoissonQueue(0.9),
        Process::RegularQueue(0.5), Process::RegularQueue(0.8), Process::RegularQueue(0.9), Process::Stalls,
    ] {
        for n in [2_000usize, 20_000] {
            let truth: Vec<Option<f64>> = if let Process::Stalls = process {
                let d = distribution(&process.requests(4_000_000, &mut Seed(9).rng()));
                let v = d.view();
                let mut t: Vec<Option<f64>> = [0.5, 0.95, 0.99].iter().map(|x| v.value(q(*x))).collect();
                t.push(v.moments(0.95, Seed(1)).map(|m| m.mean.point));
                t
            } else {
                let mut t: Vec<Option<f64>> = [0.5, 0.95, 0.99].iter().map(|x| process.quantile(*x)).collect();
                t.push(process.mean());
                t
            };
            let mut hit = [0u32; 4]; let mut none = [0u32; 4]; let mut width = [0f64; 4]; let mut neff=[0f64;4];
            for seed in 0..seeds {
                let d = distribution(&process.requests(n, &mut Seed(1000 + seed).rng()));
                let v = d.view();
                let mut es: Vec<_> = [0.5, 0.95, 0.99].iter().map(|x| v.quantile(q(*x), 0.95).unwrap()).collect();
                es.push(v.moments(0.95, Seed(seed)).unwrap().mean);
                for (i, e) in es.iter().enumerate() {
                    neff[i]+=e.n_effective/seeds as f64;
                    match e.interval {
                        None => none[i] += 1,
                        Some((l, h)) => { let t = truth[i].unwrap(); if l <= t && t <= h { hit[i] += 1 } width[i] += (h - l) / t; }
                    }
                }
            }
            print!("{process:?} n {n}: ");
            for i in 0..4 {
                let s = (seeds as u32 - none[i]) as f64;
                print!(" | {:.3} none {:.2} w {:.3} ne {:.0}", hit[i] as f64 / s, none[i] as f64 / seeds as f64, width[i] / s, neff[i]);
            }
            println!();
        }
    }
}
