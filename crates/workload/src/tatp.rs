//! TATP: subscribers of a telephone network, whose data are looked up and seldom changed.
//!
//! The seven transactions of the Telecommunication Application Transaction Processing benchmark, with its mix, its population
//! and its non-uniform subscribers. Many of its requests are meant to find nothing: which share succeeds is stated, and a
//! report judges it. `docs/tatp.md` says what deviates, and what `compat=benchbase` changes.
//!
//! | transaction | weight | what it does | exchanges, batched | and single |
//! |---|---|---|---|---|
//! | `DeleteCallForwarding` | 2 | a subscriber by number, one call forwarding deleted | 2 | 3 |
//! | `GetAccessData` | 35 | one row of access | 1 | 1 |
//! | `GetNewDestination` | 10 | numbers of an active facility's call forwardings | 1 | 1 |
//! | `GetSubscriberData` | 35 | a subscriber's row | 1 | 1 |
//! | `InsertCallForwarding` | 2 | a subscriber by number, his facilities, one call forwarding inserted | 2 | 4 |
//! | `UpdateLocation` | 14 | a subscriber's location, by number | 1 | 1 |
//! | `UpdateSubscriberData` | 2 | a bit of a subscriber and a number of a facility; neither where there is no such facility | 2 | 3 |
//!
//! How many call forwardings a run has inserted and deleted is counted, so that their number after it can be verified.

mod config;
mod dataset;
mod population;
mod run;
mod shares;
mod statements;

#[cfg(test)]
mod model;

pub use config::{Keys, TatpConfig};

use crate::dataset::DataSet;
use crate::digits::Digits;
use crate::ledger::Ledger;
use crate::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};
use config::Subscribers;
use driver::{Administration, Conversation, Dialect, Isolation, OpError, StatementSpec};
use population::{Population, STARTS, TYPES, Totals};
use std::sync::OnceLock;
use units::{Outcome, Seed};

/// A transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    DeleteCallForwarding,
    GetAccessData,
    GetNewDestination,
    GetSubscriberData,
    InsertCallForwarding,
    UpdateLocation,
    UpdateSubscriberData,
}

/// In the order of [`crate::OpId`].
const OPERATIONS: [(&str, f64, Kind); 7] = [
    ("DeleteCallForwarding", 2.0, Kind::DeleteCallForwarding),
    ("GetAccessData", 35.0, Kind::GetAccessData),
    ("GetNewDestination", 10.0, Kind::GetNewDestination),
    ("GetSubscriberData", 35.0, Kind::GetSubscriberData),
    ("InsertCallForwarding", 2.0, Kind::InsertCallForwarding),
    ("UpdateLocation", 14.0, Kind::UpdateLocation),
    ("UpdateSubscriberData", 2.0, Kind::UpdateSubscriberData),
];

/// Starts that requests ask for, hours.
const ASKED_STARTS: [i64; STARTS] = [0, 8, 16];
/// Ends that requests ask for: 1 … this hour.
const LAST_HOUR: u64 = 24;
/// Locations: 1 … this.
const LOCATIONS: u64 = i32::MAX as u64;
/// Telephone numbers have 15 digits.
const NUMBERS: u64 = 1_000_000_000_000_000;

/// The workload `tatp`.
pub struct Tatp {
    config: TatpConfig,
    requests: Seed,
    subscribers: Subscribers,
    population: Population,
    totals: OnceLock<Totals>,
    /// Call forwardings before the run; `None` before they were counted, or where that takes too long.
    start: Option<i64>,
    ledger: Ledger,
}

/// A request made concrete.
pub struct Plan {
    kind: Kind,
    subscriber: i64,
    /// The subscriber's number.
    number: Digits<15>,
    /// A type of access or of a facility, in 1 … 4.
    kind_of: i64,
    start: i64,
    end: i64,
    bit: i64,
    /// The new location, or the new number of a facility.
    value: i64,
    /// Where calls are forwarded to.
    other_number: Digits<15>,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Plan { kind, subscriber, number, kind_of, start, end, bit, value, other_number } = self;
        let (number, other) = (number.as_str(), other_number.as_str());
        write!(
            f,
            "{kind:?} {subscriber} {number} type {kind_of} from {start} to {end} bit {bit} value {value} {other}"
        )
    }
}

impl Tatp {
    /// The workload with these parameters.
    pub fn new(config: TatpConfig) -> Tatp {
        let TatpConfig { subscribers, benchbase, .. } = config;
        Tatp {
            requests: config.seed.derive("tatp/requests").derive(&format!("client {}", config.client.0)),
            subscribers: Subscribers::new(config.keys, subscribers),
            population: Population { subscribers, benchbase },
            totals: OnceLock::new(),
            start: None,
            ledger: Ledger::default(),
            config,
        }
    }

    /// The weights of the mix that will be asked, in the order of the operations: which shares of success follow depends on
    /// them.
    pub fn set_weights(&mut self, weights: &[f64]) {
        let of = |wanted: Kind| {
            let place = OPERATIONS.iter().position(|(_, _, kind)| *kind == wanted);
            place.and_then(|place| weights.get(place)).copied().unwrap_or(0.0)
        };
        self.config.balanced = of(Kind::InsertCallForwarding) == of(Kind::DeleteCallForwarding);
    }

    /// Rows at the start, by table.
    fn totals(&self) -> Totals {
        *self.totals.get_or_init(|| self.population.totals())
    }
}

impl Workload for Tatp {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: "tatp".to_owned(),
            scale: self.config.scale,
            parameters: self.config.parameters().into_iter().chain(shares::facts(self)).collect(),
        }
    }

    fn operations(&self) -> Vec<Operation> {
        OPERATIONS.iter().map(|&(name, weight, _)| Operation { name, weight }).collect()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        statements::statements(dialect)
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) -> Plan {
        Plan {
            kind: Kind::GetSubscriberData,
            subscriber: 1,
            number: Digits::of(1),
            kind_of: 1,
            start: 0,
            end: 1,
            bit: 0,
            value: 0,
            other_number: Digits::of(0),
        }
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        let mut rng = self.requests.at(request.seq);
        let rng = &mut rng;
        let kind = OPERATIONS[usize::from(request.op.0)].2;
        let subscriber = self.subscribers.draw(rng);
        // All of them for each kind: what a request does not use costs less than to ask which it uses.
        *plan = Plan {
            kind,
            subscriber: subscriber as i64,
            number: Digits::of(subscriber),
            kind_of: 1 + rng.below(TYPES as u64) as i64,
            start: ASKED_STARTS[rng.below(STARTS as u64) as usize],
            end: 1 + rng.below(LAST_HOUR) as i64,
            bit: rng.below(2) as i64,
            value: match kind {
                Kind::UpdateLocation => 1 + rng.below(LOCATIONS) as i64,
                _ => rng.below(256) as i64,
            },
            other_number: Digits::of(rng.below(NUMBERS)),
        };
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
        let (inserted, deleted) = self.ledger.moved();
        vec![
            ("call forwardings inserted", inserted),
            ("call forwardings deleted", deleted),
            ("of them nobody knows", self.ledger.unknown()),
        ]
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
        if self.check_is_cheap() {
            let count = dataset::forwards(administration).map_err(|error| format!("tatp: {error}"))?;
            self.start = Some(count as i64);
        }
        Ok(())
    }
}
