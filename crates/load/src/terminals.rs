//! A load of users who wait, think and ask again; see [`workload::users`].
//!
//! All users who think stand in one queue, by the time at which they will ask. A session that is free takes the first of
//! them and waits until then; when it has answered, the user stands in the queue again. So a user whose time has come
//! waits only while no session is free, which is his pool wait; the number of sessions changes that and nothing else.
//!
//! Why a session may take a user long before his time: each that takes one has just put another back, or none was
//! taken by it. So whoever stands in the queue asks no sooner than any user who was taken and has not asked yet: when one
//! is put back, his session takes the first of all, and the order holds again.

use crate::spec::{LoadSpec, Model, SpecError};
use clock::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};
use units::Nanos;
use workload::users::{Turn, Users};
use workload::{OpId, Tickets, Workload};

/// What a user asks, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    pub(crate) seq: u64,
    pub(crate) ticket: u64,
    pub(crate) op: OpId,
    pub(crate) user: u32,
    /// When, in ticks from the load's start.
    pub(crate) at: u64,
}

/// See the module.
pub(crate) struct Terminals {
    queue: Mutex<Queue>,
    /// Who would ask then or later does not ask any more. As all times here in ticks from the load's start.
    end: u64,
}

struct Queue {
    users: Box<dyn Users>,
    /// (When he asks, who), the first on top.
    thinking: BinaryHeap<Reverse<(u64, u32)>>,
    /// The turn that each is in.
    turns: Vec<Turn>,
    tickets: Box<dyn Tickets>,
    seq: u64,
    limit: u64,
}

impl Terminals {
    /// The terminals of a workload, for a load of that kind; `None` for others.
    ///
    /// # Errors
    /// The workload has none, or fewer than there are sessions.
    pub(crate) fn of<W: Workload>(
        spec: &LoadSpec,
        workload: &W,
        clock: &impl Clock,
    ) -> Result<Option<Terminals>, SpecError> {
        if spec.model != Model::Terminals {
            return Ok(None);
        }
        let users = workload.users().ok_or_else(|| {
            SpecError(format!("workload {}: it has no terminals; leave them out", workload.facts().name))
        })?;
        if users.count() < spec.sessions {
            return Err(SpecError(format!(
                "--sessions {}: there are {} terminals, and a session more would carry nothing",
                spec.sessions,
                users.count()
            )));
        }
        Ok(Some(Terminals::new(spec, users, workload.tickets(), clock)))
    }

    /// All users think at the start, as if the load had lasted for long: each is at a drawn moment of his first cycle.
    fn new(
        spec: &LoadSpec,
        mut users: Box<dyn Users>,
        tickets: Box<dyn Tickets>,
        clock: &impl Clock,
    ) -> Terminals {
        let turns: Vec<Turn> = (0..users.count()).map(|user| users.next(user)).collect();
        let seed = spec.seed.derive("terminals");
        let mut thinking = BinaryHeap::with_capacity(turns.len());
        for (user, turn) in (0_u32..).zip(&turns) {
            let cycle = turn.keying.0.saturating_add(turn.thinking.0);
            let at = Nanos((seed.at(u64::from(user)).unit() * cycle as f64) as u64);
            thinking.push(Reverse((clock.ticks_in(at), user)));
        }
        let limit = spec.requests.unwrap_or(u64::MAX);
        Terminals {
            queue: Mutex::new(Queue { users, thinking, turns, tickets, seq: 0, limit }),
            end: clock.ticks_in(spec.duration()),
        }
    }

    /// Takes the user who asks first, if he does so before `stop` and the load's end. An uncontended lock and O(log n)
    /// steps; when nobody is late, it is taken long before he asks.
    pub(crate) fn take(&self, stop: u64) -> Option<Asked> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Reverse((at, _)) = *queue.thinking.peek()?;
        if at >= self.end || at > stop || queue.seq >= queue.limit {
            return None;
        }
        queue.pop()
    }

    /// A user has his answer: he thinks, keys in, and will ask again.
    pub(crate) fn answered(&self, user: u32, at: u64, clock: &impl Clock) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let thinking = queue.turns[user as usize].thinking;
        let turn = queue.users.next(user);
        queue.turns[user as usize] = turn;
        let rest = Nanos(thinking.0.saturating_add(turn.keying.0));
        queue.thinking.push(Reverse((at.saturating_add(clock.ticks_in(rest)), user)));
    }

    /// Whether nobody in the queue will ask any more.
    pub(crate) fn is_over(&self) -> bool {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let is_late = |Reverse((at, _)): &Reverse<(u64, u32)>| *at >= self.end;
        queue.seq >= queue.limit || queue.thinking.peek().is_none_or(is_late)
    }

    /// Those who should have asked by `last_due` and were never taken, in their order.
    pub(crate) fn leftovers(&self, last_due: u64) -> impl Iterator<Item = Asked> + '_ {
        std::iter::from_fn(move || self.take(last_due))
    }
}

impl Queue {
    fn pop(&mut self) -> Option<Asked> {
        let Reverse((at, user)) = self.thinking.pop()?;
        let op = self.turns[user as usize].op;
        let ticket = self.tickets.next(self.seq, op);
        let asked = Asked { seq: self.seq, ticket, op, user, at };
        self.seq += 1;
        Some(asked)
    }
}
