//! What the target said when a class of errors was first seen.

use driver::Session;
use std::cell::{Cell, RefCell};
use units::Outcome;

/// The words of a session's first error of each class, taken when the error comes in: a rollback makes the session forget them.
#[derive(Default)]
pub(crate) struct FirstWords {
    seen: Cell<u16>,
    kept: RefCell<Vec<(Outcome, String)>>,
}

impl FirstWords {
    /// An error came in. Allocates for the first of its class alone.
    #[cold]
    pub(crate) fn note(&self, outcome: Outcome, session: &impl Session) {
        let bit = 1u16 << outcome.code();
        if outcome.code() < Outcome::Serialization.code() || self.seen.get() & bit != 0 {
            return;
        }
        self.seen.set(self.seen.get() | bit);
        if let Some(words) = session.last_error() {
            self.kept.borrow_mut().push((outcome, words));
        }
    }

    /// What was said with the first error of this class.
    pub(crate) fn of(&self, outcome: Outcome) -> Option<String> {
        self.kept.borrow().iter().find(|(of, _)| *of == outcome).map(|(_, words)| words.clone())
    }
}
