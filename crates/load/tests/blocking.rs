//! Sessions that block: who is interrupted when a request takes too long.

use clock::ClockChoice;
use driver::{
    Administration, Canceller, Command, ConnectError, Dialect, Execution, Isolation, KernelStamp, OpError,
    Reply, Session, StatementSpec, Target, ValueRef,
};
use load::{Journal, LoadSpec, Model, Pacing, Subject, Think, parse_phases};
use record::{EventKind, RawSample};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::time::Duration;
use units::{Nanos, Outcome, Seed, Ticks};
use workload::noop::{Mode, NoOp};

/// Cancellations of one session.
#[derive(Default)]
struct Cancels {
    count: Mutex<u32>,
    changed: Condvar,
}

/// The first session that it connects is lost with its first request; later ones answer when their own
/// canceller interrupts them, or after ten seconds.
#[derive(Default)]
struct Fragile {
    connected: AtomicU32,
    cancels: [Arc<Cancels>; 2],
}

struct FragileSession {
    incarnation: usize,
    cancels: Arc<Cancels>,
}

impl Target for Fragile {
    type Session = FragileSession;
    fn execution(&self) -> Execution {
        Execution::Blocking
    }
    fn dialect(&self) -> Dialect {
        Dialect::Null
    }
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<FragileSession, ConnectError> {
        let incarnation = self.connected.fetch_add(1, Ordering::Relaxed) as usize;
        let cancels = self.cancels.get(incarnation).ok_or(ConnectError::permanent("two are enough"))?;
        Ok(FragileSession { incarnation, cancels: Arc::clone(cancels) })
    }
    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Err(ConnectError::permanent("nothing to administer"))
    }
}

impl Session for FragileSession {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }
    fn stage(&mut self, _: Command<'_>) -> Result<(), OpError> {
        Ok(())
    }
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        if self.incarnation == 0 {
            return Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost)));
        }
        let count = self.cancels.count.lock().unwrap();
        let limit = Duration::from_secs(10);
        let (count, _) = self.cancels.changed.wait_timeout_while(count, limit, |n| *n == 0).unwrap();
        Poll::Ready(if *count > 0 { Err(OpError::refused(Outcome::Timeout)) } else { Ok(()) })
    }
    fn reply(&self, _: usize) -> Reply {
        Reply::default()
    }
    fn value(&self, _: usize, _: usize, _: usize) -> Option<ValueRef<'_>> {
        None
    }
    fn arrived(&self) -> Option<KernelStamp> {
        None
    }
    fn last_error(&self) -> Option<String> {
        None
    }
    fn canceller(&self) -> Option<Canceller> {
        let cancels = Arc::clone(&self.cancels);
        Some(Box::new(move || {
            *cancels.count.lock().unwrap() += 1;
            cancels.changed.notify_all();
        }))
    }
}

struct Silent;

impl Journal for Silent {
    fn event(&self, _: EventKind, _: Ticks, _: Ticks, _: String, _: String) {}
}

#[test]
fn a_replaced_session_is_interrupted_by_its_own_canceller() {
    let spec = LoadSpec {
        model: Model::Closed { think: Think::None },
        phases: parse_phases("60s").unwrap(),
        operations: vec!["NoOp".into()],
        mix: vec![1.0],
        sessions: 1,
        workers: 1,
        requests: Some(2),
        timeout: Some(Nanos::from_millis(100)),
        drain: Nanos::from_secs(20),
        retries: 0,
        pacing: Pacing::Sleep,
        cpus: vec![],
        seed: Seed(1),
    };
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let (target, workload) = (Fragile::default(), NoOp::new(Mode::Ping));
    let sessions = load::connect_all(&target, &[], None, 1).unwrap();
    let subject =
        Subject { target: &target, sessions, statements: &[], isolation: None, workload: &workload };
    let (producers, mut consumers): (Vec<_>, Vec<_>) = (0..2).map(|_| record::ring(16)).unzip();
    load::run(subject, &spec, clock, producers, &Silent, &AtomicBool::new(false)).unwrap();
    let mut samples: Vec<RawSample> = Vec::new();
    consumers[0].drain(|sample| samples.push(*sample));
    let outcomes: Vec<u8> = samples.iter().map(|s| s.outcome).collect();
    assert_eq!(outcomes, [Outcome::ConnectionLost.code(), Outcome::Timeout.code()]);
    let waited = clock.nanos_in(samples[1].completed.0 - samples[1].sent.0);
    assert!(waited >= Nanos::from_millis(100), "{waited}");
    let [first, second] = &target.cancels;
    assert_eq!(*first.count.lock().unwrap(), 0, "the session that is gone was interrupted");
    assert!(*second.count.lock().unwrap() > 0);
}
