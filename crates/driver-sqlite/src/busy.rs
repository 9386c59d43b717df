//! Waiting for a lock that another session holds.

use rusqlite::ffi;
use std::ffi::{c_int, c_void};
use units::Nanos;

/// State of a connection's busy handler. Lives at a fixed address as long as the connection.
pub(crate) struct Waiting {
    database: *mut ffi::sqlite3,
    limit: Nanos,
    waited: Nanos,
    interrupted: bool,
}

const STEP_LEAST: Nanos = Nanos(50_000);
const STEP_MOST: Nanos = Nanos(1_000_000);

impl Waiting {
    /// Installs a handler that waits up to `limit` for each lock.
    ///
    /// # Safety
    /// `database` is an open connection; the result must outlive it.
    pub(crate) unsafe fn install(database: *mut ffi::sqlite3, limit: Nanos) -> Box<Waiting> {
        let mut waiting = Box::new(Waiting { database, limit, waited: Nanos::ZERO, interrupted: false });
        let state: *mut Waiting = &mut *waiting;
        // SAFETY: the connection is open, and the caller keeps the state alive as long as it is.
        unsafe { ffi::sqlite3_busy_handler(database, Some(busy), state.cast()) };
        waiting
    }

    /// Whether the last wait was ended by an interrupt; forgets it.
    pub(crate) fn take_interrupted(&mut self) -> bool {
        std::mem::take(&mut self.interrupted)
    }
}

/// The next step of a wait: an eighth of what was waited, so that little is added to what is waited for.
fn step(waited: Nanos) -> Nanos {
    Nanos((waited.0 / 8).clamp(STEP_LEAST.0, STEP_MOST.0))
}

/// Called by SQLite with the number of earlier calls for the same lock; 0 gives up.
unsafe extern "C" fn busy(state: *mut c_void, calls: c_int) -> c_int {
    // SAFETY: the state that `install` passed; SQLite calls from within a call of the connection's only user.
    let waiting = unsafe { &mut *state.cast::<Waiting>() };
    if calls == 0 {
        waiting.waited = Nanos::ZERO;
        waiting.interrupted = false;
    }
    // SAFETY: the connection is open, since it is calling.
    if unsafe { ffi::sqlite3_is_interrupted(waiting.database) } != 0 {
        waiting.interrupted = true;
        return 0;
    }
    if waiting.waited >= waiting.limit {
        return 0;
    }
    let step = step(waiting.waited);
    clock::pause(step);
    waiting.waited = waiting.waited + step;
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_with_the_wait_and_are_bounded() {
        assert_eq!(step(Nanos::ZERO), Nanos(50_000));
        assert_eq!(step(Nanos(1_600_000)), Nanos(200_000));
        assert_eq!(step(Nanos::from_secs(5)), Nanos(1_000_000));
        let (mut waited, mut steps) = (Nanos::ZERO, 0);
        while waited < Nanos::from_millis(10) {
            waited = waited + step(waited);
            steps += 1;
        }
        assert!((20..40).contains(&steps), "{steps} steps for 10 ms");
    }
}
