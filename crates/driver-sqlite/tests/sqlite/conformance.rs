use crate::support::Directory;
use driver::conformance::{Conflict, Fixture, LongStatement, PATIENCE, run_all};
use driver_sqlite::SqliteTarget;
use testkit::alloc::Counts;
use units::Outcome;

struct Sqlite {
    target: SqliteTarget,
    /// Whether a transaction reads without the write lock, from a snapshot of its own.
    reads_snapshots: bool,
}

impl Fixture for Sqlite {
    type Target = SqliteTarget;

    fn target(&self) -> &SqliteTarget {
        &self.target
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn locked(&self) -> Option<Conflict> {
        Some(Conflict { outcome: Outcome::Busy, settings: &["PRAGMA busy_timeout = 50"] })
    }

    /// It has one class for all conflicts.
    fn overtaken(&self) -> Option<Conflict> {
        self.reads_snapshots.then_some(Conflict { outcome: Outcome::Busy, settings: &[] })
    }

    fn long_statement(&self) -> Option<LongStatement> {
        let sql = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 10000000000) \
                   SELECT max(n) FROM t";
        Some(LongStatement { sql, running: "", patience: PATIENCE })
    }
}

#[test]
fn sqlite_conforms_in_every_journal_mode() {
    for options in ["synchronous=off", "synchronous=off&journal=delete", "synchronous=off&begin=deferred"] {
        let directory = Directory::new();
        let reads_snapshots = options.ends_with("begin=deferred");
        run_all(&Sqlite { target: directory.target(options), reads_snapshots });
    }
}
