//! What the simulated server is asked, and loads to ask it with.

use crate::doubles::{numbered_requests, plain};
use driver::{Command, Conversation, OpError};
use load::simulate::FifoServer;
use load::{LoadSpec, Model, Pacing};
use units::{Nanos, Outcome, Seed};
use workload::Workload;

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
    numbered_requests!("Ping", "Pong");
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
}

pub fn spec(model: Model, phases: &str, sessions: u32) -> LoadSpec {
    LoadSpec {
        operations: vec!["Ping".into(), "Pong".into()],
        mix: vec![1.0, 1.0],
        sessions,
        drain: Nanos::from_secs(100),
        pacing: Pacing::SleepThenSpin,
        seed: Seed(11),
        ..plain(model, phases)
    }
}

/// A server that answers each request after 10 µs, one after the other.
pub fn fast() -> Box<FifoServer> {
    Box::new(FifoServer::new(Nanos::from_micros(10), vec![]).answer_after_service())
}
