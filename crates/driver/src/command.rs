//! What can be asked of a session.

use crate::{Value, ValueType};

/// What becomes of a statement's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// All rows are received in full and counted; their values are not kept.
    Count,
    /// Rows are kept until the next command is staged, for [`crate::Session::value`].
    Keep,
}

/// A statement that a workload will use, prepared on each connection before the start line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatementSpec {
    /// SQL in the target's dialect; parameters as [`crate::Dialect::placeholder`] writes them.
    pub sql: String,
    /// The parameters' types in order.
    pub parameters: Vec<ValueType>,
    /// Whether rows are kept.
    pub results: Results,
    /// The columns' types, needed when rows are kept; may be empty otherwise.
    pub columns: Vec<ValueType>,
}

impl StatementSpec {
    /// A statement whose rows are only counted.
    pub fn counted(sql: impl Into<String>, parameters: &[ValueType]) -> StatementSpec {
        StatementSpec {
            sql: sql.into(),
            parameters: parameters.to_vec(),
            results: Results::Count,
            columns: Vec::new(),
        }
    }

    /// A statement whose rows are kept.
    pub fn kept(sql: impl Into<String>, parameters: &[ValueType], columns: &[ValueType]) -> StatementSpec {
        StatementSpec {
            sql: sql.into(),
            parameters: parameters.to_vec(),
            results: Results::Keep,
            columns: columns.to_vec(),
        }
    }
}

/// Transaction isolation, by its standard name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// READ UNCOMMITTED
    ReadUncommitted,
    /// READ COMMITTED
    ReadCommitted,
    /// REPEATABLE READ
    RepeatableRead,
    /// SERIALIZABLE
    Serializable,
}

impl Isolation {
    /// All levels, weakest first.
    pub const ALL: [Isolation; 4] = [
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];

    /// The name in flags and recordings.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read-uncommitted",
            Isolation::ReadCommitted => "read-committed",
            Isolation::RepeatableRead => "repeatable-read",
            Isolation::Serializable => "serializable",
        }
    }

    /// The words in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

/// Which fields of a record are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fields<'a> {
    /// All that it has.
    All,
    /// The one of this name.
    One(&'a str),
    /// Those of these names, in this order.
    Named(&'a [&'a str]),
}

/// A key-value operation, for targets without SQL.
///
/// A record is in a table and has a key, and fields with names and values. What the reply says:
///
/// | operation | `rows` | `affected` | values |
/// |---|---|---|---|
/// | read of all fields | 1, or 0 where there is no such record | 0 | row 0; a column for each field, in the store's order |
/// | read of named fields | 1, or 0 where there is no such record or it has none of them | 0 | row 0; a column for each name, [`Value::Null`] where the record lacks it |
/// | update, insert | 0 | 1 for the record, however many fields | none |
/// | delete | 0 | 1, or 0 where there was no such record | none |
/// | scan | as many records as there were, at most `count` | 0 | a row for each record, columns as for a read |
///
/// Values are [`Value::Text`]; a read that gave no row has none. Whether an update of a missing record, or an insert of one
/// that is there, is refused, done or a miss is the store's own: the driver's documentation says which. So are the order
/// that scans go by, and what a table is: a store without tables may ignore the name. Commands of a
/// batch are independent: an error of one leaves the others as they are. Targets of [`crate::Dialect::KeyValue`] refuse
/// statements, transactions and isolation levels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum KeyValue<'a> {
    /// Fields of a record.
    Read {
        /// Where it is.
        table: &'a str,
        /// The record's key.
        key: &'a str,
        /// Which.
        fields: Fields<'a>,
    },
    /// Writes fields of a record that exists.
    Update {
        /// Where it is.
        table: &'a str,
        /// The record's key.
        key: &'a str,
        /// Names and values of the fields.
        fields: &'a [(&'a str, &'a str)],
    },
    /// Writes a new record, and makes scans find it.
    Insert {
        /// Where it shall be.
        table: &'a str,
        /// The record's key.
        key: &'a str,
        /// Names and values of the fields.
        fields: &'a [(&'a str, &'a str)],
    },
    /// Removes a record.
    Delete {
        /// Where it is.
        table: &'a str,
        /// The record's key.
        key: &'a str,
    },
    /// Up to `count` records from `key` on, in the store's order.
    Scan {
        /// Where they are.
        table: &'a str,
        /// The first key.
        key: &'a str,
        /// The most records to return.
        count: u32,
        /// Which fields of each.
        fields: Fields<'a>,
    },
}

/// One command of a session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Command<'a> {
    /// The cheapest round trip that the protocol has; an empty statement where it has none.
    Ping,
    /// Runs the statement at this index of the list that the session was connected with.
    Statement {
        /// Index into the list of [`StatementSpec`]s.
        index: usize,
        /// As many as the statement has parameters.
        arguments: &'a [Value<'a>],
    },
    /// Starts a transaction at the session's isolation level.
    Begin,
    /// Commits.
    Commit,
    /// Rolls back; succeeds outside of a transaction, too.
    Rollback,
    /// A key-value operation.
    KeyValue(KeyValue<'a>),
}
