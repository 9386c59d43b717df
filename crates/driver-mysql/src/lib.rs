//! The native MariaDB and MySQL target.
//!
//! It speaks the client/server protocol itself instead of using a client library, because everything that such a library
//! does between `sent` and `completed` (queues, wake-ups, allocations, pings that nobody asked for) would be measured as the
//! database's. What is left is one `send` and one `recv` per round trip.
//!
//! ```text
//!  config                a URL and the environment              ─┐
//!  connect, login, auth  a socket that is logged in              │ blocking, with a limit
//!  prepare               a session's settings and statements     │
//!  administration, bulk  set-up, checks, facts                   │
//!  cancel                what abandoned sessions left running   ─┘
//!  codec, replies, statement, types, date, server_error    bytes ↔ commands and replies, free of I/O
//!  session                                                 the hot path, over the crate `socket`
//! ```
//!
//! What it does, where clients differ:
//!
//! - Statements are prepared at the server when a session connects, and carried out in the binary protocol. Parameters'
//!   types are sent with each execution.
//! - Commands of a batch are sent together as far as that is safe; see [`MySqlSession`]. Neither server reads a command before
//!   it has answered the one before it, so that many at once save round trips and nothing else. This was tried with MariaDB;
//!   MySQL's server reads its socket in the same way.
//! - An UPDATE counts the rows that it found (`CLIENT_FOUND_ROWS`), also those that had the value already, as PostgreSQL
//!   does. `INSERT … ON DUPLICATE KEY UPDATE` counts 1 for a row that is new or stays as it was, and 2 for one that changes.
//! - Rows end in an OK (`CLIENT_DEPRECATE_EOF`), and MariaDB from 10.6 on defines columns only when they have changed
//!   (`MARIADB_CLIENT_CACHE_METADATA`): both make answers smaller, as they are for these servers' own clients. A column that
//!   turns out to be of another type than before is read as what it is then, or loses the session with a reason.
//! - A session may neither send several statements in one command nor be asked for a file; only administration may.
//! - Each connection sets UTC, utf8mb4, autocommit, and strict mode on top of the server's `sql_mode`, which is among the
//!   facts as sessions have it: what does not fit a column is refused, not cut.
//! - Of isolation levels the whole session's is set, so that BEGIN is one word.
//! - TLS is taken if the server has it, whoever the server is (`sslmode=prefer`), as MySQL's client and the PostgreSQL driver
//!   do; MariaDB's client of 10.11 does without unless told. Unix sockets have none.
//! - The password itself (`caching_sha2_password` where the server has not cached it, `sha256_password`,
//!   `mysql_clear_password`) goes over TLS or a unix socket only; exchanging it for a key by RSA is not offered.
//!   `client_ed25519` is refused by name.
//! - Error 1205 (lock wait timeout) undoes the statement and not the transaction, unless `innodb_rollback_on_timeout` is on:
//!   whoever meets it rolls back, as workloads do.
//!
//! Rejected: the servers' C libraries and the crates `mysql` and `mysql_async` (each result is allocated, `mysql_async` puts a
//! pool and a runtime between), COM_RESET_CONNECTION between requests (a round trip that nobody asked for).
//!
//! ```no_run
//! use driver::{Command, Direct, StatementSpec, Target, TargetUrl};
//! let url = TargetUrl::parse("mysql://ann@localhost/shop").unwrap();
//! let target = driver_mysql::MySqlTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[StatementSpec::counted("SELECT 1", &[])], None).unwrap();
//! let reply = Direct::new(&mut session).ask(Command::Statement { index: 0, arguments: &[] }).unwrap();
//! assert_eq!(reply.rows, 1);
//! ```
#![deny(missing_docs)]

mod administration;
mod auth;
mod bulk;
mod cancel;
mod client;
mod codec;
mod config;
mod connect;
mod date;
mod login;
mod prepare;
mod replies;
mod server_error;
mod session;
mod statement;
mod types;

pub use session::MySqlSession;

use cancel::Abandoned;
use config::{Config, Surroundings};
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, TargetUrl, UrlError,
};
use login::Purpose;

/// A MariaDB or MySQL server.
#[derive(Clone, Debug)]
pub struct MySqlTarget {
    config: Config,
    abandoned: Abandoned,
}

/// Where Linux distributions and the databases themselves put the unix socket.
const SOCKETS: [&str; 3] = ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

impl MySqlTarget {
    /// The target that a URL names: `mysql://user:password@host:port/database?option=value`, or
    /// `mysql://user@/database?socket=/path` for a unix socket; `mariadb://…` is the same. Without host, port and socket it is
    /// the unix socket in `MYSQL_UNIX_PORT`, or where distributions put it, else `localhost`.
    ///
    /// Options are `socket`, `sslmode` (or `ssl-mode`, with MySQL's names), `sslrootcert` (or `ssl-ca`), `connect_timeout`
    /// (1 to 10 s), `user` and `password`. The password may also come from `MYSQL_PWD` or `TRUETAIL_PASSWORD`, the port from
    /// `MYSQL_TCP_PORT`. Connects to nothing.
    ///
    /// # Errors
    /// What is wrong with the URL, without its password.
    pub fn from_url(url: &TargetUrl) -> Result<MySqlTarget, UrlError> {
        let around = Surroundings {
            variable: &|name| std::env::var(name).ok(),
            login_name: config::login_name(),
            sockets: &SOCKETS,
        };
        Config::new(url, &around).map(|config| MySqlTarget { config, abandoned: Abandoned::default() })
    }

    /// The URL of what is connected to, without any password: for messages and recordings.
    pub fn address(&self) -> &str {
        &self.config.address
    }
}

impl driver::Target for MySqlTarget {
    type Session = MySqlSession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<MySqlSession, ConnectError> {
        let mut client = connect::connect(&self.config, Purpose::Session)?;
        let (statements, replies) = prepare::prepare(&mut client, statements, isolation, &self.abandoned)
            .map_err(|failure| connect::failed(&self.config, "", &failure))?;
        Ok(MySqlSession::new(client, statements, replies, self.abandoned.clone()))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::MySqlAdministration::connect(&self.config, &self.abandoned)?))
    }
}
