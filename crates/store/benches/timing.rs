//! What one admission costs, by the settings of the timing.
//!
//! `cargo bench -p store --bench timing` prints nanoseconds for each request, with a hash of the times, so that the work
//! can be neither optimised away nor changed unnoticed. Under `cargo test` it runs tiny, so that it cannot rot.

use clock::{Clock, ClockChoice, LiveClock};
use store::{Arrival, Engine, Model, NodeId, Operation, Settings, Timing};
use units::{Nanos, PerSecond, Seed};

const ROUNDS: u32 = 5;

fn main() {
    // Cargo passes `--bench` to a real bench run only.
    let real = std::env::args().any(|argument| argument == "--bench");
    let (rounds, requests) = if real { (ROUNDS, 2_000_000) } else { (1, 2_000) };
    let clock = clock::calibrate(ClockChoice::Auto).expect("a clock").start();
    for (name, model) in models() {
        for _ in 0..rounds {
            let (nanos, hash) = timing(clock, &model, requests);
            println!("timing: {name:44} {nanos:7.1} ns each   hash {hash:016x}");
        }
    }
    for faults in [0, 10] {
        let (nanos, hash) = engine(clock, faults, requests);
        println!(
            "engine: capacity, {faults:2} faults waiting {:20} {nanos:7.1} ns each   hash {hash:016x}",
            ""
        );
    }
}

fn models() -> Vec<(&'static str, Model)> {
    let capacity = PerSecond::new(30_000.0);
    let hiccups = vec!["1ms@0s every 20ms".parse().expect("a hiccup")];
    let exponential = vec!["exp:100us".parse().expect("a service time")];
    let log_normal = vec!["99% lognormal:100us,1 + 1% pareto:1ms,1.5".parse().expect("a service time")];
    let all = Model {
        service: log_normal.clone(),
        servers: Some(64),
        capacity,
        hiccups: hiccups.clone(),
        slow_keys: vec!["user1*=exp:50us".parse().expect("a slow key")],
        delay: "exp:100us".parse().expect("a delay"),
        join: Some("at=10s streaming=20s dip=20% then=60000/s".parse().expect("a join")),
    };
    vec![
        ("nothing", Model::default()),
        ("capacity", Model { capacity, ..Model::default() }),
        ("capacity, a hiccup each 20 ms", Model { capacity, hiccups, ..Model::default() }),
        (
            "exponential service, 4 servers",
            Model { service: exponential, servers: Some(4), ..Model::default() },
        ),
        (
            "heavy tail, 65536 servers",
            Model { service: log_normal, servers: Some(65_536), ..Model::default() },
        ),
        ("all at once", all),
    ]
}

/// 25,000 requests a second.
const GAP_NS: u64 = 40_000;

fn timing(clock: LiveClock, model: &Model, requests: u64) -> (f64, u64) {
    let mut timing = Timing::new(model, Seed(1));
    timed(clock, requests, |at| timing.admit(at, Operation::Read, b"user17").due)
}

fn engine(clock: LiveClock, faults: usize, requests: u64) -> (f64, u64) {
    let model = Model { capacity: PerSecond::new(30_000.0), ..Model::default() };
    let fault = "delay:1ms@request=1000000000,op=read,key=user".parse().expect("a fault");
    let mut engine = Engine::new(Settings { model, faults: vec![fault; faults], ..Settings::default() });
    timed(clock, requests, |at| {
        let arrival = Arrival { at, stamped: false, connection: 0, node: NodeId(0) };
        engine.admit(arrival, Operation::Read, b"user17").due
    })
}

fn timed(clock: LiveClock, requests: u64, mut admit: impl FnMut(Nanos) -> Nanos) -> (f64, u64) {
    let begin = clock.now();
    let hash = (0..requests).fold(0xCBF2_9CE4_8422_2325, |hash: u64, number| {
        (hash ^ admit(Nanos(number * GAP_NS)).0).wrapping_mul(0x0100_0000_01B3)
    });
    let elapsed = clock.nanos_in(clock.now().0 - begin.0);
    (elapsed.0 as f64 / requests as f64, hash)
}
