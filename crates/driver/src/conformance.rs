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
mod decimals;
mod key_value;
mod promises;
mod statements;
mod table;
mod transactions;

use crate::{ConnectError, Isolation, OpError, Session, StatementSpec, Target};

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

    /// Whether it has exact decimals; only a store that is not a database may lack them.
    fn has_decimals(&self) -> bool {
        true
    }

    /// `CLOCK_REALTIME` in nanoseconds; needed where kernel stamps are promised.
    fn wall_time_ns(&self) -> Option<u64> {
        None
    }
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
        ("a bad statement fails to connect", statements::bad_statement_fails_to_connect),
        ("administration scripts, queries and loads", statements::administration_works),
        ("a commit is seen by others", transactions::commit_is_seen),
        ("a rollback leaves no trace", transactions::rollback_leaves_no_trace),
        ("a rollback outside of a transaction succeeds", transactions::rollback_outside),
        ("a failed transaction can be rolled back", transactions::failed_transaction),
        ("a commit behind a failed command commits nothing", transactions::commit_behind_a_failure),
        ("each isolation level is set", transactions::isolation_is_set),
        ("a violated constraint has its class", transactions::constraint_class),
        ("no allocation in steady state", promises::no_allocation),
        ("kernel stamps are there and plausible", promises::kernel_stamps),
    ]
}

/// Whether the target has SQL, so that statements mean something.
fn speaks_sql<F: Fixture>(fixture: &F) -> bool {
    fixture.target().dialect().is_sql()
}

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
