//! Rows of a result, encoded as they are found: one copy from the record into the answer.

use super::datum::Datum;
use super::error::{SqlError, state};
use super::expression::{Context, Node, Row, Typed};
use super::types::Type;

/// A result may have so many rows.
pub(crate) const ROWS_MAX: u64 = 1_000_000;
/// A result may have so many bytes.
pub(crate) const RESULT_MAX: usize = 64 << 20;

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Text,
    Binary,
}

impl Format {
    /// The format of the n-th of the values that `codes` speaks of: none is text, one is for all.
    pub(crate) fn of(codes: &[Format], n: usize) -> Format {
        match codes {
            [] => Format::Text,
            [all] => *all,
            each => each.get(n).copied().unwrap_or(Format::Text),
        }
    }
}

/// Encoded rows, as DataRow messages.
#[derive(Debug)]
pub(crate) struct RowBuffer<'a> {
    bytes: &'a mut Vec<u8>,
    formats: &'a [Format],
    begun: usize,
    row: usize,
    count: u64,
    /// The most bytes that rows may have.
    limit: usize,
    is_over: bool,
}

impl<'a> RowBuffer<'a> {
    /// Rows go behind `bytes`; all of it together may have `most` bytes.
    pub(crate) fn new(bytes: &'a mut Vec<u8>, formats: &'a [Format], most: usize) -> RowBuffer<'a> {
        let begun = bytes.len();
        let limit = most.saturating_sub(begun).min(RESULT_MAX);
        RowBuffer { bytes, formats, begun, row: begun, count: 0, limit, is_over: false }
    }

    /// Rows so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Takes back all rows.
    pub(crate) fn clear(&mut self) {
        self.bytes.truncate(self.begun);
        self.count = 0;
    }

    /// Adds a row of these values.
    pub(crate) fn push_values(
        &mut self,
        outputs: &[Typed],
        row: Row<'_>,
        context: &Context<'_>,
    ) -> Result<(), SqlError> {
        self.begin(outputs.len());
        for (n, output) in outputs.iter().enumerate() {
            let (format, kind) = (Format::of(self.formats, n), output.kind.kind);
            match (&output.node, format) {
                // What is stored is what is printed.
                (Node::Column(index), Format::Text) => self.push(row.stored(*index)),
                _ => {
                    let value = output.value(row, context)?;
                    self.push_datum(&value, kind, format);
                }
            }
        }
        self.end()
    }

    /// Adds a row of values that are known already.
    pub(crate) fn push_data(&mut self, values: &[(Datum<'_>, Type)]) -> Result<(), SqlError> {
        self.begin(values.len());
        for (n, (value, kind)) in values.iter().enumerate() {
            self.push_datum(value, *kind, Format::of(self.formats, n));
        }
        self.end()
    }

    fn begin(&mut self, columns: usize) {
        self.row = self.bytes.len();
        self.bytes.extend_from_slice(b"D\0\0\0\0");
        let columns = u16::try_from(columns).unwrap_or(u16::MAX); // 1664 at most
        self.bytes.extend_from_slice(&columns.to_be_bytes());
    }

    fn push(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) if value.len() > self.room() => self.is_over = true,
            None => self.bytes.extend_from_slice(&(-1_i32).to_be_bytes()),
            Some(value) => {
                let length = u32::try_from(value.len()).unwrap_or(u32::MAX); // values have a limit
                self.bytes.extend_from_slice(&length.to_be_bytes());
                self.bytes.extend_from_slice(value);
            }
        }
    }

    fn push_datum(&mut self, value: &Datum<'_>, kind: Type, format: Format) {
        if value.is_null() {
            return self.push(None);
        }
        // A value has its own limit, so that one more does no harm.
        self.is_over |= self.room() == 0;
        if self.is_over {
            return;
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        match format {
            Format::Text => value.write_text(kind, self.bytes),
            Format::Binary => value.write_binary(kind, self.bytes),
        }
        let length = u32::try_from(self.bytes.len() - at - 4).unwrap_or(u32::MAX);
        self.bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn room(&self) -> usize {
        self.limit.saturating_sub(self.bytes.len() - self.begun)
    }

    fn end(&mut self) -> Result<(), SqlError> {
        let length = u32::try_from(self.bytes.len() - self.row - 1).unwrap_or(u32::MAX);
        self.bytes[self.row + 1..self.row + 5].copy_from_slice(&length.to_be_bytes());
        self.count += 1;
        if self.is_over || self.count > ROWS_MAX || self.room() == 0 {
            self.clear();
            let message = format!(
                "the result exceeds {ROWS_MAX} rows or {} bytes; ask for less, or use LIMIT",
                self.limit
            );
            return Err(SqlError::new(state::PROGRAM_LIMIT, message));
        }
        Ok(())
    }
}
