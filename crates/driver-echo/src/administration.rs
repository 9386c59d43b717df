//! Facts, and set-up of nothing.

use crate::config::{Config, Host};
use crate::connect;
use driver::{Administration, BulkRows, ConnectError, TargetFacts};
use socket::Socket;

/// A connection for facts. Keeps nothing that it is given.
pub(crate) struct EchoAdministration {
    socket: Socket,
    config: Config,
}

impl EchoAdministration {
    pub(crate) fn connect(config: &Config) -> Result<EchoAdministration, ConnectError> {
        Ok(EchoAdministration { socket: connect::connect(config)?, config: config.clone() })
    }
}

impl Administration for EchoAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let bytes = |name: &str, count: u32| (name.to_owned(), count.to_string());
        Ok(TargetFacts {
            product: "echo".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address: self.config.address.clone(),
            transport: if matches!(self.config.host, Host::Unix(_)) { "unix" } else { "tcp" }.to_owned(),
            settings: vec![
                bytes("request bytes", self.config.request),
                bytes("answer bytes", self.config.answer),
            ],
            native: true,
            kernel_stamps: self.socket.has_stamps(),
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        Ok(Vec::new())
    }

    fn table_exists(&mut self, _table: &str) -> Result<bool, ConnectError> {
        Ok(false)
    }

    fn bulk(
        &mut self,
        _table: &str,
        _columns: &[&str],
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        let mut count = 0;
        while rows(&mut |_| count += 1) {}
        Ok(count)
    }
}
