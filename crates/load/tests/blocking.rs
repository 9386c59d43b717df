//! Sessions that block: who is interrupted when a request takes too long.

mod doubles;

use clock::ClockChoice;
use doubles::{bare_session, bare_target, plain, run_pings};
use driver::{
    Canceller, ConnectError, Execution, Isolation, KernelStamp, OpError, Session, StatementSpec, Target,
};
use load::{LoadSpec, Model, Think};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::time::Duration;
use units::{Nanos, Outcome};

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
    bare_target!(FragileSession, Execution::Blocking);
    fn connect(&self, _: &[StatementSpec], _: Option<Isolation>) -> Result<FragileSession, ConnectError> {
        let incarnation = self.connected.fetch_add(1, Ordering::Relaxed) as usize;
        let cancels = self.cancels.get(incarnation).ok_or(ConnectError::permanent("two are enough"))?;
        Ok(FragileSession { incarnation, cancels: Arc::clone(cancels) })
    }
}

impl Session for FragileSession {
    bare_session!(in_place);
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        if self.incarnation == 0 {
            return Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost)));
        }
        let count = self.cancels.count.lock().unwrap();
        let limit = Duration::from_secs(10);
        let (count, _) = self.cancels.changed.wait_timeout_while(count, limit, |n| *n == 0).unwrap();
        Poll::Ready(if *count > 0 { Err(OpError::refused(Outcome::Timeout)) } else { Ok(()) })
    }
    fn arrived(&self) -> Option<KernelStamp> {
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

#[test]
fn a_replaced_session_is_interrupted_by_its_own_canceller() {
    let spec = LoadSpec {
        requests: Some(2),
        timeout: Some(Nanos::from_millis(100)),
        drain: Nanos::from_secs(20),
        ..plain(Model::Closed { think: Think::None }, "60s")
    };
    let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
    let target = Fragile::default();
    let (result, samples) = run_pings(&target, &spec, clock);
    result.unwrap();
    let outcomes: Vec<u8> = samples.iter().map(|s| s.outcome).collect();
    assert_eq!(outcomes, [Outcome::ConnectionLost.code(), Outcome::Timeout.code()]);
    let waited = clock.nanos_in(samples[1].completed.0 - samples[1].sent.0);
    assert!(waited >= Nanos::from_millis(100), "{waited}");
    let [first, second] = &target.cancels;
    assert_eq!(*first.count.lock().unwrap(), 0, "the session that is gone was interrupted");
    assert!(*second.count.lock().unwrap() > 0);
}
