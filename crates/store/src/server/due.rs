//! When which connection has an answer to write.

use super::poll::Token;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// One entry for each connection whose first answer waits for its time; later answers follow when that is written. Entries
/// of connections that are gone, or whose answer waits longer by now, are stale; they are forgotten when they come up, or
/// when they are the most.
#[derive(Default)]
pub(super) struct DueTimes {
    stale: usize,
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
    /// Whether nobody waits for anything.
    pub(super) fn is_empty(&self) -> bool {
        self.heap.len() <= self.stale
    }

    /// One entry has become stale; `counts` tells of an entry whether it still counts.
    pub(super) fn one_is_stale(&mut self, counts: impl Fn(Nanos, Token) -> bool) {
        self.stale += 1;
        if self.stale > 1000 && self.stale > self.heap.len() / 2 {
            self.heap.retain(|Reverse((due, _, Entry(token)))| counts(Nanos(*due), *token));
            self.stale = 0;
        }
    }

    /// A stale entry has come up.
    pub(super) fn forgot_stale(&mut self) {
        self.stale = self.stale.saturating_sub(1);
    }

    /// Entries, stale ones too.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn push(&mut self, due: Nanos, token: Token) {
        self.count += 1;
        self.heap.push(Reverse((due.0, self.count, Entry(token))));
    }

    /// When the next answer is due.
    fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((due, _, _))| Nanos(*due))
    }

    /// The connection of the next answer and when that is due, if it is by `now`.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, Token)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((due, _, Entry(token)))| (Nanos(due), token))
    }
}
