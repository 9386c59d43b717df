//! From ticks to instants while the run goes on, in bounded memory.

use crate::{RawSample, RawStatement, Sample, Statement};
use clock::{Anchor, Anchors, Clock, ClockStep, LiveClock};
use units::{Instant, Nanos, Outcome, Ticks};

/// Anchors that are kept as they are: the newest, ≈ 100 s of them.
const DENSE: usize = 1 << 10;
/// Anchors in all; at this number older ones are thinned.
const MOST: usize = 4 << 10;
/// How far a kernel's stamp may lie outside of its request before it can't be its own: far above any error
/// of an anchor, far below any step of a clock that is reported as one.
const STAMP_SLACK: u64 = 1_000_000;

/// The anchors of a run. The clock runs evenly enough that old segments can be long; a sample refers to old
/// ones only when it has waited long.
pub(super) struct Timeline {
    anchors: Anchors,
    newest: Anchor,
    /// End of the last step of the wall clock that was handed out.
    step_seen: Option<Instant>,
    /// Kernel stamps that no instant could be found for, since the last question.
    stamps_lost: u64,
}

/// The wall time of the epoch before there is a second anchor, by the frequency known at the start.
pub(super) fn epoch_wall_ns(clock: &LiveClock, first: &Anchor) -> u64 {
    first.realtime_ns.saturating_sub(clock.nanos_in(first.ticks.0).0)
}

impl Timeline {
    pub(super) fn new(first: Anchor) -> Timeline {
        Timeline { anchors: Anchors::new(first), newest: first, step_seen: None, stamps_lost: 0 }
    }

    pub(super) fn push(&mut self, anchor: Anchor) {
        self.anchors.push(anchor);
        self.newest = anchor;
        if self.anchors.points().len() >= MOST {
            self.anchors = thinned(&self.anchors);
        }
    }

    /// Whether anything can be converted: there are two anchors.
    pub(super) fn is_ready(&self) -> bool {
        self.anchors.points().len() > 1
    }

    pub(super) fn epoch_wall_ns(&self) -> u64 {
        self.anchors.epoch_realtime_ns()
    }

    /// The anchors, with instants instead of ticks; empty before there are two.
    pub(super) fn run_anchors(&self) -> Vec<Anchor> {
        self.anchors.points().iter().filter_map(|point| self.on_run_clock(point)).collect()
    }

    /// The newest anchor likewise.
    pub(super) fn newest_run_anchor(&self) -> Option<Anchor> {
        self.on_run_clock(&self.newest)
    }

    fn on_run_clock(&self, anchor: &Anchor) -> Option<Anchor> {
        let at = self.anchors.instant(anchor.ticks)?;
        let end = self.anchors.instant(Ticks(anchor.ticks.0.saturating_add(anchor.width_ticks)))?;
        Some(Anchor { ticks: Ticks(at.0), width_ticks: end.0.saturating_sub(at.0), ..*anchor })
    }

    /// NONE for NONE.
    pub(super) fn instant(&self, ticks: Ticks) -> Instant {
        self.anchors.instant(ticks).unwrap_or(Instant::NONE)
    }

    /// Steps of the wall clock that were not handed out yet.
    pub(super) fn new_steps(&mut self) -> Vec<ClockStep> {
        let mut steps = self.anchors.steps();
        steps.retain(|step| self.step_seen.is_none_or(|seen| step.end > seen));
        self.step_seen = steps.last().map(|step| step.end).or(self.step_seen);
        steps
    }

    /// How many kernel stamps have been left out since the last question.
    pub(super) fn take_stamps_lost(&mut self) -> u64 {
        std::mem::take(&mut self.stamps_lost)
    }

    /// The sample in instants; ≈ 60 ns.
    pub(super) fn sample(&mut self, raw: &RawSample, client: u16) -> Sample {
        let sent = self.instant(raw.sent);
        let completed = self.instant(raw.completed);
        Sample {
            intended: self.instant(raw.intended),
            ready: self.instant(raw.ready),
            sent,
            arrived: self.arrived(raw.arrived_realtime_ns, sent, completed),
            completed,
            seq: raw.seq,
            client,
            session: raw.session,
            op: raw.op,
            phase: raw.phase,
            // Workers make the code from an `Outcome`; a number that is none is their bug, not ours to hide.
            outcome: Outcome::from_code(raw.outcome).unwrap_or(Outcome::Protocol),
            retries: raw.retries,
            flags: raw.flags,
        }
    }

    /// The exchange in instants; ≈ 50 ns. A stamp that is void is the sample's to count.
    pub(super) fn statement(&self, raw: &RawStatement, client: u16) -> Statement {
        let (sent, completed) = (self.instant(raw.sent), self.instant(raw.completed));
        Statement {
            sent,
            arrived: self.stamp(raw.arrived_realtime_ns, sent, completed).unwrap_or(Instant::NONE),
            completed,
            seq: raw.seq,
            client,
            label: raw.label,
            commands: raw.commands,
            position: raw.position,
            op: raw.op,
            attempt: raw.attempt,
            with: raw.with,
            phase: raw.phase,
            outcome: Outcome::from_code(raw.outcome).unwrap_or(Outcome::Protocol),
        }
    }

    /// The sample's stamp; one that is void is counted.
    fn arrived(&mut self, realtime_ns: u64, sent: Instant, completed: Instant) -> Instant {
        self.stamp(realtime_ns, sent, completed).unwrap_or_else(|| {
            self.stamps_lost += 1;
            Instant::NONE
        })
    }

    /// NONE where there is none, `None` where it is void: a stamp of the wall clock is so near a step of that clock, and after
    /// a step back it may find the wrong one of two moments with the same name: then it lies outside of its own request.
    fn stamp(&self, realtime_ns: u64, sent: Instant, completed: Instant) -> Option<Instant> {
        if realtime_ns == u64::MAX {
            return Some(Instant::NONE);
        }
        let arrived = self.anchors.instant_of_realtime(realtime_ns)?;
        let late = completed.is_some() && arrived.0 > completed.0.saturating_add(STAMP_SLACK);
        let early = sent.is_some() && arrived.0.saturating_add(STAMP_SLACK) < sent.0;
        (!late && !early && arrived.is_some()).then_some(arrived)
    }

    /// Time since the newest anchor.
    pub(super) fn age(&self, clock: &LiveClock) -> Nanos {
        clock.nanos_in(clock.now().0.saturating_sub(self.newest.ticks.0))
    }
}

/// Half of the older anchors, all of the newest, the first two (they define the epoch), and both sides of
/// each step of the wall clock (at most half of all that may be kept, the newest ones).
fn thinned(anchors: &Anchors) -> Anchors {
    let points = anchors.points();
    let dense_from = points.len().saturating_sub(DENSE);
    let mut keep: Vec<bool> = (0..points.len()).map(|i| i < 2 || i % 2 == 0 || i >= dense_from).collect();
    for step in anchors.steps().iter().rev().take(MOST / 8) {
        let after = points.partition_point(|p| anchors.instant(p.ticks).is_some_and(|at| at < step.end));
        for index in [after.saturating_sub(1), after] {
            if let Some(keep) = keep.get_mut(index) {
                *keep = true;
            }
        }
    }
    let mut kept = points.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| *point);
    let mut thinned = Anchors::new(kept.next().unwrap_or(points[0]));
    kept.for_each(|point| thinned.push(point));
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALL: u64 = 1_700_000_000_000_000_000;

    /// Anchor `i` of a clock with 2.5 ticks per ns whose wall clock steps by `step` at anchor 500.
    fn anchor(i: u64, step: i64) -> Anchor {
        let ns = i * 100_000_000;
        let wall = WALL + ns;
        let realtime_ns = if i >= 500 { wall.wrapping_add_signed(step) } else { wall };
        let slewed_ns = Some(7_100 + ns);
        Anchor { ticks: Ticks(ns * 5 / 2), monotonic_ns: 7_000 + ns, realtime_ns, slewed_ns, width_ticks: 60 }
    }

    fn timeline(anchors: u64, step: i64) -> Timeline {
        let mut timeline = Timeline::new(anchor(0, step));
        (1..anchors).for_each(|i| timeline.push(anchor(i, step)));
        timeline
    }

    fn raw(at_ns: u64, step: i64) -> RawSample {
        let ticks = |ns: u64| Ticks(ns * 5 / 2);
        RawSample {
            intended: ticks(at_ns),
            ready: Ticks::NONE,
            sent: ticks(at_ns + 2_000),
            completed: ticks(at_ns + 400_000),
            arrived_realtime_ns: (WALL + at_ns + 390_000).wrapping_add_signed(step),
            seq: 5,
            session: 1,
            op: 2,
            outcome: Outcome::Miss.code(),
            retries: 3,
            phase: 4,
            flags: 1,
            reserved: 0,
        }
    }

    #[test]
    fn an_hour_and_a_day_take_the_same_memory_and_convert_alike() {
        for anchors in [10, 36_000, 864_000] {
            let mut timeline = timeline(anchors, 0);
            assert!(timeline.anchors.points().len() <= MOST);
            let newest = (anchors - 2) * 100_000_000;
            for at in [50_000_001, newest / 2, newest] {
                let sample = timeline.sample(&raw(at, 0), 9);
                assert!(sample.intended.0.abs_diff(at) <= 1, "{sample:?} at {at}");
                assert!(sample.arrived.0.abs_diff(at + 390_000) <= 1, "{sample:?} at {at}");
                assert_eq!((sample.ready, sample.client, sample.outcome), (Instant::NONE, 9, Outcome::Miss));
            }
            assert_eq!(timeline.take_stamps_lost(), 0);
        }
    }

    #[test]
    fn steps_are_handed_out_once_and_survive_thinning() {
        for step in [2_000_000, -2_000_000_000] {
            let mut timeline = timeline(600, step);
            assert_eq!(timeline.new_steps().iter().map(|s| s.step_ns).collect::<Vec<_>>(), [step]);
            assert_eq!(timeline.new_steps(), []);
            (600..40_000).for_each(|i| timeline.push(anchor(i, step)));
            assert_eq!(timeline.anchors.steps().len(), 1);
            assert_eq!(timeline.new_steps(), []);
        }
    }

    #[test]
    fn a_stamp_across_a_step_is_void() {
        for step in [2_000_000, -2_000_000_000] {
            let mut timeline = timeline(1_000, step);
            // Between the anchors around the step nobody knows on which side a stamp lies.
            assert_eq!(timeline.sample(&raw(49_950_000_000, step), 0).arrived, Instant::NONE);
            // Soon after a step back, the same wall time names two moments.
            let soon = timeline.sample(&raw(50_250_000_000, step), 0).arrived;
            assert!(soon == Instant::NONE || soon.0.abs_diff(50_250_390_000) <= 1, "{soon:?}");
            // Long after, all is well again.
            assert!(timeline.sample(&raw(60_000_000_000, step), 0).arrived.0.abs_diff(60_000_390_000) <= 1);
            assert!(timeline.take_stamps_lost() >= 1);
        }
    }

    #[test]
    fn a_request_without_a_stamp_loses_none() {
        let mut timeline = timeline(10, 0);
        let sample = timeline.sample(&RawSample { arrived_realtime_ns: u64::MAX, ..raw(500_000_000, 0) }, 0);
        assert_eq!((sample.arrived, timeline.take_stamps_lost()), (Instant::NONE, 0));
    }
}
