//! Memory stays bounded however long a store is written to.

use store::{Change, Data, Key, NodeId, Replication, ReplicationSettings, Value, View};
use testkit::memory::{MeasuringAlloc, measured};
use units::{Nanos, Seed};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

const KEYS: u64 = 100;
const GAP: Nanos = Nanos::from_micros(100);

fn key(number: u64) -> Key {
    Key { space: Box::default(), key: number.to_be_bytes().into() }
}

/// Writes at 10,000/s, a tenth of them deletes, a tenth updates; gives the most versions that there were.
fn write(data: &mut Data, writes: u64) -> usize {
    let mut most = 0;
    let draws = Seed(5);
    for number in 0..writes {
        let mut rng = draws.at(number);
        let view = View { at: Nanos(GAP.0 * number), node: NodeId(0), number };
        let key = key(rng.below(KEYS));
        match rng.below(10) {
            0 => data.write(view, key, None),
            1 => drop(data.update(view, &key, |_| (Change::Changed, ()))),
            _ => data.write(view, key, Some(Value::Text(number.to_be_bytes().into()))),
        }
        if number.is_multiple_of(1_000) {
            most = most.max(data.versions());
        }
    }
    most
}

/// One test, so that nothing else allocates beside it.
#[test]
fn writes_leave_what_nodes_can_still_see() {
    // 50 ms are 500 writes; drawn delays are at most 100 ms, 1,000 writes.
    let cases = [
        (1, "50ms", 100_000, 0),
        (3, "0", 100_000, 0),
        (3, "50ms", 1_000_000, 500),
        (3, "99% 10ms + 1% 100ms", 100_000, 1_000),
    ];
    for (replicas, delay, writes, in_flight) in cases {
        let delays = vec![delay.parse().unwrap()];
        let settings = ReplicationSettings { replicas, delays, ..Default::default() };
        let mut data = Data::with_delays(Replication::new(settings, Seed(1)).unwrap().delays().clone());
        let (most, memory) = measured(|| write(&mut data, writes));
        let nodes = format!("{replicas} nodes, {delay}");
        assert!(most <= KEYS as usize + in_flight, "{nodes}: {most} versions");
        assert!(most >= KEYS as usize * 3 / 4, "{nodes}: {most} versions");
        // Versions that are never forgotten cost 72 bytes each and their values: at least 8 MB.
        assert!(memory.peak < 1_000_000, "{nodes}: {} bytes", memory.peak);
    }
}
