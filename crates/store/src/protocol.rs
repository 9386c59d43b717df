//! The seam between a protocol's state machine and the server that has the sockets.

use crate::{Answers, Arrival, Engine};

/// What became of the bytes that were received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// So many bytes, from the front, were understood; the rest is an unfinished message and comes again, with
    /// more behind it. 0 when even the first message is unfinished.
    Consumed(usize),
    /// The client has said good-bye: the connection is closed once it has what it is owed.
    Over,
    /// The connection is of no use any more: what is wrong was put into the answers, with an [`crate::Ending::Close`].
    Broken,
}

/// One connection's state machine. It does no I/O, and trusts nothing that it is given: malformed messages, lengths
/// beyond its limits and wrong states end in an error to that client alone.
pub trait Protocol: Send {
    /// Understands what can be understood of `input`, executes it, and appends answers. `arrival` is that of the last
    /// byte of `input`; all requests that it completes share it.
    fn receive(
        &mut self,
        input: &[u8],
        arrival: Arrival,
        engine: &mut Engine,
        answers: &mut Answers,
    ) -> Received;

    /// Bytes that the connection's state holds beyond its own size: what was queued, prepared, collected or written and is
    /// not executed yet. Asked after each call of [`Protocol::receive`], so it must be a sum of counters and not a walk.
    fn holds(&self) -> usize;

    /// Whether the client has shown that it is one: by a whole request, by having logged in. Who does neither for long is
    /// closed.
    fn is_established(&self) -> bool;

    /// The most bytes that an unfinished message may have; the server closes connections that exceed it.
    fn message_limit(&self) -> usize;
}
