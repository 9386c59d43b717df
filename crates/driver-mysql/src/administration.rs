//! Set-up, checks and facts, in text.

use crate::bulk;
use crate::cancel::Abandoned;
use crate::client::{Client, Failure, Row};
use crate::codec;
use crate::config::{Config, Host};
use crate::connect;
use crate::login::Purpose;
use crate::prepare::{SETTINGS, beginning};
use driver::{Administration, BulkRows, ConnectError, TargetFacts};
use socket::Deadline;
use std::io::Write;
use std::path::Path;
use units::Nanos;

/// The most that one script or query may take: building an index of a large table takes long.
const LIMIT: Nanos = Nanos::from_secs(24 * 3600);

/// Settings that decide durability, isolation and caching, the weightiest first; each server has some of them.
const VARIABLES: [&str; 27] = [
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "log_bin",
    "innodb_doublewrite",
    "innodb_flush_method",
    "tx_isolation",
    "transaction_isolation",
    "innodb_snapshot_isolation",
    "innodb_buffer_pool_size",
    "query_cache_type",
    "query_cache_size",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_lock_wait_timeout",
    "innodb_rollback_on_timeout",
    "innodb_io_capacity",
    "default_storage_engine",
    "binlog_format",
    "rpl_semi_sync_master_enabled",
    "rpl_semi_sync_source_enabled",
    "wsrep_on",
    "thread_handling",
    "max_connections",
    "max_allowed_packet",
    "autocommit",
    "time_zone",
    "wait_timeout",
];

/// A connection for set-up.
pub(crate) struct MySqlAdministration {
    client: Client,
    config: Config,
}

impl MySqlAdministration {
    pub(crate) fn connect(
        config: &Config,
        abandoned: &Abandoned,
    ) -> Result<MySqlAdministration, ConnectError> {
        let mut client = connect::connect(config, Purpose::Administration)?;
        abandoned
            .end(&mut client)
            .and_then(|()| client.execute(SETTINGS).map(drop))
            .map_err(|failure| connect::failed(config, "", &failure))?;
        Ok(MySqlAdministration { client, config: config.clone() })
    }

    fn run(&mut self, sql: &str) -> Result<Vec<Row>, ConnectError> {
        self.client.deadline = Deadline::after(LIMIT);
        codec::command(&mut self.client.out, codec::QUERY, sql.trim_end().trim_end_matches(';'));
        let rows = self.client.send().and_then(|()| self.client.rows());
        rows.map_err(|failure| self.failed(sql, &failure))
    }

    fn failed(&self, sql: &str, failure: &Failure) -> ConnectError {
        connect::failed(&self.config, &format!("`{}`: ", beginning(sql)), failure)
    }

    /// The only value of a query; empty when there is none.
    fn one(&mut self, sql: &str) -> Result<String, ConnectError> {
        let rows = self.run(sql)?;
        Ok(rows.into_iter().flatten().next().flatten().unwrap_or_default())
    }

    fn settings(&mut self) -> Result<Vec<(String, String)>, ConnectError> {
        let names: Vec<String> = VARIABLES.iter().map(|name| format!("'{name}'")).collect();
        let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", "));
        let mut settings: Vec<(String, String)> = self
            .run(&sql)?
            .into_iter()
            .filter_map(|row| {
                let [name, value] = <[_; 2]>::try_from(row).ok()?;
                Some((name?, value?))
            })
            .collect();
        // As sessions have it, not as the server has it.
        settings.push(("sql_mode".to_owned(), self.one("SELECT @@SESSION.sql_mode")?));
        let weight = |name: &str| VARIABLES.iter().position(|known| *known == name);
        settings.sort_by_key(|(name, _)| weight(name).unwrap_or(VARIABLES.len()));
        Ok(settings)
    }

    /// The server's process, when it runs on this host.
    fn server_pids(&mut self) -> Result<Vec<u32>, ConnectError> {
        if !self.is_local() {
            return Ok(Vec::new());
        }
        let rows = self.run("SELECT @@pid_file, @@datadir")?;
        let Some([Some(file), Some(directory)]) = rows.first().map(Vec::as_slice) else {
            return Ok(Vec::new());
        };
        Ok(process_of(&Path::new(directory).join(file)).into_iter().collect())
    }

    fn is_local(&self) -> bool {
        match &self.config.host {
            Host::Unix(_) => true,
            Host::Tcp(_) => self.client.link.socket().peer().is_some_and(|ip| ip.is_loopback()),
        }
    }

    fn transport(&self) -> &'static str {
        match &self.config.host {
            Host::Unix(_) => "unix",
            Host::Tcp(_) if self.client.link.tls().is_some() => "tcp+tls",
            Host::Tcp(_) => "tcp",
        }
    }
}

impl Administration for MySqlAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let product = if self.client.server.is_mariadb { "MariaDB" } else { "MySQL" };
        Ok(TargetFacts {
            product: product.to_owned(),
            version: self.one("SELECT CONCAT(VERSION(), ' (', @@version_comment, ')')")?,
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

    fn query(&mut self, sql: &str) -> Result<Vec<Row>, ConnectError> {
        self.run(sql)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        let quoted = table.replace('\\', "\\\\").replace('\'', "''");
        let sql = format!(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{quoted}'"
        );
        Ok(self.one(&sql)? == "1")
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.client.deadline = Deadline::after(LIMIT);
        let what = format!("load of `{table}`");
        bulk::load(&mut self.client, table, columns, rows).map_err(|failure| self.failed(&what, &failure))
    }
}

impl Drop for MySqlAdministration {
    fn drop(&mut self) {
        let mut good_bye = Vec::new();
        codec::command(&mut good_bye, codec::QUIT, "");
        let _ = self.client.link.write(&good_bye).and_then(|_| self.client.link.flush());
    }
}

/// The process that a server has noted in this file, if a process of that number here is a server: it may be in a container
/// with numbers of its own.
fn process_of(file: &Path) -> Option<u32> {
    let pid: u32 = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    ["mariadbd", "mysqld"].contains(&name.trim()).then_some(pid)
}
