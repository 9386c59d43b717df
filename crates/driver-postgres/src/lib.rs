//! The native PostgreSQL target.
//!
//! It speaks protocol 3.0 itself instead of using a client library, because everything that such a library does
//! between `sent` and `completed` (queues, wake-ups, allocations, a second task) would be measured as the
//! database's. What is left is one `send` and one `recv` per round trip.
//!
//! ```text
//!  config, pgpass        a URL and libpq's defaults             ─┐
//!  connect, login        a socket that is logged in              │ blocking, with a limit
//!  prepare               statements held against the server      │
//!  administration, copy  set-up, checks, facts                   │
//!  cancel                what abandoned sessions left running   ─┘
//!  codec, replies, statement, types, server_error    bytes ↔ commands and replies, free of I/O
//!  session                                           the hot path, over the crate `socket`
//! ```
//!
//! Rejected: `libpq` (allocates each result), `tokio-postgres` (each query crosses a queue to a second task),
//! reading with io_uring (one request in flight per session has nothing to batch).
//!
//! ```no_run
//! use driver::{Command, Direct, StatementSpec, Target, TargetUrl};
//! let url = TargetUrl::parse("postgres://ann@localhost/shop").unwrap();
//! let target = driver_postgres::PostgresTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[StatementSpec::counted("SELECT 1", &[])], None).unwrap();
//! let reply = Direct::new(&mut session).ask(Command::Statement { index: 0, arguments: &[] }).unwrap();
//! assert_eq!(reply.rows, 1);
//! ```
#![deny(missing_docs)]

mod administration;
mod cancel;
mod channel_binding;
mod client;
mod codec;
mod config;
mod connect;
mod copy;
mod login;
mod pgpass;
mod prepare;
mod replies;
mod server_error;
mod session;
mod statement;
mod types;

pub use session::PostgresSession;

use cancel::Abandoned;
use config::{Config, Surroundings};
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, TargetUrl, UrlError,
};

/// A PostgreSQL server.
#[derive(Clone, Debug)]
pub struct PostgresTarget {
    config: Config,
    abandoned: Abandoned,
}

/// Directories in which Linux distributions and PostgreSQL itself put the unix socket.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

impl PostgresTarget {
    /// The target that a URL names: `postgres://user:password@host:port/database?option=value`, also with a
    /// socket directory as host (`%2Fvar%2Frun%2Fpostgresql`, or `?host=/var/run/postgresql`).
    ///
    /// Options are `sslmode`, `sslrootcert`, `application_name`, `host`, `port`, `user`, `password`, `dbname`,
    /// `connect_timeout` (s), `options` and `passfile`; what is left out comes from libpq's environment
    /// variables, `~/.pgpass`, and libpq's defaults. Reads the password file; connects to nothing.
    ///
    /// # Errors
    /// What is wrong with the URL, without its password.
    pub fn from_url(url: &TargetUrl) -> Result<PostgresTarget, UrlError> {
        let around = Surroundings {
            variable: &|name| std::env::var(name).ok(),
            login_name: config::login_name(),
            socket_directories: &SOCKET_DIRECTORIES,
        };
        Config::new(url, &around).map(|config| PostgresTarget { config, abandoned: Abandoned::default() })
    }

    /// The URL of what is connected to, without any password: for messages and recordings.
    pub fn address(&self) -> &str {
        &self.config.address
    }
}

impl driver::Target for PostgresTarget {
    type Session = PostgresSession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<PostgresSession, ConnectError> {
        self.abandoned.cancel(&self.config);
        let mut client = connect::connect(&self.config)?;
        let prepared = prepare::prepare(&mut client, statements, isolation)
            .map_err(|failure| connect::failed(&self.config, "", &failure))?;
        Ok(PostgresSession::new(client, prepared, self.abandoned.clone()))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        self.abandoned.cancel(&self.config);
        Ok(Box::new(administration::PostgresAdministration::connect(&self.config)?))
    }
}
