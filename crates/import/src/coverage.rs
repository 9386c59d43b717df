//! The log of another program as part of a recording, and what of the run it covers: only there is silence evidence.

use crate::RunClocks;
use record::Event;
use units::{Instant, Nanos, format_nanos};

/// A log as part of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct LaidOver<F> {
    /// What it tells of within the run, ordered by begin.
    pub events: Vec<Event>,
    /// What is known of the log.
    pub facts: F,
}

/// From when to when a log tells, on the run's axis; what has no moment is absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coverage {
    /// From its first entry on, or as long before as that one tells of.
    pub(crate) from: Option<Instant>,
    /// Until its last entry.
    pub(crate) to: Option<Instant>,
    /// Whether it begins with its program: nothing was before it.
    pub(crate) begins_with_program: bool,
}

/// What a log is called that is laid over a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Who writes it.
    pub(crate) program: &'static str,
    /// One of what it consists of.
    pub(crate) entry: &'static str,
}

impl Coverage {
    /// Why a log says nothing of the run, or not of all of it. A program that has nothing to tell at the run's end logs nothing
    /// there, so that a log which reaches into the run counts up to its end.
    pub(crate) fn lacks(&self, clocks: &RunClocks, Words { program, entry }: Words) -> Option<String> {
        let other = format!("name the log that the {program} wrote during it");
        if self.to == Some(Instant::EPOCH) {
            Some(format!("its last {entry} is from before the run: {other}"))
        } else if self.from.is_some_and(|from| clocks.is_after_end(from)) {
            Some(format!("its first {entry} is from after the run: {other}"))
        } else if self.from.is_none() && self.to.is_none() {
            Some(format!("neither its first nor its last {entry} has a moment"))
        } else {
            let from = self.from.filter(|from| *from > Instant::EPOCH && !self.begins_with_program)?;
            let late = format_nanos(Nanos(from.0));
            Some(format!("it begins {late} after the run did: what the {program} logged before is not in it"))
        }
    }
}

/// All that there is to complain of as one line; `None` without anything.
pub(crate) fn trouble(all: Vec<String>) -> Option<String> {
    (!all.is_empty()).then(|| all.join("; "))
}
