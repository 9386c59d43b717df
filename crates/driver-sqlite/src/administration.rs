//! Set-up, checks and facts.

use crate::database::{Database, failure};
use crate::options::Options;
use crate::statement::{Statement, Step};
use driver::{Administration, BulkRows, ConnectError, TargetFacts, Value};
use rusqlite::ffi;

/// A connection that measures nothing.
pub(crate) struct SqliteAdministration {
    database: Database,
    options: Options,
}

/// Settings that are read back for the facts.
const PRAGMAS: [&str; 9] = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "page_size",
    "mmap_size",
    "wal_autocheckpoint",
    "locking_mode",
    "temp_store",
    "foreign_keys",
];

/// Characters of a statement that an error repeats.
const SHOWN: usize = 60;

impl SqliteAdministration {
    pub(crate) fn open(options: &Options) -> Result<SqliteAdministration, ConnectError> {
        Ok(SqliteAdministration { database: Database::open(options)?, options: options.clone() })
    }

    /// Runs each statement of `sql`, giving every row of each to `row`.
    fn each_row(&mut self, sql: &str, row: &mut dyn FnMut(&Statement)) -> Result<(), ConnectError> {
        let mut rest = sql;
        while !rest.trim().is_empty() {
            // SAFETY: the statement is dropped before this function returns, the connection later.
            let (statement, taken) = unsafe { Statement::prepare(self.database.raw(), rest) }
                .map_err(|code| self.error(code, rest))?;
            if let Some(mut statement) = statement {
                loop {
                    match statement.step() {
                        Step::Row => row(&statement),
                        Step::Done => break,
                        Step::Failed(code) => return Err(self.error(code, rest)),
                    }
                }
            }
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn error(&self, code: std::ffi::c_int, sql: &str) -> ConnectError {
        let words = self.database.words_text();
        let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = line.chars().take(SHOWN).collect();
        if line.chars().count() > SHOWN {
            shown.push('…');
        }
        let transient = matches!(code & 0xFF, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED);
        ConnectError { transient, ..failure(&self.options.path, &format!("{words} in `{shown}`")) }
    }

    fn insert_all(
        &mut self,
        sql: &str,
        columns: usize,
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        // SAFETY: the statement is dropped at the end of this function, the connection later.
        let (statement, _) =
            unsafe { Statement::prepare(self.database.raw(), sql) }.map_err(|code| self.error(code, sql))?;
        let Some(mut statement) = statement else { return Ok(0) };
        let mut count = 0;
        let mut failed = None;
        let mut insert = |values: &[Value<'_>]| {
            if failed.is_some() {
                return;
            }
            if values.len() != columns {
                let problem = format!("{} values for {columns} columns in `{sql}`", values.len());
                failed = Some(failure(&self.options.path, &problem));
                return;
            }
            match insert_row(&mut statement, values) {
                Ok(()) => count += 1,
                Err(code) => failed = Some(self.error(code, sql)),
            }
        };
        // A failure stops the inserts at once, and the asking at the end of the row's turn.
        while rows(&mut insert) {}
        failed.map_or(Ok(count), Err)
    }

    fn columns_of(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        let mut found = Vec::new();
        self.each_row(sql, &mut |statement| {
            let text = |column| {
                let null = statement.class(column) == ffi::SQLITE_NULL;
                (!null).then(|| String::from_utf8_lossy(statement.bytes(column, true)).into_owned())
            };
            found.push((0..statement.columns()).map(text).collect());
        })?;
        Ok(found)
    }
}

fn insert_row(statement: &mut Statement, values: &[Value<'_>]) -> Result<(), std::ffi::c_int> {
    for (index, value) in values.iter().enumerate() {
        // SAFETY: the values outlive this call, and the statement is reset in it.
        match unsafe { statement.bind(index, *value) } {
            ffi::SQLITE_OK => {}
            code => return Err(code),
        }
    }
    let ended = statement.step();
    statement.reset();
    match ended {
        Step::Failed(code) => Err(code),
        _ => Ok(()),
    }
}

impl Administration for SqliteAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let path = &self.options.path;
        let mut settings = Vec::new();
        for name in PRAGMAS {
            settings.push((name.to_owned(), self.database.pragma(path, name)?));
        }
        let begin = if self.options.begin_immediate { "immediate" } else { "deferred" };
        for (name, value) in [
            ("busy_timeout_ms", self.options.busy_timeout_ms.to_string()),
            ("begin", begin.to_owned()),
            ("isolation", "serializable".to_owned()),
        ] {
            settings.push((name.to_owned(), value));
        }
        let address = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        Ok(TargetFacts {
            product: "SQLite".to_owned(),
            version: rusqlite::version().to_owned(),
            address: address.display().to_string(),
            transport: "in-process".to_owned(),
            settings,
            native: true,
            kernel_stamps: false,
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, sql: &str) -> Result<(), ConnectError> {
        self.each_row(sql, &mut |_| ())
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        self.columns_of(sql)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        let name = table.replace('\'', "''");
        let sql =
            format!("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '{name}' COLLATE NOCASE");
        Ok(!self.columns_of(&sql)?.is_empty())
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        let places: Vec<String> = (1..=columns.len()).map(|n| format!("?{n}")).collect();
        let sql = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        self.script("BEGIN IMMEDIATE")?;
        let inserted = self.insert_all(&sql, columns.len(), rows);
        let ended = inserted.and_then(|count| self.script("COMMIT").map(|()| count));
        match ended {
            // A long log would slow down whoever reads first. Refused while others read, which is no failure.
            Ok(count) if self.options.journal == "wal" => {
                self.script("PRAGMA wal_checkpoint(TRUNCATE)").map(|()| count)
            }
            Ok(count) => Ok(count),
            Err(error) => {
                // The first error is the one to tell.
                let _ = self.script("ROLLBACK");
                Err(error)
            }
        }
    }
}
