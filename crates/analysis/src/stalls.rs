//! Stalls of a host, and which share of the requests each can have met.
//!
//! A stall of one CPU does not stop all requests, but how many it stops is not the share of the CPUs: a server of one
//! thread on one CPU of sixteen has part in each of them. So each side, the client and a server on the same host, is
//! weighed by what it can run on: the smaller of its CPUs and its threads, where the recording tells them; where it does
//! not, a stall of any CPU is met by all requests.

use crate::attribution::Users;
use crate::floor::is_here;
use record::RunHeader;
use std::collections::BTreeSet;

/// A time in which a host did not run, or a part of its window whose place is not known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Stall {
    /// Its window on the common axis, ns.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// How long, ns; at most the window.
    pub(crate) length: f64,
    /// Share of the requests of that time that it can have met, in (0, 1].
    pub(crate) met: f64,
    /// Whose host it was: index of the recording.
    pub(crate) recording: usize,
    /// The longest that a request can owe to it and to those whose backlogs it lengthened, ns; at least its length.
    pub(crate) depth: f64,
    /// When the backlog behind it was over at the latest, on the common axis; its end where that is not known yet.
    pub(crate) over: u64,
}

impl Stall {
    /// Of all requests, and without a backlog.
    pub(crate) fn new(recording: usize, begin: u64, end: u64, length: f64) -> Stall {
        Stall { begin, end, length, met: 1.0, recording, depth: length, over: end }
    }
}

/// The backlog behind something lasts no longer than so many times its length: of a system that is loaded to 96 % and can
/// do all that it is asked for. Where requests stay slow for longer, something else makes them so.
const LONGEST_BACKLOG: u64 = 25;

/// When the backlog behind what ended at `end` and was of this length is over at the latest.
pub(crate) fn longest_backlog(end: u64, length: u64) -> u64 {
    end.saturating_add(length.saturating_mul(LONGEST_BACKLOG))
}

/// Until when each of many things lasts, in the order in which they ended: few that last long among many that don't.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lasting {
    until: Vec<u64>,
    /// The latest of each [`BLOCK`] of them.
    latest: Vec<u64>,
}

/// Things of which one look tells whether any lasts.
const BLOCK: usize = 64;

impl Lasting {
    pub(crate) fn push(&mut self, until: u64) {
        if self.until.len().is_multiple_of(BLOCK) {
            self.latest.push(0);
        }
        self.until.push(until);
        if let Some(latest) = self.latest.last_mut() {
            *latest = until.max(*latest);
        }
    }

    /// The indices of those of the first `count` that last beyond `at`, the last one first. Cost: a look at each block, and one
    /// at each of a block of which any lasts.
    pub(crate) fn beyond(&self, count: usize, at: u64) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.latest[..count.div_ceil(BLOCK)].iter().enumerate().rev();
        let lasting = blocks.filter(move |(_, latest)| **latest > at);
        let indices =
            lasting.flat_map(move |(block, _)| (block * BLOCK..count.min((block + 1) * BLOCK)).rev());
        indices.filter(move |index| self.until[*index] > at)
    }
}

/// Adds to each stall when its backlog was over, in order of recordings and time: when a request showed it, and no later than
/// backlogs last. A stall within the backlog of another one makes it longer: a request can owe something to both. Gives the
/// ends of all backlogs.
pub(crate) fn with_backlogs(stalls: &mut [Stall], recovered: impl Fn(usize, u64) -> u64) -> Lasting {
    stalls.sort_by_key(|stall| (stall.recording, stall.end, stall.begin));
    let mut backlogs = Lasting::default();
    for index in 0..stalls.len() {
        let (before, rest) = stalls.split_at_mut(index);
        let stall = &mut rest[0];
        let longest = longest_backlog(stall.end, stall.length as u64);
        stall.over = recovered(stall.recording, stall.end).max(stall.end).min(longest);
        // Where within its window it lay is not known: at its end, if the backlog did not last that long.
        let begin = stall.end.saturating_sub(stall.length as u64);
        stall.depth = stall.length + owed(before, &backlogs, stall.recording, begin);
        backlogs.push(stall.over);
    }
    backlogs
}

/// Of stalls and their backlogs as [`with_backlogs`] leaves them, the longest that a request can owe to all those in whose
/// backlogs it begins.
pub(crate) fn owed_behind(stalls: &[Stall], backlogs: &Lasting, recording: usize, at: u64) -> f64 {
    let ended = stalls.partition_point(|stall| (stall.recording, stall.end) <= (recording, at));
    owed(&stalls[..ended], backlogs, recording, at)
}

/// The lengths of those of these stalls whose backlogs have not ended at `at`.
fn owed(ended: &[Stall], backlogs: &Lasting, recording: usize, at: u64) -> f64 {
    let alive = backlogs.beyond(ended.len(), at).map(|index| &ended[index]);
    alive.take_while(|stall| stall.recording == recording).map(|stall| stall.length).sum()
}

/// What one side of the requests can run on.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Side {
    /// `None` where the recording does not tell.
    cpus: Option<BTreeSet<usize>>,
    /// Threads that its requests are spread over, at most; at least 1.
    threads: usize,
}

impl Side {
    /// Share of its requests that stalls of these CPUs can meet at most, all other CPUs being free.
    fn share(&self, stalled: &BTreeSet<usize>) -> f64 {
        let Some(cpus) = &self.cpus else { return 1.0 };
        let places = cpus.len().min(self.threads).max(1);
        (cpus.intersection(stalled).count() as f64 / places as f64).min(1.0)
    }
}

/// Both sides, as far as they are on the host that was watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sides {
    client: Side,
    /// `None` where the server is elsewhere, or part of the client.
    server: Option<Side>,
}

/// The transport of a database that is part of the client.
const IN_PROCESS: &str = "in-process";
/// The product whose sessions have a process each; all others count as one thread.
const PROCESS_PER_SESSION: &str = "PostgreSQL";

impl Sides {
    pub(crate) fn of(header: &RunHeader) -> Sides {
        let users = Users::of(header);
        let threads = |count: u32| usize::try_from(count).unwrap_or(usize::MAX).max(1);
        let client = Side { cpus: users.client, threads: threads(header.load.workers) };
        let is_unknown_here = users.server_unknown.is_some() || may_be_here(header);
        let is_elsewhere = is_embedded(header) || (users.server.is_none() && !is_unknown_here);
        let of_server = match fact(header, "product") {
            Some(PROCESS_PER_SESSION) => threads(header.load.sessions),
            _ => 1,
        };
        let server = Side { cpus: users.server, threads: of_server };
        Sides { client, server: (!is_elsewhere).then_some(server) }
    }

    /// Share of the requests that stalls of these CPUs can meet: a request needs both sides.
    fn met(&self, stalled: &BTreeSet<usize>) -> f64 {
        let server = self.server.as_ref().map_or(0.0, |server| server.share(stalled));
        (self.client.share(stalled) + server).min(1.0)
    }
}

fn fact<'a>(header: &'a RunHeader, name: &str) -> Option<&'a str> {
    header.target_facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// Whether the database is part of the client.
pub(crate) fn is_embedded(header: &RunHeader) -> bool {
    fact(header, "transport") == Some(IN_PROCESS)
}

/// Whether the server may be on the host that was watched: by the words of its URL, or where those say nothing.
fn may_be_here(header: &RunHeader) -> bool {
    let host = crate::floor::host(&header.target);
    is_here(host) || host == header.host.name
}

/// Stalls of single CPUs, as those of the host: a stop of all of them is one, not as many as there are CPUs. What
/// neither side runs on is left out.
pub(crate) fn united(mut stalls: Vec<(usize, Stall)>, sides: &Sides) -> impl Iterator<Item = Stall> + '_ {
    stalls.sort_unstable_by_key(|(_, stall)| (stall.begin, stall.end));
    let mut groups: Vec<(BTreeSet<usize>, Stall)> = Vec::with_capacity(stalls.len());
    for (cpu, stall) in stalls {
        match groups.last_mut() {
            Some((part, last)) if stall.begin <= last.end => {
                part.insert(cpu);
                last.end = last.end.max(stall.end);
                last.length = (last.end - last.begin) as f64;
                *last =
                    Stall { met: last.met, ..Stall::new(last.recording, last.begin, last.end, last.length) };
            }
            _ => groups.push(([cpu].into(), stall)),
        }
    }
    let weighed = groups.into_iter().map(|(part, stall)| Stall { met: sides.met(&part), ..stall });
    weighed.filter(|stall| stall.met > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(begin: u64, end: u64) -> Stall {
        Stall::new(0, begin, end, (end - begin) as f64)
    }

    #[test]
    fn a_backlog_has_the_depth_of_all_stalls_that_made_it() {
        let recovered = |recording: usize, end: u64| match (recording, end) {
            (0, 20) => 90, // the second one begins in its backlog
            (0, 60) => 90,
            (1, 20) => 30, // the second one does not
            (1, 60) => u64::MAX,
            _ => panic!("no such stall: {recording} {end}"),
        };
        let of = |recording: usize| {
            [(50, 60), (0, 20)].map(|(begin, end)| Stall { recording, ..stall(begin, end) })
        };
        let mut all = [of(1), of(0)].concat();
        let backlogs = with_backlogs(&mut all, recovered);
        let found: Vec<(usize, f64, u64)> = all.iter().map(|s| (s.recording, s.depth, s.over)).collect();
        assert_eq!(found, [(0, 20.0, 90), (0, 30.0, 90), (1, 20.0, 30), (1, 10.0, 310)]);
        let depth = |recording, at| owed_behind(&all, &backlogs, recording, at);
        assert_eq!([19, 20, 59, 60, 89, 90].map(|at| depth(0, at)), [0.0, 20.0, 20.0, 30.0, 30.0, 0.0]);
        assert_eq!([5, 20, 30, 59, 309, 310].map(|at| depth(1, at)), [0.0, 20.0, 0.0, 0.0, 10.0, 0.0]);
    }

    /// Where requests stay slow for good, each stall is over by itself: many short ones never add up to a long one.
    #[test]
    fn backlogs_that_nobody_saw_end_are_over_by_their_lengths() {
        let short = (0..100).map(|i| stall(1_000 + 20 * i, 1_001 + 20 * i));
        let mut all: Vec<Stall> = [stall(0, 50)].into_iter().chain(short).collect();
        let backlogs = with_backlogs(&mut all, |_, _| u64::MAX);
        let depth = |at| owed_behind(&all, &backlogs, 0, at);
        assert_eq!([999, 1_001, 1_024].map(depth), [50.0, 51.0, 52.0]);
        // 50 · 25 after the long one only those count that ended in the last 25.
        assert_eq!([1_299, 1_300, 2_981, 3_005, 3_006].map(depth), [51.0, 1.0, 2.0, 1.0, 0.0]);
    }

    /// A long stall, and thousands of short ones in its backlog: what begins in it owes it all of its length.
    #[test]
    fn many_short_stalls_do_not_hide_a_long_one() {
        let long = stall(0, 2_000_000);
        let short = (0..9_000).map(|i| stall(2_000_000 + 5_000 * i, 2_000_010 + 5_000 * i));
        let mut all: Vec<Stall> = [long].into_iter().chain(short).collect();
        let backlogs = with_backlogs(&mut all, |_, _| u64::MAX);
        // Each short one is over after 260 ns.
        assert_eq!(owed_behind(&all, &backlogs, 0, 40_000_100), 2_000_010.0);
        assert_eq!(owed_behind(&all, &backlogs, 0, 40_004_000), 2_000_000.0);
        assert_eq!(owed_behind(&all, &backlogs, 1, 40_004_000), 0.0);
        assert!(all[1..].iter().all(|stall| stall.depth == 2_000_010.0));
    }

    #[test]
    fn what_lasts_is_found_as_a_look_at_each_finds_it() {
        let until = |i: u64| i * 7_919 % 1_000 + 40 * u64::from(i.is_multiple_of(97)) * 100;
        let mut lasting = Lasting::default();
        (0..1_000).for_each(|i| lasting.push(until(i)));
        for (count, at) in [(0, 0), (1, 0), (63, 500), (64, 0), (65, 999), (1_000, 998), (1_000, 4_500)] {
            let slow: Vec<usize> = (0..count).rev().filter(|i| until(*i as u64) > at).collect();
            assert_eq!(lasting.beyond(count, at).collect::<Vec<_>>(), slow, "{count} {at}");
        }
    }

    fn side(cpus: std::ops::Range<usize>, threads: usize) -> Side {
        Side { cpus: Some(cpus.collect()), threads }
    }

    #[test]
    fn stalls_of_several_cpus_are_taken_together_and_weighed_by_their_part() {
        let both = |cpus: usize| Sides { client: side(0..cpus, 64), server: Some(side(0..cpus, 64)) };
        let all = |cpus: usize| (0..cpus).map(|cpu| (cpu, stall(10, 20)));
        let found = |stalls: Vec<(usize, Stall)>, cpus| united(stalls, &both(cpus)).collect::<Vec<_>>();
        // One CPU of two may be either side of any request; one of eight is a part of a quarter of them.
        assert_eq!(found(vec![(1, stall(10, 20))], 2), [stall(10, 20)]);
        assert_eq!(found(vec![(1, stall(10, 20))], 8), [Stall { met: 0.25, ..stall(10, 20) }]);
        assert_eq!(found(all(8).collect(), 8), [stall(10, 20)]);
        // Out of order, overlapping by a part, touching; two on one CPU are of one CPU.
        let stalls = vec![(0, stall(40, 50)), (3, stall(15, 30)), (3, stall(30, 31)), (2, stall(10, 20))];
        let quarter = |stall| Stall { met: 0.25, ..stall };
        assert_eq!(found(stalls, 16), [quarter(stall(10, 31)), Stall { met: 0.125, ..stall(40, 50) }]);
    }

    #[test]
    fn a_side_on_one_cpu_or_of_one_thread_has_part_in_every_request() {
        let met = |cpu, client: Side, server: Option<Side>| {
            let sides = Sides { client, server };
            united(vec![(cpu, stall(0, 9))], &sides).map(|stall| stall.met).sum::<f64>()
        };
        // A server pinned to CPU 5 of 16, one that may use all of them with one thread, and one worker.
        assert_eq!(met(5, side(0..16, 16), Some(side(5..6, 8))), 1.0);
        assert_eq!(met(4, side(0..16, 16), Some(side(5..6, 8))), 1.0 / 16.0);
        assert_eq!(met(9, side(0..2, 2), Some(side(0..16, 1))), 1.0);
        assert_eq!(met(9, side(0..16, 1), None), 1.0);
        assert_eq!(met(0, side(0..16, 4), None), 0.25);
        // Of a CPU that neither side uses, nobody notices; of CPUs that are not known, all may.
        assert_eq!(met(9, side(0..2, 2), Some(side(2..4, 2))), 0.0);
        assert_eq!(met(9, Side { cpus: None, threads: 8 }, None), 1.0);
        assert_eq!(met(9, side(0..2, 2), Some(Side { cpus: None, threads: 8 })), 1.0);
    }
}
