//! When which connection has an answer to write.

use super::poll::Token;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// One entry for each connection whose first answer waits for its time; later answers follow when that is written.
#[derive(Default)]
pub(super) struct DueTimes {
    heap: BinaryHeap<Reverse<(u64, u64, Entry)>>,
    count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(Token);

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// Entries of one time go in the order in which they came; the number before decides that.
    fn cmp(&self, _other: &Entry) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl DueTimes {
    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(super) fn push(&mut self, due: Nanos, token: Token) {
        self.count += 1;
        self.heap.push(Reverse((due.0, self.count, Entry(token))));
    }

    /// When the next answer is due.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((due, _, _))| Nanos(*due))
    }

    /// The connection of the next answer, if it is due at `now`.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<Token> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, _, Entry(token)))| token)
    }
}
