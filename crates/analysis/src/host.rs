//! What the noise sources saw of the measuring hosts in the measured time.

use crate::attribution::{Collected, Hunt, cpus, unseen};
use crate::input::{Input, Plan, measured_span};
use crate::limits::{
    CLIENT_CPU_HIGH, STALL_SOURCES, STALL_WATCH, STALLS_OF_CPU, UNWATCHED_END_NS, UNWATCHED_SHARE,
};
use crate::stalls::{Sides, Stall, is_embedded, owed_behind, united, with_backlogs};
use crate::stated::facts;
use record::{Ending, LoadModel};
use std::collections::BTreeSet;

/// Evidence on the hosts, all clients together.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct HostEvidence {
    /// With their backlogs, once [`HostEvidence::add_backlogs`] has been called; then in order.
    pub(crate) stalls: Vec<Stall>,
    /// Measured requests that began in a backlog and took longer than usual: what each took, and the longest that it can owe
    /// to stalls, ns.
    pub(crate) behind: Vec<(u64, f64)>,
    /// Whether there were too many of them: then the time that the backlogs took counts.
    pub(crate) is_behind_full: bool,
    /// Measured requests of all clients.
    pub(crate) requests: u64,
    /// The end of the measured time on the common axis, ns.
    pub(crate) end: u64,
    /// Whether a source that sees every kind of stall was available in every recording.
    pub(crate) stalls_watched: bool,
    /// Measured time of all clients together, ns.
    pub(crate) measured_ns: f64,
    /// Stolen time over the time of the CPUs that it is of.
    pub(crate) steal_share: f64,
    /// Throttled time over the time of the CPUs that the client may use: the kernel sums it over CPUs.
    pub(crate) throttled_share: f64,
    /// Recordings in which hiccup threads stood still although no stall was told, and for how long, ns.
    pub(crate) unseen: Vec<(String, f64)>,
    /// Share of client CPU time of the busiest client: mean, and how much of the time it was at its limit.
    pub(crate) client_cpu: Option<(f64, f64)>,
    /// The same of what its load's threads can use, and whether spinning is in it.
    pub(crate) load_cpu: Option<(f64, f64, bool)>,
}

impl HostEvidence {
    pub(crate) fn of(inputs: &[Input], plan: &Plan) -> HostEvidence {
        let mut all = HostEvidence { stalls_watched: !inputs.is_empty(), ..HostEvidence::default() };
        let (mut stolen, mut stolen_of) = (0.0, 0.0);
        let (mut throttled, mut throttled_of) = (0.0, 0.0);
        for (index, input) in inputs.iter().enumerate() {
            let one =
                Readings { input, recording: index, shift: plan.shifts[index], span: measured_span(input) };
            let measured = one.span.1.0.saturating_sub(one.span.0.0) as f64;
            all.measured_ns += measured;
            all.end = all.end.max(one.span.1.0.saturating_add(one.shift));
            let own_cpus = f64::from(input.info.header.host.cpus.max(1));
            stolen_of += measured * one.steal_cpus().unwrap_or(own_cpus);
            stolen += one.total("steal");
            throttled_of += measured * own_cpus;
            throttled += one.total("throttled");
            all.stalls_watched &= STALL_WATCH.iter().any(|name| one.is_available(name));
            one.add_all_stalls(&mut all.stalls);
            all.unseen.extend(one.unseen().map(|time| (input.info.name.clone(), time)));
            let busier = |a: (f64, f64), b: (f64, f64)| if b.0 > a.0 { b } else { a };
            all.client_cpu = all.client_cpu.into_iter().chain(one.busy("client-cpu")).reduce(busier);
            let of_load = one.of_load();
            let busier = |a: (f64, f64, bool), b: (f64, f64, bool)| if b.0 > a.0 { b } else { a };
            all.load_cpu = all.load_cpu.into_iter().chain(of_load).reduce(busier);
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        all.steal_share = share(stolen, stolen_of);
        all.throttled_share = share(throttled, throttled_of);
        all
    }

    /// End and begin of stalls of this recording's host, on the common axis.
    pub(crate) fn spans(&self, recording: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let of_recording = self.stalls.iter().filter(move |stall| stall.recording == recording);
        of_recording.map(|stall| (stall.end, stall.begin))
    }

    /// What stood behind the stalls of `requests` measured requests, once all samples were collected and finished.
    pub(crate) fn add_backlogs(&mut self, requests: u64, hunt: &Hunt, collected: &Collected) {
        let recovered = |recording, end| hunt.recovered(recording, end, collected);
        let backlogs = with_backlogs(&mut self.stalls, recovered);
        let owes = collected.behind.iter().filter_map(|request| {
            let owed = owed_behind(&self.stalls, &backlogs, request.recording, request.at);
            (owed > 0.0).then_some((request.whole, owed))
        });
        self.behind = owes.collect();
        (self.requests, self.is_behind_full) = (requests, collected.is_behind_full);
    }

    /// Share of requests that stalls can have delayed by `delay_ns` or more: those that arrived while at least that much
    /// of one was left, were it in one piece; and of those in its backlog, which may owe as much, the ones that took
    /// `value_ns` or more.
    pub(crate) fn hit_share(&self, delay_ns: f64, value_ns: f64) -> f64 {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let within = |s: &Stall| s.met * (s.depth - delay_ns).clamp(0.0, s.length);
        let reach: f64 = self.stalls.iter().map(within).sum();
        let is_behind = |&&(whole, depth): &&(u64, f64)| depth > delay_ns && whole as f64 >= value_ns;
        let behind = self.behind.iter().filter(is_behind).count() as f64;
        let too_many = if self.is_behind_full { self.time_behind(delay_ns) } else { 0.0 };
        (share(reach + too_many, self.measured_ns) + share(behind, self.requests as f64)).min(1.0)
    }

    /// The time of all backlogs in which requests may owe more than that, ns.
    fn time_behind(&self, delay_ns: f64) -> f64 {
        let mut known = (usize::MAX, 0);
        let length = |stall: &Stall| {
            let from = if known.0 == stall.recording { stall.end.max(known.1) } else { stall.end };
            let to = stall.over.min(self.end);
            known = (stall.recording, to.max(from));
            to.saturating_sub(from) as f64
        };
        self.stalls.iter().filter(|stall| stall.depth > delay_ns).map(length).sum()
    }

    /// Whether a stall of `delay_ns` or more, or the backlog behind one, may lie within [begin, end].
    pub(crate) fn hits(&self, begin: u64, end: u64, delay_ns: f64) -> bool {
        self.stalls.iter().any(|s| s.begin <= end && begin <= s.over && s.depth >= delay_ns)
    }
}

/// How the arrivals of a closed loop read that asks again at once.
const NO_THINK_TIME: &str = "think none";
/// In the words of a pacing that spins before a request is due.
const SPIN: &str = "spin";

/// One recording's readings.
struct Readings<'a> {
    input: &'a Input,
    /// Its index.
    recording: usize,
    shift: u64,
    /// Measured time on the recording's own axis.
    span: (units::Instant, units::Instant),
}

impl Readings<'_> {
    fn is_available(&self, name: &str) -> bool {
        self.input.noise_sources.iter().any(|s| s.name == name && s.available.is_ok())
    }

    /// Those whose place is known where there are some; else what lies somewhere within windows. Never both: stolen
    /// time and a limit's stop are seen as hiccups, too, and would count twice.
    fn add_all_stalls(&self, stalls: &mut Vec<Stall>) {
        let known = self.input.noise_sources.iter().filter(|s| s.available.is_ok());
        let of_cpus: Vec<&str> =
            known.map(|s| s.name.as_str()).filter(|name| name.starts_with(STALLS_OF_CPU)).collect();
        if of_cpus.is_empty() {
            STALL_SOURCES.iter().for_each(|name| self.add_stalls(name, stalls));
            return;
        }
        let mut placed = Vec::new();
        for name in of_cpus {
            let Some(cpu) = name.strip_prefix(STALLS_OF_CPU).and_then(|cpu| cpu.parse().ok()) else {
                continue;
            };
            let mut one = Vec::new();
            self.add_stalls(name, &mut one);
            placed.extend(one.into_iter().map(|stall| (cpu, stall)));
        }
        stalls.extend(united(placed, &Sides::of(&self.input.info.header)));
    }

    /// (begin, end, value) of a source's windows that touch the measured time, clipped to it; values in
    /// proportion.
    fn windows(&self, name: &str) -> impl Iterator<Item = (u64, u64, f64)> + '_ {
        let source = self.input.noise_sources.iter().position(|s| s.name == name);
        let of_source =
            self.input.noise.iter().filter(move |o| source.is_some_and(|s| s == usize::from(o.source)));
        of_source.filter_map(|o| {
            let (begin, end) = (o.begin.0.max(self.span.0.0), o.end.0.min(self.span.1.0));
            let (inside, whole) =
                (end.saturating_sub(begin) as f64, (o.end.0.saturating_sub(o.begin.0)) as f64);
            (inside > 0.0 && o.value.is_finite()).then(|| (begin, end, o.value * inside / whole))
        })
    }

    fn total(&self, name: &str) -> f64 {
        self.windows(name).map(|(_, _, value)| value).sum()
    }

    fn add_stalls(&self, name: &str, stalls: &mut Vec<Stall>) {
        stalls.extend(self.windows(name).filter(|(_, _, value)| *value > 0.0).map(|(begin, end, value)| {
            let (from, to) = (begin.saturating_add(self.shift), end.saturating_add(self.shift));
            Stall::new(self.recording, from, to, value.min((end - begin) as f64))
        }));
    }

    /// How many CPUs the stolen time is of, where the recording says so.
    fn steal_cpus(&self) -> Option<f64> {
        let stated = self.input.info.header.capabilities.iter().find(|(name, _)| name == facts::STEAL_CPUS);
        stated.and_then(|(_, list)| cpus(list)).map(|cpus: BTreeSet<usize>| cpus.len().max(1) as f64)
    }

    /// Of the load's threads. Where the database is part of them, their time is the database's.
    fn of_load(&self) -> Option<(f64, f64, bool)> {
        let header = &self.input.info.header;
        if is_embedded(header) {
            return None;
        }
        let is_due = header.load.model != LoadModel::Closed || header.load.arrivals != NO_THINK_TIME;
        let spins = header.load.pacing.contains(SPIN) && is_due;
        self.busy("load-cpu").map(|(mean, high)| (mean, high, spins))
    }

    /// For how long hiccup threads stood still, in windows of which no stall was told; and from the last of these windows to
    /// the end of a run that completed, where that is long. `None` where it is nothing. A thread that sleeps has accounted
    /// for no more than up to its last wake.
    fn unseen(&self) -> Option<f64> {
        let asleep = 2.0 * unseen(&self.input.info.header).0 as f64;
        let source =
            self.input.noise_sources.iter().position(|s| s.name == STALL_WATCH[1] && s.available.is_ok())?;
        let of_source = || self.input.noise.iter().filter(move |o| usize::from(o.source) == source);
        let told = self.told_stalls();
        let mut time = 0.0;
        for o in of_source().filter(|o| o.begin < self.span.1 && self.span.0 < o.end) {
            let length = o.end.0.saturating_sub(o.begin.0) as f64;
            let missing = (1.0 - o.value) * length;
            if missing <= (length * UNWATCHED_SHARE).max(asleep) {
                continue;
            }
            let inside =
                |&(begin, end): &(u64, u64)| end.min(o.end.0).saturating_sub(begin.max(o.begin.0)) as f64;
            let covered: f64 = told.iter().map(inside).sum();
            time += if covered < missing * UNWATCHED_SHARE { missing } else { 0.0 };
        }
        let last = of_source().map(|o| o.end.0).max();
        if let (Some(last), Some(Ending::Completed)) = (last, &self.input.ending) {
            let after = self.span.1.0.saturating_sub(last.max(self.span.0.0));
            time += if after > UNWATCHED_END_NS { after as f64 } else { 0.0 };
        }
        (time > 0.0).then_some(time)
    }

    /// Begin and end of all stalls of single CPUs.
    fn told_stalls(&self) -> Vec<(u64, u64)> {
        let of_cpu = |source: u16| {
            let source = self.input.noise_sources.get(usize::from(source));
            source.is_some_and(|source| source.name.starts_with(STALLS_OF_CPU))
        };
        self.input.noise.iter().filter(|o| of_cpu(o.source)).map(|o| (o.begin.0, o.end.0)).collect()
    }

    /// Mean share, and the share of time at the limit. Shares were scaled with their windows: scale back.
    fn busy(&self, name: &str) -> Option<(f64, f64)> {
        let source = self.input.noise_sources.iter().position(|s| s.name == name)?;
        let (mut time, mut used, mut high) = (0.0, 0.0, 0.0);
        for o in self.input.noise.iter().filter(|o| usize::from(o.source) == source && o.value.is_finite()) {
            let (begin, end) = (o.begin.0.max(self.span.0.0), o.end.0.min(self.span.1.0));
            let inside = end.saturating_sub(begin) as f64;
            time += inside;
            used += inside * o.value;
            high += if o.value >= CLIENT_CPU_HIGH { inside } else { 0.0 };
        }
        (time > 0.0).then(|| (used / time, high / time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_counts_by_the_share_that_it_can_meet_and_by_its_backlog() {
        let stall = Stall { met: 0.25, over: 400, ..Stall::new(0, 0, 100, 100.0) };
        let alone =
            HostEvidence { stalls: vec![stall], measured_ns: 1_000.0, end: 300, ..HostEvidence::default() };
        let is =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        is(alone.hit_share(20.0, 0.0), 0.02);
        // Of 50 requests four began behind it, and two of these took 70 ns.
        let behind = vec![(70, 100.0), (60, 100.0), (80, 100.0), (90, 15.0)];
        let host = HostEvidence { behind, requests: 50, ..alone.clone() };
        is(host.hit_share(20.0, 70.0), 0.02 + 0.04);
        is(host.hit_share(20.0, 71.0), 0.02 + 0.02);
        is(host.hit_share(100.0, 0.0), 0.0);
        // Too many to keep: the time from 100 to the end of what was measured.
        let full = HostEvidence { is_behind_full: true, ..alone };
        is(full.hit_share(20.0, 70.0), 0.02 + 0.2);
        // The longest request began after the stall and before its backlog was over, or later.
        assert!(full.hits(350, 380, 90.0) && !full.hits(401, 500, 90.0) && !full.hits(350, 380, 101.0));
    }
}
