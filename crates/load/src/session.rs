//! What one session does, from the start line to the end: claim, plan, exchange, sample, again.

use crate::local::{Local, Sink};
use crate::schedule::Claim;
use crate::sequencer::Planned;
use crate::spec::{LONGEST_VISIT, LoadSpec, Model, Think};
use crate::stamped::{Stamped, Stamps};
use clock::Clock;
use driver::{OpError, Session};
use record::{RawSample, flags};
use std::sync::atomic::Ordering;
use units::{Nanos, Outcome, Rng, Ticks};
use workload::{OpId, Request, Workload};

/// How a lost session is replaced: asked once, then polled until it is there.
pub(crate) trait Replacement<S> {
    /// Asks for a new session in place of session `number`.
    fn request(&self, number: u16);
    /// The new session, once it is there.
    fn take(&self, number: u16) -> Option<S>;
}

/// Cold-path happenings that go to the recording's events.
pub(crate) trait Happenings {
    fn lost(&self, session: u16, at: Ticks, words: Option<String>);
    fn replaced(&self, session: u16, from: Ticks, until: Ticks);
    fn first_error(&self, session: u16, at: Ticks, outcome: Outcome, words: String);
    /// A closed loop waited for the recorder; only the first time is worth a note.
    fn paused(&self, at: Ticks);
}

/// What a session loop needs besides its session.
pub(crate) struct Conditions<'a, W, R, H> {
    pub(crate) spec: &'a LoadSpec,
    pub(crate) workload: &'a W,
    pub(crate) replacement: &'a R,
    pub(crate) happenings: &'a H,
    /// Offset of the load's start from the epoch, in ticks.
    pub(crate) lead_in: Ticks,
}

/// After how many requests in a row a task lets the others run.
const BUDGET: u32 = 64;

/// Runs one session to the load's end.
pub(crate) async fn run_session<S, W, C, K, R, H>(
    mut session: S,
    number: u16,
    task: u32,
    local: &Local<'_, C, K>,
    conditions: &Conditions<'_, W, R, H>,
) where
    S: Session,
    W: Workload,
    C: Clock,
    K: Sink,
    R: Replacement<S>,
    H: Happenings,
{
    if let Some(fd) = session.descriptor() {
        local.register(fd, task);
    }
    let mut plan = conditions.workload.new_plan();
    let mut agenda = Agenda::new(number, conditions, local);
    let mut errors_seen = 0u16;
    let mut after_reconnect = false;
    let mut budget = BUDGET;
    // HOT: from here to the end of the loop's body nothing allocates, locks or calls the system but the
    // driver itself; what is not hot is behind `if`s that a healthy run does not enter.
    while agenda.next(task, local).await {
        let held = &agenda.held;
        conditions.workload.plan(Request { seq: held.seq, op: held.op, ticket: held.ticket }, &mut plan);
        let mut conversation = Stamped::new(&mut session, local, task, held.due);
        let mut result = conditions.workload.run(&plan, &mut conversation).await;
        if conversation.given_up() {
            break;
        }
        let mut retries = 0;
        while retries < conditions.spec.retries && retryable(result) {
            retries += 1;
            result = conditions.workload.run(&plan, &mut conversation).await;
        }
        conversation.end_flight();
        let (outcome, usable) = conclude(result, &conversation.stamps, local);
        if !conversation.stamps.completed.is_some() {
            // Refused before anything was sent: that, too, happens at its due time and not earlier.
            conversation.stamps.completed = conversation.wait_for_due().await;
            if local.shared.called_off(held.due) {
                break;
            }
        }
        let completed = conversation.stamps.completed;
        let sample = agenda.sample(&conversation.stamps, outcome, retries, after_reconnect, local);
        local.sink.borrow_mut().push(sample);
        agenda.free = completed;
        agenda.think(local);
        after_reconnect = false;
        // HOT ends.
        if outcome.code() >= Outcome::Serialization.code() {
            report_first(&mut errors_seen, outcome, &session, number, completed, conditions);
        }
        if !usable {
            let Some(new) = replace(session, number, task, completed, local, conditions).await else {
                return;
            };
            session = new;
            agenda.free = local.clock.now();
            after_reconnect = true;
        }
        budget -= 1;
        if budget == 0 {
            budget = BUDGET;
            if agenda.closed {
                let_recorder_catch_up(task, local, conditions).await;
            }
            local.yield_now(task).await;
        }
    }
}

/// A closed loop may rest between two requests without hiding anything, so it waits rather than lose samples.
/// An open loop may not: there a full ring is a drop.
async fn let_recorder_catch_up<W, C, K, R, H>(
    task: u32,
    local: &Local<'_, C, K>,
    conditions: &Conditions<'_, W, R, H>,
) where
    C: Clock,
    K: Sink,
    H: Happenings,
{
    let pause = local.clock.ticks_in(Nanos::from_millis(1));
    while local.sink.borrow_mut().fill() > 0.75 && !local.shared.stopping() && !local.shared.abandoned() {
        conditions.happenings.paused(local.clock.now());
        let again = Ticks(local.clock.now().0 + pause);
        local.wait_until(task, again, || local.shared.stopping()).await;
    }
}

fn retryable(result: Result<Outcome, OpError>) -> bool {
    matches!(result, Err(error) if error.session_usable && error.outcome.is_retryable())
}

/// The sample's outcome, and whether the session can go on. A blocking session that was interrupted says
/// "timeout" of its own accord. It was one only if the limit had passed: otherwise the run had ended, or the
/// interrupt was meant for the request before; either way nobody knows how long this one would have taken.
#[inline]
fn conclude<C: Clock, K: Sink>(
    result: Result<Outcome, OpError>,
    stamps: &Stamps,
    local: &Local<'_, C, K>,
) -> (Outcome, bool) {
    match result {
        Ok(outcome) => (outcome, true),
        Err(error) if error.outcome == Outcome::Timeout => {
            let limit = local.timeout_ticks().unwrap_or(u64::MAX);
            let late = stamps.completed.0.saturating_sub(stamps.sent.0) >= limit;
            (if late { Outcome::Timeout } else { Outcome::Unfinished }, error.session_usable)
        }
        Err(error) => (error.outcome, error.session_usable),
    }
}

#[cold]
fn report_first<S: Session, W, R, H: Happenings>(
    seen: &mut u16,
    outcome: Outcome,
    session: &S,
    number: u16,
    completed: Ticks,
    conditions: &Conditions<'_, W, R, H>,
) {
    let bit = 1u16 << outcome.code();
    if *seen & bit == 0 {
        *seen |= bit;
        let words = session.last_error().unwrap_or_default();
        conditions.happenings.first_error(number, completed, outcome, words);
    }
}

/// Drops the session, waits for a new one; `None` when the run ends before there is one.
#[cold]
async fn replace<S, W, C, K, R, H>(
    lost: S,
    number: u16,
    task: u32,
    since: Ticks,
    local: &Local<'_, C, K>,
    conditions: &Conditions<'_, W, R, H>,
) -> Option<S>
where
    S: Session,
    C: Clock,
    K: Sink,
    R: Replacement<S>,
    H: Happenings,
{
    conditions.happenings.lost(number, since, lost.last_error());
    drop(lost);
    local.shared.alive.fetch_sub(1, Ordering::Relaxed);
    if local.shared.abandoned() {
        return None;
    }
    conditions.replacement.request(number);
    // Looked for each 5 ms and not signalled: a reconnect takes longer than that, and this keeps the wait
    // the same in simulations.
    let pause = local.clock.ticks_in(Nanos::from_millis(5));
    loop {
        if let Some(new) = conditions.replacement.take(number) {
            local.shared.alive.fetch_add(1, Ordering::Relaxed);
            local.session_replaced(new.canceller());
            conditions.happenings.replaced(number, since, local.clock.now());
            if let Some(fd) = new.descriptor() {
                local.register(fd, task);
            }
            return Some(new);
        }
        if local.shared.abandoned() {
            return None;
        }
        let again = Ticks(local.clock.now().0 + pause);
        local.wait_until(task, again, || local.shared.abandoned()).await;
    }
}

/// The request that a session holds, and when it is due.
struct Held {
    seq: u64,
    ticket: u64,
    op: OpId,
    phase: u8,
    /// The schedule's time; NONE in closed loops.
    intended: Ticks,
    /// When the session may send it: the intended start, or the end of the think time.
    due: Ticks,
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

/// How a session comes to its next request, by load model.
struct Agenda<'a> {
    /// The request at present. Kept here, and not handed from function to function: each copy of it costs
    /// a few nanoseconds of every request.
    held: Held,
    session: u16,
    spec: &'a LoadSpec,
    lead_in: Ticks,
    /// When the session became free: its last completion, or its connection.
    free: Ticks,
    /// Rest of the visit, last first: (seq, request).
    visit: Vec<(u64, Planned)>,
    think: Think,
    think_rng: Rng,
    /// When a visit's or a closed session's next request is due.
    next_due: Ticks,
    /// Throttled closed: the session's own schedule.
    own_schedule: OwnSchedule,
    end: Ticks,
    closed: bool,
    throttled: bool,
}

/// YCSB's `target`: each session sends at its share of the rate, staggered.
#[derive(Clone, Copy)]
struct OwnSchedule {
    /// Next due time as an offset from the load's start in seconds.
    next: f64,
}

impl<'a> Agenda<'a> {
    fn new<W, R, H, C: Clock, K>(
        session: u16,
        conditions: &Conditions<'a, W, R, H>,
        local: &Local<'_, C, K>,
    ) -> Agenda<'a>
    where
        K: Sink,
    {
        let spec = conditions.spec;
        let think = match &spec.model {
            Model::PartlyOpen { visit, .. } => visit.think,
            Model::Closed { think } => *think,
            Model::Open { .. } | Model::ThrottledClosed => Think::None,
        };
        let rate = spec.phases[0].rate.map_or(1.0, |(from, _)| from.get());
        let held =
            Held { seq: 0, ticket: 0, op: OpId(0), phase: 0, intended: Ticks::NONE, due: conditions.lead_in };
        Agenda {
            held,
            session,
            spec,
            lead_in: conditions.lead_in,
            free: conditions.lead_in,
            visit: Vec::with_capacity(LONGEST_VISIT as usize),
            think,
            think_rng: spec.seed.derive("think").at(u64::from(session)),
            next_due: conditions.lead_in,
            own_schedule: OwnSchedule { next: f64::from(session) / rate },
            end: Ticks(conditions.lead_in.0 + local.clock.ticks_in(spec.duration())),
            closed: matches!(spec.model, Model::Closed { .. } | Model::ThrottledClosed),
            throttled: matches!(spec.model, Model::ThrottledClosed),
        }
    }

    /// Puts the session's next request in `held`; false at the load's end.
    #[inline]
    async fn next<C: Clock, K: Sink>(&mut self, task: u32, local: &Local<'_, C, K>) -> bool {
        if local.shared.abandoned() {
            return false;
        }
        if let Some((seq, planned)) = self.visit.pop() {
            return self.go_on_with_visit(seq, planned, local);
        }
        if local.shared.session_limits.is_some() {
            match self.wait_for_admission(task, local).await {
                None => return false,
                Some(true) => self.admit(local),
                Some(false) => {}
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
        if local.shared.stopping() && local.clock.now() < self.next_due {
            return false;
        }
        self.fill_in(seq, planned);
        self.held.intended = self.next_due;
        self.held.due = self.next_due;
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

    /// Sets when a closed session's next request is due; false past the end. The end is asked of the clock,
    /// since the schedule of a closed loop knows no times. A think time that reaches past it ends the
    /// session, too.
    #[inline(always)]
    fn closed_due<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) -> bool {
        if self.throttled {
            let Some(due) = self.own_due(local) else { return false };
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

    /// The own schedule's next time; steps on by the sessions' share of the rate at that time.
    fn own_due<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) -> Option<Ticks> {
        let at = Nanos::from_secs_f64(self.own_schedule.next);
        let (rate, sessions) = rate_at(self.spec, at)?;
        self.own_schedule.next += f64::from(sessions) / rate;
        Some(Ticks(self.lead_in.0 + local.clock.ticks_in(at)))
    }

    /// Waits until the writer has come to a claimed number; false when it never will.
    async fn wait_for_claim<C: Clock, K: Sink>(
        &mut self,
        number: u64,
        task: u32,
        local: &Local<'_, C, K>,
    ) -> bool {
        loop {
            match local.shared.schedule.look_up(number) {
                Claim::Request(seq, planned) => {
                    self.hold(seq, planned, local);
                    return true;
                }
                Claim::Ended => return false,
                Claim::NotYet => {
                    let soon = local.clock.now().0 + local.clock.ticks_in(Nanos::from_micros(100));
                    let over = || local.shared.stopping() || local.shared.abandoned();
                    local.wait_until(task, Ticks(soon), over).await;
                    // Not written, so the writer still hands it out as never sent where it counts.
                    if local.shared.abandoned() || (self.closed && local.shared.stopping()) {
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
        let ticks = self.free.0.saturating_sub(self.lead_in.0) as f64;
        let now = ticks / local.clock.ticks_in(Nanos::from_secs(1)) as f64;
        if let Some((rate, sessions)) = rate_at(self.spec, Nanos::from_secs_f64(now))
            && self.throttled
        {
            let step = f64::from(sessions) / rate;
            let missed = ((now - self.own_schedule.next) / step).ceil().max(0.0);
            self.own_schedule.next += missed * step;
        }
    }

    /// Waits while the current phase has fewer sessions than this one's number. Whether it had to.
    async fn wait_for_admission<C: Clock, K: Sink>(
        &self,
        task: u32,
        local: &Local<'_, C, K>,
    ) -> Option<bool> {
        let limits = local.shared.session_limits.as_ref()?;
        let mut waited = false;
        loop {
            if local.shared.abandoned() {
                return None;
            }
            let now = local.clock.now();
            let phase = if self.closed {
                Some(local.shared.phase_at(now))
            } else {
                local.shared.schedule.next_phase()
            };
            if now >= self.end || local.shared.stopping() {
                // Past the end all help with the backlog; `take_number` tells when there is none.
                return if self.closed { None } else { Some(waited) };
            }
            if phase.is_some_and(|p| u32::from(self.session) < limits[usize::from(p)]) {
                return Some(waited);
            }
            waited = true;
            let soon = Ticks(now.0 + local.clock.ticks_in(Nanos::from_millis(1)));
            local.wait_until(task, soon, || local.shared.stopping() || local.shared.abandoned()).await;
        }
    }

    /// Sets when the next request of a visit or of a closed session is due.
    #[inline]
    fn think<C: Clock, K: Sink>(&mut self, local: &Local<'_, C, K>) {
        self.next_due = self.free;
        if !matches!(self.think, Think::None) {
            let think = self.think.draw(&mut self.think_rng);
            self.next_due.0 += local.clock.ticks_in(think);
        }
    }

    #[inline(always)]
    fn phase<C: Clock, K: Sink>(&self, stamps: &Stamps, local: &Local<'_, C, K>) -> u8 {
        if !self.closed {
            return self.held.phase;
        }
        local.shared.phase_at(if stamps.sent.is_some() { stamps.sent } else { stamps.completed })
    }

    /// The record of the request that was held.
    #[inline(always)]
    fn sample<C: Clock, K: Sink>(
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

/// Rate and sessions of a throttled closed loop at an offset; `None` past the end.
fn rate_at(spec: &LoadSpec, at: Nanos) -> Option<(f64, u32)> {
    let mut begin = Nanos::ZERO;
    for phase in &spec.phases {
        let end = begin + phase.duration;
        if at < end {
            let (from, to) = phase.rate?;
            let share = at.saturating_sub(begin).as_secs_f64() / phase.duration.as_secs_f64();
            let rate = from.get() + (to.get() - from.get()) * share;
            return Some((rate.max(1e-9), phase.sessions.unwrap_or(spec.sessions).min(spec.sessions)));
        }
        begin = end;
    }
    None
}
