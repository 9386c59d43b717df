//! The frozen server, live: over real sockets, compared request by request with the server's own log.

mod doubles;
mod echo;

use clock::{Anchors, ClockChoice, LiveClock};
use doubles::{Silent, plain};
use driver::Execution;
use echo::{Answer, EchoServer, Numbers};
use load::arrivals::Process;
use load::{LoadSpec, Model, Pacing, Subject, Think};
use record::RawSample;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Nanos, Outcome, Seed, Ticks};

struct Outcomes {
    samples: Vec<RawSample>,
    answers: Vec<Answer>,
    clock: LiveClock,
    anchors: Anchors,
    never_sent: u64,
}

/// One live load at a time: several would take each other's CPU.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs `spec` against a server that freezes from 1 s to 2 s after the start.
fn run(spec: &LoadSpec) -> Outcomes {
    run_and_stop(spec, None)
}

/// As `run`, and asks for an end after a time.
fn run_and_stop(spec: &LoadSpec, after: Option<Nanos>) -> Outcomes {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let server = EchoServer::start(clock);
    let target = server.target();
    let anchors = Mutex::new(Anchors::new(clock.anchor()));
    let anchor = || anchors.lock().unwrap().push(clock.anchor());
    let sessions = load::connect_all(&target, &[], None, spec.sessions).unwrap();
    let rings = (0..load::rings_needed(spec, Execution::Polled)).map(|_| record::ring(1 << 16));
    let (producers, mut consumers): (Vec<_>, Vec<_>) = rings.unzip();
    let stop = AtomicBool::new(false);
    let subject = Subject { target: &target, sessions, statements: &[], isolation: None, workload: &Numbers };
    let totals = std::thread::scope(|scope| {
        scope.spawn(|| {
            clock::pause(Nanos::from_secs(1));
            anchor();
            let _frozen = server.frozen.lock().unwrap();
            clock::pause(Nanos::from_secs(1));
            anchor();
        });
        scope.spawn(|| {
            if let Some(after) = after {
                clock::pause(after);
                stop.store(true, Ordering::Relaxed);
            }
        });
        load::run(subject, spec, clock, producers, &Silent, &stop).unwrap()
    });
    stop.store(true, Ordering::Relaxed);
    let mut samples = Vec::new();
    consumers.iter_mut().for_each(|c| {
        c.drain(|s| samples.push(*s));
        assert_eq!(c.dropped(), 0);
    });
    samples.sort_by_key(|s| s.seq);
    anchor();
    let answers = server.answers(samples.iter().filter(|s| s.outcome == Outcome::Ok.code()).count());
    let anchors = anchors.into_inner().unwrap();
    Outcomes { samples, answers, clock, anchors, never_sent: totals.never_sent }
}

fn spec(model: Model, phases: &str, sessions: u32) -> LoadSpec {
    LoadSpec {
        operations: vec!["Echo".into()],
        sessions,
        drain: Nanos::from_secs(5),
        pacing: Pacing::SleepThenSpin,
        seed: Seed(5),
        ..plain(model, phases)
    }
}

fn quantile(values: &[u64], q: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
    values[rank - 1] as f64
}

/// Times from the intended start, in ns, request by request.
#[derive(Default)]
struct Times {
    /// The server began to answer, by its own log: the truth.
    begun: Vec<u64>,
    /// The kernel had taken the answer from the server.
    handed_over: Vec<u64>,
    /// The kernel's receive stamp, as the recording has it.
    arrived: Vec<u64>,
    /// The response time, as the recording has it.
    completed: Vec<u64>,
}

/// What two readings of one moment on two clocks can differ by.
const CLOCKS: u64 = 20_000;

/// Puts the recording beside the server's log. However busy the host: a request was not over before its answer
/// was begun, and its kernel stamp lies where the server gave the answer to the kernel.
fn lay_side_by_side(done: &Outcomes) -> Times {
    let at = |ticks: Ticks| done.anchors.instant(ticks).unwrap().0;
    let mut answers = done.answers.clone();
    answers.sort_by_key(|answer| answer.seq);
    let mut times = Times::default();
    for (sample, answer) in done.samples.iter().zip(&answers) {
        assert_eq!(sample.seq, answer.seq);
        assert!(sample.completed >= answer.begun, "request {} was over before it was answered", sample.seq);
        let arrived = done.anchors.instant_of_realtime(sample.arrived_realtime_ns).unwrap().0;
        let (begun, handed_over) = (at(answer.begun), at(answer.handed_over));
        assert!(
            (begun - CLOCKS..=handed_over + CLOCKS).contains(&arrived),
            "request {} arrived at {arrived} ns, and was answered from {begun} to {handed_over} ns",
            sample.seq
        );
        let intended = at(sample.intended);
        let since = |at: u64| at.saturating_sub(intended);
        times.begun.push(since(begun));
        times.handed_over.push(since(handed_over));
        times.arrived.push(since(arrived));
        times.completed.push(since(at(sample.completed)));
    }
    times
}

/// Makes one number of many times.
type Statistic = fn(&[u64]) -> f64;

/// What is compared.
const ROWS: [(&str, Statistic); 7] = [
    ("mean", |values| values.iter().sum::<u64>() as f64 / values.len() as f64),
    ("p50", |values| quantile(values, 0.50)),
    ("p75", |values| quantile(values, 0.75)),
    ("p90", |values| quantile(values, 0.90)),
    ("p95", |values| quantile(values, 0.95)),
    ("p99", |values| quantile(values, 0.99)),
    ("max", |values| quantile(values, 1.0)),
];

/// Within 2 % or 0.3 ms.
fn close(measured: f64, truth: f64) -> bool {
    (measured - truth).abs() <= (0.02 * truth).max(300_000.0)
}

/// The rows in which response times and the server's log are further apart than they may be. Each must be
/// accounted for: by the pick-up that the recording itself states, and by the time that the server took between
/// its log and the kernel.
fn rows_apart(times: &Times) -> Vec<String> {
    let mut apart = Vec::new();
    for (name, of) in ROWS {
        let (measured, truth) = (of(&times.completed), of(&times.begun));
        if close(measured, truth) {
            continue;
        }
        let (pick_up, handing_over) = (measured - of(&times.arrived), of(&times.handed_over) - truth);
        let row = format!(
            "{name}: measured {measured} ns, truth {truth} ns; pick-up {pick_up} ns, server {handing_over} ns"
        );
        assert!((measured - truth).abs() <= pick_up + handing_over + CLOCKS as f64, "nothing explains {row}");
        apart.push(row);
    }
    apart
}

/// Response times are within 2 % or 0.3 ms of the server's log, in all rows of one run. A host that is busy with
/// other things holds up whoever should answer or pick up, and the recording says so; such a run is repeated.
#[test]
fn an_open_loop_sees_what_the_server_did() {
    let spec = spec(Model::Open { process: Process::Poisson }, "4s@500/s", 64);
    let mut disturbed = Vec::new();
    for _ in 0..3 {
        let done = run(&spec);
        assert_eq!(done.never_sent, 0);
        assert!(done.samples.len() > 1800 && done.samples.len() == done.answers.len());
        let times = lay_side_by_side(&done);
        let measured = ROWS.map(|(_, of)| of(&times.completed));
        // A quarter of the arrivals fell into the stall: the mean alone tells of it.
        assert!(measured[0] > 50e6, "mean {} ns", measured[0]);
        assert!(measured[ROWS.len() - 1] > 900e6);
        let apart = rows_apart(&times);
        if apart.is_empty() {
            return;
        }
        disturbed.push(apart);
    }
    panic!("three runs, each of them disturbed: {disturbed:#?}");
}

#[test]
fn a_closed_loop_hides_it() {
    let spec = spec(Model::Closed { think: Think::Constant(Nanos::from_millis(2)) }, "4s", 4);
    let done = run(&spec);
    let service: Vec<u64> =
        done.samples.iter().map(|s| done.clock.nanos_in(s.completed.0 - s.sent.0).0).collect();
    // Four requests met the stall, out of thousands.
    let slow = service.iter().filter(|&&s| s > 500_000_000).count();
    assert_eq!(slow, 4);
    assert!(quantile(&service, 0.99) < 100e6);
}

#[test]
fn what_never_left_is_recorded_as_unfinished() {
    // Two sessions and no time to drain: what is due in the stall's last part is never sent.
    let mut spec = spec(Model::Open { process: Process::Constant }, "1500ms@400/s", 2);
    spec.drain = Nanos::from_millis(100);
    let done = run(&spec);
    assert_eq!(done.samples.len(), 600);
    assert!(done.samples.iter().enumerate().all(|(i, s)| s.seq == i as u64));
    let unfinished: Vec<&RawSample> =
        done.samples.iter().filter(|s| s.outcome == Outcome::Unfinished.code()).collect();
    assert!(unfinished.len() > 100, "{}", unfinished.len());
    let never_sent = unfinished.iter().filter(|s| !s.sent.is_some()).count();
    assert_eq!(never_sent as u64, done.never_sent);
    assert_eq!(unfinished.len() - never_sent, 2, "one request in flight for each session");
}

#[test]
fn an_interrupted_run_misses_no_request_before_its_end() {
    let mut spec = spec(Model::Open { process: Process::Poisson }, "60s@2000/s", 64);
    spec.workers = 3;
    spec.pacing = Pacing::Sleep;
    for seed in 0..2 {
        spec.seed = Seed(seed);
        let done = run_and_stop(&spec, Some(Nanos::from_millis(300)));
        assert!(done.samples.len() > 100 && done.samples.len() < 60_000, "{}", done.samples.len());
        let gap = done.samples.iter().enumerate().find(|(i, s)| s.seq != *i as u64);
        assert!(gap.is_none(), "of {} requests one is missing: {gap:?}", done.samples.len());
    }
}
