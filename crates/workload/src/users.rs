//! Users who wait for an answer, think, and ask again: the terminals of TPC-C.
//!
//! A user has a cycle: he chooses what to ask, takes his time to key it in, asks at that moment (the intended start),
//! waits for the answer, and thinks. There may be far more users than sessions; which session carries a request is the
//! load's business.

use crate::OpId;
use units::Nanos;

/// In place of a user's number where requests have none.
pub const NOBODY: u32 = u32::MAX;

/// What a user will ask, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// What.
    pub op: OpId,
    /// From the end of his thinking to his asking.
    pub keying: Nanos,
    /// From the answer to his next choice.
    pub thinking: Nanos,
}

/// A workload's users. Turn *k* of user *n* is a function of the seed, *n* and *k*, whatever the others do.
pub trait Users: Send {
    /// How many there are, at least 1.
    fn count(&self) -> u32;

    /// The next turn of a user. Allocates nothing.
    fn next(&mut self, user: u32) -> Turn;
}
