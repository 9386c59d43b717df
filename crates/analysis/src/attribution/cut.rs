//! A request's time, cut into pieces.

use super::collect::Slow;
use super::lanes::{Lanes, within};
use super::{Cause, Piece};
use units::{Instant, Nanos};

/// Cuts a request's interval: in order, without gaps, each piece above zero; they sum to its time. `usual_service` is
/// what its operation's service takes anyway, ns.
pub(super) fn cut(slow: &Slow, lanes: &Lanes, usual_service: u64) -> Vec<Piece> {
    let mut cut = Cut {
        lanes,
        debts: lanes.owed(slow.at, slow.whole()),
        own_from: slow.arrived.saturating_sub(usual_service),
        pieces: Vec::new(),
    };
    cut.stage(Cause::PoolWait, slow.at, slow.ready);
    cut.stage(if slow.knows_ready { Cause::Lag } else { Cause::BeforeSending }, slow.ready, slow.sent);
    cut.stage(Cause::Database, slow.sent, slow.arrived);
    cut.stage(Cause::PickUp, slow.arrived, slow.completed);
    cut.pieces
}

struct Cut<'a> {
    lanes: &'a Lanes,
    /// What is still owed, the most recent last.
    debts: Vec<(Cause, u64)>,
    /// From here on, the service is no longer than usual: nothing is owed of it.
    own_from: u64,
    pieces: Vec<Piece>,
}

impl Cut<'_> {
    /// One stage of the request: what blocks, and between it the rest.
    fn stage(&mut self, stage: Cause, from: u64, to: u64) {
        let lanes = self.lanes;
        let mut at = from;
        for segment in within(&lanes.blocking, from, to) {
            // The harness's delay that runs into a stall is the stall's, which is seen late.
            let is_late = segment.cause.is_stall() && matches!(stage, Cause::Lag | Cause::PickUp);
            let unseen = if is_late { lanes.unseen } else { 0 };
            let begin = segment.begin.saturating_sub(unseen).max(at);
            self.uncovered(stage, at, begin);
            let end = segment.end.min(to);
            self.push(segment.cause, begin, end, false);
            at = end;
        }
        self.uncovered(stage, at, to);
    }

    /// Time that nothing blocks: what is owed, then what slows, then the stage itself.
    fn uncovered(&mut self, stage: Cause, from: u64, to: u64) {
        let until = if stage == Cause::Database { to.min(self.own_from.max(from)) } else { to };
        let mut at = from;
        while let Some((cause, debt)) = self.debts.last().copied().filter(|_| at < until) {
            let paid = debt.min(until - at);
            self.push(cause, at, at + paid, true);
            at += paid;
            match debt - paid {
                0 => drop(self.debts.pop()),
                left => {
                    if let Some(last) = self.debts.last_mut() {
                        last.1 = left;
                    }
                }
            }
        }
        let lanes = self.lanes;
        for segment in within(lanes.slowing(stage), at, to) {
            let begin = segment.begin.max(at);
            self.push(stage, at, begin, false);
            at = segment.end.min(to);
            self.push(segment.cause, begin, at, false);
        }
        self.push(stage, at, to, false);
    }

    fn push(&mut self, cause: Cause, begin: u64, end: u64, is_behind: bool) {
        if begin >= end {
            return;
        }
        let length = Nanos(end - begin);
        match self.pieces.last_mut() {
            Some(last) if last.cause == cause && last.is_behind == is_behind => last.length.0 += length.0,
            _ => self.pieces.push(Piece { cause, begin: Instant(begin), length, is_behind }),
        }
    }
}
