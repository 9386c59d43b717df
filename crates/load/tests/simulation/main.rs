//! The real session loop on the simulated clock: the frozen server first.

#[path = "../doubles/mod.rs"]
mod doubles;
mod endings;
mod phases;
mod pings;
mod retries;
mod statements;
mod terminals;

use driver::OpError;
use load::arrivals::Process;
use load::simulate::{Answer, FifoServer, Server, simulate};
use load::{Model, Think, UserVisit};
use pings::{Pings, fast, spec};
use proptest::prelude::*;
use record::RawSample;
use units::{Nanos, Outcome, Seed};

fn millis(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn response(s: &RawSample) -> u64 {
    s.completed.0 - s.intended.0
}

fn service(s: &RawSample) -> u64 {
    s.completed.0 - s.sent.0
}

/// Nearest rank.
fn quantile(values: &[u64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = ((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
    millis(sorted[rank - 1])
}

fn mean(values: &[u64]) -> f64 {
    values.iter().map(|&v| millis(v)).sum::<f64>() / values.len() as f64
}

fn within(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected, "{found} is not {expected} ± {relative}");
}

/// 90,000 requests at 1/ms, a stall of 1 s at 30 s, capacity 1.25/ms.
fn frozen() -> Box<FifoServer> {
    let stall = (Nanos::from_secs(30), Nanos::from_secs(31));
    Box::new(FifoServer::new(Nanos::from_micros(800), vec![stall]))
}

/// Closed forms for λ = 1/ms, H = 1000 ms, ρ = 0.8, n = 90,000: the delay falls linearly from H to 0 over
/// H/(1 − ρ) = 5000 arrivals, so mean = λH²/(2n(1 − ρ)) and the q-quantile = H − (1 − ρ)n(1 − q).
#[test]
fn a_frozen_server_shows_in_an_open_loop() {
    let samples = simulate(
        &spec(Model::Open { process: Process::Constant }, "90s@1000/s", 2000),
        &Pings::Plain,
        frozen(),
    )
    .unwrap();
    assert_eq!(samples.len(), 90_000);
    let responses: Vec<u64> = samples.iter().map(response).collect();
    within(mean(&responses), 27.777_8, 0.001);
    within(quantile(&responses, 0.95), 1000.0 - 0.2 * 4500.0, 0.003); // one rank is 0.2 ms of 100 ms
    within(quantile(&responses, 0.99), 820.0, 0.001);
    within(quantile(&responses, 0.999), 982.0, 0.001);
    within(quantile(&responses, 1.0), 1000.0, 0.001);
    assert_eq!(quantile(&responses, 0.90), 0.0);
    let delayed = responses.iter().filter(|&&r| r > 0).count() as f64 / 90_000.0;
    within(delayed, 0.055_6, 0.005);
    // The sessions suffice, so nobody waited for one, and the harness lost no time of its own.
    assert!(samples.iter().all(|s| s.ready == s.intended && s.sent == s.ready));
}

/// Few sessions change who waits where, not what the user feels.
#[test]
fn with_few_sessions_the_stall_becomes_pool_wait() {
    let samples =
        simulate(&spec(Model::Open { process: Process::Constant }, "90s@1000/s", 4), &Pings::Plain, frozen())
            .unwrap();
    let responses: Vec<u64> = samples.iter().map(response).collect();
    within(mean(&responses), 27.777_8, 0.002);
    within(quantile(&responses, 0.999), 982.0, 0.001);
    let pool_wait: u64 = samples.iter().map(|s| s.ready.0 - s.intended.0).sum();
    let total: u64 = responses.iter().sum();
    assert!(pool_wait as f64 > 0.9 * total as f64, "pool wait {pool_wait} of {total}");
    assert!(samples.iter().all(|s| s.sent == s.ready), "lag without a harness delay");
}

/// The closed loop's service times omit what its own waiting hid: N·H·(1 − N/2λH)/((1 − ρ)n) in the mean.
#[test]
fn a_closed_loop_shows_the_omission() {
    for (sessions, expected) in [(4, 0.2218), (64, 3.4418), (256, 12.4017)] {
        let mut spec = spec(Model::ThrottledClosed, "90s@1000/s", sessions);
        spec.requests = Some(90_000);
        let samples = simulate(&spec, &Pings::Plain, frozen()).unwrap();
        let services: Vec<u64> = samples.iter().map(service).collect();
        within(mean(&services), expected, 0.02);
        // The intended starts that are kept beside the actual ones tell the truth.
        let intended: Vec<u64> = samples.iter().map(response).collect();
        within(mean(&intended), 27.777_8, 0.01);
        assert!(quantile(&services, 0.9) < 1.0);
    }
}

#[test]
fn a_plain_closed_loop_has_no_intended_times() {
    let think = Think::Exponential(Nanos::from_millis(5));
    let instant = Box::new(FifoServer::new(Nanos(1), vec![]));
    let samples = simulate(&spec(Model::Closed { think }, "10s", 8), &Pings::Plain, instant).unwrap();
    assert!(samples.iter().all(|s| !s.intended.is_some() && s.sent == s.ready));
    // Interactive response time law: X = N/(Z + R) with R = 0 here.
    within(samples.len() as f64 / 10.0, 8.0 / 0.005, 0.05);
}

#[test]
fn visits_of_a_partly_open_load_follow_completions() {
    let visit = UserVisit { mean_requests: 5.0, think: Think::Constant(Nanos::from_millis(10)) };
    let model = Model::PartlyOpen { process: Process::Poisson, visit };
    let server = Box::new(FifoServer::new(Nanos::from_micros(100), vec![]).answer_after_service());
    let mut samples = simulate(&spec(model, "60s@20/s", 200), &Pings::Plain, server).unwrap();
    samples.sort_by_key(|s| s.seq);
    assert!(samples.len() > 4000);
    let mut followers = 0;
    for pair in samples.windows(2).filter(|p| p[0].session == p[1].session) {
        if pair[1].intended.0 == pair[0].completed.0 + 10_000_000 {
            followers += 1;
        }
    }
    assert!(followers as f64 > 0.75 * samples.len() as f64, "{followers} of {}", samples.len());
}

/// A server with a random service time per exchange, errors, lost connections and stuck requests.
struct Faulty {
    seed: Seed,
    served: u64,
}

impl Server for Faulty {
    fn serve(&mut self, now: Nanos, session: u16) -> Answer {
        let mut rng = self.seed.at(self.served);
        self.served += 1;
        let slow = if session == 0 { 20.0 } else { 1.0 };
        let service = Nanos::from_secs_f64(0.002 * slow * rng.exponential());
        let (at, result) = match rng.below(100) {
            0 => (now + service, Err(OpError::lost(Outcome::ConnectionLost))),
            1..4 => (now + service, Err(OpError::refused(Outcome::Deadlock))),
            4 => (now + Nanos::from_secs(1_000_000), Ok(())), // never, within this run
            _ => (now + service, Ok(())),
        };
        Answer { at, result }
    }
}

fn faulty(seed: u64) -> Box<Faulty> {
    Box::new(Faulty { seed: Seed(seed), served: 0 })
}

#[test]
fn the_same_seed_gives_the_same_samples() {
    let mut spec = spec(Model::Open { process: Process::Poisson }, "5s@800/s", 12);
    spec.timeout = Some(Nanos::from_millis(200));
    spec.retry = load::Retry::conflicts(2);
    let first = simulate(&spec, &Pings::Plain, faulty(1)).unwrap();
    assert_eq!(first, simulate(&spec, &Pings::Plain, faulty(1)).unwrap());
    assert_ne!(first, simulate(&spec, &Pings::Plain, faulty(2)).unwrap());
}

#[test]
fn timeouts_are_censored_at_the_limit_and_nothing_is_lost() {
    let mut spec = spec(Model::Open { process: Process::Poisson }, "20s@500/s", 50);
    spec.timeout = Some(Nanos::from_millis(100));
    let mut samples = simulate(&spec, &Pings::Plain, faulty(3)).unwrap();
    samples.sort_by_key(|s| s.seq);
    assert!(samples.iter().enumerate().all(|(i, s)| s.seq == i as u64), "a request is missing");
    let timeouts: Vec<_> = samples.iter().filter(|s| s.outcome == Outcome::Timeout.code()).collect();
    assert!(timeouts.len() > 50);
    assert!(timeouts.iter().all(|s| service(s) == 100_000_000));
    assert!(samples.iter().all(|s| service(s) <= 100_000_000));
    let lost = samples.iter().filter(|s| s.outcome == Outcome::ConnectionLost.code()).count();
    assert!(lost > 50, "{lost} lost connections");
}

/// A refusal happens when the request is due, not when the session finds out.
#[test]
fn requests_that_cannot_be_encoded_are_refused_at_their_time() {
    let spec = spec(Model::Open { process: Process::Poisson }, "2s@500/s", 8);
    let samples = simulate(&spec, &Pings::OddRefused, fast()).unwrap();
    let (odd, even): (Vec<RawSample>, Vec<RawSample>) = samples.iter().partition(|s| s.seq % 2 == 1);
    assert!(odd.len() > 400 && odd.len().abs_diff(even.len()) <= 1);
    for s in &odd {
        assert_eq!((s.sent.is_some(), s.outcome), (false, Outcome::Protocol.code()));
        assert_eq!((s.completed, s.flags), (s.intended, 0), "request {}", s.seq);
    }
    assert!(even.iter().all(|s| s.sent == s.intended && s.outcome == Outcome::Ok.code()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No arrival waits while a session is free, whatever the arrivals, the sessions and the server.
    #[test]
    fn the_load_is_work_conserving(
        seed: u64,
        sessions in 1u32..20,
        rate in 50.0f64..2000.0,
        kind in 0usize..4,
        visits: bool,
    ) {
        let process = [
            Process::Constant,
            Process::Poisson,
            Process::Pareto { alpha: 1.3 },
            Process::HyperExp { cv2: 16.0 },
        ][kind].clone();
        let visit = UserVisit { mean_requests: 1.0, think: Think::None };
        let model = if visits { Model::PartlyOpen { process, visit } } else { Model::Open { process } };
        let mut spec = spec(model, &format!("2s@{rate}/s"), sessions);
        spec.seed = Seed(seed);
        spec.timeout = Some(Nanos::from_millis(50));
        let mut samples = simulate(&spec, &Pings::Plain, faulty(seed)).unwrap();
        // When each session is taken: from sent to completed, and 25 ms more while it is replaced.
        let replaced = |s: &RawSample| {
            s.outcome == Outcome::Timeout.code() || s.outcome == Outcome::ConnectionLost.code()
        };
        samples.sort_by_key(|s| s.seq);
        let busy: Vec<(u16, u64, u64)> = samples
            .iter()
            .map(|s| (s.session, s.sent.0, s.completed.0 + if replaced(s) { 25_000_000 } else { 0 }))
            .collect();
        for s in &samples {
            prop_assert!(s.ready.0 >= s.intended.0 && s.sent == s.ready);
            if s.sent == s.intended {
                continue;
            }
            // While s waited, every session must have been taken at every moment; it is enough to look just
            // before it was sent and just after it was due.
            for at in [s.intended.0, s.sent.0 - 1] {
                let taken = (0..sessions as u16)
                    .filter(|&n| busy.iter().any(|b| b.0 == n && b.1 <= at && at < b.2))
                    .count();
                prop_assert_eq!(taken as u32, sessions, "request {} waited at {} with a free session", s.seq, at);
            }
        }
    }
}
