//! A process that may open nothing more. Alone in its file: the limit is the whole process's.

mod doubles;

use clock::ClockChoice;
use doubles::{plain, run_pings};
use driver_null::NullTarget;
use load::{EngineError, LoadSpec, Model, Think};

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
        sessions: 4,
        workers: 2,
        requests: Some(1000),
        ..plain(Model::Closed { think: Think::None }, "60s")
    };
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let target = NullTarget::new();
    let before = limit_descriptors(0);
    let (refused, samples) = run_pings(&target, &spec, clock);
    limit_descriptors(before);
    let Err(EngineError::System(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("no descriptor for a worker") && text.contains("`ulimit -n`"), "{text}");
    assert_eq!(samples.len(), 0);
    let (granted, samples) = run_pings(&target, &spec, clock);
    assert!(granted.is_ok() && samples.len() == 1000, "{granted:?}, {} samples", samples.len());
}
