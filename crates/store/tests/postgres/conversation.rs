//! A client of the state machine: no sockets, and a clock that stands still unless it is told to go on.

use crate::wire;
use store::postgres::{Login, Options, Postgres, Service};
use store::{Answer, Answers, Arrival, Ending, Engine, NodeId, Protocol, Received, Settings};
use units::{Nanos, Seed};

/// A store with the connections to it.
pub(crate) struct Store {
    pub(crate) engine: Engine,
    pub(crate) service: Service,
    pub(crate) now: Nanos,
    connections: u32,
}

/// One connection, past the login.
pub(crate) struct Client {
    pub(crate) protocol: Postgres,
    number: u32,
    pub(crate) input: Vec<u8>,
    /// What the server gave for the last bytes that were sent.
    pub(crate) answers: Vec<Answer>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) broken: bool,
}

impl Store {
    pub(crate) fn new() -> Store {
        Store::with(Settings::default(), Login::Trust)
    }

    pub(crate) fn with(settings: Settings, login: Login) -> Store {
        let options = Options { login, seed: Seed(7), epoch_wall_ns: 1_700_000_000_000_000_000 };
        Store { engine: Engine::new(settings), service: Service::new(options), now: Nanos(0), connections: 0 }
    }

    /// A connection that has not said anything.
    pub(crate) fn connect(&mut self) -> Client {
        let number = self.connections;
        self.connections += 1;
        Client {
            protocol: self.service.connection(),
            number,
            input: Vec::new(),
            answers: Vec::new(),
            bytes: Vec::new(),
            broken: false,
        }
    }

    /// A connection that is ready.
    pub(crate) fn client(&mut self) -> Client {
        let mut client = self.connect();
        client.send(self, &wire::start(&[("user", "ann"), ("database", "shop")]));
        assert_eq!(client.said().last().unwrap(), "ready I");
        client
    }
}

impl Client {
    /// Sends bytes in one piece, and keeps what comes back.
    pub(crate) fn send(&mut self, store: &mut Store, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let mut answers = Answers::new();
        let arrival =
            Arrival { at: store.now, stamped: false, connection: self.number, node: NodeId::default() };
        match self.protocol.receive(&self.input, arrival, &mut store.engine, &mut answers) {
            Received::Consumed(size) => drop(self.input.drain(..size)),
            Received::Broken | Received::Over => self.broken = true,
        }
        assert!(self.input.len() <= self.protocol.message_limit(), "an unfinished message beyond the limit");
        let last = answers.list().last();
        assert_eq!(self.broken, last.is_some_and(|last| last.ending == Ending::Close), "how it ends");
        self.bytes = answers.bytes().to_vec();
        self.answers = answers.list().to_vec();
    }

    /// What was said to the last bytes, in words.
    pub(crate) fn said(&self) -> Vec<String> {
        wire::shown(&self.bytes)
    }

    /// Sends, and gives what is said.
    pub(crate) fn ask(&mut self, store: &mut Store, bytes: &[u8]) -> Vec<String> {
        self.send(store, bytes);
        self.said()
    }

    /// A Query, and what is said to it.
    pub(crate) fn query(&mut self, store: &mut Store, sql: &str) -> Vec<String> {
        self.ask(store, &wire::query(sql))
    }

    /// A Query whose rows alone matter.
    pub(crate) fn rows(&mut self, store: &mut Store, sql: &str) -> Vec<String> {
        let said = self.query(store, sql);
        assert!(!said.iter().any(|line| line.starts_with("error")), "{sql}: {said:?}");
        said.iter().filter_map(|line| line.strip_prefix("row ")).map(str::to_owned).collect()
    }

    /// A Query that fails: the SQLSTATE.
    pub(crate) fn refused(&mut self, store: &mut Store, sql: &str) -> String {
        let said = self.query(store, sql);
        let error = said.iter().find_map(|line| line.strip_prefix("error ERROR "));
        error.unwrap_or_else(|| panic!("{sql}: {said:?}"))[..5].to_owned()
    }

    /// How many of the answers were timed, and how many not.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let timed = self.answers.iter().filter(|answer| answer.decision.is_some()).count();
        (timed, self.answers.len() - timed)
    }
}
