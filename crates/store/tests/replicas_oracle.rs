//! What nodes see, against a list of all writes.

use proptest::prelude::*;
use std::collections::BTreeMap;
use store::{Change, Data, Delays, Key, NodeId, Replication, ReplicationSettings, Staleness, Value, View};
use units::{Nanos, Seed};

const NODES: u8 = 4;

fn key(number: u8) -> Key {
    Key { space: Box::new([number % 2]), key: Box::new([number]) }
}

fn text(number: u64) -> Value {
    Value::Text(number.to_string().into_bytes())
}

fn replication(delays: &[&str], seed: u64) -> Replication {
    let delays = delays.iter().map(|rule| rule.parse().unwrap()).collect();
    let settings = ReplicationSettings { replicas: NODES, delays, ..Default::default() };
    Replication::new(settings, Seed(seed)).unwrap()
}

/// Every write there ever was, and when it reached which node: slow and obvious.
struct Oracle {
    delays: Delays,
    writes: BTreeMap<Key, Vec<Write>>,
}

struct Write {
    at: Nanos,
    reaches: Vec<Nanos>,
    value: Option<Value>,
}

impl Oracle {
    fn write(&mut self, view: View, key: &Key, value: Option<Value>) {
        let writes = self.writes.entry(key.clone()).or_default();
        // A delete is no version where all that is to be known is that there is nothing.
        let nothing = |write: &Write| write.value.is_none() && write.reaches.iter().all(|at| *at <= view.at);
        if value.is_none() && writes.last().is_none_or(nothing) {
            return;
        }
        let reach = |node| match NodeId(node) {
            own if own == view.node => view.at,
            other => view.at + self.delays.between(view.node, other, view.number),
        };
        writes.push(Write { at: view.at, reaches: (0..NODES).map(reach).collect(), value });
    }

    fn read(&self, view: View, key: &Key) -> (Option<&Value>, Staleness) {
        let writes = self.writes.get(key).map_or(&[][..], Vec::as_slice);
        let mut seen = None;
        let mut missed = Vec::new();
        for write in writes {
            if write.reaches[usize::from(view.node.0)] <= view.at {
                seen = Some(write);
                missed.clear();
            } else {
                missed.push(write);
            }
        }
        let value = seen.and_then(|write| write.value.as_ref());
        let staleness = Staleness {
            versions: missed.len() as u32,
            time: missed.first().map_or(Nanos::ZERO, |write| Nanos(view.at.0 - write.at.0)),
            age: match (value, seen) {
                (Some(_), Some(write)) => Nanos(view.at.0 - write.at.0),
                _ => Nanos::ZERO,
            },
        };
        (value, staleness)
    }

    fn scan(&self, view: View, from: &Key) -> Vec<(&Key, &Value)> {
        let of_space = self.writes.keys().filter(|key| key.space == from.space && *key >= from);
        of_space.filter_map(|key| Some((key, self.read(view, key).0?))).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write,
    Delete,
    Update(Change),
    Read,
    Scan,
    DropSpace,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Write),
        3 => Just(Step::Delete),
        4 => Just(Step::Update(Change::Changed)),
        1 => Just(Step::Update(Change::Unchanged)),
        1 => Just(Step::Update(Change::Deleted)),
        10 => Just(Step::Read),
        2 => Just(Step::Scan),
        1 => Just(Step::DropSpace),
    ]
}

/// Some pairs of nodes at no distance, some at a constant one, some at drawn ones.
fn delays() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::select(vec![
        vec![],
        vec!["10ms"],
        vec!["10ms", "0>1=0", "0>2=25ms", "1>0=3ms", "2>1=40ms"],
        vec!["10ms", "3>0=0", "3>1=0", "3>2=0"],
        vec!["exp:10ms"],
        vec!["0", "0>1=exp:20ms", "1>3=lognormal:5ms,2"],
        vec!["99% 1ms + 1% 100ms", "0>2=uniform:0ms..30ms"],
    ])
}

fn compare(data: &Data, oracle: &Oracle, view: View, key: &Key) {
    for node in (0..NODES).map(NodeId) {
        let view = View { node, ..view };
        assert_eq!(data.read(view, key), oracle.read(view, key), "{key:?} as {view:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_node_sees_what_has_reached_it(
        delays in delays(),
        seed in 0u64..1_000,
        writers in prop_oneof![Just(1u8), 2..=NODES],
        steps in prop::collection::vec((step(), 0..6u8, 0..NODES, 0u64..8_000_000), 1..200),
    ) {
        let delays = replication(&delays, seed).delays().clone();
        let mut data = Data::with_delays(delays.clone());
        let mut oracle = Oracle { delays, writes: BTreeMap::new() };
        let mut at = Nanos::ZERO;
        for (number, (step, record, node, gap)) in (0u64..).zip(steps) {
            // Some gaps are none: the order of calls decides then.
            at = at + Nanos(gap.saturating_sub(2_000_000));
            let key = key(record);
            let reader = View { at, node: NodeId(node), number };
            let writer = View { node: NodeId(node % writers), ..reader };
            match step {
                Step::Write => {
                    oracle.write(writer, &key, Some(text(number)));
                    data.write(writer, key.clone(), Some(text(number)));
                }
                Step::Delete => {
                    oracle.write(writer, &key, None);
                    data.write(writer, key.clone(), None);
                }
                Step::Update(change) => {
                    let before = oracle.read(writer, &key).0.cloned();
                    let given = data.update(writer, &key, |value| {
                        let given = value.clone();
                        if change == Change::Changed {
                            *value = text(number);
                        }
                        (change, given)
                    });
                    assert_eq!(given, before);
                    match change {
                        Change::Changed if given.is_some() => oracle.write(writer, &key, Some(text(number))),
                        Change::Deleted if given.is_some() => oracle.write(writer, &key, None),
                        _ => {}
                    }
                }
                Step::Read => {}
                Step::Scan => {
                    let scanned: Vec<_> = data.scan(reader, &key).collect();
                    assert_eq!(scanned, oracle.scan(reader, &key), "from {key:?} as {reader:?}");
                }
                Step::DropSpace => {
                    oracle.writes.retain(|written, _| written.space != key.space);
                    data.drop_space(&key.space);
                }
            }
            compare(&data, &oracle, reader, &key);
        }
        // After the largest delay everything is visible everywhere, and one version of each record is left.
        let end = View { at: at + Nanos::from_secs(4000), node: NodeId(0), number: 0 };
        data.settle(end.at);
        let mut left = 0;
        for (key, writes) in &oracle.writes {
            compare(&data, &oracle, end, key);
            let newest = writes.last().and_then(|write| write.value.as_ref());
            assert_eq!(data.read(end, key).0, newest);
            left += usize::from(newest.is_some());
        }
        assert_eq!(data.versions(), left);
    }

    #[test]
    fn the_primary_reads_its_own_writes(
        delays in delays(),
        seed in 0u64..1_000,
        gaps in prop::collection::vec(0u64..20_000_000, 1..100),
    ) {
        let mut data = Data::with_delays(replication(&delays, seed).delays().clone());
        let mut at = Nanos::ZERO;
        for (number, gap) in (0u64..).zip(gaps) {
            at = at + Nanos(gap);
            let view = View { at, node: NodeId(0), number };
            data.write(view, key(0), Some(text(number)));
            assert_eq!(data.read(view, &key(0)), (Some(&text(number)), Staleness::default()));
        }
    }
}

fn at(millis: u64, node: u8, number: u64) -> View {
    View { at: Nanos::from_millis(millis), node: NodeId(node), number }
}

fn stale(versions: u32, time: u64, age: u64) -> Staleness {
    Staleness { versions, time: Nanos::from_millis(time), age: Nanos::from_millis(age) }
}

#[test]
fn staleness_of_a_planted_history() {
    let mut data = Data::with_delays(replication(&["10ms", "0>2=25ms"], 1).delays().clone());
    let key = key(0);
    data.write(at(100, 0, 0), key.clone(), Some(text(0)));
    data.write(at(120, 0, 1), key.clone(), Some(text(1)));
    data.write(at(130, 0, 2), key.clone(), None);
    data.write(at(140, 0, 3), key.clone(), Some(text(3)));
    let cases = [
        (at(100, 1, 9), None, stale(1, 0, 0)),
        (at(109, 1, 9), None, stale(1, 9, 0)),
        (at(110, 1, 9), Some(0), stale(0, 0, 10)),
    ];
    // Views never go back, so the early ones are taken of a store that was written as far as they go.
    let mut early = Data::with_delays(replication(&["10ms", "0>2=25ms"], 1).delays().clone());
    early.write(at(100, 0, 0), key.clone(), Some(text(0)));
    for (view, value, staleness) in cases {
        assert_eq!(early.read(view, &key), (value.map(text).as_ref(), staleness), "{view:?}");
    }
    let cases = [
        (at(140, 0, 9), Some(3), stale(0, 0, 0)),
        (at(141, 1, 9), None, stale(1, 1, 0)),
        (at(142, 2, 9), Some(0), stale(3, 22, 42)),
        (at(145, 2, 9), Some(1), stale(2, 15, 25)),
        (at(149, 1, 9), None, stale(1, 9, 0)),
        (at(150, 1, 9), Some(3), stale(0, 0, 10)),
        (at(156, 2, 9), None, stale(1, 16, 0)),
        (at(165, 2, 9), Some(3), stale(0, 0, 25)),
        (at(500, 3, 9), Some(3), stale(0, 0, 360)),
    ];
    for (view, value, staleness) in cases {
        assert_eq!(data.read(view, &key), (value.map(text).as_ref(), staleness), "{view:?}");
    }
}

#[test]
fn versions_go_when_a_later_one_is_everywhere() {
    let mut data = Data::with_delays(replication(&["10ms", "0>2=25ms"], 1).delays().clone());
    data.write(at(0, 0, 0), key(0), Some(text(0)));
    data.write(at(100, 0, 1), key(0), Some(text(1)));
    data.write(at(100, 0, 2), key(1), None); // there is nothing to delete
    data.settle(Nanos(124_999_999));
    assert_eq!(data.versions(), 2);
    data.settle(Nanos(125_000_000));
    assert_eq!(data.versions(), 1);
    data.write(at(200, 0, 3), key(0), None);
    assert_eq!(data.versions(), 2);
    data.settle(Nanos(225_000_000));
    assert_eq!(data.versions(), 0);
}

#[test]
fn a_version_that_is_everywhere_at_once_is_the_only_one() {
    let delays = replication(&["10ms", "3>0=0", "3>1=0", "3>2=0"], 1).delays().clone();
    let mut data = Data::with_delays(delays);
    for round in 0..3 {
        data.write(at(10 * round, 0, 0), key(0), Some(text(0)));
        data.write(at(10 * round, 0, 1), key(0), Some(text(1)));
        assert!(data.versions() > 1);
        let last = at(10 * round + 1, 3, 2);
        match round {
            0 => data.write(last, key(0), Some(text(2))),
            1 => assert_eq!(data.update(last, &key(0), |_| (Change::Changed, ())), Some(())),
            _ => data.write(last, key(0), None),
        }
        assert_eq!(data.versions(), if round == 2 { 0 } else { 1 }, "round {round}");
    }
}

#[test]
fn a_version_that_was_overtaken_is_never_seen() {
    let delays = replication(&["0>1=99% 1ms + 1% 100ms"], 7).delays().clone();
    let slow = |number: &u64| delays.between(NodeId(0), NodeId(1), *number) == Nanos::from_millis(100);
    let first = (0u64..10_000).find(slow).unwrap();
    assert!(!slow(&(first + 1)), "the next one is fast");
    let mut data = Data::with_delays(delays);
    data.write(at(10, 0, first), key(0), Some(text(1)));
    data.write(at(20, 0, first + 1), key(0), Some(text(2)));
    assert_eq!(data.read(at(20, 1, 0), &key(0)), (None, stale(2, 10, 0)));
    assert_eq!(data.read(at(21, 1, 0), &key(0)), (Some(&text(2)), stale(0, 0, 1)));
    assert_eq!(data.read(at(110, 1, 0), &key(0)), (Some(&text(2)), stale(0, 0, 90)));
}

#[test]
fn a_lagging_node_overwrites_what_it_has_not_seen() {
    let mut data = Data::with_delays(replication(&["10ms"], 1).delays().clone());
    data.write(at(0, 0, 0), key(0), Some(text(0)));
    data.write(at(50, 0, 1), key(0), Some(text(1)));
    let seen = data.update(at(55, 1, 2), &key(0), |value| {
        let seen = value.clone();
        *value = text(2);
        (Change::Changed, seen)
    });
    assert_eq!(seen, Some(text(0)));
    assert_eq!(data.read(at(55, 0, 3), &key(0)), (Some(&text(1)), stale(1, 0, 5)));
    assert_eq!(data.read(at(65, 0, 3), &key(0)), (Some(&text(2)), stale(0, 0, 10)));
}
