//! How long a chore took.

use clock::{Clock, ClockChoice, LiveClock};

/// Runs from when it is made.
pub(crate) struct Stopwatch {
    clock: LiveClock,
    begin: u64,
}

impl Stopwatch {
    /// Starts.
    pub(crate) fn start() -> anyhow::Result<Stopwatch> {
        let clock = clock::calibrate(ClockChoice::Monotonic)?.start();
        Ok(Stopwatch { clock, begin: clock.now().0 })
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        let ticks = self.clock.now().0.saturating_sub(self.begin);
        self.clock.nanos_in(ticks).0 as f64 / 1e9
    }
}

/// `7 s`, `3 min 20 s`.
pub(crate) fn spoken(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    if whole < 60 { format!("{whole} s") } else { format!("{} min {:02} s", whole / 60, whole % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        assert_eq!(spoken(0.04), "0.0 s");
        assert_eq!(spoken(9.96), "10 s");
        assert_eq!(spoken(59.4), "59 s");
        assert_eq!(spoken(59.7), "1 min 00 s");
        assert_eq!(spoken(605.0), "10 min 05 s");
    }
}
