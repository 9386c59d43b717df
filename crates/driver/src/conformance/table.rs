//! The table and the statements that the checks use.

use super::{Fixture, connect};
use crate::{Administration, Dialect, Session, StatementSpec, Target, Value, ValueType};

pub(super) const NAME: &str = "truetail_conformance";

pub(super) const INSERT: usize = 0;
pub(super) const SELECT: usize = 1;
pub(super) const COUNT_FROM: usize = 2;
pub(super) const UPDATE: usize = 3;
pub(super) const DELETE: usize = 4;

/// Columns in the order of the table.
pub(super) const COLUMNS: [ValueType; 5] =
    [ValueType::Int, ValueType::Int, ValueType::Float, ValueType::Text, ValueType::Timestamp];

/// All statements, in the order of the constants above.
pub(super) fn statements(dialect: Dialect) -> Vec<StatementSpec> {
    let p = |n| dialect.placeholder(n);
    let int = ValueType::Int;
    let values: Vec<String> = (1..=COLUMNS.len()).map(p).collect();
    vec![
        StatementSpec::counted(format!("INSERT INTO {NAME} VALUES ({})", values.join(", ")), &COLUMNS),
        StatementSpec::kept(
            format!("SELECT id, number, ratio, words, moment FROM {NAME} WHERE id = {}", p(1)),
            &[int],
            &COLUMNS,
        ),
        StatementSpec::counted(format!("SELECT * FROM {NAME} WHERE id >= {}", p(1)), &[int]),
        StatementSpec::counted(
            format!("UPDATE {NAME} SET words = {} WHERE id >= {}", p(1), p(2)),
            &[ValueType::Text, int],
        ),
        StatementSpec::counted(format!("DELETE FROM {NAME} WHERE id >= {}", p(1)), &[int]),
    ]
}

/// A row whose every value differs from every other row's.
pub(super) fn row(id: i64) -> [Value<'static>; 5] {
    let number = id.wrapping_mul(0x0123_4567_89AB_CDEF);
    [
        Value::Int(id),
        Value::Int(number),
        Value::Float(id as f64 / 7.0),
        Value::Text("grüße 🦀"),
        Value::Timestamp(1_700_000_000_000_000 + id),
    ]
}

/// Makes the table anew with `count` rows, ids from 1 on.
pub(super) fn fresh<F: Fixture>(fixture: &F, count: i64) -> Result<Box<dyn Administration>, String> {
    let mut administration = fixture.target().administer().map_err(|e| format!("administer: {e}"))?;
    let dialect = fixture.target().dialect();
    let script = format!(
        "DROP TABLE IF EXISTS {NAME}; CREATE TABLE {NAME} (id INTEGER PRIMARY KEY, number BIGINT, \
         ratio DOUBLE PRECISION, words {}, moment {})",
        dialect.text(),
        dialect.timestamp()
    );
    administration.script(&script).map_err(|e| format!("script: {e}"))?;
    let mut next = 1;
    let loaded = administration
        .bulk(NAME, &["id", "number", "ratio", "words", "moment"], &mut |push| {
            if next > count {
                return false;
            }
            push(&row(next));
            next += 1;
            true
        })
        .map_err(|e| format!("bulk: {e}"))?;
    super::same(loaded, count.unsigned_abs(), "rows loaded")?;
    Ok(administration)
}

/// The number of rows, by way of administration.
pub(super) fn count(administration: &mut dyn Administration) -> Result<String, String> {
    let rows = administration.query(&format!("SELECT count(*) FROM {NAME}")).map_err(|e| e.to_string())?;
    rows.into_iter().flatten().next().flatten().ok_or_else(|| "count(*) gave nothing".to_owned())
}

/// A connection for administration and one under test.
pub(super) type Pair<F> = (Box<dyn Administration>, <<F as Fixture>::Target as Target>::Session);

/// A fresh table with `count` rows, and a session with all statements.
pub(super) fn session<F: Fixture>(fixture: &F, count: i64) -> Result<Pair<F>, String> {
    let administration = fresh(fixture, count)?;
    let session = connect(fixture, &statements(fixture.target().dialect()), None)?;
    Ok((administration, session))
}

/// The row of the n-th command's first row, as far as the session gives it.
pub(super) fn first_row<S: Session>(session: &S, command: usize) -> Vec<Option<Value<'_>>> {
    (0..COLUMNS.len()).map(|column| session.value(command, 0, column)).collect()
}
