//! Cassandra, Scylla, and what else speaks CQL's native protocol (version 4), natively.
//!
//! A request is one `send` and one `recv` and allocates nothing after the first few. What client libraries do unasked is
//! not done here, since each would falsify a tail: requests of several sessions are not put together before they are sent
//! (write coalescing), none is sent twice (retry policy, speculative execution), nothing is reconnected or prepared again
//! in secret, and there is no limit on the answer's time but the load's own. Nor does a session know which node has a key: it
//! has one connection to one node, which coordinates. Several hosts in the URL take the sessions in turns.
//!
//! Records of key-value workloads lie as YCSB's CQL binding lays them: each is a row of a table with one key, `y_id`, and a
//! column of text for each field.
//!
//! | operation | statement |
//! |---|---|
//! | read | `SELECT … WHERE y_id = ?` |
//! | update | `UPDATE … SET … WHERE y_id = ?` |
//! | insert | `INSERT INTO … VALUES …` |
//! | delete | `DELETE … WHERE y_id = ?` |
//! | scan | `SELECT … WHERE token(y_id) >= token(?) LIMIT ?` |
//!
//! They are prepared for all columns and for each single one when a session connects; what names other sets of columns is
//! sent as text with its values. Writes are blind: an update makes a record that is missing, an insert writes over one that
//! is there, and a delete does not tell whether there was one, so that none of them ever is a miss. Scans go by the key's
//! hash, which is no order that means something. There are no transactions. Moments of writes are the coordinator's.
//!
//! Of a batch each command is answered before the next is sent: a server carries out the requests of a connection side by
//! side, and a read may come before the write that stands in front of it.
//!
//! ```no_run
//! use driver::{Command, Direct, Fields, KeyValue, Target, TargetUrl};
//! let url = TargetUrl::parse("cql://localhost/ycsb?consistency=one").unwrap();
//! let target = driver_cql::CqlTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[], None).unwrap();
//! let read = KeyValue::Read { table: "usertable", key: "user1", fields: Fields::All };
//! let reply = Direct::new(&mut session).ask(Command::KeyValue(read)).unwrap();
//! assert_eq!(reply.rows, 1);
//! ```
#![deny(missing_docs)]

mod administration;
mod client;
mod codec;
mod config;
#[cfg(test)]
mod fuzz_tests;
mod layout;
mod records;
mod replies;
mod session;
mod shape;

pub use session::CqlSession;

use config::Config;
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, TargetUrl, UrlError,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A cluster that speaks CQL.
#[derive(Clone, Debug)]
pub struct CqlTarget {
    config: Config,
    /// Whose turn it is.
    turn: Arc<AtomicUsize>,
}

impl CqlTarget {
    /// The target that a URL names: `cql://user:password@host,host:port/keyspace`. The port is 9042 and the keyspace `ycsb`
    /// if not given. Options: `?consistency=` for reads and writes (`quorum` unless told otherwise), `read_consistency=`,
    /// `write_consistency=`, `replication=` for a keyspace that a load may make, and `connect_timeout=` in seconds from 1 to
    /// 10 (the default). Connects to nothing.
    ///
    /// # Errors
    /// What is wrong with the URL, without its password.
    pub fn from_url(url: &TargetUrl) -> Result<CqlTarget, UrlError> {
        Ok(CqlTarget { config: Config::new(url)?, turn: Arc::default() })
    }
}

impl driver::Target for CqlTarget {
    type Session = CqlSession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    fn dialect(&self) -> Dialect {
        Dialect::KeyValue
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<CqlSession, ConnectError> {
        if let Some(first) = statements.first() {
            let problem = format!("`{}` can't be prepared: over CQL there are only records", first.sql);
            return Err(ConnectError::permanent(format!("{}: {problem}", self.config.address)));
        }
        if let Some(level) = isolation {
            let problem = "over CQL there are no transactions, and so no isolation levels";
            let wanted = level.name();
            return Err(ConnectError::permanent(format!("{}: {wanted}: {problem}", self.config.address)));
        }
        // Whoever comes next takes the next host; nothing else hangs on it.
        let mut client = client::connect(&self.config, self.turn.fetch_add(1, Ordering::Relaxed))?;
        let tables = layout::prepared_tables(&mut client, &self.config.keyspace)?;
        Ok(CqlSession::new(client.socket, tables, (&self.config).into()))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::CqlAdministration::connect(&self.config)?))
    }
}
