//! The marker: what is in a database is recognized, replaced only when it is ours, and dropped with nothing left.

use crate::support::{Database, ycsb};
use driver::{Administration, ConnectError, Dialect, Target};
use std::sync::Mutex;
use workload::Workload;
use workload::dataset::{CheckResult, DataSet, Marker, Status, check_dataset, drop_dataset, status};

#[test]
fn status_tells_what_is_there() {
    let database = Database::new();
    let mut administration = database.administer();
    let small = ycsb("ycsb", 0.1, 1, &[]);
    let found = |administration: &mut dyn driver::Administration, name: &str, scale: f64| {
        let asked = ycsb(name, scale, 9, &[]);
        status(administration, asked.dataset().unwrap()).unwrap()
    };
    assert_eq!(found(&mut *administration, "ycsb", 0.1), Status::Missing);
    let shown = Mutex::new(Vec::new());
    let dataset = small.dataset().unwrap();
    database.try_load(dataset, &|rows| shown.lock().unwrap().push(rows)).unwrap();
    assert_eq!(*shown.lock().unwrap(), [100]);
    assert!(
        matches!(found(&mut *administration, "ycsb", 0.1), Status::Matching { found } if found.seed == 1)
    );
    assert!(
        matches!(found(&mut *administration, "ycsb", 0.2), Status::OtherScale { found } if found.scale == 0.1)
    );
    let other = found(&mut *administration, "ycsb-a", 0.1);
    assert!(matches!(&other, Status::OtherWorkload { found } if found.workload == "ycsb"));
    administration.script("UPDATE truetail_dataset SET version = '0'").unwrap();
    assert!(matches!(found(&mut *administration, "ycsb", 0.1), Status::OtherVersion { .. }));
    administration.script("UPDATE truetail_dataset SET version = 'x'").unwrap();
    let message = status(&mut *administration, dataset).unwrap_err().to_string();
    assert!(message.contains("`x` is not a version"), "{message}");
    administration.script("DROP TABLE truetail_dataset").unwrap();
    assert_eq!(found(&mut *administration, "ycsb", 0.1), Status::Foreign { table: "usertable".to_owned() });
}

#[test]
fn what_is_ours_is_replaced_and_what_is_not_is_left_alone() {
    let database = Database::new();
    let mut administration = database.administer();
    let mix = ycsb("ycsb", 0.1, 1, &[]);
    database.load(&mix);
    // Neither another workload nor other properties take what is there, or drop it; the flags that fit are named.
    for (name, overrides) in
        [("ycsb-c", &[][..]), ("ycsb", &[("fieldcount", "5")]), ("ycsb-a", &[("zeropadding", "9")])]
    {
        let other = ycsb(name, 0.1, 1, overrides);
        for refused in [
            drop_dataset(&mut *administration, other.dataset().unwrap()),
            database.try_load(other.dataset().unwrap(), &|_| ()).map(|_| true),
        ] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("`usertable` holds another data set, `ycsb` at scale 0.1"), "{message}");
            assert!(
                message.contains("left alone; the flags that fit it are `-w ycsb --scale 0.1`"),
                "{message}"
            );
        }
    }
    assert!(matches!(status(&mut *administration, mix.dataset().unwrap()).unwrap(), Status::Matching { .. }));
    // In a table of its own it is beside the other one.
    let beside = ycsb("ycsb-c", 0.2, 1, &[("table", "mine"), ("fieldcount", "2")]);
    database.load(&beside);
    drop_dataset(&mut *administration, mix.dataset().unwrap()).unwrap();
    let Status::Matching { found } = status(&mut *administration, beside.dataset().unwrap()).unwrap() else {
        panic!("it is there")
    };
    assert_eq!(found.flags(), "-w ycsb-core -p table=mine -p fieldcount=2 --scale 0.2");
    drop_dataset(&mut *administration, beside.dataset().unwrap()).unwrap();
    // At another scale it is the same data set, and replaced.
    database.load(&ycsb("ycsb-a", 0.1, 1, &[]));
    let core = ycsb("ycsb-c", 0.2, 1, &[]);
    database.load(&core);
    assert!(matches!(
        status(&mut *administration, core.dataset().unwrap()).unwrap(),
        Status::Matching { found } if found.workload == "ycsb-core" && found.scale == 0.2
    ));
    let markers = administration.query("SELECT count(*) FROM truetail_dataset").unwrap();
    assert_eq!(markers[0][0].as_deref(), Some("1"));
    administration.script("DROP TABLE truetail_dataset").unwrap();
    for refused in [
        drop_dataset(&mut *administration, core.dataset().unwrap()),
        database.try_load(core.dataset().unwrap(), &|_| ()).map(|_| true),
    ] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("`usertable` was not made by truetail"), "{message}");
    }
    assert!(administration.table_exists("usertable").unwrap());
}

/// Fails after its table exists, as a load does whose database stops, or which can't make another one.
struct CutShort {
    may_pass: bool,
}

impl DataSet for CutShort {
    fn marker(&self) -> Marker {
        Marker { workload: "it's cut".to_owned(), scale: 0.1, version: 3, seed: u64::MAX, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec!["cut_a", "cut_b"]
    }

    fn rows(&self) -> u64 {
        1
    }

    fn create(&self, administration: &mut dyn Administration, _: Dialect) -> Result<(), ConnectError> {
        administration.script("CREATE TABLE cut_a (x int)")?;
        Err(ConnectError { message: "the server went away".to_owned(), transient: self.may_pass })
    }

    fn fill(
        &self,
        _: u32,
        _: &mut dyn Administration,
        _: Dialect,
        _: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        panic!("there are no tables")
    }

    fn empty(&self, _: u32, _: &mut dyn Administration, _: Dialect) -> Result<(), ConnectError> {
        panic!("there are no tables")
    }

    fn check(&self, _: &mut dyn Administration, _: Dialect) -> Result<Vec<CheckResult>, ConnectError> {
        panic!("an incomplete data set is not checked")
    }
}

#[test]
fn a_load_that_was_cut_short_is_seen_and_can_be_dropped_and_leaves_others_alone() {
    let database = Database::new();
    let mut administration = database.administer();
    let other = ycsb("ycsb", 0.1, 1, &[]);
    database.load(&other);
    // What can't be made at all leaves nothing.
    let cut_short = CutShort { may_pass: false };
    database.try_load(&cut_short, &|_| ()).unwrap_err();
    assert_eq!(status(&mut *administration, &cut_short).unwrap(), Status::Missing);
    assert!(!administration.table_exists("cut_a").unwrap());
    let cut_short = CutShort { may_pass: true };
    database.try_load(&cut_short, &|_| ()).unwrap_err();
    assert_eq!(status(&mut *administration, &cut_short).unwrap(), Status::Incomplete);
    let results = check_dataset(&mut *administration, &cut_short, Dialect::Sqlite).unwrap();
    assert!(results.len() == 1 && !results[0].passed && results[0].detail.contains("not loaded to its end"));
    drop_dataset(&mut *administration, &cut_short).unwrap();
    assert_eq!(status(&mut *administration, &cut_short).unwrap(), Status::Missing);
    assert!(matches!(
        status(&mut *administration, other.dataset().unwrap()).unwrap(),
        Status::Matching { .. }
    ));
    assert_eq!(database.target.dialect(), Dialect::Sqlite);
    drop_dataset(&mut *administration, &cut_short).unwrap();
}
