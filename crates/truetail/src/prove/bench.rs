//! A store for one live run.

use crate::store::{Ended, ListenAt, Plan, Running};
use anyhow::Context;
use prove::invocations::Protocol;
use prove::scenario::Scenario;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use store::server::Limits;
use store::{Fault, Settings};

/// A store that behaves as a scenario says, with its truth log.
pub(super) struct Bench {
    running: Running,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) truth: PathBuf,
    spoken: Protocol,
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
    pub(super) fn start(behaviour: Behaviour, spoken: Protocol, truth: &Path) -> anyhow::Result<Bench> {
        let at = || Some(ListenAt { host: "127.0.0.1".to_owned(), port: 0 });
        let Behaviour { model, faults, seed } = behaviour;
        let running = Running::start(Plan {
            settings: Settings { model, faults, seed, ..Settings::default() },
            resp: at().filter(|_| spoken == Protocol::Resp),
            postgres: at().filter(|_| spoken == Protocol::Postgres),
            node_ports: false,
            password: None,
            truth: Some(truth.to_owned()),
            limits: Limits::default(),
            cpu: None,
            command: "truetail prove".to_owned(),
        })?;
        let addresses = if spoken == Protocol::Resp { &running.resp } else { &running.postgres };
        let address = addresses.first().context("the store listens nowhere")?;
        let (host, port) = (address.ip().to_string(), address.port());
        Ok(Bench { running, host, port, truth: truth.to_owned(), spoken })
    }

    /// The store as truetail's own target.
    pub(super) fn url(&self) -> String {
        match self.spoken {
            Protocol::Resp => format!("redis://{}:{}", self.host, self.port),
            Protocol::Postgres => {
                format!("postgres://store@{}:{}/store?sslmode=disable", self.host, self.port)
            }
        }
    }

    /// Lets the scenario begin with the next request; gives the number of that request in the truth log.
    pub(super) fn begin_anew(&self) -> u64 {
        self.running.control("restart");
        self.running.live.served.load(Ordering::Relaxed)
    }

    /// Ends the store.
    ///
    /// # Errors
    /// As [`Running::end`].
    pub(super) fn end(self) -> anyhow::Result<Ended> {
        self.running.end()
    }
}
