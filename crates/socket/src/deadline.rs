//! A limit on blocking set-up work. Never used between a request's `sent` and `completed`.

use clock::{Clock, ClockChoice, LiveClock};
use units::{Nanos, Ticks};

/// The moment by which something must be done.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    clock: LiveClock,
    limit: Nanos,
}

impl Deadline {
    /// `limit` from now on.
    pub fn after(limit: Nanos) -> Deadline {
        // The kernel's monotonic clock is always there: only the cycle counter can be refused.
        let calibration =
            clock::calibrate(ClockChoice::Monotonic).expect("the monotonic clock is never refused");
        Deadline { clock: calibration.start(), limit }
    }

    /// What is left; zero when it has passed.
    pub fn left(&self) -> Nanos {
        let Ticks(elapsed) = self.clock.now();
        self.limit.saturating_sub(self.clock.nanos_in(elapsed))
    }

    /// What is left in milliseconds, rounded up, for `poll`.
    pub fn left_ms(&self) -> i32 {
        i32::try_from(self.left().0.div_ceil(1_000_000)).unwrap_or(i32::MAX)
    }
}
