//! Parts are filled in any order, and a part that was cut short is filled again without leaving anything twice.

use crate::support::{Database, broken, epinions, load, seats, smallbank, tatp};
use driver::{Administration, ConnectError, Dialect, Target};
use std::sync::atomic::{AtomicU32, Ordering};
use workload::dataset::{CheckResult, DataSet, Loader, Marker, drop_dataset};

/// The same data set, of which the `n`-th part that is filled fails when it is half written.
struct CutShort<'a> {
    whole: &'a dyn DataSet,
    fails_after: AtomicU32,
}

impl DataSet for CutShort<'_> {
    fn marker(&self) -> Marker {
        self.whole.marker()
    }

    fn tables(&self) -> Vec<&'static str> {
        self.whole.tables()
    }

    fn rows(&self) -> u64 {
        self.whole.rows()
    }

    fn parts(&self) -> u32 {
        self.whole.parts()
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        self.whole.create(administration, dialect)
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        self.whole.fill(part, administration, dialect, progress)?;
        match self.fails_after.fetch_sub(1, Ordering::Relaxed) {
            // Written, and not noted as done.
            1 => Err(ConnectError::transient("the server went away")),
            _ => Ok(()),
        }
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<(), ConnectError> {
        self.whole.empty(part, administration, dialect)
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        self.whole.check(administration, dialect)
    }
}

pub fn goes_on_where_it_was<T: Target>(target: &T, dataset: &dyn DataSet) {
    let connect = || target.administer();
    let loader = Loader { connect: &connect, dialect: target.dialect(), connections: 1, progress: &|_| () };
    for fails_after in 1..=dataset.parts() {
        let cut = CutShort { whole: dataset, fails_after: AtomicU32::new(fails_after) };
        let error = loader.load(&cut).unwrap_err();
        assert!(error.to_string().contains("went away"), "{error}");
        let loading = loader.load(dataset).unwrap();
        assert_eq!(loading.found + loading.written, dataset.rows());
        assert_eq!(loading.found > 0, fails_after > 1, "part {fails_after}: {loading:?}");
        assert_eq!(broken(target, dataset), [] as [String; 0], "part {fails_after}");
    }
    drop_dataset(&mut *target.administer().unwrap(), dataset).unwrap();
    for table in dataset.tables() {
        assert!(!target.administer().unwrap().table_exists(table).unwrap(), "{table} is left");
    }
}

#[test]
fn a_load_that_was_cut_short_goes_on() {
    goes_on_where_it_was(&Database::new().target, &epinions(0.1, &[]));
    goes_on_where_it_was(&Database::new().target, &seats(&[]));
    goes_on_where_it_was(&Database::new().target, &smallbank(&[("customers", "20001")]));
    goes_on_where_it_was(&Database::new().target, &tatp(&[("subscribers", "10001")]));
}

/// More than one part of customers and of flights.
#[test]
fn many_parts_make_one_data_set() {
    let seats = seats(&[("customers", "21000"), ("flightsperday", "200")]);
    assert_eq!(seats.parts(), 1 + 3 + 2);
    let database = Database::new();
    load(&database.target, &seats, 1);
    assert_eq!(broken(&database.target, &seats), [] as [String; 0]);
    let epinions = epinions(3.0, &[]);
    assert_eq!(epinions.parts(), 2 + 1 + 2);
    load(&database.target, &epinions, 1);
    assert_eq!(broken(&database.target, &epinions), [] as [String; 0]);
    assert_eq!(broken(&database.target, &seats), [] as [String; 0], "two data sets side by side");
}

#[test]
fn another_size_is_another_data_set() {
    let (first, second) = (seats(&[]), seats(&[("flightsperday", "3")]));
    let database = Database::new();
    load(&database.target, &first, 1);
    let results = workload::dataset::check_dataset(&mut *database.administer(), &second, Dialect::Sqlite);
    let results = results.unwrap();
    assert!(!results[0].passed && results.len() == 1, "{results:?}");
}
