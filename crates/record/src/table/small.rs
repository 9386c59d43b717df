//! The small tables: noise observations and events.

use super::column::{ColumnSink, ColumnSource};
use crate::sealed::{self, PartFacts, SealedFile};
use crate::{Event, EventKind, NoiseObservation};
use parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use units::Instant;

/// The name of the noise table in footers, and of its directory.
pub(crate) const NOISE: &str = "noise";
/// The name of the event table in footers, and of its file and directory.
pub(crate) const EVENTS: &str = "events";

/// A row type with a table of its own.
pub(crate) trait Row: Sized {
    /// One sealed Parquet file.
    fn encode(rows: &[Self], facts: &PartFacts) -> Result<Vec<u8>, ParquetError>;
    /// All rows of a file; `Err` says what is wrong with it.
    fn decode(file: &SealedFile) -> Result<Vec<Self>, String>;
}

pub(super) fn column(instant: Instant) -> Option<i64> {
    instant.get().map(|i| i.0.cast_signed())
}

pub(super) fn instant(column: Option<i64>) -> Instant {
    column.map_or(Instant::NONE, |ns| Instant(ns.cast_unsigned()))
}

impl Row for NoiseObservation {
    fn encode(rows: &[NoiseObservation], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
        let schema = sealed::schema(
            "message noise {
                REQUIRED INT32 source (INTEGER(16,false));
                REQUIRED DOUBLE value;
                OPTIONAL INT64 begin_ns;
                OPTIONAL INT64 end_ns;
            }",
        );
        let properties = sealed::properties(&["begin_ns", "end_ns"], &["source", "value"]);
        let mut file = sealed::begin(schema, properties)?;
        let mut sink = ColumnSink::new(file.next_row_group()?);
        sink.small(rows.iter().map(|row| i32::from(row.source)))?;
        sink.real(&rows.iter().map(|row| row.value).collect::<Vec<_>>())?;
        sink.optional(rows.iter().map(|row| column(row.begin)))?;
        sink.optional(rows.iter().map(|row| column(row.end)))?;
        sink.close()?;
        sealed::seal(file, facts)
    }

    fn decode(file: &SealedFile) -> Result<Vec<NoiseObservation>, String> {
        let rows = usize::try_from(file.rows).map_err(|e| e.to_string())?;
        let mut source = ColumnSource::<Int32Type>::new("source", file.column("source")?)?;
        let mut value = ColumnSource::<DoubleType>::new("value", file.column("value")?)?;
        let mut begin = ColumnSource::<Int64Type>::new("begin_ns", file.column("begin_ns")?)?;
        let mut end = ColumnSource::<Int64Type>::new("end_ns", file.column("end_ns")?)?;
        source.advance(rows)?;
        value.advance(rows)?;
        begin.advance(rows)?;
        end.advance(rows)?;
        let spans = begin.options(rows).zip(end.options(rows));
        Ok(source
            .values()
            .iter()
            .zip(value.values())
            .zip(spans)
            .map(|((&source, &value), (begin, end))| NoiseObservation {
                source: source as u16,
                value,
                begin: instant(begin),
                end: instant(end),
            })
            .collect())
    }
}

impl Row for Event {
    fn encode(rows: &[Event], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
        let schema = sealed::schema(
            "message event {
                REQUIRED BYTE_ARRAY kind (STRING);
                OPTIONAL INT64 begin_ns;
                OPTIONAL INT64 end_ns;
                REQUIRED BYTE_ARRAY subject (STRING);
                REQUIRED BYTE_ARRAY detail (STRING);
            }",
        );
        let properties = sealed::properties(&["begin_ns", "end_ns"], &["kind", "subject"]);
        let mut file = sealed::begin(schema, properties)?;
        let mut sink = ColumnSink::new(file.next_row_group()?);
        sink.text(rows.iter().map(|row| row.kind.name()))?;
        sink.optional(rows.iter().map(|row| column(row.begin)))?;
        sink.optional(rows.iter().map(|row| column(row.end)))?;
        sink.text(rows.iter().map(|row| row.subject.as_str()))?;
        sink.text(rows.iter().map(|row| row.detail.as_str()))?;
        sink.close()?;
        sealed::seal(file, facts)
    }

    fn decode(file: &SealedFile) -> Result<Vec<Event>, String> {
        let rows = usize::try_from(file.rows).map_err(|e| e.to_string())?;
        let kinds = texts(file, "kind", rows)?;
        let subjects = texts(file, "subject", rows)?;
        let details = texts(file, "detail", rows)?;
        let mut begin = ColumnSource::<Int64Type>::new("begin_ns", file.column("begin_ns")?)?;
        let mut end = ColumnSource::<Int64Type>::new("end_ns", file.column("end_ns")?)?;
        begin.advance(rows)?;
        end.advance(rows)?;
        let spans = begin.options(rows).zip(end.options(rows));
        let words = kinds.into_iter().zip(subjects).zip(details);
        Ok(words
            .zip(spans)
            .map(|(((kind, subject), detail), (begin, end))| Event {
                // A kind of a later version is still an event.
                kind: EventKind::ALL.into_iter().find(|k| k.name() == kind).unwrap_or(EventKind::Other),
                begin: instant(begin),
                end: instant(end),
                subject,
                detail,
            })
            .collect())
    }
}

pub(super) fn texts(file: &SealedFile, name: &'static str, rows: usize) -> Result<Vec<String>, String> {
    let mut source = ColumnSource::<ByteArrayType>::new(name, file.column(name)?)?;
    source.advance(rows)?;
    Ok(source.values().iter().map(|text| String::from_utf8_lossy(text.data()).into_owned()).collect())
}
