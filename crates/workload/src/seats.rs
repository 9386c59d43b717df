//! SEATS: flights are searched, and their seats are reserved, changed and cancelled.
//!
//! The schema, the six transactions and their weights are those of BenchBase's workload of this name (Stonebraker & Pavlo).
//! What a request does is decided ahead of time from a book of seats (`seats::book`), so that a reservation is asked for
//! where a seat is free and a change or cancellation where a reservation is; a request that breaks a rule all the same is
//! rolled back and counted as an abort, never as a success.
//!
//! | transaction | weight | exchanges on PostgreSQL |
//! |---|---|---|
//! | `DeleteReservation` | 10 | begin, locks and look-up; changes and commit (one more, first, by a text: 40 %) |
//! | `FindFlights` | 10 | begin and flights; airports and commit (one more, first, with a distance: 25 %) |
//! | `FindOpenSeats` | 35 | one |
//! | `NewReservation` | 20 | begin, locks and rules; changes and commit |
//! | `UpdateCustomer` | 10 | begin and lock; home; changes and commit (one more, first, by a text: 20 %) |
//! | `UpdateReservation` | 15 | begin and rules; change and commit |

mod airports;
mod book;
mod checks;
mod config;
mod dataset;
mod fill;
mod keys;
mod plan;
mod run;
mod statements;
mod world;

#[cfg(test)]
mod model;

pub use config::SeatsConfig;
pub use plan::Plan;

use crate::dataset::DataSet;
use crate::letters::Letters;
use crate::{Operation, Request, Tickets, Workload, WorkloadFacts};
use book::{Book, SeatTickets};
use config::SEATS;
use driver::{Administration, Conversation, Dialect, OpError, StatementSpec};
use keys::{CustomerKey, FlightKey};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Outcome, Seed};
use world::World;

/// Airports, flights and who is at home where are the same in every data set of a size.
const STRUCTURE: Seed = Seed(0x5345_4154_5331);

/// A transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    DeleteReservation,
    FindFlights,
    FindOpenSeats,
    NewReservation,
    UpdateCustomer,
    UpdateReservation,
}

impl Kind {
    /// Whether it writes what the unique indexes watch over.
    fn books(self) -> bool {
        matches!(self, Kind::NewReservation | Kind::UpdateReservation)
    }
}

/// In the order of [`crate::OpId`].
pub(crate) const KINDS: [Kind; 6] = [
    Kind::DeleteReservation,
    Kind::FindFlights,
    Kind::FindOpenSeats,
    Kind::NewReservation,
    Kind::UpdateCustomer,
    Kind::UpdateReservation,
];

const OPERATIONS: [(&str, f64); 6] = [
    ("DeleteReservation", 10.0),
    ("FindFlights", 10.0),
    ("FindOpenSeats", 35.0),
    ("NewReservation", 20.0),
    ("UpdateCustomer", 10.0),
    ("UpdateReservation", 15.0),
];

/// Why a transaction was rolled back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    NoFlight,
    FlightFull,
    SeatTaken,
    TwiceOnFlight,
    NoCustomer,
    NoReservation,
}

const RULES: [&str; 6] = [
    "rejected: no such flight",
    "rejected: flight full",
    "rejected: seat taken",
    "rejected: customer is on the flight already",
    "rejected: no such customer",
    "rejected: no such reservation",
];

/// The workload `seats`.
pub struct Seats {
    config: SeatsConfig,
    requests: Seed,
    world: Arc<World>,
    /// Numbers of the flights that this client's requests draw from.
    in_play: Arc<[u32]>,
    letters: Letters,
    /// Reservations before the run; `None` before they were looked at: those that loading made.
    observed: Option<Book>,
    /// The first id of a reservation that this run makes.
    next_reservation: i64,
    rejected: [AtomicU64; RULES.len()],
}

impl Seats {
    /// Makes flights and customers, ≈ 20 ms at scale 1.
    ///
    /// # Errors
    /// One line, when there are more flights than a ticket has room for, or fewer than clients.
    pub fn new(config: SeatsConfig) -> Result<Seats, String> {
        let world = Arc::new(World::new(&config));
        let all = world.flights.len() as u64;
        if all > 1 << 26 {
            return Err(format!("seats: {all} flights are more than 67108864; lower `flightsperday`"));
        }
        let in_play = flights_in_play(&config, all);
        if in_play.is_empty() {
            let (number, of) = config.client;
            return Err(format!(
                "seats: client {number} of {of} has none of {} flights; raise `flightcache` or `flightsperday`",
                all.min(config.flight_cache)
            ));
        }
        Ok(Seats {
            requests: config.seed.derive("seats/requests").derive(&format!("client {}", config.client.0)),
            letters: Letters::new(config.seed),
            in_play,
            observed: None,
            next_reservation: fill::first_free_reservation(all),
            rejected: Default::default(),
            world,
            config,
        })
    }

    /// Counts a broken rule. BenchBase counts such a transaction as a success.
    fn rejected(&self, rule: Rule) -> Outcome {
        self.rejected[rule as usize].fetch_add(1, Ordering::Relaxed);
        if self.config.benchbase { Outcome::Ok } else { Outcome::Abort }
    }

    /// What loading from this seed books.
    fn loaded(&self) -> Book {
        let mut book = Book::new(self.in_play.clone());
        for (place, flight) in self.in_play.iter().enumerate() {
            self.world.booked(self.config.seed, *flight, |seat, customer| book.set(place, seat, customer));
        }
        book
    }

    /// Reads the reservations of the flights in play.
    fn reserved(&self, administration: &mut dyn Administration) -> Result<Book, String> {
        const TOGETHER: usize = 200;
        let mut book = Book::new(self.in_play.clone());
        for (batch, flights) in self.in_play.chunks(TOGETHER).enumerate() {
            let keys: Vec<FlightKey> = flights.iter().map(|flight| self.world.flight_key(*flight)).collect();
            let places: HashMap<&str, usize> =
                keys.iter().enumerate().map(|(at, key)| (key.as_str(), batch * TOGETHER + at)).collect();
            let list: Vec<String> = keys.iter().map(|key| format!("'{}'", key.as_str())).collect();
            let sql = format!(
                "SELECT r_f_id, r_seat, r_c_id FROM reservation WHERE r_f_id IN ({})",
                list.join(",")
            );
            for row in administration.query(&sql).map_err(|error| format!("seats: {error}"))? {
                let text = |column: usize| row.get(column).and_then(|value| value.as_deref()).unwrap_or("");
                let place = places.get(text(0));
                let seat = text(1).parse().ok().filter(|seat| *seat < SEATS);
                let customer = CustomerKey::read(text(2)).map(|key| key.first(10));
                let customer = customer.filter(|number| *number < self.world.customers);
                let (Some(place), Some(seat), Some(customer)) = (place, seat, customer) else {
                    let found = format!("flight `{}`, seat `{}`, customer `{}`", text(0), text(1), text(2));
                    return Err(format!(
                        "seats: a reservation of {found} is not of this data set; load it again"
                    ));
                };
                book.set(*place, seat, customer);
            }
        }
        Ok(book)
    }
}

/// As many as the cache holds, spread evenly over all, and of these each client's own.
fn flights_in_play(config: &SeatsConfig, all: u64) -> Arc<[u32]> {
    let count = config.flight_cache.min(all);
    let (number, of) = (u64::from(config.client.0), u64::from(config.client.1.max(1)));
    (0..count).filter(|at| at % of == number % of).map(|at| (at * all / count) as u32).collect()
}

impl Workload for Seats {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: "seats".to_owned(),
            scale: self.config.scale,
            parameters: self.config.parameters(),
        }
    }

    fn operations(&self) -> Vec<Operation> {
        OPERATIONS.iter().map(|&(name, weight)| Operation { name, weight }).collect()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        statements::statements(dialect)
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        let SeatsConfig { outstanding, benchbase, .. } = self.config;
        let book = self.observed.clone().unwrap_or_else(|| self.loaded());
        let seed = self.requests.derive("tickets");
        Box::new(SeatTickets::new(&KINDS, self.world.clone(), seed, book, outstanding, benchbase))
    }

    fn new_plan(&self) -> Plan {
        Plan::EMPTY
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        self.make(request, plan);
    }

    async fn run<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        run::run(self, plan, conversation).await
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        RULES.iter().zip(&self.rejected).map(|(name, count)| (*name, count.load(Ordering::Relaxed))).collect()
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
        self.observed = Some(self.reserved(administration)?);
        let highest =
            crate::foreign_keys::number(administration, "SELECT coalesce(max(r_id), 0) FROM reservation")
                .map_err(|error| format!("seats: {error}"))?;
        self.next_reservation = self.next_reservation.max(highest as i64 + 1);
        Ok(())
    }
}
