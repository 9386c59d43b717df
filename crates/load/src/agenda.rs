//! How a session comes to its next request, by load model.

use crate::inside::Inside;
use crate::local::{Local, Sink};
use crate::own_schedule::OwnSchedule;
use crate::schedule::Claim;
use crate::sequencer::{Planned, Sequencer};
use crate::session::Conditions;
use crate::spec::{LONGEST_VISIT, Model, Think};
use crate::stamped::Stamps;
use crate::terminals::{Asked, Terminals};
use clock::Clock;
use record::{RawSample, flags};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use units::{Nanos, Outcome, Rng, Ticks};
use workload::OpId;
use workload::users::NOBODY;

/// The request that a session holds, and when it is due.
pub(crate) struct Held {
    pub(crate) seq: u64,
    pub(crate) ticket: u64,
    pub(crate) op: OpId,
    /// Who asks, of a load of terminals.
    pub(crate) user: u32,
    pub(crate) phase: u8,
    /// The schedule's time; NONE in closed loops.
    pub(crate) intended: Ticks,
    /// When the session may send it: the intended start, or the end of the think time.
    pub(crate) due: Ticks,
}

/// What a session gets when it asks the schedule.
enum Taken {
    /// Its next request, in `Agenda::held`.
    Request,
    /// A number whose request is not written yet.
    NotYet(u64),
    /// The load is over.
    Nothing,
}

/// See the module.
pub(crate) struct Agenda {
    /// The request at present. Kept here, and not handed from function to function: each copy of it costs
    /// a few nanoseconds of every request.
    pub(crate) held: Held,
    pub(crate) session: u16,
    lead_in: Ticks,
    /// When the session became free: its last completion, or its connection.
    pub(crate) free: Ticks,
    /// Rest of the visit, last first: (seq, request).
    visit: Vec<(u64, Planned)>,
    think: Think,
    think_rng: Rng,
    /// When a visit's or a closed session's next request is due.
    next_due: Ticks,
    /// Throttled closed: the session's own schedule.
    own_schedule: Option<OwnSchedule>,
    end: Ticks,
    pub(crate) closed: bool,
    /// Whether a phase has its own number of sessions, or a closed loop's its own mix.
    phased: bool,
    /// Whether `held` says in which phase the request is; otherwise the moment says it.
    phase_known: bool,
}

impl Agenda {
    pub(crate) fn new<W, R, H, C: Clock, K>(
        session: u16,
        conditions: &Conditions<'_, W, R, H>,
        local: &Local<'_, C, K>,
    ) -> Agenda
    where
        K: Sink,
    {
        let spec = conditions.spec;
        let think = match &spec.model {
            Model::PartlyOpen { visit, .. } => visit.think,
            Model::Closed { think } => *think,
            Model::Open { .. } | Model::ThrottledClosed | Model::Terminals => Think::None,
        };
        let closed = matches!(spec.model, Model::Closed { .. } | Model::ThrottledClosed);
        let made_when_claimed = local.shared.made_when_claimed.is_some();
        let held = Held {
            seq: 0,
            ticket: 0,
            op: OpId(0),
            user: NOBODY,
            phase: 0,
            intended: Ticks::NONE,
            due: conditions.lead_in,
        };
        Agenda {
            held,
            session,
            lead_in: conditions.lead_in,
            free: conditions.lead_in,
            visit: Vec::with_capacity(LONGEST_VISIT as usize),
            think,
            think_rng: spec.seed.derive("think").at(u64::from(session)),
            next_due: conditions.lead_in,
            own_schedule: OwnSchedule::new(spec, session),
            end: Ticks(conditions.lead_in.0 + local.clock.ticks_in(spec.duration())),
            closed,
            phased: local.shared.session_limits.is_some() || made_when_claimed,
            phase_known: !closed || made_when_claimed,
        }
    }

    /// Puts the session's next request in `held`; false at the load's end.
    #[inline]
    pub(crate) async fn next<C: Clock, K: Sink>(&mut self, task: u32, local: &Local<'_, C, K>) -> bool {
        if local.shared.abandoned() {
            return false;
        }
        if let Some((seq, planned)) = self.visit.pop() {
            return self.go_on_with_visit(seq, planned, local);
        }
        if let Some(terminals) = &local.shared.terminals {
            return self.take_user(terminals, local);
        }
        if self.phased {
            match self.wait_for_admission(task, local).await {
                None => return false,
                Some(true) => self.admit(local),
                Some(false) => {}
            }
            if let Some(sequencer) = &local.shared.made_when_claimed {
                return self.have_made(sequencer, local);
            }
        }
        match self.take(local) {
            Taken::Request => true,
            Taken::NotYet(number) => self.wait_for_claim(number, task, local).await,
            Taken::Nothing => false,
        }
    }

    /// The next request of a visit, which is claimed already.
    fn go_on_with_visit<C: Clock, K: Sink>(
        &mut self,
        seq: u64,
        planned: Planned,
        local: &Local<'_, C, K>,
    ) -> bool {
        if local.shared.called_off(self.next_due) {
            return false;
        }
        self.fill_in(seq, planned);
        self.held.intended = self.next_due;
        self.held.due = self.next_due;
        true
    }

    /// The next user's request.
    fn take_user<C: Clock, K: Sink>(&mut self, terminals: &Terminals, local: &Local<'_, C, K>) -> bool {
        let stop_at = local.shared.stop_at.load(Ordering::Relaxed);
        let stop = stop_at.saturating_sub(self.lead_in.0);
        let Some(asked) = terminals.take(stop) else { return false };
        let due = Ticks(self.lead_in.0 + asked.at);
        let phase = local.shared.phase_at(due);
        let Asked { seq, ticket, op, user, .. } = asked;
        self.held = Held { seq, ticket, op, user, phase, intended: due, due };
        true
    }

    /// Claims the next request.
    #[inline(always)]
    fn take<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) -> Taken {
        if self.closed && !self.closed_due(local) {
            return Taken::Nothing;
        }
        let number = local.shared.schedule.take_number(self.session);
        match local.shared.schedule.look_up(number) {
            Claim::Request(seq, planned) => {
                self.hold(seq, planned, local);
                Taken::Request
            }
            Claim::NotYet => Taken::NotYet(number),
            Claim::Ended => Taken::Nothing,
        }
    }

    /// Has the next request made, for the phase in which it will be sent. False at the load's end.
    fn have_made<C: Clock, K: Sink>(
        &mut self,
        sequencer: &Mutex<Sequencer>,
        local: &Local<'_, C, K>,
    ) -> bool {
        if !self.closed_due(local) {
            return false;
        }
        let phase = local.shared.phase_at(self.held.due.max(local.clock.now()));
        let mut sequencer = sequencer.lock().unwrap_or_else(PoisonError::into_inner);
        let seq = sequencer.position();
        let Some(planned) = sequencer.next_request_in(phase) else {
            local.shared.schedule.end_at(0); // so that all see that nothing is left
            return false;
        };
        drop(sequencer);
        self.fill_in(seq, planned);
        true
    }

    /// Sets when a closed session's next request is due; false past the end. The end is asked of the clock,
    /// since the schedule of a closed loop knows no times. A think time that reaches past it ends the
    /// session, too.
    #[inline(always)]
    fn closed_due<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) -> bool {
        if let Some(own) = &mut self.own_schedule {
            let Some(offset) = own.next_due() else { return false };
            let due = Ticks(self.lead_in.0 + local.clock.ticks_in(offset));
            self.held.due = due;
            self.held.intended = due;
        } else {
            self.held.due = self.next_due.max(self.free);
        }
        self.held.due < self.end && self.free < self.end && !local.shared.stopping()
    }

    /// Takes over a claimed request, and gives its slots back to the schedule's writer.
    #[inline(always)]
    fn hold<C: Clock, K: Sink>(&mut self, seq: u64, planned: Planned, local: &Local<'_, C, K>) {
        self.fill_in(seq, planned);
        if !self.closed {
            let offset = planned.intended.unwrap_or(Nanos::ZERO);
            let intended = Ticks(self.lead_in.0 + local.clock.ticks_in(offset));
            self.held.intended = intended;
            self.held.due = intended;
            if planned.follow > 0 {
                let followers = (1..=u64::from(planned.follow)).rev();
                self.visit.extend(followers.map(|i| (seq + i, local.shared.schedule.request(seq + i))));
            }
        }
        local.shared.schedule.release(self.session);
    }

    #[inline(always)]
    fn fill_in(&mut self, seq: u64, planned: Planned) {
        self.held.seq = seq;
        self.held.ticket = planned.ticket;
        self.held.op = planned.op;
        self.held.phase = planned.phase;
    }

    /// Waits until the writer has come to a claimed number; false when it never will.
    async fn wait_for_claim<C: Clock, K: Sink>(
        &mut self,
        number: u64,
        task: u32,
        local: &Local<'_, C, K>,
    ) -> bool {
        loop {
            match local.shared.schedule.look_up_again(number, self.session) {
                Claim::Request(seq, planned) => {
                    self.hold(seq, planned, local);
                    return true;
                }
                Claim::Ended => return false,
                Claim::NotYet => {
                    let soon = local.clock.now().0 + local.clock.ticks_in(Nanos::from_micros(100));
                    let over = || local.shared.stopping() || local.shared.abandoned();
                    local.wait_until(task, Ticks(soon), over).await;
                    if local.shared.abandoned() || (self.closed && local.shared.stopping()) {
                        // It may be written by now, or any moment: the writer records it as never sent.
                        local.shared.schedule.give_back(number);
                        return false;
                    }
                }
            }
        }
    }

    /// A session that was not allowed to work becomes free now, and owes nothing for the time before.
    fn admit<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) {
        self.free = local.clock.now();
        self.next_due = self.next_due.max(self.free);
        if let Some(own) = &mut self.own_schedule {
            let ticks = self.free.0.saturating_sub(self.lead_in.0) as f64;
            let seconds = ticks / local.clock.ticks_in(Nanos::from_secs(1)) as f64;
            own.skip_to(Nanos::from_secs_f64(seconds));
        }
    }

    /// Waits while the current phase has fewer sessions than this one's number. Whether it had to.
    async fn wait_for_admission<C: Clock, K: Sink>(
        &self,
        task: u32,
        local: &Local<'_, C, K>,
    ) -> Option<bool> {
        let Some(limits) = &local.shared.session_limits else { return Some(false) };
        let mut waited = false;
        loop {
            if local.shared.abandoned() || local.shared.schedule.exhausted() {
                return None;
            }
            let now = local.clock.now();
            if now >= self.end || local.shared.stopping() {
                // Past the end all help with the backlog; `take_number` tells when there is none.
                return if self.closed { None } else { Some(waited) };
            }
            let present = local.shared.phase_at(now);
            let phase = if self.closed { Some(present) } else { local.shared.schedule.next_phase() };
            let allows = |phase: u8| u32::from(self.session) < limits[usize::from(phase)];
            if phase.is_some_and(allows) {
                return Some(waited);
            }
            waited = true;
            let phase_ends = local.shared.phase_ends[usize::from(present)];
            let millisecond = local.clock.ticks_in(Nanos::from_millis(1));
            let again = next_look(now, allows(present), phase_ends, millisecond);
            local.wait_until(task, again, || local.shared.stopping() || local.shared.abandoned()).await;
        }
    }

    /// Whether no request can come to this session any more.
    pub(crate) fn nothing_left<C: Clock, K: Sink>(&self, local: &Local<'_, C, K>) -> bool {
        let closed = || self.closed && (local.shared.stopping() || local.clock.now() >= self.end);
        let over = || match &local.shared.terminals {
            Some(terminals) => local.shared.stopping() || terminals.is_over(),
            None => local.shared.schedule.exhausted(),
        };
        self.visit.is_empty() && (over() || closed())
    }

    /// Sets when the next request of a visit, of a closed session or of the user who was answered is due.
    #[inline]
    pub(crate) fn think<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) {
        self.next_due = self.free;
        if !matches!(self.think, Think::None) {
            let think = self.think.draw(&mut self.think_rng);
            self.next_due.0 += local.clock.ticks_in(think);
        }
        if let Some(terminals) = &local.shared.terminals {
            let answered = self.free.0.saturating_sub(self.lead_in.0);
            terminals.answered(self.held.user, answered, &local.clock);
        }
    }

    /// The request, before anything happens inside of it.
    #[inline]
    pub(crate) fn inside(&self) -> Inside {
        Inside::new(self.held.seq, self.held.op.0, self.phase_known.then_some(self.held.phase))
    }

    #[inline(always)]
    fn phase<C: Clock, K: Sink>(&self, stamps: &Stamps, local: &Local<'_, C, K>) -> u8 {
        if self.phase_known {
            return self.held.phase;
        }
        local.shared.phase_at(if stamps.sent.is_some() { stamps.sent } else { stamps.completed })
    }

    /// The record of the request that was held.
    #[inline(always)]
    pub(crate) fn sample<C: Clock, K: Sink>(
        &self,
        stamps: &Stamps,
        outcome: Outcome,
        retries: u8,
        after_reconnect: bool,
        local: &Local<'_, C, K>,
    ) -> RawSample {
        RawSample {
            intended: self.held.intended,
            ready: self.held.due.max(self.free),
            sent: stamps.sent,
            completed: stamps.completed,
            arrived_realtime_ns: stamps.arrived_realtime_ns,
            seq: self.held.seq,
            session: self.session,
            op: self.held.op.0,
            outcome: outcome.code(),
            retries,
            phase: self.phase(stamps, local),
            flags: if stamps.arrived_upper_bound { flags::ARRIVED_UPPER_BOUND } else { 0 }
                | if after_reconnect { flags::AFTER_RECONNECT } else { 0 },
            reserved: 0,
        }
    }
}

/// When a session that has to rest looks again. Not often, since that takes time from the sessions that work on
/// the same worker: each 100 ms, for the case that the requests are used up, but just before its phase may begin
/// and, in that phase, while the backlog of the one before is worked off, each millisecond.
fn next_look(now: Ticks, phase_allows: bool, phase_ends: Ticks, millisecond: u64) -> Ticks {
    let soon = now.0 + millisecond;
    if phase_allows {
        return Ticks(soon);
    }
    let before_the_end = phase_ends.0.saturating_sub(millisecond);
    Ticks(before_the_end.min(now.0 + 100 * millisecond).max(soon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resting_session_looks_seldom_until_its_phase_may_begin() {
        let ends = Ticks(10_000_000);
        let look = |now, allows| next_look(Ticks(now), allows, ends, 1000).0;
        assert_eq!(look(0, false), 100_000);
        assert_eq!(look(9_950_000, false), 9_999_000);
        assert_eq!(look(9_999_000, false), 10_000_000);
        assert_eq!(look(9_999_900, false), 10_000_900);
        assert_eq!(look(0, true), 1000, "its phase has begun, and requests of the one before are left");
    }
}
