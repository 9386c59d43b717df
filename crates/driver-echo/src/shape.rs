//! What is left of statements where nothing runs them.

use driver::{Command, Decimal, Results, StatementSpec, ValueRef, ValueType};

/// A statement's parameters and the columns that it keeps.
pub(crate) struct Shape {
    parameters: usize,
    columns: Vec<ValueType>,
}

/// What a staged command will have answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Staged {
    /// No row: a ping or a transaction's bounds.
    Nothing,
    /// One row that was read and changed, of the statement at this index.
    Row(usize),
    /// One row without a statement: a key-value operation.
    Record,
}

impl Shape {
    pub(crate) fn of(spec: &StatementSpec) -> Shape {
        let columns = if spec.results == Results::Keep { spec.columns.clone() } else { Vec::new() };
        Shape { parameters: spec.parameters.len(), columns }
    }

    /// A value that stands for one of this column.
    pub(crate) fn value(&self, column: usize) -> Option<ValueRef<'static>> {
        Some(match *self.columns.get(column)? {
            ValueType::Int => ValueRef::Int(0),
            ValueType::Float => ValueRef::Float(0.0),
            ValueType::Text => ValueRef::Text(""),
            ValueType::Timestamp => ValueRef::Timestamp(0),
            ValueType::Decimal(scale) => ValueRef::Decimal(Decimal { unscaled: 0, scale }),
        })
    }
}

/// What a command answers; `None` for a statement that there is not, or with another number of arguments.
#[inline]
pub(crate) fn staged(command: Command<'_>, statements: &[Shape]) -> Option<Staged> {
    match command {
        Command::Ping | Command::Begin | Command::Commit | Command::Rollback => Some(Staged::Nothing),
        Command::KeyValue(_) => Some(Staged::Record),
        Command::Statement { index, arguments } => {
            let fits = statements.get(index).is_some_and(|shape| shape.parameters == arguments.len());
            fits.then_some(Staged::Row(index))
        }
    }
}
