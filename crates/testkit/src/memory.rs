//! A global allocator that knows how much memory the process holds.
//!
//! Unlike [`alloc`](crate::alloc), which counts calls on one thread, it adds up bytes over all threads: "memory stays
//! bounded" is a promise about the process.
//!
//! ```
//! use testkit::memory::{MeasuringAlloc, measured};
//! #[global_allocator]
//! static ALLOC: MeasuringAlloc = MeasuringAlloc;
//!
//! let (room, memory) = measured(|| Vec::<u8>::with_capacity(1 << 20));
//! assert!(memory.peak >= 1 << 20 && memory.largest >= 1 << 20);
//! drop(room);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

// Relaxed everywhere: each is a number of its own, and nothing is read through it.
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// What some work took, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The most that was held at one time, beyond what was held before.
    pub peak: usize,
    /// The largest single request.
    pub largest: usize,
}

/// Runs `work` and says what memory it took, on all threads. Measurements wait for each other; what other tests of the
/// same program allocate meanwhile is counted, too.
///
/// # Panics
/// When [`MeasuringAlloc`] is not the global allocator: every figure would be zero and prove nothing.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(is_measuring(), "make testkit::memory::MeasuringAlloc this test's #[global_allocator] first");
    let before = HELD.load(Ordering::Relaxed);
    // Above 0 also when nothing was held: a look at whether anybody measures must not see a reset.
    let before = before.max(1);
    PEAK.store(before, Ordering::Relaxed);
    LARGEST.store(0, Ordering::Relaxed);
    let result = work();
    let peak = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    (result, Memory { peak, largest: LARGEST.load(Ordering::Relaxed) })
}

/// Bytes that the process holds now.
///
/// # Panics
/// As [`measured`] does.
pub fn held() -> usize {
    assert!(is_measuring(), "make testkit::memory::MeasuringAlloc this test's #[global_allocator] first");
    HELD.load(Ordering::Relaxed)
}

/// Whether [`MeasuringAlloc`] is the global allocator.
fn is_measuring() -> bool {
    drop(std::hint::black_box(Box::new(0_u8)));
    PEAK.load(Ordering::Relaxed) > 0
}

/// The system's allocator with a sum of what it has given.
pub struct MeasuringAlloc;

fn took(size: usize) {
    let held = HELD.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(held, Ordering::Relaxed);
    LARGEST.fetch_max(size, Ordering::Relaxed);
}

fn gave_back(size: usize) {
    HELD.fetch_sub(size, Ordering::Relaxed);
}

// SAFETY: every method hands its arguments on to `System` unchanged, and counting touches no heap.
unsafe impl GlobalAlloc for MeasuringAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller keeps `GlobalAlloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // In this order: both may be held for a moment.
        took(size);
        gave_back(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        gave_back(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
