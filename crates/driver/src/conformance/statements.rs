//! Statements: values, counts, and what administration does.

use super::key_value::{self, has_records};
use super::table::{self, COUNT_FROM, DELETE, INSERT, NAME, SELECT, UPDATE};
use super::{Fixture, ensure, same, speaks_sql, told};
use crate::{Command, Direct, Reply, Session, StatementSpec, Target, Value};

fn ask<S: Session>(session: &mut S, index: usize, arguments: &[Value<'_>]) -> Result<Reply, String> {
    let reply = Direct::new(session).ask(Command::Statement { index, arguments });
    told(reply, session, "statement")
}

/// Inserts a row and reads it back; `Ok` when every value is the same.
fn round_trip<S: Session>(session: &mut S, row: &[Value<'_>; 5]) -> Result<(), String> {
    same(ask(session, INSERT, row)?, Reply { rows: 0, affected: 1 }, "reply of an insert")?;
    same(ask(session, SELECT, &row[..1])?, Reply { rows: 1, affected: 0 }, "reply of a point select")?;
    let found = table::first_row(session, 0);
    same(found, row.iter().copied().map(Some).collect(), "the row read back")
}

pub(super) fn values_come_back<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::values_come_back(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 2)?;
    same(ask(&mut session, SELECT, &[Value::Int(2)])?.rows, 1, "rows of a row loaded in bulk")?;
    same(
        table::first_row(&session, 0),
        table::row(2).into_iter().map(Some).collect(),
        "a row loaded in bulk",
    )?;
    let numbers = [0, -1, 1, i64::from(i32::MIN), i64::from(i32::MAX), i64::MIN, i64::MAX];
    let ratios = [0.0, -0.1, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, -1e300, 5e-324];
    let words = ["", " ", "a'b\"c\\d\n\t", "größe", "日本語 🦀", "NULL", "\\N"];
    let moments =
        [0, 1, -1, 946_684_800_000_000, 1_700_000_000_123_456, -86_400_000_000, 4_102_444_800_000_000];
    for at in 0..numbers.len() {
        let id = i64::try_from(at).unwrap_or(0) + 10;
        let row = [
            Value::Int(id),
            Value::Int(numbers[at]),
            Value::Float(ratios[at]),
            Value::Text(words[at]),
            Value::Timestamp(moments[at]),
        ];
        round_trip(&mut session, &row)?;
    }
    Ok(())
}

pub(super) fn nulls_come_back<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::missing_fields(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 0)?;
    round_trip(&mut session, &[Value::Int(1), Value::Null, Value::Null, Value::Null, Value::Null])?;
    round_trip(&mut session, &[Value::Int(2), Value::Null, Value::Float(0.5), Value::Text(""), Value::Null])
}

pub(super) fn long_text_comes_back<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::long_text_comes_back(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 0)?;
    let mut id = 0;
    // Around the sizes of buffers and of segments, and far above both.
    for length in [1_000, 4_095, 4_096, 16_384, 65_535, 65_536, 1_000_000, 3] {
        id += 1;
        let text: String = "0123456789abcdefghijklm".chars().cycle().take(length).collect();
        let row = [Value::Int(id), Value::Int(1), Value::Float(1.0), Value::Text(&text), Value::Null];
        same(ask(&mut session, INSERT, &row)?.affected, 1, "rows inserted")?;
        same(ask(&mut session, SELECT, &row[..1])?.rows, 1, "rows selected")?;
        ensure(session.value(0, 0, 3) == Some(Value::Text(&text)), || {
            format!("{length} bytes of text came back changed")
        })?;
        same(ask(&mut session, COUNT_FROM, &[Value::Int(1)])?.rows, id.unsigned_abs(), "rows counted")?;
    }
    Ok(())
}

pub(super) fn values_end<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::values_end(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 3)?;
    ask(&mut session, SELECT, &[Value::Int(2)])?;
    same(session.value(0, 0, 0), Some(Value::Int(2)), "a value")?;
    for (command, row, column) in [(1, 0, 0), (0, 1, 0), (0, 0, 5), (9, 9, 9)] {
        same(session.value(command, row, column), None, "a value past the end")?;
    }
    ask(&mut session, SELECT, &[Value::Int(99)])?;
    same(session.value(0, 0, 0), None, "a value of no row")?;
    ask(&mut session, COUNT_FROM, &[Value::Int(1)])?;
    same(session.value(0, 0, 0), None, "a value of rows that are only counted")
}

pub(super) fn rows_and_changes_are_counted<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::rows_and_changes_are_counted(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (mut administration, mut session) = table::session(fixture, 100)?;
    let counted = ask(&mut session, COUNT_FROM, &[Value::Int(41)])?;
    same(counted, Reply { rows: 60, affected: 0 }, "reply of a select")?;
    let updated = ask(&mut session, UPDATE, &[Value::Text("new"), Value::Int(91)])?;
    same(updated, Reply { rows: 0, affected: 10 }, "reply of an update")?;
    let deleted = ask(&mut session, DELETE, &[Value::Int(31)])?;
    same(deleted, Reply { rows: 0, affected: 70 }, "reply of a delete")?;
    same(table::count(&mut *administration)?.as_str(), "30", "rows left")
}

pub(super) fn misses_touch_nothing<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::misses_touch_nothing(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 5)?;
    // Touch something first: counts of an earlier command must not stay.
    ensure(ask(&mut session, DELETE, &[Value::Int(5)])?.touched(), || "a delete touched nothing".to_owned())?;
    for (index, arguments) in [
        (SELECT, &[Value::Int(77)][..]),
        (COUNT_FROM, &[Value::Int(77)]),
        (UPDATE, &[Value::Text("x"), Value::Int(77)]),
        (DELETE, &[Value::Int(77)]),
        (SELECT, &[Value::Null]),
    ] {
        same(ask(&mut session, index, arguments)?, Reply::default(), "reply of a miss")?;
    }
    Ok(())
}

pub(super) fn bad_statement_fails_to_connect<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) && !has_records(fixture) {
        return Ok(());
    }
    let bad = [StatementSpec::counted("SELECT something FROM nowhere_at_all", &[])];
    match fixture.target().connect(&bad, None) {
        Ok(_) => Err("a statement on a table that does not exist was prepared".to_owned()),
        Err(error) => ensure(!error.transient && error.message.contains("nowhere_at_all"), || {
            format!("expected a permanent error that names the table, got {error:?}")
        }),
    }
}

pub(super) fn administration_works<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return administration_refuses_sql(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let mut administration = table::fresh(fixture, 1000)?;
    let problem = |e: crate::ConnectError| e.to_string();
    same(administration.table_exists(NAME).map_err(problem)?, true, "a table that exists")?;
    same(administration.table_exists("nowhere_at_all").map_err(problem)?, false, "a table that does not")?;
    administration
        .script(&format!("DELETE FROM {NAME} WHERE id > 2; UPDATE {NAME} SET words = NULL WHERE id = 2"))
        .map_err(problem)?;
    let rows = administration.query(&format!("SELECT id, words FROM {NAME} ORDER BY id")).map_err(problem)?;
    let text = |s: &str| Some(s.to_owned());
    same(rows, vec![vec![text("1"), text("grüße 🦀")], vec![text("2"), None]], "rows of a query")?;
    ensure(administration.script("UPDATE nowhere_at_all SET a = 1").is_err(), || {
        "a script on a table that does not exist succeeded".to_owned()
    })?;
    failed_load_leaves_nothing(&mut *administration)?;
    same(table::count(&mut *administration)?.as_str(), "2", "rows after a failed load")
}

/// With words, and for good: whoever loads tables into a store must be told before the run.
fn administration_refuses_sql<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut administration = fixture.target().administer().map_err(|e| format!("administer: {e}"))?;
    let sql = format!("SELECT * FROM {NAME}");
    let refusals =
        [("a script", administration.script(&sql).err()), ("a query", administration.query(&sql).err())];
    for (what, refusal) in refusals {
        ensure(refusal.is_some_and(|error| !error.transient && !error.message.is_empty()), || {
            format!("{what} was not refused for good")
        })?;
    }
    Ok(())
}

fn failed_load_leaves_nothing(administration: &mut dyn crate::Administration) -> Result<(), String> {
    let mut ids = vec![1, 4, 3].into_iter(); // the 1 is there already; it comes last
    let load = administration.bulk(NAME, &["id"], &mut |push| match ids.next_back() {
        Some(id) => {
            push(&[Value::Int(id)]);
            true
        }
        None => false,
    });
    ensure(load.is_err(), || "a load with a duplicate key succeeded".to_owned())
}
