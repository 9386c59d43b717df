//! What a workload sees of a session: ordinary sequential code over `stage` and `exchange`.

use crate::{Command, OpError, Reply, Session, ValueRef};
use std::future::Future;
use std::task::Poll;
use units::Outcome;

/// A session as a transaction's code uses it. `load` implements it with stamps, [`Direct`] without.
pub trait Conversation {
    /// Encodes a command behind those already staged.
    ///
    /// # Errors
    /// See [`Session::stage`].
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError>;

    /// Sends what is staged and waits for all replies. One await is one round trip.
    ///
    /// # Errors
    /// The first command that failed; or a timeout.
    fn exchange(&mut self) -> impl Future<Output = Result<(), OpError>>;

    /// See [`Session::reply`].
    fn reply(&self, command: usize) -> Reply;

    /// See [`Session::value`].
    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>>;
}

/// Drives a session without stamps, blocking the thread: for set-up, checks and tests.
pub struct Direct<'a, S: Session> {
    session: &'a mut S,
    gives_up: &'a dyn Fn() -> bool,
}

impl<'a, S: Session> Direct<'a, S> {
    /// Wraps a session.
    pub fn new(session: &'a mut S) -> Direct<'a, S> {
        Direct { session, gives_up: &|| false }
    }

    /// Wraps a session whose exchanges are given up, as [`Outcome::Timeout`] that loses the session, when `gives_up` says
    /// so. It is asked while an answer is waited for, each 10 ms at least; sessions that block are never given up.
    pub fn until(session: &'a mut S, gives_up: &'a dyn Fn() -> bool) -> Direct<'a, S> {
        Direct { session, gives_up }
    }

    /// Stages one command, exchanges, and gives its reply.
    ///
    /// # Errors
    /// See [`Session::stage`] and [`Session::poll_reply`].
    pub fn ask(&mut self, command: Command<'_>) -> Result<Reply, OpError> {
        self.session.stage(command)?;
        self.wait()?;
        Ok(self.session.reply(0))
    }

    /// Runs a transaction's code to its end.
    pub fn run<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        loop {
            // `exchange` below never pends: it blocks in `wait`.
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
        }
    }

    fn wait(&mut self) -> Result<(), OpError> {
        loop {
            if let Poll::Ready(result) = self.session.poll_reply() {
                return result;
            }
            if (self.gives_up)() {
                return Err(OpError::lost(Outcome::Timeout));
            }
            if let Some(fd) = self.session.descriptor() {
                let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
                // SAFETY: one valid pollfd; the 10 ms limit also covers a blocked write.
                unsafe { libc::poll(&mut poll, 1, 10) };
            }
        }
    }
}

impl<S: Session> Conversation for Direct<'_, S> {
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        self.session.stage(command)
    }

    async fn exchange(&mut self) -> Result<(), OpError> {
        self.wait()
    }

    fn reply(&self, command: usize) -> Reply {
        self.session.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        self.session.value(command, row, column)
    }
}
