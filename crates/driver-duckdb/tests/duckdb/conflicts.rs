//! Two sessions and one snapshot each.

use crate::support::{Directory, ask, connect, plain, script, statement};
use driver::{Command, Isolation, OpError, Session, StatementSpec, Target};
use driver_duckdb::{DuckDbSession, DuckDbTarget};
use units::Outcome;

fn two_sessions(directory: &Directory, list: &[&str]) -> (DuckDbTarget, DuckDbSession, DuckDbSession) {
    let target = directory.target("");
    script(&target, "CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (1, 10), (2, 10)");
    let statements: Vec<StatementSpec> = list.iter().map(|sql| plain(sql)).collect();
    let level = Some(Isolation::RepeatableRead);
    let first = target.connect(&statements, level).unwrap();
    let second = target.connect(&statements, level).unwrap();
    (target, first, second)
}

fn rows(target: &DuckDbTarget, sql: &str) -> Vec<Vec<Option<String>>> {
    target.administer().unwrap().query(sql).unwrap()
}

/// Each sees that the sum allows its change, and both make it: no serial order gives that.
#[test]
fn write_skew_is_possible_and_so_serializable_is_refused() {
    let directory = Directory::new();
    let (target, mut first, mut second) = two_sessions(
        &directory,
        &[
            "SELECT sum(a) FROM t",
            "UPDATE t SET a = a - 20 WHERE id = 1",
            "UPDATE t SET a = a - 20 WHERE id = 2",
        ],
    );
    for session in [&mut first, &mut second] {
        ask(session, Command::Begin).unwrap();
        assert_eq!(ask(session, statement(0)).unwrap().rows, 1);
    }
    for (session, update) in [(&mut first, 1), (&mut second, 2)] {
        assert_eq!(ask(session, statement(update)).unwrap().affected, 1);
        ask(session, Command::Commit).unwrap();
    }
    assert_eq!(rows(&target, "SELECT sum(a) FROM t"), [[Some("-20".to_owned())]]);
    let refused = target.connect(&[], Some(Isolation::Serializable)).err().unwrap();
    assert!(refused.message.contains("ask for repeatable-read") && !refused.transient, "{refused}");
}

#[test]
fn who_inserts_the_same_key_second_is_told_when_it_commits() {
    let directory = Directory::new();
    let (target, mut first, mut second) = two_sessions(&directory, &["INSERT INTO t VALUES (3, 0)"]);
    for session in [&mut first, &mut second] {
        ask(session, Command::Begin).unwrap();
        assert_eq!(ask(session, statement(0)).unwrap().affected, 1);
    }
    ask(&mut first, Command::Commit).unwrap();
    assert_eq!(ask(&mut second, Command::Commit), Err(OpError::refused(Outcome::Constraint)));
    assert!(second.last_error().unwrap().contains("Failed to commit"), "{:?}", second.last_error());
    ask(&mut second, Command::Rollback).unwrap();
    assert_eq!(rows(&target, "SELECT count(*) FROM t"), [[Some("3".to_owned())]]);
}

#[test]
fn a_failed_transaction_can_not_be_committed_unnoticed() {
    let directory = Directory::new();
    let (target, mut first, mut second) =
        two_sessions(&directory, &["UPDATE t SET a = 5 WHERE id = 1", "UPDATE t SET a = 5 WHERE id = 2"]);
    ask(&mut first, Command::Begin).unwrap();
    ask(&mut first, statement(0)).unwrap();
    ask(&mut second, Command::Begin).unwrap();
    ask(&mut second, statement(1)).unwrap();
    assert_eq!(ask(&mut second, statement(0)), Err(OpError::refused(Outcome::Serialization)));
    assert_eq!(second.last_error().unwrap(), "TransactionContext Error: Conflict on update!");
    // Whatever is asked next fails as well, but not as a conflict: that is told once.
    assert_eq!(ask(&mut second, statement(1)), Err(OpError::refused(Outcome::Server)));
    assert_eq!(ask(&mut second, Command::Commit), Err(OpError::refused(Outcome::Server)));
    assert!(second.last_error().unwrap().contains("its commit rolled it back"));
    ask(&mut first, Command::Commit).unwrap();
    assert_eq!(
        rows(&target, "SELECT a FROM t ORDER BY id"),
        [[Some("5".to_owned())], [Some("10".to_owned())]]
    );
    // The session is none the worse for it.
    ask(&mut second, Command::Begin).unwrap();
    ask(&mut second, statement(1)).unwrap();
    ask(&mut second, Command::Commit).unwrap();
}

#[test]
fn a_statement_that_fails_outside_of_a_transaction_spoils_none() {
    let directory = Directory::new();
    let target = directory.target("");
    let mut session = connect(&target, &[plain("SELECT error('no')"), plain("SELECT 1")]);
    assert_eq!(ask(&mut session, statement(0)), Err(OpError::refused(Outcome::Server)));
    ask(&mut session, Command::Begin).unwrap();
    ask(&mut session, statement(1)).unwrap();
    ask(&mut session, Command::Commit).unwrap();
}
