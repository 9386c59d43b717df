//! Set-up, checks and facts, by the simple protocol and COPY.

use crate::client::{Client, Failure};
use crate::codec::{self, Garbage, Inside};
use crate::config::{Config, Host};
use crate::connect;
use crate::copy;
use crate::prepare::beginning;
use driver::{Administration, BulkRows, ConnectError, TargetFacts};
use socket::Deadline;
use std::io::Write;
use units::Nanos;

/// The most that one script or query may take: building an index of a large table takes long.
const LIMIT: Nanos = Nanos::from_secs(24 * 3600);

/// Settings that decide durability, isolation and caching.
const SETTINGS: [&str; 15] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "shared_buffers",
    "default_transaction_isolation",
    "max_connections",
    "autovacuum",
    "checkpoint_timeout",
    "max_wal_size",
    "jit",
    "data_checksums",
    "huge_pages",
    "synchronous_standby_names",
    "wal_sync_method",
];

/// A connection for set-up.
pub(crate) struct PostgresAdministration {
    client: Client,
    config: Config,
}

type Rows = Vec<Vec<Option<String>>>;

impl PostgresAdministration {
    pub(crate) fn connect(config: &Config) -> Result<PostgresAdministration, ConnectError> {
        Ok(PostgresAdministration { client: connect::connect(config)?, config: config.clone() })
    }

    fn run(&mut self, sql: &str) -> Result<Rows, ConnectError> {
        self.simple_query(sql).map_err(|failure| self.failed(sql, &failure))
    }

    fn failed(&self, sql: &str, failure: &Failure) -> ConnectError {
        connect::failed(&self.config, &format!("`{}`: ", beginning(sql)), failure)
    }

    fn simple_query(&mut self, sql: &str) -> Result<Rows, Failure> {
        self.client.deadline = Deadline::after(LIMIT);
        codec::query(&mut self.client.out, sql);
        self.client.send()?;
        let mut rows = Vec::new();
        self.client.until_ready(|tag, body| {
            match tag {
                b'D' => rows.push(text_row(body).ok_or(Garbage::Malformed(tag))?),
                b'T' | b'C' | b'I' => {}
                _ => return Err(Garbage::Unexpected(tag).into()),
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn copy_in(&mut self, sql: &str, columns: usize, rows: &mut BulkRows<'_>) -> Result<u64, Failure> {
        self.client.deadline = Deadline::after(LIMIT);
        codec::query(&mut self.client.out, sql);
        self.client.send()?;
        let refused = self.client.next(|tag, body| match tag {
            b'G' => Ok(None),
            b'E' => Ok(Some(Failure::refused(crate::server_error::ServerError::parse(body)))),
            _ => Err(Garbage::Unexpected(tag).into()),
        })?;
        if let Some(refusal) = refused {
            self.client.until_ready(|_, _| Ok(()))?;
            return Err(refusal);
        }
        let width = self.send_rows(columns, rows)?;
        match width {
            None => codec::message(&mut self.client.out, b'c', |_| {}), // CopyDone
            Some(given) => {
                let problem = format!("a row has {given} values for {columns} columns");
                codec::message(&mut self.client.out, b'f', |out| codec::push_text(out, &problem));
            }
        }
        self.client.send()?;
        let mut loaded = None;
        self.client.until_ready(|tag, body| {
            if tag == b'C' {
                loaded = copy::count(body);
            }
            Ok(())
        })?;
        loaded.ok_or(Failure::Garbage(Garbage::Malformed(b'C')))
    }

    /// Sends all rows. Gives the width of the first row that has not as many values as there are columns;
    /// nothing is sent from there on.
    fn send_rows(&mut self, columns: usize, rows: &mut BulkRows<'_>) -> Result<Option<usize>, Failure> {
        const CHUNK: usize = 64 * 1024;
        let mut wrong = None;
        let mut more = true;
        let mut lines = Vec::with_capacity(2 * CHUNK);
        while more && wrong.is_none() {
            lines.clear();
            while more && lines.len() < CHUNK && wrong.is_none() {
                more = rows(&mut |row| {
                    if row.len() == columns {
                        copy::push_row(&mut lines, row);
                    } else if wrong.is_none() {
                        wrong = Some(row.len());
                    }
                });
            }
            if !lines.is_empty() {
                codec::message(&mut self.client.out, b'd', |out| out.extend_from_slice(&lines));
                self.client.send()?;
            }
        }
        Ok(wrong)
    }

    fn settings(&mut self) -> Result<Vec<(String, String)>, ConnectError> {
        let names: Vec<String> = SETTINGS.iter().map(|name| literal(name)).collect();
        let sql = format!(
            "SELECT name, current_setting(name) FROM pg_catalog.pg_settings WHERE name IN ({}) ORDER BY name",
            names.join(", ")
        );
        let rows = self.run(&sql)?;
        Ok(rows
            .into_iter()
            .filter_map(|row| {
                let [name, value] = <[_; 2]>::try_from(row).ok()?;
                Some((name?, value?))
            })
            .collect())
    }

    /// The postmaster and this connection's backend, when they run on this host.
    fn server_pids(&mut self) -> Result<Vec<u32>, ConnectError> {
        if !self.is_local() {
            return Ok(Vec::new());
        }
        let backend = self.one("SELECT pg_backend_pid()")?.parse().ok();
        Ok(backend.map_or_else(Vec::new, postmaster_and_backend))
    }

    fn is_local(&self) -> bool {
        match &self.config.host {
            Host::Unix(_) => true,
            Host::Tcp(_) => self.client.link.socket().peer().is_some_and(|ip| ip.is_loopback()),
        }
    }

    /// The only value of a query; empty when there is none.
    fn one(&mut self, sql: &str) -> Result<String, ConnectError> {
        let rows = self.run(sql)?;
        Ok(rows.into_iter().flatten().next().flatten().unwrap_or_default())
    }

    fn transport(&self) -> &'static str {
        match &self.config.host {
            Host::Unix(_) => "unix",
            Host::Tcp(_) if self.client.link.tls().is_some() => "tcp+tls",
            Host::Tcp(_) => "tcp",
        }
    }
}

impl Administration for PostgresAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let version = self.one("SELECT version()")?;
        let product = version.split_whitespace().next().unwrap_or("PostgreSQL").to_owned();
        Ok(TargetFacts {
            product,
            version,
            address: self.config.address.clone(),
            transport: self.transport().to_owned(),
            settings: self.settings()?,
            // The TLS library allocates for each record.
            native: self.client.link.tls().is_none(),
            kernel_stamps: self.client.link.socket().has_stamps(),
            server_pids: self.server_pids()?,
        })
    }

    fn script(&mut self, sql: &str) -> Result<(), ConnectError> {
        self.run(sql).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        self.run(sql)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        let sql = format!(
            "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass({}) \
             AND relkind IN ('r', 'p', 'f', 'v', 'm')",
            literal(table)
        );
        Ok(self.one(&sql)? == "1")
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        let sql = format!("COPY {table} ({}) FROM STDIN", columns.join(", "));
        self.copy_in(&sql, columns.len(), rows).map_err(|failure| self.failed(&sql, &failure))
    }
}

impl Drop for PostgresAdministration {
    fn drop(&mut self) {
        let _ = self.client.link.write(&codec::TERMINATE).and_then(|_| self.client.link.flush());
    }
}

fn text_row(body: &[u8]) -> Option<Vec<Option<String>>> {
    let mut inside = Inside(body);
    let count = inside.i16()?;
    (0..count)
        .map(|_| {
            let field = inside.field()?;
            Some(field.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        })
        .collect()
}

/// A text as an SQL literal, whatever `standard_conforming_strings` says.
fn literal(text: &str) -> String {
    let quoted = text.replace('\\', "\\\\").replace('\'', "''");
    if text.contains('\\') { format!("E'{quoted}'") } else { format!("'{quoted}'") }
}

/// The backend's parent and the backend, if a process of this id here is PostgreSQL's: the server may be in a
/// container with ids of its own.
fn postmaster_and_backend(backend: u32) -> Vec<u32> {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{backend}/stat")) else { return Vec::new() };
    let Some((name, rest)) = stat.rsplit_once(')') else { return Vec::new() };
    if !name.contains("(postgres") {
        return Vec::new();
    }
    let parent = rest.split_whitespace().nth(1).and_then(|field| field.parse().ok());
    parent.into_iter().chain([backend]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_quoted() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'b"), "E'a\\\\''b'");
    }
}
