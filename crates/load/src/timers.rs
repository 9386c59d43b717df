//! When which task wants to run: a heap of fixed capacity, at most one entry for each task.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Ticks;

/// See the module. `push` never allocates within the capacity given.
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    capacity: usize,
}

impl Timers {
    pub(crate) fn new(tasks: usize) -> Timers {
        let mut heap = BinaryHeap::with_capacity(tasks);
        // Touch the memory, so that the first pushes fault no page in.
        (0..tasks).for_each(|task| heap.push(Reverse((0, task as u32))));
        heap.clear();
        Timers { heap, capacity: tasks }
    }

    /// Runs `task` at `at`. A task waits for one time only; a second entry for it would be a bug.
    #[inline]
    pub(crate) fn push(&mut self, at: Ticks, task: u32) {
        assert!(self.heap.len() < self.capacity, "a task waits for two times at once");
        self.heap.push(Reverse((at.0, task)));
    }

    /// The earliest time that any task waits for.
    #[inline]
    pub(crate) fn next(&self) -> Option<Ticks> {
        self.heap.peek().map(|Reverse((at, _))| Ticks(*at))
    }

    /// A task that is due at `now`.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: Ticks) -> Option<u32> {
        match self.heap.peek() {
            Some(Reverse((at, _))) if *at <= now.0 => self.heap.pop().map(|Reverse((_, task))| task),
            _ => None,
        }
    }

    /// Any task that waits, due or not; for the end of a run.
    pub(crate) fn pop_any(&mut self) -> Option<u32> {
        self.heap.pop().map(|Reverse((_, task))| task)
    }
}
