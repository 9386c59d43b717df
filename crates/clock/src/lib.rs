//! The only crate that reads time.
//!
//! Hot paths read raw [`Ticks`] through [`Clock::now`] and nothing else: ≈ 10 ns with the TSC,
//! ≈ 23 ns with `clock_gettime`. What the ticks meant is settled afterwards: an observer takes an [`Anchor`]
//! each 100 ms, and [`Anchors`] interpolates between them. A frequency that was calibrated once at the start
//! drifts (the `quanta` crate: ≈ 80 ppm, 38 ms in 460 s); a piecewise-linear conversion after the fact
//! cannot, and a step of the wall clock becomes visible data instead of a wrong latency.
//!
//! ```
//! use clock::{Clock, ClockChoice};
//! let calibration = clock::calibrate(ClockChoice::Auto).unwrap();
//! let clock = calibration.start();
//! let mut anchors = clock::Anchors::new(clock.anchor());
//! let ticks = clock.now();
//! anchors.push(clock.anchor());
//! assert!(anchors.instant(ticks).is_some());
//! ```
#![deny(missing_docs)]

mod anchor;
mod live;
mod simulated;
mod skew;
mod slice;
mod wait;

pub use anchor::{Anchor, Anchors, ClockStep};
pub use live::{Calibration, ClockChoice, ClockError, ClockFacts, ClockKind, LiveClock, calibrate};
pub use simulated::SimClock;
pub use skew::{Skew, tsc_skew};
pub use slice::{ShortSlices, ask_for_short_slices};
pub use wait::{LocalZone, local_zone, pause, pin_to, set_timer_slack, thread_cpu_time, wall_time_ns};

use units::Ticks;

/// A source of ticks. Implementations never go backwards on one thread.
pub trait Clock {
    /// Ticks since the run's epoch.
    fn now(&self) -> Ticks;
    /// Ticks that pass in `nanos`, by the frequency known at the start; for pacing, not for results.
    fn ticks_in(&self, nanos: units::Nanos) -> u64;
}
