//! SQLite, embedded.
//!
//! `sqlite:PATH?journal=wal&synchronous=normal&cache_kib=…&busy_timeout_ms=…&begin=immediate`. The library is compiled
//! into truetail; there is no server, and a session runs its statements on its own thread.
//!
//! What a measurement of SQLite easily gets wrong, and what is done about it here:
//!
//! - **Waiting for the writer.** SQLite's own busy handler sleeps 1, 2, 5, 10, 15, 20, 25 … 100 ms: a lock that is
//!   held for 50 µs costs its waiter a millisecond, and the tail shows the handler's steps. A handler of our own waits
//!   in steps between 50 µs and 1 ms, each an eighth of what was waited so far. The wait is part of the service time:
//!   it is SQLite's. It ends after `busy_timeout_ms` (5,000), by the sum of its steps.
//! - **Read, then write.** A transaction that starts with `BEGIN` and reads has a snapshot; when another session
//!   commits before its first write, SQLite can only refuse (`SQLITE_BUSY_SNAPSHOT`), at once and without waiting. So a
//!   transaction starts with `BEGIN IMMEDIATE` unless the URL says `begin=deferred`: it queues for the write lock where
//!   waiting can still help. Read-only transactions of several statements pay for that; single statements don't.
//! - **Copies.** Arguments are copied once, when staged; SQLite gets them by reference. All columns of all rows are
//!   loaded and their bytes touched, as a client that reads its answer would.
//! - **Isolation** is always serializable; weaker levels are accepted, since it includes them.
//! - **Memory.** The driver allocates nothing between `stage` and the reply once its buffers have grown; what SQLite
//!   itself allocates is the database's own cost.
//!
//! ```
//! # let directory = std::env::temp_dir().join(format!("truetail-sqlite-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory).unwrap();
//! use driver::{Command, Direct, StatementSpec, Target, TargetUrl};
//! let url = TargetUrl::parse(&format!("sqlite:{}/example.db", directory.display())).unwrap();
//! let target = driver_sqlite::SqliteTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[StatementSpec::counted("SELECT 1", &[])], None).unwrap();
//! let reply = Direct::new(&mut session).ask(Command::Statement { index: 0, arguments: &[] }).unwrap();
//! assert_eq!(reply.rows, 1);
//! # drop(session);
//! # std::fs::remove_dir_all(&directory).unwrap();
//! ```
#![deny(missing_docs)]

mod administration;
mod arguments;
mod busy;
mod database;
mod options;
mod rows;
mod session;
mod statement;

pub use session::SqliteSession;

use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, Target, TargetUrl, UrlError,
};
use options::Options;

/// A database file and the settings it is opened with.
#[derive(Clone, Debug)]
pub struct SqliteTarget {
    options: Options,
}

impl SqliteTarget {
    /// From `sqlite:PATH?option=value…`; opens nothing yet.
    ///
    /// # Errors
    /// A missing path, an unknown option, or a value outside its limits.
    pub fn from_url(url: &TargetUrl) -> Result<SqliteTarget, UrlError> {
        Ok(SqliteTarget { options: Options::from_url(url)? })
    }
}

impl Target for SqliteTarget {
    type Session = SqliteSession;

    fn execution(&self) -> Execution {
        Execution::Blocking
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        // Always serializable, which includes every weaker level.
        _isolation: Option<Isolation>,
    ) -> Result<SqliteSession, ConnectError> {
        SqliteSession::open(&self.options, statements)
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::SqliteAdministration::open(&self.options)?))
    }
}
