//! The frozen server: a load of 1/ms for 90 s, a server that stops for one second and then catches up at
//! 1.25/ms. What an open load feels is known in closed form; what a closed loop reports omits almost all of it.

mod made;

use made::{MS, Run, S, took};
use record::{LoadModel, Measure};
use units::{Instant, Nanos, Outcome, Quantile};

const REQUESTS: u64 = 90_000;
const STALL_AT: u64 = 30_000;
/// 1,000 ms less 0.2 ms for each request after: until then the queue has drained.
const DELAYED: u64 = 5_000;

fn delay_of(i: u64) -> u64 {
    let after = (i + 1).saturating_sub(STALL_AT);
    if after == 0 || after >= DELAYED { 0 } else { 1_000 * MS - after * MS / 5 }
}

fn close(found: f64, ms: f64, what: &str) {
    let expected = ms * 1e6;
    assert!((found / expected - 1.0).abs() < 0.001, "{what}: {found} ns, expected {expected}");
}

#[test]
fn an_open_load_feels_the_stall() {
    let run = Run::new(LoadModel::Open, 90).each_ms(REQUESTS, |i, sample| took(sample, delay_of(i)));
    let analysis = run.analyse();
    let response = analysis.total.measure(Measure::Response).expect("an open load has response times");
    close(response.mean.point, 27.78, "mean");
    for (q, ms) in [(0.95, 99.8), (0.99, 819.8), (0.999, 981.8)] {
        let estimate = response.quantile(Quantile::new(q).unwrap()).expect("carried by 90,000 samples");
        close(estimate.point, ms, &format!("quantile {q}"));
    }
    assert_eq!((response.max, response.min), (Nanos(999_800_000), Nanos(0)));
    assert_eq!(response.quantile(Quantile::new(0.9).unwrap()).unwrap().point, 0.0);
    // Half of the requests take no time at all: what that divides is unknown.
    let spreads = &response.spreads;
    assert_eq!((&spreads.max_over_median, &spreads.median_over_min), (&None, &None));
    let p99_over_mean = spreads.p99_over_mean.as_ref().expect("the mean is not zero");
    assert!((p99_over_mean.point / (819.8 / 27.78) - 1.0).abs() < 0.002, "{p99_over_mean:?}");
    assert_eq!(p99_over_mean.n, response.n);
    // One stall is one event: p99 is exact of this run, and no run can tell its spread from it.
    let p99 = response.quantile(Quantile::new(0.99).unwrap()).unwrap();
    assert!(p99.interval.is_none_or(|(low, high)| high - low > 0.3 * p99.point), "{p99:?}");
    assert!(p99.n_effective < 500.0, "{}", p99.n_effective);
    // The figures show it where it was.
    let series = &analysis.series[0];
    let most = series.pyramid.levels[0].max.iter().enumerate().filter(|(_, v)| **v != u64::MAX);
    let (index, _) = most.max_by_key(|(_, v)| **v).unwrap();
    let at = index as u64 * series.pyramid.levels[0].width.0;
    assert!(at.abs_diff(30 * S) <= series.pyramid.levels[0].width.0 + MS);
    assert!(series.extremes.iter().any(|e| e.value == Nanos(999_800_000) && e.at == Instant(30 * S)));
    let top = series.sliding_mean.iter().map(|p| p.1).fold(0.0, f64::max);
    // Centred on request 500 of the stall: mean of 999.8 … 800 ms.
    // The points are 45 ms apart, so that none need lie in its very middle.
    assert!((889e6..=899.9e6).contains(&top), "largest sliding mean {top}");
    // The longest requests consist of waiting for the server, all of it service here.
    let last = analysis.anatomy.rows.last().unwrap();
    assert_eq!((last.whole_ns, last.service_ns, last.requests), (999_800_000.0, 999_800_000.0, 1));
}

#[test]
fn one_session_makes_it_pool_wait() {
    // The same arrivals over one session: service takes 0.8 ms, the rest is waiting for the session.
    let mut free_at = 0u64;
    let mut run = Run::new(LoadModel::Open, 90);
    for i in 0..REQUESTS {
        let sample = made::request(i * MS, i);
        let ready = sample.intended.0.max(free_at);
        let stall = if (30 * S..31 * S).contains(&ready) { 31 * S - ready } else { 0 };
        free_at = ready + stall + 4 * MS / 5;
        let ready = Instant(ready);
        run.samples.push(record::Sample { ready, sent: ready, completed: Instant(free_at), ..sample });
    }
    let analysis = run.analyse();
    let mean = |m| analysis.total.measure(m).expect("measured").mean.point;
    // 0.8 ms of service on top of the closed form, and the stall itself in one request's service.
    close(mean(Measure::Response), 27.78 + 0.8, "response time");
    close(mean(Measure::Service), 0.8 + 1000.0 / 90_000.0, "service time");
    close(mean(Measure::PoolWait), 27.78 - 1000.0 / 90_000.0, "pool wait");
    let row = analysis.anatomy.rows.iter().find(|r| r.quantile == Quantile::new(0.99).unwrap()).unwrap();
    let sum = row.pool_wait_ns + row.lag_ns + row.service_ns;
    assert!((sum / row.whole_ns - 1.0).abs() < 0.01, "the parts make the whole: {row:?}");
    assert!(row.pool_wait_ns / row.whole_ns > 0.99, "{row:?}");
}

#[test]
fn a_closed_loop_omits_it() {
    let mut run = Run::new(LoadModel::Closed, 90);
    let mut now = 0;
    let mut seq = 0;
    while now < 90 * S {
        let stall = if (30 * S..30 * S + MS).contains(&now) { S } else { 0 };
        let sample = record::Sample { intended: Instant::NONE, ..made::request(now, seq) };
        run.samples.push(took(sample, stall + 4 * MS / 5));
        now += stall + MS;
        seq += 1;
    }
    let analysis = run.analyse();
    assert!(analysis.total.measure(Measure::Response).is_none(), "a closed loop has no response time");
    assert!(analysis.total.measure(Measure::PoolWait).is_none());
    let service = analysis.total.measure(Measure::Service).unwrap();
    for q in [0.5, 0.99, 0.999, 0.9999] {
        // 100,000 samples carry p99.99; these are 89,000.
        let Some(estimate) = service.quantile(Quantile::new(q).unwrap()) else { continue };
        close(estimate.point, 0.8, "the stall is one sample of 89,000");
    }
    close(service.mean.point, 0.8 + 1000.0 / 89_000.0, "mean");
    assert_eq!(service.max, Nanos(S + 4 * MS / 5));
    assert_eq!(analysis.offered, None);
    assert_eq!(analysis.total.counts.outcomes, [(Outcome::Ok, 89_000)]);
}
