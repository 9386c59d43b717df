//! How long writes wait, and where requests go.

use proptest::prelude::*;
use store::{
    Access, Acknowledgement, Arrival, Data, Engine, Key, NodeId, Operation, ReadPreference, Replication,
    ReplicationSettings, Rules, Settings, Tag, Value, View,
};
use units::{Nanos, Seed};

fn settings(replicas: u8, delays: &str, acknowledgement: &str) -> ReplicationSettings {
    ReplicationSettings {
        replicas,
        delays: delays.split_whitespace().map(|rule| rule.parse().unwrap()).collect(),
        acknowledgement: acknowledgement.parse().unwrap(),
        ..Default::default()
    }
}

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// The wait of a write at node 0 that began when the store did.
fn wait(settings: ReplicationSettings) -> Nanos {
    Replication::new(settings, Seed(1)).unwrap().acknowledgement(NodeId(0), 0, Nanos::ZERO)
}

#[test]
fn the_kth_smallest_round_trip() {
    let delays = "0>1=10ms 1>0=10ms 0>2=20ms 2>0=20ms";
    for (acknowledgement, millis) in [("1", 0), ("2", 20), ("quorum", 20), ("3", 40), ("all", 40)] {
        assert_eq!(wait(settings(3, delays, acknowledgement)), ms(millis), "{acknowledgement}");
    }
    // There and back need not take equally long, and it is the sum that counts: 31, 12, 23 ms.
    let delays = "0>1=30ms 1>0=1ms 0>2=2ms 2>0=10ms 0>3=3ms 3>0=20ms";
    for (acknowledgement, millis) in [("1", 0), ("2", 12), ("quorum", 23), ("3", 23), ("4", 31), ("all", 31)]
    {
        assert_eq!(wait(settings(4, delays, acknowledgement)), ms(millis), "{acknowledgement}");
    }
    for one in ["1", "quorum", "all"] {
        assert_eq!(wait(settings(1, "10ms", one)), Nanos::ZERO, "one node, {one}");
    }
    assert_eq!(wait(settings(2, "10ms", "quorum")), ms(20), "a quorum of two is both");
}

#[test]
fn equal_replicas_count_one_by_one() {
    // Round trips 20, 20, 20 and 80 ms. SickStore took the second smallest of {20, 80} for three nodes.
    let delays = "10ms 0>4=40ms 4>0=40ms";
    for (acknowledgement, millis) in [("2", 20), ("3", 20), ("quorum", 20), ("4", 20), ("5", 80)] {
        assert_eq!(wait(settings(5, delays, acknowledgement)), ms(millis), "{acknowledgement}");
    }
}

#[test]
fn tag_sets_wait_for_their_slowest_tag() {
    let delays = "5ms 0>1=10ms 0>2=20ms 0>3=30ms 0>4=60ms"; // round trips 15, 25, 35, 65
    let tags = Tag::parse_list("0=dc1,1=dc1,2=dc2,3=dc2,4=dc1,4=dc3").unwrap();
    let cases = [
        ("tags:dc1=1", 0),  // the receiver is one
        ("tags:dc1=2", 15), // it and node 1
        ("tags:dc1=3", 65), // and node 4
        ("tags:dc2=1", 25),
        ("tags:dc2=2", 35),
        ("tags:dc3=1", 65),
        ("tags:dc1=1,dc2=1", 25),
        ("tags:dc1=2,dc2=2", 35),
        ("tags:dc2=1,dc3=1,dc1=2", 65),
    ];
    for (acknowledgement, millis) in cases {
        let settings = ReplicationSettings { tags: tags.clone(), ..settings(5, delays, acknowledgement) };
        assert_eq!(wait(settings), ms(millis), "{acknowledgement}");
    }
}

#[test]
fn the_journal_is_committed_three_times_as_often() {
    let settings = ReplicationSettings { journal: ms(90), ..settings(2, "10ms", "1") };
    let journal = Replication::new(settings.clone(), Seed(1)).unwrap();
    for (uptime, millis) in [(0, 30), (10, 20), (29, 1), (30, 30), (31, 29), (100, 20), (90_000, 30)] {
        assert_eq!(journal.acknowledgement(NodeId(0), 0, ms(uptime)), ms(millis), "after {uptime} ms");
    }
    // Nodes and journal are waited for side by side: 20 ms for the other node.
    let acknowledgement = Acknowledgement::All;
    let both = Replication::new(ReplicationSettings { acknowledgement, ..settings }, Seed(1)).unwrap();
    for (uptime, millis) in [(0, 30), (10, 20), (11, 20), (29, 20), (30, 30)] {
        assert_eq!(both.acknowledgement(NodeId(0), 0, ms(uptime)), ms(millis), "after {uptime} ms");
    }
    let third = ReplicationSettings { journal: ms(100), ..ReplicationSettings::default() };
    assert_eq!(wait(third), Nanos(33_333_333));
    let none = ReplicationSettings { journal: Nanos(2), ..ReplicationSettings::default() };
    assert_eq!(wait(none), Nanos::ZERO, "a third of it is nothing");
}

fn seeing(data: &Data, at: Nanos, nodes: u8, key: &Key) -> u8 {
    let sees = |node: &u8| data.read(View { at, node: NodeId(*node), number: 0 }, key).0.is_some();
    (0..nodes).filter(sees).count() as u8
}

proptest! {
    /// When the answer is due, as many nodes as were asked for see the write; if the way back takes no time, not a
    /// nanosecond before.
    #[test]
    fn whoever_acknowledged_has_it(
        delays in prop::sample::select(vec![
            "exp:10ms",
            "0 0>1=exp:10ms 0>2=exp:10ms 0>3=lognormal:10ms,1 0>4=7ms",
            "3ms 0>4=uniform:1ms..50ms 4>0=exp:2ms",
        ]),
        count in 1u8..=5,
        number in 0u64..1_000_000,
        begun in 0u64..1_000_000_000,
    ) {
        let begun = Nanos(begun);
        let replication = Replication::new(settings(5, delays, &count.to_string()), Seed(3)).unwrap();
        let mut data = Data::with_delays(replication.delays().clone());
        let key = Key { space: Box::default(), key: Box::default() };
        let view = View { at: begun, node: NodeId(0), number };
        data.write(view, key.clone(), Some(Value::Text(Vec::new())));
        let due = begun + replication.acknowledgement(NodeId(0), number, begun);
        prop_assert!(seeing(&data, due, 5, &key) >= count);
        if delays.starts_with("0 ") && due > begun {
            prop_assert_eq!(seeing(&data, due, 5, &key), count);
            prop_assert_eq!(seeing(&data, Nanos(due.0 - 1), 5, &key), count - 1);
        }
    }
}

fn admit(engine: &mut Engine, operation: Operation, node: u8) -> store::Decision {
    let arrival = Arrival { at: ms(5), stamped: false, connection: 0, node: NodeId(node) };
    engine.admit(arrival, operation, b"k")
}

#[test]
fn the_engine_holds_writes_back() {
    let mut replication = settings(3, "0>1=10ms 1>0=15ms 0>2=80ms", "quorum");
    replication.preference = ReadPreference::Own;
    let nodes = Settings { replication, ..Settings::default() };
    let mut engine = Engine::new(nodes.clone());
    let write = admit(&mut engine, Operation::Update, 2);
    assert_eq!((write.node, write.number), (NodeId(0), 0));
    assert_eq!((write.begun, write.due), (ms(5), ms(30)));
    assert!(write.rules.has(Rules::ACKNOWLEDGED));
    for (operation, node) in [(Operation::Read, 2), (Operation::Transaction, 0), (Operation::Other, 0)] {
        let other = admit(&mut engine, operation, 2);
        assert_eq!((other.node, other.due), (NodeId(node), ms(5)), "{}", operation.name());
        assert!(!other.rules.has(Rules::ACKNOWLEDGED));
    }
    // The data is that of the same nodes.
    let key = Key { space: Box::default(), key: Box::default() };
    engine.data_mut().write(Engine::view(&write), key.clone(), Some(Value::Text(Vec::new())));
    assert_eq!(seeing(engine.data(), ms(30), 3, &key), 2);
    assert_eq!(seeing(engine.data(), ms(85), 3, &key), 3);
    // What is not written is not waited for.
    for (fault, due) in [("error:busy@request=1", 5), ("drop:after@request=1", 30)] {
        let faults = vec![fault.parse().unwrap()];
        let mut failing = Engine::new(Settings { faults, ..nodes.clone() });
        let write = admit(&mut failing, Operation::Update, 0);
        assert!(write.rules.has(Rules::FAULT));
        assert_eq!(write.due, ms(due), "{fault}");
    }
    let mut alone = Engine::default();
    let write = admit(&mut alone, Operation::Insert, 0);
    assert_eq!((write.due, write.rules), (ms(5), Rules::default()));
}

fn preferring(preference: ReadPreference, replicas: u8) -> Replication {
    let delays = if replicas > 2 { "10ms 0>2=5ms 1>2=7ms 1>0=7ms 2>1=exp:9ms 2>0=exp:11ms" } else { "10ms" };
    Replication::new(ReplicationSettings { preference, ..settings(replicas, delays, "1") }, Seed(1)).unwrap()
}

#[test]
fn reads_go_where_the_preference_says() {
    for preference in ReadPreference::ALL {
        let nodes = preferring(preference, 3);
        for own in (0..3).map(NodeId) {
            assert_eq!(nodes.route(Access::Write, own, 7), NodeId(0), "writes, {preference}");
            assert_eq!(nodes.route(Access::None, own, 7), NodeId(0), "what may write, {preference}");
        }
        let alone = preferring(preference, 1);
        assert_eq!(alone.route(Access::Read, NodeId(0), 7), NodeId(0), "{preference}");
        assert_eq!(alone.route(Access::Read, NodeId(9), 7), NodeId(0), "no such node, {preference}");
    }
    let read = |preference, own| preferring(preference, 3).route(Access::Read, NodeId(own), 7).0;
    assert_eq!([0, 1, 2].map(|own| read(ReadPreference::Primary, own)), [0, 0, 0]);
    assert_eq!([0, 1, 2].map(|own| read(ReadPreference::Own, own)), [0, 1, 2]);
    // Of equals (from 1) the lowest number; of drawn ones (from 2) the smallest mean.
    assert_eq!([0, 1, 2].map(|own| read(ReadPreference::Nearest, own)), [2, 0, 1]);
}

#[test]
fn secondaries_take_turns_at_random() {
    let nodes = preferring(ReadPreference::Secondary, 4);
    let mut counts = [0u32; 4];
    for number in 0..30_000 {
        counts[usize::from(nodes.route(Access::Read, NodeId(0), number).0)] += 1;
    }
    assert_eq!(counts[0], 0, "the primary is none");
    // Chi-square with 2 degrees of freedom: 13.8 is its 0.999 quantile.
    let chi: f64 = counts[1..].iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(chi < 13.8, "{counts:?}");
    let again = preferring(ReadPreference::Secondary, 4);
    for number in 0..100 {
        let [one, other] = [&nodes, &again].map(|nodes| nodes.route(Access::Read, NodeId(2), number));
        assert_eq!(one, other, "request {number}");
    }
}
