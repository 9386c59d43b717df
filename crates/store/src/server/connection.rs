//! One client's connection: what it has sent in part, and what it is owed.

use super::Served;
use super::poll::Token;
use crate::{Answer, Answers, Decision, Ending, Injection, NodeId, Protocol, Rules, Staleness};
use socket::Socket;
use std::collections::VecDeque;
use units::Nanos;

pub(super) struct Connection {
    pub(super) token: Token,
    pub(super) number: u32,
    pub(super) node: NodeId,
    pub(super) socket: Socket,
    pub(super) protocol: Box<dyn Protocol>,
    /// The beginning of a message whose end has not come yet.
    pub(super) unfinished: Vec<u8>,
    /// A fault: nothing is read before.
    pub(super) deaf_until: Option<Nanos>,
    /// The client has closed its side: what it is owed is still written.
    pub(super) input_ended: bool,
    /// Reading is suspended: too much waits to be written.
    pub(super) suspended: bool,
    /// The kernel had no room for more.
    pub(super) blocked: bool,
    /// What is watched for: reading, writing.
    pub(super) watched: (bool, bool),
    /// The due time that is queued for its first answer, if any: at most one entry of each connection counts.
    pub(super) queued: Option<Nanos>,
    pub(super) owed: Owed,
    /// When the kernel last had room again after it had none: answers that were due before waited for the client.
    pub(super) unblocked_at: Nanos,
    /// Requests so far.
    requests: u32,
}

/// Places for answers that a connection keeps for its next requests.
const PLACES_KEPT: usize = 64;

/// Answers that were made and not yet written.
#[derive(Default)]
pub(super) struct Owed {
    pub(super) answers: VecDeque<OwedAnswer>,
    /// Their bytes; the first `written` of them are gone.
    bytes: Vec<u8>,
    written: usize,
    last_due: Nanos,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OwedAnswer {
    pub(super) due: Nanos,
    pub(super) decision: Option<Decision>,
    staleness: Option<Staleness>,
    number: u32,
    /// Bytes that are still to be written.
    pub(super) left: usize,
    pub(super) ending: Ending,
    /// The fault that is still to act.
    pub(super) injection: Option<Injection>,
}

impl OwedAnswer {
    /// What the log says of it.
    pub(super) fn served(&self, written: Option<Nanos>) -> Option<Served> {
        let decision = self.decision?;
        Some(Served { decision, number: self.number, written, staleness: self.staleness })
    }
}

impl Connection {
    pub(super) fn new(
        token: Token,
        number: u32,
        node: NodeId,
        socket: Socket,
        protocol: Box<dyn Protocol>,
    ) -> Connection {
        Connection {
            token,
            number,
            node,
            socket,
            protocol,
            unfinished: Vec::new(),
            deaf_until: None,
            input_ended: false,
            suspended: false,
            blocked: false,
            watched: (true, false),
            queued: None,
            owed: Owed::default(),
            unblocked_at: Nanos::ZERO,
            requests: 0,
        }
    }

    /// Takes over what a protocol has answered.
    pub(super) fn owe(&mut self, answers: &Answers, now: Nanos) {
        let mut begin = 0;
        for answer in answers.list() {
            let number = self.requests;
            self.requests += u32::from(answer.decision.is_some());
            self.owed.push(answer, &answers.bytes()[begin..answer.end], number, now);
            begin = answer.end;
        }
    }

    /// Bytes that it makes the server keep.
    pub(super) fn holds(&self) -> usize {
        self.unfinished.capacity() + self.owed.holds() + self.protocol.holds()
    }

    /// What the log says of all that will never be answered.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = Served> + '_ {
        self.owed.answers.iter().filter_map(|answer| answer.served(None))
    }
}

impl Owed {
    fn push(&mut self, answer: &Answer, bytes: &[u8], number: u32, now: Nanos) {
        let mut decision = answer.decision;
        let mut due = decision.map_or(now, |decision| decision.due);
        if due < self.last_due {
            // Answers keep the order of their requests; that is part of both protocols.
            due = self.last_due;
            if let Some(decision) = &mut decision {
                decision.due = due;
                decision.rules = decision.rules.with(Rules::BEHIND);
            }
        }
        self.last_due = due;
        self.bytes.extend_from_slice(bytes);
        self.answers.push_back(OwedAnswer {
            due,
            decision,
            staleness: answer.staleness,
            number,
            left: bytes.len(),
            ending: answer.ending,
            injection: decision.and_then(|decision| decision.injection),
        });
    }

    /// Lets the first answer wait so much longer, and with it all that must not overtake it.
    pub(super) fn postpone(&mut self, pause: Nanos) {
        let Some(first) = self.answers.front() else { return };
        let due = first.due + pause;
        self.last_due = self.last_due.max(due);
        for (index, answer) in self.answers.iter_mut().enumerate() {
            if answer.due >= due && index > 0 {
                break;
            }
            answer.due = due;
            if let Some(decision) = &mut answer.decision {
                decision.due = due;
                decision.rules = if index == 0 { decision.rules } else { decision.rules.with(Rules::BEHIND) };
            }
        }
    }

    /// Memory in bytes, whatever of it is in use.
    fn holds(&self) -> usize {
        self.bytes.capacity() + self.answers.capacity() * size_of::<OwedAnswer>()
    }

    /// Gives memory back that nothing waits in: a client that was owed thousands of answers once does not keep their places.
    pub(super) fn let_go(&mut self) {
        if self.answers.is_empty() && self.answers.capacity() > PLACES_KEPT {
            self.answers.shrink_to(PLACES_KEPT);
        }
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// The next `count` bytes.
    pub(super) fn next(&self, count: usize) -> &[u8] {
        &self.bytes[self.written..self.written + count]
    }

    /// Forgets bytes that the kernel has taken.
    pub(super) fn took(&mut self, count: usize) {
        self.written += count;
        if self.written == self.bytes.len() {
            self.bytes.clear();
            self.written = 0;
            // A client that was owed megabytes once does not keep them for ever.
            if self.bytes.capacity() > 8 * 1024 {
                self.bytes.shrink_to(4 * 1024);
            }
        } else if self.written >= self.bytes.len() / 2 {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
    }
}
