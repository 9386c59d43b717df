//! How often the host let the store's thread stand still.
//!
//! While the thread spins, it looks at its clock before and behind each question whether a socket is ready. That takes less
//! than a microsecond, unless something else has the CPU meanwhile: another thread, an interrupt, a hypervisor. What happens
//! to the store then may happen to a client beside it as well, and neither of them has caused it.

use units::Nanos;

/// Gaps between two looks at the clock with next to nothing to do in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standstill {
    /// How many were [`Standstill::SHORTEST`] or longer.
    pub count: u64,
    /// Their sum.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
    /// How long it was looked for gaps, these included.
    pub watched: Nanos,
}

impl Standstill {
    /// The shortest gap that counts: above what an interrupt takes.
    pub const SHORTEST: Nanos = Nanos::from_micros(100);

    /// The share of the time watched, in [0, 1]; `None` when it never looked.
    pub fn share(&self) -> Option<f64> {
        (self.watched > Nanos::ZERO).then(|| self.total.0 as f64 / self.watched.0 as f64)
    }

    /// Takes the time between two looks.
    pub(super) fn note(&mut self, gap: Nanos) {
        self.watched = Nanos(self.watched.0.saturating_add(gap.0));
        if gap >= Standstill::SHORTEST {
            self.count += 1;
            self.total = Nanos(self.total.0.saturating_add(gap.0));
            self.longest = self.longest.max(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_from_the_shortest_on() {
        let mut still = Standstill::default();
        assert_eq!(still.share(), None);
        for micros in [1, 99, 100, 800] {
            still.note(Nanos::from_micros(micros));
        }
        let micros = Nanos::from_micros;
        assert_eq!(
            still,
            Standstill { count: 2, total: micros(900), longest: micros(800), watched: micros(1000) }
        );
        assert_eq!(still.share(), Some(0.9));
    }
}
