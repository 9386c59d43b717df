//! Doubles of what only this crate's own tests can see.

use crate::local::Shared;
use crate::schedule::Schedule;
use crate::session::Replacement;
use std::sync::atomic::{AtomicBool, AtomicU64};
use units::Ticks;

/// No lost session is ever replaced.
pub(crate) struct Nobody;

impl<S> Replacement<S> for Nobody {
    fn request(&self, _number: u16) {}
    fn take(&self, _number: u16) -> Option<S> {
        None
    }
}

/// What the workers of a load share that has one phase without end, `sessions` sessions that are all connected, and a
/// schedule of `slots` slots, still empty.
pub(crate) fn shared(slots: usize, sessions: u32) -> Shared {
    Shared {
        schedule: Schedule::new(slots, false, sessions),
        stop_at: AtomicU64::new(u64::MAX),
        abandon: AtomicBool::new(false),
        session_limits: None,
        made_when_claimed: None,
        terminals: None,
        // Far away, and still no overflow when something is added to it.
        phase_ends: vec![Ticks(u64::MAX / 2)],
        alive: AtomicU64::new(u64::from(sessions)),
    }
}
