//! Stores that speak RESP (Redis, Valkey, the simulated store), natively.
//!
//! A request is one `send` and one `recv` and allocates nothing after the first few. What client libraries do unasked is
//! not done here, since each would falsify a tail: no reconnecting, no retries, no limit on the answer's time, no
//! waiting to fill a packet (`TCP_NODELAY` is on).
//!
//! Records of key-value workloads lie as YCSB's Redis binding lays them: each is a hash under its own key, and a sorted set,
//! `_indices`, has all keys for scans, with the key's Java `hashCode` as score. Tables have no names here: there is one.
//!
//! | operation | commands | round trips |
//! |---|---|---|
//! | read | `HGETALL`, or `HMGET` of named fields | 1 |
//! | update | `HSET` | 1 |
//! | insert | `HSET` and `ZADD` | 1, in one piece |
//! | delete | `DEL` and `ZREM` | 1, in one piece |
//! | scan | `ZRANGEBYSCORE`; then `HGETALL` or `HMGET` of all its keys | 2 |
//!
//! YCSB's binding waits for each of these commands before it sends the next one; what is sent is the same. HSET makes a
//! record that is missing and doesn't say whether it was there, so an update never is a miss, and an insert on top of a
//! record never fails. Scans go by score, which is no order that means something. Transactions are refused: MULTI only
//! queues, and nothing can be read before EXEC. A value that is not UTF-8 is counted, and can't be shown.
//!
//! RESP numbers no answers: the n-th answer belongs to the n-th command because it is the n-th. So whatever comes beyond
//! the answers that were asked for ends the session. It would be taken for the answer to the next request otherwise,
//! and that request's service time would be too short.
//!
//! ```no_run
//! use driver::{Command, Direct, Fields, KeyValue, Target, TargetUrl};
//! let url = TargetUrl::parse("redis://localhost:6379").unwrap();
//! let target = driver_redis::RedisTarget::from_url(&url).unwrap();
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
mod records;
mod replies;
mod session;

pub use session::RedisSession;

use config::Config;
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, TargetUrl, UrlError,
};

/// A server that speaks RESP.
#[derive(Clone, Debug)]
pub struct RedisTarget {
    config: Config,
}

impl RedisTarget {
    /// The target that a URL names: `redis://user:password@host:port/database`, or `redis:///?socket=/path` for a unix
    /// socket. The port is 6379 and the database 0 if not given, the password that in `REDISCLI_AUTH`.
    /// `?connect_timeout=` is how long connecting may take, in seconds from 1 to 10 (the default). Connects to nothing.
    ///
    /// # Errors
    /// What is wrong with the URL, without its password.
    pub fn from_url(url: &TargetUrl) -> Result<RedisTarget, UrlError> {
        Ok(RedisTarget { config: Config::new(url, &|name| std::env::var(name).ok())? })
    }
}

impl driver::Target for RedisTarget {
    type Session = RedisSession;

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
    ) -> Result<RedisSession, ConnectError> {
        if let Some(first) = statements.first() {
            let problem = format!("`{}` can't be prepared: a RESP store has no SQL", first.sql);
            return Err(ConnectError::permanent(format!("{}: {problem}", self.config.address)));
        }
        if let Some(level) = isolation {
            let problem = "a RESP store has no transactions, and so no isolation levels";
            let wanted = level.name();
            return Err(ConnectError::permanent(format!("{}: {wanted}: {problem}", self.config.address)));
        }
        Ok(RedisSession::new(client::connect(&self.config)?.socket))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::RedisAdministration::connect(&self.config)?))
    }
}
