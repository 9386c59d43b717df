//! What one session does, from the start line to the end: claim, plan, exchange, sample, again.

use crate::agenda::Agenda;
use crate::first_words::FirstWords;
use crate::local::{Local, Sink};
use crate::spec::LoadSpec;
use crate::stamped::{Stamped, Stamps, Withheld};
use clock::Clock;
use driver::{OpError, Session};
use std::sync::atomic::Ordering;
use units::{Nanos, Outcome, Ticks};
use workload::{Request, Workload};

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
    let retry = conditions.spec.retry;
    let retry_seed = conditions.spec.seed.derive("pauses before retries");
    let mut errors_seen = 0u16;
    let words = FirstWords::default();
    let mut after_reconnect = false;
    let mut budget = BUDGET;
    // HOT: from here to the end of the loop's body nothing allocates, locks or calls the system but the
    // driver itself; what is not hot is behind `if`s that a healthy run does not enter. One load locks: a closed
    // loop whose phases have mixes of their own, when it claims.
    while agenda.next(task, local).await {
        let held = &agenda.held;
        let (seq, op, ticket) = (held.seq, held.op, held.ticket);
        conditions.workload.plan(Request { seq, op, ticket, user: held.user }, &mut plan);
        let mut conversation = Stamped::new(&mut session, local, task, held.due, &words, agenda.inside());
        let mut result = conditions.workload.run(&plan, &mut conversation).await;
        if conversation.withheld() == Withheld::CalledOff {
            break;
        }
        let mut retries = 0;
        while let Err(error) = result
            && conversation.stamps.sent.is_some()
            && retry.wants(error, retries)
        {
            if !error.session_usable {
                let so_far = conversation.so_far();
                let lost_at = so_far.0.completed;
                let Some(new) =
                    replace(session, &agenda, lost_at, Use::SameRequest, task, local, conditions).await
                else {
                    let sample = agenda.sample(&so_far.0, error.outcome, retries, after_reconnect, local);
                    local.end_flight(task);
                    local.sink.borrow_mut().push(sample);
                    return;
                };
                session = new;
                conversation = Stamped::resumed(&mut session, local, task, held.due, &words, so_far);
            }
            retries += 1;
            result = match conversation.rest(retry.pause.before(retries, seq, retry_seed)).await {
                Ok(()) => conditions.workload.run(&plan, &mut conversation).await,
                Err(given_up) => {
                    retries -= 1;
                    Err(given_up)
                }
            };
        }
        conversation.end_flight();
        let (outcome, usable) = conclude(result, &conversation.stamps, local);
        if !conversation.stamps.completed.is_some() {
            // Refused before anything was sent: that, too, happens at its due time and not earlier.
            conversation.stamps.completed = conversation.wait_for_due().await;
            if conversation.stamps.completed < held.due || local.shared.called_off(held.due) {
                break;
            }
        }
        let completed = conversation.stamps.completed;
        let sample = agenda.sample(&conversation.stamps, outcome, retries, after_reconnect, local);
        local.sink.borrow_mut().push(sample);
        // What was not sent for want of time took no harm, whatever the workload makes of the refusal.
        let lost = !usable && conversation.withheld() == Withheld::No;
        agenda.free = completed;
        agenda.think(local);
        after_reconnect = false;
        // HOT ends.
        if outcome.code() >= Outcome::Serialization.code() {
            let words = || words.of(outcome).or_else(|| session.last_error());
            report_first(&mut errors_seen, outcome, &words, number, completed, conditions);
        }
        if lost {
            let Some(new) =
                replace(session, &agenda, completed, Use::NextRequest, task, local, conditions).await
            else {
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
fn report_first<W, R, H: Happenings>(
    seen: &mut u16,
    outcome: Outcome,
    words: &dyn Fn() -> Option<String>,
    number: u16,
    completed: Ticks,
    conditions: &Conditions<'_, W, R, H>,
) {
    let bit = 1u16 << outcome.code();
    if *seen & bit == 0 {
        *seen |= bit;
        conditions.happenings.first_error(number, completed, outcome, words().unwrap_or_default());
    }
}

/// What a session that replaces a lost one is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The request that lost it is tried again.
    SameRequest,
    /// Whatever comes next, if anything does.
    NextRequest,
}

/// Drops the session, waits for a new one; `None` when the load ends before there is one.
#[cold]
async fn replace<S, W, C, K, R, H>(
    lost: S,
    agenda: &Agenda,
    since: Ticks,
    purpose: Use,
    task: u32,
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
    let number = agenda.session;
    conditions.happenings.lost(number, since, lost.last_error());
    drop(lost);
    local.shared.alive.fetch_sub(1, Ordering::Relaxed);
    let in_vain = || local.shared.abandoned() || (purpose == Use::NextRequest && agenda.nothing_left(local));
    if in_vain() {
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
        if in_vain() {
            return None;
        }
        let again = Ticks(local.clock.now().0 + pause);
        local.wait_until(task, again, || local.shared.abandoned()).await;
    }
}

#[cfg(test)]
mod tests;
