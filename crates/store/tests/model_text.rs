//! The texts of the timing's settings.

use store::{Draw, Hiccup, Join, Model, Operation, Service, SlowKey};
use units::{Nanos, PerSecond};

fn told<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> String {
    match text.parse::<T>() {
        Ok(_) => panic!("`{text}` was read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn display_gives_the_text_back() {
    for text in [
        "1s@30s",
        "1s@30s every 30s",
        "exp:200ms@10s every exp:5s",
        "99% 1ms + 1% 100ms@0s every 50% 1s + 50% 2s",
    ] {
        assert_eq!(text.parse::<Hiccup>().unwrap().to_string(), text);
    }
    for text in ["user1*=50ms", "user1=exp:50ms", "*=1ms", "a=b=1ms", "50%=10% 1ms + 90% 2ms"] {
        assert_eq!(text.parse::<SlowKey>().unwrap().to_string(), text);
    }
    for text in ["exp:1ms", "read=exp:1ms", "transaction=99% 1ms + 1% 2ms"] {
        assert_eq!(text.parse::<Service>().unwrap().to_string(), text);
    }
    for text in ["at=30s streaming=20s dip=60% then=2000/s", "at=0s streaming=0s dip=0% then=0.5/s"] {
        assert_eq!(text.parse::<Join>().unwrap().to_string(), text);
    }
    assert_eq!(
        " then=2k/s  at=1m".parse::<Join>().unwrap().to_string(),
        "at=60s streaming=0s dip=0% then=2000/s"
    );
}

#[test]
fn errors_name_the_text_and_what_is_expected() {
    let example = "expected `1s@30s` (length, instant of the first) or `1s@30s every 10s`";
    let duration = "expected a number with ns, us, ms, s, m or h, such as `15s`";
    assert_eq!(told::<Hiccup>("1s"), format!("`1s` is not a hiccup: {example}"));
    assert_eq!(told::<Hiccup>("1s@x"), format!("`1s@x` is not a hiccup: `x` is not a duration: {duration}"));
    assert_eq!(
        told::<Hiccup>("1ms@0s every exp:1ms"),
        "`1ms@0s every exp:1ms` is not a hiccup: the mean period is 1ms, expected at least 10ms"
    );
    assert_eq!(
        told::<Hiccup>("1s@0s every 1s"),
        "`1s@0s every 1s` is not a hiccup: it takes 100% of all time, at most 90% are possible"
    );
    assert_eq!(
        told::<SlowKey>("=1ms"),
        "`=1ms` is not a slow key: the key is empty, expected `user1=50ms` or `user1*=50ms`"
    );
    assert_eq!(
        told::<Service>("get=1ms"),
        "`get=1ms` is not a service time: `get` is not an operation, expected one of ping, read, update, \
         insert, delete, scan, transaction, other"
    );
    let example = "expected `at=30s streaming=20s dip=60% then=2000/s`";
    for (text, why) in [
        ("at=1s", format!("`then` is missing: {example}")),
        ("then=1/s", format!("`at` is missing: {example}")),
        ("at=1s at=2s", format!("`at` is there twice: {example}")),
        ("soon", format!("`soon`: {example}")),
        ("at=1s dip=60", "`60` is not a dip, expected 0% to 100%".to_owned()),
        ("at=1s dip=101%", "`101%` is not a dip, expected 0% to 100%".to_owned()),
    ] {
        assert_eq!(told::<Join>(text), format!("`{text}` is not a join: {why}"));
    }
}

#[test]
fn settings_are_checked_together() {
    let check = |change: fn(&mut Model)| {
        let mut model = Model { capacity: PerSecond::new(1000.0), ..Model::default() };
        change(&mut model);
        model.check().unwrap_err()
    };
    assert_eq!(check(|m| m.servers = Some(0)), "0 servers: expected 1 to 65536");
    assert_eq!(check(|m| m.capacity = PerSecond::new(0.0)), "capacity 0/s: expected 0.001/s to 1000000000/s");
    assert_eq!(
        check(|m| {
            m.capacity = None;
            m.join = Some("at=1s then=1/s".parse().unwrap());
        }),
        "join `at=1s streaming=0s dip=0% then=1/s`: needs the capacity before it, such as `1000/s`"
    );
    assert_eq!(
        check(|m| m.hiccups = vec!["1s@0s every 2s".parse().unwrap(); 2]),
        "the hiccups take 100% of all time: at most 90% are possible"
    );
    assert_eq!(
        check(|m| m.hiccups = vec!["1us@0s every 15ms".parse().unwrap(); 2]),
        "the hiccups come 133 times a second: at most 100 are possible"
    );
    assert_eq!(
        check(|m| {
            m.hiccups = vec!["9ms@0s every 10ms".parse().unwrap()];
            m.capacity = PerSecond::new(0.001);
        }),
        "hiccups come 100.000 times a second, and one request may take 10000 s: 1000000 of them would lie ahead of it, \
         at most 524288 are possible"
    );
    assert_eq!(
        check(|m| m.hiccups = vec!["1s@0s".parse().unwrap(); 1001]),
        "1001 hiccups: at most 1000 are possible"
    );
    assert_eq!(Model::default().check(), Ok(()));
}

#[test]
fn the_last_service_time_that_fits_holds() {
    let mut model = Model::default();
    assert_eq!(model.service_of(Operation::Read), &Draw::ZERO);
    model.service = ["1ms", "read=2ms", "read=3ms", "scan=4ms"].map(|text| text.parse().unwrap()).to_vec();
    let times = [Operation::Read, Operation::Scan, Operation::Update].map(|o| model.service_of(o).mean());
    assert_eq!(times, [3, 4, 1].map(Nanos::from_millis));
}

#[test]
fn a_model_describes_itself() {
    assert_eq!(Model::default().describe(), []);
    let model = Model {
        service: vec!["read=1ms".parse().unwrap()],
        servers: Some(4),
        capacity: PerSecond::new(1053.0),
        hiccups: vec!["1s@30s".parse().unwrap()],
        slow_keys: vec!["user1*=50ms".parse().unwrap()],
        delay: "uniform:1ms..2ms".parse().unwrap(),
        join: Some("at=30s then=2000/s".parse().unwrap()),
    };
    let texts: Vec<String> = model.describe().iter().map(|(name, text)| format!("{name} {text}")).collect();
    assert_eq!(
        texts,
        [
            "service read=1ms",
            "servers 4",
            "capacity 1053/s",
            "hiccup 1s@30s",
            "slow key user1*=50ms",
            "delay uniform:1ms..2ms",
            "join at=30s streaming=0s dip=0% then=2000/s"
        ]
    );
}
