//! A node that joins: the time to stable response times is that of the closed form.

use prove::Proof;
use prove::elasticity::{Elasticity, run};
use stats::Settled;
use units::{Nanos, PerSecond};

fn rate(per_second: f64) -> PerSecond {
    PerSecond::new(per_second).unwrap()
}

/// To the window of 1 s that the definition rounds up to.
fn expect(elasticity: Elasticity, seconds: f64) {
    assert_eq!(elasticity.expected_seconds().map(|s| (s * 1e6).round() / 1e6), Some(seconds));
    let found = run(elasticity).unwrap();
    let Settled::After(after) = found.recovery.settled else { panic!("{:?}", found.recovery.settled) };
    let after = after.as_secs_f64();
    assert!(after >= seconds && after <= seconds + 1.0, "{after} s, not {seconds} s");
}

#[test]
fn the_queue_of_the_streaming_must_drain_first() {
    // 120/s too few for 60 s, and 1,000/s too many afterwards.
    expect(Elasticity::default(), 67.2);
    expect(Elasticity { after: rate(1_240.0), ..Elasticity::default() }, 90.0);
    expect(Elasticity { streaming: Nanos::from_secs(20), dip_percent: 50.0, ..Elasticity::default() }, 29.0);
}

#[test]
fn enough_capacity_throughout_is_stable_at_once() {
    expect(Elasticity { dip_percent: 5.0, ..Elasticity::default() }, 0.0);
}

#[test]
fn too_little_capacity_never_is() {
    let never = Elasticity { after: rate(900.0), ..Elasticity::default() };
    assert_eq!(never.expected_seconds(), None);
    assert_eq!(run(never).unwrap().recovery.settled, Settled::NotReached);
    // The queue drains long after the run has ended.
    let late = Elasticity { after: rate(1_020.0), ..Elasticity::default() };
    assert!(late.expected_seconds().is_some_and(|s| s > 400.0));
    assert_eq!(run(late).unwrap().recovery.settled, Settled::NotReached);
}

/// Found a second beside the closed form is found; more is not, nor never.
#[test]
fn a_proof_fails_that_misses_the_closed_form() {
    let elasticity = Elasticity { dip_percent: 5.0, ..Elasticity::default() };
    let right = run(elasticity).unwrap();
    let passes = |settled| {
        let mut result = right.clone();
        result.recovery.settled = settled;
        Proof { elasticity: Some(result), ..Proof::default() }.passed()
    };
    let after = |ms| Settled::After(Nanos::from_millis(ms));
    assert!(passes(right.recovery.settled) && passes(after(1_000)));
    assert!(!passes(after(1_001)) && !passes(after(67_000)));
    assert!(!passes(Settled::NotReached) && !passes(Settled::TooShort));
    let mut never = right;
    never.elasticity.after = rate(900.0);
    never.recovery.settled = Settled::NotReached;
    let proof = |result| Proof { elasticity: Some(result), ..Proof::default() };
    assert!(proof(never.clone()).passed());
    never.recovery.settled = after(67_000);
    assert!(!proof(never).passed());
}

#[test]
fn what_makes_no_store_is_refused() {
    let refused = run(Elasticity { dip_percent: 150.0, ..Elasticity::default() }).unwrap_err();
    assert!(refused.to_string().contains("150"), "{refused}");
}
