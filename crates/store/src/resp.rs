//! The store behind Redis's protocol: RESP2, RESP3 after `HELLO 3`, and lines typed by hand.
//!
//! Answers are those of Redis 7.0, byte for byte where nothing depends on time, identity or chance; a differential test
//! compares them. What is deliberately otherwise:
//!
//! - There is one database and no expiry; a command that would set one is refused, never half obeyed.
//! - Fields of hashes and members of sets come in the order of their bytes, and `SPOP` takes the first: the same requests
//!   give the same answers.
//! - Limits are lower: see [`MESSAGE_MAX`], [`ANSWER_MAX`] and the others here. What exceeds one is an error, never a
//!   matter of memory.
//!
//! Each command is one request that the engine admits and times, and so is a wrong one. Not timed, since load tools
//! send it before they measure: greetings, authentication, questions about the connection and the server, `TRUETAIL`.

mod call;
mod connection;
mod exchange;
mod handshake;
mod hashes;
mod instance;
mod keys;
mod lists;
mod members;
mod numbers;
mod parse;
mod pattern;
mod ranges;
mod refusal;
mod reply;
mod scores;
mod server;
mod strings;
mod table;
mod transaction;

pub use instance::{Instance, Settings};

use crate::{Answers, Arrival, Engine, Protocol, Received};
use std::sync::Arc;

/// The most bytes of one request.
pub const MESSAGE_MAX: usize = parse::MESSAGE_MAX;
/// The most words of one request, its name included.
pub const WORDS_MAX: usize = parse::WORDS_MAX;
/// The most bytes of one word, and of any string that is stored.
pub const WORD_MAX: usize = parse::WORD_MAX;
/// The most bytes of one answer; `EXEC`'s is one.
pub const ANSWER_MAX: usize = 8 << 20;
/// The most bytes of answers to what is received at once: a flood of small requests must not become a larger one of
/// answers. Beyond it, each answer may have [`ANSWER_TIGHT`] bytes.
pub const ANSWERS_MAX: usize = 32 << 20;
/// The most bytes of an answer once [`ANSWERS_MAX`] has been reached.
pub const ANSWER_TIGHT: usize = 256;
/// The most bytes of all requests between `MULTI` and `EXEC`, with [`QUEUED_WORD`] for each word.
pub const QUEUED_MAX: usize = 4 << 20;
/// What each queued word counts beside its bytes.
pub const QUEUED_WORD: usize = 32;
/// The most keys that a connection may watch.
pub const WATCHED_MAX: usize = 1_024;
/// The most bytes of them.
pub const WATCHED_BYTES_MAX: usize = 1 << 20;

/// One client's connection.
#[derive(Debug)]
pub struct Resp(exchange::Exchange);

impl Resp {
    /// A new connection to `instance`.
    pub fn new(instance: &Arc<Instance>) -> Resp {
        Resp(exchange::Exchange::new(instance))
    }
}

impl Protocol for Resp {
    fn receive(
        &mut self,
        input: &[u8],
        arrival: Arrival,
        engine: &mut Engine,
        answers: &mut Answers,
    ) -> Received {
        self.0.receive(input, arrival, engine, answers)
    }

    fn holds(&self) -> usize {
        self.0.holds()
    }

    fn is_established(&self) -> bool {
        self.0.is_established()
    }

    fn message_limit(&self) -> usize {
        MESSAGE_MAX
    }
}
