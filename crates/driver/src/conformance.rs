//! The suite that every driver must pass.
//!
//! A driver's test gives a [`Fixture`] and calls [`run_all`]; the checks know nothing of the driver but the
//! traits, and adapt to what it says of itself ([`Target::dialect`], [`crate::TargetFacts`]).
//!
//! ```text
//! struct Memory(SqliteTarget);
//! impl Fixture for Memory {
//!     type Target = SqliteTarget;
//!     fn target(&self) -> &SqliteTarget { &self.0 }
//!     fn allocator_calls(&self) -> Option<u64> { Some(testkit::alloc::Counts::now().total()) }
//! }
//! driver::conformance!(memory, Memory(SqliteTarget::open(":memory:").unwrap()));
//! ```
//!
//! The suite itself is proven by the tests of `driver-postgres` and, for key-value targets, by those of this crate and of
//! `driver-redis`: they plant one fault at a time in a working driver, and the check that is meant to notice must fail.

mod batches;
mod conflicts;
mod decimals;
mod key_value;
mod promises;
mod server;
mod statements;
mod table;
mod transactions;

use crate::{ConnectError, Isolation, OpError, Session, StatementSpec, Target};
use units::Outcome;

/// What a driver brings to the suite. The target must be empty enough to make the table
/// `truetail_conformance` in it, which the suite drops when it begins; or, for a key-value target, records whose keys
/// begin with that word, which it deletes.
pub trait Fixture {
    /// The target under test.
    type Target: Target;

    /// The target under test. All sessions that it makes see the same data.
    fn target(&self) -> &Self::Target;

    /// How often this thread has called its allocator; `None` only for drivers that are not native.
    fn allocator_calls(&self) -> Option<u64> {
        None
    }

    /// Makes the record of this key one that can't be read but can be deleted, behind the seam's back: a value of
    /// another type, for instance. Needed by key-value targets, to plant an error that is the store's own.
    ///
    /// # Errors
    /// What went wrong, or that the fixture can't.
    fn spoil(&self, _key: &str) -> Result<(), String> {
        Err("the fixture of a key-value target must be able to spoil a record".to_owned())
    }

    /// Whether a delete tells if there was a record; a store that writes without looking can't, and takes each for done.
    fn deletes_blindly(&self) -> bool {
        false
    }

    /// Whether it has exact decimals; only a store that is not a database may lack them.
    fn has_decimals(&self) -> bool {
        true
    }

    /// Whether what a transaction sees depends on its isolation level; only a store that is not a database may lack that.
    fn isolates(&self) -> bool {
        true
    }

    /// Isolation levels that it refuses, since it has none that includes them.
    fn refuses(&self) -> &'static [Isolation] {
        &[]
    }

    /// `CLOCK_REALTIME` in nanoseconds; needed where kernel stamps are promised.
    fn wall_time_ns(&self) -> Option<u64> {
        None
    }

    /// The same server with a wrong password, and that password; `None` where nobody has to log in.
    fn with_wrong_password(&self) -> Option<(Self::Target, &'static str)> {
        None
    }

    /// The same server over TLS, as somebody sees it who trusts its certificate, and as somebody who does not; `None` where
    /// the server has no TLS.
    fn over_tls(&self) -> Option<Encrypted<Self::Target>> {
        None
    }

    /// What becomes of the second of two transactions that wait for each other; `None` where none ever does.
    fn deadlock(&self) -> Option<Conflict> {
        None
    }

    /// What becomes of a change to a row that another transaction has changed and not committed, when the wait for it is
    /// over; `None` where nobody waits.
    fn locked(&self) -> Option<Conflict> {
        None
    }

    /// What becomes of a change to a row that somebody else has changed since this transaction, at REPEATABLE READ, has read
    /// it; `None` where that is allowed.
    fn overtaken(&self) -> Option<Conflict> {
        None
    }

    /// A statement that takes a minute or so, and how to see whether it runs; `None` where there is none.
    fn long_statement(&self) -> Option<LongStatement> {
        None
    }

    /// Stops the server at once, as a crash would; `None` where it can't be, or there is none.
    fn stop(&self) -> Option<Result<(), String>> {
        None
    }

    /// Starts the server that was stopped.
    ///
    /// # Errors
    /// What went wrong.
    fn launch(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A server's TLS, from two sides; see [`Fixture::over_tls`].
pub struct Encrypted<T> {
    /// Trusts its certificate.
    pub trusting: T,
    /// Does not, since somebody else has signed it or it is for another name, and must not connect.
    pub doubting: T,
}

/// How a conflict is made, and what it must end in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Its class.
    pub outcome: Outcome,
    /// What both sessions ask for first, each as a statement of its own: a short limit on waits, for instance.
    pub settings: &'static [&'static str],
}

/// See [`Fixture::long_statement`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongStatement {
    /// The statement.
    pub sql: &'static str,
    /// A query by administration that has as many rows as there are of it that run; not needed for sessions that block.
    pub running: &'static str,
    /// How many times, some 10 ms apart, it is looked whether it still runs: [`PATIENCE`], or less where it will.
    pub patience: u32,
}

/// A check that did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Its name.
    pub check: &'static str,
    /// What was wrong.
    pub problem: String,
}

/// A test of its own for a fixture: `conformance!(name, fixture)`.
#[macro_export]
macro_rules! conformance {
    ($name:ident, $fixture:expr) => {
        #[test]
        fn $name() {
            $crate::conformance::run_all(&$fixture);
        }
    };
}

/// Runs all checks.
///
/// # Panics
/// With the names and problems of all checks that failed.
pub fn run_all<F: Fixture>(fixture: &F) {
    let failures = failures(fixture);
    if !failures.is_empty() {
        let lines: Vec<String> = failures.iter().map(|f| format!("  {}: {}", f.check, f.problem)).collect();
        panic!("{} conformance checks failed:\n{}", failures.len(), lines.join("\n"));
    }
}

/// Runs all checks and gives those that failed.
pub fn failures<F: Fixture>(fixture: &F) -> Vec<Failure> {
    checks::<F>()
        .into_iter()
        .filter_map(|(check, run)| run(fixture).err().map(|problem| Failure { check, problem }))
        .collect()
}

/// Runs the check of this name; `None` when there is none.
pub fn run_one<F: Fixture>(fixture: &F, check: &str) -> Option<Result<(), String>> {
    checks::<F>().into_iter().find(|(name, _)| *name == check).map(|(_, run)| run(fixture))
}

type Check<F> = fn(&F) -> Result<(), String>;

fn checks<F: Fixture>() -> Vec<(&'static str, Check<F>)> {
    vec![
        ("facts are stated", promises::facts_are_stated),
        ("pings are answered", batches::pings_are_answered),
        ("an unknown statement is refused", batches::unknown_statement_is_refused),
        ("a wrong argument count is refused", batches::wrong_argument_count_is_refused),
        ("what the target lacks is refused", batches::what_the_target_lacks_is_refused),
        ("an exchange of nothing succeeds", batches::empty_exchange_succeeds),
        ("many exchanges on one session", batches::many_exchanges),
        ("a pipelined batch answers in order", batches::batch_answers_in_order),
        ("an error in a batch leaves the session usable", batches::error_in_a_batch),
        ("two sessions work side by side", batches::two_sessions),
        ("values of every type come back", statements::values_come_back),
        ("NULL comes back", statements::nulls_come_back),
        ("decimals come back exactly", decimals::come_back),
        ("long text comes back", statements::long_text_comes_back),
        ("values end where the rows end", statements::values_end),
        ("rows and changes are counted", statements::rows_and_changes_are_counted),
        ("a miss touches nothing", statements::misses_touch_nothing),
        ("a scan keeps its limit", key_value::scan_keeps_its_limit),
        ("records are set up, listed and dropped", key_value::records_are_set_up),
        ("a bad statement fails to connect", statements::bad_statement_fails_to_connect),
        ("administration scripts, queries and loads", statements::administration_works),
        ("a commit is seen by others", transactions::commit_is_seen),
        ("a rollback leaves no trace", transactions::rollback_leaves_no_trace),
        ("a rollback outside of a transaction succeeds", transactions::rollback_outside),
        ("a failed transaction can be rolled back", transactions::failed_transaction),
        ("a commit behind a failed command commits nothing", transactions::commit_behind_a_failure),
        ("each isolation level is set", transactions::isolation_is_set),
        ("an isolation level shows what it should", transactions::isolation_shows),
        ("a violated constraint has its class", transactions::constraint_class),
        ("a deadlock has its class", conflicts::deadlock_class),
        ("a lock that is not to be had has its class", conflicts::locked_class),
        ("a change of what is out of date has its class", conflicts::overtaken_class),
        ("no allocation in steady state", promises::no_allocation),
        ("kernel stamps are there and plausible", promises::kernel_stamps),
        ("a wrong password is refused for good", server::wrong_password),
        ("TLS encrypts, and knows whom to trust", server::tls),
        ("what is given up does not run on", server::given_up),
        ("a restart loses sessions and no more", server::restart),
    ]
}

/// Whether the target has SQL, so that statements mean something.
fn speaks_sql<F: Fixture>(fixture: &F) -> bool {
    fixture.target().dialect().is_sql()
}

/// A moment, for what the suite waits for: it neither reads a clock nor keeps a CPU busy.
fn moment() {
    let mut nothing = libc::pollfd { fd: -1, events: 0, revents: 0 };
    // SAFETY: one valid pollfd; a negative descriptor is ignored, so that only the limit of 10 ms counts.
    unsafe { libc::poll(&mut nothing, 1, 10) };
}

/// So many times 10 ms are enough for anything that happens at all: half a minute.
pub const PATIENCE: u32 = 3_000;

fn connect<F: Fixture>(
    fixture: &F,
    statements: &[StatementSpec],
    isolation: Option<Isolation>,
) -> Result<<F::Target as Target>::Session, String> {
    fixture.target().connect(statements, isolation).map_err(|e: ConnectError| format!("connect: {e}"))
}

/// Turns a failed exchange into a problem, with the database's words.
fn told<S: Session, T>(result: Result<T, OpError>, session: &S, what: &str) -> Result<T, String> {
    result.map_err(|error| {
        let words = session.last_error().unwrap_or_else(|| "no words".to_owned());
        format!("{what}: {error:?}: {words}")
    })
}

/// `Ok` when both are equal, else a problem that shows both.
fn same<T: PartialEq + std::fmt::Debug>(found: T, expected: T, what: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}")) }
}

/// `Ok` when `truth` holds.
fn ensure(truth: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if truth { Ok(()) } else { Err(problem()) }
}
