//! What the tests of TPC-C share.

use driver::{Administration, ConnectError, Direct, OpError, Session, Target, TargetUrl};
use driver_sqlite::{SqliteSession, SqliteTarget};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Outcome, Rng, Seed};
use workload::dataset::{CheckResult, Loader, Loading, check_dataset};
use workload::tpcc::{Tpcc, TpccConfig};
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

/// Few items and customers: orders name an item twice, stock runs low, and everybody is met often.
pub const SMALL: [(&str, &str); 2] = [("items", "60"), ("customers", "20")];

pub fn tpcc(warehouses: u32, seed: u64, overrides: &[(&str, &str)]) -> Tpcc {
    let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Tpcc::new(TpccConfig::new(warehouses.into(), Seed(seed), &overrides).unwrap())
}

/// A small one, changed by `overrides`.
pub fn small(warehouses: u32, seed: u64, overrides: &[(&str, &str)]) -> Tpcc {
    tpcc(warehouses, seed, &[&SMALL[..], overrides].concat())
}

/// A database file of a test's own, removed when it ends.
pub struct Database {
    directory: PathBuf,
    pub target: SqliteTarget,
}

impl Database {
    pub fn new() -> Database {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("truetail-tpcc-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        // Nothing here measures durability, so the tests need not wait for a disk.
        let url = format!("sqlite:{}/test.db?synchronous=off", directory.display());
        let target = SqliteTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        Database { directory, target }
    }

    /// With this data set in it.
    pub fn loaded(tpcc: &Tpcc) -> Database {
        let database = Database::new();
        load(&database.target, tpcc, 1).unwrap();
        database
    }

    pub fn administer(&self) -> Box<dyn Administration> {
        self.target.administer().unwrap()
    }

    pub fn session(&self, tpcc: &Tpcc) -> SqliteSession {
        session(&self.target, tpcc)
    }

    /// Runs requests 0 … n − 1 of the mix one after the other.
    pub fn run(&self, tpcc: &Tpcc, requests: u64) -> Vec<Outcome> {
        let mut session = self.session(tpcc);
        (0..requests).map(|seq| run_one(tpcc, request(tpcc, seq), &mut session).unwrap()).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub fn load<T: Target>(target: &T, tpcc: &Tpcc, connections: usize) -> Result<Loading, ConnectError> {
    let (connect, dialect) = (|| target.administer(), target.dialect());
    Loader { connect: &connect, dialect, connections, progress: &|_| () }.load(tpcc.dataset().unwrap())
}

pub fn session<T: Target>(target: &T, tpcc: &Tpcc) -> T::Session {
    let dialect = target.dialect();
    target.connect(&tpcc.statements(dialect).unwrap(), tpcc.isolation(dialect)).unwrap()
}

/// Request `seq` of the mix.
pub fn request(tpcc: &Tpcc, seq: u64) -> Request {
    let op = draw_operation(tpcc, &mut Seed(11).derive("mix").at(seq));
    Request { seq, op, ticket: 0, user: NOBODY }
}

fn draw_operation(tpcc: &Tpcc, rng: &mut Rng) -> OpId {
    let operations = tpcc.operations();
    let mut left = rng.unit() * operations.iter().map(|operation| operation.weight).sum::<f64>();
    for (index, operation) in operations.iter().enumerate() {
        left -= operation.weight;
        if left < 0.0 {
            return OpId(index as u8);
        }
    }
    OpId(0)
}

pub fn run_one<S: Session>(tpcc: &Tpcc, request: Request, session: &mut S) -> Result<Outcome, OpError> {
    let mut plan = tpcc.new_plan();
    tpcc.plan(request, &mut plan);
    Direct::<S>::run(tpcc.run(&plan, &mut Direct::new(session)))
}

/// The plan of a request, in words.
pub fn planned(tpcc: &Tpcc, request: Request) -> String {
    let mut plan = tpcc.new_plan();
    tpcc.plan(request, &mut plan);
    plan.to_string()
}

pub fn check<T: Target>(target: &T, tpcc: &Tpcc) -> Vec<CheckResult> {
    let mut administration = target.administer().unwrap();
    check_dataset(&mut *administration, tpcc.dataset().unwrap(), target.dialect()).unwrap()
}

/// Names of the conditions that do not hold.
pub fn broken<T: Target>(target: &T, tpcc: &Tpcc) -> Vec<String> {
    check(target, tpcc).into_iter().filter(|result| !result.passed).map(|result| result.name).collect()
}

pub fn assert_sound<T: Target>(target: &T, tpcc: &Tpcc) {
    for result in check(target, tpcc) {
        assert!(result.passed, "{}: {}", result.name, result.detail);
    }
}

/// The first value of a query.
pub fn one(administration: &mut dyn Administration, sql: &str) -> String {
    administration.query(sql).unwrap()[0][0].clone().unwrap_or_else(|| "null".to_owned())
}

pub fn number(administration: &mut dyn Administration, sql: &str) -> i64 {
    one(administration, sql).parse().unwrap_or_else(|_| panic!("no number from {sql}"))
}
