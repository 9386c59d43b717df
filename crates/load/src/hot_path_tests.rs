//! The promise of the hot path: between the first and the last request a worker calls neither the allocator
//! nor the system, and takes no lock. Each check has a canary that must trip it.
//!
//! | promise | shown by | on |
//! |---|---|---|
//! | no allocation | a counting allocator | polled and blocking workers, two workers at once |
//! | no system call | a jail in which any is fatal | the same |
//! | no lock | counting locked instructions: one for each request, the claim's wait-free addition | polled and blocking workers, on x86-64 |
//! | what waiting calls lies outside of requests | where each wait begins and ends, on a clock that only tests have | a polled worker with gaps to sleep in |
//!
//! The null target's answers take no time and need no descriptor, so that what is seen is all ours. A worker with
//! sockets asks epoll between the requests that it has in flight: that is how answers are seen, and is not shown
//! here to be free of cost.

use crate::arrivals::Process;
use crate::doubles::{numbered_requests, plain};
use crate::local::{Local, Shared, Watched};
use crate::readiness::{Readiness, Waiting};
use crate::retry::{Pause, Retry};
use crate::rings::Rings;
use crate::schedule::Writer;
use crate::sequencer::Sequencer;
use crate::session::{Conditions, run_session};
use crate::simulate::Losses;
use crate::spec::{LoadSpec, Model, Pacing, Think};
use crate::terminals::Terminals;
use crate::unit_doubles::{Nobody, shared};
use crate::worker::{Tasks, run_worker};
use clock::{Clock, ClockChoice, LiveClock};
use driver::{Command, Conversation, OpError, Target};
use driver_null::NullTarget;
use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Mutex;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::syscalls::{Violation, no_syscalls, only_syscalls_on_threads};
use units::{Nanos, Outcome, Ticks};
use workload::users::{Turn, Users};
use workload::{OpId, Workload};

#[global_allocator]
static ALLOCATOR: CountingAlloc = CountingAlloc;

thread_local! {
    static FIRST: Cell<Option<Counts>> = const { Cell::new(None) };
    static LAST: Cell<Option<Counts>> = const { Cell::new(None) };
}

/// What a request does besides its exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misdeed {
    None,
    Allocates,
    CallsTheSystem,
    TakesALock,
    /// Not ours: each request fails as often as it is tried.
    Fails,
}

static LOCK: Mutex<u64> = Mutex::new(0);

/// One ping per request, with a look at this thread's allocation count.
struct Observed(Misdeed);

impl Workload for Observed {
    numbered_requests!("Ping");
    async fn run<C: Conversation>(&self, plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        if FIRST.get().is_none() {
            FIRST.set(Some(Counts::now()));
        }
        #[cfg(target_arch = "x86_64")]
        testkit::locked::mark();
        conversation.stage(Command::Ping)?;
        conversation.exchange().await?;
        // The first session to end frees its plan: that is after the load, not in it.
        if *plan < REQUESTS - 1000 {
            LAST.set(Some(Counts::now()));
        }
        match self.0 {
            Misdeed::None => {}
            Misdeed::Allocates => drop(std::hint::black_box(Box::new(1u8))),
            // SAFETY: getppid has no effect.
            Misdeed::CallsTheSystem => drop(unsafe { libc::getppid() }),
            Misdeed::Fails => return Err(OpError::refused(Outcome::Deadlock)),
            Misdeed::TakesALock => *LOCK.lock().unwrap() += 1,
        }
        Ok(Outcome::Ok)
    }

    fn users(&self) -> Option<Box<dyn Users>> {
        Some(Box::new(Restless))
    }
}

/// A thousand users who neither think nor key in.
struct Restless;

impl Users for Restless {
    fn count(&self) -> u32 {
        1_000
    }

    fn next(&mut self, _user: u32) -> Turn {
        Turn { op: OpId(0), keying: Nanos::ZERO, thinking: Nanos::ZERO }
    }
}

const REQUESTS: u64 = 100_000;

fn spec(model: Model, phases: &str) -> LoadSpec {
    LoadSpec {
        operations: vec!["Ping".into()],
        sessions: 4,
        requests: Some(REQUESTS),
        timeout: Some(Nanos::from_secs(1)),
        drain: Nanos::from_secs(10),
        pacing: Pacing::SleepThenSpin,
        ..plain(model, phases)
    }
}

fn closed() -> LoadSpec {
    spec(Model::Closed { think: Think::None }, "100s")
}

/// A million arrivals a second: no gap is long enough to sleep in.
fn open() -> LoadSpec {
    spec(Model::Open { process: Process::Poisson }, "100s@1000000/s")
}

fn terminals() -> LoadSpec {
    spec(Model::Terminals, "100s")
}

/// A blocking session has a worker of its own, at which the supervisor looks.
fn blocking(spec: LoadSpec) -> LoadSpec {
    LoadSpec { sessions: 1, ..spec }
}

/// Each kind of load on each kind of worker: polled with four sessions, blocking with one.
fn cases() -> [LoadSpec; 6] {
    [closed(), open(), terminals(), blocking(closed()), blocking(open()), blocking(terminals())]
}

/// What the workers of a load have in common, with the whole schedule written.
struct Ground {
    spec: LoadSpec,
    workload: Observed,
    shared: Shared,
    clock: LiveClock,
    lead_in: Ticks,
    /// For blocking sessions.
    watched: Option<Watched>,
}

impl Ground {
    fn new(spec: &LoadSpec, misdeed: Misdeed) -> Ground {
        let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
        let workload = Observed(misdeed);
        let terminals = Terminals::of(spec, &workload, &clock).unwrap();
        let shared = Shared { terminals, ..shared(1 << 18, spec.sessions) };
        let mut writer = Writer::new(Sequencer::new(spec, workload.tickets()).unwrap());
        assert!(writer.prefill(&shared.schedule), "the ring must hold the whole schedule");
        let watched = (spec.sessions == 1).then(|| Watched::new(None));
        Ground { spec: spec.clone(), workload, shared, clock, lead_in: clock.now(), watched }
    }

    /// Prepares a live worker on its share of the sessions, from `first` on, and hands its loop to `around`.
    fn work(&self, rings: impl Into<Rings>, sessions: Range<u16>, around: impl FnOnce(&mut dyn FnMut())) {
        let conditions = Conditions {
            spec: &self.spec,
            workload: &self.workload,
            replacement: &Nobody,
            happenings: &Losses::default(),
            lead_in: self.lead_in,
        };
        let target = NullTarget::new();
        let count = sessions.len();
        let local = Local::new(
            self.clock,
            &self.shared,
            rings.into(),
            count,
            self.spec.timeout,
            self.watched.as_ref(),
        );
        let mut tasks = Tasks::new(sessions.enumerate().map(|(task, session)| {
            run_session(target.connect(&[], None).unwrap(), session, task as u32, &local, &conditions)
        }));
        let mut readiness = Readiness::new(count).unwrap();
        // The first poll of each session allocates its plan and agenda.
        (0..count).for_each(|task| tasks.poll(task as u32));
        FIRST.set(None);
        around(&mut || run_worker(&mut tasks, &local, &mut readiness, self.spec.pacing).unwrap());
    }
}

/// Calls of this thread's allocator, from its first to its last request.
fn allocations() -> u64 {
    match (FIRST.get(), LAST.get()) {
        (Some(first), Some(last)) => last.since(first).total(),
        _ => 0,
    }
}

/// Runs one worker on all sessions; `around` is given the loop to run.
fn work(spec: &LoadSpec, misdeed: Misdeed, around: impl FnOnce(&mut dyn FnMut())) -> (u64, u64) {
    let (producer, mut consumer) = record::ring(1 << 18);
    Ground::new(spec, misdeed).work(producer, 0..spec.sessions as u16, around);
    (consumer.drain(|_| ()), allocations())
}

#[test]
fn a_worker_allocates_nothing() {
    for spec in cases() {
        let (samples, added) = work(&spec, Misdeed::None, |run| run());
        assert_eq!((samples, added), (REQUESTS, 0));
    }
}

/// Nor does it when each request is tried thrice, with a pause that is drawn.
#[test]
fn a_worker_that_tries_again_allocates_nothing_and_calls_nothing() {
    let pause = Pause::Exponential { first: Nanos(20), most: Nanos(40) };
    for spec in cases() {
        let spec = LoadSpec { retry: Retry { pause, ..Retry::conflicts(2) }, ..spec };
        let (producer, mut consumer) = record::ring(1 << 18);
        Ground::new(&spec, Misdeed::Fails).work(producer, 0..spec.sessions as u16, |run| run());
        let (mut samples, mut retries) = (0, 0);
        consumer.drain(|sample| (samples, retries) = (samples + 1, retries + u64::from(sample.retries)));
        assert_eq!((samples, retries, allocations()), (REQUESTS, 2 * REQUESTS, 0), "{:?}", spec.model);
        work(&spec, Misdeed::Fails, |run| {
            let outcome = no_syscalls(run);
            assert_eq!(outcome, Ok(()), "{:?}", spec.model);
        });
    }
}

/// Nor where the exchanges inside of requests are timed: each request has a row of its own in the other ring.
#[test]
fn a_worker_that_times_statements_allocates_nothing_and_calls_nothing() {
    for spec in cases() {
        let timed = || {
            let (samples, _) = record::ring(1 << 18);
            let (statements, consumer) = record::statement_ring(1 << 18);
            (Rings { samples, statements: Some(statements) }, consumer)
        };
        let all = 0..spec.sessions as u16;
        let (rings, mut consumer) = timed();
        Ground::new(&spec, Misdeed::None).work(rings, all.clone(), |run| run());
        let mut pings = 0;
        consumer.drain(|row| pings += u64::from(row.label == record::PING && row.sent <= row.completed));
        assert_eq!((pings, consumer.dropped(), allocations()), (REQUESTS, 0, 0), "{:?}", spec.model);
        let (rings, _consumer) = timed();
        Ground::new(&spec, Misdeed::None).work(rings, all, |run| {
            let outcome = no_syscalls(run);
            assert_eq!(outcome, Ok(()), "{:?}", spec.model);
        });
    }
}

#[test]
fn canary_an_allocation_is_seen() {
    for spec in cases() {
        let (_, added) = work(&spec, Misdeed::Allocates, |run| run());
        assert!(added >= REQUESTS - 2000, "{added} calls seen");
    }
}

#[test]
fn a_worker_calls_nothing_of_the_system() {
    for spec in cases() {
        work(&spec, Misdeed::None, |run| {
            let outcome = no_syscalls(run);
            assert_eq!(outcome, Ok(()), "{:?}", spec.model);
        });
    }
}

#[test]
fn canary_a_syscall_is_seen() {
    for spec in cases() {
        work(&spec, Misdeed::CallsTheSystem, |run| {
            let outcome = no_syscalls(run);
            assert!(matches!(outcome, Err(Violation::Syscall(_))), "{outcome:?}");
        });
    }
}

#[test]
fn two_workers_allocate_nothing() {
    for (misdeed, expected) in [(Misdeed::None, false), (Misdeed::Allocates, true)] {
        let ground = Ground::new(&closed(), misdeed);
        let done: Vec<(u64, u64)> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..2)
                .map(|worker| {
                    let ground = &ground;
                    scope.spawn(move || {
                        let (producer, mut consumer) = record::ring(1 << 18);
                        ground.work(producer, 2 * worker..2 * worker + 2, |run| run());
                        (consumer.drain(|_| ()), allocations())
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert_eq!(done.iter().map(|(samples, _)| samples).sum::<u64>(), REQUESTS);
        assert_eq!(done.iter().any(|&(_, added)| added > 0), expected, "{done:?}");
    }
}

#[test]
fn two_workers_call_nothing_of_the_system() {
    for (misdeed, clean) in [(Misdeed::None, true), (Misdeed::CallsTheSystem, false)] {
        let ground = Ground::new(&closed(), misdeed);
        let outcome = only_syscalls_on_threads(&[], 2, |worker, jail| {
            let (producer, _consumer) = record::ring(1 << 18);
            let first = 2 * worker as u16;
            ground.work(producer, first..first + 2, |run| jail(run));
        });
        assert_eq!(outcome.is_ok(), clean, "{outcome:?}");
        assert!(clean || matches!(outcome, Err(Violation::Syscall(_))), "{outcome:?}");
    }
}

/// As `cases`, and all requests of the open loop are due at once: none is claimed and then waited for. Without terminals,
/// whose queue is behind a lock: who asks a question in a dozen seconds can wait for it.
#[cfg(target_arch = "x86_64")]
fn cases_without_waits() -> [LoadSpec; 4] {
    let open = spec(Model::Open { process: Process::Poisson }, "100s@1000000000/s");
    [closed(), open.clone(), blocking(closed()), blocking(open)]
}

/// Locked instructions from one request to the next.
#[cfg(target_arch = "x86_64")]
fn locked_each(spec: &LoadSpec, misdeed: Misdeed) -> f64 {
    // The first 64 of each session are over before the loop is handed out.
    let requests = 64 * u64::from(spec.sessions) + 50;
    let spec = LoadSpec { requests: Some(requests), ..spec.clone() };
    let mut counted = None;
    work(&spec, misdeed, |run| counted = Some(testkit::locked::locked_instructions(run).unwrap()));
    let counted = counted.unwrap();
    assert_eq!(counted.marks, 50);
    counted.each()
}

/// The addition with which a session claims its request is the only one: that is no lock, since it comes to its
/// end whatever the others do. A lock would be two more, as the canary's are.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_worker_takes_no_lock() {
    for spec in cases_without_waits() {
        assert_eq!(locked_each(&spec, Misdeed::None), 1.0, "{:?}", spec.model);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn canary_a_lock_that_nobody_else_holds_is_seen() {
    for spec in cases_without_waits() {
        assert_eq!(locked_each(&spec, Misdeed::TakesALock), 3.0, "{:?}", spec.model);
    }
}

/// A hundred requests, half a millisecond apart: the worker sleeps before each.
fn slow() -> LoadSpec {
    LoadSpec { requests: Some(100), ..spec(Model::Open { process: Process::Constant }, "100s@2000/s") }
}

#[test]
fn a_worker_that_sleeps_calls_nothing_else_of_the_system() {
    let outcome = |allowed: &[libc::c_long]| {
        // Prepared in the child, so that the first request is due soon after.
        only_syscalls_on_threads(allowed, 1, |_, jail| {
            work(&slow(), Misdeed::None, |run| jail(run));
        })
    };
    assert_eq!(outcome(&[libc::SYS_epoll_pwait2]), Ok(()));
    assert_eq!(outcome(&[]), Err(Violation::Syscall(libc::SYS_epoll_pwait2)), "it does sleep");
}

/// Moves on by 50 ns whenever it is looked at, so that spinning comes to an end.
#[derive(Clone, Default)]
struct Ticking(Rc<Cell<u64>>);

impl Clock for Ticking {
    fn now(&self) -> Ticks {
        self.0.set(self.0.get() + 50);
        Ticks(self.0.get())
    }
    fn ticks_in(&self, nanos: Nanos) -> u64 {
        nanos.0
    }
}

/// Sleeps as long as it may, and longer by `overslept`; notes from when to when.
struct Noting {
    clock: Ticking,
    overslept: u64,
    waits: Rc<RefCell<Vec<Range<u64>>>>,
}

impl Waiting for Noting {
    fn register(&mut self, _: crate::local::Registration) -> io::Result<()> {
        Ok(())
    }
    fn wait(&mut self, limit: Nanos, _ready: &mut Vec<u32>) {
        let begin = self.clock.0.get();
        self.clock.0.set(begin + limit.0 + self.overslept);
        self.waits.borrow_mut().push(begin..self.clock.0.get());
    }
}

/// Waits of a worker on [`slow`], and how many of them lie in part between a request's due time and its end.
fn waits_and_overlaps(overslept: u64) -> (usize, usize) {
    let ground = Ground::new(&slow(), Misdeed::None);
    let conditions = Conditions {
        spec: &ground.spec,
        workload: &ground.workload,
        replacement: &Nobody,
        happenings: &Losses::default(),
        lead_in: Ticks(1_000_000),
    };
    let (clock, waits) = (Ticking::default(), Rc::<RefCell<Vec<Range<u64>>>>::default());
    let (producer, mut consumer) = record::ring(1 << 10);
    let local = Local::new(clock.clone(), &ground.shared, Rings::from(producer), 4, None, None);
    let mut tasks = Tasks::new((0..4).map(|task| {
        run_session(NullTarget::new().connect(&[], None).unwrap(), task as u16, task, &local, &conditions)
    }));
    let mut readiness = Readiness::with(Noting { clock, overslept, waits: Rc::clone(&waits) }, 4);
    run_worker(&mut tasks, &local, &mut readiness, ground.spec.pacing).unwrap();
    let mut requests = Vec::new();
    consumer.drain(|sample| requests.push(sample.intended.0..sample.completed.0));
    assert_eq!(requests.len(), 100);
    let waits = waits.take();
    let overlaps = waits.iter().filter(|w| requests.iter().any(|r| w.start < r.end && r.start < w.end));
    (waits.len(), overlaps.count())
}

#[test]
fn a_worker_sleeps_before_requests_and_not_in_them() {
    let (waits, overlaps) = waits_and_overlaps(0);
    assert!(waits >= 100, "{waits} waits for 100 requests");
    assert_eq!(overlaps, 0);
}

#[test]
fn canary_a_sleep_into_a_request_is_seen() {
    // 80 µs are left for the spin: a system that wakes later than that lies in the request, as its lag.
    let (_, overlaps) = waits_and_overlaps(100_000);
    assert!(overlaps >= 50, "{overlaps} seen");
}

#[test]
fn the_buffer_faults_no_page_in_while_recording() {
    let faults = || {
        // SAFETY: an all-zero rusage is valid, and the call fills it.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage.ru_minflt
        }
    };
    // A fork makes each page fault once more, when it is written to.
    let _alone = testkit::syscalls::nobody_forks();
    let mut added = 0;
    work(&closed(), Misdeed::None, |run| {
        let before = faults();
        run();
        added = faults() - before;
    });
    // 100,000 samples of 56 bytes are 1,367 pages; a few faults come from stack and code.
    assert!(added < 100, "{added} faults");
}
