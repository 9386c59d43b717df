use crate::support::Directory;
use driver::conformance::{Fixture, run_all};
use driver_sqlite::SqliteTarget;
use testkit::alloc::Counts;

struct Sqlite(SqliteTarget);

impl Fixture for Sqlite {
    type Target = SqliteTarget;

    fn target(&self) -> &SqliteTarget {
        &self.0
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }
}

#[test]
fn sqlite_conforms_in_every_journal_mode() {
    for options in ["synchronous=off", "synchronous=off&journal=delete", "synchronous=off&begin=deferred"] {
        let directory = Directory::new();
        run_all(&Sqlite(directory.target(options)));
    }
}
