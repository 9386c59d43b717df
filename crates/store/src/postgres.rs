//! PostgreSQL's protocol 3.0, the server's side.

use crate::{Answers, Arrival, Ending, Engine, Protocol, Received};
use std::sync::{Arc, Mutex};
use units::Seed;

/// How clients prove who they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Login {
    /// Everyone is believed.
    #[default]
    Trust,
    /// SCRAM-SHA-256 with this password, whatever the user's name.
    Password(String),
}

/// What all connections have in common from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How clients prove who they are.
    pub login: Login,
    /// Start of the streams behind nonces and cancel keys.
    pub seed: Seed,
    /// Wall time of the store's epoch, in ns since 1970: what `now()` counts from.
    pub epoch_wall_ns: u64,
}

/// What all connections of a store share: tables, plans, the password's verifier.
#[derive(Clone, Debug)]
pub struct Service(Arc<Mutex<Options>>);

impl Service {
    /// An empty catalog. With a password it computes the verifier once: some milliseconds.
    pub fn new(options: Options) -> Service {
        Service(Arc::new(Mutex::new(options)))
    }

    /// The state machine of a new connection.
    pub fn connection(&self) -> Postgres {
        Postgres { service: self.clone() }
    }
}

/// One connection.
#[derive(Debug)]
pub struct Postgres {
    service: Service,
}

impl Protocol for Postgres {
    fn receive(
        &mut self,
        _input: &[u8],
        _arrival: Arrival,
        _engine: &mut Engine,
        answers: &mut Answers,
    ) -> Received {
        let _ = &self.service;
        answers.at_once(Ending::Close, |_| {});
        Received::Broken
    }

    fn message_limit(&self) -> usize {
        16 << 20
    }
}
