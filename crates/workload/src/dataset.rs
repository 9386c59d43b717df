//! Preparing, verifying and dropping what a workload works on.
//!
//! A data set leaves a marker in its database: one row of the table `truetail_dataset`, written as incomplete before
//! the first row and as complete after the last. So a load that was cut short is seen, a data set of another scale is
//! not measured by mistake, and a table that truetail did not make is never dropped.
//!
//! A large data set is made of parts that do not depend on each other: several connections fill them side by side, each
//! part that is done is noted in the table `truetail_dataset_parts`, and a load that was cut short goes on where it was.
//!
//! All functions here work on any [`DataSet`]; a workload writes only how to fill and how to check.

mod loading;
mod marker;
mod notes;

pub use loading::{Loader, Loading};
pub use marker::{Status, status};

use driver::{Administration, ConnectError, Dialect, Records};

/// What a data set in a database says of itself: one row of the table `truetail_dataset`.
#[derive(Clone, PartialEq, Debug)]
pub struct Marker {
    /// The workload's name.
    pub workload: String,
    /// Its scale factor.
    pub scale: f64,
    /// Version of the data set's layout.
    pub version: u32,
    /// Seed that it was made from.
    pub seed: u64,
    /// False while loading: a data set that was cut short stays false.
    pub complete: bool,
}

impl Marker {
    /// The flags that mean the same data set: `-w ycsb-core -p fieldcount=5 --scale 0.5`.
    pub fn flags(&self) -> String {
        let mut words = self.workload.split(' ');
        let name = words.next().unwrap_or_default();
        let properties: String = words.map(|property| format!(" -p {property}")).collect();
        let scale = if self.scale == 1.0 { String::new() } else { format!(" --scale {}", self.scale) };
        format!("-w {name}{properties}{scale}")
    }
}

/// One verified property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckResult {
    /// What must hold.
    pub name: String,
    /// Whether it does.
    pub passed: bool,
    /// What was found.
    pub detail: String,
}

/// The data a workload needs. `Sync`, since several connections fill it side by side.
pub trait DataSet: Sync {
    /// What a complete one says of itself.
    fn marker(&self) -> Marker;

    /// Its tables, in the order in which they can be dropped. With none there is nothing to load, and the checks are of
    /// tables that are there already.
    fn tables(&self) -> Vec<&'static str>;

    /// Rows that loading will write, for progress.
    fn rows(&self) -> u64;

    /// Makes the tables, with the keys that [`DataSet::empty`] finds its rows by.
    ///
    /// # Errors
    /// The database's words.
    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError>;

    /// Parts that can be filled in any order and side by side, at least 1.
    fn parts(&self) -> u32 {
        1
    }

    /// Fills a part; `progress` gets the rows of this part that are written so far.
    ///
    /// # Errors
    /// The database's words.
    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError>;

    /// Takes away what is there of a part whose filling was cut short; nothing there is no error.
    ///
    /// # Errors
    /// The database's words.
    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<(), ConnectError>;

    /// What comes once all parts are filled: indexes that are better made at once, foreign keys, statistics.
    ///
    /// # Errors
    /// The database's words.
    fn finish(
        &self,
        _administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        Ok(())
    }

    /// Takes away what stands in the way of dropping the tables, such as views; nothing there is no error.
    ///
    /// # Errors
    /// The database's words.
    fn before_drop(&self, _administration: &mut dyn Administration) -> Result<(), ConnectError> {
        Ok(())
    }

    /// Verifies the invariants that must hold after any run.
    ///
    /// # Errors
    /// Only when they can't be verified at all; a broken invariant is a result.
    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError>;

    /// What is there in a store that can't tell its keys, by the records that ought to be there.
    ///
    /// # Errors
    /// The store's words, or that this data set can't be found so.
    fn probe(&self, _records: &mut dyn Records) -> Result<Status, ConnectError> {
        let workload = self.marker().workload;
        Err(ConnectError::permanent(format!("{workload}: its data set needs a store that can tell its keys")))
    }

    /// Whether [`DataSet::check`] takes so little time that it is done after each run without being asked for.
    fn check_is_cheap(&self) -> bool {
        true
    }
}

/// In place of dropping a table, where that can't be: takes away each record of the data set.
fn empty_all(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    found: &Status,
) -> Result<(), ConnectError> {
    if *found == Status::Missing {
        return Ok(()); // to look for each of its records would take as long as to write it
    }
    dataset.before_drop(administration)?;
    (0..dataset.parts()).try_for_each(|part| dataset.empty(part, administration, Dialect::KeyValue))
}

/// Drops the data set's tables and its marker, whether complete or not; nothing there is no error. Whether anything was.
///
/// # Errors
/// A table of the same name that truetail did not make, or made for another data set; or the database's words.
pub fn drop_dataset(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
) -> Result<bool, ConnectError> {
    let found = status(administration, dataset)?;
    let was_there = found != Status::Missing && !dataset.tables().is_empty();
    if administration.records().is_some_and(|records| !records.lists()) {
        empty_all(administration, dataset, &found)?;
        return Ok(was_there);
    }
    match found {
        Status::Foreign { table } => {
            return Err(ConnectError::permanent(format!(
                "the table `{table}` was not made by truetail and is left alone; drop it yourself or use another database"
            )));
        }
        other @ Status::OtherWorkload { .. } => {
            return Err(ConnectError::permanent(other.describe(dataset)));
        }
        _ => {}
    }
    dataset.before_drop(administration)?;
    // Tables first: should this be cut short, the marker still says whose the rest is.
    for table in dataset.tables() {
        match administration.records() {
            Some(records) => records.drop_table(table)?,
            None => administration.script(&format!("DROP TABLE IF EXISTS {table}"))?,
        }
    }
    marker::forget(administration, &dataset.tables())?;
    Ok(was_there)
}

/// Makes the tables of a data set that is missing, and says that it is incomplete; for those who fill it by requests.
///
/// # Errors
/// Something else is in its place; or the database's words. Of tables that can't all be made none is left.
pub fn begin(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    dialect: Dialect,
) -> Result<(), ConnectError> {
    drop_dataset(administration, dataset)?;
    let incomplete = Marker { complete: false, ..dataset.marker() };
    marker::write(administration, &incomplete, &dataset.tables())?;
    dataset.create(administration, dialect).inspect_err(|error| {
        if !error.transient {
            // Where that fails, too, the marker says that it is half made.
            let _ = drop_dataset(administration, dataset);
        }
    })
}

/// Ends what [`begin`] began.
///
/// # Errors
/// The database's words.
pub fn complete(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    dialect: Dialect,
) -> Result<(), ConnectError> {
    dataset.finish(administration, dialect)?;
    marker::write(administration, &dataset.marker(), &dataset.tables())
}

/// Verifies that the data set is there, complete and sound. The first result is about the marker; when it fails, there
/// are no others.
///
/// # Errors
/// Only when it can't be verified at all.
pub fn check_dataset(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    dialect: Dialect,
) -> Result<Vec<CheckResult>, ConnectError> {
    // Nothing of truetail's making: the tables are the user's own.
    if dataset.tables().is_empty() {
        return dataset.check(administration, dialect);
    }
    let found = status(administration, dataset)?;
    let matching = matches!(found, Status::Matching { .. });
    let mut results = vec![CheckResult {
        name: "the data set is complete and of this scale".to_owned(),
        passed: matching,
        detail: found.describe(dataset),
    }];
    if matching {
        results.extend(dataset.check(administration, dialect)?);
    }
    Ok(results)
}
