//! What is tried again, when, and what of it is inside of a request's time.

use crate::pings::{Pings, spec};
use driver::OpError;
use load::arrivals::Process;
use load::simulate::{Answer, Server, Simulated, simulate_interrupted};
use load::{LoadSpec, Model, Pause, Retry};
use record::RawSample;
use units::{Nanos, Outcome, Seed};

const MS: u64 = 1_000_000;

/// Answers each exchange after 1 ms, as it is told; well, when it is told nothing more.
struct Told(Vec<Result<(), OpError>>);

impl Server for Told {
    fn serve(&mut self, now: Nanos, _session: u16) -> Answer {
        let result = if self.0.is_empty() { Ok(()) } else { self.0.remove(0) };
        Answer { at: now + Nanos::from_millis(1), result }
    }
}

fn refused(outcome: Outcome) -> Result<(), OpError> {
    Err(OpError::refused(outcome))
}

/// One session, a request each 100 ms.
fn asks(retry: &str, pause: Pause) -> LoadSpec {
    let mut spec = spec(Model::Open { process: Process::Constant }, "1s@10/s", 1);
    spec.retry = Retry { pause, ..Retry::parse(retry).unwrap() };
    spec
}

fn done(spec: &LoadSpec, told: &[Result<(), OpError>], stop: Option<Nanos>) -> Simulated {
    simulate_interrupted(spec, &Pings::Plain, Box::new(Told(told.to_vec())), stop).unwrap()
}

/// (outcome, retries, service time) of the first request; all others must be well, and take 1 ms.
fn first(spec: &LoadSpec, told: &[Result<(), OpError>]) -> (Outcome, u8, u64) {
    let samples = done(spec, told, None).samples;
    assert_eq!(samples.len(), 10);
    for sample in &samples[1..] {
        assert_eq!((sample.outcome, sample.retries, service(sample)), (0, 0, MS), "{sample:?}");
    }
    let first = samples[0];
    assert_eq!(first.completed.0 - first.intended.0, service(&first), "it was sent when it was due");
    (Outcome::from_code(first.outcome).unwrap(), first.retries, service(&first))
}

fn service(sample: &RawSample) -> u64 {
    sample.completed.0 - sample.sent.0
}

#[test]
fn all_attempts_and_pauses_are_inside_of_the_time() {
    let told = [refused(Outcome::Deadlock), refused(Outcome::Serialization), Ok(())];
    assert_eq!(first(&asks("3", Pause::None), &told), (Outcome::Ok, 2, 3 * MS));
    let pause = Pause::Constant(Nanos::from_millis(5));
    assert_eq!(first(&asks("3", pause), &told), (Outcome::Ok, 2, 13 * MS));
    let grows = Pause::Exponential { first: Nanos::from_millis(4), most: Nanos::from_millis(6) };
    let (outcome, retries, time) = first(&asks("3", grows), &told);
    assert_eq!((outcome, retries), (Outcome::Ok, 2));
    assert!((8 * MS..13 * MS).contains(&time), "2–4 ms, 3–6 ms, and 3 ms: {time}");
    let again = first(&asks("3", grows), &told);
    assert_eq!(again.2, time, "the seed decides");
    let mut other = asks("3", grows);
    other.seed = Seed(99);
    assert_ne!(first(&other, &told).2, time);
}

#[test]
fn who_fails_too_often_gives_up_with_the_last_failure() {
    let told = [refused(Outcome::Deadlock), refused(Outcome::Deadlock), refused(Outcome::Busy)];
    assert_eq!(first(&asks("2", Pause::None), &told), (Outcome::Busy, 2, 3 * MS));
    assert_eq!(first(&asks("none", Pause::None), &told[2..]), (Outcome::Busy, 0, MS));
}

#[test]
fn only_what_the_policy_names_is_tried_again() {
    let classes = [
        ("serialization", Outcome::Serialization),
        ("deadlock", Outcome::Deadlock),
        ("busy", Outcome::Busy),
        ("unavailable", Outcome::Unavailable),
        ("redirected", Outcome::Redirected),
        ("lost", Outcome::ConnectionLost),
    ];
    for (named, _) in classes {
        for failure in Outcome::ALL.into_iter().filter(|o| o.code() >= Outcome::Serialization.code()) {
            if failure == Outcome::ConnectionLost {
                continue; // below: a session is lost with it
            }
            let expected =
                if classes.contains(&(named, failure)) { (Outcome::Ok, 1, 2 * MS) } else { (failure, 0, MS) };
            let policy = format!("{named}:3");
            assert_eq!(
                first(&asks(&policy, Pause::None), &[refused(failure)]),
                expected,
                "{policy} {failure:?}"
            );
        }
    }
}

#[test]
fn what_may_have_been_carried_out_is_tried_again_only_when_asked() {
    for lost in [Outcome::ConnectionLost, Outcome::Unavailable] {
        let told = [Err(OpError::lost(lost))];
        assert_eq!(first(&asks("refused:3", Pause::None), &told), (lost, 0, MS));
        let (outcome, retries, time) = first(&asks("lost:3", Pause::None), &told);
        assert_eq!((outcome, retries), (Outcome::Ok, 1));
        // A reconnect takes 20 ms, and is looked for each 5 ms.
        assert!((22 * MS..=27 * MS).contains(&time), "{time}");
    }
    let garbage = [Err(OpError::lost(Outcome::Protocol))];
    assert_eq!(first(&asks("refused+lost:3", Pause::None), &garbage), (Outcome::Protocol, 0, MS));
}

/// The last request of a load, too.
#[test]
fn a_lost_request_is_tried_again_when_no_other_is_left() {
    let mut spec = asks("lost:1", Pause::None);
    spec.requests = Some(1);
    let done = done(&spec, &[Err(OpError::lost(Outcome::ConnectionLost))], None);
    assert_eq!((done.samples.len(), done.connections_lost), (1, 1));
    assert_eq!((done.samples[0].outcome, done.samples[0].retries), (Outcome::Ok.code(), 1));
}

#[test]
fn the_time_limit_is_one_for_all_attempts() {
    let pause = Pause::Constant(Nanos::from_millis(30));
    let mut spec = asks("3", pause);
    spec.timeout = Some(Nanos::from_millis(10));
    let told = [refused(Outcome::Deadlock)];
    assert_eq!(first(&spec, &told), (Outcome::Timeout, 0, 10 * MS), "in the pause");
    assert_eq!(done(&spec, &told, None).connections_lost, 0, "nothing was in flight");
    spec.retry.pause = Pause::Constant(Nanos(8_500_000));
    let samples = done(&spec, &told, None).samples;
    assert_eq!(
        (samples[0].outcome, samples[0].retries),
        (Outcome::Timeout.code(), 1),
        "in the second attempt"
    );
    assert_eq!(service(&samples[0]), 10 * MS);
}

#[test]
fn a_load_that_ends_in_a_pause_leaves_its_request_unfinished() {
    let spec = asks("3", Pause::Constant(Nanos::from_secs(3600)));
    let stop = Nanos::from_millis(50);
    let done = done(&spec, &[refused(Outcome::Deadlock)], Some(stop));
    assert_eq!(done.samples.len(), 1, "{:?}", done.samples);
    let sample = done.samples[0];
    assert_eq!((sample.outcome, sample.retries), (Outcome::Unfinished.code(), 0));
    assert_eq!(done.connections_lost, 0);
    assert!(sample.completed.0 > 50 * MS && done.ended.0 < 2_000 * MS, "{done:?}");
}
