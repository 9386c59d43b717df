//! Faults: their texts, when they act, and what they do.

use store::{
    Arrival, ConnectionFault, Decision, Engine, ErrorClass, Fault, FaultKind, Injection, NodeId, Operation,
    Rules, Settings, StoreEvent, When,
};
use units::{Nanos, Seed};

fn engine(faults: &[&str]) -> Engine {
    let settings =
        Settings { faults: faults.iter().map(|text| text.parse().unwrap()).collect(), ..Settings::default() };
    settings.check().unwrap();
    Engine::new(settings)
}

/// After all that may happen.
const LAST: Nanos = Nanos(u64::MAX);

/// A read of `user1` at so many milliseconds.
fn read(engine: &mut Engine, millis: u64) -> Decision {
    ask(engine, millis, Operation::Read, b"user1")
}

fn ask(engine: &mut Engine, millis: u64, operation: Operation, key: &[u8]) -> Decision {
    let at = Nanos::from_millis(millis);
    let arrival = Arrival { at, stamped: false, connection: 0, node: NodeId(0) };
    engine.admit(arrival, operation, key)
}

/// The numbers, from 1, of those of `n` reads each 10 ms that a fault acted on.
fn met(engine: &mut Engine, n: u64) -> Vec<u64> {
    (1..=n).filter(|number| read(engine, number * 10).rules.has(Rules::FAULT)).collect()
}

#[test]
fn display_gives_the_text_back() {
    for text in [
        "delay:800ms@next",
        "freeze:500ms@request=1000",
        "error:serialization@every=100",
        "error:deadlock@p=0.001",
        "error:busy@time=5s",
        "error:retryable@always",
        "error:internal@next,op=read",
        "drop:before@next,key=user1",
        "drop:after@next,op=update,key=a,b=c@d",
        "drop:mid@next",
        "partial:200ms@next",
        "garbage@next",
        "slow-accept:200ms@connection=3",
        "refuse@every=2",
    ] {
        assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
    }
    let fault: Fault = " error:busy@time=5s,op=scan,key=k".parse().unwrap();
    let expected = Fault {
        kind: FaultKind::Inject(Injection::Error(ErrorClass::Busy)),
        when: When::Time(Nanos::from_secs(5)),
        operation: Some(Operation::Scan),
        key: Some("k".to_owned()),
    };
    assert_eq!(fault, expected);
}

#[test]
fn errors_name_the_text_and_what_is_expected() {
    let kinds = "expected `delay:800ms`, `freeze:500ms`, `error:CLASS`, `drop:before|after|mid`, `partial:200ms`, \
         `garbage`, `slow-accept:200ms` or `refuse`";
    let whens =
        "expected `next`, `request=1000`, `connection=3`, `every=100`, `p=0.001`, `time=5s` or `always`";
    let requests = "expected `next`, `request=1000`, `every=100`, `p=0.001`, `time=5s` or `always`";
    for (text, why) in [
        ("delay:1s", "expected `KIND@WHEN`, such as `delay:800ms@next`".to_owned()),
        ("late:1s@next", format!("`late:1s` is not a kind, {kinds}")),
        ("garbage:1s@next", format!("`garbage:1s` is not a kind, {kinds}")),
        ("drop@next", format!("`drop` is not a kind, {kinds}")),
        ("delay@next", "`delay` needs a time, such as `delay:200ms`".to_owned()),
        ("delay:2h@next", "`2h` is too long, at most 3600s is possible".to_owned()),
        (
            "error:fatal@next",
            "`fatal` is not a class of errors, expected one of serialization, deadlock, busy, retryable, internal"
                .to_owned(),
        ),
        ("garbage@soon", format!("`soon` is not an occasion, {whens}")),
        ("garbage@every=0", "`0` is not a number for `every`, expected 1 or more".to_owned()),
        ("garbage@p=2", "`2` is not a probability, expected 0 to 1".to_owned()),
        ("garbage@next,key=", "the key is empty, expected `key=PREFIX`".to_owned()),
        (
            "garbage@next,node=1",
            "`node=1` is not understood, expected `op=OPERATION` and then `key=PREFIX`".to_owned(),
        ),
        ("garbage@connection=1", format!("`garbage` acts on requests, {requests}")),
        (
            "refuse@time=1s",
            "`refuse` acts on connections, expected `next`, `connection=3`, `every=100`, `p=0.001` or `always`, \
             without `op` and `key`"
                .to_owned(),
        ),
    ] {
        assert_eq!(text.parse::<Fault>().unwrap_err().to_string(), format!("`{text}` is not a fault: {why}"));
    }
}

#[test]
fn each_occasion_picks_its_requests() {
    for (when, expected) in [
        ("next", vec![1]),
        ("request=7", vec![7]),
        ("every=4", vec![4, 8, 12]),
        // Requests come at 10 ms, 20 ms…, and time counts from the first.
        ("time=35ms", vec![5]),
        ("time=40ms", vec![5]),
        ("p=0", vec![]),
        ("p=1", (1..=14).collect()),
        ("always", (1..=14).collect()),
    ] {
        assert_eq!(met(&mut engine(&[&format!("garbage@{when}")]), 14), expected, "{when}");
    }
}

#[test]
fn probabilities_are_kept_and_follow_from_the_seed() {
    let run = |seed| {
        let faults = vec!["garbage@p=0.1".parse().unwrap()];
        met(&mut Engine::new(Settings { faults, seed: Seed(seed), ..Settings::default() }), 20_000)
    };
    let one = run(1);
    // Five standard deviations of a binomial.
    let spread = 5.0 * (20_000.0f64 * 0.1 * 0.9).sqrt();
    assert!((one.len() as f64 - 2_000.0).abs() < spread, "{}", one.len());
    assert_eq!(one, run(1));
    assert_ne!(one, run(2));
}

#[test]
fn operation_and_key_are_filters() {
    let mut engine = engine(&["garbage@request=2,op=update,key=user1"]);
    let mut acted = |operation, key: &[u8]| ask(&mut engine, 0, operation, key).injection.is_some();
    assert!(!acted(Operation::Update, b"user1"));
    assert!(!acted(Operation::Read, b"user1"));
    assert!(!acted(Operation::Update, b"user2"));
    assert!(acted(Operation::Update, b"user17"));
    assert!(!acted(Operation::Update, b"user17"));
}

#[test]
fn a_delay_is_one_answer_s_alone() {
    let mut engine = engine(&["delay:800ms@request=2"]);
    let due: Vec<u64> = (0..4).map(|n| read(&mut engine, n * 10).due.0 / 1_000_000).collect();
    assert_eq!(due, [0, 810, 20, 30]);
}

#[test]
fn a_freeze_is_everybody_s() {
    let mut engine = engine(&["freeze:25ms@request=2"]);
    let decisions: Vec<Decision> = (0..5).map(|n| read(&mut engine, n * 10)).collect();
    let due: Vec<u64> = decisions.iter().map(|decision| decision.due.0 / 1_000_000).collect();
    assert_eq!(due, [0, 35, 35, 35, 40]);
    let rules: Vec<Rules> = decisions.iter().map(|decision| decision.rules).collect();
    let hiccup = Rules::HICCUP;
    assert_eq!(rules, [Rules(0), hiccup.with(Rules::FAULT), hiccup, hiccup, Rules(0)]);
}

#[test]
fn each_kind_is_told_to_the_server() {
    for (kind, injection) in [
        ("error:serialization", Injection::Error(ErrorClass::Serialization)),
        ("error:deadlock", Injection::Error(ErrorClass::Deadlock)),
        ("error:busy", Injection::Error(ErrorClass::Busy)),
        ("error:retryable", Injection::Error(ErrorClass::Retryable)),
        ("error:internal", Injection::Error(ErrorClass::Internal)),
        ("drop:before", Injection::DropBefore),
        ("drop:after", Injection::DropAfter),
        ("drop:mid", Injection::DropMidAnswer),
        ("partial:200ms", Injection::Partial(Nanos::from_millis(200))),
        ("garbage", Injection::Garbage),
    ] {
        let mut engine = engine(&[&format!("{kind}@next")]);
        let decision = read(&mut engine, 3);
        assert_eq!(decision.injection, Some(injection), "{kind}");
        assert_eq!((decision.due, decision.rules), (Nanos::from_millis(3), Rules::FAULT), "{kind}");
        assert_eq!(read(&mut engine, 4).injection, None, "{kind}");
    }
}

/// Delays add up; of the rest one acts, and the other acts on the next request.
#[test]
fn several_faults_on_one_request() {
    let mut engine = engine(&[
        "garbage@next",
        "delay:1ms@next",
        "drop:mid@next",
        "delay:2ms@next",
        "drop:after@request=2",
    ]);
    let seen: Vec<(Option<Injection>, Nanos)> =
        (0..4).map(|_| read(&mut engine, 0)).map(|d| (d.injection, d.due)).collect();
    let expected = [
        (Some(Injection::Garbage), Nanos::from_millis(3)),
        (Some(Injection::DropMidAnswer), Nanos::ZERO),
        (Some(Injection::DropAfter), Nanos::ZERO),
        (None, Nanos::ZERO),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn connections_meet_their_faults() {
    let mut engine = engine(&["refuse@connection=2", "slow-accept:5ms@every=2"]);
    let slow = Some(ConnectionFault::SlowAccept(Nanos::from_millis(5)));
    let seen: Vec<_> = (0..6).map(|number| engine.connection_fault(number)).collect();
    assert_eq!(seen, [None, Some(ConnectionFault::Refuse), None, slow, None, slow]);
    assert!(engine.control(Nanos::ZERO, "status").unwrap().contains("connection-faults=3"));
}

#[test]
fn commands_count_from_now() {
    let mut engine = engine(&[]);
    met(&mut engine, 10);
    let now = Nanos::from_millis(105);
    assert_eq!(engine.control(now, "fault garbage@request=2").unwrap(), "armed garbage@request=2");
    assert_eq!(engine.control(now, " fault  drop:mid@time=20ms ").unwrap(), "armed drop:mid@time=20ms");
    let seen: Vec<_> = (11..15).map(|number| read(&mut engine, number * 10).injection).collect();
    assert_eq!(seen, [None, Some(Injection::Garbage), Some(Injection::DropMidAnswer), None]);
}

#[test]
fn commands_list_clear_freeze_and_count() {
    let mut engine = engine(&["delay:1ms@every=2", "refuse@next"]);
    met(&mut engine, 4);
    let now = Nanos::from_millis(45);
    let faults = engine.control(now, "faults").unwrap();
    assert_eq!(faults, "delay:1ms@every=2 acted=2\nrefuse@next acted=0");
    assert_eq!(engine.control(now, "clear").unwrap(), "forgot 2 faults");
    assert_eq!(engine.control(now, "faults").unwrap(), "");
    assert_eq!(engine.control(now, "hiccup 100ms").unwrap(), "frozen for 100ms");
    assert_eq!(read(&mut engine, 50).due, Nanos::from_millis(145));
    assert_eq!(
        engine.control(now, "status").unwrap(),
        "requests=5 queued=0 hiccup=1 slow-key=0 acknowledgement=0 joining=0 fault=2 connection-faults=0 \
         faults-waiting=0"
    );
}

#[test]
fn commands_that_are_not_understood() {
    let mut engine = engine(&[]);
    let mut told = |command: &str| engine.control(Nanos::ZERO, command).unwrap_err();
    let expected = "expected `fault KIND@WHEN`, `faults`, `clear`, `hiccup 500ms`, `restart` or `status`";
    assert_eq!(told(""), format!("`` is not a command: {expected}"));
    assert_eq!(told("clear all"), format!("`clear all` is not a command: {expected}"));
    assert_eq!(told("a\r\nb"), format!("`a  b` is not a command: {expected}"));
    assert!(told("fault").starts_with("`` is not a fault: expected `KIND@WHEN`"));
    assert!(told("hiccup soon").starts_with("`soon` is not a duration"));
    let many: Vec<String> =
        (0..1_001).filter_map(|_| engine.control(Nanos::ZERO, "fault refuse@next").err()).collect();
    assert_eq!(many, ["`refuse@next`: 1000 faults wait already, the most; `clear` forgets them"]);
}

#[test]
fn events_tell_what_happened_when() {
    let mut settings = Settings::default();
    settings.model.capacity = units::PerSecond::new(1000.0);
    settings.model.hiccups = vec!["20ms@30ms".parse().unwrap(), "10ms@45ms".parse().unwrap()];
    settings.model.join = Some("at=60ms streaming=30ms dip=50% then=2000/s".parse().unwrap());
    settings.faults = vec!["delay:7ms@request=9".parse().unwrap()];
    let mut engine = Engine::new(settings);
    let mut events = Vec::new();
    // The first request comes at 10 ms, and all instants count from it.
    met(&mut engine, 5);
    engine.drain_events(LAST, &mut events);
    let event = |kind, begin, end, detail: &str| StoreEvent {
        kind,
        begin: Nanos::from_millis(begin),
        end: Nanos::from_millis(end),
        detail: detail.to_owned(),
    };
    // The second one is what the first leaves of it.
    assert_eq!(events, [event("hiccup", 40, 60, "20ms@30ms"), event("hiccup", 60, 65, "10ms@45ms")]);
    events.clear();
    for number in 6..=12 {
        read(&mut engine, number * 10);
    }
    engine.control(Nanos::from_millis(130), "hiccup 4ms").unwrap();
    engine.drain_events(LAST, &mut events);
    events.sort_by_key(|event| event.begin);
    let join = "at=60ms streaming=30ms dip=50% then=2000/s";
    assert_eq!(
        events,
        [
            event("join", 70, 100, join),
            event("fault", 90, 97, "delay:7ms@request=9"),
            event("hiccup", 130, 134, "while it ran")
        ]
    );
    events.clear();
    engine.drain_events(LAST, &mut events);
    assert_eq!(events, []);
}

/// A restart takes nothing back: what happened before it is told all the same, and then all happens again.
#[test]
fn a_restart_forgets_no_event() {
    let mut settings = Settings::default();
    settings.model.hiccups = vec!["20ms@30ms".parse().unwrap()];
    let mut engine = Engine::new(settings);
    let mut due = |from| [from, from + 35].map(|at| read(&mut engine, at).due.0 / 1_000_000);
    assert_eq!(due(10), [10, 60]);
    engine.control(Nanos::from_millis(100), "restart").unwrap();
    let mut due = |from| [from, from + 35].map(|at| read(&mut engine, at).due.0 / 1_000_000);
    assert_eq!(due(200), [200, 250]);
    let mut events = Vec::new();
    engine.drain_events(LAST, &mut events);
    events.sort_by_key(|event| event.begin);
    let begins: Vec<u64> = events.iter().map(|event| event.begin.0 / 1_000_000).collect();
    assert_eq!(begins, [40, 230]);
}

/// A hiccup of which an answer was told ahead, and which a restart came before, has not been.
#[test]
fn a_restart_takes_back_what_has_not_begun() {
    let mut settings = Settings::default();
    settings.model.servers = Some(1);
    settings.model.service = vec!["100ms".parse().unwrap()];
    settings.model.hiccups = vec!["20ms@30ms".parse().unwrap(), "5ms@80ms".parse().unwrap()];
    let mut engine = Engine::new(settings);
    // It looks past both of them.
    assert_eq!(read(&mut engine, 10).due, Nanos::from_millis(135));
    let mut events = Vec::new();
    let mut begins = |engine: &mut Engine, until: u64| {
        events.clear();
        engine.drain_events(Nanos::from_millis(until), &mut events);
        events.iter().map(|event| event.begin.0 / 1_000_000).collect::<Vec<u64>>()
    };
    assert_eq!(begins(&mut engine, 39), [], "none has begun");
    engine.control(Nanos::from_millis(50), "restart").unwrap();
    assert_eq!(begins(&mut engine, 1_000), [40], "the second one never came");
    read(&mut engine, 1_000);
    assert_eq!(begins(&mut engine, 1_030), [1_030]);
    assert_eq!(begins(&mut engine, 2_000), [1_080]);
}

/// What clients ask about the server before the first request is not counted by what counts from there.
#[test]
fn faults_of_the_start_count_from_the_first_request() {
    for (when, expected) in [
        ("next", vec![1]),
        ("request=2", vec![2]),
        ("every=2", vec![2, 4, 6]),
        ("time=20ms", vec![3]),
        ("always", vec![1, 2, 3, 4, 5, 6]),
    ] {
        let mut engine = engine(&[&format!("delay:1ms@{when}")]);
        let before = ask(&mut engine, 0, Operation::Other, b"").rules.has(Rules::FAULT);
        assert_eq!(before, when == "always", "{when}");
        assert_eq!(met(&mut engine, 6), expected, "{when}");
        assert!(when != "every=2" || !ask(&mut engine, 70, Operation::Other, b"").rules.has(Rules::FAULT));
        assert!(when != "every=2" || read(&mut engine, 80).rules.has(Rules::FAULT), "later ones count");
    }
    // What is given over the wire counts from then on.
    let mut engine = engine(&[]);
    engine.control(Nanos::ZERO, "fault delay:1ms@request=2").unwrap();
    ask(&mut engine, 0, Operation::Other, b"");
    assert_eq!(met(&mut engine, 2), [1]);
}

/// A rule that acts all the time fills neither the memory nor the log.
#[test]
fn events_of_one_fault_are_bounded() {
    let mut engine = engine(&["delay:1ms@always"]);
    met(&mut engine, 5_000);
    let mut events = Vec::new();
    engine.drain_events(LAST, &mut events);
    assert_eq!(events.len(), 1_000);
}
