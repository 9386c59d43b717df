//! Facts, and set-up by what the class can do.

use crate::config::{Config, Transport};
use crate::jvm::Jvm;
use crate::session::YcsbSession;
use driver::{Administration, BulkRows, ConnectError, Records, TargetFacts};
use std::sync::Arc;

/// What is known of the binding and its JVM.
pub(crate) struct YcsbAdministration {
    pub(crate) config: Arc<Config>,
    /// A session for it alone.
    pub(crate) session: YcsbSession,
    pub(crate) jvm: Arc<Jvm>,
    pub(crate) kernel_stamps: bool,
}

impl YcsbAdministration {
    fn without_sql(&self) -> ConnectError {
        let problem = "YCSB's database classes have no SQL; use a workload for key-value targets";
        ConnectError::permanent(format!("{}: {problem}", self.config.address))
    }

    fn settings(&self) -> Vec<(String, String)> {
        let config = &self.config;
        let shown = |name: &str, value: &str| !driver::names_secret(name) && !driver::holds_secret(value);
        let mut settings = vec![
            ("helper JVM".to_owned(), self.jvm.java.clone()),
            ("helper JVM's process".to_owned(), self.jvm.pid().to_string()),
        ];
        if !config.jvm.is_empty() {
            settings
                .push(("helper JVM's arguments".to_owned(), config.secrets.hidden_in(&config.jvm.join(" "))));
        }
        for (name, value) in config.properties.iter().filter(|(name, value)| shown(name, value)) {
            settings.push((format!("property {name}"), value.clone()));
        }
        settings
    }
}

impl Administration for YcsbAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        Ok(TargetFacts {
            product: self.config.class.clone(),
            version: format!("YCSB {}", self.jvm.ycsb),
            address: self.config.address.clone(),
            transport: match self.config.transport {
                Transport::Unix => "unix",
                Transport::Tcp => "tcp",
            }
            .to_owned(),
            settings: self.settings(),
            // Nothing is allocated on this side; what the JVM and the binding do, nobody promises.
            native: false,
            kernel_stamps: self.kernel_stamps,
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        Err(self.without_sql())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        Err(self.without_sql())
    }

    fn table_exists(&mut self, _table: &str) -> Result<bool, ConnectError> {
        Err(self.without_sql())
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.insert_all(table, columns, rows)
    }

    fn records(&mut self) -> Option<&mut dyn Records> {
        Some(self)
    }
}
