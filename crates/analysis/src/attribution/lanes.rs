//! Causes laid over each other: which one explains a moment, and what it is owed.

use super::Cause;
use super::causes::Met;
use crate::stalls::{Lasting, longest_backlog};

/// A time that one cause explains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) cause: Cause,
    /// When the backlog behind it was over; `u64::MAX` when it never was.
    pub(super) recovered: u64,
}

/// What covers the time of one recording's requests; each lane's segments are in order and apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    /// What stands still.
    pub(super) blocking: Vec<Segment>,
    /// Until when a request can owe something to each of these.
    owed_until: Lasting,
    /// What only slows, …
    slowing: Vec<Segment>,
    /// … and the same with what concerns requests that wait for a session.
    slowing_pool: Vec<Segment>,
    /// What of a stall may lie before it is seen, ns.
    pub(super) unseen: u64,
}

impl Lanes {
    /// Of the causes that are shown. `recovered` gives the end of the backlog behind something that ended.
    pub(super) fn new(met: &Met, is_shown: impl Fn(Cause) -> bool, recovered: impl Fn(u64) -> u64) -> Lanes {
        let lane = |wanted: &dyn Fn(Cause) -> bool| {
            let causes = Cause::ALL.into_iter().filter(|cause| wanted(*cause) && is_shown(*cause));
            layered(causes.flat_map(|cause| met.of(cause).iter().map(move |i| (i.0, i.1, cause))))
        };
        let slows = |cause: Cause| cause.is_observed() && !cause.blocks();
        let mut blocking = lane(&|cause| cause.blocks());
        blocking.iter_mut().for_each(|segment| segment.recovered = recovered(segment.end));
        Lanes {
            owed_until: owed_until(&blocking),
            blocking,
            slowing: lane(&|cause| slows(cause) && cause != Cause::Reconnect),
            slowing_pool: lane(&slows),
            unseen: met.unseen,
        }
    }

    pub(super) fn slowing(&self, stage: Cause) -> &[Segment] {
        if stage == Cause::PoolWait { &self.slowing_pool } else { &self.slowing }
    }

    /// What a request that begins at `at` and takes `whole` owes to what blocked before, the most recent last: the part of
    /// a segment around its begin that it did not meet, and all of those whose backlog it begins in.
    pub(super) fn owed(&self, at: u64, whole: u64) -> Vec<(Cause, u64)> {
        let begun = self.blocking.partition_point(|segment| segment.begin <= at);
        let mut debts = Vec::new();
        let mut sum = 0u64;
        for segment in self.owed_until.beyond(begun, at).map(|index| &self.blocking[index]) {
            if sum >= whole {
                break;
            }
            let debt = segment.end.min(at) - segment.begin;
            sum = sum.saturating_add(debt);
            if debt > 0 {
                debts.push((segment.cause, debt));
            }
        }
        debts.reverse();
        debts
    }
}

/// The end of each, or of the backlog behind it: when one was recovered from, and no later than backlogs last.
fn owed_until(blocking: &[Segment]) -> Lasting {
    let mut until = Lasting::default();
    for segment in blocking {
        let longest = longest_backlog(segment.end, segment.end - segment.begin);
        until.push(segment.recovered.min(longest).max(segment.end));
    }
    until
}

/// The segments that overlap [from, to).
pub(super) fn within(lane: &[Segment], from: u64, to: u64) -> impl Iterator<Item = &Segment> {
    let first = lane.partition_point(|segment| segment.end <= from);
    lane[first..].iter().take_while(move |segment| segment.begin < to)
}

/// For each moment that anything covers, the first of the causes that do.
fn layered(intervals: impl Iterator<Item = (u64, u64, Cause)>) -> Vec<Segment> {
    let mut changes: Vec<(u64, bool, Cause)> = Vec::new();
    for (begin, end, cause) in intervals {
        changes.extend([(begin, true, cause), (end, false, cause)]);
    }
    changes.sort_unstable();
    let mut depths = [0u32; Cause::ALL.len()];
    let mut lane: Vec<Segment> = Vec::new();
    let mut from = 0;
    for (at, opens, cause) in changes {
        let top = Cause::ALL.into_iter().find(|cause| depths[cause.index()] > 0);
        if let Some(top) = top.filter(|_| from < at) {
            match lane.last_mut() {
                Some(last) if last.end == from && last.cause == top => last.end = at,
                _ => lane.push(Segment { begin: from, end: at, cause: top, recovered: u64::MAX }),
            }
        }
        from = at;
        let depth = &mut depths[cause.index()];
        *depth = if opens { *depth + 1 } else { depth.saturating_sub(1) };
    }
    lane
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(begin: u64, end: u64, cause: Cause) -> Segment {
        Segment { begin, end, cause, recovered: u64::MAX }
    }

    #[test]
    fn the_first_cause_explains_a_moment() {
        use Cause::{ClientStall, HarnessJvm};
        let found = layered(
            [(0, 100, HarnessJvm), (20, 30, ClientStall), (25, 40, ClientStall), (100, 120, HarnessJvm)]
                .into_iter(),
        );
        let expected =
            [segment(0, 20, HarnessJvm), segment(20, 40, ClientStall), segment(40, 120, HarnessJvm)];
        assert_eq!(found, expected);
        assert_eq!(within(&found, 40, 41).count(), 1);
        assert_eq!(within(&found, 10, 20).count(), 1);
        assert_eq!(within(&found, 120, 200).count(), 0);
    }

    #[test]
    fn many_short_segments_do_not_hide_a_long_one() {
        use Cause::{ClientStall, Fault};
        let short = (0..5_000).map(|i| segment(2_000_000 + 5_000 * i, 2_000_010 + 5_000 * i, ClientStall));
        let blocking: Vec<Segment> = [segment(0, 2_000_000, Fault)].into_iter().chain(short).collect();
        let lanes = Lanes { owed_until: owed_until(&blocking), blocking, ..Lanes::default() };
        assert_eq!(lanes.owed(20_000_100, 10_000_000), [(Fault, 2_000_000), (ClientStall, 10)]);
    }

    #[test]
    fn a_debt_is_what_was_not_met() {
        use Cause::{ClientStall, Fault};
        let blocking = vec![
            Segment { recovered: 45, ..segment(10, 40, Fault) },
            Segment { recovered: 150, ..segment(50, 100, ClientStall) },
        ];
        let lanes = Lanes { owed_until: owed_until(&blocking), blocking, ..Lanes::default() };
        let whole = 1_000;
        assert_eq!(lanes.owed(5, whole), []);
        assert_eq!(lanes.owed(10, whole), []);
        assert_eq!(lanes.owed(30, whole), [(Fault, 20)]);
        assert_eq!(lanes.owed(44, whole), [(Fault, 30)]);
        assert_eq!(lanes.owed(45, whole), []);
        // The first one's backlog was over before the second one began.
        assert_eq!(lanes.owed(60, whole), [(ClientStall, 10)]);
        assert_eq!(lanes.owed(149, whole), [(ClientStall, 50)]);
        assert_eq!(lanes.owed(150, whole), []);
    }

    #[test]
    fn a_backlog_that_never_ends_is_not_the_stalls() {
        use Cause::ClientStall;
        let blocking = vec![segment(10, 40, ClientStall), segment(50, 51, ClientStall)];
        let lanes = Lanes { owed_until: owed_until(&blocking), blocking, ..Lanes::default() };
        assert_eq!(lanes.owed(75, 1_000), [(ClientStall, 30), (ClientStall, 1)]);
        // Each on its own: the short one is over, and hides not the long one.
        assert_eq!(lanes.owed(76, 1_000), [(ClientStall, 30)]);
        assert_eq!(lanes.owed(789, 1_000), [(ClientStall, 30)]);
        assert_eq!(lanes.owed(790, 1_000), []);
    }

    #[test]
    fn backlogs_add_until_one_is_over() {
        use Cause::{ClientStall, Fault};
        let blocking = vec![segment(10, 40, Fault), segment(50, 100, ClientStall)];
        let lanes = Lanes { owed_until: owed_until(&blocking), blocking, ..Lanes::default() };
        assert_eq!(lanes.owed(120, 1_000), [(Fault, 30), (ClientStall, 50)]);
        // Of what its time can hold, the most recent.
        assert_eq!(lanes.owed(120, 50), [(ClientStall, 50)]);
    }
}
