//! What the noise sources saw of the measuring hosts in the measured time.

use crate::input::{Input, Plan, measured_span};
use crate::limits::{CLIENT_CPU_HIGH, STALL_SOURCES, STALL_WATCH, STALLS_OF_CPU};
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
}

/// Evidence on the hosts, all clients together.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct HostEvidence {
    pub(crate) stalls: Vec<Stall>,
    /// Whether a source that sees every kind of stall was available in every recording.
    pub(crate) stalls_watched: bool,
    /// Measured time of all clients together, ns.
    pub(crate) measured_ns: f64,
    /// Stolen time over the time of all CPUs.
    pub(crate) steal_share: f64,
    /// Throttled time over the measured time.
    pub(crate) throttled_share: f64,
    /// Share of client CPU time of the busiest client: mean, and how much of the time it was at its limit.
    pub(crate) client_cpu: Option<(f64, f64)>,
}

impl HostEvidence {
    pub(crate) fn of(inputs: &[Input], plan: &Plan) -> HostEvidence {
        let mut all = HostEvidence { stalls_watched: !inputs.is_empty(), ..HostEvidence::default() };
        let (mut stolen, mut cpu_time) = (0.0, 0.0);
        let mut throttled = 0.0;
        for (index, input) in inputs.iter().enumerate() {
            let one = Readings { input, shift: plan.shifts[index], span: measured_span(input) };
            let measured = one.span.1.0.saturating_sub(one.span.0.0) as f64;
            all.measured_ns += measured;
            cpu_time += measured * f64::from(input.info.header.host.cpus.max(1));
            stolen += one.total("steal");
            throttled += one.total("throttled");
            all.stalls_watched &= STALL_WATCH.iter().any(|name| one.is_available(name));
            one.add_all_stalls(&mut all.stalls);
            let busiest = one.client_cpu();
            all.client_cpu = match (all.client_cpu, busiest) {
                (Some(a), Some(b)) => Some(if b.0 > a.0 { b } else { a }),
                (a, b) => a.or(b),
            };
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        all.steal_share = share(stolen, cpu_time);
        all.throttled_share = share(throttled, all.measured_ns);
        all
    }

    /// Share of requests that a stall can have delayed by `delay_ns` or more: those that arrived while at
    /// least that much of it was left, were it in one piece.
    pub(crate) fn hit_share(&self, delay_ns: f64) -> f64 {
        let reach: f64 = self.stalls.iter().map(|s| s.met * (s.length - delay_ns).max(0.0)).sum();
        if self.measured_ns > 0.0 { (reach / self.measured_ns).min(1.0) } else { 0.0 }
    }

    /// Whether a stall of `delay_ns` or more may lie within [begin, end].
    pub(crate) fn hits(&self, begin: u64, end: u64, delay_ns: f64) -> bool {
        self.stalls.iter().any(|s| s.begin <= end && begin <= s.end && s.length >= delay_ns)
    }
}

/// CPUs that one request needs at a time, at most: its worker's, and that of the server's process.
const CPUS_OF_REQUEST: f64 = 2.0;

/// Stalls of single CPUs, as those of the host: a stop of all of them is one, not as many as there are CPUs, and one
/// that k of n CPUs had part in is met by no more than 2 k / n of the requests, whichever their CPUs are.
fn united(mut stalls: Vec<(usize, Stall)>, cpus: usize) -> impl Iterator<Item = Stall> {
    stalls.sort_unstable_by_key(|(_, stall)| (stall.begin, stall.end));
    let mut groups: Vec<(BTreeSet<usize>, Stall)> = Vec::with_capacity(stalls.len());
    for (cpu, stall) in stalls {
        match groups.last_mut() {
            Some((part, last)) if stall.begin <= last.end => {
                part.insert(cpu);
                last.end = last.end.max(stall.end);
                last.length = (last.end - last.begin) as f64;
            }
            _ => groups.push(([cpu].into(), stall)),
        }
    }
    groups.into_iter().map(move |(part, stall)| {
        let met = (CPUS_OF_REQUEST * part.len() as f64 / cpus as f64).min(1.0);
        Stall { met, ..stall }
    })
}

/// One recording's readings.
struct Readings<'a> {
    input: &'a Input,
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
        for (cpu, name) in of_cpus.iter().enumerate() {
            let mut one = Vec::new();
            self.add_stalls(name, &mut one);
            placed.extend(one.into_iter().map(|stall| (cpu, stall)));
        }
        stalls.extend(united(placed, of_cpus.len()));
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
            Stall {
                begin: begin.saturating_add(self.shift),
                end: end.saturating_add(self.shift),
                length: value.min((end - begin) as f64),
                met: 1.0,
            }
        }));
    }

    /// Mean share, and the share of time at the limit. Shares were scaled with their windows: scale back.
    fn client_cpu(&self) -> Option<(f64, f64)> {
        let source = self.input.noise_sources.iter().position(|s| s.name == "client-cpu")?;
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

    fn stall(begin: u64, end: u64) -> Stall {
        Stall { begin, end, length: (end - begin) as f64, met: 1.0 }
    }

    #[test]
    fn stalls_of_several_cpus_are_taken_together_and_weighed_by_their_part() {
        let all = |cpus: usize| (0..cpus).map(|cpu| (cpu, stall(10, 20)));
        let found = |stalls: Vec<(usize, Stall)>, cpus| united(stalls, cpus).collect::<Vec<_>>();
        // One CPU of two may be either side of any request; one of eight is a part of a quarter of them.
        assert_eq!(found(vec![(1, stall(10, 20))], 2), [stall(10, 20)]);
        assert_eq!(found(vec![(1, stall(10, 20))], 8), [Stall { met: 0.25, ..stall(10, 20) }]);
        assert_eq!(found(all(8).collect(), 8), [stall(10, 20)]);
        // Out of order, overlapping by a part, touching; two on one CPU are of one CPU.
        let stalls = vec![(0, stall(40, 50)), (3, stall(15, 30)), (3, stall(30, 31)), (2, stall(10, 20))];
        let quarter = |stall| Stall { met: 0.25, ..stall };
        assert_eq!(found(stalls, 16), [quarter(stall(10, 31)), Stall { met: 0.125, ..stall(40, 50) }]);
        let host = HostEvidence {
            stalls: vec![Stall { met: 0.25, ..stall(0, 100) }],
            measured_ns: 1_000.0,
            ..HostEvidence::default()
        };
        assert!((host.hit_share(20.0) - 0.02).abs() < 1e-12);
    }
}
