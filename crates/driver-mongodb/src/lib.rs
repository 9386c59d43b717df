//! MongoDB, FerretDB and what else speaks OP_MSG, natively.
//!
//! A request is one message and allocates nothing after the first few. What MongoDB's own driver libraries do unasked is not done here,
//! since each would falsify a tail: no pool of connections that requests wait for, no retried reads and writes, no
//! monitoring of servers beside the load, no choice between servers, no sessions of the protocol's own, no compression.
//!
//! Records of key-value workloads lie as YCSB's MongoDB binding lays them: a table is a collection, the key is `_id`, a
//! field is binary data.
//!
//! | operation | command |
//! |---|---|
//! | read | `find` of one `_id`, with a projection where fields are named |
//! | update | `update` with `$set`; a record that is not there is a miss |
//! | insert | `insert` of one document; a key that is there already is a violated constraint |
//! | delete | `delete` of one `_id` |
//! | scan | `find` of `_id` from the key on, sorted by `_id`, all in the first answer |
//!
//! The binding's library asks for a scan of more than 101 records in several exchanges; this driver in one, as long as the answer
//! has no more than 16 MB, where a server ends it. A field of any other type than binary data and text can't be read: the
//! request fails with the class of server errors. There is no TLS, and no transaction.
//!
//! ```no_run
//! use driver::{Command, Direct, Fields, KeyValue, Target, TargetUrl};
//! let url = TargetUrl::parse("mongodb://localhost:27017/ycsb").unwrap();
//! let target = driver_mongodb::MongoTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[], None).unwrap();
//! let read = KeyValue::Read { table: "usertable", key: "user1", fields: Fields::All };
//! let reply = Direct::new(&mut session).ask(Command::KeyValue(read)).unwrap();
//! assert_eq!(reply.rows, 1);
//! ```
#![deny(missing_docs)]

mod administration;
mod bson;
mod client;
mod commands;
mod config;
#[cfg(test)]
mod fuzz_tests;
mod login;
mod message;
mod outcome;
mod records;
mod replies;
mod session;

pub use session::MongoSession;

use config::Config;
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, TargetUrl, UrlError,
};

/// A server that speaks OP_MSG.
#[derive(Clone, Debug)]
pub struct MongoTarget {
    config: Config,
}

impl MongoTarget {
    /// The target that a URL names: `mongodb://user:password@host:port/database`, or `mongodb:///database?socket=/path` for a
    /// unix socket. The port is 27017 and the database `ycsb` if not given. `?w=` is how many nodes must have a write (a
    /// number or `majority`), `?journal=true` that their journals must have it, `?authSource=` the database that knows the user
    /// (`admin`), `?connect_timeout=` how long connecting may take, in seconds from 1 to 10 (the default). Connects to
    /// nothing.
    ///
    /// # Errors
    /// What is wrong with the URL, without its password.
    pub fn from_url(url: &TargetUrl) -> Result<MongoTarget, UrlError> {
        Ok(MongoTarget { config: Config::new(url)? })
    }
}

impl driver::Target for MongoTarget {
    type Session = MongoSession;

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
    ) -> Result<MongoSession, ConnectError> {
        let address = &self.config.address;
        if let Some(first) = statements.first() {
            let problem = format!("`{}` can't be prepared: a document store has no SQL", first.sql);
            return Err(ConnectError::permanent(format!("{address}: {problem}")));
        }
        if let Some(level) = isolation {
            let problem = "this driver has no transactions, and so no isolation levels";
            return Err(ConnectError::permanent(format!("{address}: {}: {problem}", level.name())));
        }
        let client = client::connect(&self.config)?;
        Ok(MongoSession::new(client.socket, &self.config.database, &self.config.durability))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::MongoAdministration::connect(&self.config)?))
    }
}
