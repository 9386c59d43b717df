//! A store for one live run.

use crate::store::{Ended, ListenAt, Plan, Running, Spoken};
use anyhow::Context;
use prove::scenario::Scenario;
use std::path::{Path, PathBuf};
use store::server::Limits;
use store::{Fault, Settings};

/// A store that behaves as a scenario says, with its truth log.
pub(super) struct Bench {
    running: Running,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) truth: PathBuf,
    spoken: Spoken,
}

/// What a store is to do besides answering.
pub(super) struct Behaviour {
    pub(super) model: store::Model,
    pub(super) faults: Vec<Fault>,
    pub(super) seed: units::Seed,
}

impl Behaviour {
    pub(super) fn of(scenario: &Scenario) -> Behaviour {
        Behaviour { model: scenario.timing.model(), faults: Vec::new(), seed: scenario.seed }
    }
}

impl Bench {
    /// Starts one on a free port of this host, with its log in `truth`.
    pub(super) fn start(behaviour: Behaviour, spoken: Spoken, truth: &Path) -> anyhow::Result<Bench> {
        let at = || Some(ListenAt { host: "127.0.0.1".to_owned(), port: 0 });
        let Behaviour { model, faults, seed } = behaviour;
        let running = Running::start(Plan {
            settings: Settings { model, faults, seed, ..Settings::default() },
            resp: at().filter(|_| spoken == Spoken::Resp),
            postgres: at().filter(|_| spoken == Spoken::Postgres),
            node_ports: false,
            password: None,
            truth: Some(truth.to_owned()),
            limits: Limits::default(),
            cpu: None,
            command: "truetail prove".to_owned(),
        })?;
        let addresses = if spoken == Spoken::Resp { &running.resp } else { &running.postgres };
        let address = addresses.first().context("the store listens nowhere")?;
        let (host, port) = (address.ip().to_string(), address.port());
        Ok(Bench { running, host, port, truth: truth.to_owned(), spoken })
    }

    /// The store as truetail's own target.
    pub(super) fn url(&self) -> String {
        match self.spoken {
            Spoken::Resp => format!("redis://{}:{}", self.host, self.port),
            Spoken::Postgres => format!("postgres://store@{}:{}/store?sslmode=disable", self.host, self.port),
        }
    }

    pub(super) fn end(self) -> anyhow::Result<Ended> {
        self.running.end()
    }
}
