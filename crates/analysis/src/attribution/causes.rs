//! The intervals of each observed cause, and what was not looked for.

use super::cpus::{Users, unseen};
use super::names::{CHECKPOINTS, HARNESS_JVM, HICCUP_CPU};
use super::queued::RunQueue;
use super::ran::{self, Turns};
use super::{Cause, Watched};
use crate::input::{Input, Plan};
use crate::observers::is_off;
use record::{Event, EventKind, NoiseSourceFacts, PauseReach, Provenance, ServerLogFacts, ServerTold};
use std::collections::{BTreeMap, BTreeSet};
use units::Instant;

/// What requests of one recording may have met, on the common axis.
#[derive(Clone, Debug, Default)]
pub(super) struct Met {
    /// By [`Cause::index`]: [begin, end) in any order.
    intervals: [Vec<(u64, u64)>; Cause::ALL.len()],
    /// Of those, the ones on the server's side.
    of_server: [Vec<(u64, u64)>; Cause::ALL.len()],
    /// In order.
    pub(super) moments: Vec<(u64, EventKind, String)>,
    /// What of a stall may lie before it is seen, ns.
    pub(super) unseen: u64,
}

impl Met {
    pub(super) fn of(&self, cause: Cause) -> &[(u64, u64)] {
        &self.intervals[cause.index()]
    }

    fn add(&mut self, cause: Cause, (begin, end): (u64, u64), of_server: bool) {
        if begin < end {
            self.intervals[cause.index()].push((begin, end));
            if of_server {
                self.of_server[cause.index()].push((begin, end));
            }
        }
    }
}

/// All that was observed.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// One for each recording.
    pub(super) met: Vec<Met>,
    /// One for each recording.
    pub(super) turns: Vec<Turns>,
    /// One for each recording.
    pub(super) run_queues: Vec<RunQueue>,
    /// Causes that were looked for, or should have been.
    pub(super) watched: BTreeMap<Cause, Watched>,
    pub(super) notes: Vec<String>,
}

/// Why nothing was looked for where nothing was to be.
const OFF: &str = "`--observers off`";

/// Causes on the server's side: whichever client saw them, they concern all of its requests.
const SHARED: [Cause; 4] = [Cause::ServerStall, Cause::ServerJvm, Cause::Fault, Cause::Checkpoint];

/// Causes of which some are on the server's side: a CPU that both use, a thread of the server's JVM.
const SHARED_IN_PART: [Cause; 2] = [Cause::HostStall, Cause::JvmThread];

/// Of these, what the server or its log tells.
const TOLD: [Cause; 3] = [Cause::ServerJvm, Cause::JvmThread, Cause::Checkpoint];

/// Load tools that run in no JVM.
const WITHOUT_JVM: [&str; 5] = ["pgbench", "sysbench", "memtier", "redis-benchmark", "wrk"];

/// Whether a load tool made the recording that runs in a JVM, or of which that is not known.
fn may_run_in_a_jvm(provenance: &Provenance) -> bool {
    match provenance {
        Provenance::Live | Provenance::Simulated => false,
        Provenance::Imported { tool } => {
            let tool = tool.to_ascii_lowercase();
            !WITHOUT_JVM.iter().any(|known| tool.starts_with(known))
        }
    }
}

/// Whether it concerns the requests of all clients.
pub(super) fn is_shared(cause: Cause) -> bool {
    SHARED.contains(&cause)
}

/// Whether some of it does.
pub(super) fn is_shared_in_part(cause: Cause) -> bool {
    SHARED_IN_PART.contains(&cause)
}

impl Observed {
    pub(super) fn of(inputs: &[Input], plan: &Plan) -> Observed {
        let mut all = Observed::default();
        let logged = checkpoints_of_logs(inputs);
        for (index, input) in inputs.iter().enumerate() {
            let mut met = Met { unseen: unseen(&input.info.header).0, ..Met::default() };
            let on_axis = |at: Instant| plan.on_axis(index, at).get().map(|at| at.0);
            all.add_stalls(input, &mut met, on_axis);
            all.turns.push(Turns::of(input, on_axis));
            all.run_queues.push(RunQueue::of(input, on_axis));
            let events = input.events.iter().chain(&input.repeated);
            events.for_each(|event| add_event(event, &mut met, on_axis));
            met.moments.sort_unstable_by_key(|moment| moment.0);
            all.expect_pauses(input, &met);
            all.expect_checkpoints(input, logged.as_ref());
            all.met.push(met);
        }
        all.notes.extend(ran::notes(inputs, &all.turns));
        for cause in SHARED.into_iter().chain(SHARED_IN_PART) {
            all.share(cause);
        }
        for cause in Cause::ALL {
            if all.met.iter().any(|met| !met.of(cause).is_empty()) {
                all.watched.entry(cause).or_insert(Watched::Yes);
            }
        }
        all
    }

    fn share(&mut self, cause: Cause) {
        let each: Vec<Vec<(u64, u64)>> = self.met.iter().map(|met| met.of(cause).to_vec()).collect();
        let of_server: Vec<Vec<(u64, u64)>> =
            self.met.iter().map(|met| met.of_server[cause.index()].clone()).collect();
        if each.len() < 2 || of_server.iter().all(Vec::is_empty) {
            return;
        }
        for (index, met) in self.met.iter_mut().enumerate() {
            let others =
                of_server.iter().enumerate().filter(|(other, _)| *other != index).flat_map(|(_, list)| list);
            // What a log tells, each client places by clocks of its own.
            let is_own = |&&(begin, end): &&(u64, u64)| {
                TOLD.contains(&cause) && each[index].iter().any(|own| own.0 < end && begin < own.1)
            };
            let more: Vec<(u64, u64)> = others.filter(|other| !is_own(other)).copied().collect();
            met.intervals[cause.index()].extend(more);
        }
    }

    /// One recording that looked is worth more than one that did not; the latter gets a note.
    fn watch(&mut self, cause: Cause, input: &Input, watched: Watched) {
        match (self.watched.get(&cause), watched) {
            (None, watched) => drop(self.watched.insert(cause, watched)),
            (Some(Watched::No(why)), Watched::Yes) => {
                self.notes.push(format!("{}s were not watched in every recording: {why}", cause.name()));
                self.watched.insert(cause, Watched::Yes);
            }
            (Some(Watched::Yes), Watched::No(why)) => {
                let name = &input.info.name;
                self.notes.push(format!("{name}: {}s were not watched: {why}", cause.name()));
            }
            _ => {}
        }
    }

    fn add_stalls(&mut self, input: &Input, met: &mut Met, on_axis: impl Fn(Instant) -> Option<u64>) {
        let users = Users::of(&input.info.header);
        let sources = Hiccups::of(&input.noise_sources);
        for one in input.noise.iter().filter(|one| one.value > 0.0) {
            let cause = sources.by_index.get(&one.source).and_then(|cpu| users.cause(*cpu));
            if let (Some(cause), Some(begin), Some(end)) = (cause, on_axis(one.begin), on_axis(one.end)) {
                // Where the window is longer than the stall, it was woken late at its end.
                let begin = begin.max(end.saturating_sub(one.value as u64));
                let cpu = sources.by_index.get(&one.source);
                let is_used = cpu.is_some_and(|cpu| users.server.as_ref().is_some_and(|s| s.contains(cpu)));
                met.add(cause, (begin, end), is_used);
            }
        }
        if sources.is_empty() && input.info.header.provenance == Provenance::Simulated {
            return; // there is no host that could stall
        }
        let sides = [(Cause::ClientStall, &users.client), (Cause::ServerStall, &users.server)];
        for (cause, cpus) in sides.into_iter().filter_map(|(cause, cpus)| Some((cause, cpus.as_ref()?))) {
            self.watch_side(input, cause, cpus, &sources);
        }
        let unknown = sources.available.iter().any(|cpu| users.cause(*cpu) == Some(Cause::HostStall));
        if unknown {
            self.watch(Cause::HostStall, input, Watched::Yes);
        } else if users.client.is_none() && users.server.is_none() {
            let why = if is_off(input) { OFF.to_owned() } else { sources.why_none() };
            self.watch(Cause::HostStall, input, Watched::No(why));
        }
        if let Some(why) = users.server_unknown {
            self.watch(Cause::ServerStall, input, Watched::No(why));
        }
        if unknown && users.client.is_none() {
            self.notes.push(format!(
                "{}: which CPUs the load ran on is not known (`--cpus` states them), so a stall of any watched CPU \
                 counts as one of the host",
                input.info.name
            ));
        }
    }

    fn watch_side(&mut self, input: &Input, cause: Cause, cpus: &BTreeSet<usize>, sources: &Hiccups) {
        let missing: Vec<String> =
            cpus.difference(&sources.available).map(std::string::ToString::to_string).collect();
        if !missing.is_empty() && missing.len() == cpus.len() {
            return self.watch(cause, input, Watched::No(sources.why_none()));
        }
        if !missing.is_empty() {
            let (name, missing) = (&input.info.name, missing.join(","));
            self.notes.push(format!("{name}: {}s: CPUs {missing} were not watched", cause.name()));
        }
        // A CPU that both sides use is the host's, and watched as such.
        let users = Users::of(&input.info.header);
        if cpus.iter().any(|cpu| users.cause(*cpu) == Some(cause)) {
            self.watch(cause, input, Watched::Yes);
        }
    }

    /// A log that covers the run is somebody who looked, whatever it tells. truetail has no JVM; a tool whose result was
    /// imported has one, or had it.
    fn expect_pauses(&mut self, input: &Input, met: &Met) {
        for log in &input.jvm_logs {
            let watched = match &log.trouble {
                // Earlier versions took a log without any pause for one that has none.
                None if log.aligned_by.is_empty() => {
                    Watched::No("no line of its log was placed by a clock".to_owned())
                }
                None => Watched::Yes,
                Some(why) => Watched::No(why.clone()),
            };
            self.watch(jvm(&log.subject), input, watched);
        }
        let summaries = input.events.iter().filter(|e| PauseReach::of(e) == Some(PauseReach::Within)).count();
        if summaries > 0 {
            let name = &input.info.name;
            self.notes.push(format!(
                "{name}: {summaries} pauses of JVMs are told in sum and not one by one: they explain nothing"
            ));
        }
        let may_pause = may_run_in_a_jvm(&input.info.header.provenance);
        let has_log = input.jvm_logs.iter().any(|log| jvm(&log.subject) == Cause::HarnessJvm);
        if may_pause && !has_log && met.of(Cause::HarnessJvm).is_empty() {
            let why = "no log of the tool's own JVM was given; `--jvm-log` names it".to_owned();
            self.watch(Cause::HarnessJvm, input, Watched::No(why));
        }
    }

    /// `logged` is what the logs show that were given.
    fn expect_checkpoints(&mut self, input: &Input, logged: Option<&Watched>) {
        let silent = match logged {
            Some(Watched::Yes) => return self.watch(Cause::Checkpoint, input, Watched::Yes),
            Some(Watched::No(why)) => Some(why),
            None => None,
        };
        let source = input.noise_sources.iter().find(|source| source.name == CHECKPOINTS);
        let watched = match (source.map(|source| &source.available), silent) {
            (Some(Ok(_)), silent) => {
                // Who asked knows of all; that the log was of no use is said all the same.
                let note = silent.filter(|_| !input.server_logs.is_empty());
                self.notes.extend(note.map(|why| format!("{}: {why}", input.info.name)));
                Watched::Yes
            }
            (Some(Err(why)), None) => Watched::No(why.clone()),
            (Some(Err(why)), Some(silent)) => Watched::No(format!("{why}; {silent}")),
            (None, Some(silent)) => Watched::No(silent.clone()),
            (None, None) if input.info.header.target.starts_with("postgres") => {
                Watched::No("nobody asked the server for its checkpoints".to_owned())
            }
            (None, None) => return,
        };
        self.watch(Cause::Checkpoint, input, watched);
    }
}

/// The sources that watch a CPU each.
struct Hiccups {
    by_index: BTreeMap<u16, usize>,
    available: BTreeSet<usize>,
    /// Why the first of those that are not available is not.
    refused: Option<String>,
}

impl Hiccups {
    fn of(sources: &[NoiseSourceFacts]) -> Hiccups {
        let mut found = Hiccups { by_index: BTreeMap::new(), available: BTreeSet::new(), refused: None };
        for (index, source) in sources.iter().enumerate() {
            let Some(cpu) = source.name.strip_prefix(HICCUP_CPU).and_then(|cpu| cpu.parse().ok()) else {
                continue;
            };
            match &source.available {
                Ok(_) => {
                    found.available.insert(cpu);
                    found.by_index.extend(u16::try_from(index).map(|index| (index, cpu)));
                }
                Err(why) => {
                    found.refused.get_or_insert_with(|| format!("{}: {why}", source.name));
                }
            }
        }
        found
    }

    fn is_empty(&self) -> bool {
        self.available.is_empty() && self.refused.is_none()
    }

    fn why_none(&self) -> String {
        self.refused.clone().unwrap_or_else(|| "no source of the recording watched these CPUs".to_owned())
    }
}

/// Whether a log of a server tells of the run's checkpoints; `None` without any log. One without any checkpoint may be one that
/// leaves them out.
fn checkpoints_of_logs(inputs: &[Input]) -> Option<Watched> {
    let logs = || inputs.iter().flat_map(|input| &input.server_logs);
    if logs().any(|log| log.trouble.is_none() && log.checkpoints_in_all > 0) {
        return Some(Watched::Yes);
    }
    let unlogged = "no checkpoint in the whole log (log_checkpoints may be off)";
    let said = |log: &ServerLogFacts| {
        format!("the log {}: {}", log.file, log.trouble.as_deref().unwrap_or(unlogged))
    };
    let said: Vec<String> = logs().map(said).collect();
    (!said.is_empty()).then(|| Watched::No(said.join("; ")))
}

/// Whose JVM it is.
fn jvm(subject: &str) -> Cause {
    if subject.starts_with(HARNESS_JVM) { Cause::HarnessJvm } else { Cause::ServerJvm }
}

/// An event with a length is a cause; one without is a moment, and so is the begin of a phase.
fn add_event(event: &Event, met: &mut Met, on_axis: impl Fn(Instant) -> Option<u64>) {
    let Some(begin) = on_axis(event.begin) else { return };
    let end = on_axis(event.end).unwrap_or(begin);
    let cause = match event.kind {
        EventKind::JvmPause => match PauseReach::of(event) {
            Some(PauseReach::OneThread) => Cause::JvmThread,
            // When within its interval anything stood still, nobody knows.
            Some(PauseReach::Within) => return,
            Some(PauseReach::WholeVm) | None => jvm(&event.subject),
        },
        EventKind::Outage => Cause::Outage,
        EventKind::Fault => Cause::Fault,
        EventKind::Reconnected => Cause::Reconnect,
        EventKind::Other => match ServerTold::of(event) {
            Some(ServerTold::Checkpoint) => Cause::Checkpoint,
            // One process of many, most often the very one that was asked: why it was slow, and no cause of it for others.
            Some(ServerTold::LockWait) => {
                return met.moments.push((begin, event.kind, event.subject.clone()));
            }
            Some(ServerTold::Vacuum) | None => Cause::OtherEvent,
        },
        EventKind::Phase
        | EventKind::ConnectionLost
        | EventKind::ClockStep
        | EventKind::FirstError
        | EventKind::Recorder => return met.moments.push((begin, event.kind, event.subject.clone())),
    };
    if begin < end {
        let of_server = match cause {
            Cause::JvmThread => jvm(&event.subject) == Cause::ServerJvm,
            cause => is_shared(cause),
        };
        met.add(cause, (begin, end), of_server);
    } else {
        met.moments.push((begin, event.kind, event.subject.clone()));
    }
}
