//! A process that may open nothing more. Alone in its file: the limit is the whole process's.

use clock::ClockChoice;
use driver_null::NullTarget;
use load::{EngineError, Journal, LoadSpec, Model, Pacing, Subject, Think, parse_phases};
use record::EventKind;
use std::sync::atomic::AtomicBool;
use units::{Nanos, Seed, Ticks};
use workload::noop::{Mode, NoOp};

struct Silent;

impl Journal for Silent {
    fn event(&self, _: EventKind, _: Ticks, _: Ticks, _: String, _: String) {}
}

/// Sets the soft limit of open descriptors; gives the one before.
fn limit_descriptors(to: libc::rlim_t) -> libc::rlim_t {
    // SAFETY: an all-zero rlimit is valid, and both calls are given a live one.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        let before = std::mem::replace(&mut limit.rlim_cur, to);
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
        before
    }
}

#[test]
fn a_worker_without_a_descriptor_ends_the_load_before_it_begins() {
    let spec = LoadSpec {
        model: Model::Closed { think: Think::None },
        phases: parse_phases("60s").unwrap(),
        operations: vec!["NoOp".into()],
        mix: vec![1.0],
        sessions: 4,
        workers: 2,
        requests: Some(1000),
        timeout: None,
        drain: Nanos::from_secs(1),
        retries: 0,
        pacing: Pacing::Sleep,
        cpus: vec![],
        seed: Seed(1),
    };
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let (target, workload) = (NullTarget::new(), NoOp::new(Mode::Ping));
    let run = || {
        let sessions = load::connect_all(&target, &[], None, spec.sessions).unwrap();
        let subject =
            Subject { target: &target, sessions, statements: &[], isolation: None, workload: &workload };
        let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..3).map(|_| record::ring(1 << 11)).unzip();
        let result = load::run(subject, &spec, clock, producers, &Silent, &AtomicBool::new(false));
        (result, consumers.iter_mut().map(|c| c.drain(|_| ())).sum::<u64>())
    };
    let before = limit_descriptors(0);
    let (refused, samples) = run();
    limit_descriptors(before);
    let Err(EngineError::System(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("no descriptor for a worker") && text.contains("`ulimit -n`"), "{text}");
    assert_eq!(samples, 0);
    let (granted, samples) = run();
    assert!(granted.is_ok() && samples == 1000, "{granted:?}, {samples} samples");
}
