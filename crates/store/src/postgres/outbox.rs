//! Which bytes go with which answer.
//!
//! What is not timed (ParseComplete, BindComplete, ReadyForQuery, …) goes with the timed answer of its batch: in front of
//! the next one, behind the last one. PostgreSQL holds its answers back until Sync or Flush, too.

use crate::{Answers, Decision, Ending, Staleness};

/// Room that is kept for the next answers.
const KEPT: usize = 16 * 1024;

/// Answers of one connection that have not been handed to the server.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    timed: Option<(Decision, Option<Staleness>)>,
}

impl Outbox {
    /// Where bytes are appended.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes of memory.
    pub(super) fn holds(&self) -> usize {
        self.bytes.capacity()
    }

    /// From here on bytes belong to the answer of a request.
    pub(super) fn begin(&mut self, decision: Decision, answers: &mut Answers) {
        if self.timed.is_some() {
            self.flush(answers);
        }
        self.timed = Some((decision, None));
    }

    /// How stale the request's record was.
    pub(super) fn set_staleness(&mut self, staleness: Option<Staleness>) {
        if let Some((_, known)) = &mut self.timed {
            *known = staleness;
        }
    }

    /// Hands over what is due at a time; what is not timed stays until the batch ends.
    pub(super) fn flush_timed(&mut self, answers: &mut Answers) {
        if self.timed.is_some() {
            self.flush(answers);
        }
    }

    /// Hands over everything.
    pub(super) fn flush(&mut self, answers: &mut Answers) {
        let bytes = &mut self.bytes;
        match self.timed.take() {
            Some((decision, staleness)) => {
                answers.when_due(decision, staleness, |out| out.extend_from_slice(bytes));
            }
            None if bytes.is_empty() => {}
            None => answers.at_once(Ending::Open, |out| out.extend_from_slice(bytes)),
        }
        self.bytes.clear();
        // A result of many megabytes need not be kept for the next `SELECT 1`, and not 20,000 times.
        self.bytes.shrink_to(KEPT);
    }
}
