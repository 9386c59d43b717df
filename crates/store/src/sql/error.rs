//! What PostgreSQL would call the error, and in which words.

/// SQLSTATEs, by PostgreSQL's names for them (appendix A of its manual).
pub(crate) mod state {
    pub(crate) const FEATURE_NOT_SUPPORTED: &str = "0A000";
    pub(crate) const PROTOCOL_VIOLATION: &str = "08P01";
    pub(crate) const STRING_TOO_LONG: &str = "22001";
    pub(crate) const NUMBER_OUT_OF_RANGE: &str = "22003";
    pub(crate) const DATETIME_FORMAT: &str = "22007";
    pub(crate) const DATETIME_OVERFLOW: &str = "22008";
    pub(crate) const DIVISION_BY_ZERO: &str = "22012";
    pub(crate) const INVALID_PARAMETER: &str = "22023";
    pub(crate) const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";
    pub(crate) const INVALID_ROW_COUNT_IN_LIMIT: &str = "2201W";
    pub(crate) const INVALID_ROW_COUNT_IN_OFFSET: &str = "2201X";
    pub(crate) const INVALID_TEXT: &str = "22P02";
    pub(crate) const INVALID_BINARY: &str = "22P03";
    pub(crate) const BAD_COPY_FORMAT: &str = "22P04";
    pub(crate) const NOT_NULL_VIOLATION: &str = "23502";
    pub(crate) const UNIQUE_VIOLATION: &str = "23505";
    pub(crate) const CARDINALITY_VIOLATION: &str = "21000";
    pub(crate) const ACTIVE_TRANSACTION: &str = "25001";
    pub(crate) const READ_ONLY: &str = "25006";
    pub(crate) const NO_ACTIVE_TRANSACTION: &str = "25P01";
    pub(crate) const FAILED_TRANSACTION: &str = "25P02";
    pub(crate) const INVALID_STATEMENT_NAME: &str = "26000";
    pub(crate) const INVALID_AUTHORIZATION: &str = "28000";
    pub(crate) const INVALID_PASSWORD: &str = "28P01";
    pub(crate) const INVALID_CURSOR_NAME: &str = "34000";
    pub(crate) const INVALID_SCHEMA_NAME: &str = "3F000";
    pub(crate) const SERIALIZATION_FAILURE: &str = "40001";
    pub(crate) const DEADLOCK: &str = "40P01";
    pub(crate) const SYNTAX: &str = "42601";
    pub(crate) const DUPLICATE_COLUMN: &str = "42701";
    pub(crate) const AMBIGUOUS_COLUMN: &str = "42702";
    pub(crate) const AMBIGUOUS_FUNCTION: &str = "42725";
    pub(crate) const UNDEFINED_COLUMN: &str = "42703";
    pub(crate) const UNDEFINED_OBJECT: &str = "42704";
    pub(crate) const GROUPING: &str = "42803";
    pub(crate) const DATATYPE_MISMATCH: &str = "42804";
    pub(crate) const CANNOT_COERCE: &str = "42846";
    pub(crate) const UNDEFINED_FUNCTION: &str = "42883";
    pub(crate) const UNDEFINED_TABLE: &str = "42P01";
    pub(crate) const UNDEFINED_PARAMETER: &str = "42P02";
    pub(crate) const DUPLICATE_CURSOR: &str = "42P03";
    pub(crate) const DUPLICATE_PREPARED: &str = "42P05";
    pub(crate) const DUPLICATE_TABLE: &str = "42P07";
    pub(crate) const INVALID_COLUMN_REFERENCE: &str = "42P10";
    pub(crate) const INVALID_TABLE_DEFINITION: &str = "42P16";
    pub(crate) const WRONG_OBJECT: &str = "42809";
    pub(crate) const PROGRAM_LIMIT: &str = "54000";
    pub(crate) const TOO_COMPLEX: &str = "54001";
    pub(crate) const TOO_MANY_COLUMNS: &str = "54011";
    pub(crate) const CONFIGURATION_LIMIT: &str = "53400";
    pub(crate) const NOT_IN_PREREQUISITE_STATE: &str = "55000";
    pub(crate) const LOCK_NOT_AVAILABLE: &str = "55P03";
    pub(crate) const CANT_CHANGE_PARAMETER: &str = "55P02";
    pub(crate) const CANNOT_CONNECT_NOW: &str = "57P03";
    pub(crate) const QUERY_CANCELED: &str = "57014";
    pub(crate) const INTERNAL: &str = "XX000";
}

/// Why a statement can't be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SqlError {
    /// Five characters of [`state`].
    pub(crate) state: &'static str,
    /// One line, in PostgreSQL's words where it has some.
    pub(crate) message: String,
    /// More, for those who want to know exactly.
    pub(crate) detail: Option<String>,
    /// Where in the statement, in characters from 1.
    pub(crate) position: Option<usize>,
}

impl SqlError {
    pub(crate) fn new(state: &'static str, message: impl Into<String>) -> SqlError {
        SqlError { state, message: message.into(), detail: None, position: None }
    }

    /// A construct that PostgreSQL knows and this store does not.
    pub(crate) fn unsupported(construct: impl std::fmt::Display) -> SqlError {
        SqlError::new(
            state::FEATURE_NOT_SUPPORTED,
            format!("the simulated store does not support {construct}"),
        )
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> SqlError {
        self.detail = Some(detail.into());
        self
    }

    /// Points to the byte `offset` of `text`.
    pub(crate) fn at(mut self, text: &str, offset: usize) -> SqlError {
        let before = text.get(..offset).unwrap_or(text);
        self.position = Some(before.chars().count() + 1);
        self
    }
}
