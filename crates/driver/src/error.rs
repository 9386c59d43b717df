//! Why an exchange failed.

use units::Outcome;

/// Why an exchange failed. Small and without heap data: it is made on the hot path. The server's words are
/// kept by the session ([`crate::Session::last_error`]) for the first occurrence of each class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpError {
    /// What becomes of the sample.
    pub outcome: Outcome,
    /// Whether the session can still be used; if not, it must be replaced.
    pub session_usable: bool,
}

impl OpError {
    /// The database refused; the session lives on.
    pub fn refused(outcome: Outcome) -> OpError {
        OpError { outcome, session_usable: true }
    }

    /// The session is gone.
    pub fn lost(outcome: Outcome) -> OpError {
        OpError { outcome, session_usable: false }
    }
}
