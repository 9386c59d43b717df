//! `--check staleness`: probes of the read-after-write lag, beside the load on a thread and two sessions of their own.
//!
//! Nothing of them is a sample: they are no part of the load, and their times are bounds. They are recorded as noise sources
//! are, an observation for each bound of each probe.

use crate::output;
use anyhow::Context;
use clock::{Clock, LiveClock};
use driver::{Direct, Session, Target};
use record::{EventKind, EventSink, NoiseSink, NoiseSourceFacts, Recorder};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use units::{Nanos, Rng, Seed, Ticks, format_count};
use workload::staleness::{LIMIT, Probe, ProbeError, Seen, Side, Watch};

/// Mean time from one probe's begin to the next one's.
const EACH: Nanos = Nanos::from_millis(50);
/// How long an answer is waited for when the run is over.
const GRACE: Nanos = Nanos::from_secs(1);
/// How often a waiting thread looks whether the run is over.
const LOOK: Nanos = Nanos::from_millis(10);

/// Ready to probe: the record is there.
pub(super) struct Prober<'a, T: Target> {
    target: &'a T,
    probe: Probe,
    /// The one that writes, and the one that reads; `None` when one of them was lost.
    sessions: Option<(T::Session, T::Session)>,
    /// The next version to write.
    version: i64,
    /// Draws of the gaps.
    gaps: Rng,
}

/// Probes on their thread; dropped, they end.
pub(super) struct Probing<'scope> {
    stop: Arc<AtomicBool>,
    thread: Option<ScopedJoinHandle<'scope, Told>>,
}

/// What there is to say of them at the end.
#[derive(Default)]
struct Told {
    probes: u64,
    reads: u64,
    failures: u64,
    /// Why the record could not be removed.
    left_behind: Option<String>,
}

impl<'a, T: Target> Prober<'a, T> {
    /// Makes the record and connects.
    ///
    /// # Errors
    /// When the target can't be asked so, refuses the table, or a session.
    pub(super) fn prepare(target: &'a T, client: u16, seed: Seed) -> anyhow::Result<Prober<'a, T>> {
        let probe = Probe::new(target.dialect(), client).map_err(|reason| anyhow::anyhow!(reason));
        let probe = probe.context("--check staleness")?;
        // Greater than what an earlier run may have left in the record, if the clock has not gone back.
        let version = clock::wall_time_ns().cast_signed();
        let set_up = target.administer().and_then(|mut made| probe.set_up(made.as_mut(), version));
        set_up.context("--check staleness: its record can't be made")?;
        let gaps = seed.derive("staleness probes").rng();
        let mut prober = Prober { target, probe, sessions: None, version, gaps };
        prober.connect().map_err(|reason| anyhow::anyhow!("--check staleness: {reason}"))?;
        Ok(prober)
    }

    /// For the recording's header: what runs beside the load.
    pub(super) fn capability(&self) -> (String, String) {
        let name = format!("{}{}", analysis::facts::PROBE_OF, self.probe.record());
        (name, format!("{}; each {EACH}", self.probe.describe()))
    }

    /// Starts probing. Noise sources of the host must have been announced before.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(super) fn start<'scope>(
        self,
        scope: &'scope Scope<'scope, 'a>,
        recorder: &Recorder,
        clock: LiveClock,
    ) -> anyhow::Result<Probing<'scope>> {
        let stop = Arc::new(AtomicBool::new(false));
        let watch = RunWatch { clock, stop: Arc::clone(&stop) };
        let log = Log::announce(recorder, clock);
        let thread = Builder::new()
            .name("staleness".to_owned())
            .spawn_scoped(scope, move || self.run(&watch, log))
            .context("--check staleness: can't start its thread")?;
        Ok(Probing { stop, thread: Some(thread) })
    }

    fn run(mut self, watch: &RunWatch, mut log: Log) -> Told {
        // Granted or not: a late read only widens what is known.
        let _ = clock::set_timer_slack(Nanos(1));
        let mut next = watch.now();
        while !watch.is_over() {
            let begun = watch.now();
            match self.one(watch) {
                Ok(seen) => log.seen(&seen),
                // The run ended while an answer was awaited: nothing failed.
                Err(_) if watch.is_over() => {}
                Err((class, words)) => log.failed(begun, watch.now(), &class, words),
            }
            // Not in step with anything that is periodic in the store: gaps are drawn between half and one and a half.
            next = (next + Nanos(EACH.0 / 2 + self.gaps.below(EACH.0))).max(watch.now());
            watch.sleep_until(next);
        }
        log.told.left_behind = self.clean_up(watch).err();
        log.told
    }

    /// One probe. The error is a class, for telling each once, and words.
    fn one(&mut self, watch: &RunWatch) -> Result<Seen, (String, String)> {
        let Prober { probe, version, .. } = self;
        *version += 1;
        let (version, probe) = (*version, probe.clone());
        let (writer, reader) = self.connect().map_err(|words| ("connect".to_owned(), words))?;
        let give_up = watch.give_up();
        let result = {
            let mut writing = Direct::until(writer, &give_up);
            let mut reading = Direct::until(reader, &give_up);
            Direct::<T::Session>::run(probe.run(version, &mut writing, &mut reading, watch))
        };
        let error = match result {
            Ok(seen) => return Ok(seen),
            Err(error) => error,
        };
        let words = match error {
            ProbeError::Failed(Side::Writer, _) => writer.last_error(),
            ProbeError::Failed(Side::Reader, _) => reader.last_error(),
            ProbeError::RecordGone | ProbeError::Foreign => None,
        };
        if matches!(error, ProbeError::Failed(_, cause) if !cause.session_usable) {
            self.sessions = None;
        }
        let class = error.to_string();
        let words = words.map_or_else(|| class.clone(), |words| format!("{class}: {words}"));
        Err((class, words))
    }

    /// The sessions, made anew where one was lost.
    fn connect(&mut self) -> Result<(&mut T::Session, &mut T::Session), String> {
        let (writer, reader) = match self.sessions.take() {
            Some(sessions) => sessions,
            None => {
                let statements = self.probe.statements();
                let connect = || self.target.connect(&statements, None).map_err(|error| error.to_string());
                (connect()?, connect()?)
            }
        };
        let (writer, reader) = self.sessions.insert((writer, reader));
        Ok((writer, reader))
    }

    fn clean_up(mut self, watch: &RunWatch) -> Result<(), String> {
        let probe = self.probe.clone();
        let give_up = watch.give_up();
        let (writer, _) = self.connect()?;
        let removed = Direct::<T::Session>::run(probe.remove(&mut Direct::until(writer, &give_up)));
        removed.map_err(|error| error.outcome.name().to_owned())?;
        self.sessions = None;
        let dropped = self.target.administer().and_then(|mut made| probe.drop_table(made.as_mut()));
        dropped.map_err(|error| error.to_string())
    }
}

impl Probing<'_> {
    /// Ends the probe that is under way and removes the record; says how it went, as a fact for the recording's end.
    pub(super) fn stop(mut self) -> (String, String) {
        self.stop.store(true, Ordering::Relaxed);
        let told = self.thread.take().map(ScopedJoinHandle::join);
        let name = "read-after-write probes".to_owned();
        let Some(Ok(told)) = told else { return (name, "their thread has panicked".to_owned()) };
        if let Some(reason) = &told.left_behind {
            output::note(&format!("--check staleness: its record was left behind: {reason}"));
        }
        let Told { probes, reads, failures, .. } = told;
        let counts = [probes, reads, failures].map(format_count);
        (name, format!("{} with {} reads, and {} that failed", counts[0], counts[1], counts[2]))
    }
}

impl Drop for Probing<'_> {
    /// The scope waits for the thread.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The run's clock, and whether the run is over.
struct RunWatch {
    clock: LiveClock,
    stop: Arc<AtomicBool>,
}

impl RunWatch {
    /// Whether an exchange of a probe that begins now is to be given up: long after the probe's own limit, or some time
    /// after the run's end.
    fn give_up(&self) -> impl Fn() -> bool {
        let (begun, over_since) = (self.now(), Cell::new(None));
        move || {
            let now = self.now();
            if !self.is_over() {
                return now.saturating_sub(begun) > LIMIT + LIMIT;
            }
            let since = over_since.get().unwrap_or(now);
            over_since.set(Some(since));
            now.saturating_sub(since) > GRACE
        }
    }

    fn sleep_until(&self, at: Nanos) {
        while !self.is_over() {
            let left = at.saturating_sub(self.now());
            if left == Nanos::ZERO {
                return;
            }
            clock::pause(left.min(LOOK));
        }
    }
}

impl Watch for RunWatch {
    fn now(&self) -> Nanos {
        self.clock.nanos_in(self.clock.now().0)
    }

    async fn pause(&self, gap: Nanos) {
        clock::pause(gap);
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Where probes go in a recording.
struct Log {
    noise: NoiseSink,
    events: EventSink,
    clock: LiveClock,
    at_least: u16,
    at_most: u16,
    failed: u16,
    /// Classes of failures of which there was one.
    known: HashSet<String>,
    told: Told,
}

impl Log {
    fn announce(recorder: &Recorder, clock: LiveClock) -> Log {
        let noise = recorder.noise();
        let source = |name: &str, unit: &str| {
            noise.source(NoiseSourceFacts { name: name.to_owned(), unit: unit.to_owned(), available: Ok(0) })
        };
        let at_least = source(analysis::facts::LAG_AT_LEAST, "ns");
        let at_most = source(analysis::facts::LAG_AT_MOST, "ns");
        let failed = source(analysis::facts::PROBES_FAILED, "count");
        let (known, told) = (HashSet::new(), Told::default());
        Log { events: recorder.events(), noise, clock, at_least, at_most, failed, known, told }
    }

    fn ticks(&self, at: Nanos) -> Ticks {
        Ticks(self.clock.ticks_in(at))
    }

    fn seen(&mut self, seen: &Seen) {
        self.told.probes += 1;
        self.told.reads += u64::from(seen.reads);
        let window = (self.ticks(seen.acknowledged), self.ticks(seen.ended));
        let push = |source, lag: Nanos| self.noise.push(source, lag.0 as f64, window.0, window.1);
        push(self.at_least, seen.at_least());
        if let Some(at_most) = seen.at_most() {
            push(self.at_most, at_most);
        }
    }

    fn failed(&mut self, begun: Nanos, at: Nanos, class: &str, words: String) {
        self.told.failures += 1;
        let window = (self.ticks(begun), self.ticks(at));
        self.noise.push(self.failed, 1.0, window.0, window.1);
        if self.known.insert(class.to_owned()) {
            self.events.push(EventKind::FirstError, window.1, window.1, "staleness probe", words);
        }
    }
}
