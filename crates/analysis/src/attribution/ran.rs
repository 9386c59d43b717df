//! Who had the CPUs while they stood still for us.

use super::causes::is_shared;
use super::cpus::Users;
use super::names::{HICCUP_CPU, RAN, RAN_NAME, WHO};
use super::{Cause, Held, Ran, Runner};
use crate::input::Input;
use record::{NoiseObservation, NoiseSourceFacts};
use std::collections::BTreeMap;
use units::{Instant, Nanos, format_nanos};

/// Runners that a note names.
const NOTED: usize = 5;

/// Whether a noise source tells who ran, and watches nothing itself.
pub(crate) fn is_of_runners(source: &NoiseSourceFacts) -> bool {
    source.name.starts_with(RAN)
}

/// Intervals that may overlap, with what is known of each.
#[derive(Clone, Debug)]
struct Spans<T> {
    /// In the order of their begins.
    spans: Vec<(u64, u64, T)>,
    /// The latest end of each and all before.
    reach: Vec<u64>,
}

impl<T> Default for Spans<T> {
    fn default() -> Spans<T> {
        Spans { spans: Vec::new(), reach: Vec::new() }
    }
}

impl<T> Spans<T> {
    fn new(mut spans: Vec<(u64, u64, T)>) -> Spans<T> {
        spans.sort_by_key(|span| (span.0, span.1));
        let mut latest = 0;
        let reach = spans.iter().map(|span| {
            latest = span.1.max(latest);
            latest
        });
        Spans { reach: reach.collect(), spans }
    }

    /// Those that overlap [from, to), clipped to it.
    fn within(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, &(u64, u64, T))> {
        let first = self.reach.partition_point(|reach| *reach <= from);
        let begun = self.spans[first..].iter().take_while(move |span| span.0 < to);
        let clipped = begun.map(move |span| (span.0.max(from), span.1.min(to), span));
        clipped.filter(|(begin, end, _)| begin < end)
    }
}

/// Of one recording: its stalls with their CPUs, and who ran there. Empty where `who` did not watch.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Whose stall, and of which CPU.
    stalls: Spans<(Cause, usize)>,
    /// By CPU: the share of the interval in which it ran, and its place in `names`.
    turns: BTreeMap<usize, Spans<(f64, usize)>>,
    names: Vec<String>,
    is_watched: bool,
    /// Why nobody watched, where somebody was to.
    refused: Option<String>,
    /// Events that were lost or left out.
    untold: u64,
}

impl Turns {
    pub(super) fn of(input: &Input, on_axis: impl Fn(Instant) -> Option<u64>) -> Turns {
        let mut all = Turns::default();
        let who = input.noise_sources.iter().position(|source| source.name == WHO);
        match who.map(|number| &input.noise_sources[number].available) {
            None => return all,
            Some(Err(why)) => all.refused = Some(why.clone()),
            Some(Ok(_)) => all.is_watched = true,
        }
        let users = Users::of(&input.info.header);
        let sources: Vec<Option<Source>> =
            input.noise_sources.iter().map(|source| all.source(source, &users)).collect();
        let (mut stalls, mut turns) = (Vec::new(), BTreeMap::<usize, Vec<_>>::new());
        for one in input.noise.iter().filter(|one| one.value > 0.0) {
            if Some(usize::from(one.source)) == who {
                all.untold = all.untold.saturating_add(one.value as u64);
            }
            let source = sources.get(usize::from(one.source)).and_then(Option::as_ref);
            let (Some(source), Some((begin, end))) = (source, span(one, &on_axis)) else { continue };
            match source {
                Source::Stall(cause, cpu) => {
                    stalls.push((begin.max(end.saturating_sub(one.value as u64)), end, (*cause, *cpu)));
                }
                Source::Turn(cpu, name) => {
                    let share = (one.value / (end - begin) as f64).min(1.0);
                    turns.entry(*cpu).or_default().push((begin, end, (share, *name)));
                }
            }
        }
        all.stalls = Spans::new(stalls);
        all.turns = turns.into_iter().map(|(cpu, turns)| (cpu, Spans::new(turns))).collect();
        all
    }

    fn source(&mut self, source: &NoiseSourceFacts, users: &Users) -> Option<Source> {
        if let Some(cpu) = source.name.strip_prefix(HICCUP_CPU) {
            let cpu = cpu.parse().ok()?;
            return Some(Source::Stall(users.cause(cpu)?, cpu));
        }
        let (cpu, name) = source.name.strip_prefix(RAN)?.split_once(RAN_NAME)?;
        let known = self.names.iter().position(|known| known == name);
        let name = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        Some(Source::Turn(cpu.parse().ok()?, name))
    }

    /// Adds who ran in the stalls of a cause within [from, to); gives the stalls' time.
    fn add(&self, cause: Cause, (from, to): (u64, u64), sums: &mut BTreeMap<String, f64>) -> u64 {
        let mut stalled = 0u64;
        let of_cause = self.stalls.within(from, to).filter(|(_, _, stall)| stall.2.0 == cause);
        for (begin, end, (_, _, (_, cpu))) in of_cause {
            stalled = stalled.saturating_add(end - begin);
            let turns = self.turns.get(cpu).into_iter().flat_map(|turns| turns.within(begin, end));
            for (begin, end, (_, _, (share, name))) in turns {
                *sums.entry(self.names[*name].clone()).or_default() += share * (end - begin) as f64;
            }
        }
        stalled
    }

    fn notes(&self, recording: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(why) = &self.refused {
            notes.push(format!("{recording}: who ran during stalls is not known: {why}"));
        }
        if self.untold > 0 {
            let untold = self.untold;
            notes.push(format!(
                "{recording}: {untold} events of who ran were lost or left out: what is told of it is less than there was"
            ));
        }
        let mut sums = BTreeMap::new();
        for turns in self.turns.values() {
            for (begin, end, (share, name)) in &turns.spans {
                *sums.entry(self.names[*name].clone()).or_default() += share * (end - begin) as f64;
            }
        }
        let runners = ranked(&sums);
        if !runners.is_empty() {
            let told: Vec<String> =
                runners.iter().take(NOTED).map(|r| format!("{} {}", r.name, format_nanos(r.time))).collect();
            let more = match runners.len().saturating_sub(NOTED) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            notes.push(format!(
                "{recording}: while the load or a hiccup thread wanted a CPU, stall or not, it was had by {}{more}",
                told.join(", ")
            ));
        }
        notes
    }
}

/// What a noise source tells of.
enum Source {
    Stall(Cause, usize),
    Turn(usize, usize),
}

fn span(one: &NoiseObservation, on_axis: impl Fn(Instant) -> Option<u64>) -> Option<(u64, u64)> {
    let (begin, end) = (on_axis(one.begin)?, on_axis(one.end)?);
    (begin < end).then_some((begin, end))
}

/// Those that a cause concerns: of a stall on the server's side all recordings, else one's own.
fn seen_by(all: &[Turns], recording: Option<usize>, cause: Cause) -> impl Iterator<Item = &Turns> {
    let own = recording.filter(|_| !is_shared(cause));
    let is_meant =
        move |(index, turns): &(usize, &Turns)| turns.is_watched && own.is_none_or(|own| own == *index);
    all.iter().enumerate().filter(is_meant).map(|(_, turns)| turns)
}

/// Who ran during the stalls of a cause within a time; `None` where nobody watched, or nothing stood still.
pub(super) fn during(all: &[Turns], cause: Cause, span: (u64, u64)) -> Option<Ran> {
    let (mut sums, mut stalled, mut is_whole) = (BTreeMap::new(), 0u64, true);
    for turns in seen_by(all, None, cause) {
        stalled = stalled.saturating_add(turns.add(cause, span, &mut sums));
        is_whole &= turns.untold == 0;
    }
    let runners = ranked(&sums);
    let told = runners.iter().fold(0u64, |sum, runner| sum.saturating_add(runner.time.0));
    let nobody = Nanos(stalled.saturating_sub(told));
    (cause.is_stall() && stalled > 0).then_some(Ran { stalled: Nanos(stalled), runners, nobody, is_whole })
}

/// Who had the CPUs for the most of a piece of a request.
pub(super) fn held(all: &[Turns], recording: usize, cause: Cause, span: (u64, u64)) -> Option<Held> {
    let (mut sums, mut stalled, mut is_whole) = (BTreeMap::new(), 0u64, true);
    for turns in seen_by(all, Some(recording), cause).filter(|_| cause.is_stall()) {
        stalled = stalled.saturating_add(turns.add(cause, span, &mut sums));
        is_whole &= turns.untold == 0;
    }
    let runners = ranked(&sums);
    let told: u64 = runners.iter().map(|runner| runner.time.0).sum();
    let nobody = stalled.saturating_sub(told);
    match runners.into_iter().next() {
        Some(first) if first.time.0 >= nobody => Some(Held::By(first.name)),
        _ if stalled > 0 && is_whole => Some(Held::ByNobody),
        _ => None,
    }
}

/// What the reader must know, recording by recording.
pub(super) fn notes(inputs: &[Input], all: &[Turns]) -> Vec<String> {
    inputs.iter().zip(all).flat_map(|(input, turns)| turns.notes(&input.info.name)).collect()
}

/// Those that ran longest first. Processes of one name are one: `postgres (3 processes)`.
fn ranked(sums: &BTreeMap<String, f64>) -> Vec<Runner> {
    let mut groups: BTreeMap<&str, (u32, f64, &str)> = BTreeMap::new();
    for (name, time) in sums {
        let plain = without_process(name);
        let group = groups.entry(plain.unwrap_or(name)).or_insert((0, 0.0, name));
        group.0 += u32::from(plain.is_some());
        group.1 += time;
    }
    let runner = |(plain, (processes, time, name)): (&str, (u32, f64, &str))| {
        let name = if processes > 1 { format!("{plain} ({processes} processes)") } else { name.to_owned() };
        Runner { name, time: Nanos(time as u64) }
    };
    let mut all: Vec<Runner> = groups.into_iter().map(runner).filter(|runner| runner.time.0 > 0).collect();
    all.sort_by(|a, b| (b.time, &a.name).cmp(&(a.time, &b.name)));
    all
}

/// `postgres` of `postgres (pid 77)`.
fn without_process(name: &str) -> Option<&str> {
    let (plain, process) = name.strip_suffix(')')?.rsplit_once(" (pid ")?;
    process.bytes().all(|byte| byte.is_ascii_digit()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_found_however_long_it_is() {
        let spans = Spans::new(vec![(50, 60, 'c'), (0, 100, 'a'), (10, 20, 'b')]);
        let within = |from, to| spans.within(from, to).map(|(b, e, s)| (b, e, s.2)).collect::<Vec<_>>();
        assert_eq!(within(55, 200), [(55, 100, 'a'), (55, 60, 'c')]);
        assert_eq!(within(20, 50), [(20, 50, 'a')]);
        assert_eq!(within(100, 200), []);
    }

    #[test]
    fn processes_of_one_name_are_told_together() {
        let sums = BTreeMap::from([
            ("postgres (pid 7)".to_owned(), 3.0),
            ("postgres (pid 9)".to_owned(), 4.0),
            ("redis (pid 1)".to_owned(), 5.0),
            ("a (pid b)".to_owned(), 1.0),
            ("softirq NET_RX".to_owned(), 0.2),
        ]);
        let found: Vec<(String, u64)> = ranked(&sums).into_iter().map(|r| (r.name, r.time.0)).collect();
        let expected = [("postgres (2 processes)", 7), ("redis (pid 1)", 5), ("a (pid b)", 1)];
        assert_eq!(found, expected.map(|(name, time)| (name.to_owned(), time)));
    }
}
