//! What sessions do to each other, and what an error leaves behind.

use crate::support::{Database, draw_operation, ycsb};
use driver::{Command, Dialect, Direct, OpError, Target};
use driver_sqlite::SqliteSession;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use units::{Outcome, Seed};
use workload::dataset::check_dataset;
use workload::noop::{Mode, NoOp};
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

fn run_one<W: Workload>(
    workload: &W,
    request: Request,
    session: &mut SqliteSession,
) -> Result<Outcome, OpError> {
    let mut plan = workload.new_plan();
    workload.plan(request, &mut plan);
    Direct::<SqliteSession>::run(workload.run(&plan, &mut Direct::new(session)))
}

#[test]
fn four_sessions_share_the_mix() {
    let (database, ycsb) = (Database::new(), ycsb("ycsb", 0.5, 1, &[]));
    database.load(&ycsb);
    let mut tickets = ycsb.tickets();
    let schedule: Vec<Request> = (0..4_000)
        .map(|seq| {
            let op = draw_operation(&ycsb, &mut Seed(5).at(seq));
            Request { seq, op, ticket: tickets.next(seq, op), user: NOBODY }
        })
        .collect();
    let (next, missed) = (AtomicUsize::new(0), AtomicU64::new(0));
    let statements = ycsb.statements(database.target.dialect()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = database.target.connect(&statements, None).unwrap();
                while let Some(request) = schedule.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match run_one(&ycsb, *request, &mut session) {
                        Ok(Outcome::Miss) => _ = missed.fetch_add(1, Ordering::Relaxed),
                        outcome => assert_eq!(outcome, Ok(Outcome::Ok), "{request:?}"),
                    }
                }
            });
        }
    });
    // A delete can miss only what a session that was held up has yet to insert: one key for each.
    assert!(missed.into_inner() <= 4);
    for result in
        check_dataset(&mut *database.administer(), ycsb.dataset().unwrap(), Dialect::Sqlite).unwrap()
    {
        assert!(result.passed, "{}: {}", result.name, result.detail);
    }
}

#[test]
fn an_error_inside_a_transaction_releases_its_locks() {
    let (database, ycsb) = (Database::new(), ycsb("ycsb", 0.1, 1, &[]));
    database.load(&ycsb);
    let refuse = |event: &str| {
        format!(
            "CREATE TRIGGER no_{event} BEFORE {event} ON usertable BEGIN SELECT RAISE(ABORT, 'no {event}'); END"
        )
    };
    let names: Vec<&str> = ycsb.operations().iter().map(|operation| operation.name).collect();
    let op = |name: &str| OpId(names.iter().position(|n| *n == name).unwrap() as u8);
    for (event, operation) in [("UPDATE", "ReadModifyWriteRecord"), ("DELETE", "DeleteRecord")] {
        let mut administration = database.administer();
        administration.script(&refuse(event)).unwrap();
        let mut session =
            database.target.connect(&ycsb.statements(database.target.dialect()).unwrap(), None).unwrap();
        let request = Request { seq: 1, op: op(operation), ticket: u64::MAX, user: NOBODY };
        assert_eq!(run_one(&ycsb, request, &mut session), Err(OpError::refused(Outcome::Constraint)));
        // With the transaction still open, this would wait for its lock, and the next would not begin.
        administration.script(&format!("DROP TRIGGER no_{event}")).unwrap();
        assert_eq!(run_one(&ycsb, request, &mut session), Ok(Outcome::Ok));
    }
}

#[test]
fn a_read_modify_write_of_nothing_is_a_miss_and_ends_its_transaction() {
    let (database, ycsb) = (Database::new(), ycsb("ycsb", 0.1, 1, &[]));
    database.load(&ycsb);
    database.administer().script("DELETE FROM usertable").unwrap();
    let mut session =
        database.target.connect(&ycsb.statements(database.target.dialect()).unwrap(), None).unwrap();
    for (op, expected) in [(0, Outcome::Miss), (2, Outcome::Ok), (3, Outcome::Miss), (5, Outcome::Miss)] {
        let request = Request { seq: 3, op: OpId(op), ticket: 0, user: NOBODY };
        assert_eq!(run_one(&ycsb, request, &mut session), Ok(expected), "operation {op}");
    }
    Direct::new(&mut session).ask(Command::Begin).unwrap();
}

#[test]
fn a_delete_of_a_drawn_key_brings_back_what_was_lost() {
    let (database, ycsb) = (Database::new(), ycsb("ycsb", 0.001, 1, &[]));
    database.load(&ycsb);
    database.administer().script("DELETE FROM usertable").unwrap();
    let mut session =
        database.target.connect(&ycsb.statements(database.target.dialect()).unwrap(), None).unwrap();
    let request = Request { seq: 0, op: OpId(4), ticket: u64::MAX, user: NOBODY };
    assert_eq!(run_one(&ycsb, request, &mut session), Ok(Outcome::Miss));
    assert_eq!(run_one(&ycsb, request, &mut session), Ok(Outcome::Ok));
}

#[test]
fn every_noop_runs() {
    let database = Database::new();
    for mode in Mode::ALL {
        let noop = NoOp::new(mode);
        let statements = noop.statements(database.target.dialect()).unwrap();
        let mut session = database.target.connect(&statements, None).unwrap();
        for seq in 0..3 {
            let request = Request { seq, op: OpId(0), ticket: 0, user: NOBODY };
            assert_eq!(run_one(&noop, request, &mut session), Ok(Outcome::Ok), "{}", mode.name());
        }
    }
}
