//! Set-up, checks and facts.

use crate::appender::Appender;
use crate::chunk::Chunk;
use crate::database::{Connection, failure};
use crate::options::Options;
use crate::{script, session, shown};
use driver::{Administration, BulkRows, ConnectError, TargetFacts, Value};

/// A connection that measures nothing.
pub(crate) struct DuckDbAdministration {
    connection: Connection,
}

/// Settings that are read back for the facts.
const SETTINGS: [&str; 10] = [
    "threads",
    "external_threads",
    "memory_limit",
    "access_mode",
    "checkpoint_threshold",
    "preserve_insertion_order",
    "temp_directory",
    "disabled_optimizers",
    "autoinstall_known_extensions",
    "autoload_known_extensions",
];

/// Characters of a statement that an error repeats.
const SHOWN: usize = 60;

impl DuckDbAdministration {
    pub(crate) fn open(options: &Options) -> Result<DuckDbAdministration, ConnectError> {
        Ok(DuckDbAdministration { connection: Connection::open(options)? })
    }

    fn error(&self, words: &str, sql: &str) -> ConnectError {
        let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = line.chars().take(SHOWN).collect();
        if line.chars().count() > SHOWN {
            shown.push('…');
        }
        let transient = words.contains("onflict");
        ConnectError { transient, ..failure(&self.connection.path, &format!("{words} in `{shown}`")) }
    }

    /// Runs one statement, and adds its rows.
    fn rows_of(&self, sql: &str, found: &mut Vec<Vec<Option<String>>>) -> Result<(), ConnectError> {
        let mut answer = self.connection.run(sql).map_err(|words| self.error(&words, sql))?;
        let (api, mut kinds) = (self.connection.api(), Vec::new());
        session::kinds_of(api, &mut answer.raw, &mut kinds);
        // SAFETY: the chunk goes before the result does.
        while let Some(chunk) = unsafe { Chunk::next(api, answer.raw) } {
            let columns: Vec<_> =
                kinds.iter().enumerate().map(|(index, kind)| chunk.column(index, *kind)).collect();
            for row in 0..chunk.rows() {
                let texts = columns.iter().map(|column| shown::text(column, row));
                let texts = texts.collect::<Result<_, u32>>().map_err(|kind| {
                    self.error(
                        &format!("a column of type number {kind} has no text here: cast it to varchar"),
                        sql,
                    )
                })?;
                found.push(texts);
            }
        }
        Ok(())
    }

    fn append(&self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        let error = |words: String| self.error(&words, &format!("load of {table} ({})", columns.join(", ")));
        let mut appender = Appender::new(&self.connection, table, columns).map_err(error)?;
        let (mut count, mut failed) = (0, None);
        let mut push = |values: &[Value<'_>]| {
            if failed.is_none() {
                match appender.row(values) {
                    Ok(()) => count += 1,
                    Err(words) => failed = Some(words),
                }
            }
        };
        // A failure stops the loading at once, and the asking at the end of the row's turn.
        while rows(&mut push) {}
        match failed {
            Some(words) => Err(error(words)),
            None => appender.close().map(|()| count).map_err(error),
        }
    }
}

impl Administration for DuckDbAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let mut settings = Vec::new();
        for name in SETTINGS {
            let row = self.query(&format!("SELECT CAST(current_setting('{name}') AS varchar)"))?;
            let value = row.into_iter().flatten().next().flatten().unwrap_or_default();
            settings.push((name.to_owned(), value));
        }
        settings.push(("isolation".to_owned(), "snapshot".to_owned()));
        settings.push(("library".to_owned(), self.connection.library.path().display().to_string()));
        Ok(TargetFacts {
            product: "DuckDB".to_owned(),
            version: self.connection.library.version(),
            address: self.connection.path.display().to_string(),
            transport: "in-process".to_owned(),
            settings,
            native: true,
            kernel_stamps: false,
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, sql: &str) -> Result<(), ConnectError> {
        for statement in script::statements(sql) {
            self.connection.run(statement).map_err(|words| self.error(&words, statement))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        let mut found = Vec::new();
        for statement in script::statements(sql) {
            self.rows_of(statement, &mut found)?;
        }
        Ok(found)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        let name = table.replace('\'', "''");
        let sql = format!(
            "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() \
             AND lower(table_name) = lower('{name}')"
        );
        Ok(!self.query(&sql)?.is_empty())
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.script("BEGIN TRANSACTION")?;
        let ended = self.append(table, columns, rows).and_then(|count| self.script("COMMIT").map(|()| count));
        match ended {
            Ok(count) => {
                // Else the first who commits much would pay for the load's log. Refused while others write: no failure.
                let _ = self.script("CHECKPOINT");
                Ok(count)
            }
            Err(error) => {
                // The first error is the one to tell.
                let _ = self.script("ROLLBACK");
                Err(error)
            }
        }
    }
}
