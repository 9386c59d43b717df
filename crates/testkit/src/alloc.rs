//! A global allocator that counts, per thread.
//!
//! ```
//! use testkit::alloc::{CountingAlloc, counted};
//! #[global_allocator]
//! static ALLOC: CountingAlloc = CountingAlloc;
//!
//! let mut room = Vec::with_capacity(8);
//! let ((), counts) = counted(|| room.push(1_u8));
//! assert_eq!(counts.total(), 0);
//! ```
//!
//! Counts are thread-local, so that parallel tests and background threads don't disturb each other.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // `const` and without a destructor: reading it never allocates, and it lives as long as its thread.
    static COUNTS: Cell<Counts> = const { Cell::new(Counts::ZERO) };
}

/// How often this thread has called its allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// `alloc` and `alloc_zeroed`.
    pub allocations: u64,
    /// `realloc`.
    pub reallocations: u64,
    /// `dealloc`.
    pub deallocations: u64,
}

impl Counts {
    const ZERO: Counts = Counts { allocations: 0, reallocations: 0, deallocations: 0 };

    /// This thread's counts since it began. All zero unless [`CountingAlloc`] is the global allocator.
    pub fn now() -> Counts {
        COUNTS.with(Cell::get)
    }

    /// What was added since `earlier`.
    pub fn since(self, earlier: Counts) -> Counts {
        Counts {
            allocations: self.allocations - earlier.allocations,
            reallocations: self.reallocations - earlier.reallocations,
            deallocations: self.deallocations - earlier.deallocations,
        }
    }

    /// All calls together: a free on the hot path costs as much as an allocation.
    pub fn total(self) -> u64 {
        self.allocations + self.reallocations + self.deallocations
    }
}

/// Runs `work` and counts its calls to the allocator on this thread.
///
/// # Panics
/// When [`CountingAlloc`] is not the global allocator: every count would be zero and prove nothing.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, Counts) {
    assert!(is_counting(), "make testkit::alloc::CountingAlloc this test's #[global_allocator] first");
    let before = Counts::now();
    let result = work();
    (result, Counts::now().since(before))
}

/// Whether [`CountingAlloc`] is the global allocator.
pub fn is_counting() -> bool {
    let before = Counts::now();
    drop(std::hint::black_box(Box::new(0_u8)));
    Counts::now().since(before).total() == 2
}

/// The system's allocator with a count of its calls.
pub struct CountingAlloc;

fn count(change: impl FnOnce(&mut Counts)) {
    // A thread that is being torn down has no counts any more; nobody could read them.
    let _ = COUNTS.try_with(|counts| {
        let mut now = counts.get();
        change(&mut now);
        counts.set(now);
    });
}

// SAFETY: every method hands its arguments on to `System` unchanged, and counting touches no heap.
unsafe impl GlobalAlloc for CountingAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|c| c.allocations += 1);
        // SAFETY: the caller keeps `GlobalAlloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(|c| c.allocations += 1);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(|c| c.reallocations += 1);
        // SAFETY: as in `alloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(|c| c.deallocations += 1);
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
