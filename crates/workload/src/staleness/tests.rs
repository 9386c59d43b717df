//! Probes of a store whose lag is planted, on a clock of their own.

use super::*;
use driver::{Direct, Reply, ValueRef};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use units::{Outcome, Seed};

/// The world: a clock, and a store in which a version is visible some time after it was written.
struct World {
    now: Cell<u64>,
    /// (version, when it is visible), in the order of writing.
    versions: RefCell<Vec<(i64, u64)>>,
    /// From when a write is made to when it is visible.
    lag: u64,
    /// Bounds of each trip, there or back.
    trips: (u64, u64),
    rng: RefCell<units::Rng>,
    /// The exchange, counted from 0, that fails, and how.
    fails: Option<(u32, OpError)>,
    exchanges: Cell<u32>,
    over_at: u64,
    pauses: RefCell<Vec<u64>>,
}

impl World {
    fn new(lag: u64, trips: (u64, u64)) -> World {
        World {
            now: Cell::new(1_000),
            versions: RefCell::new(vec![(1, 0)]),
            lag,
            trips,
            rng: RefCell::new(Seed(lag ^ trips.1).rng()),
            fails: None,
            exchanges: Cell::new(0),
            over_at: u64::MAX,
            pauses: RefCell::new(Vec::new()),
        }
    }

    fn pass(&self, nanos: u64) {
        self.now.set(self.now.get() + nanos);
    }

    fn trip(&self) {
        let (least, most) = self.trips;
        self.pass(least + self.rng.borrow_mut().below(most - least + 1));
    }

    fn probe(&self, dialect: Dialect, version: i64) -> Result<Seen, ProbeError> {
        let probe = Probe::new(dialect, 0).unwrap();
        let (mut writer, mut reader) = (Line::of(self), Line::of(self));
        Direct::<Nobody>::run(probe.run(version, &mut writer, &mut reader, self))
    }

    /// The planted lag as the probe counts it: from its own acknowledgement.
    fn lag_of(&self, version: i64, seen: &Seen) -> u64 {
        let versions = self.versions.borrow();
        let visible = versions.iter().find(|(number, _)| *number == version).unwrap().1;
        visible.saturating_sub(seen.acknowledged.0)
    }
}

impl Watch for World {
    fn now(&self) -> Nanos {
        Nanos(self.now.get())
    }

    async fn pause(&self, gap: Nanos) {
        self.pauses.borrow_mut().push(gap.0);
        // Sleepers wake late.
        self.pass(gap.0 + self.rng.borrow_mut().below(60_000));
    }

    fn is_over(&self) -> bool {
        self.now.get() >= self.over_at
    }
}

enum Asked {
    Write(i64),
    Read,
}

/// One session with the store of a [`World`].
struct Line<'a> {
    world: &'a World,
    asked: Option<Asked>,
    found: Option<String>,
    number: Option<i64>,
    affected: u64,
}

impl<'a> Line<'a> {
    fn of(world: &'a World) -> Line<'a> {
        Line { world, asked: None, found: None, number: None, affected: 0 }
    }
}

impl Conversation for Line<'_> {
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        self.asked = Some(match command {
            Command::KeyValue(KeyValue::Update {
                key: "truetail:staleness",
                fields: [(FIELD, text)],
                ..
            }) => Asked::Write(text.parse().unwrap()),
            Command::KeyValue(KeyValue::Read {
                key: "truetail:staleness",
                fields: Fields::One(FIELD),
                ..
            })
            | Command::Statement { index: READ, arguments: [Value::Text("truetail:staleness")] } => {
                Asked::Read
            }
            Command::Statement {
                index: WRITE,
                arguments: [Value::Int(version), Value::Text("truetail:staleness")],
            } => Asked::Write(*version),
            other => panic!("not what a probe asks: {other:?}"),
        });
        (self.found, self.number) = (None, None);
        Ok(())
    }

    async fn exchange(&mut self) -> Result<(), OpError> {
        let world = self.world;
        let number = world.exchanges.get();
        world.exchanges.set(number + 1);
        world.trip();
        if let Some((_, error)) = world.fails.filter(|(at, _)| *at == number) {
            return Err(error);
        }
        let now = world.now.get();
        match self.asked.take().unwrap() {
            Asked::Write(version) => {
                world.versions.borrow_mut().push((version, now + world.lag));
                self.affected = 1;
            }
            Asked::Read => {
                let versions = world.versions.borrow();
                let visible = versions.iter().rev().find(|(_, at)| *at <= now);
                self.number = visible.map(|(version, _)| *version);
                self.found = self.number.map(|version| version.to_string());
            }
        }
        world.trip();
        Ok(())
    }

    fn reply(&self, _command: usize) -> Reply {
        Reply { rows: 0, affected: self.affected }
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        assert_eq!((command, row, column), (0, 0, 0));
        // One store in two dialects: the number's parity says which, so that both are met.
        match self.number {
            Some(number) if number % 2 == 0 => Some(Value::Int(number)),
            _ => self.found.as_deref().map(Value::Text),
        }
    }
}

/// [`Direct::run`] is of a session type, and needs none.
struct Nobody;

impl driver::Session for Nobody {
    fn descriptor(&self) -> Option<i32> {
        None
    }
    fn stage(&mut self, _command: Command<'_>) -> Result<(), OpError> {
        Ok(())
    }
    fn poll_reply(&mut self) -> std::task::Poll<Result<(), OpError>> {
        std::task::Poll::Ready(Ok(()))
    }
    fn reply(&self, _command: usize) -> Reply {
        Reply::default()
    }
    fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<ValueRef<'_>> {
        None
    }
    fn arrived(&self) -> Option<driver::KernelStamp> {
        None
    }
    fn last_error(&self) -> Option<String> {
        None
    }
}

proptest! {
    /// Whatever the network does, the planted lag lies between the bounds, and they are as near as reads are close.
    #[test]
    fn the_bounds_contain_the_planted_lag(
        lag in prop_oneof![0_u64..300_000, 0_u64..100_000_000, 0_u64..9_000_000_000],
        trips in (1_u64..200_000, 0_u64..500_000),
        sql in any::<bool>(),
    ) {
        let world = World::new(lag, (trips.0, trips.0 + trips.1));
        let dialect = if sql { Dialect::Postgres } else { Dialect::KeyValue };
        for version in 2..5 {
            let seen = world.probe(dialect, version).unwrap();
            let planted = world.lag_of(version, &seen);
            let (least, most) = (seen.at_least().0, seen.at_most().unwrap().0);
            prop_assert!(least <= planted && planted <= most, "{least} ≤ {planted} ≤ {most}");
            prop_assert_eq!(seen.reads == 1, seen.last_stale.is_none(), "{:?}", seen);
            prop_assert!(planted > 0 || seen.reads == 1, "nothing is stale without a lag: {seen:?}");
            // Two reads and the gap between them lie between the bounds: no more.
            let widest = 4 * (trips.0 + trips.1) + 160_000 + most / 50;
            prop_assert!(most - least <= widest, "{} wide, not {widest}", most - least);
        }
    }
}

#[test]
fn gaps_grow_with_what_has_passed_and_are_never_short() {
    let world = World::new(1_000_000_000, (20_000, 20_000));
    let seen = world.probe(Dialect::KeyValue, 2).unwrap();
    let pauses = world.pauses.borrow();
    assert_eq!(pauses[0], 100_000);
    assert!(pauses.windows(2).all(|pair| pair[0] <= pair[1]), "{pauses:?}");
    let last = *pauses.last().unwrap();
    assert!((19_000_000..=20_000_000).contains(&last), "{last}");
    // From 5 ms on, where 2 % are 100 µs, to 1 s: ln 200 / 0.02 = 265 reads; before, a read each 0.2 ms.
    assert!((250..330).contains(&seen.reads), "{} reads", seen.reads);
}

#[test]
fn a_version_that_is_never_seen_is_known_from_below_alone() {
    let world = World::new(u64::MAX / 2, (20_000, 20_000));
    let seen = world.probe(Dialect::Postgres, 2).unwrap();
    assert_eq!((seen.fresh, seen.at_most()), (None, None));
    let least = seen.at_least();
    assert!(least > Nanos::from_secs(9) && least <= LIMIT, "{least}");
}

#[test]
fn the_end_of_the_run_ends_a_probe_with_what_it_knows() {
    let world = World { over_at: 5_000_000, ..World::new(1_000_000_000, (20_000, 20_000)) };
    let seen = world.probe(Dialect::KeyValue, 2).unwrap();
    assert_eq!(seen.at_most(), None);
    assert!(seen.reads > 5 && seen.at_least() > Nanos::from_millis(4), "{seen:?}");
    let ended = World { over_at: 0, ..World::new(0, (20_000, 20_000)) };
    let seen = ended.probe(Dialect::KeyValue, 2).unwrap();
    assert_eq!((seen.reads, seen.at_least(), seen.at_most()), (0, Nanos::ZERO, None));
}

#[test]
fn a_later_version_is_fresh_too_and_a_missing_record_is_stale() {
    let world = World::new(0, (20_000, 20_000));
    world.versions.borrow_mut().push((9, 0));
    world.versions.borrow_mut().swap(0, 1);
    assert_eq!(world.probe(Dialect::KeyValue, 2).unwrap().reads, 1);
    let empty = World::new(3_000_000, (20_000, 20_000));
    empty.versions.borrow_mut().clear();
    let seen = empty.probe(Dialect::KeyValue, 2).unwrap();
    assert!(seen.at_least().0 > 2_700_000 && seen.at_most().unwrap().0 >= 2_980_000, "{seen:?}");
}

#[test]
fn failures_say_which_side_failed() {
    let (busy, lost) = (OpError::refused(Outcome::Busy), OpError::lost(Outcome::ConnectionLost));
    let failing = |at, error| World { fails: Some((at, error)), ..World::new(5_000_000, (20_000, 20_000)) };
    let written = failing(0, busy).probe(Dialect::Postgres, 2).unwrap_err();
    assert_eq!(written, ProbeError::Failed(Side::Writer, busy));
    let read = failing(3, lost).probe(Dialect::KeyValue, 2).unwrap_err();
    assert_eq!(read, ProbeError::Failed(Side::Reader, lost));
    assert_eq!(read.to_string(), "its read: connection-lost");
}

#[test]
fn each_load_machine_has_a_record_of_its_own() {
    let names = |client| {
        let probe = Probe::new(Dialect::Sqlite, client).unwrap();
        (probe.record().to_owned(), probe.statements()[WRITE].sql.clone())
    };
    assert_eq!(names(0).0, "truetail:staleness");
    assert_eq!(names(0).1, "UPDATE truetail_staleness SET version = ?1 WHERE name = ?2");
    assert_eq!(names(3).0, "truetail:staleness:3");
    assert!(names(3).1.starts_with("UPDATE truetail_staleness_3 "));
    assert!(Probe::new(Dialect::Null, 0).unwrap_err().contains("keeps nothing"));
}
