//! Probes of the read-after-write lag, laid over the log of a store whose every visibility is planted.

mod planted;

use analysis::facts;
use analysis::overlay::{Overlay, OverlayLag, OverlayOptions, OverlayStatistic, overlay};
use planted::{MS, Planted, S, Scenario, Scratch, US};
use record::{NoiseObservation, NoiseSourceFacts, TruthRow, TruthStaleness, key_hash};
use units::{Instant, Nanos, Quantile, Rng, Seed};

const RECORD: &str = "truetail:staleness";
/// Index of the operations in the planted log's header.
const READ: u8 = 0;
const UPDATE: u8 = 1;

/// A store of some nodes, and a client that probes it beside a load.
struct World {
    /// How long a version takes to each node but the first, ns.
    delays: Vec<u64>,
    /// Nodes that reads go to, in turn.
    readers: Vec<u8>,
    probes: u64,
    /// Least time of a way, and what may be added, ns.
    trips: (u64, u64),
    rng: Rng,
    planted: Planted,
    offset: u64,
}

impl World {
    fn new(delays: &[u64], readers: &[u8]) -> World {
        let scenario = Scenario::calm(5);
        let mut planted = scenario.play();
        let settings = &mut planted.truth_header.settings;
        if !delays.is_empty() {
            settings.push(("replicas".to_owned(), (delays.len() + 1).to_string()));
        }
        planted.header.capabilities.push((format!("{}{RECORD}", facts::PROBE_OF), "asked".to_owned()));
        for name in [facts::LAG_AT_LEAST, facts::LAG_AT_MOST, facts::PROBES_FAILED] {
            let (name, unit) = (name.to_owned(), "ns".to_owned());
            planted.noise_sources.push(NoiseSourceFacts { name, unit, available: Ok(0) });
        }
        World {
            delays: delays.to_vec(),
            readers: readers.to_vec(),
            probes: 40,
            trips: (10 * US, 40 * US),
            rng: Seed(17).rng(),
            planted,
            offset: scenario.offset,
        }
    }

    fn trip(&mut self) -> u64 {
        self.trips.0 + self.rng.below(self.trips.1)
    }

    /// One row of the log, answered as soon as it begins.
    fn row(&mut self, at: u64, operation: u8, node: u8, staleness: TruthStaleness) {
        let at = Instant(at);
        let seq = self.planted.rows.len() as u64;
        self.planted.rows.push(TruthRow {
            arrived: at,
            begun: at,
            due: at,
            written: at,
            seq,
            connection: 900 + u32::from(operation),
            number: seq as u32,
            operation,
            node,
            staleness: Some(staleness),
            key: Some(key_hash(b"", RECORD.as_bytes())),
            ..TruthRow::EMPTY
        });
        self.planted.sample_of.push(None);
    }

    /// Probes as the client makes them; the true lags.
    fn play(&mut self) -> Vec<u64> {
        (0..self.probes).map(|number| self.probe(self.offset + 20 * MS + number * 45 * MS)).collect()
    }

    fn probe(&mut self, begin: u64) -> u64 {
        let written = begin + self.trip();
        let spread = self.delays.iter().copied().max().unwrap_or(0);
        self.row(written, UPDATE, 0, TruthStaleness { versions: 0, time: Nanos(0), age: Nanos(spread) });
        let acknowledged = written + self.trip();
        let (mut sent, mut last_stale) = (acknowledged, None);
        let mut turn = 0;
        let (completed, node) = loop {
            let node = self.readers[turn % self.readers.len()];
            turn += 1;
            let looks = sent + self.trip();
            let visible = written + usize::from(node).checked_sub(1).map_or(0, |n| self.delays[n]);
            let fresh = looks >= visible;
            let time = Nanos(if fresh { 0 } else { looks - written });
            let versions = u32::from(!fresh);
            self.row(looks, READ, node, TruthStaleness { versions, time, age: Nanos(looks - written) });
            let completed = looks + self.trip();
            if fresh {
                break (completed, node);
            }
            last_stale = Some(sent);
            sent = completed + 100 * US + (completed - acknowledged) / 50;
        };
        let at_least = last_stale.map_or(0, |sent| sent - acknowledged);
        self.observe(acknowledged, completed, at_least, Some(completed - acknowledged));
        let visible = written + usize::from(node).checked_sub(1).map_or(0, |n| self.delays[n]);
        visible.saturating_sub(acknowledged)
    }

    fn observe(&mut self, acknowledged: u64, ended: u64, at_least: u64, at_most: Option<u64>) {
        let (begin, end) = (Instant(acknowledged - self.offset), Instant(ended - self.offset));
        let bounds = [Some(at_least), at_most];
        for (source, value) in bounds.into_iter().enumerate().filter_map(|(n, v)| Some((n as u16, v?))) {
            let value = value as f64;
            self.planted.noise.push(NoiseObservation { source, value, begin, end });
        }
    }

    fn laid(&self) -> Overlay {
        let scratch = Scratch::new("lag");
        let (recording, truth) = self.planted.open(&scratch);
        overlay(&[recording], &truth, &OverlayOptions::default()).unwrap()
    }

    fn lag(&self) -> OverlayLag {
        self.laid().lag.expect("it has probes")
    }

    /// Changes what probe `number` claims of one of its bounds.
    fn falsify(&mut self, number: usize, source: u16, change: impl Fn(f64) -> f64) {
        let mut of_source = self.planted.noise.iter_mut().filter(|one| one.source == source);
        let one = of_source.nth(number).unwrap();
        one.value = change(one.value);
    }
}

fn counts(lag: &OverlayLag) -> (u64, u64, u64, u64) {
    (lag.probes, lag.graded, lag.exact, lag.contained)
}

fn value(list: &[(OverlayStatistic, Nanos)], q: f64) -> u64 {
    let wanted = Quantile::new(q).filter(|q| q.get() < 1.0);
    let wanted = wanted.map_or(OverlayStatistic::Max, OverlayStatistic::Quantile);
    list.iter().find(|(statistic, _)| *statistic == wanted).unwrap().1.0
}

#[test]
fn intervals_of_two_nodes_contain_the_planted_lags_which_are_stated() {
    let mut world = World::new(&[20 * MS], &[1]);
    let mut truth = world.play();
    let lag = world.lag();
    assert_eq!(counts(&lag), (40, 40, 40, 40));
    truth.sort_unstable();
    let near = |found: u64, expected: u64| found.abs_diff(expected) <= expected / 4_000 + 1;
    assert!(near(value(&lag.truth, 0.5), truth[19]), "{lag:?}, {truth:?}");
    assert_eq!(value(&lag.truth, 1.0), truth[39]);
    for q in [0.5, 0.95, 0.99, 1.0] {
        let (least, true_lag, most) = (value(&lag.at_least, q), value(&lag.truth, q), value(&lag.at_most, q));
        assert!(least <= true_lag && true_lag <= most, "{least} {true_lag} {most}");
    }
    // A gap of 0.4 to 0.5 ms, and four trips of at most 50 µs.
    let width = lag.width_mean.unwrap();
    assert!(width > 0.4e6 && width < 0.8e6, "{width}");
}

#[test]
fn reads_of_the_node_that_writes_have_no_lag() {
    for (delays, readers) in [(&[][..], &[0][..]), (&[20 * MS], &[0])] {
        let mut world = World::new(delays, readers);
        assert!(world.play().iter().all(|lag| *lag == 0));
        let lag = world.lag();
        assert_eq!(counts(&lag), (40, 40, 40, 40));
        assert_eq!((value(&lag.truth, 1.0), value(&lag.at_least, 1.0)), (0, 0));
        assert!(value(&lag.at_most, 1.0) <= 100 * US);
    }
}

/// After a stall of the host the next probes follow each other at once: what is of which is told by less than the tolerance.
#[test]
fn probes_that_follow_each_other_at_once_are_told_apart() {
    for (delays, reader) in [(&[20 * MS][..], 1), (&[20 * MS], 0), (&[], 0)] {
        let mut world = World::new(delays, &[reader]);
        world.trips = (4 * US, 8 * US);
        let mut begin = world.offset + 20 * MS;
        for _ in 0..40 {
            world.probe(begin);
            let ended = world.planted.noise.last().expect("a probe").end.0 + world.offset;
            begin = ended + 2 * US;
        }
        assert_eq!(counts(&world.lag()), (40, 40, 40, 40), "{delays:?} {reader}");
    }
}

/// Node 2 is far behind node 1, so that the time until all nodes show a version is not that of the one which is read.
#[test]
fn of_three_nodes_reads_decide() {
    let mut world = World::new(&[20 * MS, 90 * MS], &[1]);
    world.play();
    assert_eq!(counts(&world.lag()), (40, 40, 0, 40));
    // Where reads alternate, the first fresh one is at the faster node.
    let mut world = World::new(&[20 * MS, 90 * MS], &[1, 2]);
    world.play();
    let lag = world.lag();
    assert_eq!(counts(&lag), (40, 40, 0, 40));
    assert!(lag.truth.is_empty());
}

#[test]
fn bounds_that_are_wrong_by_more_than_the_tolerance_are_told() {
    let honest = || {
        let mut world = World::new(&[20 * MS], &[1]);
        world.play();
        world
    };
    type Change = fn(f64) -> f64;
    let wrong: [(u16, Change); 4] = [
        (0, |_| 25e6),
        (1, |_| 15e6),
        (0, |least| least + 2e6),
        // Below the last stale read, too: no fresh read can have been completed by then.
        (1, |most| most - 2e6),
    ];
    for (source, change) in wrong {
        let mut world = honest();
        world.falsify(7, source, change);
        world.falsify(30, source, change);
        assert_eq!(counts(&world.lag()), (40, 40, 40, 38), "source {source}");
    }
    // Three nodes: by reads alone.
    for (source, change) in wrong {
        let mut world = World::new(&[20 * MS, 90 * MS], &[1]);
        world.play();
        world.falsify(7, source, change);
        assert_eq!(counts(&world.lag()), (40, 40, 0, 39), "source {source}");
    }
    // Within the tolerance clocks may differ.
    let mut world = honest();
    world.falsify(7, 1, |most| most - 20e3);
    assert_eq!(counts(&world.lag()), (40, 40, 40, 40));
}

#[test]
fn a_store_that_calls_a_read_fresh_which_the_client_found_stale_is_told() {
    let mut world = World::new(&[20 * MS], &[1]);
    world.play();
    for row in world.planted.rows.iter_mut().filter(|row| row.connection == 900 + u32::from(READ)) {
        row.staleness = Some(TruthStaleness { versions: 0, time: Nanos(0), age: Nanos(0) });
    }
    assert_eq!(world.lag().contained, 0);
}

#[test]
fn a_write_that_is_never_seen_needs_no_fresh_read_and_must_not_have_one() {
    let mut world = World::new(&[20 * MS], &[1]);
    world.play();
    let at = world.offset + 1_900 * MS;
    let age = Nanos(60 * S);
    world.row(at, UPDATE, 0, TruthStaleness { versions: 0, time: Nanos(0), age });
    let stale = TruthStaleness { versions: 1, time: Nanos(9 * MS), age: Nanos(S) };
    world.row(at + 9 * MS, READ, 1, stale);
    world.observe(at + 30 * US, at + 10 * MS, 8 * MS, None);
    assert_eq!(counts(&world.lag()), (41, 41, 40, 41));
    world.row(at + 9_500 * US, READ, 1, TruthStaleness { versions: 0, ..stale });
    assert_eq!(world.lag().contained, 40);
}

#[test]
fn probes_of_which_the_log_knows_nothing_are_not_graded() {
    let mut world = World::new(&[20 * MS], &[1]);
    world.play();
    for row in &mut world.planted.rows {
        row.key = row.key.map(|key| key ^ 1);
    }
    let lag = world.lag();
    assert_eq!(counts(&lag), (40, 0, 0, 0));
    assert_eq!(lag.width_mean, None);
}

/// The load's requests are paired as if nobody probed, and writes are no reads.
#[test]
fn probes_do_not_disturb_the_pairing_of_the_load() {
    let mut world = World::new(&[20 * MS], &[1]);
    let alone = world.laid();
    assert_eq!(alone.lag, None);
    world.play();
    let beside = world.laid();
    assert_eq!((beside.requests, &beside.measures), (alone.requests, &alone.measures));
    assert_eq!(beside.rows.outside, alone.rows.outside);
    assert_eq!(beside.staleness, alone.staleness);
    // Writes say in how long they are everywhere; that makes them no fresh reads.
    for row in world.planted.rows.iter_mut().filter(|row| row.connection < 900 && row.operation == UPDATE) {
        row.staleness = Some(TruthStaleness { versions: 0, time: Nanos(0), age: Nanos(MS) });
    }
    assert_eq!(world.laid().staleness, alone.staleness);
}
