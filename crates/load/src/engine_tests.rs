//! What the engine does when the system refuses a thread.

use crate::arrivals::Process;
use crate::doubles::{Silent, bare_session, bare_target, plain};
use crate::engine::{EngineError, LoadTotals, Subject, rings_needed, run_with};
use crate::spec::{LoadSpec, Model, Think};
use crate::threads::{SystemThreads, Threads};
use clock::ClockChoice;
use driver::{
    Canceller, ConnectError, Execution, Isolation, KernelStamp, OpError, Session, StatementSpec, Target,
};
use driver_null::NullTarget;
use record::Consumer;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::thread::Scope;
use std::time::Duration;
use units::Outcome;
use workload::noop::{Mode, NoOp};

/// A system that has two threads left, and that refuses the third when `before` has returned.
struct TwoLeft<F> {
    asked: AtomicUsize,
    before: F,
}

impl<F: Fn()> Threads for TwoLeft<F> {
    fn start<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        name: String,
        work: impl FnOnce() + Send + 'scope,
    ) -> io::Result<()> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < 2 {
            return SystemThreads.start(scope, name, work);
        }
        (self.before)();
        Err(io::Error::from_raw_os_error(libc::EAGAIN))
    }
}

fn spec(model: Model, phases: &str) -> LoadSpec {
    LoadSpec { sessions: 4, workers: 4, ..plain(model, phases) }
}

fn run_on_two_threads<T: Target>(
    target: &T,
    spec: &LoadSpec,
    before: impl Fn(),
) -> (Result<LoadTotals, EngineError>, Vec<Consumer>) {
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let sessions = (0..spec.sessions).map(|_| target.connect(&[], None).unwrap()).collect();
    let (producers, consumers) = (0..rings_needed(spec, target.execution()))
        .map(|_| record::ring(1 << 10))
        .map(|(producer, consumer)| (producer.into(), consumer))
        .unzip();
    let workload = NoOp::new(Mode::Ping);
    let subject = Subject { target, sessions, statements: &[], isolation: None, workload: &workload };
    let threads = TwoLeft { asked: AtomicUsize::new(0), before };
    let stop = AtomicBool::new(false);
    (run_with(subject, spec, clock, producers, &Silent, &stop, &threads), consumers)
}

fn says_what_to_do(result: Result<LoadTotals, EngineError>) -> bool {
    let Err(EngineError::System(text)) = result else { return false };
    text.contains("could not start a worker thread") && text.contains("--threads")
}

#[test]
fn a_thread_that_can_not_be_had_ends_the_load_before_it_begins() {
    // The first request is due after 5 s: those who have a thread must be sent home before.
    let spec = spec(Model::Open { process: Process::Constant }, "20s@0.2/s");
    let (result, mut consumers) = run_on_two_threads(&NullTarget::new(), &spec, || ());
    assert!(says_what_to_do(result));
    let samples: u64 = consumers.iter_mut().map(|c| c.drain(|_| ())).sum();
    assert_eq!(samples, 0);
}

/// Requests that wait for their canceller.
#[derive(Default)]
struct Waiters {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    blocked: u32,
    cancelled: bool,
    /// Requests that nobody interrupted within ten seconds.
    forgotten: u32,
}

struct Blocking(Arc<Waiters>);
struct BlockingSession(Arc<Waiters>);

impl Target for Blocking {
    bare_target!(BlockingSession, Execution::Blocking);
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<BlockingSession, ConnectError> {
        Ok(BlockingSession(Arc::clone(&self.0)))
    }
}

impl Session for BlockingSession {
    bare_session!(in_place);
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        let mut state = self.0.state.lock().unwrap();
        state.blocked += 1;
        self.0.changed.notify_all();
        let waits = |state: &mut State| !state.cancelled;
        let (mut state, _) =
            self.0.changed.wait_timeout_while(state, Duration::from_secs(10), waits).unwrap();
        state.forgotten += u32::from(!state.cancelled);
        Poll::Ready(Err(OpError::refused(Outcome::Timeout)))
    }
    fn arrived(&self) -> Option<KernelStamp> {
        None
    }
    fn canceller(&self) -> Option<Canceller> {
        let waiters = Arc::clone(&self.0);
        Some(Box::new(move || {
            waiters.state.lock().unwrap().cancelled = true;
            waiters.changed.notify_all();
        }))
    }
}

#[test]
fn requests_that_block_already_are_interrupted_when_a_thread_can_not_be_had() {
    let waiters = Arc::new(Waiters::default());
    let target = Blocking(Arc::clone(&waiters));
    let both_block = || {
        let state = waiters.state.lock().unwrap();
        drop(waiters.changed.wait_while(state, |state| state.blocked < 2).unwrap());
    };
    let (result, _rings) =
        run_on_two_threads(&target, &spec(Model::Closed { think: Think::None }, "60s"), both_block);
    assert!(says_what_to_do(result));
    let state = waiters.state.lock().unwrap();
    assert_eq!((state.cancelled, state.forgotten), (true, 0));
}
