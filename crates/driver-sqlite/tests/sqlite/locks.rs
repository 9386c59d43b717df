//! Two sessions and one write lock.

use crate::support::{Directory, connect, plain, script};
use driver::{Command, Direct, OpError, Reply, Session, StatementSpec};
use driver_sqlite::{SqliteSession, SqliteTarget};
use units::Outcome;

const READ: usize = 0;
const WRITE: usize = 1;

fn statements() -> [StatementSpec; 2] {
    [plain("SELECT * FROM t"), plain("UPDATE t SET a = a + 1")]
}

fn two_sessions(directory: &Directory, options: &str) -> (SqliteTarget, SqliteSession, SqliteSession) {
    let target = directory.target(options);
    script(&target, "CREATE TABLE t (a int); INSERT INTO t VALUES (0)");
    let (first, second) = (connect(&target, &statements()), connect(&target, &statements()));
    (target, first, second)
}

fn ask(session: &mut SqliteSession, command: Command<'_>) -> Result<Reply, OpError> {
    Direct::new(session).ask(command)
}

fn statement(index: usize) -> Command<'static> {
    Command::Statement { index, arguments: &[] }
}

#[test]
fn a_lock_that_stays_is_busy_and_can_be_retried() {
    let directory = Directory::new();
    let (_, mut first, mut second) = two_sessions(&directory, "busy_timeout_ms=2");
    ask(&mut first, Command::Begin).unwrap();
    for command in [Command::Begin, statement(WRITE)] {
        assert_eq!(ask(&mut second, command), Err(OpError::refused(Outcome::Busy)));
        assert_eq!(second.last_error().unwrap(), "database is locked");
    }
    assert_eq!(ask(&mut second, statement(READ)).unwrap().rows, 1);
    ask(&mut first, Command::Commit).unwrap();
    assert_eq!(ask(&mut second, statement(WRITE)).unwrap().affected, 1);
}

#[test]
fn a_lock_that_goes_away_is_waited_for() {
    let directory = Directory::new();
    let (_, mut first, mut second) = two_sessions(&directory, "busy_timeout_ms=60000");
    ask(&mut first, Command::Begin).unwrap();
    let (waiting, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            told.recv().unwrap();
            ask(&mut first, statement(WRITE)).unwrap();
            ask(&mut first, Command::Commit).unwrap();
        });
        waiting.send(()).unwrap();
        assert_eq!(ask(&mut second, statement(WRITE)).unwrap().affected, 1);
    });
}

#[test]
fn a_wait_for_a_lock_can_be_interrupted() {
    let directory = Directory::new();
    let (_, mut first, mut second) = two_sessions(&directory, "busy_timeout_ms=3600000");
    ask(&mut first, Command::Begin).unwrap();
    let cancel = second.canceller().unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let finished = &done;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !finished.load(std::sync::atomic::Ordering::Relaxed) {
                cancel();
                std::thread::yield_now();
            }
        });
        let reply = ask(&mut second, statement(WRITE));
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(reply, Err(OpError::refused(Outcome::Timeout)));
    });
    ask(&mut first, Command::Commit).unwrap();
    assert_eq!(ask(&mut second, statement(WRITE)).unwrap().affected, 1);
}

/// Reads, lets the other session commit a write, then writes: gives what the write got.
fn read_then_write(options: &str) -> Result<Reply, OpError> {
    let directory = Directory::new();
    let (_, mut first, mut second) = two_sessions(&directory, options);
    ask(&mut first, Command::Begin).unwrap();
    ask(&mut first, statement(READ)).unwrap();
    let other = ask(&mut second, statement(WRITE));
    let reply = ask(&mut first, statement(WRITE));
    // Only one of the two can have got the lock first.
    assert_ne!(other.is_ok(), reply.is_ok());
    ask(&mut first, Command::Rollback).unwrap();
    reply
}

#[test]
fn read_modify_write_is_refused_when_deferred_and_waits_when_immediate() {
    assert_eq!(read_then_write("begin=deferred&busy_timeout_ms=60000"), Err(OpError::refused(Outcome::Busy)));
    assert_eq!(read_then_write("busy_timeout_ms=2").unwrap().affected, 1);
}
