//! References between tables: declared where a database can take them, verified where it may not hold them.
//!
//! PostgreSQL and MariaDB get them after loading, so that parts can be filled in any order. SQLite has no way to add one to
//! a table, so that they stand in `CREATE TABLE` there, and its pragma `foreign_keys` says whether they are enforced: parts
//! come in an order in which every parent is there before its children. DuckDB has no way to add one either, and takes an update
//! of a row that is referred to for its deletion: it gets none, and [`check`] holds there as everywhere.

use crate::dataset::CheckResult;
use driver::{Administration, ConnectError, Dialect};

/// A column whose values are keys of another table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignKey {
    /// Name of the constraint.
    pub(crate) name: &'static str,
    /// The table that refers.
    pub(crate) table: &'static str,
    /// Its column, or several with commas between.
    pub(crate) column: &'static str,
    /// The table that is referred to.
    pub(crate) parent: &'static str,
    /// Its key, of as many columns.
    pub(crate) key: &'static str,
}

impl ForeignKey {
    fn clause(&self) -> String {
        let ForeignKey { column, parent, key, .. } = self;
        format!("FOREIGN KEY ({column}) REFERENCES {parent} ({key})")
    }
}

/// What `CREATE TABLE table` ends with, from the comma on; empty where the keys come later.
pub(crate) fn inline(keys: &[ForeignKey], table: &str, dialect: Dialect) -> String {
    if dialect != Dialect::Sqlite {
        return String::new();
    }
    keys.iter().filter(|key| key.table == table).map(|key| format!(", {}", key.clause())).collect()
}

/// Adds the keys that are not there yet, where they are not [`inline`].
pub(crate) fn add(
    keys: &[ForeignKey],
    administration: &mut dyn Administration,
    dialect: Dialect,
) -> Result<(), ConnectError> {
    let schema = match dialect {
        Dialect::Postgres => "current_schema()",
        Dialect::MySql => "database()",
        _ => return Ok(()),
    };
    for key in keys {
        let known = format!(
            "SELECT count(*) FROM information_schema.table_constraints WHERE constraint_schema = {schema} \
             AND constraint_name = '{}'",
            key.name
        );
        if number(administration, &known)? == 0 {
            let (table, name) = (key.table, key.name);
            administration.script(&format!("ALTER TABLE {table} ADD CONSTRAINT {name} {}", key.clause()))?;
        }
    }
    Ok(())
}

/// Whether every reference leads somewhere; one that is null does not.
pub(crate) fn check(
    keys: &[ForeignKey],
    administration: &mut dyn Administration,
) -> Result<CheckResult, ConnectError> {
    let mut broken = Vec::new();
    for ForeignKey { table, column, parent, key, .. } in keys {
        let pairs = key.split(", ").zip(column.split(", "));
        let matches: Vec<String> = pairs.map(|(key, column)| format!("p.{key} = c.{column}")).collect();
        let sql = format!(
            "SELECT count(*) FROM {table} c WHERE NOT EXISTS (SELECT 1 FROM {parent} p WHERE {})",
            matches.join(" AND ")
        );
        let found = number(administration, &sql)?;
        if found > 0 {
            broken.push(format!("{found} rows of {table} whose {column} is not in {parent}"));
        }
    }
    Ok(CheckResult {
        name: "every reference leads to a row".to_owned(),
        passed: broken.is_empty(),
        detail: if broken.is_empty() { format!("{} references hold", keys.len()) } else { broken.join("; ") },
    })
}

/// The number that a query of one row and one column gives.
pub(crate) fn number(administration: &mut dyn Administration, sql: &str) -> Result<u64, ConnectError> {
    let rows = administration.query(sql)?;
    let text = rows.first().and_then(|row| row.first()).and_then(|value| value.as_deref());
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        ConnectError::permanent(format!("`{}` is not a count: {sql}", text.unwrap_or("nothing")))
    })
}

/// A check that a query which counts offenders finds none.
pub(crate) fn none_found(
    administration: &mut dyn Administration,
    name: &str,
    offenders: &str,
    sql: &str,
) -> Result<CheckResult, ConnectError> {
    let found = number(administration, sql)?;
    Ok(CheckResult { name: name.to_owned(), passed: found == 0, detail: format!("{found} {offenders}") })
}

/// A check that tables have as many rows as were loaded.
pub(crate) fn counted(
    administration: &mut dyn Administration,
    name: &str,
    expected: &[(&str, u64)],
) -> Result<CheckResult, ConnectError> {
    let mut details = Vec::new();
    let mut passed = true;
    for (table, rows) in expected {
        let found = number(administration, &format!("SELECT count(*) FROM {table}"))?;
        passed &= found == *rows;
        details.push(if found == *rows {
            format!("{table} {found}")
        } else {
            format!("{table} {found} instead of {rows}")
        });
    }
    Ok(CheckResult { name: name.to_owned(), passed, detail: details.join(", ") })
}
