//! What the tests against SQLite share.

use driver::{Administration, ConnectError, Direct, Target, TargetUrl};
use driver_sqlite::SqliteTarget;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Outcome, Rng, Seed};
use workload::dataset::{DataSet, Loader, Loading};
use workload::users::NOBODY;
use workload::ycsb::{Ycsb, YcsbConfig};
use workload::{OpId, Request, Workload};

/// A database file of a test's own, removed when it ends.
pub struct Database {
    directory: PathBuf,
    pub target: SqliteTarget,
}

impl Database {
    pub fn new() -> Database {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("truetail-workload-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        // Nothing here measures durability, so the tests need not wait for a disk.
        let url = format!("sqlite:{}/test.db?synchronous=off", directory.display());
        let target = SqliteTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        Database { directory, target }
    }

    pub fn administer(&self) -> Box<dyn Administration> {
        self.target.administer().unwrap()
    }

    pub fn load(&self, ycsb: &Ycsb) {
        let dataset = ycsb.dataset().unwrap();
        self.try_load(dataset, &|_| ()).unwrap();
    }

    pub fn try_load(
        &self,
        dataset: &dyn DataSet,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Loading, ConnectError> {
        let (connect, dialect) = (|| self.target.administer(), self.target.dialect());
        Loader { connect: &connect, dialect, connections: 2, progress }.load(dataset)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub fn ycsb(name: &str, scale: f64, seed: u64, overrides: &[(&str, &str)]) -> Ycsb {
    let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Ycsb::new(YcsbConfig::from_name(name, scale, Seed(seed), &overrides).unwrap()).unwrap()
}

/// Draws the operation of a request by the workload's weights.
pub fn draw_operation(ycsb: &Ycsb, rng: &mut Rng) -> OpId {
    let operations = ycsb.operations();
    let total: f64 = operations.iter().map(|operation| operation.weight).sum();
    let mut left = rng.unit() * total;
    for (index, operation) in operations.iter().enumerate() {
        left -= operation.weight;
        if left < 0.0 {
            return OpId(index as u8);
        }
    }
    OpId(0)
}

/// How many requests of each operation ended how.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ok: u64,
    pub missed: u64,
}

/// Runs requests 0 … n − 1 one after the other over one session.
pub fn run(database: &Database, ycsb: &Ycsb, requests: u64, seed: u64) -> Counts {
    let statements = ycsb.statements(database.target.dialect()).unwrap();
    let mut session = database.target.connect(&statements, None).unwrap();
    let mut tickets = ycsb.tickets();
    let mut plan = ycsb.new_plan();
    let mut counts = Counts::default();
    for seq in 0..requests {
        let op = draw_operation(ycsb, &mut Seed(seed).derive("mix").at(seq));
        let ticket = tickets.next(seq, op);
        ycsb.plan(Request { seq, op, ticket, user: NOBODY }, &mut plan);
        let mut direct = Direct::new(&mut session);
        match Direct::<driver_sqlite::SqliteSession>::run(ycsb.run(&plan, &mut direct)) {
            Ok(Outcome::Ok) => counts.ok += 1,
            Ok(Outcome::Miss) => counts.missed += 1,
            other => panic!("request {seq} of operation {}: {other:?}", op.0),
        }
    }
    counts
}
