//! What becomes of a statement's rows.

use crate::api::kind;
use crate::arena::Arena;
use crate::chunk::{Chunk, Column};
use driver::{Decimal, Value, ValueRef, ValueType};

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
}

/// A value that is not of its column's declared type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WrongType;

const VALUES: usize = 1 << 10;
const BYTES: usize = 1 << 16;

impl Rows {
    pub(crate) fn new() -> Rows {
        Rows { kept: Vec::with_capacity(64), values: Arena::new(VALUES, BYTES) }
    }

    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.values.clear();
    }

    /// Starts keeping for command `command` of the batch.
    pub(crate) fn start(&mut self, command: usize, columns: usize) {
        self.kept.push(Kept { command, first: self.values.len(), columns, rows: 0 });
    }

    /// Keeps all rows of a chunk of the command started last.
    pub(crate) fn keep(
        &mut self,
        chunk: &Chunk<'_>,
        kinds: &[crate::api::Kind],
        types: &[ValueType],
    ) -> Result<(), WrongType> {
        for row in 0..chunk.rows() {
            for (index, (kind, declared)) in kinds.iter().zip(types).enumerate() {
                let column = chunk.column(index, *kind);
                self.values.push(value(&column, row, *declared)?);
            }
        }
        if let Some(kept) = self.kept.last_mut() {
            kept.rows += chunk.rows();
        }
        Ok(())
    }

    /// See [`driver::Session::value`].
    pub(crate) fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let kept = self.kept.iter().find(|kept| kept.command == command)?;
        if row >= kept.rows || column >= kept.columns {
            return None;
        }
        self.values.get(kept.first + row * kept.columns + column)
    }
}

/// A value as its declared type; never a silent zero, and no digit lost.
fn value<'a>(column: &'a Column<'_>, row: usize, declared: ValueType) -> Result<Value<'a>, WrongType> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    let kind = column.kind();
    let is_moment = matches!(kind.id, kind::TIMESTAMP | kind::TIMESTAMP_TZ);
    let is_whole = !is_moment && !matches!(kind.id, kind::DECIMAL | kind::DATE);
    let narrow = |whole: Option<i128>| whole.and_then(|n| i64::try_from(n).ok()).ok_or(WrongType);
    match declared {
        ValueType::Int if is_whole => narrow(column.whole(row)).map(Value::Int),
        // A sum of whole decimals is one with no digits after the point.
        ValueType::Int if kind.id == kind::DECIMAL && kind.scale == 0 => {
            narrow(column.whole(row)).map(Value::Int)
        }
        ValueType::Timestamp if is_moment => narrow(column.whole(row)).map(Value::Timestamp),
        ValueType::Float => match column.float(row) {
            Some(number) => Ok(Value::Float(number)),
            None if is_whole => narrow(column.whole(row)).map(|n| Value::Float(n as f64)),
            None => Err(WrongType),
        },
        ValueType::Text if kind.id == kind::VARCHAR => {
            let bytes = column.text(row).unwrap_or(&[]);
            std::str::from_utf8(bytes).map(Value::Text).map_err(|_| WrongType)
        }
        ValueType::Decimal(scale) if is_whole || kind.id == kind::DECIMAL => {
            let unscaled = narrow(column.whole(row))?;
            let found = Decimal { unscaled, scale: kind.scale };
            found.with_scale(scale).map(Value::Decimal).ok_or(WrongType)
        }
        _ => Err(WrongType),
    }
}

/// Touches a chunk that is only counted.
pub(crate) fn receive(chunk: &Chunk<'_>, kinds: &[crate::api::Kind]) {
    let sums = kinds.iter().enumerate().map(|(index, kind)| chunk.column(index, *kind).touch());
    std::hint::black_box(sums.fold(0, u64::wrapping_add));
}
