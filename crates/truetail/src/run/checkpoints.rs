//! PostgreSQL's checkpoints, asked for beside the load, on a thread and a session of their own.
//!
//! The server tells how long its checkpoints have written and synced, in all, and counts one when it is over. So between
//! two questions of which the second shows more, one has ended, and it began no earlier than that long before the first.
//! That window is the event: up to two questions' distance wider than the checkpoint, never narrower. What it can't show is
//! a checkpoint that had not ended when the run did.

use analysis::attribution::names::CHECKPOINTS;
use clock::{Clock, LiveClock};
use driver::{Command, Dialect, Direct, Session, StatementSpec, Target, Value, ValueType};
use record::{EventKind, NoiseSourceFacts, Recorder, ServerTold};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use units::{Nanos, Ticks};

/// From one question to the next.
const EACH: Nanos = Nanos::from_millis(200);
/// How often a waiting thread looks whether the run is over.
const LOOK: Nanos = Nanos::from_millis(10);
/// How long the last answer is waited for when it is.
const GRACE: Nanos = Nanos::from_secs(1);

/// Milliseconds that checkpoints have written and synced so far: until PostgreSQL 16, and from 17 on.
const QUESTIONS: [&str; 2] = [
    "SELECT checkpoint_write_time::float8, checkpoint_sync_time::float8 FROM pg_stat_bgwriter",
    "SELECT write_time::float8, sync_time::float8 FROM pg_stat_checkpointer",
];

/// Ready to ask, or why nobody can.
pub(super) struct Checkpoints<S>(Result<S, String>);

/// Being asked for; dropped, it ends.
pub(super) struct Watch<'scope> {
    stop: Arc<AtomicBool>,
    thread: Option<ScopedJoinHandle<'scope, ()>>,
}

/// Milliseconds so far.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Spent {
    written: f64,
    synced: f64,
}

impl<S: Session> Checkpoints<S> {
    /// Connects; `None` where there are none of this kind. That they can't be asked for is no reason not to run.
    pub(super) fn prepare<T: Target<Session = S>>(target: &T) -> Option<Checkpoints<S>> {
        if target.dialect() != Dialect::Postgres {
            return None;
        }
        let connect = |sql: &&str| {
            let question = StatementSpec::kept(*sql, &[], &[ValueType::Float, ValueType::Float]);
            target.connect(&[question], None).map_err(|error| error.to_string())
        };
        let mut tried = QUESTIONS.iter().map(connect);
        let first = tried.next()?;
        Some(Checkpoints(first.or_else(|why| tried.next().unwrap_or(Err(why)))))
    }

    /// Starts asking, and says in the recording whether anybody does.
    pub(super) fn start<'scope, 'env: 'scope>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        recorder: &Recorder,
        clock: LiveClock,
    ) -> Option<Watch<'scope>>
    where
        S: 'env,
    {
        let (noise, events) = (recorder.noise(), recorder.events());
        let announce = move |available: Result<u64, String>| {
            let (name, unit) = (CHECKPOINTS.to_owned(), "count".to_owned());
            noise.source(NoiseSourceFacts { name, unit, available })
        };
        let mut session = match self.0 {
            Ok(session) => session,
            Err(why) => {
                announce(Err(why));
                return None;
            }
        };
        let begun = clock.now();
        let first = match ask(&mut session, &|| clock.nanos_in(clock.now().0 - begun.0) > GRACE) {
            Ok(first) => first,
            Err(why) => {
                announce(Err(why));
                return None;
            }
        };
        announce(Ok(clock.nanos_in(clock.now().0 - begun.0).0));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let tell = move |begin: Ticks, end: Ticks, detail: String| {
            events.push(EventKind::Other, begin, end, ServerTold::Checkpoint.subject(), detail);
        };
        let work = move || {
            record::lower_priority();
            if let Err(why) = keep_asking(&mut session, first, begun, clock, &stopped, tell) {
                announce(Err(format!("asked for until the session was lost: {why}")));
            }
        };
        let thread = Builder::new().name("checkpoints".to_owned()).spawn_scoped(scope, work).ok();
        Some(Watch { stop, thread })
    }
}

/// Until it is told to stop, and once more then.
fn keep_asking(
    session: &mut impl Session,
    first: Spent,
    begun: Ticks,
    clock: LiveClock,
    stopped: &AtomicBool,
    tell: impl Fn(Ticks, Ticks, String),
) -> Result<(), String> {
    let (mut last, mut last_asked) = (first, begun);
    let is_over = || stopped.load(Ordering::Relaxed);
    loop {
        let next = clock.now().0 + clock.ticks_in(EACH);
        while !is_over() && clock.now().0 < next {
            clock::pause(LOOK);
        }
        let (is_last, asked) = (is_over(), clock.now());
        let gives_up = || match is_last {
            true => clock.nanos_in(clock.now().0 - asked.0) > GRACE,
            false => is_over(),
        };
        let found = match ask(session, &gives_up) {
            Err(_) if is_over() => return Ok(()),
            found => found?,
        };
        if let Some((length, detail)) = ended(last, found) {
            tell(Ticks(last_asked.0.saturating_sub(clock.ticks_in(length))), clock.now(), detail);
        }
        (last, last_asked) = (found, asked);
        if is_last {
            return Ok(());
        }
    }
}

/// How long a checkpoint took that has ended between two answers; `None` when none did.
fn ended(before: Spent, after: Spent) -> Option<(Nanos, String)> {
    let (written, synced) = (after.written - before.written, after.synced - before.synced);
    // Somebody may reset the server's statistics.
    let millis = written.max(0.0) + synced.max(0.0);
    (millis > 0.0).then(|| {
        let detail = format!("wrote for {written:.0} ms, synced for {synced:.0} ms");
        (Nanos::from_secs_f64(millis / 1e3), detail)
    })
}

fn ask(session: &mut impl Session, gives_up: &dyn Fn() -> bool) -> Result<Spent, String> {
    let question = Command::Statement { index: 0, arguments: &[] };
    if let Err(error) = Direct::until(session, gives_up).ask(question) {
        return Err(session.last_error().unwrap_or_else(|| error.outcome.name().to_owned()));
    }
    let value = |column| match session.value(0, 0, column) {
        Some(Value::Float(value)) if value.is_finite() => Some(value),
        _ => None,
    };
    let spent = || Some(Spent { written: value(0)?, synced: value(1)? });
    spent().ok_or_else(|| "the server's statistics have no row on checkpoints".to_owned())
}

impl Watch<'_> {
    /// Asks once more and ends.
    pub(super) fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panicked thread has lost events, no samples.
            let _ = thread.join();
        }
    }
}

impl Drop for Watch<'_> {
    /// The scope waits for the thread.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_what_the_statistics_have_more() {
        let spent = |written, synced| Spent { written, synced };
        assert_eq!(ended(spent(5.0, 1.0), spent(5.0, 1.0)), None);
        let (length, detail) = ended(spent(5.0, 1.0), spent(125.0, 31.0)).expect("one ended");
        assert_eq!(
            (length, detail.as_str()),
            (Nanos::from_millis(150), "wrote for 120 ms, synced for 30 ms")
        );
        // Statistics that were reset show none.
        assert_eq!(ended(spent(5.0, 1.0), spent(0.0, 0.0)), None);
    }
}
