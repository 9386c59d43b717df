//! Preparing, verifying and dropping what a workload works on.
//!
//! A data set leaves a marker in its database: one row of the table `truetail_dataset`, written as incomplete before
//! the first row and as complete after the last. So a load that was cut short is seen, a data set of another scale is
//! not measured by mistake, and a table that truetail did not make is never dropped.
//!
//! All functions here work on any [`DataSet`]; a workload writes only how to fill and how to check.

mod marker;

pub use marker::{Status, status};

use driver::{Administration, ConnectError, Dialect};

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

/// The data a workload needs.
pub trait DataSet {
    /// What a complete one says of itself.
    fn marker(&self) -> Marker;

    /// Its tables, in the order in which they can be dropped.
    fn tables(&self) -> Vec<&'static str>;

    /// Rows that loading will write, for progress.
    fn rows(&self) -> u64;

    /// Creates the tables and fills them; `progress` gets the rows written so far.
    ///
    /// # Errors
    /// The database's words.
    fn fill(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError>;

    /// Verifies the invariants that must hold after any run.
    ///
    /// # Errors
    /// Only when they can't be verified at all; a broken invariant is a result.
    fn check(&self, administration: &mut dyn Administration) -> Result<Vec<CheckResult>, ConnectError>;
}

/// Makes the data set, replacing what truetail itself made in its place (another scale, one cut short).
///
/// # Errors
/// A table of the same name that truetail did not make; or the database's words.
pub fn load_dataset(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    dialect: Dialect,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ConnectError> {
    drop_dataset(administration, dataset)?;
    let incomplete = Marker { complete: false, ..dataset.marker() };
    marker::write(administration, &incomplete, &dataset.tables())?;
    dataset.fill(administration, dialect, progress)?;
    marker::write(administration, &dataset.marker(), &dataset.tables())
}

/// Drops the data set's tables and its marker, whether complete or not; nothing there is no error.
///
/// # Errors
/// A table of the same name that truetail did not make; or the database's words.
pub fn drop_dataset(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
) -> Result<(), ConnectError> {
    if let Status::Foreign { table } = status(administration, dataset)? {
        return Err(ConnectError::permanent(format!(
            "the table `{table}` was not made by truetail and is left alone; drop it yourself or use another database"
        )));
    }
    // Tables first: should this be cut short, the marker still says whose the rest is.
    for table in dataset.tables() {
        administration.script(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    marker::forget(administration, &dataset.tables())
}

/// Verifies that the data set is there, complete and sound. The first result is about the marker; when it fails, there
/// are no others.
///
/// # Errors
/// Only when it can't be verified at all.
pub fn check_dataset(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
) -> Result<Vec<CheckResult>, ConnectError> {
    let found = status(administration, dataset)?;
    let matching = matches!(found, Status::Matching { .. });
    let mut results = vec![CheckResult {
        name: "the data set is complete and of this scale".to_owned(),
        passed: matching,
        detail: found.describe(dataset),
    }];
    if matching {
        results.extend(dataset.check(administration)?);
    }
    Ok(results)
}
