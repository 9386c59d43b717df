//! Whose threads do the work. In a process of its own: tests beside it start threads, too.

use crate::support::{Directory, ask, connect, plain, script, statement};
use std::process::Command;

const CHILD: &str = "TRUETAIL_DUCKDB_THREADS";

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// How many threads there are more, while a file is open in which something was done.
fn started(options: &str) -> usize {
    let directory = Directory::new();
    let target = directory.target(options);
    let before = threads();
    script(&target, "CREATE TABLE t AS SELECT n, n % 10 AS g FROM range(1000000) numbers(n); CHECKPOINT");
    let mut session = connect(&target, &[plain("SELECT g, sum(n) FROM t GROUP BY g ORDER BY g")]);
    assert_eq!(ask(&mut session, statement(0)).unwrap().rows, 10);
    threads() - before
}

#[test]
fn without_being_asked_it_starts_no_thread() {
    if let Ok(options) = std::env::var(CHILD) {
        println!("started {}", started(&options));
        return;
    }
    for (options, expected) in [("", 0), ("threads=1", 0), ("threads=4", 3)] {
        let name = "threads::without_being_asked_it_starts_no_thread";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args([name, "--exact", "--nocapture"]).env(CHILD, options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("started {expected}\n")), "{options}: {output:?}");
    }
}
