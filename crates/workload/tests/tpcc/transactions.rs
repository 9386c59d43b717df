//! What each transaction does at its edges.

use crate::support::{Database, assert_sound, number, planned, run_one, small, tpcc};
use driver::{Command, Direct, Target};
use units::Outcome;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

const NEW_ORDER: OpId = OpId(0);
const DELIVERY: OpId = OpId(3);

fn request(seq: u64, op: OpId) -> Request {
    Request { seq, op, ticket: 0, user: NOBODY }
}

#[test]
fn a_new_order_of_what_is_not_there_leaves_nothing() {
    for roundtrips in ["batched", "single"] {
        let tpcc = small(1, 1, &[("rollback", "100%"), ("roundtrips", roundtrips)]);
        let database = Database::loaded(&tpcc);
        let mut session = database.session(&tpcc);
        for seq in 0..20 {
            assert_eq!(run_one(&tpcc, request(seq, NEW_ORDER), &mut session), Ok(Outcome::Abort));
        }
        let found = &mut *database.administer();
        assert_eq!(number(found, "SELECT max(d_next_o_id) FROM district"), 21);
        assert_eq!(number(found, "SELECT max(s_ytd) FROM stock"), 0);
        assert_sound(&database.target, &tpcc);
    }
}

#[test]
fn missing_rows_are_misses_and_end_their_transaction() {
    for roundtrips in ["batched", "single"] {
        for (damage, missed) in [
            ("DELETE FROM warehouse", [true, true, false, false, false]),
            ("DELETE FROM district", [true, true, false, true, true]),
            ("DELETE FROM customer", [true, true, true, true, false]),
            ("DELETE FROM item", [true, false, false, false, false]),
            ("DELETE FROM stock", [true, false, false, false, false]),
            ("DELETE FROM oorder", [false, false, true, true, false]),
        ] {
            let tpcc = small(1, 1, &[("roundtrips", roundtrips), ("rollback", "0%")]);
            let database = Database::loaded(&tpcc);
            database.administer().script(damage).unwrap();
            let mut session = database.session(&tpcc);
            for (op, is_missed) in (0..).zip(missed) {
                let outcome = run_one(&tpcc, request(op, OpId(op as u8)), &mut session).unwrap();
                let expected = if is_missed { Outcome::Miss } else { Outcome::Ok };
                assert_eq!(outcome, expected, "{roundtrips}, {damage}, operation {op}");
                // With the transaction still open, this would fail.
                Direct::new(&mut session).ask(Command::Begin).unwrap();
                Direct::new(&mut session).ask(Command::Rollback).unwrap();
            }
        }
    }
}

#[test]
fn an_error_in_the_last_batch_commits_nothing() {
    let tpcc = small(1, 1, &[("rollback", "0%")]);
    let database = Database::loaded(&tpcc);
    let mut session = database.session(&tpcc);
    for (table, event, op) in [
        ("order_line", "INSERT", 0),
        ("history", "INSERT", 1),
        ("customer", "UPDATE", 1),
        ("customer", "UPDATE", 3),
    ] {
        let mut administration = database.administer();
        administration
            .script(&format!(
                "CREATE TRIGGER no BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, 'refused'); END"
            ))
            .unwrap();
        let error = run_one(&tpcc, request(9, OpId(op)), &mut session).unwrap_err();
        assert!(error.session_usable && error.outcome == Outcome::Constraint, "{table}: {error:?}");
        administration.script("DROP TRIGGER no").unwrap();
        assert_sound(&database.target, &tpcc);
        assert_eq!(run_one(&tpcc, request(9, OpId(op)), &mut session), Ok(Outcome::Ok));
        assert_sound(&database.target, &tpcc);
    }
}

#[test]
fn districts_without_orders_are_skipped_and_counted() {
    let tpcc = small(1, 1, &[]);
    let database = Database::loaded(&tpcc);
    let mut session = database.session(&tpcc);
    // Each district has six orders to deliver; one loses all of its.
    database.administer().script("DELETE FROM new_order WHERE no_d_id = 4").unwrap();
    for seq in 0..8 {
        assert_eq!(run_one(&tpcc, request(seq, DELIVERY), &mut session), Ok(Outcome::Ok));
    }
    assert_eq!(tpcc.counts(), [("orders delivered", 54), ("districts skipped by Delivery", 26)]);
    assert_eq!(number(&mut *database.administer(), "SELECT count(*) FROM new_order"), 0);
}

#[test]
fn another_delivery_that_was_first_is_noticed() {
    let tpcc = small(1, 1, &[]);
    let database = Database::loaded(&tpcc);
    // As if another one had taken the oldest orders between the look and the claim.
    let raced = "CREATE TRIGGER rival BEFORE DELETE ON new_order WHEN OLD.no_o_id = 15 AND OLD.no_d_id = 2 \
                 BEGIN SELECT RAISE(IGNORE); END";
    database.administer().script(raced).unwrap();
    let mut session = database.session(&tpcc);
    // The row stays where it is, so that it is looked for again and again; but not for ever.
    let error = run_one(&tpcc, request(1, DELIVERY), &mut session).unwrap_err();
    assert_eq!((error.outcome, error.session_usable), (Outcome::Serialization, true));
    assert_sound(&database.target, &tpcc);
}

#[test]
fn observing_takes_over_the_constant_of_the_load_and_refuses_other_data() {
    let (mut tpcc, loader) = (small(1, 2, &[]), small(1, 9, &[]));
    let before: Vec<String> = (0..200).map(|seq| planned(&tpcc, request(seq, OpId(2)))).collect();
    let database = Database::loaded(&loader);
    tpcc.observe(&mut *database.administer()).unwrap();
    let after: Vec<String> = (0..200).map(|seq| planned(&tpcc, request(seq, OpId(2)))).collect();
    assert_ne!(before, after, "the load's constant shifts the run's");
    let mut larger = small(3, 2, &[]);
    let message = larger.observe(&mut *database.administer()).unwrap_err();
    assert!(message.contains("has scale 1, not 3"), "{message}");
    let mut whole = crate::support::tpcc(1, 2, &[]);
    assert!(whole.observe(&mut *database.administer()).unwrap_err().contains("tpcc items=60"));
    database.administer().script("UPDATE truetail_dataset SET complete = 'false'").unwrap();
    let message = tpcc.observe(&mut *database.administer()).unwrap_err();
    assert!(message.contains("not loaded to its end") && message.contains("truetail load"), "{message}");
}

#[test]
fn terminals_keep_to_their_warehouse_and_district() {
    let tpcc = tpcc(4, 1, &[]);
    for seq in 0..400 {
        let user = (seq % 40) as u32;
        for op in 0..5 {
            let words = planned(&tpcc, Request { user, ..request(seq, OpId(op)) });
            let home = words.split(' ').nth(2).unwrap().to_owned();
            let (warehouse, district) = home.split_once('/').unwrap_or((&home, "0"));
            assert_eq!(warehouse, (user / 10 + 1).to_string(), "{words}");
            if op == 4 {
                assert_eq!(district, (user % 10 + 1).to_string(), "{words}");
            }
        }
    }
}

#[test]
fn levels_are_asked_for_where_there_are_levels() {
    use driver::{Dialect, Isolation};
    let (plain, compat) = (small(1, 1, &[]), small(1, 1, &[("compat", "benchbase")]));
    for dialect in [Dialect::Postgres, Dialect::MySql] {
        assert_eq!(plain.isolation(dialect), Some(Isolation::ReadCommitted));
        assert_eq!(compat.isolation(dialect), Some(Isolation::Serializable));
    }
    assert_eq!(plain.isolation(Database::new().target.dialect()), None);
}
