//! From ticks to instants, after the fact.

use units::{Instant, Ticks};

/// All clocks read at (nearly) one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The run's clock, in the middle of the bracket.
    pub ticks: Ticks,
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds.
    pub monotonic_ns: u64,
    /// `CLOCK_REALTIME` in nanoseconds since 1970.
    pub realtime_ns: u64,
    /// `CLOCK_MONOTONIC` in nanoseconds: the raw clock as the kernel slews it, which Java's `System.nanoTime()` and the
    /// decorator `timenanos` of its logs show. `None` where it was not read (logs of earlier versions).
    pub slewed_ns: Option<u64>,
    /// How many ticks the readings took: the anchor's own uncertainty.
    pub width_ticks: u64,
}

/// A jump of the wall clock between two anchors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockStep {
    /// The anchor before the jump.
    pub begin: Instant,
    /// The anchor after the jump.
    pub end: Instant,
    /// Signed size of the jump in nanoseconds.
    pub step_ns: i64,
}

/// Largest change of (realtime − monotonic) between neighbours that slewing can explain: NTP slews at
/// ≤ 500 ppm, PTP daemons sometimes faster; 1 ‰ of the interval plus 50 µs of reading noise.
fn slew_limit_ns(elapsed_ns: u64) -> u64 {
    50_000 + elapsed_ns / 1_000
}

/// Anchors in the order in which they were taken. Never empty.
///
/// Instant zero is the moment of tick zero, extrapolated from the first two anchors.
/// Conversion: O(1) in the last segment, O(log n) by binary search elsewhere.
#[derive(Clone, Debug)]
pub struct Anchors {
    points: Vec<Anchor>,
    /// Of those that have it: (`CLOCK_MONOTONIC`, `CLOCK_MONOTONIC_RAW`), ns.
    slewed: Vec<(u64, u64)>,
    /// Monotonic time of tick zero.
    epoch_monotonic_ns: f64,
}

impl Anchors {
    /// Starts a list; conversions need a second anchor and give `None` before.
    pub fn new(first: Anchor) -> Anchors {
        Anchors {
            points: vec![first],
            slewed: slewed(&first).into_iter().collect(),
            epoch_monotonic_ns: first.monotonic_ns as f64,
        }
    }

    /// Appends an anchor; one that does not advance both clocks is ignored, since no segment leads to it.
    pub fn push(&mut self, anchor: Anchor) {
        let last = self.points[self.points.len() - 1];
        if anchor.ticks <= last.ticks || anchor.monotonic_ns <= last.monotonic_ns {
            return;
        }
        self.points.push(anchor);
        self.slewed.extend(slewed(&anchor));
        if self.points.len() == 2 {
            let (a, b) = (self.points[0], self.points[1]);
            let slope = (b.monotonic_ns - a.monotonic_ns) as f64 / (b.ticks.0 - a.ticks.0) as f64;
            self.epoch_monotonic_ns = a.monotonic_ns as f64 - a.ticks.0 as f64 * slope;
        }
    }

    /// The anchors themselves.
    pub fn points(&self) -> &[Anchor] {
        &self.points
    }

    /// The wall time of the run's epoch in nanoseconds since 1970, by the first anchor.
    pub fn epoch_realtime_ns(&self) -> u64 {
        let first = self.points[0];
        let since = first.monotonic_ns as f64 - self.epoch_monotonic_ns;
        first.realtime_ns.saturating_sub(since.max(0.0) as u64)
    }

    /// The instant of a tick: interpolated between its neighbours, extrapolated by the nearest segment
    /// outside of them. `None` for [`Ticks::NONE`] and before there are two anchors.
    pub fn instant(&self, ticks: Ticks) -> Option<Instant> {
        if !ticks.is_some() {
            return None;
        }
        let (a, b) = self.segment(self.first_after(|p| p.ticks <= ticks))?;
        let slope = (b.monotonic_ns - a.monotonic_ns) as f64 / (b.ticks.0 - a.ticks.0) as f64;
        let offset = (ticks.0 as f64 - a.ticks.0 as f64) * slope;
        self.at_monotonic(a.monotonic_ns as f64 + offset)
    }

    /// The instant of a wall-clock reading such as a kernel's receive stamp. `None` before there are two
    /// anchors, and between two anchors across which the wall clock stepped: there it can't be known.
    pub fn instant_of_realtime(&self, realtime_ns: u64) -> Option<Instant> {
        let (a, b) = self.segment(self.first_after(|p| p.realtime_ns <= realtime_ns))?;
        if step_between(&a, &b).is_some() {
            return None;
        }
        let slope = (b.monotonic_ns - a.monotonic_ns) as f64 / (b.realtime_ns - a.realtime_ns) as f64;
        // Subtracted as integers: nanoseconds since 1970 are past 2⁵³, where an f64 is 256 ns coarse.
        let since = i128::from(realtime_ns) - i128::from(a.realtime_ns);
        let offset = since as f64 * slope;
        self.at_monotonic(a.monotonic_ns as f64 + offset)
    }

    /// The instant of a reading of `CLOCK_MONOTONIC` on the same host since the same boot, such as Java's
    /// `System.nanoTime()`. `None` before there are two anchors that have it. That clock never steps. O(log n).
    pub fn instant_of_slewed(&self, slewed_ns: u64) -> Option<Instant> {
        let points = &self.slewed;
        let after = points.partition_point(|(slewed, _)| *slewed <= slewed_ns);
        let right = after.clamp(1, points.len().max(2) - 1);
        let (&(from, raw), &(to, later)) = (points.get(right - 1)?, points.get(right)?);
        let slope = if to > from { (later - raw) as f64 / (to - from) as f64 } else { 1.0 };
        let since = i128::from(slewed_ns) - i128::from(from);
        self.at_monotonic(raw as f64 + since as f64 * slope)
    }

    /// Jumps of the wall clock seen so far.
    pub fn steps(&self) -> Vec<ClockStep> {
        self.points
            .windows(2)
            .filter_map(|pair| {
                let step_ns = step_between(&pair[0], &pair[1])?;
                let begin = self.at_monotonic(pair[0].monotonic_ns as f64)?;
                let end = self.at_monotonic(pair[1].monotonic_ns as f64)?;
                Some(ClockStep { begin, end, step_ns })
            })
            .collect()
    }

    /// The first anchor of which `before` does not hold. A live run asks about the last segment, mostly.
    fn first_after(&self, before: impl Fn(&Anchor) -> bool) -> usize {
        match self.points.len().checked_sub(2) {
            Some(last) if before(&self.points[last]) => {
                last + 1 + usize::from(before(&self.points[last + 1]))
            }
            _ => self.points.partition_point(before),
        }
    }

    fn segment(&self, after: usize) -> Option<(Anchor, Anchor)> {
        if self.points.len() < 2 {
            return None;
        }
        let right = after.clamp(1, self.points.len() - 1);
        Some((self.points[right - 1], self.points[right]))
    }

    fn at_monotonic(&self, monotonic_ns: f64) -> Option<Instant> {
        let since = monotonic_ns - self.epoch_monotonic_ns;
        // Rounded by hand: `f64::round` is a call into the C library on x86-64 without SSE 4.1.
        Some(Instant((since.max(0.0) + 0.5) as u64))
    }
}

fn slewed(anchor: &Anchor) -> Option<(u64, u64)> {
    anchor.slewed_ns.map(|slewed| (slewed, anchor.monotonic_ns))
}

fn step_between(a: &Anchor, b: &Anchor) -> Option<i64> {
    let elapsed = b.monotonic_ns - a.monotonic_ns;
    let wall = i128::from(b.realtime_ns) - i128::from(a.realtime_ns);
    let step = wall - i128::from(elapsed);
    (step.unsigned_abs() > u128::from(slew_limit_ns(elapsed))).then_some(step as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Nanos;

    const WALL: u64 = 1_700_000_000_000_000_000;

    fn anchor(ticks: u64, monotonic_ns: u64, realtime_ns: u64) -> Anchor {
        let slewed_ns = Some(monotonic_ns + 40 + monotonic_ns / 50_000);
        Anchor { ticks: Ticks(ticks), monotonic_ns, realtime_ns, slewed_ns, width_ticks: 10 }
    }

    /// A clock that runs at 2.5 ticks/ns and drifts by `ppm`, anchored each 100 ms.
    fn drifting(ppm: f64, seconds: u64) -> Anchors {
        let at = |i: u64| {
            let ns = i * 100_000_000;
            let ticks = (ns as f64 * 2.5 * (1.0 + ppm * 1e-6 * i as f64 / (seconds * 10) as f64)) as u64;
            anchor(ticks, 5_000 + ns, WALL + ns)
        };
        let mut anchors = Anchors::new(at(0));
        (1..=seconds * 10).for_each(|i| anchors.push(at(i)));
        anchors
    }

    #[test]
    fn drift_does_not_accumulate() {
        let anchors = drifting(80.0, 460);
        let worst = (0..4_600u64)
            .map(|i| {
                let point = anchors.points()[i as usize];
                let seen = anchors.instant(point.ticks).unwrap();
                seen.0.abs_diff(i * 100_000_000)
            })
            .max();
        assert!(worst.unwrap() <= 1, "worst error {worst:?} ns");
    }

    #[test]
    fn a_step_of_the_wall_clock_hides_kernel_stamps_and_shows_as_an_event() {
        let mut anchors = Anchors::new(anchor(0, 0, WALL));
        for i in 1..10u64 {
            let step = if i >= 5 { 2_000_000 } else { 0 };
            anchors.push(anchor(i * 250_000_000, i * 100_000_000, WALL + i * 100_000_000 + step));
        }
        let steps = anchors.steps();
        assert_eq!(steps.len(), 1);
        assert_eq!((steps[0].begin, steps[0].step_ns), (Instant(400_000_000), 2_000_000));
        assert_eq!(anchors.instant_of_realtime(WALL + 450_000_000), None);
        assert_eq!(anchors.instant_of_realtime(WALL + 350_000_000), Some(Instant(350_000_000)));
        assert_eq!(anchors.instant_of_realtime(WALL + 702_000_000), Some(Instant(700_000_000)));
    }

    #[test]
    fn kernel_stamps_are_converted_to_the_nanosecond() {
        let anchors = drifting(80.0, 2);
        for ns in [50_000_001, 150_390_017, 1_999_999_999] {
            assert_eq!(anchors.instant_of_realtime(WALL + ns), Some(Instant(ns)));
        }
    }

    #[test]
    fn the_slewed_clock_is_converted_and_may_be_missing() {
        let anchors = drifting(80.0, 2);
        for ns in [0, 50_000_001, 150_390_017, 1_999_999_999, 3_000_000_000_u64] {
            let slewed = 5_000 + ns + 40 + (5_000 + ns) / 50_000;
            let seen = anchors.instant_of_slewed(slewed).unwrap();
            assert!(seen.0.abs_diff(ns) <= 2, "{seen:?} for {ns}");
        }
        let without = |point: &Anchor| Anchor { slewed_ns: None, ..*point };
        let mut old = Anchors::new(without(&anchors.points()[0]));
        anchors.points()[1..].iter().for_each(|point| old.push(without(point)));
        assert_eq!(old.instant_of_slewed(5_000), None);
        assert_eq!(old.instant_of_realtime(WALL), Some(Instant(0)));
    }

    #[test]
    fn one_anchor_converts_nothing() {
        let anchors = Anchors::new(anchor(0, 0, WALL));
        assert_eq!(anchors.instant(Ticks(5)), None);
        assert_eq!(anchors.instant_of_realtime(WALL), None);
        assert_eq!(anchors.instant_of_slewed(5), None);
    }

    proptest! {
        #[test]
        fn conversion_is_monotone(mut ticks in prop::collection::vec(0u64..2_500_000_000, 2..50)) {
            let anchors = drifting(200.0, 1);
            ticks.sort_unstable();
            let instants: Vec<_> = ticks.iter().map(|&t| anchors.instant(Ticks(t)).unwrap()).collect();
            prop_assert!(instants.windows(2).all(|w| w[0] <= w[1]));
            let _ = Nanos::ZERO;
        }
    }
}
