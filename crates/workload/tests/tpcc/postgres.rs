//! TPC-C on a real PostgreSQL.

use crate::conditions::{DEFECTS, Defect, assert_defects_are_found};
use crate::support::{assert_sound, load, number, request, run_one, session, small};
use driver::{Direct, Isolation, OpError, Target, TargetUrl};
use driver_postgres::PostgresTarget;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::postgres::{Options, server};
use units::Outcome;
use workload::tpcc::Tpcc;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

fn target(url: &str) -> PostgresTarget {
    PostgresTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// Runs `count` requests over some sessions at once; how many ended how.
fn run(
    target: &PostgresTarget,
    tpcc: &Tpcc,
    isolation: Option<Isolation>,
    count: u64,
    request: &(dyn Fn(u64) -> Request + Sync),
) -> BTreeMap<Outcome, u64> {
    let next = AtomicU64::new(0);
    let statements = tpcc.statements(target.dialect()).unwrap();
    let work = || {
        let mut session = target.connect(&statements, isolation).unwrap();
        let mut ended: BTreeMap<Outcome, u64> = BTreeMap::new();
        loop {
            let seq = next.fetch_add(1, Ordering::Relaxed);
            if seq >= count {
                return ended;
            }
            let outcome = match run_one(tpcc, request(seq), &mut session) {
                Ok(outcome) => outcome,
                Err(OpError { outcome, session_usable: true }) => outcome,
                Err(error) => panic!("{error:?}: {:?}", driver::Session::last_error(&session)),
            };
            *ended.entry(outcome).or_default() += 1;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(work)).collect();
        let mut all = BTreeMap::new();
        for (outcome, count) in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            *all.entry(outcome).or_default() += count;
        }
        all
    })
}

#[test]
fn sessions_side_by_side_leave_sound_data() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    for (roundtrips, overrides) in [("batched", [("remote", "10%,30%")]), ("single", [("remote", "1%,15%")])]
    {
        let tpcc = small(2, 1, &[&overrides[..], &[("roundtrips", roundtrips)]].concat());
        workload::dataset::drop_dataset(&mut *target.administer().unwrap(), tpcc.dataset().unwrap()).unwrap();
        load(&target, &tpcc, 2).unwrap();
        assert_sound(&target, &tpcc);
        let ended = run(&target, &tpcc, tpcc.isolation(target.dialect()), 3_000, &|seq| request(&tpcc, seq));
        let wanted = [Outcome::Ok, Outcome::Abort];
        assert!(ended.keys().all(|outcome| wanted.contains(outcome)), "{roundtrips}: {ended:?}");
        assert_sound(&target, &tpcc);
    }
}

#[test]
fn stronger_levels_refuse_some_and_leave_sound_data_as_well() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    let tpcc = small(1, 1, &[]);
    load(&target, &tpcc, 2).unwrap();
    for level in [Isolation::RepeatableRead, Isolation::Serializable] {
        let ended = run(&target, &tpcc, Some(level), 1_000, &|seq| request(&tpcc, seq));
        let wanted = [Outcome::Ok, Outcome::Abort, Outcome::Serialization];
        assert!(ended.keys().all(|outcome| wanted.contains(outcome)), "{ended:?}");
        assert_sound(&target, &tpcc);
    }
}

/// Deliveries of one warehouse want the same orders: each order is delivered once, and no district is skipped that has one.
#[test]
fn deliveries_side_by_side_deliver_each_order_once() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    // 300 orders to deliver in each district.
    let tpcc = crate::support::tpcc(1, 1, &[("items", "100"), ("customers", "1000")]);
    load(&target, &tpcc, 2).unwrap();
    let delivery = |seq| Request { seq, op: OpId(3), ticket: 0, user: NOBODY };
    let ended = run(&target, &tpcc, tpcc.isolation(target.dialect()), 300, &delivery);
    assert_eq!(ended, BTreeMap::from([(Outcome::Ok, 300)]));
    assert_eq!(tpcc.counts(), [("orders delivered", 3_000), ("districts skipped by Delivery", 0)]);
    assert_eq!(number(&mut *target.administer().unwrap(), "SELECT count(*) FROM new_order"), 0);
    assert_sound(&target, &tpcc);
}

#[test]
fn every_condition_finds_its_defects() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    // Foreign keys would refuse most defects.
    let tpcc = small(2, 5, &[("foreign-keys", "off")]);
    load(&target, &tpcc, 2).unwrap();
    assert_defects_are_found(&target, &tpcc, &DEFECTS as &[Defect]);
}

#[test]
fn foreign_keys_are_there_unless_refused() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    for (overrides, expected) in [(&[][..], 10), (&[("foreign-keys", "off")][..], 0)] {
        let tpcc = small(1, 1, overrides);
        let mut administration = target.administer().unwrap();
        load(&target, &tpcc, 2).unwrap();
        let keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'";
        assert_eq!(number(&mut *administration, keys), expected);
        // Finishing again, as after a finish that was cut short, changes nothing.
        tpcc.dataset().unwrap().finish(&mut *administration, target.dialect()).unwrap();
        assert_eq!(number(&mut *administration, keys), expected);
        let refused = "DELETE FROM item WHERE i_id = 1";
        assert_eq!(administration.script(refused).is_err(), expected > 0);
        workload::dataset::drop_dataset(&mut *administration, tpcc.dataset().unwrap()).unwrap();
    }
}

/// A command that fails takes the commit behind it along.
#[test]
fn an_error_in_the_last_batch_commits_nothing() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    let tpcc = small(1, 1, &[("rollback", "0%")]);
    load(&target, &tpcc, 2).unwrap();
    let mut administration = target.administer().unwrap();
    administration
        .script("ALTER TABLE history ADD CONSTRAINT refused CHECK (h_amount < 0) NOT VALID")
        .unwrap();
    let mut session = session(&target, &tpcc);
    let payment = Request { seq: 3, op: OpId(1), ticket: 0, user: NOBODY };
    assert_eq!(run_one(&tpcc, payment, &mut session), Err(OpError::refused(Outcome::Constraint)));
    assert_sound(&target, &tpcc);
    administration.script("ALTER TABLE history DROP CONSTRAINT refused").unwrap();
    assert_eq!(run_one(&tpcc, payment, &mut session), Ok(Outcome::Ok));
    Direct::new(&mut session).ask(driver::Command::Ping).unwrap();
    assert_sound(&target, &tpcc);
}
