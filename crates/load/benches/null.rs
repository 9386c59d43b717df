//! What truetail itself costs for each request: a closed and an open loop on the null target, whose answers take
//! no time, and the two parts of it that every request pays for, the stamps and the push.
//!
//! `cargo bench -p load` prints one line for each figure and round, with a hash of the work that was done: the same
//! seed must give the same hash, or rounds are not comparable. Under `cargo test` it runs tiny, so that it cannot rot.
//!
//! Times are counted from the samples' own stamps, from the first `sent` to the last `completed`, so that starting
//! threads is not in them. The schedule's ring holds all of a round's requests before the first is sent.

#[path = "../tests/doubles/mod.rs"]
mod doubles;

use clock::{Clock, ClockChoice, LiveClock};
use doubles::{Silent, plain};
use driver_null::NullTarget;
use load::arrivals::Process;
use load::{LoadSpec, Model, Pacing, Rings, Subject, Think, connect_all, rings_needed};
use record::RawSample;
use std::sync::atomic::AtomicBool;
use workload::Workload;
use workload::noop::NoOp;

/// Requests of a round: as many as fit into the rings of a real run without anybody draining them. A closed loop
/// rests when its ring is three quarters full.
const REQUESTS: u64 = 190_000;
/// Slots of a worker's ring, as in a real run.
const RING: usize = 1 << 18;
const ROUNDS: usize = 5;

fn main() {
    // Cargo passes `--bench` to a real bench run only.
    let real = std::env::args().any(|argument| argument == "--bench");
    let (rounds, requests) = if real { (ROUNDS, REQUESTS) } else { (1, 2_000) };
    let clock = clock::calibrate(ClockChoice::Auto).expect("a clock").start();
    for _ in 0..rounds {
        for sessions in [1, 8] {
            let plural = if sessions == 1 { "" } else { "s" };
            for timed in [false, true] {
                let with = if timed { ", statements timed" } else { "" };
                let (nanos, hash) =
                    own_cost(clock, Model::Closed { think: Think::None }, sessions, requests, timed);
                print(&format!("closed loop on null:, {sessions} session{plural}{with}"), nanos, hash);
                let (nanos, hash) =
                    own_cost(clock, Model::Open { process: Process::Poisson }, sessions, requests, timed);
                print(
                    &format!("overloaded open loop on null:, {sessions} session{plural}{with}"),
                    nanos,
                    hash,
                );
            }
        }
        let (nanos, hash) = push_and_stamps(clock, requests);
        print("push and two stamps", nanos, hash);
        let (nanos, hash) = stamp(clock, requests);
        print("one stamp", nanos, hash);
    }
}

fn print(what: &str, nanos: f64, hash: u64) {
    println!("{what:62} {nanos:8.1} ns each   hash {hash:016x}");
}

const NO_WORK: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a over eight bytes at a time: order counts.
fn mixed(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(0x0100_0000_01B3)
}

/// Nanoseconds for each request on one worker. An open loop's arrivals are all due before the first of them is
/// answered, so that it never waits for one.
fn own_cost(clock: LiveClock, model: Model, sessions: u32, requests: u64, timed: bool) -> (f64, u64) {
    let phases = if matches!(model, Model::Open { .. }) { "100s@1000000000/s" } else { "100s" };
    let spec = LoadSpec {
        sessions,
        requests: Some(requests),
        pacing: Pacing::SleepThenSpin,
        ..plain(model, phases)
    };
    let target = NullTarget::new();
    let workload = NoOp::from_overrides(&[("mode".to_owned(), "ping".to_owned())]).expect("a mode");
    let statements = workload.statements(driver::Target::dialect(&target)).expect("statements");
    let sessions = connect_all(&target, &statements, None, sessions).expect("sessions");
    let rings = rings_needed(&spec, driver::Target::execution(&target));
    let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..rings).map(|_| record::ring(RING)).unzip();
    let (inside, mut exchanges): (Vec<_>, Vec<_>) = (0..rings).map(|_| record::statement_ring(RING)).unzip();
    let ends = producers.into_iter().zip(inside);
    let rings: Vec<Rings> =
        ends.map(|(samples, inside)| Rings { samples, statements: timed.then_some(inside) }).collect();
    let subject =
        Subject { target: &target, sessions, statements: &statements, isolation: None, workload: &workload };
    load::run(subject, &spec, clock, rings, &Silent, &AtomicBool::new(false)).expect("a load");
    let (mut first, mut last, mut count, mut hash) = (u64::MAX, 0, 0u64, NO_WORK);
    for consumer in &mut consumers {
        count += consumer.drain(|sample| {
            first = first.min(sample.sent.0);
            last = last.max(sample.completed.0);
            // A sum: which session took which request is not the seed's business.
            hash = hash.wrapping_add(mixed(NO_WORK, sample.seq << 8 | u64::from(sample.outcome)));
        });
        assert_eq!(consumer.dropped(), 0);
    }
    assert_eq!(count, requests);
    let timed_rows: u64 = exchanges.iter_mut().map(|consumer| consumer.drain(|_| ())).sum();
    assert_eq!(timed_rows, if timed { requests } else { 0 });
    (clock.nanos_in(last - first).0 as f64 / count as f64, hash)
}

/// Nanoseconds for `sent`, `completed` and the sample that holds them.
fn push_and_stamps(clock: LiveClock, count: u64) -> (f64, u64) {
    let (mut producer, mut consumer) = record::ring(count as usize);
    let begin = clock.now();
    for seq in 0..count {
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
    let took = clock.nanos_in(clock.now().0 - begin.0);
    let mut hash = NO_WORK;
    let drained = consumer.drain(|sample| hash = mixed(hash, sample.seq));
    assert_eq!((drained, consumer.dropped()), (count, 0));
    (took.0 as f64 / count as f64, hash)
}

/// Nanoseconds to read the clock once.
fn stamp(clock: LiveClock, count: u64) -> (f64, u64) {
    let begin = clock.now();
    let mut backwards = 0;
    let mut before = begin;
    for _ in 0..count {
        let now = clock.now();
        backwards += u64::from(now < before);
        before = now;
    }
    let took = clock.nanos_in(clock.now().0 - begin.0);
    (took.0 as f64 / count as f64, backwards)
}
