//! A recording's requests as YCSB's series.

use super::told::{Interval, Told};
use record::{Recording, RunHeader, Sample, Statement};
use std::collections::{BTreeMap, HashMap};
use units::{Instant, Outcome};

/// The operation whose two exchanges YCSB measures as operations of their own besides.
const BOTH: &str = "READ-MODIFY-WRITE";
/// What they are, in their order.
const INSIDE: [&str; 2] = ["READ", "UPDATE"];

/// One request of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Point {
    /// When it was completed: milliseconds since 1970.
    pub(super) at_ms: u64,
    /// How long it took.
    pub(super) us: u64,
}

/// All requests of one section.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Series {
    pub(super) points: Vec<Point>,
    /// How requests of this name ended, in the order in which each status was first seen.
    pub(super) statuses: Vec<(&'static str, u64)>,
}

impl Series {
    /// Times in their order.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut times: Vec<u64> = self.points.iter().map(|point| point.us).collect();
        times.sort_unstable();
        times
    }

    fn count(&mut self, status: &'static str) {
        match self.statuses.iter_mut().find(|(found, _)| *found == status) {
            Some((_, count)) => *count += 1,
            None => self.statuses.push((status, 1)),
        }
    }
}

/// What a run gave.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Measured {
    /// By operation; failures have names of their own.
    pub(super) of_op: BTreeMap<String, Series>,
    pub(super) of_intended: BTreeMap<String, Series>,
    /// Requests that were sent and answered, or given up.
    pub(super) operations: u64,
    /// Requests that were sent and had no answer at the end.
    pub(super) unanswered: u64,
    /// From the first request sent to the last answer, in milliseconds.
    pub(super) runtime_ms: u64,
    pub(super) began: Option<Instant>,
    pub(super) ended: Option<Instant>,
    /// Requests that are a read and an update, by their numbers.
    pub(super) whole: HashMap<u64, Whole>,
}

/// What a request's parts have from it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Whole {
    intended: Instant,
    outcome: Outcome,
}

/// What YCSB calls an outcome.
pub(super) fn status(operation: &str, outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "OK",
        Outcome::Miss if matches!(operation, "UPDATE" | "INSERT") => "UNEXPECTED_STATE",
        Outcome::Miss => "NOT_FOUND",
        Outcome::Unavailable | Outcome::Busy => "SERVICE_UNAVAILABLE",
        _ => "ERROR",
    }
}

impl Measured {
    /// Reads all requests of a recording.
    pub(super) fn of(recording: &Recording, told: &Told) -> anyhow::Result<Measured> {
        let header = recording.header();
        let epoch_ms = header.epoch_wall_ns / 1_000_000;
        let is_open = header.load.model.has_response_time();
        let mut parts = recording.scan(1, Measured::default, |measured, batch| {
            for sample in batch.iter() {
                let name = header.operations.get(usize::from(sample.op)).map_or("OTHER", String::as_str);
                measured.add(name, &sample, epoch_ms, is_open, told);
            }
        })?;
        let mut measured = parts.pop().unwrap_or_default();
        if is_timed(header, BOTH) {
            measured.add_inside(recording, told)?;
        }
        if let (Some(began), Some(ended)) = (measured.began, measured.ended) {
            measured.runtime_ms = ended.0.saturating_sub(began.0) / 1_000_000;
        }
        Ok(measured)
    }

    fn add(&mut self, name: &str, sample: &Sample, epoch_ms: u64, is_open: bool, told: &Told) {
        let Some(sent) = sample.sent.get() else { return };
        if sample.outcome == Outcome::Unfinished {
            self.unanswered += 1;
            return;
        }
        let completed = sample.completed;
        self.began = Some(self.began.map_or(sent, |began| began.min(sent)));
        self.ended = Some(self.ended.map_or(completed, |ended| ended.max(completed)));
        self.operations += 1;
        // Without a schedule nothing is intended earlier than it is sent, as in the original.
        let intended = if is_open { sample.intended } else { sent };
        if name == BOTH {
            self.whole.insert(sample.seq, Whole { intended, outcome: sample.outcome });
        }
        self.ended_at(name, sample.outcome, (intended, sent, completed), epoch_ms, told);
    }

    /// One measurement of an operation.
    fn ended_at(
        &mut self,
        name: &str,
        outcome: Outcome,
        (intended, sent, completed): (Instant, Instant, Instant),
        epoch_ms: u64,
        told: &Told,
    ) {
        let status = status(name, outcome);
        let section = match status {
            // It is measured however its parts ended; and they have the statuses.
            _ if name == BOTH => name.to_owned(),
            "OK" => name.to_owned(),
            _ if told.every_error || told.tracked_errors.iter().any(|error| error == status) => {
                format!("{name}-{status}")
            }
            _ => format!("{name}-FAILED"),
        };
        let at_ms = epoch_ms + completed.0 / 1_000_000;
        let since = |begin: Instant| Point { at_ms, us: completed.0.saturating_sub(begin.0) / 1_000 };
        push(&mut self.of_op, &section, since(sent));
        push(&mut self.of_intended, &section, since(intended));
        if name != BOTH {
            let counted =
                if told.interval == Interval::Intended { &mut self.of_intended } else { &mut self.of_op };
            counted.entry(name.to_owned()).or_default().count(status);
        }
    }

    /// The reads and updates inside of requests that are both, as operations that were intended when the request was.
    fn add_inside(&mut self, recording: &Recording, told: &Told) -> anyhow::Result<()> {
        let header = recording.header();
        let epoch_ms = header.epoch_wall_ns / 1_000_000;
        let both = header.operations.iter().position(|name| name == BOTH);
        let mut rows: Vec<Statement> = Vec::new();
        recording
            .statements(|part| rows.extend(part.iter().filter(|row| Some(usize::from(row.op)) == both)))?;
        rows.sort_by_key(|row| (row.seq, row.position));
        for of_one in rows.chunk_by(|a, b| a.seq == b.seq) {
            let Some(&Whole { intended, outcome }) = self.whole.get(&of_one[0].seq) else { continue };
            for (index, (row, name)) in of_one.iter().zip(INSIDE).enumerate() {
                // That a record was not there is known of the last answer alone: a miss ends a request.
                let is_last = index + 1 == of_one.len();
                let outcome = if is_last && row.outcome == Outcome::Ok { outcome } else { row.outcome };
                self.ended_at(name, outcome, (intended, row.sent, row.completed), epoch_ms, told);
            }
        }
        Ok(())
    }
}

/// Whether a recording has what is inside of an operation.
fn is_timed(header: &RunHeader, operation: &str) -> bool {
    header.statements.is_some() && header.operations.iter().any(|name| name == operation)
}

fn push(series: &mut BTreeMap<String, Series>, name: &str, point: Point) {
    match series.get_mut(name) {
        Some(series) => series.points.push(point),
        None => {
            series.insert(name.to_owned(), Series { points: vec![point], statuses: Vec::new() });
        }
    }
}
