use crate::support::Directory;
use driver::Isolation;
use driver::conformance::{Conflict, Fixture, LongStatement, PATIENCE, run_all};
use driver_duckdb::DuckDbTarget;
use testkit::alloc::Counts;
use units::Outcome;

struct DuckDb(DuckDbTarget);

impl Fixture for DuckDb {
    type Target = DuckDbTarget;

    fn target(&self) -> &DuckDbTarget {
        &self.0
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn refuses(&self) -> &'static [Isolation] {
        &[Isolation::Serializable]
    }

    /// Nobody waits: it is over at once.
    fn locked(&self) -> Option<Conflict> {
        Some(Conflict { outcome: Outcome::Serialization, settings: &[] })
    }

    fn overtaken(&self) -> Option<Conflict> {
        Some(Conflict { outcome: Outcome::Serialization, settings: &[] })
    }

    fn long_statement(&self) -> Option<LongStatement> {
        let sql = "SELECT count(*) FROM range(1000000000000) numbers(n) WHERE n % 7 = 3";
        Some(LongStatement { sql, running: "", patience: PATIENCE })
    }
}

#[test]
fn duckdb_conforms_alone_and_with_threads_of_its_own() {
    for options in ["", "threads=3"] {
        let directory = Directory::new();
        run_all(&DuckDb(directory.target(options)));
    }
}
