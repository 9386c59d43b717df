//! Kernel receive stamps, which are wall time, in the store's own time.

use clock::LiveClock;
use units::Nanos;

/// The wall clock against the store's, compared again and again, since the wall clock is slewed and may step.
pub(super) struct WallStamps {
    /// Wall time of the store's epoch, by the latest comparison.
    epoch_wall_ns: u64,
}

impl WallStamps {
    pub(super) fn new(clock: &LiveClock) -> WallStamps {
        let mut stamps = WallStamps { epoch_wall_ns: 0 };
        stamps.refresh(clock);
        stamps
    }

    /// Compares the clocks; ≈ 2 µs.
    pub(super) fn refresh(&mut self, clock: &LiveClock) {
        let anchor = clock.anchor();
        self.epoch_wall_ns = anchor.realtime_ns.saturating_sub(anchor.ticks.0);
    }

    /// The store's time of a stamp; `None` for one that lies after `now` or more than a second before it: the wall
    /// clock has stepped, and the stamp is of no use.
    pub(super) fn convert(&self, wall_ns: u64, now: Nanos) -> Option<Nanos> {
        let at = Nanos(wall_ns.checked_sub(self.epoch_wall_ns)?);
        // A comparison is exact to some 100 ns: a stamp that is later by less is of now.
        if at > now + Nanos::from_micros(50) || now.saturating_sub(at) > Nanos::from_secs(1) {
            return None;
        }
        Some(at.min(now))
    }
}
