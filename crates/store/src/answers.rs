//! What a protocol hands to the server: bytes, and when to write them.

use crate::{Decision, Injection, Staleness};

/// How an answer ends its connection, if it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The connection stays.
    Open,
    /// The connection is closed once the bytes are written.
    Close,
}

/// One answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// What was decided of the request; `None` for what is answered at once and not logged: greetings,
    /// authentication, errors about the protocol itself.
    pub decision: Option<Decision>,
    /// How far what was read lies behind what was written, of several records at most; or in how long a write is
    /// everywhere ([`crate::Engine::spread`]). `None` where no record was read, and of writes for those that were not made,
    /// that are part of a transaction, or whose commit was not received together with them.
    pub staleness: Option<Staleness>,
    /// End of its bytes in [`Answers::bytes`]; they begin where the previous answer's end.
    pub end: usize,
    /// Whether the connection ends with it.
    pub ending: Ending,
}

/// The answers of one call of [`crate::Protocol::receive`], in the order in which they must be written.
#[derive(Debug, Default)]
pub struct Answers {
    bytes: Vec<u8>,
    answers: Vec<Answer>,
}

impl Answers {
    /// None yet.
    pub fn new() -> Answers {
        Answers::default()
    }

    /// Something that is written at once and not logged.
    pub fn at_once(&mut self, ending: Ending, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(&mut self.bytes);
        self.answers.push(Answer { decision: None, staleness: None, end: self.bytes.len(), ending });
    }

    /// The answer of a request that the engine has admitted. Where the fault wants garbage, that takes the place of what
    /// is encoded.
    pub fn when_due(
        &mut self,
        decision: Decision,
        staleness: Option<Staleness>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) {
        if decision.injection == Some(Injection::Garbage) {
            self.bytes.extend_from_slice(b"\x00\xff\x13garbage\x7f\x80\r\n\x00\x00");
        } else {
            encode(&mut self.bytes);
        }
        self.answers.push(Answer {
            decision: Some(decision),
            staleness,
            end: self.bytes.len(),
            ending: Ending::Open,
        });
    }

    /// What is known of a write only now that it has been committed; `place` is its answer's in [`Answers::list`].
    pub fn amend(&mut self, place: usize, staleness: Staleness) {
        if let Some(answer) = self.answers.get_mut(place) {
            answer.staleness = Some(staleness);
        }
    }

    /// The answers in order.
    pub fn list(&self) -> &[Answer] {
        &self.answers
    }

    /// All bytes, one answer's behind the other's.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets all and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.answers.clear();
    }
}
