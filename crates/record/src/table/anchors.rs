//! Anchors as columns: what all clocks of the host showed at one moment.

use super::column::{ColumnSink, ColumnSource};
use super::small::Row;
use crate::sealed::{self, PartFacts, SealedFile};
use clock::Anchor;
use parquet::data_type::Int64Type;
use parquet::errors::ParquetError;
use units::Ticks;

/// The name of the table in footers, and of its directory.
pub(crate) const ANCHORS: &str = "anchors";

/// An anchor of a recording: its ticks are nanoseconds since the run's epoch.
#[derive(Clone, Copy)]
pub(crate) struct RunAnchor(pub(crate) Anchor);

/// An anchor of a truth log: its ticks are nanoseconds since the store's epoch.
impl Row for Anchor {
    fn encode(rows: &[Anchor], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
        encode("store_ns", rows.iter(), facts)
    }

    fn decode(file: &SealedFile) -> Result<Vec<Anchor>, String> {
        decode("store_ns", file)
    }
}

impl Row for RunAnchor {
    fn encode(rows: &[RunAnchor], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
        encode("run_ns", rows.iter().map(|row| &row.0), facts)
    }

    fn decode(file: &SealedFile) -> Result<Vec<RunAnchor>, String> {
        Ok(decode("run_ns", file)?.into_iter().map(RunAnchor).collect())
    }
}

/// `own` is the column of the clock that the anchors belong to.
fn encode<'a>(
    own: &'static str,
    rows: impl Iterator<Item = &'a Anchor> + Clone,
    facts: &PartFacts,
) -> Result<Vec<u8>, ParquetError> {
    let schema = sealed::schema(&format!(
        "message anchor {{
            REQUIRED INT64 {own};
            REQUIRED INT64 monotonic_raw_ns;
            REQUIRED INT64 realtime_ns;
            REQUIRED INT64 width_ns;
            OPTIONAL INT64 monotonic_ns;
        }}"
    ));
    let columns = [own, "monotonic_raw_ns", "realtime_ns", "width_ns", "monotonic_ns"];
    let mut file = sealed::begin(schema, sealed::properties(&columns, &[]))?;
    let mut sink = ColumnSink::new(file.next_row_group()?);
    sink.required(rows.clone().map(|row| row.ticks.0.cast_signed()))?;
    sink.required(rows.clone().map(|row| row.monotonic_ns.cast_signed()))?;
    sink.required(rows.clone().map(|row| row.realtime_ns.cast_signed()))?;
    sink.required(rows.clone().map(|row| row.width_ticks.cast_signed()))?;
    sink.optional(rows.map(|row| row.slewed_ns.map(u64::cast_signed)))?;
    sink.close()?;
    sealed::seal(file, facts)
}

fn decode(own: &'static str, file: &SealedFile) -> Result<Vec<Anchor>, String> {
    let rows = usize::try_from(file.rows).map_err(|e| e.to_string())?;
    let optional = |name: &'static str| -> Result<Vec<Option<u64>>, String> {
        let mut source = ColumnSource::<Int64Type>::new(name, file.column(name)?)?;
        source.advance(rows)?;
        Ok(source.options(rows).map(|value| value.map(i64::cast_unsigned)).collect())
    };
    let column = |name: &'static str| -> Result<Vec<u64>, String> {
        Ok(optional(name)?.into_iter().map(|value| value.unwrap_or(0)).collect())
    };
    // Logs of the first truetail have no such column.
    let slewed = if file.has_column("monotonic_ns") { optional("monotonic_ns")? } else { vec![None; rows] };
    let (ticks, monotonic) = (column(own)?, column("monotonic_raw_ns")?);
    let (realtime, width) = (column("realtime_ns")?, column("width_ns")?);
    let clocks = monotonic.into_iter().zip(realtime).zip(slewed);
    Ok(ticks
        .into_iter()
        .zip(width)
        .zip(clocks)
        .map(|((ticks, width_ticks), ((monotonic_ns, realtime_ns), slewed_ns))| Anchor {
            ticks: Ticks(ticks),
            monotonic_ns,
            realtime_ns,
            slewed_ns,
            width_ticks,
        })
        .collect())
}
