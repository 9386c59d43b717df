//! Texts of settings and commands that nobody wrote: read or refused in one line, and what is shown is read back.

use std::fmt::{Debug, Display};
use std::str::FromStr;
use store::{Arrival, Draw, Engine, Fault, Hiccup, Join, Model, NodeId, Operation, Service, SlowKey, Timing};
use testkit::fuzz::Fuzz;
use units::{Nanos, Seed};

const WORDS: [&str; 34] = [
    "exp:",
    "uniform:",
    "lognormal:",
    "pareto:",
    "..",
    ",",
    "%",
    " + ",
    "@",
    " every ",
    "=",
    "*",
    "1ms",
    "1h",
    "0s",
    "1e9",
    "inf",
    "NaN",
    "-1",
    "999999999999999999999",
    "0.000000001",
    "at=",
    "then=",
    "dip=",
    "delay:",
    "error:",
    "drop:",
    "next",
    "p=",
    "every=",
    "op=read",
    "key=",
    "µs",
    "\u{0}",
];

fn read<T>(input: &[u8]) -> Option<T>
where
    T: FromStr<Err: Display> + Display + PartialEq + Debug,
{
    let text = String::from_utf8_lossy(input);
    match text.parse::<T>() {
        Ok(value) => {
            let shown = value.to_string();
            let again = shown.parse::<T>().unwrap_or_else(|error| panic!("shown as `{shown}`: {error}"));
            assert_eq!(value, again, "shown as `{shown}`");
            Some(value)
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() < 5_000, "{message}");
            None
        }
    }
}

#[test]
fn fuzz_draw() {
    let corpus =
        ["1ms", "exp:1ms", "uniform:1ms..2ms", "lognormal:1ms,2.3", "pareto:1ms,1.5", "99% 1ms + 1% 100ms"];
    Fuzz::new("draw").from(corpus).words(WORDS).run(20_000, |input| {
        if let Some(draw) = read::<Draw>(input) {
            assert!(draw.mean() <= Draw::LONGEST && draw.at(Seed(1), 1) <= Draw::LONGEST);
        }
    });
}

/// Whatever hiccups are accepted, the store goes on.
#[test]
fn fuzz_hiccup() {
    let corpus = ["1s@30s", "1s@30s every 30s", "exp:200ms@10s every exp:5s", "1ms@0s every 10ms"];
    Fuzz::new("hiccup").from(corpus).words(WORDS).run(10_000, |input| {
        let Some(hiccup) = read::<Hiccup>(input) else { return };
        let mut timing = Timing::new(&Model { hiccups: vec![hiccup], ..Model::default() }, Seed(1));
        for at in [0, 1_000_000, 10_000_000_000].map(Nanos) {
            let timed = timing.admit(at, Operation::Read, b"");
            assert!(timed.begun >= at && timed.due >= timed.begun);
        }
    });
}

#[test]
fn fuzz_slow_key_and_service() {
    Fuzz::new("slow-key").from(["user1*=50ms", "user1=exp:1ms"]).words(WORDS).run(10_000, |input| {
        read::<SlowKey>(input);
    });
    Fuzz::new("service").from(["exp:1ms", "read=exp:1ms"]).words(WORDS).run(10_000, |input| {
        read::<Service>(input);
    });
}

#[test]
fn fuzz_join() {
    let corpus = ["at=30s streaming=20s dip=60% then=2000/s", "then=1k/s at=1m"];
    Fuzz::new("join").from(corpus).words(WORDS).run(10_000, |input| {
        let Some(join) = read::<Join>(input) else { return };
        let model = Model { capacity: units::PerSecond::new(1e3), join: Some(join), ..Model::default() };
        let mut timing = Timing::new(&model, Seed(1));
        for at in [0, 0, 30_000_000_000, 30_000_000_000].map(Nanos) {
            assert!(timing.admit(at, Operation::Read, b"").begun >= at);
        }
    });
}

#[test]
fn fuzz_fault() {
    let corpus = [
        "delay:800ms@next",
        "error:busy@request=1000",
        "drop:mid@every=100",
        "partial:200ms@p=0.001",
        "garbage@time=5s,op=read,key=user",
        "freeze:500ms@always",
        "slow-accept:200ms@connection=3",
        "refuse@next",
    ];
    Fuzz::new("fault").from(corpus).words(WORDS).run(20_000, |input| {
        read::<Fault>(input);
    });
}

#[test]
fn fuzz_control() {
    let corpus = ["fault delay:800ms@next", "hiccup 500ms", "clear", "status", "faults"];
    let mut engine = Engine::default();
    let mut at = Nanos::ZERO;
    Fuzz::new("control").from(corpus).words(WORDS).run(20_000, |input| {
        at = at + Nanos(1_000);
        if let Err(message) = engine.control(at, &String::from_utf8_lossy(input)) {
            assert!(!message.contains('\n') && message.len() < 5_000, "{message}");
        }
        let arrival = Arrival { at, stamped: false, connection: 0, node: NodeId(0) };
        let decision = engine.admit(arrival, Operation::Read, input);
        assert!(decision.begun >= at && decision.due >= decision.begun);
    });
}
