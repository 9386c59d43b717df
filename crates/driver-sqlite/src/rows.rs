//! What becomes of a statement's rows.

use crate::arguments::Arena;
use crate::statement::Statement;
use driver::{Decimal, Value, ValueRef, ValueType};
use rusqlite::ffi;

/// A statement's kept rows of one batch.
#[derive(Clone, Copy)]
struct Kept {
    command: usize,
    first: usize,
    columns: usize,
    rows: usize,
}

/// The rows that a batch kept.
pub(crate) struct Rows {
    kept: Vec<Kept>,
    values: Arena,
    types: Vec<ValueType>,
}

/// A stored value that is not of its column's declared type.
#[derive(Debug)]
pub(crate) struct WrongType;

const VALUES: usize = 1 << 10;
const BYTES: usize = 1 << 16;

impl Rows {
    pub(crate) fn new() -> Rows {
        Rows {
            kept: Vec::with_capacity(64),
            values: Arena::new(VALUES, BYTES),
            types: Vec::with_capacity(VALUES),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.values.clear();
        self.types.clear();
    }

    /// Starts keeping for command `command` of the batch.
    pub(crate) fn start(&mut self, command: usize, columns: usize) {
        self.kept.push(Kept { command, first: self.values.len(), columns, rows: 0 });
    }

    /// Keeps the present row of the command started last.
    pub(crate) fn keep(&mut self, statement: &Statement, types: &[ValueType]) -> Result<(), WrongType> {
        for (column, &declared) in types.iter().enumerate() {
            let value = match (statement.class(column), declared) {
                (ffi::SQLITE_NULL, _) => Value::Null,
                (ffi::SQLITE_INTEGER, ValueType::Int | ValueType::Timestamp | ValueType::Decimal(_)) => {
                    Value::Int(statement.int(column))
                }
                (ffi::SQLITE_INTEGER | ffi::SQLITE_FLOAT, ValueType::Float) => {
                    Value::Float(statement.float(column))
                }
                (ffi::SQLITE_TEXT, ValueType::Text) => {
                    Value::Text(std::str::from_utf8(statement.bytes(column, true)).map_err(|_| WrongType)?)
                }
                _ => return Err(WrongType),
            };
            self.values.push(value);
            self.types.push(declared);
        }
        if let Some(kept) = self.kept.last_mut() {
            kept.rows += 1;
        }
        Ok(())
    }

    /// See [`driver::Session::value`].
    pub(crate) fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let kept = self.kept.iter().find(|kept| kept.command == command)?;
        if row >= kept.rows || column >= kept.columns {
            return None;
        }
        let index = kept.first + row * kept.columns + column;
        let value = self.values.get(index)?;
        Some(match (value, *self.types.get(index)?) {
            (Value::Int(number), ValueType::Timestamp) => Value::Timestamp(number),
            (Value::Int(unscaled), ValueType::Decimal(scale)) => Value::Decimal(Decimal { unscaled, scale }),
            _ => value,
        })
    }
}

/// Loads every column of the present row and touches its bytes, one per cache line, as receiving it would.
pub(crate) fn receive(statement: &Statement, columns: usize) {
    let mut sum = 0u64;
    for column in 0..columns {
        match statement.class(column) {
            ffi::SQLITE_INTEGER => sum = sum.wrapping_add(statement.int(column) as u64),
            ffi::SQLITE_FLOAT => sum = sum.wrapping_add(statement.float(column).to_bits()),
            ffi::SQLITE_NULL => {}
            _ => {
                let bytes = statement.bytes(column, false);
                sum = bytes.iter().step_by(64).fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)));
            }
        }
    }
    std::hint::black_box(sum);
}
