//! Preparing, verifying and dropping what a workload works on.

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
