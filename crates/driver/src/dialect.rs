//! The differences between SQL databases that workloads must know of.
//!
//! A workload's statements are written once, in the SQL that all of them share; what differs comes from here.

/// Which SQL a target speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// PostgreSQL and its relatives.
    Postgres,
    /// MariaDB and MySQL.
    MySql,
    /// SQLite.
    Sqlite,
    /// DuckDB.
    DuckDb,
    /// No SQL: workloads use [`crate::Command::KeyValue`].
    KeyValue,
    /// Accepts everything and does nothing (`null:`).
    Null,
}

impl Dialect {
    /// Whether statements mean something to it.
    pub fn is_sql(self) -> bool {
        matches!(self, Dialect::Postgres | Dialect::MySql | Dialect::Sqlite | Dialect::DuckDb)
    }

    /// The n-th parameter, counted from 1: `$1`, `?1` or `?`. Portable statements use each once, in order.
    pub fn placeholder(self, n: usize) -> String {
        match self {
            Dialect::Postgres | Dialect::DuckDb => format!("${n}"),
            Dialect::MySql => "?".to_owned(),
            _ => format!("?{n}"),
        }
    }

    /// A statement of this dialect from one that is written for all: each `?` outside of quotes becomes a placeholder, and
    /// ` FOR UPDATE` is left out where there is no such clause.
    pub fn sql(self, template: &str) -> String {
        let mut sql = String::with_capacity(template.len() + 16);
        let (mut quoted, mut n) = (false, 0);
        for character in template.replace(" FOR UPDATE", self.for_update()).chars() {
            quoted ^= character == '\'';
            if character == '?' && !quoted {
                n += 1;
                sql += &self.placeholder(n);
            } else {
                sql.push(character);
            }
        }
        sql
    }

    /// The clause that locks selected rows; empty where writers exclude each other anyway, or can't wait for each other.
    pub fn for_update(self) -> &'static str {
        match self {
            Dialect::Postgres | Dialect::MySql => " FOR UPDATE",
            _ => "",
        }
    }

    /// Whether a lone semicolon (an empty statement) can be prepared.
    pub fn has_empty_statement(self) -> bool {
        matches!(self, Dialect::Postgres | Dialect::Null)
    }

    /// Column type of an exact number of so many digits, `scale` of them after the point.
    pub fn decimal(self, digits: u8, scale: u8) -> String {
        match self {
            // Its decimals are floats: the column holds the number in units of its last digit.
            Dialect::Sqlite => "bigint".to_owned(),
            _ => format!("decimal({digits},{scale})"),
        }
    }

    /// Column type of a moment, to the microsecond, without a zone: UTC.
    pub fn timestamp(self) -> &'static str {
        match self {
            // Its `timestamp` ends in 2038, and both are whole seconds unless told otherwise.
            Dialect::MySql => "datetime(6)",
            _ => "timestamp",
        }
    }

    /// Column type of text without a limit that matters.
    pub fn text(self) -> &'static str {
        match self {
            // Its `text` ends at 64 KiB.
            Dialect::MySql => "longtext",
            _ => "text",
        }
    }

    /// Statement that inserts a row, or sets `set` where a row with the same `keys` is there. Parameters: keys, then `set`.
    pub fn upsert(self, table: &str, keys: &[&str], set: &[&str]) -> String {
        let columns: Vec<&str> = keys.iter().chain(set).copied().collect();
        let values: Vec<String> = (1..=columns.len()).map(|n| self.placeholder(n)).collect();
        let insert = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), values.join(", "));
        let assign = |of: &dyn Fn(&str) -> String| {
            set.iter().map(|column| format!("{column} = {}", of(column))).collect::<Vec<_>>().join(", ")
        };
        match self {
            Dialect::MySql => {
                format!("{insert} ON DUPLICATE KEY UPDATE {}", assign(&|c| format!("VALUES({c})")))
            }
            _ => format!(
                "{insert} ON CONFLICT ({}) DO UPDATE SET {}",
                keys.join(", "),
                assign(&|c| format!("excluded.{c}"))
            ),
        }
    }

    /// Script that begins a transaction whose queries all see one state of the data. `COMMIT` ends it.
    pub fn begin_snapshot(self) -> &'static str {
        match self {
            Dialect::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Dialect::MySql => {
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
            }
            _ => "BEGIN",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_written_once() {
        let template = "SELECT a, '?' FROM t WHERE b = ? AND c = ? FOR UPDATE";
        let expected = [
            (Dialect::Postgres, "SELECT a, '?' FROM t WHERE b = $1 AND c = $2 FOR UPDATE"),
            (Dialect::MySql, "SELECT a, '?' FROM t WHERE b = ? AND c = ? FOR UPDATE"),
            (Dialect::Sqlite, "SELECT a, '?' FROM t WHERE b = ?1 AND c = ?2"),
            (Dialect::DuckDb, "SELECT a, '?' FROM t WHERE b = $1 AND c = $2"),
        ];
        for (dialect, sql) in expected {
            assert_eq!(dialect.sql(template), sql);
        }
    }

    #[test]
    fn upserts_name_keys_and_values() {
        assert_eq!(
            Dialect::Postgres.upsert("t", &["k"], &["a", "b"]),
            "INSERT INTO t (k, a, b) VALUES ($1, $2, $3) ON CONFLICT (k) DO UPDATE SET a = excluded.a, b = excluded.b"
        );
        assert_eq!(
            Dialect::MySql.upsert("t", &["k"], &["a"]),
            "INSERT INTO t (k, a) VALUES (?, ?) ON DUPLICATE KEY UPDATE a = VALUES(a)"
        );
    }
}
