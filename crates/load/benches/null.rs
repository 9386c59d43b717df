//! What truetail itself costs per request: schedule, plan, stamps and append against `null:`, and the append
//! with two stamps alone. Prints figures; `cargo test` runs it tiny, so that it can't rot.

use clock::{Clock, ClockChoice, LiveClock};
use driver::{Execution, Target};
use driver_null::NullTarget;
use load::arrivals::Process;
use load::{Journal, LoadSpec, Model, Pacing, Subject, Think, parse_phases};
use record::{EventKind, RawSample};
use std::sync::atomic::AtomicBool;
use units::{Nanos, Seed, Ticks};
use workload::Workload;
use workload::noop::{Mode, NoOp};

struct Silent;

impl Journal for Silent {
    fn event(&self, _: EventKind, _: Ticks, _: Ticks, _: String, _: String) {}
}

fn spec(model: Model, phases: &str, requests: u64, workload: &NoOp) -> LoadSpec {
    let operations = workload.operations();
    LoadSpec {
        model,
        phases: parse_phases(phases).expect("phases"),
        mix: operations.iter().map(|o| o.weight).collect(),
        operations: operations.iter().map(|o| o.name.to_owned()).collect(),
        sessions: 1,
        workers: 1,
        requests: Some(requests),
        timeout: None,
        drain: Nanos::from_secs(10),
        retries: 0,
        pacing: Pacing::SleepThenSpin,
        cpus: vec![],
        seed: Seed(1),
    }
}

/// ns per request from the first `sent` to the last `completed`, and a hash of what was done.
fn per_request(spec: &LoadSpec, workload: &NoOp, clock: LiveClock) -> (f64, u64) {
    let target = NullTarget::new();
    let sessions = load::connect_all(&target, &[], None, 1).expect("null");
    let rings = (0..load::rings_needed(spec, Execution::Polled)).map(|_| record::ring(1 << 19));
    let (producers, mut consumers): (Vec<_>, Vec<_>) = rings.unzip();
    let stop = AtomicBool::new(false);
    let subject = Subject { target: &target, sessions, statements: &[], isolation: None, workload };
    assert_eq!(target.execution(), Execution::Polled);
    load::run(subject, spec, clock, producers, &Silent, &stop).expect("a load");
    let (mut first, mut last, mut count, mut hash) = (u64::MAX, 0, 0u64, 0u64);
    for consumer in &mut consumers {
        consumer.drain(|s| {
            first = first.min(s.sent.0);
            last = last.max(s.completed.0);
            count += 1;
            hash = hash.wrapping_mul(31).wrapping_add(s.seq ^ u64::from(s.op));
        });
        assert_eq!(consumer.dropped(), 0);
    }
    (clock.nanos_in(last - first).0 as f64 / count as f64, hash)
}

/// ns for two stamps and one append, over a ring that is drained in between.
fn append_and_stamps(clock: LiveClock, requests: u64) -> (f64, u64) {
    let (mut producer, mut consumer) = record::ring(1 << 18);
    let begin = clock.now();
    for seq in 0..requests {
        let sent = clock.now();
        let completed = clock.now();
        producer.push(RawSample {
            intended: sent,
            ready: sent,
            sent,
            completed,
            arrived_realtime_ns: u64::MAX,
            seq,
            session: 0,
            op: 0,
            outcome: 0,
            retries: 0,
            phase: 0,
            flags: 0,
            reserved: 0,
        });
    }
    let elapsed = clock.nanos_in(clock.now().0 - begin.0).0 as f64 / requests as f64;
    let mut hash = 0u64;
    consumer.drain(|s| hash = hash.wrapping_mul(31).wrapping_add(s.seq));
    (elapsed, hash)
}

fn show(name: &str, rounds: usize, mut measure: impl FnMut() -> (f64, u64)) {
    let mut figures: Vec<f64> = Vec::new();
    let mut hash = 0;
    for _ in 0..rounds {
        let (ns, seen) = measure();
        figures.push(ns);
        hash = seen;
    }
    figures.sort_by(f64::total_cmp);
    let (low, median, high) = (figures[0], figures[rounds / 2], figures[rounds - 1]);
    println!("{name:<34} {median:>7.1} ns  [{low:.1}, {high:.1}]  hash {hash:016x}");
}

fn main() {
    // `cargo bench` passes --bench; `cargo test` does not.
    let full = std::env::args().any(|a| a == "--bench");
    let (requests, rounds) = if full { (250_000, 15) } else { (2_000, 1) };
    let clock = clock::calibrate(ClockChoice::Auto).expect("automatic choice").start();
    let workload = NoOp::new(Mode::Ping);
    let closed = spec(Model::Closed { think: Think::None }, "100s", requests, &workload);
    let open = spec(Model::Open { process: Process::Poisson }, "1s@100M/s", requests, &workload);
    println!("own cost per request, one core, {requests} requests a round: median [min, max] of {rounds}");
    show("append and two stamps", rounds, || append_and_stamps(clock, requests));
    show("closed loop on null:", rounds, || per_request(&closed, &workload, clock));
    show("open loop on null:, always behind", rounds, || per_request(&open, &workload, clock));
}
