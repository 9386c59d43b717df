//! A store with one connection or a few, without sockets.

use std::sync::Arc;
use store::resp::{Instance, Resp, Settings};
use store::{Answer, Answers, Arrival, Ending, Engine, NodeId, Protocol, Received};
use units::Nanos;

/// An engine that answers at once, and connections to it.
pub(crate) struct Store {
    pub(crate) engine: Engine,
    pub(crate) instance: Arc<Instance>,
    pub(crate) now: Nanos,
}

/// One connection, with the bytes that it has not understood yet.
pub(crate) struct Client {
    pub(crate) resp: Resp,
    rest: Vec<u8>,
    pub(crate) received: Vec<u8>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) closed: bool,
}

impl Store {
    pub(crate) fn new() -> Store {
        Store::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Store {
        Store { engine: Engine::default(), instance: Instance::new(settings), now: Nanos::ZERO }
    }

    pub(crate) fn client(&self) -> Client {
        Client {
            resp: Resp::new(&self.instance),
            rest: Vec::new(),
            received: Vec::new(),
            answers: Vec::new(),
            closed: false,
        }
    }
}

impl Client {
    /// Sends bytes as one piece, as the server does: what was not understood comes again, with more behind it.
    pub(crate) fn send(&mut self, store: &mut Store, piece: &[u8]) {
        if self.closed {
            return;
        }
        self.rest.extend_from_slice(piece);
        store.now = store.now + Nanos(1_000);
        let arrival = Arrival { at: store.now, stamped: false, connection: 0, node: NodeId::default() };
        let mut answers = Answers::new();
        match self.resp.receive(&self.rest, arrival, &mut store.engine, &mut answers) {
            Received::Consumed(used) => drop(self.rest.drain(..used)),
            Received::Broken | Received::Over => {
                let last = answers.list().last().expect("an answer says what is wrong");
                assert_eq!(last.ending, Ending::Close);
            }
        }
        self.received.extend_from_slice(answers.bytes());
        self.closed = answers.list().iter().any(|answer| answer.ending == Ending::Close);
        self.answers.extend_from_slice(answers.list());
        assert!(self.closed || self.rest.len() < self.resp.message_limit());
    }

    /// What it answers to one request; lines such as `SET k v`.
    pub(crate) fn line(&mut self, store: &mut Store, line: &str) -> String {
        self.received.clear();
        self.send(store, format!("{line}\r\n").as_bytes());
        String::from_utf8_lossy(&self.received).into_owned()
    }
}
