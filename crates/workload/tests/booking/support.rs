//! What the tests share.

use driver::{Administration, Target, TargetUrl};
use driver_sqlite::SqliteTarget;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Seed;
use workload::dataset::{DataSet, Loader, check_dataset};
use workload::epinions::{Epinions, EpinionsConfig};
use workload::seats::{Seats, SeatsConfig};
use workload::smallbank::{SmallBank, SmallBankConfig};
use workload::tatp::{Tatp, TatpConfig};

fn owned(parameters: &[(&str, &str)]) -> Vec<(String, String)> {
    parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

pub fn epinions(scale: f64, parameters: &[(&str, &str)]) -> Epinions {
    Epinions::new(EpinionsConfig::new(scale, Seed(5), &owned(parameters)).unwrap())
}

pub fn seats(parameters: &[(&str, &str)]) -> Seats {
    let mut all = vec![("customers", "600"), ("flightsperday", "2")];
    all.extend(parameters);
    Seats::new(SeatsConfig::new(1.0, Seed(5), &owned(&all)).unwrap()).unwrap()
}

pub fn smallbank(parameters: &[(&str, &str)]) -> SmallBank {
    let mut all = vec![("customers", "600")];
    all.extend(parameters);
    SmallBank::new(SmallBankConfig::new(1.0, Seed(5), &owned(&all)).unwrap())
}

pub fn tatp(parameters: &[(&str, &str)]) -> Tatp {
    let mut all = vec![("subscribers", "400")];
    all.extend(parameters);
    Tatp::new(TatpConfig::new(1.0, Seed(5), &owned(&all)).unwrap())
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
        let directory =
            std::env::temp_dir().join(format!("truetail-booking-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let url = format!("sqlite:{}/test.db?synchronous=off", directory.display());
        let target = SqliteTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        Database { directory, target }
    }

    pub fn administer(&self) -> Box<dyn Administration> {
        self.target.administer().unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub fn load<T: Target>(target: &T, dataset: &dyn DataSet, connections: usize) {
    let connect = || target.administer();
    let loader = Loader { connect: &connect, dialect: target.dialect(), connections, progress: &|_| () };
    assert_eq!(loader.load(dataset).unwrap().written, dataset.rows());
}

/// The checks that do not pass.
pub fn broken<T: Target>(target: &T, dataset: &dyn DataSet) -> Vec<String> {
    let results = check_dataset(&mut *target.administer().unwrap(), dataset, target.dialect()).unwrap();
    assert!(results.len() > 5, "{results:?}");
    let failed = results.into_iter().filter(|result| !result.passed);
    failed.map(|result| format!("{}: {}", result.name, result.detail)).collect()
}
