//! A recording's requests as YCSB's series.

use super::told::{Interval, Told};
use record::{Recording, Sample};
use std::collections::BTreeMap;
use units::{Instant, Outcome};

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
        let status = status(name, sample.outcome);
        let section = match status {
            "OK" => name.to_owned(),
            _ if told.every_error || told.tracked_errors.iter().any(|error| error == status) => {
                format!("{name}-{status}")
            }
            _ => format!("{name}-FAILED"),
        };
        let at_ms = epoch_ms + completed.0 / 1_000_000;
        let since = |begin: Instant| Point { at_ms, us: completed.0.saturating_sub(begin.0) / 1_000 };
        // Without a schedule nothing is intended earlier than it is sent, as in the original.
        let intended = if is_open { sample.intended } else { sent };
        push(&mut self.of_op, &section, since(sent));
        push(&mut self.of_intended, &section, since(intended));
        let counted =
            if told.interval == Interval::Intended { &mut self.of_intended } else { &mut self.of_op };
        counted.entry(name.to_owned()).or_default().count(status);
    }
}

fn push(series: &mut BTreeMap<String, Series>, name: &str, point: Point) {
    match series.get_mut(name) {
        Some(series) => series.points.push(point),
        None => {
            series.insert(name.to_owned(), Series { points: vec![point], statuses: Vec::new() });
        }
    }
}
