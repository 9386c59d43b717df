//! DuckDB, embedded.
//!
//! `duckdb:PATH?threads=1&memory_limit=…&access_mode=…&library=…`. The shared library is loaded when a target is opened,
//! not linked: truetail builds without it, and tests run with 1.5.6. There is no server, and a session runs its
//! statements on its own thread.
//!
//! What a measurement of DuckDB easily gets wrong, and what is done about it here:
//!
//! - **Threads nobody knows of.** DuckDB takes as many threads as there are CPUs, and so one session's statement takes the
//!   CPUs of all others and of what paces them. `threads=1` is the default here: DuckDB then starts none at all, and each
//!   session's work is done by its own thread, which is watched. `threads=8` is a setting to measure, not to forget.
//! - **Plans.** A statement is prepared once, and arguments are bound in the types that DuckDB planned with. Another type,
//!   a NULL, or a parameter whose type it can't know makes it plan anew at that execution and each one after.
//!   Two parts of its optimiser are off, since with them a plan that was prepared gives wrong answers once the tables have
//!   changed (`disabled_optimizers`; DuckDB's issue 23704, in all versions up to 1.5).
//! - **Isolation.** There is one level, a snapshot. It includes READ UNCOMMITTED, READ COMMITTED and REPEATABLE READ, so
//!   that these are accepted. It does not include SERIALIZABLE (two transactions may each change what the other has
//!   read), so that this is refused.
//! - **Conflicts.** Nobody waits for a lock: who changes a row that another transaction has changed fails at once, with
//!   [`Outcome::Serialization`](units::Outcome::Serialization). Two who insert the same key both succeed, and the second
//!   commit fails with [`Outcome::Constraint`](units::Outcome::Constraint).
//! - **A commit that is none.** DuckDB answers the commit of a transaction in which a statement failed as if all were well.
//!   Here it is an error.
//! - **Memory.** The driver allocates nothing between `stage` and the reply once its buffers have grown; what DuckDB itself
//!   allocates is the database's own cost.
//!
//! ```no_run
//! use driver::{Command, Direct, StatementSpec, Target, TargetUrl};
//! let url = TargetUrl::parse("duckdb:example.db").unwrap();
//! let target = driver_duckdb::DuckDbTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[StatementSpec::counted("SELECT 1", &[])], None).unwrap();
//! let reply = Direct::new(&mut session).ask(Command::Statement { index: 0, arguments: &[] }).unwrap();
//! assert_eq!(reply.rows, 1);
//! ```
#![deny(missing_docs)]

mod administration;
mod api;
mod appender;
mod arena;
mod chunk;
mod database;
pub mod library;
mod options;
mod rows;
mod script;
mod session;
mod shown;
mod statement;

pub use session::DuckDbSession;

use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, Target, TargetUrl, UrlError,
};
use options::Options;

/// A database file and the settings it is opened with.
#[derive(Clone, Debug)]
pub struct DuckDbTarget {
    options: Options,
}

impl DuckDbTarget {
    /// From `duckdb:PATH?option=value…`; opens nothing yet, not even the library.
    ///
    /// # Errors
    /// A missing path, an unknown option, or a value outside its limits.
    pub fn from_url(url: &TargetUrl) -> Result<DuckDbTarget, UrlError> {
        Ok(DuckDbTarget { options: Options::from_url(url)? })
    }
}

impl Target for DuckDbTarget {
    type Session = DuckDbSession;

    fn execution(&self) -> Execution {
        Execution::Blocking
    }

    fn dialect(&self) -> Dialect {
        Dialect::DuckDb
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<DuckDbSession, ConnectError> {
        if isolation == Some(Isolation::Serializable) {
            let problem = "isolation serializable: DuckDB has snapshots only, which allow write skew; ask for \
                           repeatable-read, which they include";
            return Err(database::failure(&self.options.path, problem));
        }
        DuckDbSession::open(&self.options, statements)
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::DuckDbAdministration::open(&self.options)?))
    }
}
