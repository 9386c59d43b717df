//! A live load from the start line to the last sample.

use crate::connector::Connector;
use crate::host::pin_to_set;
use crate::local::{Local, Shared, Watched};
use crate::never_sent::{Span, record_never_sent};
use crate::readiness::Readiness;
use crate::rings::Rings;
use crate::schedule::{Schedule, Writer};
use crate::sequencer::Sequencer;
use crate::session::{Conditions, Happenings, run_session};
use crate::spec::{LoadSpec, SpecError};
use crate::supervisor::{RING_BITS, Supervisor, has_visits};
use crate::terminals::Terminals;
use crate::threads::{SystemThreads, Threads};
use crate::worker::{Tasks, run_worker};
use clock::{Clock, LiveClock};
use driver::{Execution, Isolation, Session, StatementSpec, Target};
use record::EventKind;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use units::{Nanos, Outcome, Ticks};
use workload::Workload;

/// Where happenings besides requests go; called on cold paths only.
pub trait Journal: Sync {
    /// Notes an event.
    fn event(&self, kind: EventKind, begin: Ticks, end: Ticks, subject: String, detail: String);
}

/// How a load ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadTotals {
    /// When the load's first phase began.
    pub started: Ticks,
    /// When the last worker ended.
    pub ended: Ticks,
    /// Requests that were due and that no session ever took; recorded as unfinished.
    pub never_sent: u64,
    /// Whether it was interrupted from outside.
    pub interrupted: bool,
}

/// Why a load could not be made at all.
#[derive(Debug)]
pub enum EngineError {
    /// The specification is contradictory.
    Spec(SpecError),
    /// The system refused descriptors, threads or CPUs; the text says which.
    System(String),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Spec(error) => error.fmt(f),
            EngineError::System(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for EngineError {}

/// From the epoch to the load's start: time for all threads to reach their places.
pub const LEAD_IN: Nanos = Nanos::from_millis(50);

/// Rings that [`run`] needs: one for each worker, and one for requests that were never sent.
pub fn rings_needed(spec: &LoadSpec, execution: Execution) -> usize {
    1 + worker_count(spec, execution)
}

fn worker_count(spec: &LoadSpec, execution: Execution) -> usize {
    match execution {
        Execution::Polled => spec.workers.min(spec.sessions) as usize,
        Execution::Blocking => spec.sessions as usize,
    }
}

/// What a load runs against.
pub struct Subject<'a, T: Target, W> {
    /// The target.
    pub target: &'a T,
    /// Its connected sessions, as many as the specification says.
    pub sessions: Vec<T::Session>,
    /// The statements that they were connected with, for replacements.
    pub statements: &'a [StatementSpec],
    /// The isolation level that they were connected with.
    pub isolation: Option<Isolation>,
    /// The workload.
    pub workload: &'a W,
}

/// Runs a load; returns when the last sample is in its ring.
///
/// `rings` are [`rings_needed`] ends of rings whose other ends a recorder drains meanwhile; those of the last one get no
/// statements. `stop` ends the run in an orderly way.
///
/// # Errors
/// [`EngineError`]. Only when the system refuses a thread, or to watch a session's descriptor, may some of the
/// requests have been sent.
pub fn run<T: Target, W: Workload>(
    subject: Subject<'_, T, W>,
    spec: &LoadSpec,
    clock: LiveClock,
    rings: Vec<impl Into<Rings>>,
    journal: &dyn Journal,
    stop: &AtomicBool,
) -> Result<LoadTotals, EngineError> {
    let rings = rings.into_iter().map(Into::into).collect();
    run_with(subject, spec, clock, rings, journal, stop, &SystemThreads)
}

/// As [`run`], on threads that `threads` starts.
pub(crate) fn run_with<T: Target, W: Workload>(
    subject: Subject<'_, T, W>,
    spec: &LoadSpec,
    clock: LiveClock,
    mut rings: Vec<Rings>,
    journal: &dyn Journal,
    stop: &AtomicBool,
    threads: &impl Threads,
) -> Result<LoadTotals, EngineError> {
    let execution = subject.target.execution();
    let workers = worker_count(spec, execution);
    assert_eq!(rings.len(), workers + 1, "one ring for each worker and one for the rest");
    assert_eq!(subject.sessions.len(), spec.sessions as usize);
    let sequencer = Sequencer::new(spec, subject.workload.tickets()).map_err(EngineError::Spec)?;
    let lead_in = Ticks(clock.now().0 + clock.ticks_in(LEAD_IN));
    let terminals = Terminals::of(spec, subject.workload, &clock).map_err(EngineError::Spec)?;
    let made_when_claimed = Sequencer::made_when_claimed(spec, subject.workload.tickets());
    let shared = shared_state(spec, clock, lead_in, made_when_claimed.map_err(EngineError::Spec)?, terminals);
    let mut writer = Writer::new(sequencer);
    writer.prefill(&shared.schedule);
    let mut rest = rings.pop().expect("counted above").samples;
    note_phases(spec, clock, lead_in, journal);

    let connector = Connector::new(subject.sessions.len());
    let happenings = Noted { journal, outcomes_seen: AtomicU16::new(0), pause_noted: AtomicBool::new(false) };
    let watched: Vec<Watched> = if execution == Execution::Blocking {
        subject.sessions.iter().map(|session| Watched::new(session.canceller())).collect()
    } else {
        Vec::new()
    };
    let last_end = AtomicU64::new(0);
    let running = AtomicUsize::new(workers);
    let ended = || CountDown { running: &running, last_end: &last_end, clock };
    let crew = hire(deal(subject.sessions, workers), rings, ended)?;
    let conditions = Conditions {
        spec,
        workload: subject.workload,
        replacement: &connector,
        happenings: &happenings,
        lead_in,
    };
    let unwatchable = OnceLock::new();

    let started = std::thread::scope(|scope| {
        let start_all = || {
            for (index, worker) in crew.into_iter().enumerate() {
                let watched = watched.get(index);
                let (shared, conditions, unwatchable) = (&shared, &conditions, &unwatchable);
                let work = move || {
                    if let Err(error) = worker.work(shared, conditions, clock, watched) {
                        let _ = unwatchable.set(error); // the first one tells
                    }
                };
                threads.start(scope, format!("load-{index}"), work)?;
            }
            for index in 0..4.min(spec.sessions) {
                let connect = || subject.target.connect(subject.statements, subject.isolation);
                let connector = &connector;
                threads.start(scope, format!("connect-{index}"), move || connector.serve(connect))?;
            }
            Ok(())
        };
        let started: std::io::Result<()> = start_all();
        if started.is_err() {
            shared.abandon.store(true, Ordering::Release);
        }
        // Also what is abandoned before it began: a session may block in a request by now.
        let (shared, running, watched) = (&shared, &running, &watched);
        Supervisor { spec, shared, clock, lead_in, stop, running, journal, watched }.supervise(&mut writer);
        connector.end();
        started
    });
    check_system(started, unwatchable.into_inner())?;

    let span = Span { started: lead_in, ended: Ticks(last_end.load(Ordering::Acquire)) };
    let never_sent = record_never_sent(spec, &shared, &mut writer, &mut rest, clock, span);
    Ok(LoadTotals { started: lead_in, ended: span.ended, never_sent, interrupted: shared.stopping() })
}

/// What the system refused, in words.
fn check_system(
    started: std::io::Result<()>,
    unwatchable: Option<std::io::Error>,
) -> Result<(), EngineError> {
    started.map_err(|e| {
        let text = format!("could not start a worker thread: {e}; try fewer --sessions or --threads");
        EngineError::System(text)
    })?;
    unwatchable.map_or(Ok(()), |e| {
        let text = format!(
            "a session's descriptor can't be watched: {e}; try fewer --sessions, or raise \
             /proc/sys/fs/epoll/max_user_watches"
        );
        Err(EngineError::System(text))
    })
}

/// One worker's part, ready to be taken to its thread. Dropped anywhere, it counts itself out.
struct Worker<'a, S> {
    sessions: Vec<(u16, S)>,
    rings: Rings,
    readiness: Readiness,
    _ended: CountDown<'a>,
}

/// Makes all workers before the first one starts: if a thread can't be had, those without one are counted out.
fn hire<'a, S>(
    groups: Vec<Vec<(u16, S)>>,
    rings: Vec<Rings>,
    ended: impl Fn() -> CountDown<'a>,
) -> Result<Vec<Worker<'a, S>>, EngineError> {
    let parts = groups.into_iter().zip(rings);
    let workers = parts.map(|(sessions, rings)| {
        let readiness = Readiness::new(sessions.len())?;
        Ok(Worker { sessions, rings, readiness, _ended: ended() })
    });
    workers
        .collect::<std::io::Result<_>>()
        .map_err(|e| EngineError::System(format!("no descriptor for a worker: {e}; raise `ulimit -n`")))
}

/// Counts a worker out, however it ends, and notes when the last one did.
struct CountDown<'a> {
    running: &'a AtomicUsize,
    last_end: &'a AtomicU64,
    clock: LiveClock,
}

impl Drop for CountDown<'_> {
    fn drop(&mut self) {
        self.last_end.fetch_max(self.clock.now().0, Ordering::Release);
        self.running.fetch_sub(1, Ordering::Release); // pairs with the supervisor's Acquire
    }
}

fn shared_state(
    spec: &LoadSpec,
    clock: LiveClock,
    lead_in: Ticks,
    made_when_claimed: Option<Mutex<Sequencer>>,
    terminals: Option<Terminals>,
) -> Shared {
    let mut end = Nanos::ZERO;
    let phase_ends = spec
        .phases
        .iter()
        .map(|phase| {
            end = end + phase.duration;
            Ticks(lead_in.0 + clock.ticks_in(end))
        })
        .collect();
    Shared {
        schedule: Schedule::new(1 << RING_BITS, has_visits(&spec.model), spec.sessions),
        stop_at: AtomicU64::new(u64::MAX),
        abandon: AtomicBool::new(false),
        session_limits: session_limits(spec),
        made_when_claimed,
        terminals,
        phase_ends,
        alive: AtomicU64::new(u64::from(spec.sessions)),
    }
}

/// Sessions allowed by phase, where any phase limits them.
pub(crate) fn session_limits(spec: &LoadSpec) -> Option<Vec<u32>> {
    let limited = spec.phases.iter().any(|p| p.sessions.is_some());
    limited.then(|| spec.phases.iter().map(|p| p.sessions.unwrap_or(u32::MAX)).collect())
}

/// Deals sessions to workers in turn: (number, session).
fn deal<S>(sessions: Vec<S>, workers: usize) -> Vec<Vec<(u16, S)>> {
    let mut groups: Vec<Vec<(u16, S)>> = (0..workers).map(|_| Vec::new()).collect();
    for (number, session) in sessions.into_iter().enumerate() {
        groups[number % workers].push((number as u16, session));
    }
    groups
}

/// How long the kernel should let a worker run before another thread's turn: the shortest that Linux takes. In
/// return a worker that wakes goes first; see [`clock::ask_for_short_slices`].
pub const WORKER_SLICE: Nanos = Nanos::from_micros(100);

impl<S: Session> Worker<'_, S> {
    fn work<W: Workload, H: Happenings>(
        mut self,
        shared: &Shared,
        conditions: &Conditions<'_, W, Connector<S>, H>,
        clock: LiveClock,
        watched: Option<&Watched>,
    ) -> std::io::Result<()> {
        let spec = conditions.spec;
        clock::set_timer_slack(Nanos(1));
        if watched.is_none() {
            // A worker of blocking sessions may be the database itself, which gets what it would get elsewhere.
            clock::ask_for_short_slices(WORKER_SLICE);
        }
        // A CPU list that the kernel refuses was refused before, when the run's capabilities were read back.
        let _ = pin_to_set(&spec.cpus);
        let count = self.sessions.len();
        let local = Local::new(clock, shared, self.rings, count, spec.timeout, watched);
        let futures =
            self.sessions.into_iter().enumerate().map(|(task, (number, session))| {
                run_session(session, number, task as u32, &local, conditions)
            });
        let mut tasks = Tasks::new(futures);
        run_worker(&mut tasks, &local, &mut self.readiness, spec.pacing)
    }
}

fn note_phases(spec: &LoadSpec, clock: LiveClock, lead_in: Ticks, journal: &dyn Journal) {
    let mut begin = lead_in;
    for phase in &spec.phases {
        let end = Ticks(begin.0 + clock.ticks_in(phase.duration));
        journal.event(EventKind::Phase, begin, end, phase.name.clone(), String::new());
        begin = end;
    }
}

/// Happenings as events; of each error class only the first occurrence.
struct Noted<'a> {
    journal: &'a dyn Journal,
    outcomes_seen: AtomicU16,
    pause_noted: AtomicBool,
}

impl Happenings for Noted<'_> {
    fn lost(&self, session: u16, at: Ticks, words: Option<String>) {
        let subject = format!("session {session}");
        self.journal.event(EventKind::ConnectionLost, at, at, subject, words.unwrap_or_default());
    }

    fn replaced(&self, session: u16, from: Ticks, until: Ticks) {
        self.journal.event(EventKind::Reconnected, from, until, format!("session {session}"), String::new());
    }

    fn first_error(&self, session: u16, at: Ticks, outcome: Outcome, words: String) {
        let bit = 1 << outcome.code();
        if self.outcomes_seen.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let detail = format!("{}: {words}", outcome.name());
            self.journal.event(EventKind::FirstError, at, at, format!("session {session}"), detail);
        }
    }
    fn paused(&self, at: Ticks) {
        if !self.pause_noted.swap(true, Ordering::Relaxed) {
            let detail = "the closed loop rested between requests so that no sample was lost".to_owned();
            self.journal.event(EventKind::Recorder, at, at, "recorder".to_owned(), detail);
        }
    }
}
