//! TPC-C: orders, payments and deliveries of a wholesale supplier (TPC-C 5.11).
//!
//! The specification's schema, population and five transactions, with exact money, in the SQL that all databases share.
//! `docs/tpcc.md` says where it deviates from the specification, what was read for it, and what `compat=benchbase` changes.
//!
//! | transaction | share | exchanges, batched | and single |
//! |---|---|---|---|
//! | `NewOrder` | 45 % | 2 | 8 + 4 × lines |
//! | `Payment` | 43 % | 2, with bad credit 3 | 10, with bad credit 11 |
//! | `OrderStatus` | 4 % | 1, by last name 2 | the same |
//! | `Delivery` | 4 % | 4 | 63 |
//! | `StockLevel` | 4 % | 2 | the same |
//!
//! Locks are taken in one order by all: a warehouse, a district, stock by warehouse and item, a customer; deliveries go
//! through the districts upwards. So no two transactions wait for each other in a circle.

mod check;
mod config;
mod dataset;
mod delivery;
mod new_order;
mod payment;
mod phases;
mod plan;
mod population;
mod reads;
mod schema;
mod sql;
mod terminals;
mod text;

pub use config::{OPERATIONS, Roundtrips, TpccConfig};
pub use plan::Plan;

use crate::dataset::{DataSet, Status, status};
use crate::transaction::settled;
use crate::users::Users;
use crate::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};
use config::{Constants, WEIGHTS};
use driver::{Administration, Conversation, Dialect, Isolation, OpError, StatementSpec};
use plan::{Draws, Kind};
use population::Population;
use std::sync::atomic::Ordering;
use units::Outcome;

/// The workload `tpcc`.
#[derive(Debug)]
pub struct Tpcc {
    config: TpccConfig,
    draws: Draws,
    population: Population,
    counts: delivery::Counts,
}

impl Tpcc {
    /// The workload with these parameters.
    pub fn new(config: TpccConfig) -> Tpcc {
        let constants = Constants::drawn(config.seed, config.seed, config.benchbase);
        Tpcc {
            draws: Draws::new(&config, constants),
            population: Population::new(&config),
            counts: delivery::Counts::default(),
            config,
        }
    }

    /// The parameters.
    pub fn config(&self) -> &TpccConfig {
        &self.config
    }
}

/// What the specification asks of a run, as facts that reports judge it by.
fn rules(config: &TpccConfig) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    // 12.86 is ten terminals' New-Orders a minute when nothing takes any time but keying and thinking.
    let ceiling = f64::from(config.warehouses) * 12.86;
    let mut rules = vec![
        fact("rate tpmC", OPERATIONS[0].to_owned()),
        fact("ceiling of tpmC with terminals", format!("{ceiling:.2}")),
        fact("rolled back by design NewOrder", config::percent(config.rollback)),
    ];
    let limits = OPERATIONS.iter().zip([5, 5, 5, 5, 20]);
    rules.extend(limits.map(|(name, seconds)| fact(&format!("limit p90 {name}"), format!("{seconds}s"))));
    let shares = OPERATIONS.iter().zip([0, 43, 4, 4, 4]).skip(1);
    rules.extend(shares.map(|(name, share)| fact(&format!("least share {name}"), format!("{share}%"))));
    rules
}

impl Workload for Tpcc {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: "tpcc".to_owned(),
            scale: self.config.warehouses.into(),
            parameters: self.config.parameters().into_iter().chain(rules(&self.config)).collect(),
        }
    }

    fn operations(&self) -> Vec<Operation> {
        let weights = self.config.weights.unwrap_or(WEIGHTS);
        OPERATIONS.iter().zip(weights).map(|(&name, weight)| Operation { name, weight }).collect()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        sql::statements(dialect)
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) -> Plan {
        Plan::new()
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        self.draws.plan(&self.config, request, plan);
    }

    async fn run<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        let roundtrips = self.config.roundtrips;
        match plan.kind {
            Kind::NewOrder => {
                let steps = new_order::run(roundtrips, plan, conversation).await;
                settled(conversation, steps).await
            }
            Kind::Payment => {
                let steps = payment::run(roundtrips, plan, conversation).await;
                settled(conversation, steps).await
            }
            Kind::Delivery => {
                let steps = delivery::run(roundtrips, plan, &self.counts, conversation).await;
                settled(conversation, steps).await
            }
            Kind::OrderStatus => reads::order_status(roundtrips, plan, conversation).await,
            Kind::StockLevel => reads::stock_level(roundtrips, plan, conversation).await,
        }
    }

    /// READ COMMITTED where there are levels: docs/tpcc.md says why that is what the specification asks for.
    fn isolation(&self, dialect: Dialect) -> Option<Isolation> {
        match dialect {
            Dialect::Postgres | Dialect::MySql if self.config.benchbase => Some(Isolation::Serializable),
            Dialect::Postgres | Dialect::MySql => Some(Isolation::ReadCommitted),
            _ => None,
        }
    }

    fn users(&self) -> Option<Box<dyn Users>> {
        Some(Box::new(terminals::Terminals::new(&self.config)))
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        // Relaxed: read after the run, when its threads have ended.
        vec![
            ("orders delivered", self.counts.delivered.load(Ordering::Relaxed)),
            ("districts skipped by Delivery", self.counts.skipped.load(Ordering::Relaxed)),
        ]
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    /// The constant of last names depends on the one that the data was made with.
    fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
        match status(administration, self).map_err(|error| error.to_string())? {
            Status::Matching { found } => {
                let loaded = units::Seed(found.seed);
                let constants = Constants::drawn(self.config.seed, loaded, self.config.benchbase);
                self.draws = Draws::new(&self.config, constants);
                Ok(())
            }
            other => Err(format!("{}: run `truetail load`", other.describe(self))),
        }
    }
}
