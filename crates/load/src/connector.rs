//! Connecting and reconnecting, on threads that measure nothing.

use crate::session::Replacement;
use driver::{ConnectError, Isolation, StatementSpec, Target};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use units::Nanos;

/// The first session that could not be connected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectFailure {
    /// Its number, from 0.
    pub session: u32,
    /// How many were wanted.
    pub wanted: u32,
    /// Why.
    pub error: ConnectError,
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.session == 0 {
            return self.error.fmt(f);
        }
        write!(f, "session {} of {}: {}; try fewer --sessions", self.session + 1, self.wanted, self.error)
    }
}

impl std::error::Error for ConnectFailure {}

/// Connects `count` sessions, up to eight at a time, in order.
///
/// # Errors
/// The failure of the lowest-numbered session that failed; the others are closed.
pub fn connect_all<T: Target>(
    target: &T,
    statements: &[StatementSpec],
    isolation: Option<Isolation>,
    count: u32,
) -> Result<Vec<T::Session>, ConnectFailure> {
    let fail = |session, error| ConnectFailure { session, wanted: count, error };
    let mut sessions = Vec::with_capacity(count as usize);
    // One alone first: when the server is down, one error is enough.
    if count > 0 {
        sessions.push(target.connect(statements, isolation).map_err(|e| fail(0, e))?);
    }
    while (sessions.len() as u32) < count {
        let done = sessions.len() as u32;
        let batch = (count - done).min(8);
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..batch).map(|_| scope.spawn(|| target.connect(statements, isolation))).collect();
            threads.into_iter().map(|t| t.join()).collect()
        });
        for (index, result) in results.into_iter().enumerate() {
            let lost = || Err(ConnectError::permanent("the connecting thread ended unexpectedly"));
            sessions.push(result.unwrap_or_else(|_| lost()).map_err(|e| fail(done + index as u32, e))?);
        }
    }
    Ok(sessions)
}

/// Replaces lost sessions in the background, with backoff from 10 ms to 1 s.
pub(crate) struct Connector<S> {
    wanted: Mutex<Sender<(u16, u32)>>,
    queue: Mutex<Receiver<(u16, u32)>>,
    ready: Vec<Mutex<Option<S>>>,
    over: AtomicBool,
}

impl<S: Send> Connector<S> {
    pub(crate) fn new(sessions: usize) -> Connector<S> {
        let (wanted, queue) = channel();
        Connector {
            wanted: Mutex::new(wanted),
            queue: Mutex::new(queue),
            ready: (0..sessions).map(|_| Mutex::new(None)).collect(),
            over: AtomicBool::new(false),
        }
    }

    /// One connecting thread's work, until [`Connector::end`].
    pub(crate) fn serve(&self, connect: impl Fn() -> Result<S, ConnectError>) {
        while !self.over.load(Ordering::Relaxed) {
            let next = {
                let queue = lock(&self.queue);
                if self.over.load(Ordering::Relaxed) {
                    return; // the others had the queue meanwhile
                }
                queue.recv_timeout(std::time::Duration::from_millis(20))
            };
            let (number, attempts) = match next {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            match connect() {
                Ok(session) => *lock(&self.ready[usize::from(number)]) = Some(session),
                Err(_) => {
                    // A permanent error is tried again, too: the server that comes back may differ.
                    clock::pause(Nanos::from_millis(10 << attempts.min(7)).min(Nanos::from_secs(1)));
                    self.want(number, attempts + 1);
                }
            }
        }
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn want(&self, number: u16, attempts: u32) {
        // Fails only when the receiver is gone, which `self` owns.
        let _ = lock(&self.wanted).send((number, attempts));
    }
}

impl<S: Send> Replacement<S> for Connector<S> {
    fn request(&self, number: u16) {
        self.want(number, 0);
    }

    fn take(&self, number: u16) -> Option<S> {
        lock(&self.ready[usize::from(number)]).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // The data behind these locks is whole at every point, so a panicked holder changes nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
