//! Statements, values and errors of one session.

use crate::support::{Directory, connect, plain, script};
use driver::{Command, Direct, KeyValue, OpError, Reply, Session, StatementSpec, Value, ValueType};
use units::Outcome;

fn ask(session: &mut driver_sqlite::SqliteSession, index: usize) -> Result<Reply, OpError> {
    Direct::new(session).ask(Command::Statement { index, arguments: &[] })
}

#[test]
fn changes_are_counted_for_each_statement_alone() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2), (3)");
    let mut session = connect(
        &target,
        &[
            plain("UPDATE t SET a = a + 1"),
            plain("CREATE TABLE IF NOT EXISTS t (a int)"),
            plain("INSERT INTO t VALUES (9), (8) RETURNING a"),
            plain("SELECT * FROM t"),
            plain("DELETE FROM t WHERE a > 100"),
        ],
    );
    let replies = [0, 1, 2, 3, 4].map(|index| {
        let reply = ask(&mut session, index).unwrap();
        (reply.rows, reply.affected)
    });
    assert_eq!(replies, [(0, 3), (0, 0), (2, 2), (5, 0), (0, 0)]);
}

#[test]
fn text_arguments_are_not_mixed_up_within_a_batch() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (a text, b text)");
    let types = [ValueType::Text, ValueType::Text];
    let mut session = connect(
        &target,
        &[
            StatementSpec::counted("INSERT INTO t VALUES (?1, ?2)", &types),
            StatementSpec::kept("SELECT a, b FROM t ORDER BY rowid", &[], &types),
        ],
    );
    // Far more text than the session's first room for it, so that it moves while being staged.
    let texts: Vec<String> = (0..200).map(|n| format!("{n} ").repeat(n * 5)).collect();
    for text in &texts {
        let arguments = [Value::Text(text), Value::Text("fixed")];
        session.stage(Command::Statement { index: 0, arguments: &arguments }).unwrap();
    }
    session.stage(Command::Statement { index: 1, arguments: &[] }).unwrap();
    assert!(matches!(session.poll_reply(), std::task::Poll::Ready(Ok(()))));
    assert_eq!(session.reply(200).rows, 200);
    for (row, text) in texts.iter().enumerate() {
        assert_eq!(session.value(200, row, 0), Some(Value::Text(text)));
        assert_eq!(session.value(200, row, 1), Some(Value::Text("fixed")));
    }
    assert_eq!(session.value(200, 200, 0), None);
}

#[test]
fn kept_values_of_the_wrong_type_are_an_error_and_not_a_zero() {
    let directory = Directory::new();
    let target = directory.target("");
    for (sql, declared) in [
        ("SELECT 'x'", ValueType::Int),
        ("SELECT 1.5", ValueType::Int),
        ("SELECT 1", ValueType::Text),
        ("SELECT x'ff'", ValueType::Text),
        ("SELECT CAST(x'ff' AS TEXT)", ValueType::Text),
    ] {
        let mut session = connect(&target, &[StatementSpec::kept(sql, &[], &[declared]), plain("SELECT 1")]);
        assert_eq!(ask(&mut session, 0), Err(OpError::refused(Outcome::Protocol)), "{sql}");
        assert!(session.last_error().unwrap().contains("declared type"));
        assert_eq!(ask(&mut session, 1).unwrap().rows, 1);
    }
}

#[test]
fn errors_have_their_outcomes_and_sqlite_s_words() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (a int CHECK (a < 10)); PRAGMA max_page_count = 5");
    let mut session = connect(
        &target,
        &[
            plain("INSERT INTO t VALUES (11)"),
            plain("SELECT abs(-9223372036854775807 - 1)"),
            plain("PRAGMA max_page_count = 5"),
            plain("INSERT INTO t SELECT 1 FROM json_each('[1,2,3,4]'), json_each('[1,2,3,4]'), json_each('[1,2,3,4]'),
                   json_each('[1,2,3,4]'), json_each('[1,2,3,4]'), json_each('[1,2,3,4]'), json_each('[1,2,3,4]')"),
        ],
    );
    let mut fail = |index| (ask(&mut session, index).unwrap_err(), session.last_error().unwrap());
    let (error, words) = fail(0);
    assert_eq!(
        (error, words.as_str()),
        (OpError::refused(Outcome::Constraint), "CHECK constraint failed: a < 10")
    );
    let (error, words) = fail(1);
    assert_eq!((error, words.as_str()), (OpError::refused(Outcome::Server), "integer overflow"));
    ask(&mut session, 2).unwrap();
    let error = ask(&mut session, 3).unwrap_err();
    assert_eq!(error, OpError::refused(Outcome::Server));
    assert_eq!(session.last_error().unwrap(), "database or disk is full");
    let refused =
        session.stage(Command::KeyValue(KeyValue::Delete { table: "usertable", key: "a" })).unwrap_err();
    assert_eq!(refused, OpError::refused(Outcome::Protocol));
    assert!(session.last_error().unwrap().contains("key-value"));
    assert_eq!(session.descriptor(), None);
    assert_eq!(session.arrived(), None);
}

#[test]
fn an_interrupt_ends_the_request_and_leaves_the_session_usable() {
    let directory = Directory::new();
    let target = directory.target("");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let mut session = connect(&target, &[plain(endless), plain("SELECT 1")]);
    let cancel = session.canceller().unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let (finished, began) = (&done, std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        let began = &began;
        scope.spawn(move || {
            began.wait();
            // Until it took effect: the first calls may come before the request has started.
            while !finished.load(std::sync::atomic::Ordering::Relaxed) {
                cancel();
                std::thread::yield_now();
            }
        });
        session.stage(Command::Begin).unwrap();
        session.stage(Command::Statement { index: 0, arguments: &[] }).unwrap();
        session.stage(Command::Statement { index: 1, arguments: &[] }).unwrap();
        began.wait();
        let reply = session.poll_reply();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(reply, std::task::Poll::Ready(Err(OpError::refused(Outcome::Timeout))));
    });
    assert_eq!(session.last_error().unwrap(), "interrupted");
    Direct::new(&mut session).ask(Command::Rollback).unwrap();
    assert_eq!(ask(&mut session, 1).unwrap().rows, 1);
}
