//! One round: its recording, read.

use super::pauses::Told;
use super::series::{self, Builder};
use super::{RoundFigures, RoundPauses, Slowest};
use crate::accumulate::times_of;
use crate::analyse::{analyse, input_of};
use crate::cell::NONE;
use crate::input::{Input, Plan};
use crate::{Analysis, MeasureSummary, Options, ReasonKind, Scope, ScopeSummary, Severity, facts};
use record::{Measure, PhaseKind, Recording, RunHeader, SampleBatch};
use std::cmp::Reverse;
use std::path::Path;
use units::{Estimate, Instant, Nanos, PerSecond};

/// A round, and what its cell makes figures of.
pub(super) struct Read {
    pub(super) figures: RoundFigures,
    pub(super) told: Told,
    pub(super) measure: Measure,
    pub(super) offered: Option<PerSecond>,
    /// Requests completed per second.
    pub(super) throughput: Estimate,
    pub(super) summary: MeasureSummary,
    /// The slowest first: [begin, end) since the begin of the measured time.
    slowest: Vec<(u64, u64)>,
    /// To the last completion, ns.
    pub(super) span: (u64, u64),
}

impl Read {
    /// The intervals of the slowest requests, as far as their place is known: where it is rounded, by that much longer
    /// at either end.
    pub(super) fn slowest(&self, which: Slowest) -> Vec<(u64, u64)> {
        let count = which.count(self.figures.requests) as usize;
        let slack = self.figures.resolution.0;
        let widened = |&(begin, end): &(u64, u64)| (begin.saturating_sub(slack), end.max(begin + 1) + slack);
        self.slowest.iter().take(count).map(widened).collect()
    }
}

/// Reads a cell's recording with this number; the reason in one line where it can't be used.
pub(super) fn read(number: usize, path: &Path, workload: &str, options: &Options) -> Result<Read, String> {
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let analysis = analyse(std::slice::from_ref(&recording), options).map_err(|error| error.to_string())?;
    if let Some(why) = invalid(&analysis, |kind| kind != ReasonKind::RateNotReached) {
        return Err(format!("its verdict is invalid: {why}"));
    }
    let input = input_of(&recording).map_err(|error| error.to_string())?;
    let nothing = || format!("{}: no measured request", path.display());
    let summary = analysis.total.whole().filter(|summary| summary.n > 0).cloned().ok_or_else(nothing)?;
    let plan = Plan::new(std::slice::from_ref(&input)).map_err(|error| error.to_string())?;
    let measured = analysis.measured;
    let told = Told::of(&input.events, &input.jvm_logs, measured);
    let most = Slowest::ALL.into_iter().map(|which| which.count(summary.n)).max().unwrap_or(0) as usize;
    let tail = scan(&recording, &plan, measured.0, most, options.threads)?;
    let length = measured.1 - measured.0;
    let share = series::extreme_share(workload);
    let series = tail.series.finish(length, share, options.seed).ok_or_else(nothing)?;
    let slowest: Vec<(u64, u64)> =
        tail.slowest.iter().map(|Reverse(slow)| (slow.at, slow.at + slow.whole)).collect();
    let last = tail.last.max(length.0);
    let resolution = told_to(&input.info.header, facts::MOMENTS_TOLD_TO);
    let max_paused = (told.pauses().zip(slowest.first()))
        .and_then(|(pauses, longest)| paused_share(pauses, *longest, resolution));
    let figures = RoundFigures {
        number,
        name: path.display().to_string(),
        verdict: analysis.verdict.state,
        invalid: invalid(&analysis, |_| true),
        requests: summary.n,
        max: series.longest.1,
        max_at: series.longest.0,
        max_paused,
        resolution,
        length_resolution: told_to(&input.info.header, facts::LENGTHS_TOLD_TO),
        pauses: told.pauses().cloned(),
        boxes: boxes(&analysis, summary.measure),
        series,
        slowest: Vec::new(),
    };
    Ok(Read {
        figures,
        told,
        measure: summary.measure,
        offered: planned_rate(&input).or(analysis.offered),
        throughput: Estimate::exact(analysis.achieved.get(), summary.n),
        summary,
        slowest,
        span: (0, last),
    })
}

/// The rate that the first measured phase was to have, in its mean: what came of it differs by chance from round to round.
fn planned_rate(input: &Input) -> Option<PerSecond> {
    let phase = input.info.header.phases.iter().find(|phase| phase.kind == PhaseKind::Measured)?;
    let (begin, end) = phase.offered?;
    PerSecond::new((begin.get() + end.get()) / 2.0)
}

/// The first reason of these kinds that makes the verdict invalid.
fn invalid(analysis: &Analysis, of: impl Fn(ReasonKind) -> bool) -> Option<String> {
    let mut reasons = analysis.verdict.reasons.iter();
    let found = reasons.find(|reason| reason.severity == Severity::Invalid && of(reason.kind));
    found.map(|reason| reason.text.clone())
}

/// Share of [begin, end) in which all threads stood still. A tool that rounds moments down places a request too early by up to
/// its step: in the middle of the step the place is wrong by half of one at most. So a request that is longer than the step and
/// lies within a pause has at least half of its time in it, and one that touches none has less; of a shorter one the place
/// would decide, and nothing is known.
fn paused_share(pauses: &RoundPauses, (begin, end): (u64, u64), step: Nanos) -> Option<f64> {
    let length = end - begin;
    if length == 0 || length <= step.0 {
        return None;
    }
    let late = step.0 / 2;
    Some(pauses.overlap(begin + late, end + late) as f64 / length as f64)
}

/// All of it, and each operation where there are several.
fn boxes(analysis: &Analysis, measure: Measure) -> Vec<(String, u64, crate::BoxPlot)> {
    let operations: Vec<&ScopeSummary> =
        analysis.scopes.iter().filter(|scope| matches!(scope.scope, Scope::Operation(_))).collect();
    let several = if operations.len() > 1 { operations } else { Vec::new() };
    let scopes = std::iter::once(&analysis.total).chain(several);
    let one = |scope: &ScopeSummary| {
        let summary = scope.measure(measure).filter(|summary| summary.n > 0)?;
        Some((scope.name.clone(), summary.n, summary.box_plot))
    };
    scopes.filter_map(one).collect()
}

/// To what the tool rounded the moments of its requests, starts or ends (YCSB stamps ends), or their lengths, as its importer
/// states it; zero below 1 µs, which nothing here needs to be exact to.
fn told_to(header: &RunHeader, fact: &str) -> Nanos {
    let stated = header.clock_facts.iter().find(|(name, _)| name == fact);
    let stated = stated.and_then(|(_, value)| value.strip_suffix(" ns")?.parse().ok());
    Nanos(stated.filter(|ns| *ns >= 1_000).unwrap_or(0))
}

/// A request among the slowest: longest first, and of equal ones that with the smallest number, so that threads don't matter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Slow {
    whole: u64,
    by_seq: Reverse<u64>,
    client: u16,
    at: u64,
}

/// What one thread of the scan found, or all of them.
struct Tail {
    series: Builder,
    /// The slowest first, once finished.
    slowest: Vec<Reverse<Slow>>,
    most: usize,
    /// Requests below can't be among the slowest any more.
    floor: u64,
    /// The last completion.
    last: u64,
}

impl Tail {
    fn new(most: usize) -> Tail {
        Tail { series: Builder::new(), slowest: Vec::new(), most, floor: 0, last: 0 }
    }

    fn add(&mut self, plan: &Plan, begin: Instant, batch: &SampleBatch) {
        let client = plan.clients[0].unwrap_or(batch.client);
        let has_response = plan.model.has_response_time();
        for index in 0..batch.len() {
            let (op, phase) = (usize::from(batch.op[index]), usize::from(batch.phase[index]));
            let is_measured = plan.phases.get(phase).is_some_and(|phase| phase.measured);
            if op >= plan.operations || !is_measured {
                continue;
            }
            let Some((mut times, _)) = times_of(batch, index, plan.shifts[0], client, has_response) else {
                continue;
            };
            let whole = times.whole(has_response);
            if whole == NONE {
                continue;
            }
            times.at = times.at.saturating_sub(begin.0);
            self.last = self.last.max(times.at.saturating_add(whole));
            self.series.add(&times, whole);
            if whole >= self.floor {
                let slow = Slow { whole, by_seq: Reverse(times.seq), client: times.client, at: times.at };
                self.slowest.push(Reverse(slow));
                self.prune(2 * self.most);
            }
        }
    }

    fn prune(&mut self, limit: usize) {
        if self.slowest.len() > limit.max(1) && self.most > 0 {
            self.slowest.select_nth_unstable(self.most - 1);
            self.slowest.truncate(self.most);
            self.floor = self.slowest.iter().map(|Reverse(slow)| slow.whole).min().unwrap_or(0);
        }
    }

    fn merge(&mut self, other: Tail) {
        self.series.merge(other.series);
        self.slowest.extend(other.slowest);
        self.prune(self.most);
        self.last = self.last.max(other.last);
    }
}

fn scan(
    recording: &Recording,
    plan: &Plan,
    begin: Instant,
    most: usize,
    threads: usize,
) -> Result<Tail, String> {
    let parts = recording
        .scan(threads.max(1), || Tail::new(most), |tail, batch| tail.add(plan, begin, batch))
        .map_err(|error| error.to_string())?;
    let mut all = Tail::new(most);
    parts.into_iter().for_each(|part| all.merge(part));
    all.prune(most);
    all.slowest.sort_unstable();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::StopInterval;

    /// A request of 1.5 ms in a pause as long, and the same beside it: rounded down to the ms from wherever in one it ended.
    #[test]
    fn a_place_that_is_rounded_down_neither_leaves_a_pause_nor_gets_into_one() {
        const MS: u64 = 1_000_000;
        let (from, to) = (10 * MS, 10 * MS + 3 * MS / 2);
        let pauses = |shift: u64| RoundPauses {
            whole: vec![StopInterval {
                begin: Instant(from + shift),
                end: Instant(to + shift),
                to_safepoint: None,
            }],
            ..RoundPauses::default()
        };
        let share = |shift: u64, (begin, end): (u64, u64)| {
            let early = (end + shift) % MS;
            let placed = (begin + shift - early, end + shift - early);
            paused_share(&pauses(shift), placed, Nanos(MS)).expect("longer than the step")
        };
        for shift in (0..MS).step_by(10_000) {
            let (within, before) = (share(shift, (from, to)), share(shift, (from - (to - from), from)));
            let after = share(shift, (to, to + (to - from)));
            assert!(within > 0.5 && before < 0.5 && after < 0.5, "{shift}: {within} {before} {after}");
        }
        assert_eq!(paused_share(&pauses(0), (from, from + MS), Nanos(MS)), None, "its place would decide");
        assert_eq!(paused_share(&pauses(0), (from, from), Nanos(0)), None);
        assert_eq!(paused_share(&pauses(0), (from - 100, from + 300), Nanos(0)), Some(0.75));
    }

    #[test]
    fn of_too_many_the_slowest_stay_whatever_the_division() {
        let slow = |i: u64| Slow { whole: i * 7_919 % 1_000, by_seq: Reverse(i), client: 0, at: i };
        let collect = |parts: usize| {
            let mut tails: Vec<Tail> = (0..parts).map(|_| Tail::new(20)).collect();
            for i in 0..1_000u64 {
                let tail = &mut tails[i as usize % parts];
                if slow(i).whole >= tail.floor {
                    tail.slowest.push(Reverse(slow(i)));
                    tail.prune(40);
                }
            }
            let mut all = Tail::new(20);
            tails.into_iter().for_each(|tail| all.merge(tail));
            all.slowest.sort_unstable();
            all.slowest.iter().map(|Reverse(slow)| slow.whole).collect::<Vec<u64>>()
        };
        assert_eq!(collect(1), (0..20).map(|i| 999 - i).collect::<Vec<u64>>());
        assert_eq!(collect(1), collect(3));
    }
}
