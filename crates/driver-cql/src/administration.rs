//! Set-up and facts.

use crate::client::{self, Client};
use crate::config::Config;
use crate::layout::{local, text};
use driver::{Administration, BulkRows, ConnectError, Records, TargetFacts};
use units::Nanos;

/// A connection for set-up.
pub(crate) struct CqlAdministration {
    pub(crate) client: Client,
    pub(crate) config: Config,
}

/// Settings that decide durability, memory and side effects, as `system_views.settings` names them.
const SETTINGS: [&str; 10] = [
    "commitlog_sync",
    "commitlog_sync_period",
    "concurrent_reads",
    "concurrent_writes",
    "memtable_heap_space",
    "compaction_throughput",
    "read_request_timeout",
    "write_request_timeout",
    "endpoint_snitch",
    "num_tokens",
];

impl CqlAdministration {
    pub(crate) fn connect(config: &Config) -> Result<CqlAdministration, ConnectError> {
        Ok(CqlAdministration { client: client::connect(config, 0)?, config: config.clone() })
    }

    /// The rows of a query on what a node knows itself, as text.
    pub(crate) fn known(&mut self, cql: &str, values: &[&[u8]]) -> Result<Vec<Vec<String>>, ConnectError> {
        let mut rows = Vec::new();
        self.client.rows(cql, values, local(), &mut |row| {
            rows.push((0..row.len()).map(|column| text(row, column)).collect());
        })?;
        Ok(rows)
    }

    /// Changes the schema, and waits until all nodes have it.
    pub(crate) fn change_schema(&mut self, cql: &str) -> Result<(), ConnectError> {
        self.client.done(cql, &[], local())?;
        const TIMES: u32 = 100;
        for _ in 0..TIMES {
            let own = self.known("SELECT toJson(schema_version) FROM system.local", &[])?;
            let others = self.known("SELECT toJson(schema_version) FROM system.peers", &[])?;
            if others.iter().all(|version| own.first() == Some(version)) {
                return Ok(());
            }
            clock::pause(Nanos::from_millis(100));
        }
        Err(ConnectError::transient(format!(
            "{}: the nodes do not agree on the schema; is one of them down?",
            self.config.address
        )))
    }

    fn settings(&mut self) -> Result<Vec<(String, String)>, ConnectError> {
        let config = &self.config;
        let mut settings = vec![
            ("read consistency".to_owned(), config.reads.name().to_owned()),
            ("write consistency".to_owned(), config.writes.name().to_owned()),
            ("keyspace".to_owned(), config.keyspace.clone()),
        ];
        let keyspace = config.keyspace.clone();
        let replication = self.known(
            "SELECT toJson(replication), toJson(durable_writes) FROM system_schema.keyspaces WHERE keyspace_name = ?",
            &[keyspace.as_bytes()],
        )?;
        for row in replication {
            let names = ["replication", "durable_writes"].map(str::to_owned);
            settings.extend(names.into_iter().zip(row));
        }
        let others = self.known("SELECT toJson(host_id) FROM system.peers", &[])?.len();
        settings.push(("nodes".to_owned(), (others + 1).to_string()));
        let names: Vec<String> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
        let cql =
            format!("SELECT name, value FROM system_views.settings WHERE name IN ({})", names.join(","));
        // A table that not every server has.
        for row in self.known(&cql, &[]).unwrap_or_default() {
            if let [name, value] = &row[..] {
                settings.push((name.clone(), value.clone()));
            }
        }
        Ok(settings)
    }
}

/// What stands between semicolons that are in no quotes.
fn statements(text: &str) -> Vec<&str> {
    let mut quote = None;
    let parts = text.split(move |c: char| {
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(open) if open == c => quote = None,
            _ => {}
        }
        c == ';' && quote.is_none()
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

impl Administration for CqlAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let (product, cql) = match self.client.is_scylla {
            true => ("Scylla", "SELECT version FROM system.versions"),
            false => ("Cassandra", "SELECT release_version FROM system.local"),
        };
        let found = self.known(cql, &[])?;
        let version = found.first().and_then(|row| row.first()).filter(|version| !version.is_empty());
        Ok(TargetFacts {
            product: product.to_owned(),
            version: version.cloned().unwrap_or_else(|| "unknown".to_owned()),
            address: self.config.address.clone(),
            transport: "tcp".to_owned(),
            settings: self.settings()?,
            native: true,
            kernel_stamps: self.client.socket.has_stamps(),
            server_pids: Vec::new(),
        })
    }

    /// Statements of CQL.
    fn script(&mut self, cql: &str) -> Result<(), ConnectError> {
        statements(cql).into_iter().try_for_each(|statement| self.change_schema(statement))
    }

    /// What columns of text hold; `toJson(column)` makes text of any other.
    fn query(&mut self, cql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        let mut rows = Vec::new();
        self.client.rows(cql, &[], self.config.reads, &mut |row| {
            let shown = |value: &Option<Vec<u8>>| Some(String::from_utf8_lossy(value.as_ref()?).into_owned());
            rows.push(row.iter().map(shown).collect());
        })?;
        Ok(rows)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        self.has_records(table)
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.insert_all(table, columns, rows)
    }

    fn records(&mut self) -> Option<&mut dyn Records> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::statements;

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes() {
        let text = "INSERT INTO t (k) VALUES ('a;''b;'); ;DROP TABLE \"a;b\" ";
        assert_eq!(statements(text), ["INSERT INTO t (k) VALUES ('a;''b;')", "DROP TABLE \"a;b\""]);
    }
}
