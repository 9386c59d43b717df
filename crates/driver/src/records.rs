//! Set-up of targets that have records instead of SQL.

use crate::ConnectError;

/// Takes a record: the place of its key among those that were asked for, and names and values of its fields.
pub type EachRecord<'a> = dyn FnMut(usize, &[(String, String)]) + 'a;

/// What set-up and checks need of records, beside [`crate::Administration::bulk`], which writes them: there, the first
/// column is the key and the others are fields; a record of the same key is replaced.
///
/// Slow, blocking, never measured.
pub trait Records {
    /// Whether the store can tell its keys. Where it can't, [`Records::count`], [`Records::keys`], [`Records::drop_table`] and all
    /// that has to do with notes are refused: what is there is found out by reading what ought to be there.
    /// Names of fields may be unknown there, and a record of which no field is shown has one without name and value.
    fn lists(&self) -> bool {
        true
    }

    /// Makes a table whose records can have these fields, where a store must be told of that before the first record; one that
    /// is there is no error if its records can have them.
    ///
    /// # Errors
    /// The store's words, or which field a table that is there lacks.
    fn make_table(&mut self, _table: &str, _fields: &[&str]) -> Result<(), ConnectError> {
        Ok(())
    }

    /// How many records a table has.
    ///
    /// # Errors
    /// The store's words; so with all others.
    fn count(&mut self, table: &str) -> Result<u64, ConnectError>;

    /// Gives each key of a table to `each`, in whatever order.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn keys(&mut self, table: &str, each: &mut dyn FnMut(&str)) -> Result<(), ConnectError>;

    /// Reads records, in the order of `keys`; one that is not there has no fields.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn read(&mut self, table: &str, keys: &[&str], each: &mut EachRecord<'_>) -> Result<(), ConnectError>;

    /// Removes records; one that is not there is no error.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn remove(&mut self, table: &str, keys: &[&str]) -> Result<(), ConnectError>;

    /// Removes all records of a table; one that is not there is no error.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn drop_table(&mut self, table: &str) -> Result<(), ConnectError>;

    /// Names and texts of what was noted under `topic`, which is no table: what truetail knows of its own data sets.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn notes(&mut self, topic: &str) -> Result<Vec<(String, String)>, ConnectError>;

    /// Notes a text, in place of one of the same name.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn note(&mut self, topic: &str, name: &str, text: &str) -> Result<(), ConnectError>;

    /// Forgets a note; one that is not there is no error.
    ///
    /// # Errors
    /// See [`Records::count`].
    fn forget(&mut self, topic: &str, name: &str) -> Result<(), ConnectError>;
}
