//! What is copied when a record changes.

use std::collections::BTreeMap;
use store::{Change, Data, Key, NodeId, Replication, ReplicationSettings, Value, View};
use testkit::alloc::{CountingAlloc, Counts, counted};
use units::{Nanos, Seed};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

fn key() -> Key {
    Key { space: Box::default(), key: Box::new([7]) }
}

fn view(number: u64) -> View {
    View { at: Nanos::from_millis(100 * number), node: NodeId(0), number }
}

fn field(number: u64) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

/// The allocator's calls while one field of a hash of `fields` is overwritten, again and again.
fn overwriting(replicas: u8, delay: &str, fields: u64) -> Counts {
    let delays = vec![delay.parse().unwrap()];
    let settings = ReplicationSettings { replicas, delays, ..Default::default() };
    let mut data = Data::with_delays(Replication::new(settings, Seed(1)).unwrap().delays().clone());
    let hash: BTreeMap<_, _> = (0..fields).map(|number| (field(number), field(0))).collect();
    data.write(view(0), key(), Some(Value::Hash(hash)));
    let key = key();
    let ((), counts) = counted(|| {
        for number in 1..=10 {
            let set = |value: &mut Value| match value {
                Value::Hash(hash) => {
                    hash.values_mut().next().unwrap()[0] = number as u8;
                    (Change::Changed, hash.len() as u64)
                }
                _ => unreachable!("a hash was written"),
            };
            assert_eq!(data.update(view(number), &key, set), Some(fields));
        }
    });
    assert_eq!(data.versions(), if delay == "0" || replicas == 1 { 1 } else { 2 });
    let (Some(Value::Hash(hash)), staleness) = data.read(view(11), &key) else { panic!("no hash") };
    assert_eq!(hash[&field(0)][0], 10);
    assert_eq!(staleness.age, Nanos::from_millis(100));
    counts
}

#[test]
fn nothing_is_copied_where_nobody_reads_the_old_version() {
    for fields in [10, 10_000] {
        assert_eq!(overwriting(1, "50ms", fields).total(), 0, "one node, {fields} fields");
        assert_eq!(overwriting(3, "0", fields).total(), 0, "no delay, {fields} fields");
    }
    assert!(overwriting(3, "50ms", 10_000).total() > 10 * 10_000, "the old version must stay");
}
