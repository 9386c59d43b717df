//! Samples from columns: the inverse of `table::sample`.

use super::column::{ColumnSource, Filled};
use crate::sealed::SealedFile;
use crate::{Columns, SampleBatch};
use parquet::data_type::{Int32Type, Int64Type};

type Long = Option<ColumnSource<Int64Type>>;
type Small = Option<ColumnSource<Int32Type>>;

const NONE: u64 = u64::MAX;

/// Reads a part batch by batch; holds the columns that were asked for, compressed, in memory.
pub(crate) struct SampleReader {
    client: u16,
    remaining: u64,
    sent: Long,
    pool_wait: Long,
    lag: Long,
    service: Long,
    pick_up: Long,
    intended: Long,
    ready: Long,
    completed: Long,
    arrived: Long,
    seq: Long,
    session: Small,
    op: Small,
    phase: Small,
    outcome: Small,
    retries: Small,
    flags: Small,
    /// Stand-ins for instants that were not asked for and that others are derived from.
    spare_sent: Vec<u64>,
    spare_ready: Vec<u64>,
}

impl SampleReader {
    /// Reads and checks the columns that `columns` needs; `Err` says what is wrong with the file.
    pub(crate) fn new(file: &SealedFile, columns: Columns) -> Result<SampleReader, String> {
        let long = |needed: bool, name: &'static str| -> Result<Long, String> {
            needed.then(|| ColumnSource::new(name, file.column(name)?)).transpose()
        };
        let small = |column: Columns, name: &'static str| -> Result<Small, String> {
            columns.has(column).then(|| ColumnSource::new(name, file.column(name)?)).transpose()
        };
        let intended = columns.has(Columns::INTENDED);
        let ready = intended || columns.has(Columns::READY);
        let arrived = columns.has(Columns::ARRIVED);
        Ok(SampleReader {
            client: file.facts.client,
            remaining: file.rows,
            sent: long(true, "sent_ns")?,
            pool_wait: long(intended, "pool_wait_ns")?,
            lag: long(ready, "lag_ns")?,
            service: long(true, "service_ns")?,
            pick_up: long(arrived, "pick_up_ns")?,
            intended: long(intended, "intended_ns")?,
            ready: long(ready, "ready_ns")?,
            completed: long(true, "completed_ns")?,
            arrived: long(arrived, "arrived_ns")?,
            seq: long(columns.has(Columns::SEQ), "seq")?,
            session: small(Columns::SESSION, "session")?,
            op: small(Columns::OP, "op")?,
            phase: small(Columns::PHASE, "phase")?,
            outcome: small(Columns::OUTCOME, "outcome")?,
            retries: small(Columns::RETRIES, "retries")?,
            flags: small(Columns::FLAGS, "flags")?,
            spare_sent: Vec::new(),
            spare_ready: Vec::new(),
        })
    }

    /// Appends up to `rows` samples to `batch` and sets its client; 0 at the end of the part.
    pub(crate) fn append(
        &mut self,
        columns: Columns,
        rows: usize,
        batch: &mut SampleBatch,
    ) -> Result<usize, String> {
        let rows = rows.min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        if rows == 0 {
            return Ok(0);
        }
        self.advance(rows)?;
        self.remaining -= rows as u64;
        batch.client = self.client;
        self.append_instants(columns, rows, batch);
        append_long(&self.seq, &mut batch.seq);
        append_small(&self.session, &mut batch.session, |v| v as u16);
        append_small(&self.op, &mut batch.op, |v| v as u8);
        append_small(&self.phase, &mut batch.phase, |v| v as u8);
        append_small(&self.outcome, &mut batch.outcome, |v| v as u8);
        append_small(&self.retries, &mut batch.retries, |v| v as u8);
        append_small(&self.flags, &mut batch.flags, |v| v as u8);
        Ok(rows)
    }

    fn advance(&mut self, rows: usize) -> Result<(), String> {
        let longs = [
            &mut self.sent,
            &mut self.pool_wait,
            &mut self.lag,
            &mut self.service,
            &mut self.pick_up,
            &mut self.intended,
            &mut self.ready,
            &mut self.completed,
            &mut self.arrived,
            &mut self.seq,
        ];
        for column in longs.into_iter().flatten() {
            column.advance(rows)?;
        }
        let smalls = [
            &mut self.session,
            &mut self.op,
            &mut self.phase,
            &mut self.outcome,
            &mut self.retries,
            &mut self.flags,
        ];
        for column in smalls.into_iter().flatten() {
            column.advance(rows)?;
        }
        Ok(())
    }

    fn append_instants(&mut self, columns: Columns, rows: usize, batch: &mut SampleBatch) {
        self.spare_sent.clear();
        self.spare_ready.clear();
        let sent_out = if columns.has(Columns::SENT) { &mut batch.sent } else { &mut self.spare_sent };
        let ready_out = if columns.has(Columns::READY) { &mut batch.ready } else { &mut self.spare_ready };
        absolute(&self.sent, rows, sent_out);
        let sent = &sent_out[sent_out.len() - rows..];
        derive(&self.ready, &self.lag, sent, u64::wrapping_sub, ready_out);
        if columns.has(Columns::INTENDED) {
            let ready = &ready_out[ready_out.len() - rows..];
            derive(&self.intended, &self.pool_wait, ready, u64::wrapping_sub, &mut batch.intended);
        }
        derive(&self.completed, &self.service, sent, u64::wrapping_add, &mut batch.completed);
        let completed = &batch.completed[batch.completed.len() - rows..];
        derive(&self.arrived, &self.pick_up, completed, u64::wrapping_sub, &mut batch.arrived);
    }
}

/// Appends an absolute column, with NONE where it is null.
fn absolute(column: &Long, rows: usize, out: &mut Vec<u64>) {
    let start = out.len();
    out.resize(start + rows, NONE);
    if let Some(column) = column {
        fill(column.filled(rows), &mut out[start..], |_, value| value.cast_unsigned());
    }
}

/// Appends `base ∓ interval`, or the absolute column where there is no interval. Nothing if it was not asked
/// for.
fn derive(
    absolute_column: &Long,
    interval: &Long,
    base: &[u64],
    step: fn(u64, u64) -> u64,
    out: &mut Vec<u64>,
) {
    let Some(interval) = interval else { return };
    let rows = base.len();
    let start = out.len();
    absolute(absolute_column, rows, out);
    fill(interval.filled(rows), &mut out[start..], |row, value| step(base[row], value.cast_unsigned()));
}

/// Overwrites the rows that have a value.
#[inline(always)]
fn fill(filled: Filled<'_>, out: &mut [u64], value: impl Fn(usize, i64) -> u64) {
    match filled {
        Filled::Empty => {}
        Filled::Full(values) => {
            for (row, (slot, &v)) in out.iter_mut().zip(values).enumerate() {
                *slot = value(row, v);
            }
        }
        Filled::Sparse(values, levels) => {
            let mut values = values.iter();
            for (row, (slot, &level)) in out.iter_mut().zip(levels).enumerate() {
                if level == 1
                    && let Some(&v) = values.next()
                {
                    *slot = value(row, v);
                }
            }
        }
    }
}

fn append_long(column: &Long, out: &mut Vec<u64>) {
    if let Some(column) = column {
        out.extend(column.values().iter().map(|v| v.cast_unsigned()));
    }
}

fn append_small<T>(column: &Small, out: &mut Vec<T>, narrow: impl Fn(i32) -> T) {
    if let Some(column) = column {
        out.extend(column.values().iter().map(|&v| narrow(v)));
    }
}
