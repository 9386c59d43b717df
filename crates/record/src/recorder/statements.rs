//! The exchanges inside of requests, from their rings to the writer.

use super::timeline::Timeline;
use crate::{Consumer, RawStatement, RecordError, RecordingWriter, Statement};

/// The name of the fact at the end of a run that timed its statements: it counts exchanges that found their ring full.
pub const STATEMENTS_DROPPED: &str = "statements dropped";

/// What the recorder's thread keeps of them.
pub(super) struct Statements {
    consumers: Vec<Consumer<RawStatement>>,
    /// Drained and not converted yet: no anchor lies behind them.
    backlog: Vec<RawStatement>,
    /// The open part.
    open: Vec<Statement>,
}

impl Statements {
    pub(super) fn new(consumers: Vec<Consumer<RawStatement>>) -> Statements {
        Statements { consumers, backlog: Vec::new(), open: Vec::new() }
    }

    pub(super) fn drain(&mut self) {
        for consumer in &mut self.consumers {
            consumer.drain(|raw| self.backlog.push(*raw));
        }
    }

    /// How many wait for an anchor.
    pub(super) fn waiting(&self) -> usize {
        self.backlog.len()
    }

    pub(super) fn convert(&mut self, timeline: &Timeline, client: u16) {
        self.open.extend(self.backlog.drain(..).map(|raw| timeline.statement(&raw, client)));
    }

    /// In the order of their requests, as samples are.
    pub(super) fn hand_over(&mut self, writer: &mut RecordingWriter) -> Result<(), RecordError> {
        self.open.sort_by_key(|one| (one.seq, one.position));
        let written = writer.write_statements(&self.open);
        self.open.clear();
        written
    }

    /// What the end of the run says of them; nothing where they were not timed.
    pub(super) fn facts(&self) -> Option<(String, String)> {
        let dropped: u64 = self.consumers.iter().map(Consumer::dropped).sum();
        (!self.consumers.is_empty()).then(|| (STATEMENTS_DROPPED.to_owned(), dropped.to_string()))
    }
}
