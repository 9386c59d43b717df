//! Samples and rows in memory, a window of time at a time.
//!
//! A window owns the samples that were completed in it. Beside them lie the rows that can belong to them, from when the first of
//! them was sent, and the samples of other windows that reach into that time: without them, rows of theirs would look
//! as if they had none.

use super::clocks::Clocks;
use super::lag;
use crate::AnalysisError;
use record::{Columns, PhaseKind, Recording, SampleBatch, TruthLog, TruthRow, TruthStaleness, flags};
use std::collections::BTreeMap;
use units::{Instant, Outcome};

/// Stands for an instant that there is none of.
pub(super) const NONE: i64 = i64::MAX;

/// A sample whose request was sent; instants on the common axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flown {
    pub(super) intended: i64,
    pub(super) sent: i64,
    pub(super) completed: i64,
    pub(super) seq: u64,
    pub(super) op: u8,
    pub(super) outcome: Outcome,
    /// Of a phase that counts.
    pub(super) measured: bool,
    /// First of its session over a new connection.
    pub(super) after_reconnect: bool,
    /// The window owns it.
    pub(super) own: bool,
}

/// A row; instants on the common axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) arrived: i64,
    /// Until when it was certainly not answered.
    pub(super) end: i64,
    /// [`NONE`] without an answer.
    pub(super) written: i64,
    pub(super) rules: u16,
    /// The store's own lateness, ns; [`NONE`] where there is none.
    pub(super) late: i64,
    /// Of reads alone.
    pub(super) staleness: Option<TruthStaleness>,
    #[cfg(test)]
    pub(super) seq: u64,
}

/// One session of one client of one recording.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) recording: usize,
    pub(super) client: u16,
    pub(super) number: u16,
    /// In order; they do not overlap.
    pub(super) flown: Vec<Flown>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u32,
    /// In order of arrival.
    pub(super) rows: Vec<Row>,
}

/// What a window holds.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) sessions: Vec<Session>,
    pub(super) connections: Vec<Connection>,
    /// Samples that it owns and that were never sent.
    pub(super) never_sent: u64,
    /// From when to when rows count for it alone.
    pub(super) span: (i64, i64),
}

/// A window: samples completed in [from, to).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    from: i64,
    to: i64,
    /// When the first of its samples was sent.
    earliest: i64,
    /// From when to when rows count for it alone.
    rows: (i64, i64),
    tolerance: i64,
}

/// What was completed in a short time.
#[derive(Clone, Copy, Debug)]
struct Bin {
    samples: usize,
    /// When the first of them was sent.
    earliest: i64,
    /// When the last of them was completed.
    latest: i64,
}

/// The windows of a run.
#[derive(Debug)]
pub(super) struct Windows {
    list: Vec<Window>,
}

/// How fine windows are cut, ns.
const BIN: i64 = 100_000_000;

impl Windows {
    /// Cuts the time so that no window has more than `most` samples, unless a tenth of a second has.
    pub(super) fn plan(
        recordings: &[Recording],
        clocks: &Clocks,
        tolerance: i64,
        most: usize,
    ) -> Result<Windows, AnalysisError> {
        let mut bins: BTreeMap<i64, Bin> = BTreeMap::new();
        for (index, recording) in recordings.iter().enumerate() {
            let counted = recording.scan_columns(Columns::SENT, 1, BTreeMap::new, |bins, batch| {
                count(bins, batch, |at| clocks.of_recording(index, at));
            })?;
            for (number, bin) in counted.into_iter().flatten() {
                bins.entry(number).or_insert(Bin::EMPTY).add(bin);
            }
        }
        Ok(Windows { list: cut(&bins, tolerance, most) })
    }

    pub(super) fn list(&self) -> &[Window] {
        &self.list
    }
}

impl Bin {
    const EMPTY: Bin = Bin { samples: 0, earliest: i64::MAX, latest: i64::MIN };

    fn add(&mut self, other: Bin) {
        self.samples += other.samples;
        self.earliest = self.earliest.min(other.earliest);
        self.latest = self.latest.max(other.latest);
    }
}

fn count(bins: &mut BTreeMap<i64, Bin>, batch: &SampleBatch, on_axis: impl Fn(u64) -> i64) {
    for (&sent, &completed) in batch.sent.iter().zip(&batch.completed) {
        if completed == Instant::NONE.0 {
            continue;
        }
        let latest = on_axis(completed);
        let earliest = if sent == Instant::NONE.0 { latest } else { on_axis(sent) };
        bins.entry(latest.div_euclid(BIN)).or_insert(Bin::EMPTY).add(Bin { samples: 1, earliest, latest });
    }
}

/// Windows follow each other without a gap, so that rows between them count.
fn cut(bins: &BTreeMap<i64, Bin>, tolerance: i64, most: usize) -> Vec<Window> {
    let mut list: Vec<Window> = Vec::new();
    let mut held = 0;
    for (number, bin) in bins {
        let to = (number + 1) * BIN;
        if list.is_empty() || held + bin.samples > most {
            let from = list.last().map_or(bin.earliest, |before| before.to);
            list.push(Window { from, to, earliest: bin.earliest, rows: (from, to), tolerance });
            held = 0;
        }
        held += bin.samples;
        if let Some(window) = list.last_mut() {
            (window.to, window.rows.1) = (to, to);
            window.earliest = window.earliest.min(bin.earliest);
        }
    }
    if let Some(first) = list.first_mut() {
        first.rows.0 = bins.values().map(|bin| bin.earliest).min().unwrap_or(first.from) - tolerance;
    }
    if let Some(last) = list.last_mut() {
        last.rows.1 = bins.values().map(|bin| bin.latest).max().unwrap_or(last.to) + tolerance;
    }
    list
}

impl Window {
    /// Reads what the window needs.
    pub(super) fn load(
        &self,
        recordings: &[Recording],
        truth: &TruthLog,
        clocks: &Clocks,
    ) -> Result<Loaded, AnalysisError> {
        let mut loaded = Loaded { span: self.rows, ..Loaded::default() };
        let mut sessions = BTreeMap::new();
        for (index, recording) in recordings.iter().enumerate() {
            self.load_samples(index, recording, clocks, &mut sessions, &mut loaded.never_sent)?;
        }
        loaded.sessions = sessions
            .into_iter()
            .map(|((recording, client, number), mut flown)| {
                flown.sort_by_key(|sample: &Flown| (sample.sent, sample.seq));
                Session { recording, client, number, flown }
            })
            .collect();
        loaded.connections = self.load_rows(truth, &lag::probed_keys(recordings), clocks);
        Ok(loaded)
    }

    fn load_samples(
        &self,
        index: usize,
        recording: &Recording,
        clocks: &Clocks,
        sessions: &mut BTreeMap<(usize, u16, u16), Vec<Flown>>,
        never_sent: &mut u64,
    ) -> Result<(), AnalysisError> {
        let phases: Vec<bool> =
            recording.header().phases.iter().map(|phase| phase.kind == PhaseKind::Measured).collect();
        let has_response = recording.header().load.model.has_response_time();
        type Found = (BTreeMap<u16, BTreeMap<u16, Vec<Flown>>>, u64);
        let found = recording.scan(1, Found::default, |(found, never_sent), batch| {
            let by_session = found.entry(batch.client).or_default();
            for sample in batch.iter().filter(|sample| sample.completed.is_some()) {
                let completed = clocks.of_recording(index, sample.completed.0);
                let own = (self.from..self.to).contains(&completed);
                if !sample.sent.is_some() {
                    *never_sent += u64::from(own);
                    continue;
                }
                let sent = clocks.of_recording(index, sample.sent.0);
                if completed + self.tolerance < self.earliest || sent - self.tolerance > self.to {
                    continue;
                }
                let intended = sample.intended.get().filter(|_| has_response);
                by_session.entry(sample.session).or_default().push(Flown {
                    intended: intended.map_or(NONE, |at| clocks.of_recording(index, at.0)),
                    sent,
                    completed,
                    seq: sample.seq,
                    op: sample.op,
                    outcome: sample.outcome,
                    measured: phases.get(usize::from(sample.phase)).copied().unwrap_or(true),
                    after_reconnect: sample.flags & flags::AFTER_RECONNECT != 0,
                    own,
                });
            }
        })?;
        for (clients, count) in found {
            *never_sent += count;
            for (client, by_session) in clients {
                for (session, mut flown) in by_session {
                    sessions.entry((index, client, session)).or_default().append(&mut flown);
                }
            }
        }
        Ok(())
    }

    /// Without rows of probes, which are nobody's samples.
    fn load_rows(&self, truth: &TruthLog, probed: &[u64], clocks: &Clocks) -> Vec<Connection> {
        let mut connections: BTreeMap<u32, Vec<(u32, Row)>> = BTreeMap::new();
        let (writes, client_rule) = (lag::writes(truth), truth.header().client_rule());
        truth.scan(|rows| {
            for row in rows {
                if row.key.is_some_and(|key| probed.contains(&key)) {
                    continue;
                }
                let arrived = clocks.of_store(row.arrived);
                if arrived + self.tolerance < self.earliest || arrived - self.tolerance > self.to {
                    continue;
                }
                connections
                    .entry(row.connection)
                    .or_default()
                    .push((row.number, on_axis(row, arrived, &writes, client_rule, clocks)));
            }
        });
        let ordered = |(number, mut rows): (u32, Vec<(u32, Row)>)| {
            rows.sort_by_key(|(number, row)| (row.arrived, *number));
            Connection { number, rows: rows.into_iter().map(|(_, row)| row).collect() }
        };
        connections.into_iter().map(ordered).collect()
    }
}

fn on_axis(row: &TruthRow, arrived: i64, writes: &[bool], client_rule: u16, clocks: &Clocks) -> Row {
    let is_write = writes.get(usize::from(row.operation)) == Some(&true);
    let written = row.written.get().map_or(NONE, |at| clocks.of_store(at));
    // The store reads its clock just before it hands an answer to the kernel, and may be held up anywhere; it never writes
    // before the answer is due.
    let end = if written == NONE { arrived } else { clocks.of_store(row.due).min(written).max(arrived) };
    let late = row.own_lateness(client_rule).map_or(NONE, |late| late.0.cast_signed());
    Row {
        arrived,
        end,
        written,
        rules: row.rules,
        late,
        staleness: row.staleness.filter(|_| !is_write),
        #[cfg(test)]
        seq: row.seq,
    }
}
