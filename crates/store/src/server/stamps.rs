//! Kernel receive stamps, which are wall time, in the store's own time.

use clock::LiveClock;
use units::Nanos;

/// The wall clock against the store's, compared again and again, since the wall clock is slewed and may step.
pub(super) struct WallStamps {
    /// Wall time of the store's epoch, by the latest comparison.
    epoch_wall_ns: u64,
    /// What arrived before has stamps of a wall clock that has stepped since.
    valid_from: Nanos,
}

/// A difference between two comparisons above which the wall clock has stepped: slewing makes 0.05 ms in 100 ms.
const STEP: Nanos = Nanos::from_millis(1);
/// How exact a comparison is, and then some.
const TOLERANCE: Nanos = Nanos::from_micros(50);

impl WallStamps {
    pub(super) fn new(clock: &LiveClock) -> WallStamps {
        let anchor = clock.anchor();
        let epoch_wall_ns = anchor.realtime_ns.saturating_sub(anchor.ticks.0);
        WallStamps { epoch_wall_ns, valid_from: Nanos::ZERO }
    }

    /// Compares the clocks; ≈ 2 µs.
    pub(super) fn refresh(&mut self, clock: &LiveClock) {
        let anchor = clock.anchor();
        self.compare(Nanos(anchor.ticks.0), anchor.realtime_ns.saturating_sub(anchor.ticks.0));
    }

    fn compare(&mut self, now: Nanos, epoch_wall_ns: u64) {
        if epoch_wall_ns.abs_diff(self.epoch_wall_ns) > STEP.0 {
            self.valid_from = now;
        }
        self.epoch_wall_ns = epoch_wall_ns;
    }

    /// The store's time of a stamp, however long ago it was: a request that waited in the kernel until it was read has
    /// arrived when it arrived. `None` for one that lies after `now`, or before the wall clock's last step: such a
    /// stamp is of no use. A step is noticed at the next comparison, 10 ms later; stamps in between are taken as they are,
    /// unless they seem to lie in the future.
    pub(super) fn convert(&self, wall_ns: u64, now: Nanos) -> Option<Nanos> {
        let at = Nanos(wall_ns.checked_sub(self.epoch_wall_ns)?);
        (at >= self.valid_from && at <= now + TOLERANCE).then(|| at.min(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_taken_however_old_until_the_wall_clock_steps() {
        let second = 1_000_000_000;
        let mut stamps = WallStamps { epoch_wall_ns: 1000 * second, valid_from: Nanos::ZERO };
        let now = Nanos::from_secs(10);
        assert_eq!(stamps.convert(1009 * second, now), Some(Nanos::from_secs(9)));
        assert_eq!(
            stamps.convert(1002 * second, now),
            Some(Nanos::from_secs(2)),
            "it waited for 8 s to be read"
        );
        assert_eq!(stamps.convert(1010 * second + 40_000, now), Some(now), "within the tolerance");
        assert_eq!(stamps.convert(1011 * second, now), None, "after now");
        assert_eq!(stamps.convert(999 * second, now), None, "before the epoch");
        // Slewing is no step; a jump of five seconds is.
        stamps.compare(now, 1000 * second + 5000);
        assert!(stamps.convert(1002 * second, now).is_some());
        stamps.compare(now, 1005 * second);
        assert_eq!(stamps.convert(1014 * second, Nanos::from_secs(11)), None, "of before the step");
        assert_eq!(
            stamps.convert(1015 * second + second / 2, Nanos::from_secs(11)),
            Some(Nanos(10_500_000_000))
        );
    }
}
