//! Statements, values and errors of one session.

use crate::support::{Directory, ask, connect, plain, script, statement};
use driver::{Command, Decimal, OpError, Session, StatementSpec, Value, ValueType};
use std::sync::atomic::{AtomicBool, Ordering};
use units::Outcome;

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
        let reply = ask(&mut session, statement(index)).unwrap();
        (reply.rows, reply.affected)
    });
    assert_eq!(replies, [(0, 3), (0, 0), (2, 2), (5, 0), (0, 0)]);
}

#[test]
fn text_arguments_are_not_mixed_up_within_a_batch() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (n int, a text, b text)");
    let types = [ValueType::Text, ValueType::Text];
    let mut session = connect(
        &target,
        &[
            StatementSpec::counted(
                "INSERT INTO t VALUES ($1, $2, $3)",
                &[ValueType::Int, types[0], types[1]],
            ),
            StatementSpec::kept("SELECT a, b FROM t ORDER BY n", &[], &types),
        ],
    );
    // Far more text than the session's first room for it, so that it moves while being staged.
    let texts: Vec<String> = (0..200).map(|n| format!("{n} ").repeat(n * 5)).collect();
    for (n, text) in (0..).zip(&texts) {
        let arguments = [Value::Int(n), Value::Text(text), Value::Text("fixed")];
        session.stage(Command::Statement { index: 0, arguments: &arguments }).unwrap();
    }
    session.stage(statement(1)).unwrap();
    let ended = session.poll_reply();
    assert!(matches!(ended, std::task::Poll::Ready(Ok(()))), "{:?}", session.last_error());
    assert_eq!(session.reply(200).rows, 200);
    for (row, text) in texts.iter().enumerate() {
        assert_eq!(session.value(200, row, 0), Some(Value::Text(text)));
        assert_eq!(session.value(200, row, 1), Some(Value::Text("fixed")));
    }
    assert_eq!(session.value(200, 200, 0), None);
}

/// More rows than a chunk holds, some of them NULL, of every kind that is read.
#[test]
fn rows_of_many_chunks_come_in_order() {
    let directory = Directory::new();
    let sql = "SELECT n, CASE WHEN n % 3 = 0 THEN NULL ELSE n::text || repeat('x', (n % 20)::int) END, n::float, \
               n::smallint, (n::decimal(18,2)) / 4, sum(n) OVER (ORDER BY n) FROM range(7000) numbers(n) ORDER BY n";
    let types =
        [ValueType::Int, ValueType::Text, ValueType::Float, ValueType::Int, ValueType::Float, ValueType::Int];
    let mut session = connect(&directory.target(""), &[StatementSpec::kept(sql, &[], &types), plain(sql)]);
    assert_eq!(ask(&mut session, statement(1)).unwrap().rows, 7000);
    assert_eq!(ask(&mut session, statement(0)).unwrap().rows, 7000);
    for n in [0_i64, 1, 2047, 2048, 2049, 4096, 6999] {
        let row = usize::try_from(n).unwrap();
        let text = format!("{n}{}", "x".repeat(row % 20));
        let text = if n % 3 == 0 { Value::Null } else { Value::Text(&text) };
        let expected = [
            Value::Int(n),
            text,
            Value::Float(n as f64),
            Value::Int(n),
            Value::Float(n as f64 / 4.0),
            Value::Int(n * (n + 1) / 2),
        ];
        for (column, value) in expected.into_iter().enumerate() {
            assert_eq!(session.value(0, row, column), Some(value), "row {n}, column {column}");
        }
    }
}

#[test]
fn kept_values_of_the_wrong_type_are_an_error_and_not_a_zero() {
    let directory = Directory::new();
    let target = directory.target("");
    for (sql, declared) in [
        ("SELECT 'x'", ValueType::Int),
        ("SELECT 1.5", ValueType::Int),
        ("SELECT 1", ValueType::Text),
        ("SELECT 1.555", ValueType::Decimal(2)),
        ("SELECT 10000000000000000000::hugeint", ValueType::Int),
        ("SELECT DATE '2024-01-01'", ValueType::Int),
        ("SELECT [1]", ValueType::Int),
        ("SELECT 'ab'::blob", ValueType::Text),
    ] {
        let mut session = connect(&target, &[StatementSpec::kept(sql, &[], &[declared]), plain("SELECT 1")]);
        assert_eq!(ask(&mut session, statement(0)), Err(OpError::refused(Outcome::Protocol)), "{sql}");
        assert!(session.last_error().unwrap().contains("declared type"));
        assert_eq!(ask(&mut session, statement(1)).unwrap().rows, 1);
    }
    let mut session = connect(&target, &[StatementSpec::kept("SELECT 1.50", &[], &[ValueType::Decimal(1)])]);
    ask(&mut session, statement(0)).unwrap();
    assert_eq!(session.value(0, 0, 0), Some(Value::Decimal(Decimal { unscaled: 15, scale: 1 })));
}

#[test]
fn arguments_beyond_the_columns_range_are_refused_before_they_are_sent() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (a smallint, b decimal(4,2))");
    let types = [ValueType::Int, ValueType::Decimal(2)];
    let mut session = connect(&target, &[StatementSpec::counted("INSERT INTO t VALUES ($1, $2)", &types)]);
    let price = |unscaled| Value::Decimal(Decimal { unscaled, scale: 2 });
    let mut insert =
        |row: [Value<'_>; 2]| ask(&mut session, Command::Statement { index: 0, arguments: &row });
    assert_eq!(insert([Value::Int(40_000), price(1)]), Err(OpError::refused(Outcome::Protocol)));
    assert_eq!(insert([Value::Int(-32_768), price(-9_999)]).unwrap().affected, 1);
    // As wide as it is, DuckDB itself sees that it does not fit.
    assert_eq!(insert([Value::Int(1), price(10_000)]), Err(OpError::refused(Outcome::Server)));
    assert_eq!(insert([Value::Null, Value::Null]).unwrap().affected, 1);
    assert_eq!(insert([Value::Int(2), price(5)]).unwrap().affected, 1);
}

#[test]
fn an_interrupt_between_two_statements_is_not_lost() {
    let directory = Directory::new();
    let target = directory.target("");
    let long = "SELECT count(*) FROM range(1000000000000) numbers(n) WHERE n % 7 = 3";
    let mut session = connect(&target, &[plain(long), plain("SELECT 1")]);
    let cancel = session.canceller().unwrap();
    let (done, began) = (&AtomicBool::new(false), &std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            began.wait();
            while !done.load(Ordering::Relaxed) {
                cancel();
                std::thread::yield_now();
            }
        });
        session.stage(Command::Begin).unwrap();
        session.stage(statement(0)).unwrap();
        session.stage(statement(1)).unwrap();
        began.wait();
        let reply = session.poll_reply();
        done.store(true, Ordering::Relaxed);
        assert_eq!(reply, std::task::Poll::Ready(Err(OpError::refused(Outcome::Timeout))));
    });
    ask(&mut session, Command::Rollback).unwrap();
    assert_eq!(ask(&mut session, statement(1)).unwrap().rows, 1);
}
