//! Files against real databases: SQLite, and PostgreSQL where it can be started.

mod bank;
mod loading;
mod reads;

use driver::{Administration, Direct, Target, TargetUrl};
use driver_sqlite::SqliteTarget;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Outcome, Seed};
use workload::dataset::{CheckResult, Loader, Loading, check_dataset};
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};
use workload_file::{Choice, FileWorkload};

/// A database file of a test's own, removed when it ends.
struct Database {
    directory: PathBuf,
    target: SqliteTarget,
}

impl Database {
    fn new() -> Database {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("truetail-workload-file-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        // Nothing here measures durability, so the tests need not wait for a disk.
        let url = format!("sqlite:{}/test.db?synchronous=off", directory.display());
        let target = SqliteTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        Database { directory, target }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory); // what is left is in the temporary directory
    }
}

fn parameters(pairs: &[(&str, &str)]) -> Choice {
    let parameters = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Choice { parameters, ..Choice::default() }
}

fn load<T: Target>(target: &T, workload: &FileWorkload) -> Loading {
    let (connect, dialect) = (|| target.administer(), target.dialect());
    let loader = Loader { connect: &connect, dialect, connections: 2, progress: &|_| () };
    loader.load(workload.dataset().unwrap()).unwrap()
}

fn check<T: Target>(target: &T, workload: &FileWorkload) -> Vec<CheckResult> {
    check_dataset(&mut *target.administer().unwrap(), workload.dataset().unwrap(), target.dialect()).unwrap()
}

fn assert_sound<T: Target>(target: &T, workload: &FileWorkload) {
    for result in check(target, workload) {
        assert!(result.passed, "{}: {}", result.name, result.detail);
    }
}

fn number(administration: &mut dyn Administration, sql: &str) -> i64 {
    administration.query(sql).unwrap()[0][0].as_deref().unwrap().parse().unwrap()
}

/// Runs requests on several sessions, each tried again while it collides with another; how often each outcome came.
fn run<T: Target>(
    target: &T,
    workload: &FileWorkload,
    requests: u64,
    sessions: usize,
) -> Vec<(Outcome, u64)> {
    let statements = workload.statements(target.dialect()).unwrap();
    let weights: Vec<f64> = workload.operations().iter().map(|operation| operation.weight).collect();
    let mut tickets = workload.tickets();
    let schedule: Vec<Request> = (0..requests)
        .map(|seq| {
            let mut left = Seed(9).at(seq).unit() * weights.iter().sum::<f64>();
            let op = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let op = OpId(op.unwrap_or(0) as u8);
            Request { seq, op, ticket: tickets.next(seq, op), user: NOBODY }
        })
        .collect();
    let next = AtomicU64::new(0);
    let counts = std::sync::Mutex::new(Vec::<(Outcome, u64)>::new());
    std::thread::scope(|scope| {
        for _ in 0..sessions {
            scope.spawn(|| {
                let mut session = target.connect(&statements, None).unwrap();
                let mut plan = workload.new_plan();
                while let Some(request) = schedule.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    workload.plan(*request, &mut plan);
                    let outcome = loop {
                        let mut direct = Direct::new(&mut session);
                        match Direct::<T::Session>::run(workload.run(&plan, &mut direct)) {
                            Ok(outcome) => break outcome,
                            Err(error) if error.session_usable && error.outcome.is_retryable() => {}
                            Err(error) => {
                                panic!("{}: {error:?}: {:?}", workload.show(&plan), session_words(&session))
                            }
                        }
                    };
                    let mut counts = counts.lock().unwrap();
                    match counts.iter_mut().find(|(known, _)| *known == outcome) {
                        Some((_, count)) => *count += 1,
                        None => counts.push((outcome, 1)),
                    }
                }
            });
        }
    });
    counts.into_inner().unwrap()
}

fn session_words<S: driver::Session>(session: &S) -> Option<String> {
    session.last_error()
}

fn count_of(counts: &[(Outcome, u64)], outcome: Outcome) -> u64 {
    counts.iter().find(|(known, _)| *known == outcome).map_or(0, |(_, count)| *count)
}
