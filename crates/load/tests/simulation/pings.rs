//! What the simulated server is asked, and loads to ask it with.

use driver::{Administration, Command, Conversation, Dialect, OpError, StatementSpec};
use load::simulate::FifoServer;
use load::{LoadSpec, Model, Pacing, parse_phases};
use units::{Nanos, Outcome, Seed};
use workload::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};

/// Requests of one ping each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pings {
    /// Nothing else.
    Plain,
    /// In a transaction, rolled back after an error.
    InTransactions,
    /// Those with an odd number can't be encoded.
    OddRefused,
}

impl Workload for Pings {
    type Plan = u64;
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts { name: "pings".into(), scale: 1.0, parameters: vec![] }
    }
    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "Ping", weight: 1.0 }, Operation { name: "Pong", weight: 1.0 }]
    }
    fn statements(&self, _dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        Ok(vec![])
    }
    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }
    fn new_plan(&self) -> u64 {
        0
    }
    fn plan(&self, request: Request, plan: &mut u64) {
        *plan = request.seq;
    }
    async fn run<C: Conversation>(&self, plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        if *self == Pings::OddRefused && plan % 2 == 1 {
            return Err(OpError::refused(Outcome::Protocol));
        }
        conversation.stage(Command::Ping)?;
        let answer = conversation.exchange().await;
        if *self == Pings::InTransactions {
            workload::transaction::settled(conversation, answer).await?;
        } else {
            answer?;
        }
        Ok(Outcome::Ok)
    }
    fn dataset(&self) -> Option<&dyn workload::dataset::DataSet> {
        None
    }
    fn observe(&mut self, _administration: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}

pub fn spec(model: Model, phases: &str, sessions: u32) -> LoadSpec {
    LoadSpec {
        model,
        phases: parse_phases(phases).unwrap(),
        operations: vec!["Ping".into(), "Pong".into()],
        mix: vec![1.0, 1.0],
        sessions,
        workers: 1,
        requests: None,
        timeout: None,
        drain: Nanos::from_secs(100),
        retries: 0,
        pacing: Pacing::SleepThenSpin,
        cpus: vec![],
        seed: Seed(11),
    }
}

/// A server that answers each request after 10 µs, one after the other.
pub fn fast() -> Box<FifoServer> {
    Box::new(FifoServer::new(Nanos::from_micros(10), vec![]).answer_after_service())
}
