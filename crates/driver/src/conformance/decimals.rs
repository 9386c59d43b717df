//! Exact numbers: what is money must not pass through a float.

use super::table::NAME;
use super::{Fixture, connect, ensure, same, speaks_sql, told};
use crate::{Command, Decimal, Direct, Session, StatementSpec, Target, Value, ValueType};

/// Columns: an identifier, money, a tax rate.
const COLUMNS: [ValueType; 3] = [ValueType::Int, ValueType::Decimal(2), ValueType::Decimal(4)];

const INSERT: usize = 0;
const SELECT: usize = 1;
const ADD: usize = 2;
const SUM: usize = 3;

pub(super) fn come_back<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) || !fixture.has_decimals() {
        return Ok(());
    }
    let mut session = session_on_fresh_table(fixture)?;
    let prices = [0, 1, -1, 99, -100, 12_345_678_901_234, -999_999_999_999_999_999, 999_999_999_999_999_999];
    let rates = [0, 1, 2000, 9_999, -1, 0, 1, 5];
    for (at, (&price, &rate)) in prices.iter().zip(&rates).enumerate() {
        let id = i64::try_from(at).unwrap_or(0) + 1;
        let row = [Value::Int(id), money(price), Value::Decimal(Decimal { unscaled: rate, scale: 4 })];
        same(ask(&mut session, INSERT, &row)?.affected, 1, "rows inserted")?;
        same(ask(&mut session, SELECT, &row[..1])?.rows, 1, "rows selected")?;
        let found = (session.value(0, 0, 1), session.value(0, 0, 2));
        same(found, (Some(row[1]), Some(row[2])), "decimals read back")?;
    }
    arithmetic_is_exact(&mut session)?;
    loaded_in_bulk(fixture, &mut session)
}

/// A tenth, added ten times, is one; and a sum is a decimal again.
fn arithmetic_is_exact<S: Session>(session: &mut S) -> Result<(), String> {
    for _ in 0..10 {
        same(ask(session, ADD, &[money(10), Value::Int(1)])?.affected, 1, "rows updated")?;
    }
    ask(session, SELECT, &[Value::Int(1)])?;
    same(session.value(0, 0, 1), Some(money(100)), "ten times a tenth")?;
    ask(session, SUM, &[Value::Int(2)])?;
    same(session.value(0, 0, 0), Some(money(101)), "a sum")
}

fn loaded_in_bulk<F: Fixture, S: Session>(fixture: &F, session: &mut S) -> Result<(), String> {
    let mut administration = fixture.target().administer().map_err(|e| format!("administer: {e}"))?;
    let mut left = vec![-1250, 5];
    administration
        .bulk(NAME, &["id", "price", "rate"], &mut |push| {
            let Some(cents) = left.pop() else { return false };
            push(&[Value::Int(100 + cents), money(cents), Value::Null]);
            true
        })
        .map_err(|e| format!("bulk: {e}"))?;
    for cents in [5, -1250] {
        ask(session, SELECT, &[Value::Int(100 + cents)])?;
        same(session.value(0, 0, 1), Some(money(cents)), "a decimal loaded in bulk")?;
        ensure(session.value(0, 0, 2) == Some(Value::Null), || "NULL came back as a number".to_owned())?;
    }
    Ok(())
}

fn money(cents: i64) -> Value<'static> {
    Value::Decimal(Decimal { unscaled: cents, scale: 2 })
}

fn ask<S: Session>(session: &mut S, index: usize, arguments: &[Value<'_>]) -> Result<crate::Reply, String> {
    let reply = Direct::new(session).ask(Command::Statement { index, arguments });
    told(reply, session, "statement")
}

fn session_on_fresh_table<F: Fixture>(fixture: &F) -> Result<<F::Target as Target>::Session, String> {
    let dialect = fixture.target().dialect();
    let mut administration = fixture.target().administer().map_err(|e| format!("administer: {e}"))?;
    let script = format!(
        "DROP TABLE IF EXISTS {NAME}; CREATE TABLE {NAME} (id INTEGER PRIMARY KEY, price {}, rate {})",
        dialect.decimal(18, 2),
        dialect.decimal(6, 4)
    );
    administration.script(&script).map_err(|e| format!("script: {e}"))?;
    let (int, price) = (ValueType::Int, ValueType::Decimal(2));
    let statements = [
        StatementSpec::counted(dialect.sql(&format!("INSERT INTO {NAME} VALUES (?, ?, ?)")), &COLUMNS),
        StatementSpec::kept(
            dialect.sql(&format!("SELECT id, price, rate FROM {NAME} WHERE id = ?")),
            &[int],
            &COLUMNS,
        ),
        StatementSpec::counted(
            dialect.sql(&format!("UPDATE {NAME} SET price = price + ? WHERE id = ?")),
            &[price, int],
        ),
        StatementSpec::kept(
            dialect.sql(&format!("SELECT sum(price) FROM {NAME} WHERE id <= ?")),
            &[int],
            &[price],
        ),
    ];
    connect(fixture, &statements, None)
}
