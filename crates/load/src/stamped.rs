//! The conversation that stamps: the only place where `sent` and `completed` are read.

use crate::first_words::FirstWords;
use crate::inside::Inside;
use crate::local::{Cancel, Local, Sink};
use clock::Clock;
use driver::{Command, Conversation, OpError, Reply, Session, ValueRef};
use std::future::poll_fn;
use std::task::Poll;
use units::{Nanos, Outcome, Ticks};

const NO_STAMP: u64 = u64::MAX;

/// One request's stamps.
#[derive(Debug)]
pub(crate) struct Stamps {
    pub(crate) sent: Ticks,
    pub(crate) completed: Ticks,
    pub(crate) arrived_realtime_ns: u64,
    pub(crate) arrived_upper_bound: bool,
}

impl Stamps {
    const NONE: Stamps = Stamps {
        sent: Ticks::NONE,
        completed: Ticks::NONE,
        arrived_realtime_ns: NO_STAMP,
        arrived_upper_bound: false,
    };
}

/// A session during one request. The first exchange waits for the due time *after* its commands were
/// encoded, so that encoding is neither lag nor service time.
pub(crate) struct Stamped<'a, 'l, S: Session, C, K> {
    session: &'a mut S,
    local: &'a Local<'l, C, K>,
    task: u32,
    due: Ticks,
    words: &'a FirstWords,
    /// What was stamped so far. Read where it lies: a copy of what was written in parts a moment ago costs
    /// as much as a clock reading.
    pub(crate) stamps: Stamps,
    /// What is inside of it, where that is timed.
    inside: Inside,
    withheld: Withheld,
}

/// Whether the end of the run kept a request from being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Withheld {
    No,
    /// The run ended before the request was due: it does not exist.
    CalledOff,
    /// It was due, and there was no time left for it: it is recorded as never sent.
    Abandoned,
}

impl<'a, 'l, S: Session, C: Clock, K: Sink> Stamped<'a, 'l, S, C, K> {
    pub(crate) fn new(
        session: &'a mut S,
        local: &'a Local<'l, C, K>,
        task: u32,
        due: Ticks,
        words: &'a FirstWords,
        inside: Inside,
    ) -> Stamped<'a, 'l, S, C, K> {
        Stamped { session, local, task, due, words, stamps: Stamps::NONE, inside, withheld: Withheld::No }
    }

    /// What is to be handed to [`Stamped::resumed`].
    pub(crate) fn so_far(self) -> (Stamps, Inside) {
        (self.stamps, self.inside)
    }

    /// Goes on with a request over a session that took the place of the one that it lost.
    pub(crate) fn resumed(
        session: &'a mut S,
        local: &'a Local<'l, C, K>,
        task: u32,
        due: Ticks,
        words: &'a FirstWords,
        (stamps, inside): (Stamps, Inside),
    ) -> Stamped<'a, 'l, S, C, K> {
        Stamped { session, local, task, due, words, stamps, inside, withheld: Withheld::No }
    }

    /// Rests before the next attempt, for `pause` from the end of the last one. The time limit goes on.
    ///
    /// # Errors
    /// The request's end, where its time is over meanwhile, or the run.
    pub(crate) async fn rest(&mut self, pause: Nanos) -> Result<(), OpError> {
        self.inside.again();
        let local = self.local;
        let limit = local.timeout_ticks().map_or(u64::MAX, |ticks| self.stamps.sent.0.saturating_add(ticks));
        let again = self.stamps.completed.0.saturating_add(local.clock.ticks_in(pause));
        let now = local.wait_until(self.task, Ticks(again.min(limit)), || local.shared.abandoned()).await;
        let outcome = match (now.0 >= limit, local.shared.abandoned()) {
            (true, _) => Outcome::Timeout,
            (false, true) => Outcome::Unfinished,
            (false, false) => return Ok(()),
        };
        self.stamps.completed = now;
        self.stamps.arrived_realtime_ns = NO_STAMP;
        self.stamps.arrived_upper_bound = false;
        Err(OpError::refused(outcome))
    }

    /// Nothing more will be sent for this request.
    #[inline(always)]
    pub(crate) fn end_flight(&mut self) {
        if self.stamps.sent.is_some() {
            self.local.end_flight(self.task);
        }
    }

    pub(crate) fn withheld(&self) -> Withheld {
        self.withheld
    }

    /// Waits for the due time, unless that is pointless, and gives the time at which it ended; outside of the
    /// way of a request that is already due.
    pub(crate) async fn wait_for_due(&self) -> Ticks {
        let (local, due) = (self.local, self.due);
        if local.shared.gives_up(due) {
            return local.clock.now();
        }
        local.wait_until(self.task, due, || local.shared.gives_up(due)).await
    }

    /// The exchange that has just ended is a row of its own.
    fn note_exchange(&mut self, result: Result<(), OpError>) {
        let stamp = result.ok().and_then(|()| self.session.arrived());
        let outcome = result.map_or_else(|error| error.outcome, |()| Outcome::Ok);
        let phase = || self.local.shared.phase_at(self.stamps.sent);
        if let Some(row) = self.inside.over(self.stamps.completed, stamp, outcome, phase) {
            self.local.sink.borrow_mut().push_statement(row);
        }
    }

    /// Stamps `sent`, unless the run has ended meanwhile.
    #[inline(always)]
    fn start(&mut self, now: Ticks) -> Result<(), OpError> {
        let (local, due) = (self.local, self.due);
        if local.shared.called_off(due) {
            self.withheld = Withheld::CalledOff;
            return Err(OpError::refused(Outcome::Unfinished));
        }
        if local.shared.abandoned() {
            self.withheld = if now < due { Withheld::CalledOff } else { Withheld::Abandoned };
            return Err(OpError::refused(Outcome::Unfinished));
        }
        self.stamps.sent = now;
        local.begin_flight(self.task, now);
        Ok(())
    }
}

impl<S: Session, C: Clock, K: Sink> Conversation for Stamped<'_, '_, S, C, K> {
    #[inline(always)]
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if self.local.times_statements {
            self.inside.note(&command);
        }
        self.session.stage(command).inspect_err(|error| {
            // With the command its batch is refused: nothing of it will be sent.
            self.inside.forget();
            self.words.note(error.outcome, &*self.session);
        })
    }

    #[inline]
    async fn exchange(&mut self) -> Result<(), OpError> {
        if !self.stamps.sent.is_some() {
            // A request that is already due costs one reading.
            let mut now = self.local.clock.now();
            if now < self.due {
                now = self.wait_for_due().await;
            }
            self.start(now)?;
            self.inside.leaves(now);
        } else {
            // The stamp of an earlier exchange is not that of this answer, which may bring none.
            self.stamps.arrived_realtime_ns = NO_STAMP;
            self.stamps.arrived_upper_bound = false;
            if self.local.times_statements {
                self.inside.leaves(self.local.clock.now());
            }
        }
        let result = poll_fn(|_| match self.session.poll_reply() {
            Poll::Ready(result) => {
                self.stamps.completed = self.local.clock.now();
                if let Some(stamp) = self.session.arrived() {
                    self.stamps.arrived_realtime_ns = stamp.realtime_ns;
                    self.stamps.arrived_upper_bound = stamp.upper_bound;
                }
                if let Err(error) = result {
                    self.words.note(error.outcome, &*self.session);
                }
                Poll::Ready(result)
            }
            Poll::Pending => match self.local.cancel(self.task) {
                Cancel::No => {
                    self.local.watch_for_room(self.task, &*self.session);
                    Poll::Pending
                }
                reason => {
                    self.stamps.completed = self.local.clock.now();
                    let outcome =
                        if reason == Cancel::TimedOut { Outcome::Timeout } else { Outcome::Unfinished };
                    Poll::Ready(Err(OpError::lost(outcome)))
                }
            },
        })
        .await;
        if self.local.times_statements {
            self.note_exchange(result);
        }
        result
    }

    fn reply(&self, command: usize) -> Reply {
        self.session.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        self.session.value(command, row, column)
    }
}

#[cfg(test)]
mod tests;
