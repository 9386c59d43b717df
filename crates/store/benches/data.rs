//! Cost of reads, writes and updates of the store's data, apart from protocols and sockets.
//!
//! `cargo bench -p store --bench data -- 1000000` sets the number of operations; `cargo test --benches` runs it tiny. Prints
//! a sum over what was read, so that the work can't be optimised away or change unnoticed.

use clock::{Clock, ClockChoice, LiveClock};
use store::{Change, Data, Key, NodeId, Replication, ReplicationSettings, Value, View};
use units::{Nanos, Seed};

const KEYS: u64 = 10_000;
/// 20,000 operations a second, half of them writes.
const GAP: Nanos = Nanos::from_micros(50);

fn key(number: u64) -> Key {
    Key { space: Box::default(), key: format!("user{number:012}").into_bytes().into() }
}

fn row(number: u64) -> Value {
    let field = |index: u64| (format!("field{index}").into_bytes(), vec![(number % 251) as u8; 100]);
    Value::Hash((0..10).map(field).collect())
}

struct Costs {
    write: f64,
    update: f64,
    read: f64,
    missed: u64,
}

fn measure(clock: LiveClock, replicas: u8, delay: &str, hot: u64, count: u64) -> Costs {
    let delays = vec![delay.parse().expect("a delay")];
    let settings = ReplicationSettings { replicas, delays, ..Default::default() };
    let replication = Replication::new(settings, Seed(1)).expect("they fit");
    let mut data = Data::with_delays(replication.delays().clone());
    let keys: Vec<Key> = (0..KEYS).map(key).collect();
    let mut number = 0;
    let mut view = |node| {
        number += 1;
        View { at: Nanos(number * GAP.0), node: NodeId(node), number }
    };
    for key in &keys {
        data.write(view(0), key.clone(), Some(row(0)));
    }
    let mut rng = Seed(2).rng();
    let mut costs = Costs { write: 0.0, update: 0.0, read: 0.0, missed: 0 };
    let per = |begin: u64| clock.nanos_in(clock.now().0 - begin).0 as f64 / count as f64;
    for _ in 0..count {
        let key = &keys[rng.below(hot) as usize];
        let copy = key.clone();
        let value = Some(Value::Text(vec![7; 100]));
        let (writer, reader, updater) = (view(0), view(replicas - 1), view(0));
        let begin = clock.now().0;
        data.write(writer, copy, value);
        costs.write += per(begin);
        let begin = clock.now().0;
        costs.missed += u64::from(data.read(reader, key).1.versions);
        costs.read += per(begin);
        let begin = clock.now().0;
        let changed = data.update(updater, key, |value| match value {
            Value::Text(text) => {
                text[0] = text[0].wrapping_add(1);
                (Change::Changed, true)
            }
            _ => (Change::Unchanged, false),
        });
        costs.update += per(begin);
        costs.missed += u64::from(changed == Some(true));
    }
    costs
}

fn main() {
    let asked = std::env::args().skip(1).find_map(|a| a.parse::<u64>().ok());
    let is_bench = std::env::args().any(|a| a == "--bench");
    let count = asked.unwrap_or(if is_bench { 300_000 } else { 2_000 });
    let clock = clock::calibrate(ClockChoice::Auto).expect("automatic choice").start();
    println!(
        "{count} rounds of write, read at the last node, update; 20,000/s; ns each with the stopwatch's"
    );
    println!("| nodes | delay | keys | write | read | update | versions missed |");
    println!("|---|---|---|---|---|---|---|");
    for (replicas, delay, hot) in [
        (1, "0", KEYS),
        (3, "0", KEYS),
        (3, "50ms", KEYS),
        (3, "exp:50ms", KEYS),
        (3, "50ms", 1),
        (3, "exp:50ms", 1),
        (3, "1s", 1),
    ] {
        let Costs { write, update, read, missed } = measure(clock, replicas, delay, hot, count);
        println!("| {replicas} | {delay} | {hot} | {write:.0} | {read:.0} | {update:.0} | {missed} |");
    }
}
