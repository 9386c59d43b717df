//! The real session loop on a simulated clock, against a simulated server: deterministic, and as fast as the
//! CPU. This is how the harness itself is tested, and how a method is graded against known truth.
//!
//! Everything between [`crate::Sequencer`] and the sample is the live code; only waiting (advance the clock
//! to the next thing that happens) and the server are simulated. One tick is one nanosecond; the load starts
//! at tick 0.

use crate::engine::session_limits;
use crate::local::{Local, Shared};
use crate::schedule::{Schedule, Writer};
use crate::sequencer::Sequencer;
use crate::session::{Conditions, Happenings, Replacement, run_session};
use crate::spec::{LoadSpec, SpecError};
use crate::supervisor::{STOP_AHEAD, has_visits};
use crate::terminals::Terminals;
use crate::worker::Tasks;
use clock::{Clock, SimClock};
use driver::{Command, KernelStamp, OpError, Reply, Session, ValueRef};
use record::{RawSample, RawStatement};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use units::{Nanos, Outcome, Ticks};
use workload::Workload;

/// What the simulated server does with an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// When the answer is there; not before the question.
    pub at: Nanos,
    /// How it ended.
    pub result: Result<(), OpError>,
}

/// A simulated server: decides when each exchange is answered, in the order in which they are sent.
pub trait Server: Send {
    /// The exchange sent at `now` by `session`.
    fn serve(&mut self, now: Nanos, session: u16) -> Answer;
}

/// A FIFO server with one place, constant service, and stalls during which it serves nothing.
///
/// It answers when service *begins*, so that the answer times are pure waiting, as in the closed forms for
/// SickStore; [`FifoServer::answer_after_service`] makes it an ordinary queue.
pub struct FifoServer {
    service: Nanos,
    stalls: Vec<(Nanos, Nanos)>,
    free_at: Nanos,
    after_service: bool,
}

impl FifoServer {
    /// Serves one exchange each `service`, nothing during `stalls` (begin, end), which ascend.
    pub fn new(service: Nanos, stalls: Vec<(Nanos, Nanos)>) -> FifoServer {
        FifoServer { service, stalls, free_at: Nanos::ZERO, after_service: false }
    }

    /// Answers at the end of service.
    pub fn answer_after_service(mut self) -> FifoServer {
        self.after_service = true;
        self
    }
}

impl Server for FifoServer {
    fn serve(&mut self, now: Nanos, _session: u16) -> Answer {
        let mut begin = now.max(self.free_at);
        for &(from, until) in &self.stalls {
            if begin >= from && begin < until {
                begin = until;
            }
        }
        self.free_at = begin + self.service;
        Answer { at: if self.after_service { self.free_at } else { begin }, result: Ok(()) }
    }
}

struct World {
    now: Nanos,
    server: Box<dyn Server>,
    /// Answers on their way: (time, task).
    answers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Sessions that are being replaced: number → when.
    replacements: Vec<(u16, Nanos)>,
}

/// A session of the simulated server.
struct SimSession {
    world: Arc<Mutex<World>>,
    number: u16,
    answer: Option<Answer>,
}

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session for SimSession {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    fn stage(&mut self, _command: Command<'_>) -> Result<(), OpError> {
        Ok(())
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        let mut world = lock(&self.world);
        let now = world.now;
        let number = self.number;
        let answer = *self.answer.get_or_insert_with(|| {
            let answer = world.server.serve(now, number);
            let at = answer.at.max(now);
            world.answers.push(Reverse((at.0, u32::from(number))));
            Answer { at, ..answer }
        });
        if answer.at > now {
            return Poll::Pending;
        }
        self.answer = None;
        Poll::Ready(answer.result)
    }

    fn reply(&self, _command: usize) -> Reply {
        Reply { rows: 1, affected: 1 }
    }

    fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<ValueRef<'_>> {
        None
    }

    fn arrived(&self) -> Option<KernelStamp> {
        None
    }

    fn last_error(&self) -> Option<String> {
        None
    }
}

/// How long a simulated reconnect takes.
const RECONNECT: Nanos = Nanos::from_millis(20);

struct SimReplacement(Arc<Mutex<World>>);

impl Replacement<SimSession> for SimReplacement {
    fn request(&self, number: u16) {
        let mut world = lock(&self.0);
        let at = world.now + RECONNECT;
        world.replacements.push((number, at));
    }

    fn take(&self, number: u16) -> Option<SimSession> {
        let mut world = lock(&self.0);
        let now = world.now;
        let index = world.replacements.iter().position(|&(n, at)| n == number && at <= now)?;
        world.replacements.swap_remove(index);
        Some(SimSession { world: Arc::clone(&self.0), number, answer: None })
    }
}

/// Counts lost connections.
#[derive(Default)]
pub(crate) struct Losses(pub(crate) Cell<u32>);

impl Happenings for Losses {
    fn lost(&self, _session: u16, _at: Ticks, _words: Option<String>) {
        self.0.set(self.0.get() + 1);
    }
    fn replaced(&self, _session: u16, _from: Ticks, _until: Ticks) {}
    fn first_error(&self, _session: u16, _at: Ticks, _outcome: Outcome, _words: String) {}
    fn paused(&self, _at: Ticks) {}
}

/// A sink that can be read when the tasks that wrote to it are gone.
#[derive(Clone, Default)]
pub(crate) struct Collected {
    pub(crate) samples: Rc<RefCell<Vec<RawSample>>>,
    statements: Option<Rc<RefCell<Vec<RawStatement>>>>,
}

impl crate::local::Sink for Collected {
    fn push(&mut self, sample: RawSample) {
        self.samples.borrow_mut().push(sample);
    }

    fn times_statements(&self) -> bool {
        self.statements.is_some()
    }

    fn push_statement(&mut self, statement: RawStatement) {
        if let Some(statements) = &self.statements {
            statements.borrow_mut().push(statement);
        }
    }
}

/// What came of a simulated load.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// All samples in the order of completion. Requests that no session ever took have none.
    pub samples: Vec<RawSample>,
    /// The exchanges inside of them in the same order, where they were asked for.
    pub statements: Vec<RawStatement>,
    /// When the last session ended.
    pub ended: Nanos,
    /// How often a session reported its connection as lost.
    pub connections_lost: u32,
}

/// Runs `spec` against `server` to its end and gives all samples in the order of completion.
///
/// # Errors
/// See [`LoadSpec::check`].
pub fn simulate<W: Workload>(
    spec: &LoadSpec,
    workload: &W,
    server: Box<dyn Server>,
) -> Result<Vec<RawSample>, SpecError> {
    Ok(simulate_interrupted(spec, workload, server, None)?.samples)
}

/// Runs `spec` against `server`, interrupted at `stop` as a live run is by a signal.
///
/// # Errors
/// See [`LoadSpec::check`].
pub fn simulate_interrupted<W: Workload>(
    spec: &LoadSpec,
    workload: &W,
    server: Box<dyn Server>,
    stop: Option<Nanos>,
) -> Result<Simulated, SpecError> {
    run(spec, workload, server, stop, Collected::default())
}

/// As [`simulate`], with the exchanges inside of requests.
///
/// # Errors
/// See [`LoadSpec::check`].
pub fn simulate_statements<W: Workload>(
    spec: &LoadSpec,
    workload: &W,
    server: Box<dyn Server>,
) -> Result<Simulated, SpecError> {
    let collected = Collected { statements: Some(Rc::default()), ..Collected::default() };
    run(spec, workload, server, None, collected)
}

fn run<W: Workload>(
    spec: &LoadSpec,
    workload: &W,
    server: Box<dyn Server>,
    stop: Option<Nanos>,
    collected: Collected,
) -> Result<Simulated, SpecError> {
    let mut writer = Writer::new(Sequencer::new(spec, workload.tickets())?);
    let shared = shared_state(
        spec,
        Sequencer::made_when_claimed(spec, workload.tickets())?,
        Terminals::of(spec, workload, &SimClock::new())?,
    );
    writer.prefill(&shared.schedule);
    let world = Arc::new(Mutex::new(World {
        now: Nanos::ZERO,
        server,
        answers: BinaryHeap::new(),
        replacements: Vec::new(),
    }));
    let clock = SimClock::new();
    let replacement = SimReplacement(Arc::clone(&world));
    let losses = Losses::default();
    let conditions =
        Conditions { spec, workload, replacement: &replacement, happenings: &losses, lead_in: Ticks::EPOCH };
    let count = spec.sessions as usize;
    let local = Local::new(clock.clone(), &shared, collected.clone(), count, spec.timeout, None);
    let mut tasks = Tasks::new((0..count).map(|task| {
        let session = SimSession { world: Arc::clone(&world), number: task as u16, answer: None };
        run_session(session, task as u16, task as u32, &local, &conditions)
    }));
    (0..count).for_each(|task| tasks.poll(task as u32));
    let mut interruption = Interruption::new(stop, spec.drain);
    let mut late = Vec::new();
    while !tasks.all_done() {
        writer.fill(&shared.schedule, u64::MAX);
        let now = clock.now();
        // Time stands still until nothing more can run at this moment.
        while let Some(task) =
            local.next_runnable().or_else(|| local.next_due(now)).or_else(|| next_answer(&world, now))
        {
            tasks.poll(task);
        }
        interruption.act(now, &local, &mut writer, &mut late);
        local.expire(now, shared.abandoned(), &mut late);
        if !late.is_empty() {
            late.drain(..).for_each(|task| tasks.poll(task));
            continue;
        }
        let next = [next_happening(&local, &world, spec.timeout), interruption.next];
        let Some(next) = next.into_iter().flatten().min() else { break };
        if next > now {
            clock.advance_to(next);
            lock(&world).now = Nanos(next.0);
        }
    }
    drop(tasks);
    let samples = collected.samples.take();
    let statements = collected.statements.map(|statements| statements.take()).unwrap_or_default();
    Ok(Simulated { samples, statements, ended: Nanos(clock.now().0), connections_lost: losses.0.get() })
}

fn shared_state(
    spec: &LoadSpec,
    made_when_claimed: Option<Mutex<Sequencer>>,
    terminals: Option<Terminals>,
) -> Shared {
    let mut end = Nanos::ZERO;
    let phase_ends = spec.phases.iter().map(|p| {
        end = end + p.duration;
        Ticks(end.0)
    });
    Shared {
        schedule: Schedule::new(1 << 16, has_visits(&spec.model), spec.sessions),
        stop_at: AtomicU64::new(u64::MAX),
        abandon: AtomicBool::new(false),
        session_limits: session_limits(spec),
        made_when_claimed,
        terminals,
        phase_ends: phase_ends.collect(),
        alive: AtomicU64::new(u64::from(spec.sessions)),
    }
}

/// The supervisor's part in an interrupted run.
struct Interruption {
    /// When something is to be done next.
    next: Option<Ticks>,
    /// From the order to stop until what is in flight is given up.
    grace: Nanos,
}

impl Interruption {
    fn new(stop: Option<Nanos>, drain: Nanos) -> Interruption {
        let grace = Nanos::from_secs(1).min(drain).max(STOP_AHEAD + Nanos(1));
        Interruption { next: stop.map(|at| Ticks(at.0)), grace }
    }

    /// Orders the stop, or gives up what is left, when the time has come; the tasks to poll are appended.
    fn act<K: crate::local::Sink>(
        &mut self,
        now: Ticks,
        local: &Local<'_, SimClock, K>,
        writer: &mut Writer,
        tasks: &mut Vec<u32>,
    ) {
        if self.next.is_none_or(|at| now < at) {
            return;
        }
        let shared = local.shared;
        if shared.stopping() {
            self.next = None;
            shared.abandon.store(true, Ordering::Relaxed);
        } else {
            self.next = Some(Ticks(now.0 + self.grace.0));
            let stop_at = now.0 + STOP_AHEAD.0;
            shared.stop_at.store(stop_at, Ordering::Relaxed);
            writer.stop_at(&shared.schedule, Nanos(stop_at));
        }
        tasks.extend(std::iter::from_fn(|| local.next_waiting()));
    }
}

fn next_answer(world: &Mutex<World>, now: Ticks) -> Option<u32> {
    let mut world = lock(world);
    match world.answers.peek() {
        Some(Reverse((at, _))) if *at <= now.0 => world.answers.pop().map(|Reverse((_, task))| task),
        _ => None,
    }
}

fn next_happening<K: crate::local::Sink>(
    local: &Local<'_, SimClock, K>,
    world: &Mutex<World>,
    timeout: Option<Nanos>,
) -> Option<Ticks> {
    let answer = lock(world).answers.peek().map(|Reverse((at, _))| Ticks(*at));
    let timer = local.next_time();
    let deadline = timeout.and_then(|_| local.next_deadline());
    [answer, timer, deadline].into_iter().flatten().min()
}
