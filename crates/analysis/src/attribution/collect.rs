//! The second scan: which requests are slow, and when each backlog was over.

use super::causes::Observed;
use super::usual::Ends;
use super::{Cause, SlowLimit, Threshold};
use crate::accumulate::{Accumulator, times_of};
use crate::cell::{NONE, Times};
use crate::host::HostEvidence;
use crate::input::{Input, Options, Plan};
use crate::limits::{MOST_BEHIND, MOST_SLOW};
use record::{Measure, SampleBatch};
use stats::View;
use units::{Nanos, Outcome, Quantile};

/// A slow request, ns on the common axis; 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slow {
    /// Intended, or sent in a closed loop; the others follow in order, the last being completed.
    pub(super) at: u64,
    pub(super) ready: u64,
    pub(super) sent: u64,
    /// `completed` where there is no stamp: then pick-up is in the service time.
    pub(super) arrived: u64,
    pub(super) completed: u64,
    pub(super) seq: u64,
    pub(super) recording: u16,
    pub(super) client: u16,
    pub(super) session: u16,
    pub(super) op: u8,
    pub(super) outcome: Outcome,
    pub(super) is_stamped: bool,
    /// Whether it is known when a session was free for it; of imports it is not.
    pub(super) knows_ready: bool,
}

impl Slow {
    pub(super) fn whole(&self) -> u64 {
        self.completed - self.at
    }

    /// Longest first; ties go by number, so that threads don't matter.
    fn rank(&self) -> (std::cmp::Reverse<u64>, u64, u16) {
        (std::cmp::Reverse(self.whole()), self.seq, self.client)
    }
}

/// What the second scan looks for.
pub(crate) struct Hunt {
    pub(super) observed: Observed,
    pub(super) threshold: Threshold,
    has_response: bool,
    operations: Vec<String>,
    /// By operation: slow from here on, ns; `u64::MAX` without requests.
    limits: Vec<u64>,
    /// By operation: the median of the service time, ns.
    usual_service: Vec<u64>,
    /// By recording: ends of all that blocks.
    ends: Vec<Ends>,
    /// By recording: whether the verdict weighs stalls of its host, and what stands behind them.
    has_stalls: Vec<bool>,
    pub(super) worst: usize,
}

impl Hunt {
    /// `host` has the stalls that the verdict weighs: where their backlogs end is found on the way.
    pub(crate) fn new(
        inputs: &[Input],
        plan: &Plan,
        all: &Accumulator,
        options: &Options,
        host: &HostEvidence,
    ) -> Hunt {
        let header = &inputs[0].info.header;
        let threshold = options.above.map_or(Threshold::ByOperation, Threshold::Above);
        let has_response = plan.model.has_response_time();
        let (mut limits, mut medians, mut usual_service) = (Vec::new(), Vec::new(), Vec::new());
        for operation in 0..plan.operations {
            let (limit, (whole, service)) = operation_limits(plan, all, operation, threshold);
            limits.push(limit);
            medians.push(whole);
            usual_service.push(service);
        }
        let observed = Observed::of(inputs, plan);
        let ends = observed.met.iter().enumerate().map(|(recording, met)| {
            let blocking = Cause::ALL.into_iter().filter(|cause| cause.blocks());
            let of_causes = blocking.flat_map(|cause| met.of(cause)).map(|i| (i.1, i.0));
            let spans = of_causes.chain(host.spans(recording)).collect();
            Ends::new(spans, &medians, &all.answered)
        });
        let ends = ends.collect();
        let operations = header.operations.clone();
        let has_stalls = (0..inputs.len()).map(|recording| host.spans(recording).next().is_some()).collect();
        let worst = options.worst;
        Hunt { observed, threshold, has_response, operations, limits, usual_service, ends, has_stalls, worst }
    }

    pub(super) fn measure(&self) -> Measure {
        if self.has_response { Measure::Response } else { Measure::Service }
    }

    /// The operation's name.
    pub(super) fn operation(&self, op: u8) -> &str {
        self.operations.get(usize::from(op)).map_or("", String::as_str)
    }

    /// The median service time of the operation, ns.
    pub(super) fn usual_service(&self, op: u8) -> u64 {
        self.usual_service.get(usize::from(op)).copied().unwrap_or(0)
    }

    /// When the backlog of what ended at `end` was over: the first request that began after it and took no longer than
    /// usual; `u64::MAX` when there is none.
    pub(crate) fn recovered(&self, recording: usize, end: u64, collected: &Collected) -> u64 {
        let from = self.ends[recording].at.partition_point(|other| *other < end);
        collected.recovered.get(recording).and_then(|list| list.get(from)).copied().unwrap_or(u64::MAX)
    }

    /// The limits of operations that have requests, with how many are slow.
    pub(super) fn slow_limits(&self, counts: &[u64]) -> Vec<SlowLimit> {
        let with_requests = self.limits.iter().zip(counts).zip(&self.operations);
        let limit = |((limit, requests), operation): ((&u64, &u64), &String)| SlowLimit {
            operation: operation.clone(),
            limit: Nanos(*limit),
            requests: *requests,
        };
        with_requests.filter(|((limit, _), _)| **limit != u64::MAX).map(limit).collect()
    }
}

/// From when on a request of the operation is slow, and the medians of its whole and of its service time.
fn operation_limits(
    plan: &Plan,
    all: &Accumulator,
    operation: usize,
    threshold: Threshold,
) -> (u64, (u64, u64)) {
    let cell = all.gather(plan, |_, op, phase| op == operation && plan.phases[phase].measured);
    let Some(cell) = cell else { return (u64::MAX, (0, 0)) };
    let whole = if plan.model.has_response_time() { Measure::Response } else { Measure::Service };
    let view = cell.measure(whole).view();
    let bucket = |view: &View<'_>, q: f64| {
        let rank = Quantile::new(q)?.rank(view.ranks().count());
        view.ranks().at(rank)
    };
    // The upper limit of a bucket: of constant times, all are usual.
    let median = |view: &View<'_>| bucket(view, 0.5).map_or(0, |(_, high)| high);
    let limit = match threshold {
        Threshold::Above(limit) => limit.0.saturating_add(1),
        Threshold::ByOperation => match bucket(&view, 0.999) {
            Some((_, high)) if view.ranks().above(high) > 0 => high + 1,
            // Of fewer than a thousand, the longest; where all are alike, none is slow.
            Some((low, _)) if low > median(&view) => low,
            _ => u64::MAX,
        },
    };
    (limit, (median(&view), median(&cell.measure(Measure::Service).view())))
}

/// A request that may stand behind something that blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Behind {
    pub(crate) recording: usize,
    /// When it began, on the common axis.
    pub(crate) at: u64,
    /// What it took, ns.
    pub(crate) whole: u64,
}

/// What one thread of the second scan found, or all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collected {
    pub(super) slow: Vec<Slow>,
    /// Slow requests by operation, those that were not kept too.
    pub(super) counts: Vec<u64>,
    /// By recording, and then by end of what blocks: begin of the first request that took no longer than usual before the
    /// next such end; after [`Collected::finish`] before any.
    recovered: Vec<Vec<u64>>,
    /// Measured requests that took longer than usual and began before any that is known not to have, after something that
    /// blocked; some too many until all is known.
    pub(crate) behind: Vec<Behind>,
    /// Whether there were more than are kept: then none is.
    pub(crate) is_behind_full: bool,
    /// Slow requests that are kept.
    most: usize,
    /// Requests below can't be among the slowest any more.
    floor: u64,
}

impl Collected {
    pub(crate) fn new(hunt: &Hunt) -> Collected {
        Collected {
            slow: Vec::new(),
            counts: vec![0; hunt.limits.len()],
            recovered: hunt.ends.iter().map(|ends| vec![u64::MAX; ends.at.len()]).collect(),
            behind: Vec::new(),
            is_behind_full: false,
            most: MOST_SLOW,
            floor: 0,
        }
    }

    /// Adds a batch of the recording with this index; ≈ 10 ns a sample, and a search among the causes' ends.
    pub(crate) fn add(&mut self, plan: &Plan, hunt: &Hunt, recording: usize, batch: &SampleBatch) {
        let client = plan.clients[recording].unwrap_or(batch.client);
        let shift = plan.shifts[recording];
        for index in 0..batch.len() {
            let (op, phase) = (usize::from(batch.op[index]), usize::from(batch.phase[index]));
            if op >= plan.operations || phase >= plan.phases.len() {
                continue;
            }
            let Some((times, _)) = times_of(batch, index, shift, client, hunt.has_response) else { continue };
            let whole = times.whole(hunt.has_response);
            if whole == NONE {
                continue;
            }
            // A failure may be fast while the backlog lasts.
            match hunt.ends[recording].over(op, times.at, whole).filter(|_| times.outcome == Outcome::Ok) {
                Some(end) => self.note_usual(recording, end, times.at),
                None if plan.phases[phase].measured && hunt.has_stalls[recording] => {
                    self.note_behind(hunt, Behind { recording, at: times.at, whole });
                }
                None => {}
            }
            if whole >= hunt.limits[op] && plan.phases[phase].measured {
                self.counts[op] += 1;
                if whole >= self.floor {
                    self.slow.push(slow(&times, batch.session[index], recording, hunt.has_response));
                    self.prune(self.most + self.most / 4);
                }
            }
        }
    }

    /// A request that took no longer than usual met no backlog: that behind `end` was over when it began.
    fn note_usual(&mut self, recording: usize, end: usize, at: u64) {
        if let Some(first) = self.recovered[recording].get_mut(end) {
            *first = at.min(*first);
        }
    }

    /// A request that took longer may have met one. In order of time few are kept that did not: those after the first usual
    /// one are none.
    fn note_behind(&mut self, hunt: &Hunt, request: Behind) {
        if self.is_behind_full || !self.is_behind(hunt, &request) {
            return;
        }
        self.behind.push(request);
        if self.behind.len() >= MOST_BEHIND {
            let mut behind = std::mem::take(&mut self.behind);
            behind.retain(|request| self.is_behind(hunt, request));
            self.is_behind_full = behind.len() > MOST_BEHIND / 2;
            self.behind = if self.is_behind_full { Vec::new() } else { behind };
        }
    }

    fn is_behind(&self, hunt: &Hunt, request: &Behind) -> bool {
        let ended = hunt.ends[request.recording].at.partition_point(|end| *end <= request.at);
        ended.checked_sub(1).is_some_and(|last| request.at < self.recovered[request.recording][last])
    }

    /// Keeps the slowest when there are more than `limit`, which is no less than what is kept.
    fn prune(&mut self, limit: usize) {
        if self.slow.len() > limit {
            self.slow.select_nth_unstable_by_key(self.most - 1, Slow::rank);
            self.slow.truncate(self.most);
            self.floor = self.slow.iter().map(Slow::whole).min().unwrap_or(0);
        }
    }

    pub(crate) fn merge(&mut self, other: Collected) {
        self.slow.extend(other.slow);
        self.prune(self.most);
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.behind.extend(other.behind);
        self.is_behind_full |= other.is_behind_full;
        for (mine, theirs) in self.recovered.iter_mut().zip(other.recovered) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a = b.min(*a));
        }
    }

    /// Sorts the slowest to the front, and lets each end know of the first usual request after it.
    pub(crate) fn finish(&mut self) {
        self.prune(self.most);
        self.slow.sort_unstable_by_key(Slow::rank);
        for list in &mut self.recovered {
            let mut next = u64::MAX;
            for first in list.iter_mut().rev() {
                next = next.min(*first);
                *first = next;
            }
        }
    }
}

/// A request's stages, in order whatever its stamps say.
fn slow(times: &Times, session: u16, recording: usize, has_response: bool) -> Slow {
    let (at, completed) = (times.at, times.completed.max(times.at));
    let wait = if has_response { times.pool_wait() } else { 0 };
    let ready = if wait == NONE { at } else { at.saturating_add(wait).min(completed) };
    let knows_ready = !has_response || times.lag() != NONE || times.pool_wait() != NONE;
    let sent = match (times.was_sent, knows_ready) {
        (true, _) => completed.saturating_sub(times.service()),
        (false, true) => completed,
        // It was answered, and nobody knows when it was sent.
        (false, false) => at,
    };
    let sent = sent.clamp(ready, completed);
    let is_stamped = times.pick_up() != NONE;
    let picked_up = if is_stamped { times.pick_up() } else { 0 };
    Slow {
        at,
        ready,
        sent,
        arrived: completed.saturating_sub(picked_up).clamp(sent, completed),
        completed,
        seq: times.seq,
        recording: u16::try_from(recording).unwrap_or(u16::MAX),
        client: times.client,
        session,
        op: times.op,
        outcome: times.outcome,
        is_stamped,
        knows_ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(seq: u64, whole: u64) -> Slow {
        Slow {
            at: seq,
            ready: seq,
            sent: seq,
            arrived: seq + whole,
            completed: seq + whole,
            seq,
            recording: 0,
            client: 0,
            session: 0,
            op: 0,
            outcome: Outcome::Ok,
            is_stamped: false,
            knows_ready: true,
        }
    }

    #[test]
    fn of_too_many_the_slowest_stay_whatever_the_division() {
        let lengths: Vec<u64> = (0..1_000).map(|i| i * 7_919 % 500).collect();
        let collect = |parts: usize| {
            let mut all = vec![Collected { most: 100, ..Collected::default() }; parts];
            for (seq, length) in lengths.iter().enumerate() {
                let part = &mut all[seq % parts];
                if *length >= part.floor {
                    part.slow.push(slow(seq as u64, *length));
                    part.prune(125);
                }
            }
            let mut first = all.swap_remove(0);
            all.into_iter().for_each(|other| first.merge(other));
            first.finish();
            first.slow
        };
        let found = collect(1);
        assert_eq!(found, collect(4));
        let expected: Vec<u64> = (0..50).flat_map(|i| [499 - i, 499 - i]).collect();
        assert_eq!(found.iter().map(Slow::whole).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_backlog_is_over_with_the_first_usual_request_after_it() {
        let mut all = Collected { recovered: vec![vec![u64::MAX, 50, u64::MAX, 90]], ..Collected::default() };
        all.finish();
        assert_eq!(all.recovered, [[50, 50, 90, 90]]);
    }
}
