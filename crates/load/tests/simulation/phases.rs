//! Phases that change the rate, the sessions and the mix.

use crate::pings::{Pings, fast, spec};
use load::arrivals::Process;
use load::simulate::simulate;
use load::{LoadSpec, Model, Think};
use record::RawSample;
use units::Nanos;

/// A session that had to rest owes nothing for the time before, and its wait is not the harness's lag.
#[test]
fn sessions_that_join_a_phase_do_not_catch_up() {
    let phases = "3s@1000/s sessions=1, 3s@1000/s sessions=4";
    let throttled = simulate(&spec(Model::ThrottledClosed, phases, 4), &Pings::Plain, fast()).unwrap();
    let second = throttled.iter().filter(|s| s.phase == 1).count();
    assert!((2900..3100).contains(&second), "{second} requests in 3 s at 1,000/s");
    assert!(throttled.iter().all(|s| s.sent == s.ready), "waiting for admission is no lag");
    let model = Model::Open { process: Process::Poisson };
    let open =
        simulate(&spec(model, "1s@300000/s sessions=1, 1s@1000/s sessions=4", 4), &Pings::Plain, fast())
            .unwrap();
    assert!(open.iter().all(|s| s.sent == s.ready), "waiting for admission is pool wait");
}

/// The short phase is over, or its requests are taken, before the sessions that rest have looked.
#[test]
fn a_phase_that_is_gone_before_anyone_looks_does_no_harm() {
    let phases = "1s@1000/s sessions=1, 1ms@1000/s sessions=4, 1s@1000/s sessions=1";
    for model in [Model::Open { process: Process::Constant }, Model::Open { process: Process::Poisson }] {
        let mut samples = simulate(&spec(model, phases, 4), &Pings::Plain, fast()).unwrap();
        samples.sort_by_key(|s| s.seq);
        assert!(samples.len() > 1700);
        assert!(samples.iter().enumerate().all(|(i, s)| s.seq == i as u64 && s.sent == s.ready));
        let others = samples.iter().filter(|s| s.phase == 2 && s.session > 0).count();
        assert!(others <= 3, "{others} requests by sessions that should rest");
    }
}

/// 10 s at 500.5/s on average.
#[test]
fn a_throttled_loop_follows_a_ramp() {
    let samples =
        simulate(&spec(Model::ThrottledClosed, "10s@1..1000/s", 64), &Pings::Plain, fast()).unwrap();
    assert!((5005 - 64..=5005 + 64).contains(&samples.len()), "{} requests", samples.len());
    let late = samples.iter().filter(|s| s.sent.0 > 5_000_000_000).count() as f64 / samples.len() as f64;
    assert!((late - 0.75).abs() < 0.01, "{late} of the requests in the second half");
}

#[test]
fn phases_with_fewer_sessions_use_no_more() {
    let model = Model::Open { process: Process::Poisson };
    let samples = simulate(&spec(model, "2s@500/s, 2s@500/s sessions=2", 8), &Pings::Plain, fast()).unwrap();
    let used = |phase: u8| {
        let mut sessions: Vec<u16> = samples.iter().filter(|s| s.phase == phase).map(|s| s.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions.len()
    };
    assert_eq!(used(0), 8);
    assert!(used(1) <= 8);
    let late = samples.iter().filter(|s| s.phase == 1 && s.session >= 2).count();
    // Sessions that had claimed ahead keep their claim: at most one request each.
    assert!(late <= 6, "{late} requests by sessions that should rest");
}

fn by_seq(spec: &LoadSpec) -> Vec<RawSample> {
    let mut samples = simulate(spec, &Pings::Plain, fast()).unwrap();
    samples.sort_by_key(|s| s.seq);
    assert!(
        samples.iter().enumerate().all(|(i, s)| s.seq == i as u64),
        "a number is left out or twice there"
    );
    samples
}

/// Types are drawn from the mix of the phase in which a request is sent, by its number and the seed alone.
#[test]
fn closed_loops_follow_the_mix_of_a_phase() {
    let think = Think::Exponential(Nanos::from_millis(4));
    let closed = (Model::Closed { think }, "1s, 1s mix=Pong=1, 1s mix=Ping=3+Pong=1");
    let throttled = (Model::ThrottledClosed, "1s@2000/s, 1s@2000/s mix=Pong=1, 1s@2000/s mix=Ping=3+Pong=1");
    for (model, phases) in [closed, throttled] {
        let runs: Vec<_> = [8, 9].iter().map(|&n| by_seq(&spec(model.clone(), phases, n))).collect();
        for (phase, share) in [0.5, 0.0, 0.75].into_iter().enumerate() {
            let of_phase = |s: &&RawSample| usize::from(s.phase) == phase;
            let count = runs[0].iter().filter(of_phase).count() as f64;
            let pings = runs[0].iter().filter(of_phase).filter(|s| s.op == 0).count() as f64;
            assert!(count > 1500.0, "{count} in phase {phase}");
            let limit = 5.0 * (share * (1.0 - share) / count).sqrt();
            assert!((pings / count - share).abs() <= limit, "{pings} of {count} in phase {phase}");
        }
        let same = runs[0].iter().zip(&runs[1]).filter(|(a, b)| a.phase == b.phase);
        assert!(same.clone().count() > 4000);
        assert!(same.clone().all(|(a, b)| a.op == b.op), "{model:?}: types depend on the sessions");
        let end = |phase: u64| (phase + 1) * 1_000_000_000;
        assert!(
            runs[0]
                .iter()
                .all(|s| s.sent.0 < end(s.phase.into()) && s.sent.0 + end(0) >= end(s.phase.into()))
        );
    }
}

#[test]
fn a_closed_loop_with_mixes_ends_with_its_requests() {
    let think = Think::Constant(Nanos::from_millis(1));
    let mut spec = spec(Model::Closed { think }, "1ms sessions=2, 60s mix=Pong=1 sessions=1", 3);
    spec.requests = Some(10);
    let done = load::simulate::simulate_interrupted(&spec, &Pings::Plain, fast(), None).unwrap();
    assert_eq!(done.samples.len(), 10);
    assert!(done.ended < Nanos::from_millis(300), "ended after {}", done.ended);
}
