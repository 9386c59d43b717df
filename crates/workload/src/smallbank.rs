//! SmallBank: customers with savings and checking accounts, between which money moves.
//!
//! The benchmark of Alomari, Cahill, Fekete & Röhm (ICDE 2008) with the sixth transaction and the mix of H-Store, which
//! BenchBase took over. Money is whole cents. `docs/smallbank.md` says what deviates, and what `compat=benchbase` changes.
//!
//! | transaction | weight | what it does | exchanges, batched | and single |
//! |---|---|---|---|---|
//! | `Amalgamate` | 15 | moves all that a customer has to another one's checking account | 2 | 9 |
//! | `Balance` | 15 | sums a customer's accounts | 2 | 3 |
//! | `DepositChecking` | 15 | 1.30 into the checking account | 2 | 3 |
//! | `SendPayment` | 25 | 5.00 from one checking account to another | 2 | 7 |
//! | `TransactSavings` | 15 | 20.20 out of the savings account, unless that made it negative | 3 | 4 |
//! | `WriteCheck` | 15 | 5.00 out of the checking account, and 1.00 more where both accounts do not cover it | 3 | 5 |
//!
//! What a run has moved into and out of the bank is counted, so that the total after it can be verified.

mod config;
mod dataset;
mod run;
mod statements;

#[cfg(test)]
mod model;

pub use config::{Hotspot, SmallBankConfig};

use crate::dataset::DataSet;
use crate::digits::Digits;
use crate::ledger::Ledger;
use crate::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};
use driver::{Administration, Conversation, Dialect, Isolation, OpError, StatementSpec};
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Outcome, Seed};

/// A transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Amalgamate,
    Balance,
    DepositChecking,
    SendPayment,
    TransactSavings,
    WriteCheck,
}

/// Names, weights, kinds and the cents of each, in the order of [`crate::OpId`].
const OPERATIONS: [(&str, f64, Kind, i64); 6] = [
    ("Amalgamate", 15.0, Kind::Amalgamate, 0),
    ("Balance", 15.0, Kind::Balance, 0),
    ("DepositChecking", 15.0, Kind::DepositChecking, 130),
    ("SendPayment", 25.0, Kind::SendPayment, statements::CHECKING_ASKED),
    ("TransactSavings", 15.0, Kind::TransactSavings, statements::SAVINGS_ASKED),
    ("WriteCheck", 15.0, Kind::WriteCheck, 500),
];

/// Why a transaction was rolled back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    SavingsTooLow,
    CheckingTooLow,
}

const RULES: [&str; 2] = ["rejected: savings too low", "rejected: checking account too low"];

/// The workload `smallbank`.
pub struct SmallBank {
    config: SmallBankConfig,
    requests: Seed,
    /// Cents in all accounts before the run; `None` before they were looked at, or where that takes too long.
    start: Option<i64>,
    ledger: Ledger,
    rejected: [AtomicU64; RULES.len()],
}

/// A request made concrete.
pub struct Plan {
    kind: Kind,
    customer: i64,
    /// The name of `customer`.
    name: Digits<64>,
    /// Who gets the money, of two.
    other: i64,
    amount: i64,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Plan { kind, customer, name, other, amount } = self;
        write!(f, "{kind:?} customer {customer} {} other {other} amount {amount}", name.as_str())
    }
}

impl SmallBank {
    /// The workload with these parameters.
    pub fn new(config: SmallBankConfig) -> SmallBank {
        SmallBank {
            requests: config.seed.derive("smallbank/requests").derive(&format!("client {}", config.client.0)),
            start: None,
            ledger: Ledger::default(),
            rejected: Default::default(),
            config,
        }
    }

    /// The statement that reads a balance which is going to be changed: locked but where BenchBase locks nothing.
    fn read(&self, index: usize) -> usize {
        let locked = statements::SAVINGS_LOCKED - statements::SAVINGS;
        if self.config.benchbase { index } else { index + locked }
    }

    fn count(&self, rule: Rule) {
        // Relaxed: read when the run's threads have ended.
        self.rejected[rule as usize].fetch_add(1, Ordering::Relaxed);
    }
}

impl Workload for SmallBank {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: "smallbank".to_owned(),
            scale: self.config.scale,
            parameters: self.config.parameters(),
        }
    }

    fn operations(&self) -> Vec<Operation> {
        OPERATIONS.iter().map(|&(name, weight, ..)| Operation { name, weight }).collect()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        statements::statements(dialect)
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) -> Plan {
        Plan { kind: Kind::Balance, customer: 0, name: Digits::of(0), other: 0, amount: 0 }
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        let mut rng = self.requests.at(request.seq);
        let (_, _, kind, amount) = OPERATIONS[usize::from(request.op.0)];
        let (customer, other) = match kind {
            Kind::Amalgamate | Kind::SendPayment => self.config.pair(&mut rng),
            _ => (self.config.customer(&mut rng), 0),
        };
        let name = Digits::of(customer);
        *plan = Plan { kind, customer: customer as i64, name, other: other as i64, amount };
    }

    async fn run<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        run::run(self, plan, conversation).await
    }

    fn isolation(&self, dialect: Dialect) -> Option<Isolation> {
        match dialect {
            Dialect::Postgres | Dialect::MySql if self.config.benchbase => Some(Isolation::Serializable),
            _ => None,
        }
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let (added, taken) = self.ledger.moved();
        let rejected = RULES.iter().zip(&self.rejected);
        let mut counts: Vec<_> =
            rejected.map(|(name, count)| (*name, count.load(Ordering::Relaxed))).collect();
        if !self.config.benchbase {
            counts.extend([("cents paid in", added), ("cents paid out", taken)]);
            counts.push(("commits of money that nobody knows to have happened", self.ledger.unknown()));
        }
        counts
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
        if self.check_is_cheap() {
            let total = dataset::total(administration).map_err(|error| format!("smallbank: {error}"))?;
            self.start = Some(total);
        }
        Ok(())
    }
}
