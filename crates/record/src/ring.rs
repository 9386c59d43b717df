//! The buffer between one worker and the recorder: single producer, single consumer, preallocated, touched.

use crate::RawSample;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Ticks;

const EMPTY: RawSample = RawSample {
    intended: Ticks(0),
    ready: Ticks(0),
    sent: Ticks(0),
    completed: Ticks(0),
    arrived_realtime_ns: 0,
    seq: 0,
    session: 0,
    op: 0,
    outcome: 0,
    retries: 0,
    phase: 0,
    flags: 0,
    reserved: 0,
};

/// A cache line of its own, so that producer and consumer don't slow each other down.
#[repr(align(64))]
struct Line(AtomicU64);

struct Shared<T> {
    slots: Box<[UnsafeCell<T>]>,
    /// Samples written since the start; written by the producer alone.
    written: Line,
    /// Samples taken since the start; written by the consumer alone.
    taken: Line,
    /// Samples that found the ring full; written by the producer alone.
    dropped: Line,
}

// SAFETY: a slot is written by the producer only while `written − taken < capacity` excludes it from the
// consumer's range, and read by the consumer only below `written`; the Release/Acquire pairs on `written`
// and `taken` order those accesses.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}
// SAFETY: as above; what is `Copy` is plain data.
unsafe impl<T: Copy + Send> Send for Shared<T> {}

/// The worker's end.
pub struct Producer<T = RawSample> {
    shared: Arc<Shared<T>>,
    mask: u64,
    written: u64,
    /// The consumer's position as last seen; refreshed only when the ring looks full.
    taken_seen: u64,
}

/// The recorder's end.
pub struct Consumer<T = RawSample> {
    shared: Arc<Shared<T>>,
    mask: u64,
    taken: u64,
}

/// A ring of at least `capacity` samples (rounded up to a power of two); 56 bytes each, all of them touched
/// here, so that the first push faults no page in.
pub fn ring(capacity: usize) -> (Producer, Consumer) {
    ring_of(capacity, EMPTY)
}

/// The same for rows of another kind; `empty` is what the slots hold before.
pub(crate) fn ring_of<T: Copy + Send>(capacity: usize, empty: T) -> (Producer<T>, Consumer<T>) {
    let capacity = capacity.max(2).next_power_of_two();
    let shared = Arc::new(Shared {
        slots: (0..capacity).map(|_| UnsafeCell::new(empty)).collect(),
        written: Line(AtomicU64::new(0)),
        taken: Line(AtomicU64::new(0)),
        dropped: Line(AtomicU64::new(0)),
    });
    let mask = capacity as u64 - 1;
    (
        Producer { shared: Arc::clone(&shared), mask, written: 0, taken_seen: 0 },
        Consumer { shared, mask, taken: 0 },
    )
}

impl<T: Copy + Send> Producer<T> {
    /// Appends a sample, or counts a drop when the ring is full. ≈ 2 ns; no allocation, lock or wait.
    #[inline(always)]
    pub fn push(&mut self, sample: T) {
        if self.written - self.taken_seen > self.mask && !self.refresh() {
            return;
        }
        let slot = &self.shared.slots[(self.written & self.mask) as usize];
        // SAFETY: the check above keeps this slot out of the consumer's range; see `Shared`.
        unsafe { *slot.get() = sample };
        self.written += 1;
        // Release pairs with the consumer's Acquire in `drain`: the slot is visible before the count.
        self.shared.written.0.store(self.written, Ordering::Release);
    }

    #[cold]
    fn refresh(&mut self) -> bool {
        // Acquire pairs with the consumer's Release in `drain`: it has finished reading those slots.
        self.taken_seen = self.shared.taken.0.load(Ordering::Acquire);
        if self.written - self.taken_seen > self.mask {
            let dropped = self.shared.dropped.0.load(Ordering::Relaxed); // only this thread writes it
            self.shared.dropped.0.store(dropped + 1, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// How full the ring is, in [0, 1], by the last look at the consumer; a fresh look costs a cache miss.
    pub fn fill(&mut self) -> f64 {
        self.taken_seen = self.shared.taken.0.load(Ordering::Acquire);
        (self.written - self.taken_seen) as f64 / (self.mask + 1) as f64
    }
}

impl<T: Copy + Send> Consumer<T> {
    /// Hands all samples written so far to `take`, in order, and frees their slots. Gives their number.
    pub fn drain(&mut self, mut take: impl FnMut(&T)) -> u64 {
        let written = self.shared.written.0.load(Ordering::Acquire);
        let count = written - self.taken;
        while self.taken < written {
            let slot = &self.shared.slots[(self.taken & self.mask) as usize];
            // SAFETY: below `written`, and the producer does not reuse it before `taken` passes it.
            take(unsafe { &*slot.get() });
            self.taken += 1;
            if self.taken.is_multiple_of(1024) {
                self.shared.taken.0.store(self.taken, Ordering::Release);
            }
        }
        self.shared.taken.0.store(self.taken, Ordering::Release);
        count
    }

    /// Samples that found the ring full so far.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(seq: u64) -> RawSample {
        RawSample { seq, ..EMPTY }
    }

    #[test]
    fn a_full_ring_counts_drops_and_keeps_what_it_has() {
        let (mut producer, mut consumer) = ring(4);
        (0..6).for_each(|n| producer.push(numbered(n)));
        let mut seen = Vec::new();
        consumer.drain(|s| seen.push(s.seq));
        assert_eq!((seen.as_slice(), consumer.dropped()), ([0, 1, 2, 3].as_slice(), 2));
        producer.push(numbered(6));
        seen.clear();
        consumer.drain(|s| seen.push(s.seq));
        assert_eq!((seen.as_slice(), consumer.dropped()), ([6].as_slice(), 2));
    }

    #[test]
    fn nothing_is_lost_or_reordered_between_two_threads() {
        let (mut producer, mut consumer) = ring(1 << 10);
        let total = 1_000_000u64;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for n in 0..total {
                    while producer.fill() > 0.9 {
                        std::hint::spin_loop();
                    }
                    producer.push(numbered(n));
                }
            });
            let mut expected = 0;
            while expected < total {
                consumer.drain(|s| {
                    assert_eq!(s.seq, expected);
                    expected += 1;
                });
            }
        });
        assert_eq!(consumer.dropped(), 0);
    }
}
