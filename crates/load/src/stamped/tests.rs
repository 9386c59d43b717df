use super::*;
use crate::doubles::bare_session;
use crate::unit_doubles::shared;
use clock::SimClock;
use driver::KernelStamp;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use units::Nanos;

/// A session whose answers and stamps are told beforehand; it answers nothing when there are no more.
struct Told {
    answers: VecDeque<Option<KernelStamp>>,
    stamp: Option<KernelStamp>,
}

impl Told {
    fn new(stamps: &[Option<u64>]) -> Told {
        let stamp = |at: u64| KernelStamp { realtime_ns: at, upper_bound: true };
        Told { answers: stamps.iter().map(|at| at.map(stamp)).collect(), stamp: None }
    }
}

impl Session for Told {
    bare_session!(in_place);
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        let Some(stamp) = self.answers.pop_front() else { return Poll::Pending };
        self.stamp = stamp;
        Poll::Ready(Ok(()))
    }
    fn arrived(&self) -> Option<KernelStamp> {
        self.stamp
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A request of two exchanges, due at once, against a session that answers so.
fn two_exchanges(stamps: &[Option<u64>]) -> (Result<(), OpError>, u64, bool) {
    let (shared, clock) = (shared(1, 1), SimClock::new());
    let local = Local::new(clock.clone(), &shared, Vec::new(), 1, Some(Nanos(50)), None);
    let mut session = Told::new(stamps);
    let words = FirstWords::default();
    let mut conversation = Stamped::new(&mut session, &local, 0, Ticks(0), &words, Inside::new(0, 0, None));
    let result = {
        let mut both = pin!(async {
            conversation.exchange().await?;
            conversation.exchange().await
        });
        match poll(both.as_mut()) {
            Poll::Ready(result) => result,
            Poll::Pending => {
                clock.advance_to(Ticks(60));
                local.expire(Ticks(60), false, &mut Vec::new());
                let Poll::Ready(result) = poll(both.as_mut()) else { panic!("its time is over") };
                result
            }
        }
    };
    let stamps = &conversation.stamps;
    (result, stamps.arrived_realtime_ns, stamps.arrived_upper_bound)
}

#[test]
fn a_kernel_stamp_belongs_to_the_last_exchange() {
    assert_eq!(two_exchanges(&[None, Some(7)]), (Ok(()), 7, true));
    assert_eq!(two_exchanges(&[Some(7), None]), (Ok(()), NO_STAMP, false));
    let given_up = Err(OpError::lost(Outcome::Timeout));
    assert_eq!(two_exchanges(&[Some(7)]), (given_up, NO_STAMP, false));
}

/// What a workload asks after a refusal (to roll back, say) is refused at once, too.
#[test]
fn a_request_that_is_called_off_waits_for_nothing() {
    let (shared, clock) = (shared(1, 1), SimClock::new());
    let local = Local::new(clock.clone(), &shared, Vec::new(), 1, None, None);
    let mut session = Told::new(&[]);
    let words = FirstWords::default();
    let mut conversation =
        Stamped::new(&mut session, &local, 0, Ticks(1_000), &words, Inside::new(0, 0, None));
    {
        let mut first = pin!(conversation.exchange());
        assert_eq!(poll(first.as_mut()), Poll::Pending);
        shared.stop_at.store(500, std::sync::atomic::Ordering::Relaxed);
        let refused = Poll::Ready(Err(OpError::refused(Outcome::Unfinished)));
        assert_eq!(poll(first.as_mut()), refused);
    }
    let refused = Poll::Ready(Err(OpError::refused(Outcome::Unfinished)));
    assert_eq!(poll(pin!(conversation.exchange())), refused);
    assert_eq!(conversation.withheld(), Withheld::CalledOff);
}

/// A session that has failed, and forgets why as soon as it is asked for something else.
struct Forgetful {
    said: Option<&'static str>,
}

impl Session for Forgetful {
    fn descriptor(&self) -> Option<std::os::fd::RawFd> {
        None
    }
    fn stage(&mut self, _command: Command<'_>) -> Result<(), OpError> {
        self.said = None;
        Ok(())
    }
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        self.said = Some("deadlock detected");
        Poll::Ready(Err(OpError { outcome: Outcome::Deadlock, session_usable: true }))
    }
    fn reply(&self, _command: usize) -> Reply {
        Reply::default()
    }
    fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<ValueRef<'_>> {
        None
    }
    fn arrived(&self) -> Option<KernelStamp> {
        None
    }
    fn last_error(&self) -> Option<String> {
        self.said.map(str::to_owned)
    }
}

/// A transaction is rolled back before anybody asks what went wrong.
#[test]
fn the_words_of_an_error_outlive_the_rollback() {
    let (shared, clock) = (shared(1, 1), SimClock::new());
    let local = Local::new(clock, &shared, Vec::new(), 1, None, None);
    let mut session = Forgetful { said: None };
    let words = FirstWords::default();
    {
        let mut conversation =
            Stamped::new(&mut session, &local, 0, Ticks(0), &words, Inside::new(0, 0, None));
        let mut exchange = pin!(conversation.exchange());
        assert!(matches!(poll(exchange.as_mut()), Poll::Ready(Err(_))));
    }
    let mut conversation = Stamped::new(&mut session, &local, 0, Ticks(0), &words, Inside::new(0, 0, None));
    conversation.stage(Command::Rollback).unwrap();
    assert_eq!(session.last_error(), None);
    assert_eq!(words.of(Outcome::Deadlock).as_deref(), Some("deadlock detected"));
    assert_eq!(words.of(Outcome::Serialization), None);
}

/// Refuses pings, and with one the batch that it was to be part of.
struct Picky;

impl Session for Picky {
    bare_session!();
    fn descriptor(&self) -> Option<std::os::fd::RawFd> {
        None
    }
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if command == Command::Ping { Err(OpError::refused(Outcome::Protocol)) } else { Ok(()) }
    }
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        Poll::Ready(Ok(()))
    }
    fn arrived(&self) -> Option<KernelStamp> {
        None
    }
}

#[test]
fn what_was_refused_is_in_no_exchange() {
    let (samples, _) = record::ring(4);
    let (statements, mut rows) = record::statement_ring(4);
    let rings = crate::rings::Rings { samples, statements: Some(statements) };
    let (shared, mut session, words) = (shared(1, 1), Picky, FirstWords::default());
    let local = Local::new(SimClock::new(), &shared, rings, 1, None, None);
    let mut conversation =
        Stamped::new(&mut session, &local, 0, Ticks(0), &words, Inside::new(7, 0, Some(0)));
    conversation.stage(Command::Begin).unwrap();
    conversation.stage(Command::Ping).unwrap_err();
    conversation.stage(Command::Rollback).unwrap();
    assert_eq!(poll(pin!(conversation.exchange())), Poll::Ready(Ok(())));
    let mut seen = Vec::new();
    rows.drain(|row| seen.push((row.label, row.commands, row.with)));
    assert_eq!(seen, [(record::NO_STATEMENT, 1, record::with::ROLLBACK)]);
}
