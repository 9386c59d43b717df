//! Samples as columns: four intervals and one absolute time, at nanosecond resolution, without loss.
//!
//! Five absolute times would cost ≈ 20 bits each, although four of them follow from the first to within a few
//! microseconds; so a row has `sent_ns` and the intervals around it, which are also the columns that people
//! ask for. An interval is null unless both of its ends were observed, so it never means anything but its
//! name. The instants that can't be reached from `sent_ns` by such intervals (a request that was never sent,
//! an import that knows only some of them) stand in columns of their own, which are null almost everywhere
//! and then take no room:
//!
//! ```text
//! ready     = sent_ns − lag_ns,        else ready_ns
//! intended  = ready − pool_wait_ns,    else intended_ns
//! completed = sent_ns + service_ns,    else completed_ns
//! arrived   = completed − pick_up_ns,  else arrived_ns
//! ```
//!
//! Differences wrap, so that any combination comes back bit by bit, also one in which clock noise has put
//! `completed` before `arrived`: such an interval is negative.

use crate::SampleBatch;
use crate::sealed::{self, PartFacts};
use crate::table::column::ColumnSink;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::TypePtr;
use std::sync::LazyLock;

/// The name of the table in footers, and of its directory.
pub(crate) const TABLE: &str = "samples";

static SCHEMA: LazyLock<TypePtr> = LazyLock::new(|| {
    sealed::schema(
        "message sample {
            OPTIONAL INT64 sent_ns;
            OPTIONAL INT64 pool_wait_ns;
            OPTIONAL INT64 lag_ns;
            OPTIONAL INT64 service_ns;
            OPTIONAL INT64 pick_up_ns;
            OPTIONAL INT64 intended_ns;
            OPTIONAL INT64 ready_ns;
            OPTIONAL INT64 completed_ns;
            OPTIONAL INT64 arrived_ns;
            REQUIRED INT64 seq (INTEGER(64,false));
            REQUIRED INT32 client (INTEGER(16,false));
            REQUIRED INT32 session (INTEGER(16,false));
            REQUIRED INT32 op (INTEGER(8,false));
            REQUIRED INT32 phase (INTEGER(8,false));
            REQUIRED INT32 outcome (INTEGER(8,false));
            REQUIRED INT32 retries (INTEGER(8,false));
            REQUIRED INT32 flags (INTEGER(8,false));
        }",
    )
});

static PROPERTIES: LazyLock<WriterPropertiesPtr> = LazyLock::new(|| {
    sealed::properties(
        &[
            "sent_ns",
            "pool_wait_ns",
            "lag_ns",
            "service_ns",
            "pick_up_ns",
            "intended_ns",
            "ready_ns",
            "completed_ns",
            "arrived_ns",
            "seq",
            "session",
            "client",
            "op",
            "phase",
            "outcome",
            "retries",
            "flags",
        ],
        &[],
    )
});

const NONE: u64 = u64::MAX;

/// `later − earlier` as the column holds it; null unless both were observed.
fn interval(later: u64, earlier: u64) -> Option<i64> {
    (later != NONE && earlier != NONE).then(|| later.wrapping_sub(earlier).cast_signed())
}

/// An instant that no interval leads to: null if it was not observed, or if `neighbour` leads to it.
fn unreachable_instant(instant: u64, neighbour: u64) -> Option<i64> {
    (instant != NONE && neighbour == NONE).then(|| instant.cast_signed())
}

/// One sealed Parquet file of the batch, all of whose columns are there; ≈ 60 ns a row.
pub(crate) fn encode(batch: &SampleBatch, facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
    let mut file = sealed::begin(SCHEMA.clone(), PROPERTIES.clone())?;
    let mut sink = ColumnSink::new(file.next_row_group()?);
    let SampleBatch { intended, ready, sent, arrived, completed, .. } = batch;
    sink.optional(sent.iter().map(|&sent| (sent != NONE).then(|| sent.cast_signed())))?;
    sink.optional(pairs(ready, intended).map(|(r, i)| interval(r, i)))?;
    sink.optional(pairs(sent, ready).map(|(s, r)| interval(s, r)))?;
    sink.optional(pairs(completed, sent).map(|(c, s)| interval(c, s)))?;
    sink.optional(pairs(completed, arrived).map(|(c, a)| interval(c, a)))?;
    sink.optional(pairs(intended, ready).map(|(i, r)| unreachable_instant(i, r)))?;
    sink.optional(pairs(ready, sent).map(|(r, s)| unreachable_instant(r, s)))?;
    sink.optional(pairs(completed, sent).map(|(c, s)| unreachable_instant(c, s)))?;
    sink.optional(pairs(arrived, completed).map(|(a, c)| unreachable_instant(a, c)))?;
    sink.required(batch.seq.iter().map(|seq| seq.cast_signed()))?;
    sink.small(batch.seq.iter().map(|_| i32::from(batch.client)))?;
    sink.small(batch.session.iter().map(|&session| i32::from(session)))?;
    for column in [&batch.op, &batch.phase, &batch.outcome, &batch.retries, &batch.flags] {
        sink.small(column.iter().map(|&value| i32::from(value)))?;
    }
    sink.close()?;
    sealed::seal(file, facts)
}

fn pairs<'a>(a: &'a [u64], b: &'a [u64]) -> impl Iterator<Item = (u64, u64)> + 'a {
    a.iter().copied().zip(b.iter().copied())
}
