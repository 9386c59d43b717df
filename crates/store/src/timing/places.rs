//! Servers: so many requests are worked on at a time.

use super::fixed::Fine;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// The servers of a G/G/c queue, each by the moment at which it is free.
#[derive(Clone, Debug)]
pub struct Places {
    /// Never empty; the earliest first.
    free_at: BinaryHeap<Reverse<Fine>>,
}

impl Places {
    /// All free. Zero servers are taken for one.
    pub fn new(count: u32) -> Places {
        Places { free_at: (0..count.max(1)).map(|_| Reverse(Fine::default())).collect() }
    }

    /// Takes the server that is free first, for `service`, not before `turn`; gives when it begins. O(log c).
    ///
    /// Kiefer & Wolfowitz 1955: in a FIFO queue, the next begins when it has come and the earliest of the servers is free.
    pub fn take(&mut self, turn: Fine, service: Nanos) -> Fine {
        let Some(mut first) = self.free_at.peek_mut() else { return turn };
        let begin = turn.max(first.0);
        first.0 = begin.after(service);
        begin
    }
}
