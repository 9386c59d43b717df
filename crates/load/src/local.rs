//! What the tasks of one worker share: its clock, timers, deadlines and buffer. One thread, no lock.

use crate::schedule::Schedule;
use crate::sequencer::Sequencer;
use crate::terminals::Terminals;
use crate::timers::Timers;
use clock::Clock;
use driver::{Canceller, Session};
use record::{RawSample, RawStatement};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use units::{Nanos, Ticks};

/// Why a request in flight is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cancel {
    No,
    /// Its time limit has passed.
    TimedOut,
    /// The run has ended.
    RunEnded,
}

/// Where samples go: the rings to the recorder, or a list in simulations.
pub(crate) trait Sink {
    fn push(&mut self, sample: RawSample);

    /// Whether it wants the exchanges inside of requests, too.
    fn times_statements(&self) -> bool {
        false
    }

    fn push_statement(&mut self, _: RawStatement) {}

    /// How full it is, in [0, 1].
    fn fill(&mut self) -> f64 {
        0.0
    }
}

impl Sink for Vec<RawSample> {
    fn push(&mut self, sample: RawSample) {
        Vec::push(self, sample);
    }
}

/// What all workers of a load share.
pub(crate) struct Shared {
    pub(crate) schedule: Schedule,
    /// When an interrupted run ends, in ticks since the epoch: what is due later is called off. `u64::MAX`
    /// while nobody has asked for an end.
    pub(crate) stop_at: AtomicU64,
    /// Set by the engine when the drain time is over: give up what is in flight.
    pub(crate) abandon: AtomicBool,
    /// The sessions that may take part, by phase; `None` when all phases allow all.
    pub(crate) session_limits: Option<Vec<u32>>,
    /// Where requests come from that are made when they are claimed. Nobody claims from the schedule then.
    pub(crate) made_when_claimed: Option<Mutex<Sequencer>>,
    /// Users whose requests are made when they are claimed. Nobody claims from the schedule then.
    pub(crate) terminals: Option<Terminals>,
    /// When each phase ends, in ticks since the epoch; closed loops tell the phase by it.
    pub(crate) phase_ends: Vec<Ticks>,
    /// Sessions that are connected at present.
    pub(crate) alive: AtomicU64,
}

impl Shared {
    /// Whether what is in flight is given up.
    #[inline(always)]
    pub(crate) fn abandoned(&self) -> bool {
        self.abandon.load(Ordering::Relaxed) // as below
    }

    #[inline]
    pub(crate) fn stopping(&self) -> bool {
        // Relaxed: it guards no other data; seeing it a moment later changes nothing.
        self.stop_at.load(Ordering::Relaxed) != u64::MAX
    }

    /// Whether a request that is due then is not to be sent any more. One moment decides for all sessions,
    /// whenever each of them notices: otherwise a request that one gave up could lie before one that
    /// another sent, and would be missing.
    #[inline]
    pub(crate) fn called_off(&self, due: Ticks) -> bool {
        due.0 > self.stop_at.load(Ordering::Relaxed)
    }

    /// Whether waiting for a request's due time is pointless.
    pub(crate) fn gives_up(&self, due: Ticks) -> bool {
        self.called_off(due) || self.abandoned()
    }

    /// The phase of a moment.
    #[inline]
    pub(crate) fn phase_at(&self, now: Ticks) -> u8 {
        let last = self.phase_ends.len() - 1;
        self.phase_ends.iter().position(|&end| now < end).unwrap_or(last) as u8
    }
}

/// A blocking session as the supervisor sees it.
#[repr(align(64))]
pub(crate) struct Watched {
    /// When the request in flight was sent; `u64::MAX` when there is none.
    pub(crate) busy_since: AtomicU64,
    /// Interrupts the session that is there at present.
    canceller: Mutex<Option<Canceller>>,
}

impl Watched {
    pub(crate) fn new(canceller: Option<Canceller>) -> Watched {
        Watched { busy_since: AtomicU64::new(u64::MAX), canceller: Mutex::new(canceller) }
    }

    /// Interrupts the request in flight, if the session can be interrupted.
    pub(crate) fn interrupt(&self) {
        if let Some(cancel) = self.canceller.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            cancel();
        }
    }

    /// The session was replaced: interrupt the new one from now on.
    pub(crate) fn replaced(&self, canceller: Option<Canceller>) {
        *self.canceller.lock().unwrap_or_else(PoisonError::into_inner) = canceller;
    }
}

/// What a task wants its descriptor to be watched for from now on: answers, and room to send if it says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Registration {
    pub(crate) fd: RawFd,
    pub(crate) task: u32,
    pub(crate) room: bool,
}

pub(crate) struct Local<'a, C, K> {
    pub(crate) clock: C,
    pub(crate) shared: &'a Shared,
    pub(crate) sink: RefCell<K>,
    /// Whether `sink` wants the exchanges inside of requests.
    pub(crate) times_statements: bool,
    timers: RefCell<Timers>,
    runnable: RefCell<VecDeque<u32>>,
    /// Whether a task is in `runnable`: it is there once at most, so the queue never grows.
    is_runnable: Box<[Cell<bool>]>,
    /// Whether a task has an entry in `timers`.
    queued: Box<[Cell<bool>]>,
    /// When each task's request in flight was sent; `u64::MAX` when it has none.
    sent_at: Box<[Cell<u64>]>,
    cancels: Box<[Cell<Cancel>]>,
    in_flight: Cell<u32>,
    /// Descriptors that tasks want to wait for from now on.
    registrations: RefCell<VecDeque<Registration>>,
    /// Whether a task's descriptor is watched for room to send.
    watched_for_room: Box<[Cell<bool>]>,
    timeout_ticks: Option<u64>,
    /// For blocking sessions: tells the supervisor when the request in flight was sent.
    watched: Option<&'a Watched>,
}

impl<'a, C: Clock, K: Sink> Local<'a, C, K> {
    pub(crate) fn new(
        clock: C,
        shared: &'a Shared,
        sink: K,
        tasks: usize,
        timeout: Option<Nanos>,
        watched: Option<&'a Watched>,
    ) -> Local<'a, C, K> {
        let timeout_ticks = timeout.map(|t| clock.ticks_in(t));
        Local {
            clock,
            shared,
            times_statements: sink.times_statements(),
            sink: RefCell::new(sink),
            timers: RefCell::new(Timers::new(tasks)),
            runnable: RefCell::new(VecDeque::with_capacity(tasks + 1)),
            is_runnable: (0..tasks).map(|_| Cell::new(false)).collect(),
            queued: (0..tasks).map(|_| Cell::new(false)).collect(),
            sent_at: (0..tasks).map(|_| Cell::new(u64::MAX)).collect(),
            cancels: (0..tasks).map(|_| Cell::new(Cancel::No)).collect(),
            in_flight: Cell::new(0),
            registrations: RefCell::new(VecDeque::with_capacity(2 * tasks)),
            watched_for_room: (0..tasks).map(|_| Cell::new(false)).collect(),
            timeout_ticks,
            watched,
        }
    }

    /// Waits until `at`; returns at once when it has passed, and early when the run stops or `early` holds.
    /// Gives the time at which it returns.
    #[inline]
    pub(crate) async fn wait_until(&self, task: u32, at: Ticks, early: impl Fn() -> bool) -> Ticks {
        let mut waiting = false;
        poll_fn(|_| {
            let now = self.clock.now();
            if now >= at || (waiting && early()) {
                return Poll::Ready(now);
            }
            waiting = true;
            // A poll for another reason (its descriptor moved) finds the entry still there.
            if !self.queued[task as usize].replace(true) {
                self.timers.borrow_mut().push(at, task);
            }
            Poll::Pending
        })
        .await
    }

    /// Lets the other tasks of this worker run.
    pub(crate) async fn yield_now(&self, task: u32) {
        let mut yielded = false;
        poll_fn(|_| {
            if yielded {
                return Poll::Ready(());
            }
            yielded = true;
            self.wake(task);
            Poll::Pending
        })
        .await;
    }

    /// Runs `task` soon.
    pub(crate) fn wake(&self, task: u32) {
        if !self.is_runnable[task as usize].replace(true) {
            self.runnable.borrow_mut().push_back(task);
        }
    }

    pub(crate) fn next_runnable(&self) -> Option<u32> {
        let task = self.runnable.borrow_mut().pop_front()?;
        self.is_runnable[task as usize].set(false);
        Some(task)
    }

    #[inline]
    pub(crate) fn next_due(&self, now: Ticks) -> Option<u32> {
        let task = self.timers.borrow_mut().pop_due(now)?;
        self.queued[task as usize].set(false);
        Some(task)
    }

    #[inline]
    pub(crate) fn next_time(&self) -> Option<Ticks> {
        self.timers.borrow().next()
    }

    pub(crate) fn next_waiting(&self) -> Option<u32> {
        let task = self.timers.borrow_mut().pop_any()?;
        self.queued[task as usize].set(false);
        Some(task)
    }

    /// A request of `task` is about to leave at `sent`.
    #[inline(always)]
    pub(crate) fn begin_flight(&self, task: u32, sent: Ticks) {
        self.in_flight.set(self.in_flight.get() + 1);
        self.sent_at[task as usize].set(sent.0);
        if let Some(watched) = self.watched {
            watched.busy_since.store(sent.0, Ordering::Relaxed);
        }
    }

    /// The request of `task` is over. So is a cancellation that its answer overtook: left standing, it would
    /// hit the next request.
    #[inline(always)]
    pub(crate) fn end_flight(&self, task: u32) {
        self.in_flight.set(self.in_flight.get() - 1);
        self.sent_at[task as usize].set(u64::MAX);
        self.cancels[task as usize].set(Cancel::No);
        if let Some(watched) = self.watched {
            watched.busy_since.store(u64::MAX, Ordering::Relaxed);
        }
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.get()
    }

    #[inline(always)]
    pub(crate) fn cancel(&self, task: u32) -> Cancel {
        self.cancels[task as usize].get()
    }

    /// Gives up every request in flight whose time limit has passed, or all of them at the run's end; the
    /// tasks concerned are appended to `tasks`.
    pub(crate) fn expire(&self, now: Ticks, run_ended: bool, tasks: &mut Vec<u32>) {
        for (task, sent_at) in self.sent_at.iter().enumerate() {
            let sent_at = sent_at.get();
            if sent_at == u64::MAX || self.cancels[task].get() != Cancel::No {
                continue;
            }
            let late = self.timeout_ticks.is_some_and(|limit| sent_at.saturating_add(limit) <= now.0);
            if late || run_ended {
                self.cancels[task].set(if late { Cancel::TimedOut } else { Cancel::RunEnded });
                tasks.push(task as u32);
            }
        }
    }

    /// When the next request in flight times out; O(tasks), for simulations.
    pub(crate) fn next_deadline(&self) -> Option<Ticks> {
        let limit = self.timeout_ticks?;
        let first = self.sent_at.iter().zip(&self.cancels).filter_map(|(sent, cancel)| {
            let waiting = sent.get() != u64::MAX && cancel.get() == Cancel::No;
            waiting.then_some(sent.get().saturating_add(limit))
        });
        first.min().map(Ticks)
    }

    pub(crate) fn register(&self, fd: RawFd, task: u32) {
        self.watched_for_room[task as usize].set(false);
        self.registrations.borrow_mut().push_back(Registration { fd, task, room: false });
    }

    /// Has the descriptor of `task` watched for room to send for as long as its session waits for that.
    #[inline]
    pub(crate) fn watch_for_room<S: Session>(&self, task: u32, session: &S) {
        let room = session.waits_to_send();
        let watched = &self.watched_for_room[task as usize];
        if room == watched.get() {
            return;
        }
        if let Some(fd) = session.descriptor() {
            watched.set(room);
            self.registrations.borrow_mut().push_back(Registration { fd, task, room });
        }
    }

    pub(crate) fn next_registration(&self) -> Option<Registration> {
        self.registrations.borrow_mut().pop_front()
    }

    /// A blocking session was replaced by one with this canceller.
    pub(crate) fn session_replaced(&self, canceller: Option<Canceller>) {
        if let Some(watched) = self.watched {
            watched.replaced(canceller);
        }
    }

    /// Whether requests have a time limit.
    pub(crate) fn timeout_ticks(&self) -> Option<u64> {
        self.timeout_ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::SimClock;

    #[test]
    fn a_cancellation_ends_with_its_request() {
        let shared = Shared {
            schedule: Schedule::new(1, false, 2),
            stop_at: AtomicU64::new(u64::MAX),
            abandon: AtomicBool::new(false),
            session_limits: None,
            made_when_claimed: None,
            terminals: None,
            phase_ends: vec![Ticks(u64::MAX / 2)],
            alive: AtomicU64::new(2),
        };
        let clock = SimClock::new();
        let local = Local::new(clock, &shared, Vec::new(), 2, Some(Nanos(50)), None);
        let mut given_up = Vec::new();
        local.begin_flight(0, Ticks(100));
        local.begin_flight(1, Ticks(140));
        local.expire(Ticks(150), false, &mut given_up);
        assert_eq!(given_up, [0], "the other has 40 of its 50 ns left");
        assert_eq!((local.cancel(0), local.cancel(1)), (Cancel::TimedOut, Cancel::No));
        // The answer was there before the task saw that it was given up.
        local.end_flight(0);
        local.begin_flight(0, Ticks(151));
        assert_eq!(local.cancel(0), Cancel::No);
    }
}
