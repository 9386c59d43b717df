//! YCSB on a store without SQL: a real Redis, laid out as YCSB's binding lays it.

use driver::{Administration, Dialect, Direct, Session, Target, TargetUrl};
use driver_redis::{RedisSession, RedisTarget};
use testkit::alloc::{CountingAlloc, counted};
use testkit::redis::{Options, Server, server};
use units::{Outcome, Seed};
use workload::dataset::{Loader, Status, check_dataset, drop_dataset, status};
use workload::users::NOBODY;
use workload::ycsb::{Ycsb, YcsbConfig};
use workload::{OpId, Request, Workload};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

const NAMES: [&str; 7] = ["ycsb", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"];

fn ycsb(name: &str, overrides: &[(&str, &str)]) -> Ycsb {
    let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Ycsb::new(YcsbConfig::from_name(name, 0.5, Seed(1), &overrides).unwrap()).unwrap()
}

struct Store {
    server: Server,
    target: RedisTarget,
}

impl Store {
    fn new() -> Option<Store> {
        let server = server(&Options::default())?;
        let target = RedisTarget::from_url(&TargetUrl::parse(&server.tcp_url()).unwrap()).unwrap();
        Some(Store { server, target })
    }

    fn administer(&self) -> Box<dyn Administration> {
        self.target.administer().unwrap()
    }

    fn load(&self, ycsb: &Ycsb) {
        let connect = || self.target.administer();
        let loader =
            Loader { connect: &connect, dialect: Dialect::KeyValue, connections: 2, progress: &|_| () };
        loader.load(ycsb.dataset().unwrap()).unwrap();
    }

    fn cleanup(&self, ycsb: &Ycsb) {
        drop_dataset(&mut *self.administer(), ycsb.dataset().unwrap()).unwrap();
        assert_eq!(self.server.ask(&["DBSIZE"]).unwrap(), ":0\r\n", "nothing is left");
    }

    fn assert_sound(&self, ycsb: &Ycsb) {
        for result in self.checks(ycsb) {
            assert!(result.passed, "{}: {}", result.name, result.detail);
        }
    }

    fn checks(&self, ycsb: &Ycsb) -> Vec<workload::dataset::CheckResult> {
        check_dataset(&mut *self.administer(), ycsb.dataset().unwrap(), Dialect::KeyValue).unwrap()
    }

    fn session(&self, ycsb: &Ycsb) -> RedisSession {
        let statements = ycsb.statements(Dialect::KeyValue).unwrap();
        self.target.connect(&statements, None).unwrap()
    }

    /// Requests of all operations that have a weight, in turns; gives how many missed.
    fn run(&self, ycsb: &Ycsb, requests: u64) -> u64 {
        Running::new(ycsb).run(ycsb, &mut self.session(ycsb), requests)
    }
}

struct Running {
    tickets: Box<dyn workload::Tickets>,
    plan: workload::ycsb::Plan,
    operations: Vec<(OpId, f64)>,
    seq: u64,
}

impl Running {
    fn new(ycsb: &Ycsb) -> Running {
        let operations = ycsb.operations().into_iter().enumerate();
        let operations = operations.map(|(index, operation)| (OpId(index as u8), operation.weight)).collect();
        Running { tickets: ycsb.tickets(), plan: ycsb.new_plan(), operations, seq: 0 }
    }

    fn run(&mut self, ycsb: &Ycsb, session: &mut RedisSession, requests: u64) -> u64 {
        let total: f64 = self.operations.iter().map(|(_, weight)| weight).sum();
        let mut missed = 0;
        for seq in self.seq..self.seq + requests {
            let mut left = Seed(7).at(seq).unit() * total;
            let found = self.operations.iter().find(|(_, weight)| {
                left -= weight;
                left < 0.0
            });
            let op = found.unwrap().0;
            let ticket = self.tickets.next(seq, op);
            ycsb.plan(Request { seq, op, ticket, user: NOBODY }, &mut self.plan);
            let mut direct = Direct::new(session);
            match Direct::<RedisSession>::run(ycsb.run(&self.plan, &mut direct)) {
                Ok(Outcome::Ok) => {}
                Ok(Outcome::Miss) => missed += 1,
                other => panic!("request {seq}, {}: {other:?} {:?}", self.plan, session.last_error()),
            }
        }
        self.seq += requests;
        missed
    }
}

#[test]
fn every_family_is_loaded_runs_without_a_miss_stays_sound_and_goes() {
    let Some(store) = Store::new() else { return };
    for name in NAMES {
        let ycsb = ycsb(name, &[]);
        store.load(&ycsb);
        store.assert_sound(&ycsb);
        assert_eq!(store.run(&ycsb, 5_000), 0, "{name}");
        store.assert_sound(&ycsb);
        store.cleanup(&ycsb);
    }
}

#[test]
fn records_lie_as_ycsb_s_binding_lays_them() {
    let Some(store) = Store::new() else { return };
    let ycsb = ycsb("ycsb-a", &[("recordcount", "1"), ("fieldcount", "2"), ("fieldlength", "3")]);
    store.load(&ycsb);
    // Record 0: its key is YCSB's hash of 0, and the score is what `"user6284781860667377211".hashCode()` gives in Java.
    assert_eq!(
        store.server.ask(&["ZSCORE", "_indices", "user6284781860667377211"]).unwrap(),
        "$10\r\n-594971599\r\n"
    );
    assert_eq!(store.server.ask(&["HLEN", "user6284781860667377211"]).unwrap(), ":2\r\n");
    for field in ["field0", "field1"] {
        assert_eq!(store.server.ask(&["HSTRLEN", "user6284781860667377211", field]).unwrap(), ":3\r\n");
    }
}

#[test]
fn single_fields_and_wide_records_run_as_well() {
    let Some(store) = Store::new() else { return };
    let overrides = [
        ("fieldcount", "12"),
        ("fieldlength", "30"),
        ("fieldlengthdistribution", "uniform"),
        ("readallfields", "false"),
        ("readproportion", "1"),
        ("updateproportion", "1"),
        ("insertproportion", "1"),
        ("scanproportion", "1"),
        ("readmodifywriteproportion", "1"),
    ];
    let ycsb = ycsb("ycsb-a", &overrides);
    store.load(&ycsb);
    assert_eq!(store.run(&ycsb, 3_000), 0);
    store.assert_sound(&ycsb);
}

#[test]
fn a_second_run_takes_over_where_the_first_ended() {
    let Some(store) = Store::new() else { return };
    for name in ["ycsb", "ycsb-d"] {
        let mut ycsb = ycsb(name, &[]);
        store.load(&ycsb);
        for _ in 0..2 {
            ycsb.observe(&mut *store.administer()).unwrap();
            let there = store.server.ask(&["ZCARD", "_indices"]).unwrap();
            assert_eq!(store.run(&ycsb, 5_000), 0, "{name}");
            store.assert_sound(&ycsb);
            // Of the CoreWorkload every insert is one more: an insert on top of a record would not be.
            if name == "ycsb-d" {
                let inserted = ycsb_inserts(&ycsb, 5_000);
                let before: u64 = there[1..].trim_end().parse().unwrap();
                let now = store.server.ask(&["ZCARD", "_indices"]).unwrap();
                assert_eq!(now, format!(":{}\r\n", before + inserted));
            }
        }
        store.cleanup(&ycsb);
    }
}

/// How many of so many requests insert: the last ticket counts those before.
fn ycsb_inserts(ycsb: &Ycsb, requests: u64) -> u64 {
    let running = Running::new(ycsb);
    let total: f64 = running.operations.iter().map(|(_, weight)| weight).sum();
    let read = running.operations[0].1;
    (0..requests).filter(|seq| Seed(7).at(*seq).unit() * total >= read).count() as u64
}

#[test]
fn no_request_allocates_in_steady_state() {
    let Some(store) = Store::new() else { return };
    for name in ["ycsb", "ycsb-a", "ycsb-e", "ycsb-f"] {
        let ycsb = ycsb(name, &[("maxscanlength", "20")]);
        store.load(&ycsb);
        let (mut running, mut session) = (Running::new(&ycsb), store.session(&ycsb));
        running.run(&ycsb, &mut session, 2_000);
        let (missed, counts) = counted(|| running.run(&ycsb, &mut session, 2_000));
        assert_eq!((missed, counts.total()), (0, 0), "{name}");
        store.cleanup(&ycsb);
    }
}

#[test]
fn a_broken_data_set_does_not_pass() {
    let Some(store) = Store::new() else { return };
    let ycsb = ycsb("ycsb-a", &[("recordcount", "50")]);
    let damages: [(&[&str], &str); 4] = [
        (&["DEL", "user6284781860667377211"], "no loaded key is missing"),
        (&["HDEL", "user6284781860667377211", "field3"], "every field"),
        (&["HSET", "user6284781860667377211", "field3", "short"], "every field"),
        (&["ZREM", "_indices", "user6284781860667377211"], "usertable has its rows"),
    ];
    for (damage, expected) in damages {
        store.load(&ycsb);
        store.assert_sound(&ycsb);
        assert_eq!(store.server.ask(damage).unwrap(), if damage[0] == "HSET" { ":0\r\n" } else { ":1\r\n" });
        let failed: Vec<_> = store.checks(&ycsb).into_iter().filter(|result| !result.passed).collect();
        assert!(failed.iter().any(|result| result.name.starts_with(expected)), "{damage:?}: {failed:?}");
    }
}

#[test]
fn what_truetail_did_not_make_is_left_alone() {
    let Some(store) = Store::new() else { return };
    store.server.ask(&["ZADD", "_indices", "1", "mine"]).unwrap();
    let ycsb = ycsb("ycsb-a", &[]);
    let found = status(&mut *store.administer(), ycsb.dataset().unwrap()).unwrap();
    assert_eq!(found, Status::Foreign { table: "usertable".to_owned() });
    drop_dataset(&mut *store.administer(), ycsb.dataset().unwrap()).unwrap_err();
    assert_eq!(store.server.ask(&["ZCARD", "_indices"]).unwrap(), ":1\r\n");
}

#[test]
fn a_load_that_was_cut_short_goes_on() {
    let Some(store) = Store::new() else { return };
    // Three parts; of two connections that fill, one gets none.
    let ycsb = ycsb("ycsb-a", &[("recordcount", "250000"), ("fieldcount", "1"), ("fieldlength", "1")]);
    let connect = || store.target.administer();
    let connections = std::sync::atomic::AtomicU32::new(0);
    let refusing = || {
        // The first connection is for the marker, the second one fills.
        let number = connections.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if number > 1 { Err(driver::ConnectError::transient("no more")) } else { store.target.administer() }
    };
    let loader = Loader { connect: &refusing, dialect: Dialect::KeyValue, connections: 2, progress: &|_| () };
    loader.load(ycsb.dataset().unwrap()).unwrap_err();
    assert_eq!(status(&mut *store.administer(), ycsb.dataset().unwrap()).unwrap(), Status::Incomplete);
    let loader = Loader { connect: &connect, dialect: Dialect::KeyValue, connections: 2, progress: &|_| () };
    let loading = loader.load(ycsb.dataset().unwrap()).unwrap();
    assert_eq!(loading.found + loading.written, 250_000);
    store.assert_sound(&ycsb);
}
