//! Rows of truth as columns.

use crate::sealed::{self, PartFacts, SealedFile};
use crate::table::column::{ColumnSink, ColumnSource};
use crate::truth::{TruthRow, TruthStaleness};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::TypePtr;
use std::sync::LazyLock;
use units::{Instant, Nanos};

/// The name of the table of requests in footers, and of its directory.
pub(crate) const TABLE: &str = "truth";

static SCHEMA: LazyLock<TypePtr> = LazyLock::new(|| {
    sealed::schema(
        "message truth {
            REQUIRED INT64 arrived_ns;
            REQUIRED INT64 begun_ns;
            REQUIRED INT64 due_ns;
            OPTIONAL INT64 written_ns;
            REQUIRED INT64 seq (INTEGER(64,false));
            REQUIRED INT64 connection (INTEGER(64,false));
            REQUIRED INT64 number (INTEGER(64,false));
            OPTIONAL INT64 staleness_versions;
            OPTIONAL INT64 staleness_ns;
            OPTIONAL INT64 age_ns;
            OPTIONAL INT64 key_hash (INTEGER(64,false));
            REQUIRED INT32 rules (INTEGER(16,false));
            REQUIRED INT32 op (INTEGER(8,false));
            REQUIRED INT32 node (INTEGER(8,false));
            REQUIRED INT32 stamped (INTEGER(8,false));
        }",
    )
});

/// Hashes are as good as random: differences of them would be longer than they are.
static PROPERTIES: LazyLock<WriterPropertiesPtr> = LazyLock::new(|| {
    sealed::properties(
        &[
            "arrived_ns",
            "begun_ns",
            "due_ns",
            "written_ns",
            "seq",
            "connection",
            "number",
            "staleness_versions",
            "staleness_ns",
            "age_ns",
            "rules",
            "op",
            "node",
            "stamped",
        ],
        &[],
    )
});

/// One sealed Parquet file; ≈ 60 ns a row.
pub(super) fn encode(rows: &[TruthRow], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
    let mut file = sealed::begin(SCHEMA.clone(), PROPERTIES.clone())?;
    let mut sink = ColumnSink::new(file.next_row_group()?);
    sink.required(rows.iter().map(|row| row.arrived.0.cast_signed()))?;
    sink.required(rows.iter().map(|row| row.begun.0.cast_signed()))?;
    sink.required(rows.iter().map(|row| row.due.0.cast_signed()))?;
    sink.optional(rows.iter().map(|row| row.written.get().map(|at| at.0.cast_signed())))?;
    sink.required(rows.iter().map(|row| row.seq.cast_signed()))?;
    sink.required(rows.iter().map(|row| i64::from(row.connection)))?;
    sink.required(rows.iter().map(|row| i64::from(row.number)))?;
    sink.optional(rows.iter().map(|row| row.staleness.map(|s| i64::from(s.versions))))?;
    sink.optional(rows.iter().map(|row| row.staleness.map(|s| s.time.0.cast_signed())))?;
    sink.optional(rows.iter().map(|row| row.staleness.map(|s| s.age.0.cast_signed())))?;
    sink.optional(rows.iter().map(|row| row.key.map(u64::cast_signed)))?;
    sink.small(rows.iter().map(|row| i32::from(row.rules)))?;
    sink.small(rows.iter().map(|row| i32::from(row.operation)))?;
    sink.small(rows.iter().map(|row| i32::from(row.node)))?;
    sink.small(rows.iter().map(|row| i32::from(row.stamped)))?;
    sink.close()?;
    sealed::seal(file, facts)
}

/// Columns of 64 bits, in the order of their names here.
const LONGS: [&str; 11] = [
    "arrived_ns",
    "begun_ns",
    "due_ns",
    "written_ns",
    "seq",
    "connection",
    "number",
    "staleness_versions",
    "staleness_ns",
    "age_ns",
    "key_hash",
];
/// Columns of 32 bits, in the order of their names here.
const SMALLS: [&str; 4] = ["rules", "op", "node", "stamped"];

/// Reads a part batch by batch; holds its columns, compressed, in memory.
pub(super) struct TruthReader {
    remaining: u64,
    longs: [ColumnSource<Int64Type>; LONGS.len()],
    smalls: [ColumnSource<Int32Type>; SMALLS.len()],
}

impl TruthReader {
    /// Reads and checks all columns; `Err` says what is wrong with the file.
    pub(super) fn new(file: &SealedFile) -> Result<TruthReader, String> {
        Ok(TruthReader { remaining: file.rows, longs: columns(file, LONGS)?, smalls: columns(file, SMALLS)? })
    }

    /// Appends up to `rows_max` rows to `out`; 0 at the end of the part.
    pub(super) fn append(&mut self, rows_max: usize, out: &mut Vec<TruthRow>) -> Result<usize, String> {
        let rows = rows_max.min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        if rows == 0 {
            return Ok(0);
        }
        for column in &mut self.longs {
            column.advance(rows)?;
        }
        for column in &mut self.smalls {
            column.advance(rows)?;
        }
        self.remaining -= rows as u64;
        let mut longs = self.longs.each_ref().map(|column| column.options(rows));
        let smalls = self.smalls.each_ref().map(ColumnSource::values);
        out.extend((0..rows).map(|row| {
            let longs = longs.each_mut().map(|column| column.next().flatten().map(i64::cast_unsigned));
            one_row(longs, smalls.map(|column| column.get(row).copied().unwrap_or(0)))
        }));
        Ok(rows)
    }
}

fn columns<T: DataType, const N: usize>(
    file: &SealedFile,
    names: [&'static str; N],
) -> Result<[ColumnSource<T>; N], String> {
    let all: Result<Vec<_>, String> =
        names.into_iter().map(|name| ColumnSource::new(name, file.column(name)?)).collect();
    all?.try_into().map_err(|_| "its columns were miscounted".to_owned())
}

/// What stands in the columns, in the order of [`LONGS`] and [`SMALLS`]; numbers that are too large are damage that
/// checksums confirm, and are cut.
fn one_row(longs: [Option<u64>; LONGS.len()], smalls: [i32; SMALLS.len()]) -> TruthRow {
    let [arrived, begun, due, written, seq, connection, number, versions, stale, age, key] = longs;
    let [rules, operation, node, stamped] = smalls;
    let at = |value: Option<u64>| value.map_or(Instant::NONE, Instant);
    TruthRow {
        arrived: at(arrived),
        begun: at(begun),
        due: at(due),
        written: at(written),
        seq: seq.unwrap_or(0),
        connection: connection.unwrap_or(0) as u32,
        number: number.unwrap_or(0) as u32,
        rules: rules as u16,
        operation: operation as u8,
        node: node as u8,
        stamped: stamped != 0,
        staleness: versions.map(|versions| TruthStaleness {
            versions: versions as u32,
            time: Nanos(stale.unwrap_or(0)),
            age: Nanos(age.unwrap_or(0)),
        }),
        key,
    }
}
