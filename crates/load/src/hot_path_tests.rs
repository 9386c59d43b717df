//! The promise of the hot path: between the first and the last request a worker calls neither the allocator
//! nor the system. Each check has a canary that must trip it.

use crate::arrivals::Process;
use crate::local::{Local, Shared};
use crate::phases::parse_phases;
use crate::readiness::Readiness;
use crate::schedule::{Schedule, Writer};
use crate::sequencer::Sequencer;
use crate::session::{Conditions, Happenings, Replacement, run_session};
use crate::spec::{LoadSpec, Model, Pacing, Think};
use crate::worker::{Tasks, run_worker};
use clock::ClockChoice;
use driver::{Administration, Command, Conversation, Dialect, OpError, StatementSpec, Target};
use driver_null::NullTarget;
use record::Producer;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64};
use testkit::alloc::{CountingAlloc, Counts};
use testkit::syscalls::{Violation, no_syscalls};
use units::{Nanos, Outcome, Seed, Ticks};
use workload::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};

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
}

/// One ping per request, with a look at this thread's allocation count.
struct Watched(Misdeed);

impl Workload for Watched {
    type Plan = u64;
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts { name: "watched".into(), scale: 1.0, parameters: vec![] }
    }
    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "Ping", weight: 1.0 }]
    }
    fn statements(&self, _dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        Ok(vec![])
    }
    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }
    fn new_plan(&self) -> u64 {
        0
    }
    fn plan(&self, request: Request, plan: &mut u64) {
        *plan = request.seq;
    }
    async fn run<C: Conversation>(&self, plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        if FIRST.get().is_none() {
            FIRST.set(Some(Counts::now()));
        }
        conversation.stage(Command::Ping)?;
        conversation.exchange().await?;
        match self.0 {
            Misdeed::None => {}
            Misdeed::Allocates => drop(std::hint::black_box(Box::new(1u8))),
            // SAFETY: getppid has no effect.
            Misdeed::CallsTheSystem => drop(unsafe { libc::getppid() }),
        }
        // The first session to end frees its plan: that is after the load, not in it.
        if *plan < REQUESTS - 1000 {
            LAST.set(Some(Counts::now()));
        }
        Ok(Outcome::Ok)
    }
    fn dataset(&self) -> Option<&dyn workload::dataset::DataSet> {
        None
    }
    fn observe(&mut self, _administration: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}

struct Nobody;

impl<S> Replacement<S> for Nobody {
    fn request(&self, _number: u16) {}
    fn take(&self, _number: u16) -> Option<S> {
        None
    }
}

impl Happenings for Nobody {
    fn lost(&self, _session: u16, _at: Ticks, _words: Option<String>) {}
    fn replaced(&self, _session: u16, _from: Ticks, _until: Ticks) {}
    fn first_error(&self, _session: u16, _at: Ticks, _outcome: Outcome, _words: String) {}
    fn paused(&self, _at: Ticks) {}
}

const REQUESTS: u64 = 100_000;

fn spec(model: Model, phases: &str) -> LoadSpec {
    LoadSpec {
        model,
        phases: parse_phases(phases).unwrap(),
        operations: vec!["Ping".into()],
        mix: vec![1.0],
        sessions: 4,
        workers: 1,
        requests: Some(REQUESTS),
        timeout: Some(Nanos::from_secs(1)),
        drain: Nanos::from_secs(10),
        retries: 0,
        pacing: Pacing::SleepThenSpin,
        cpus: vec![],
        seed: Seed(1),
    }
}

fn closed() -> LoadSpec {
    spec(Model::Closed { think: Think::None }, "100s")
}

/// A million arrivals a second: no gap is long enough to sleep in.
fn open() -> LoadSpec {
    spec(Model::Open { process: Process::Poisson }, "100s@1000000/s")
}

/// Runs a live worker on four null sessions; `around` is given the loop to run.
fn work(spec: &LoadSpec, misdeed: Misdeed, around: impl FnOnce(&mut dyn FnMut())) -> (u64, u64) {
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let shared = Shared {
        schedule: Schedule::new(1 << 18, false, spec.sessions),
        stop_at: AtomicU64::new(u64::MAX),
        abandon: AtomicBool::new(false),
        session_limits: None,
        made_when_claimed: None,
        phase_ends: vec![Ticks(u64::MAX / 2)],
        alive: AtomicU64::new(4),
    };
    let workload = Watched(misdeed);
    let mut writer = Writer::new(Sequencer::new(spec, workload.tickets()).unwrap());
    assert!(writer.prefill(&shared.schedule), "the ring must hold the whole schedule");
    let conditions = Conditions {
        spec,
        workload: &workload,
        replacement: &Nobody,
        happenings: &Nobody,
        lead_in: clock::Clock::now(&clock),
    };
    let (producer, mut consumer) = record::ring(1 << 18);
    let target = NullTarget::new();
    let local: Local<'_, _, Producer> = Local::new(clock, &shared, producer, 4, spec.timeout, None);
    let mut tasks = Tasks::new((0..4).map(|task| {
        let session = target.connect(&[], None).unwrap();
        run_session(session, task as u16, task, &local, &conditions)
    }));
    let mut readiness = Readiness::new(4).unwrap();
    // The first poll of each session allocates its plan and agenda.
    (0..4).for_each(|task| tasks.poll(task));
    FIRST.set(None);
    around(&mut || run_worker(&mut tasks, &local, &mut readiness, spec.pacing).unwrap());
    drop(tasks);
    let samples = consumer.drain(|_| ());
    let added = match (FIRST.get(), LAST.get()) {
        (Some(first), Some(last)) => last.since(first).total(),
        _ => 0,
    };
    (samples, added)
}

#[test]
fn a_worker_allocates_nothing() {
    for spec in [closed(), open()] {
        let (samples, added) = work(&spec, Misdeed::None, |run| run());
        assert_eq!((samples, added), (REQUESTS, 0));
    }
}

#[test]
fn canary_an_allocation_is_seen() {
    let (_, added) = work(&closed(), Misdeed::Allocates, |run| run());
    assert!(added >= REQUESTS - 2000, "{added} calls seen");
}

#[test]
fn a_worker_calls_nothing_of_the_system() {
    for spec in [closed(), open()] {
        work(&spec, Misdeed::None, |run| {
            let outcome = no_syscalls(run);
            assert_eq!(outcome, Ok(()), "{:?}", spec.model);
        });
    }
}

#[test]
fn canary_a_syscall_is_seen() {
    work(&closed(), Misdeed::CallsTheSystem, |run| {
        let outcome = no_syscalls(run);
        assert!(matches!(outcome, Err(Violation::Syscall(_))), "{outcome:?}");
    });
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
    let mut added = 0;
    work(&closed(), Misdeed::None, |run| {
        let before = faults();
        run();
        added = faults() - before;
    });
    // 100,000 samples of 56 bytes are 1,367 pages; a few faults come from stack and code.
    assert!(added < 100, "{added} faults");
}
