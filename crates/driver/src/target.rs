//! Targets and their sessions.

use crate::{Command, Dialect, Isolation, OpError, Records, StatementSpec, Value, ValueRef};
use std::fmt;
use std::os::fd::RawFd;
use std::task::Poll;

/// A kernel's receive stamp: `CLOCK_REALTIME` in nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelStamp {
    /// Nanoseconds since 1970.
    pub realtime_ns: u64,
    /// Only an upper bound: several answers in one read, or records that span segments.
    pub upper_bound: bool,
}

/// How sessions of a target are driven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Execution {
    /// Sessions have descriptors and never block: many share one worker thread.
    Polled,
    /// Sessions block in `poll_reply`: each gets a thread of its own.
    Blocking,
}

/// What a target says of itself; stored in every recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetFacts {
    /// Product name, e.g. `PostgreSQL`.
    pub product: String,
    /// The server's or library's own version text.
    pub version: String,
    /// Where it is, without any password.
    pub address: String,
    /// Kind of transport: `tcp`, `tcp+tls`, `unix`, `in-process`.
    pub transport: String,
    /// Settings that decide durability, isolation and caching: (name, value) as the server shows them.
    pub settings: Vec<(String, String)>,
    /// Whether the driver promises no allocation and no hidden work between sent and completed.
    pub native: bool,
    /// Whether replies carry kernel receive stamps.
    pub kernel_stamps: bool,
    /// Process ids of the server where they are known and on this host.
    pub server_pids: Vec<u32>,
}

/// Why a session could not be made. One line: the thing, the value, the next step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectError {
    /// The whole message, without any password.
    pub message: String,
    /// Whether trying again can help (refused, starting up) or not (wrong password, unknown database).
    pub transient: bool,
}

impl ConnectError {
    /// Trying again can't help.
    pub fn permanent(message: impl Into<String>) -> ConnectError {
        ConnectError { message: message.into(), transient: false }
    }

    /// Trying again may help.
    pub fn transient(message: impl Into<String>) -> ConnectError {
        ConnectError { message: message.into(), transient: true }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConnectError {}

/// A database, a store, or something that stands in for one.
pub trait Target: Send + Sync + 'static {
    /// The session type; generic, so that the hot path is monomorphic.
    type Session: Session;

    /// How sessions are driven.
    fn execution(&self) -> Execution;

    /// Which SQL the target speaks.
    fn dialect(&self) -> Dialect;

    /// Connects and prepares `statements`. Blocks; called off the worker threads, also in mid-run to replace
    /// a lost session. Must give up within about 10 s.
    ///
    /// # Errors
    /// [`ConnectError`], which says whether trying again can help.
    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<Self::Session, ConnectError>;

    /// A connection for set-up, checks and facts.
    ///
    /// # Errors
    /// As [`Target::connect`].
    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError>;
}

/// What one command gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reply {
    /// Rows returned, received in full.
    pub rows: u64,
    /// Rows inserted, updated or deleted.
    pub affected: u64,
}

impl Reply {
    /// Whether any row was returned or changed.
    pub fn touched(self) -> bool {
        self.rows + self.affected > 0
    }
}

/// Interrupts the request in flight from another thread.
pub type Canceller = Box<dyn Fn() + Send>;

/// One connection. After a native session's first few requests, no method but `last_error` allocates.
pub trait Session: Send {
    /// The descriptor whose readiness [`Poll::Pending`] waits for (edge-triggered; readable, and writable too
    /// while [`Session::waits_to_send`]); `None` for sessions that block.
    fn descriptor(&self) -> Option<RawFd>;

    /// Whether the last [`Poll::Pending`] waits for room to send and not only for an answer. Asked each time,
    /// since room is not watched for otherwise: on a unix socket the kernel tells of it whenever the server
    /// has read a request, and each time a worker would wake for nothing.
    fn waits_to_send(&self) -> bool {
        false
    }

    /// Encodes a command behind those already staged. The first `stage` after a reply forgets that reply.
    ///
    /// # Errors
    /// Only for what can't be sent at all: unknown statement, wrong argument count, value out of the column's
    /// range; [`units::Outcome::Protocol`], and `last_error` has the words. The refusal takes along what was
    /// staged before it since the last exchange: half a batch is never sent.
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError>;

    /// Sends what is staged, then collects one reply per command, in order. Call again after `Pending` when
    /// the descriptor is ready; never reads past what was asked for. When a command fails, the rest of the
    /// batch is drained first, so that the session is clean if it is still usable. Of SQL, nothing that stands behind the
    /// command that failed is carried out: a commit at the end of a batch commits all of it or nothing.
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>>;

    /// The reply of the n-th command of the last batch; default when there is none.
    fn reply(&self, command: usize) -> Reply;

    /// A value of a kept row, until the next `stage`. `None` past the end. What columns are to a record is said at
    /// [`crate::KeyValue`].
    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>>;

    /// The kernel's stamp of the last byte that the last reply needed; `None` where there is none.
    fn arrived(&self) -> Option<KernelStamp>;

    /// The words of the last error, for the recording's first occurrence of each class. May allocate.
    fn last_error(&self) -> Option<String>;

    /// A handle that interrupts a blocking request; `None` for polled sessions, which are just dropped.
    fn canceller(&self) -> Option<Canceller> {
        None
    }
}

/// Rows for bulk loading: called until it returns false; pushes one row's values in column order.
pub type BulkRows<'a> = dyn FnMut(&mut dyn FnMut(&[Value<'_>])) -> bool + 'a;

/// Set-up, checks and facts: slow, blocking, never measured.
pub trait Administration {
    /// What the target says of itself.
    fn facts(&mut self) -> Result<TargetFacts, ConnectError>;

    /// Runs statements separated by `;`, ignoring rows.
    ///
    /// # Errors
    /// The database's words, with the statement's beginning.
    fn script(&mut self, sql: &str) -> Result<(), ConnectError>;

    /// All rows of a query as text; `None` is NULL.
    ///
    /// # Errors
    /// As [`Administration::script`].
    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError>;

    /// Whether a table exists in the current schema.
    ///
    /// # Errors
    /// As [`Administration::script`].
    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError>;

    /// Loads rows by the fastest safe way (COPY, or inserts in one transaction). Gives their number.
    ///
    /// # Errors
    /// As [`Administration::script`]; nothing of the call's rows stays.
    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError>;

    /// What takes the place of SQL in targets of [`Dialect::KeyValue`]; `None` in all others.
    fn records(&mut self) -> Option<&mut dyn Records> {
        None
    }
}
