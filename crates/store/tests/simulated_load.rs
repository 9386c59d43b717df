//! The store's timing behind the real session loop, on the simulated clock.

use load::arrivals::Process;
use load::simulate::{FifoServer, Server, simulate};
use load::{LoadSpec, Pacing, Think};
use record::RawSample;
use store::{Model, SimulatedServer};
use units::{Nanos, PerSecond, Seed};
use workload::noop::{Mode, NoOp};

fn run(model: load::Model, phases: &str, server: Box<dyn Server>) -> Vec<RawSample> {
    let spec = LoadSpec {
        model,
        phases: load::parse_phases(phases).unwrap(),
        operations: vec!["NoOp".to_owned()],
        mix: vec![1.0],
        sessions: 2_000,
        workers: 1,
        requests: None,
        timeout: None,
        drain: Nanos::from_secs(10),
        retry: load::Retry::NONE,
        pacing: Pacing::Sleep,
        cpus: vec![],
        seed: Seed(1),
    };
    simulate(&spec, &NoOp::new(Mode::Ping), server).unwrap()
}

fn sickstore(capacity: f64) -> Box<SimulatedServer> {
    let model = Model {
        capacity: PerSecond::new(capacity),
        hiccups: vec!["1s@30s".parse().unwrap()],
        ..Model::default()
    };
    Box::new(SimulatedServer::new(&model, Seed(1)))
}

/// At a capacity that is a whole number of nanoseconds, the same requests have the same times as behind the server that
/// the harness is tested with; but that one lets the next begin as soon as a stall is over, while here the rest of the
/// interval that the hiccup has cut is still to be waited for.
#[test]
fn answers_as_the_plain_queue_does() {
    for (process, after) in [(Process::Constant, 0), (Process::Poisson, 800_000)] {
        let model = load::Model::Open { process };
        let samples = run(model.clone(), "40s@1000/s", sickstore(1250.0));
        // Instants count from the first request.
        let first = Nanos(samples.iter().map(|sample| sample.sent.0).min().unwrap());
        let stall = (first + Nanos::from_secs(30), first + Nanos::from_secs(31));
        let plain = run(model, "40s@1000/s", Box::new(FifoServer::new(Nanos::from_micros(800), vec![stall])));
        assert!(samples.len() > 39_000 && samples.len() == plain.len());
        for (ours, plain) in samples.iter().zip(&plain) {
            let most = if plain.completed.0 < stall.0.0 { 0 } else { after };
            let later = ours.completed.0.wrapping_sub(plain.completed.0);
            assert!(ours.seq == plain.seq && later <= most, "{ours:?}, expected {plain:?}");
        }
    }
}

/// The paper's experiment: 90,000 requests at 1000/s, one second's hiccup at each of its capacities. The mean response
/// time is λH²/(2n(1 − ρ)), within 0.1 %.
#[test]
fn the_experiment_s_means() {
    for capacity in [1053.0, 1111.0, 1250.0, 1333.0, 1430.0, 1666.0, 2000.0, 10_000.0] {
        let open = load::Model::Open { process: Process::Constant };
        let samples = run(open, "90s@1000/s", sickstore(capacity));
        let n = samples.len() as f64;
        let sum: f64 = samples.iter().map(|s| (s.completed.0 - s.intended.0) as f64 / 1e6).sum();
        let expected = 1e6 / (2.0 * n * (1.0 - 1000.0 / capacity));
        let (mean, relative) = (sum / n, sum / n / expected - 1.0);
        assert!(relative.abs() < 0.001, "μ = {capacity}: {mean} ms, expected {expected} ms");
    }
}

/// A closed loop never has more than its sessions in the queue: with capacity μ and c sessions, each waits c/μ.
#[test]
fn a_closed_loop_waits_for_its_own() {
    let model = Model { capacity: PerSecond::new(1000.0), ..Model::default() };
    let samples = run(
        load::Model::Closed { think: Think::None },
        "5s",
        Box::new(SimulatedServer::new(&model, Seed(1))),
    );
    let settled = samples.iter().filter(|sample| sample.sent.0 > 0 && sample.completed.0 < 5_000_000_000);
    let waits: Vec<u64> = settled.map(|sample| sample.completed.0 - sample.sent.0).collect();
    assert!(waits.len() > 2_500 && waits.iter().all(|wait| *wait == 2_000_000_000), "{:?}", waits.first());
}
