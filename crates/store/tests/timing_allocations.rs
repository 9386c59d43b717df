//! The store must not pause for its allocator while it answers.

use store::{Model, Operation, Timing};
use testkit::alloc::{CountingAlloc, counted};
use units::{Nanos, Seed};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

fn admit(timing: &mut Timing, requests: std::ops::Range<u64>) {
    for number in requests {
        timing.admit(Nanos(number * 40_000), Operation::Read, b"user17");
    }
}

#[test]
fn admitting_allocates_nothing() {
    let model = Model {
        service: vec!["90% exp:100us + 10% lognormal:1ms,1".parse().unwrap()],
        servers: Some(64),
        capacity: units::PerSecond::new(30_000.0),
        hiccups: vec!["exp:5ms@0s every exp:200ms".parse().unwrap(), "10ms@0s every 1s".parse().unwrap()],
        slow_keys: vec!["user1*=pareto:10us,2".parse().unwrap()],
        delay: "exp:50us".parse().unwrap(),
        join: Some("at=2s streaming=2s dip=30% then=60000/s".parse().unwrap()),
    };
    let mut timing = Timing::new(&model, Seed(1));
    let ((), counts) = counted(|| admit(&mut timing, 0..150_000));
    assert_eq!(counts.total(), 0);
    // The counter counts.
    assert!(counted(|| Timing::new(&model, Seed(1))).1.total() > 0);
}
