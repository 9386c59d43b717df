//! A directory of a test's own.

use driver::{Command, Direct, OpError, Reply, StatementSpec, Target, TargetUrl};
use driver_duckdb::{DuckDbSession, DuckDbTarget};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A directory that is removed when the test ends.
pub struct Directory {
    pub path: PathBuf,
}

impl Directory {
    pub fn new() -> Directory {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("truetail-duckdb-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory { path }
    }

    /// The target `test.db` in this directory.
    pub fn target(&self, options: &str) -> DuckDbTarget {
        target(&format!("{}/test.db?{options}", self.path.display()))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

pub fn target(path_and_options: &str) -> DuckDbTarget {
    DuckDbTarget::from_url(&TargetUrl::parse(&format!("duckdb:{path_and_options}")).unwrap()).unwrap()
}

pub fn script(target: &DuckDbTarget, sql: &str) {
    target.administer().unwrap().script(sql).unwrap();
}

pub fn connect(target: &DuckDbTarget, statements: &[StatementSpec]) -> DuckDbSession {
    target.connect(statements, None).unwrap()
}

/// A statement without parameters whose rows are counted.
pub fn plain(sql: &str) -> StatementSpec {
    StatementSpec::counted(sql, &[])
}

pub fn ask(session: &mut DuckDbSession, command: Command<'_>) -> Result<Reply, OpError> {
    Direct::new(session).ask(command)
}

/// The statement of this index, without arguments.
pub fn statement(index: usize) -> Command<'static> {
    Command::Statement { index, arguments: &[] }
}
