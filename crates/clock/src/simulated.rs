//! Time that only moves when it is told to.

use crate::Clock;
use std::cell::Cell;
use std::rc::Rc;
use units::{Nanos, Ticks};

/// A clock for deterministic simulation; one tick is one nanosecond. Clones share the time.
#[derive(Clone, Debug, Default)]
pub struct SimClock {
    now: Rc<Cell<u64>>,
}

impl SimClock {
    /// A clock that stands at the epoch.
    pub fn new() -> SimClock {
        SimClock::default()
    }

    /// Moves to `ticks`.
    ///
    /// # Panics
    /// When that is in the past: only a bug in a simulation can ask for it.
    pub fn advance_to(&self, ticks: Ticks) {
        assert!(ticks.0 >= self.now.get(), "simulated time went back to {ticks:?} from {:?}", self.now);
        self.now.set(ticks.0);
    }

    /// Moves forward by `elapsed`.
    pub fn advance(&self, elapsed: Nanos) {
        self.now.set(self.now.get() + elapsed.0);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Ticks {
        Ticks(self.now.get())
    }

    fn ticks_in(&self, nanos: Nanos) -> u64 {
        nanos.0
    }
}
