//! A data set in parts: a load that was cut short goes on where it was, and only there.

use crate::support::{Database, ycsb};
use driver::{Administration, ConnectError, Dialect, Target};
use std::sync::atomic::{AtomicU32, Ordering};
use workload::dataset::{CheckResult, DataSet, Loader, Loading, Marker, Status, drop_dataset, status};

/// Ten parts of seven rows each; may fail in the middle of one.
struct Parts {
    version: u32,
    /// The part in which it fails after three rows.
    fails_in: Option<u32>,
    filled: AtomicU32,
}

impl Parts {
    fn new(fails_in: Option<u32>) -> Parts {
        Parts { version: 1, fails_in, filled: AtomicU32::new(0) }
    }
}

impl DataSet for Parts {
    fn marker(&self) -> Marker {
        let workload = "it's in parts".to_owned();
        Marker { workload, scale: 1.0, version: self.version, seed: 1, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec!["in_parts"]
    }

    fn rows(&self) -> u64 {
        70
    }

    fn parts(&self) -> u32 {
        10
    }

    fn create(&self, administration: &mut dyn Administration, _: Dialect) -> Result<(), ConnectError> {
        administration.script("CREATE TABLE in_parts (part int, x int, PRIMARY KEY (part, x))")
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        self.filled.fetch_add(1, Ordering::Relaxed);
        for x in 0..7 {
            if self.fails_in == Some(part) && x == 3 {
                return Err(ConnectError::transient("the server went away"));
            }
            administration.script(&format!("INSERT INTO in_parts VALUES ({part}, {x})"))?;
            progress(x + 1);
        }
        Ok(())
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _: Dialect,
    ) -> Result<(), ConnectError> {
        administration.script(&format!("DELETE FROM in_parts WHERE part = {part}"))
    }

    fn check(&self, _: &mut dyn Administration, _: Dialect) -> Result<Vec<CheckResult>, ConnectError> {
        Ok(Vec::new())
    }
}

fn rows(database: &Database) -> String {
    let rows = database.administer().query("SELECT count(*) FROM in_parts").unwrap();
    rows[0][0].clone().unwrap()
}

#[test]
fn a_load_that_was_cut_short_goes_on() {
    let database = Database::new();
    let first = Parts::new(Some(4));
    let error = database.try_load(&first, &|_| ()).unwrap_err();
    assert!(error.to_string().contains("went away"));
    assert_eq!(rows(&database), "31", "four parts and three rows");
    assert_eq!(status(&mut *database.administer(), &first).unwrap(), Status::Incomplete);
    let second = Parts::new(None);
    assert_eq!(database.try_load(&second, &|_| ()), Ok(Loading { found: 28, written: 42 }));
    assert_eq!((second.filled.into_inner(), rows(&database).as_str()), (6, "70"));
    assert!(matches!(status(&mut *database.administer(), &first).unwrap(), Status::Matching { .. }));
    assert!(!database.administer().table_exists("truetail_dataset_parts").unwrap());
}

#[test]
fn the_first_part_can_be_cut_short_too() {
    let database = Database::new();
    database.try_load(&Parts::new(Some(0)), &|_| ()).unwrap_err();
    assert_eq!(rows(&database), "3", "none of the parts is done");
    let loading = database.try_load(&Parts::new(None), &|_| ());
    assert_eq!((loading, rows(&database).as_str()), (Ok(Loading { found: 0, written: 70 }), "70"));
}

#[test]
fn what_is_of_another_kind_is_made_from_the_start() {
    let database = Database::new();
    database.try_load(&Parts::new(Some(4)), &|_| ()).unwrap_err();
    let newer = Parts { version: 2, ..Parts::new(None) };
    assert_eq!(database.try_load(&newer, &|_| ()), Ok(Loading { found: 0, written: 70 }));
    // Complete: loading again makes it anew, too.
    assert_eq!(database.try_load(&newer, &|_| ()), Ok(Loading { found: 0, written: 70 }));
}

#[test]
fn two_data_sets_that_were_cut_short_do_not_mix() {
    let database = Database::new();
    database.try_load(&Parts::new(Some(4)), &|_| ()).unwrap_err();
    database.load(&ycsb("ycsb", 250.0, 1, &[("fieldcount", "1"), ("fieldlength", "1")]));
    assert_eq!(database.try_load(&Parts::new(None), &|_| ()), Ok(Loading { found: 28, written: 42 }));
    drop_dataset(&mut *database.administer(), &Parts::new(None)).unwrap();
    assert!(!database.administer().table_exists("in_parts").unwrap());
}

#[test]
fn a_dropped_one_leaves_nothing() {
    let database = Database::new();
    database.try_load(&Parts::new(Some(4)), &|_| ()).unwrap_err();
    drop_dataset(&mut *database.administer(), &Parts::new(None)).unwrap();
    let left = database.administer().query("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    assert_eq!(left, Vec::<Vec<Option<String>>>::new());
}

#[test]
fn a_part_of_ycsb_that_is_there_already_is_written_once() {
    let database = Database::new();
    for name in ["ycsb", "ycsb-a"] {
        let data = ycsb(name, 250.0, 1, &[("fieldcount", "1"), ("fieldlength", "1")]);
        let dialect = Dialect::Sqlite;
        let mut administration = database.administer();
        let dataset: &dyn DataSet = &data;
        drop_dataset(&mut *administration, dataset).unwrap();
        dataset.create(&mut *administration, dialect).unwrap();
        assert_eq!(dataset.parts(), 3);
        for part in [0, 1, 1, 2, 0] {
            dataset.empty(part, &mut *administration, dialect).unwrap();
            dataset.fill(part, &mut *administration, dialect, &mut |_| ()).unwrap();
        }
        let found = administration.query("SELECT count(*) FROM usertable").unwrap();
        assert_eq!(found[0][0].as_deref(), Some("250000"), "{name}");
        administration.script("DROP TABLE usertable").unwrap();
    }
}

/// Side by side on one server, the threads must not hide an error of one of them.
#[test]
fn an_error_to_connect_is_told() {
    let database = Database::new();
    let calls = AtomicU32::new(0);
    let connect = || match calls.fetch_add(1, Ordering::Relaxed) {
        0 => database.target.administer(),
        _ => Err(ConnectError::transient("too many connections")),
    };
    let loader = Loader { connect: &connect, dialect: Dialect::Sqlite, connections: 4, progress: &|_| () };
    assert!(loader.load(&Parts::new(None)).unwrap_err().to_string().contains("too many"));
}
