//! Writing and reading one column with nulls, without allocating for each batch.

use crate::error::one_line;
use crate::guard::guarded;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;

/// The group that one part consists of, and the memory that its columns share.
pub(crate) struct ColumnSink<'a> {
    group: SerializedRowGroupWriter<'a, Vec<u8>>,
    levels: Vec<i16>,
    longs: Vec<i64>,
    ints: Vec<i32>,
}

impl<'a> ColumnSink<'a> {
    pub(crate) fn new(group: SerializedRowGroupWriter<'a, Vec<u8>>) -> ColumnSink<'a> {
        ColumnSink { group, levels: Vec::new(), longs: Vec::new(), ints: Vec::new() }
    }

    /// The next column: 64-bit, null where there is no value.
    pub(crate) fn optional(&mut self, values: impl Iterator<Item = Option<i64>>) -> Result<(), ParquetError> {
        self.levels.clear();
        self.longs.clear();
        for value in values {
            self.levels.push(i16::from(value.is_some()));
            self.longs.extend(value);
        }
        write_next::<Int64Type>(&mut self.group, &self.longs, Some(&self.levels))
    }

    /// The next column: 64-bit, never null.
    pub(crate) fn required(&mut self, values: impl Iterator<Item = i64>) -> Result<(), ParquetError> {
        self.longs.clear();
        self.longs.extend(values);
        write_next::<Int64Type>(&mut self.group, &self.longs, None)
    }

    /// The next column: 32-bit, never null.
    pub(crate) fn small(&mut self, values: impl Iterator<Item = i32>) -> Result<(), ParquetError> {
        self.ints.clear();
        self.ints.extend(values);
        write_next::<Int32Type>(&mut self.group, &self.ints, None)
    }

    /// The next column: floating point, never null.
    pub(crate) fn real(&mut self, values: &[f64]) -> Result<(), ParquetError> {
        write_next::<DoubleType>(&mut self.group, values, None)
    }

    /// The next column: text, never null.
    pub(crate) fn text<'t>(&mut self, values: impl Iterator<Item = &'t str>) -> Result<(), ParquetError> {
        let values: Vec<parquet::data_type::ByteArray> = values.map(Into::into).collect();
        write_next::<parquet::data_type::ByteArrayType>(&mut self.group, &values, None)
    }

    pub(crate) fn close(self) -> Result<(), ParquetError> {
        self.group.close().map(drop)
    }
}

fn write_next<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let column = group.next_column()?;
    let mut column =
        column.ok_or_else(|| ParquetError::General("more columns than the schema has".into()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

/// A column that is read in batches: its values and where they are null.
pub(crate) struct ColumnSource<T: DataType> {
    name: &'static str,
    reader: ColumnReaderImpl<T>,
    /// The non-null values of the current batch.
    values: Vec<T::T>,
    /// For each row of the batch 1 if it has a value; left empty by a column without nulls.
    levels: Vec<i16>,
}

impl<T: DataType> ColumnSource<T> {
    pub(crate) fn new(name: &'static str, reader: ColumnReader) -> Result<ColumnSource<T>, String> {
        // `get_typed_column_reader` panics on a mismatch, so the type is asked for first.
        let physical = match &reader {
            ColumnReader::Int32ColumnReader(_) => parquet::basic::Type::INT32,
            ColumnReader::Int64ColumnReader(_) => parquet::basic::Type::INT64,
            ColumnReader::DoubleColumnReader(_) => parquet::basic::Type::DOUBLE,
            ColumnReader::ByteArrayColumnReader(_) => parquet::basic::Type::BYTE_ARRAY,
            _ => return Err(format!("column `{name}` has a type that no recording has")),
        };
        if physical != T::get_physical_type() {
            return Err(format!("column `{name}` is {physical}, not {}", T::get_physical_type()));
        }
        let reader = get_typed_column_reader(reader);
        Ok(ColumnSource { name, reader, values: Vec::new(), levels: Vec::new() })
    }

    /// Reads the next `rows` rows; an error if the column has fewer.
    pub(crate) fn advance(&mut self, rows: usize) -> Result<(), String> {
        self.values.clear();
        self.levels.clear();
        let (records, _, _) = guarded(|| {
            let read = self.reader.read_records(rows, Some(&mut self.levels), None, &mut self.values);
            read.map_err(one_line)
        })?;
        if records == rows && (self.values.len() == rows || self.levels.len() == rows) {
            return Ok(());
        }
        Err(format!("damaged: column `{}` ends too early", self.name))
    }

    pub(crate) fn values(&self) -> &[T::T] {
        &self.values
    }
}

/// What a batch of a nullable column looks like.
pub(crate) enum Filled<'a> {
    /// Every row has a value.
    Full(&'a [i64]),
    /// No row has one.
    Empty,
    /// The values, and for each row whether it has one.
    Sparse(&'a [i64], &'a [i16]),
}

impl ColumnSource<Int64Type> {
    pub(crate) fn filled(&self, rows: usize) -> Filled<'_> {
        if self.values.len() == rows {
            Filled::Full(&self.values)
        } else if self.values.is_empty() {
            Filled::Empty
        } else {
            Filled::Sparse(&self.values, &self.levels)
        }
    }

    /// Row by row.
    pub(crate) fn options(&self, rows: usize) -> impl Iterator<Item = Option<i64>> + '_ {
        let full = self.values.len() == rows;
        let mut values = self.values.iter();
        (0..rows).map(move |row| {
            let has = full || self.levels.get(row) == Some(&1);
            if has { values.next().copied() } else { None }
        })
    }
}
