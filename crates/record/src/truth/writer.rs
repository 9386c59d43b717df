//! Writing a truth log.

use crate::directory::require_vacant;
use crate::error::one_line;
use crate::parts::{self, Part, PartWriter};
use crate::reserve;
use crate::sealed::{self, PartFacts, ROWS_MAX};
use crate::table::anchors::ANCHORS;
use crate::table::small;
use crate::truth::table::{TABLE, TruthReader, encode};
use crate::truth::{TRUTH_FILE, TruthEnd, TruthFile, TruthHeader, TruthRow, wire};
use crate::writer::{close_rows, compact_events, merge_rows};
use crate::{Event, RecordError};
use clock::Anchor;
use std::path::{Path, PathBuf};
use units::{Instant, Seed};

/// Writes a truth log, synchronously: for simulations and tests. A live store uses the
/// [`TruthRecorder`](crate::TruthRecorder), which has one of these on a thread of its own.
///
/// Rows, events and anchors gather in memory until [`TruthWriter::close_part`]; rows also close a part by themselves
/// at 2²⁰. Dropped without [`TruthWriter::finish`], it leaves a log that was cut short.
pub struct TruthWriter {
    dir: PathBuf,
    file: TruthFile,
    rows: Vec<TruthRow>,
    row_parts: PartWriter,
    events: Vec<Event>,
    event_parts: PartWriter,
    anchors: Vec<Anchor>,
    anchor_parts: PartWriter,
    counts: TruthEnd,
    finished: bool,
}

impl TruthWriter {
    /// Makes the directory and a `truth.toml` that says `complete = false`. The same header gives the same log,
    /// byte by byte.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if the directory holds anything; [`RecordError::Io`] if it can't be made.
    pub fn create(dir: impl AsRef<Path>, header: &TruthHeader) -> Result<TruthWriter, RecordError> {
        let dir = dir.as_ref();
        require_vacant(dir)?;
        std::fs::create_dir_all(dir).map_err(RecordError::io("create", dir))?;
        let run_id = format!("{:016x}", Seed(header.epoch_wall_ns).derive(&format!("truth {header:?}")).0);
        let part_writer = |table: &str| PartWriter::new(dir.join(table), table, &run_id, 0);
        let writer = TruthWriter {
            dir: dir.to_owned(),
            rows: Vec::new(),
            row_parts: part_writer(TABLE),
            events: Vec::new(),
            event_parts: part_writer(small::EVENTS),
            anchors: Vec::new(),
            anchor_parts: part_writer(ANCHORS),
            counts: TruthEnd::new(Vec::new()),
            finished: false,
            file: TruthFile { run_id, header: header.clone(), end: None, parts: 0 },
        };
        writer.write_truth_file()?;
        reserve::take(dir)?;
        Ok(writer)
    }

    /// The log's directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Rows that the disk did not take so far.
    pub fn unwritable(&self) -> u64 {
        self.counts.unwritable
    }

    /// The first write error so far, in words.
    pub fn trouble(&self) -> Option<&str> {
        self.counts.trouble.as_deref()
    }

    /// Appends rows to the open part.
    ///
    /// # Errors
    /// When a full part can't be written. Its rows are lost and counted as unwritable; all of `rows` are taken
    /// nevertheless, and writing goes on with the next part.
    pub fn write_rows(&mut self, rows: &[TruthRow]) -> Result<(), RecordError> {
        let mut result = Ok(());
        let mut rest = rows;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(ROWS_MAX - self.rows.len()));
            self.rows.extend_from_slice(now);
            rest = later;
            if self.rows.len() >= ROWS_MAX {
                result = result.and(self.close_rows());
            }
        }
        result
    }

    /// Adds an event, with instants of the store's clock; on disk with the next closed part.
    pub fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Adds an anchor whose ticks are nanoseconds since the store's epoch; on disk with the next closed part.
    pub fn anchor(&mut self, anchor: Anchor) {
        self.anchors.push(anchor);
    }

    /// Writes everything that is still in memory, as new part files; nothing if there is nothing.
    ///
    /// # Errors
    /// The first write error. What could not be written is lost: rows are counted as unwritable.
    pub fn close_part(&mut self) -> Result<(), RecordError> {
        let rows = self.close_rows();
        let small = close_rows(&mut self.event_parts, &mut self.events)
            .and(close_rows(&mut self.anchor_parts, &mut self.anchors));
        self.remember(&small);
        rows.and(small)
    }

    /// Writes what is left, closes `truth.toml` with `complete = true`, and merges small parts into large ones. Gives
    /// the end as written: `end.dropped` and `end.facts` as they are, the counts filled in.
    ///
    /// # Errors
    /// When `truth.toml` can't be closed: the log then reads as cut short. Parts that could not be written are no
    /// error here; the end counts their rows and has the first reason.
    pub fn finish(mut self, end: TruthEnd) -> Result<TruthEnd, RecordError> {
        // Its error is in `counts`, which become part of the end.
        let _ = self.close_part();
        self.finished = true;
        let counts = std::mem::replace(&mut self.counts, TruthEnd::new(Vec::new()));
        let end = TruthEnd {
            unwritable: end.unwritable.saturating_add(counts.unwritable),
            trouble: end.trouble.or(counts.trouble),
            dropped: end.dropped,
            facts: end.facts,
            ..counts
        };
        self.file.parts = self.row_parts.parts().len() as u32;
        self.file.end = Some(end.clone());
        reserve::give_back(&self.dir);
        self.write_truth_file()?;
        // Whatever happens to the merge, the single parts are whole and are what counts.
        let _ = self.compact();
        Ok(end)
    }

    fn close_rows(&mut self) -> Result<(), RecordError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        let result = self.row_parts.write(rows.len(), |facts| encode(&rows, facts));
        match &result {
            Ok(()) => self.count(&rows),
            Err(_) => self.counts.unwritable += rows.len() as u64,
        }
        self.remember(&result);
        self.rows = rows;
        self.rows.clear();
        result
    }

    fn count(&mut self, rows: &[TruthRow]) {
        let counts = &mut self.counts;
        counts.rows += rows.len() as u64;
        for row in rows {
            counts.unanswered += u64::from(!row.written.is_some());
            let newest =
                [row.arrived, row.begun, row.due, row.written].into_iter().filter(|at| at.is_some()).max();
            let newest = newest.into_iter().chain(counts.at.get()).max();
            counts.at = newest.unwrap_or(Instant::NONE);
        }
    }

    fn remember(&mut self, result: &Result<(), RecordError>) {
        if let Err(error) = result {
            self.counts.trouble.get_or_insert_with(|| one_line(error));
        }
    }

    fn write_truth_file(&self) -> Result<(), RecordError> {
        let path = self.dir.join(TRUTH_FILE);
        let text =
            wire::write(&self.file).map_err(|reason| RecordError::Encode { path: path.clone(), reason })?;
        parts::write_whole(&path, text.as_bytes())
    }

    fn compact(&self) -> Result<(), RecordError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let named = |table: &'static str| {
            let dir = self.dir.join(table);
            move |facts: &PartFacts| dir.join(parts::file_name(facts))
        };
        parts::compact(self.row_parts.parts(), ROWS_MAX as u64, cores, named(TABLE), merge_truth)?;
        let anchors = self.anchor_parts.parts();
        parts::compact(anchors, ROWS_MAX as u64, 1, named(ANCHORS), merge_rows::<Anchor>)?;
        compact_events(&self.dir, self.event_parts.parts())
    }
}

impl Drop for TruthWriter {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody is left to hear of an error; the log is cut short anyway.
            let _ = self.close_part();
            reserve::give_back(&self.dir);
        }
    }
}

fn merge_truth(group: &[Part], facts: &PartFacts) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for part in group {
        let mut reader = TruthReader::new(&sealed::open(&part.path)?)?;
        while reader.append(ROWS_MAX, &mut all)? > 0 {}
    }
    encode(&all, facts).map_err(one_line)
}
