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
    timed: Option<Timed>,
    /// Places of answers that were handed over before their writes were committed.
    uncommitted: Vec<(usize, Decision)>,
    /// Numbers of requests whose writes are being committed.
    made: Vec<u64>,
}

/// As many writes of a batch are kept room for.
const WRITES_KEPT: usize = 64;

/// An answer in the making.
#[derive(Debug)]
struct Timed {
    decision: Decision,
    staleness: Option<Staleness>,
    /// Whether what it wrote waits to be committed.
    writes: bool,
}

impl Outbox {
    /// Where bytes are appended.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes of memory.
    pub(super) fn holds(&self) -> usize {
        let uncommitted = self.uncommitted.capacity() * size_of::<(usize, Decision)>();
        self.bytes.capacity() + uncommitted + self.made.capacity() * size_of::<u64>()
    }

    /// From here on bytes belong to the answer of a request.
    pub(super) fn begin(&mut self, decision: Decision, answers: &mut Answers) {
        if self.timed.is_some() {
            self.flush(answers);
        }
        self.timed = Some(Timed { decision, staleness: None, writes: false });
    }

    /// How stale what the request read was, and whether it wrote what is yet to be committed.
    pub(super) fn tell(&mut self, staleness: Option<Staleness>, writes: bool) {
        if let Some(timed) = &mut self.timed {
            (timed.staleness, timed.writes) = (staleness, writes);
        }
    }

    /// Takes the numbers of the requests whose writes a commit makes.
    pub(super) fn made(&mut self) -> impl FnMut(u64) {
        self.made.clear();
        |number| {
            // A statement may have written many rows.
            if self.made.last() != Some(&number) {
                self.made.push(number);
            }
        }
    }

    /// What was written up to here has been committed, or lost: `spread` says of a write when it is everywhere.
    pub(super) fn committed(&mut self, answers: &mut Answers, spread: impl Fn(&Decision) -> Staleness) {
        // A commit goes by keys.
        self.made.sort_unstable();
        let made = |decision: &Decision| self.made.binary_search(&decision.number).is_ok();
        if let Some(timed) = &mut self.timed
            && std::mem::take(&mut timed.writes)
            && made(&timed.decision)
        {
            timed.staleness = Some(spread(&timed.decision));
        }
        for (place, decision) in self.uncommitted.drain(..).filter(|(_, decision)| made(decision)) {
            answers.amend(place, spread(&decision));
        }
    }

    /// The answers so far belong to the server: nothing can be said of them any more.
    pub(super) fn hand_over(&mut self, answers: &mut Answers) {
        self.flush_timed(answers);
        self.uncommitted.clear();
        // A batch of a thousand statements need not be kept for the next one.
        self.uncommitted.shrink_to(WRITES_KEPT);
        self.made.clear();
        self.made.shrink_to(WRITES_KEPT);
    }

    /// Hands over what is due at a time; what is not timed stays until the batch ends.
    fn flush_timed(&mut self, answers: &mut Answers) {
        if self.timed.is_some() {
            self.flush(answers);
        }
    }

    /// Hands over everything.
    pub(super) fn flush(&mut self, answers: &mut Answers) {
        let bytes = &mut self.bytes;
        match self.timed.take() {
            Some(Timed { decision, staleness, writes }) => {
                if writes {
                    self.uncommitted.push((answers.list().len(), decision));
                }
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
