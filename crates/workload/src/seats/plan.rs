//! From a request's number and ticket to its keys and values.

use super::book::Booking;
use super::config::SEATS;
use super::keys::{CustomerKey, CustomerText, Digits, FlightKey, customer_text};
use super::statements::MOVES;
use super::world::{DAY, HOUR, World};
use super::{KINDS, Kind, Seats};
use crate::Request;
use crate::distribution::zeta;
use driver::{Decimal, Value};
use units::Rng;

/// Attributes of a reservation.
pub(crate) const ATTRIBUTES: usize = 9;

/// How a customer is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Id,
    Text,
    FrequentFlyer,
}

/// What `FindFlights` looks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Search {
    /// Ids of airports.
    pub(crate) depart: i64,
    pub(crate) arrive: i64,
    /// Moments of departure, both included.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Miles around the airport of arrival.
    pub(crate) within: Option<f64>,
}

/// A request made concrete.
#[derive(Debug)]
pub struct Plan {
    pub(crate) kind: Kind,
    pub(crate) flight: FlightKey,
    pub(crate) customer: CustomerKey,
    pub(crate) customer_text: CustomerText,
    pub(crate) by: By,
    pub(crate) seat: i64,
    pub(crate) reservation: i64,
    pub(crate) price: Decimal,
    /// Of a new reservation; the first two of an update of a customer, the first of one of a reservation.
    pub(crate) attributes: [i64; ATTRIBUTES],
    /// Which attribute of the reservation is updated.
    pub(crate) attribute: usize,
    /// Whether an update of a customer goes to his frequent flyer's rows, too.
    pub(crate) with_flyer: bool,
    pub(crate) search: Search,
}

impl Plan {
    pub(crate) const EMPTY: Plan = Plan {
        kind: Kind::FindFlights,
        flight: Digits::ZEROS,
        customer: Digits::ZEROS,
        customer_text: Digits::ZEROS,
        by: By::Id,
        seat: 0,
        reservation: 0,
        price: Decimal { unscaled: 0, scale: 2 },
        attributes: [0; ATTRIBUTES],
        attribute: 0,
        with_flyer: false,
        search: Search { depart: 0, arrive: 0, from: 0, to: 0, within: None },
    };

    pub(crate) fn flight(&self) -> Value<'_> {
        Value::Text(self.flight.as_str())
    }

    pub(crate) fn customer(&self) -> Value<'_> {
        Value::Text(self.customer.as_str())
    }

    pub(crate) fn customer_text(&self) -> Value<'_> {
        Value::Text(self.customer_text.as_str())
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

const DISTANCES: [f64; 5] = [5.0, 10.0, 25.0, 50.0, 100.0];

impl Seats {
    /// Makes `request` concrete: a function of (seed, request), and of the reservations before the run for new ids.
    pub(crate) fn make(&self, request: Request, plan: &mut Plan) {
        let mut rng = self.requests.at(request.seq);
        let rng = &mut rng;
        *plan = Plan::EMPTY;
        plan.kind = KINDS[usize::from(request.op.0)];
        match plan.kind {
            Kind::FindFlights => plan.search = self.search(rng),
            Kind::FindOpenSeats => plan.flight = self.world.flight_key(self.draw_flight(rng)),
            Kind::UpdateCustomer => self.update_customer(rng, plan),
            Kind::NewReservation => {
                self.book(rng, request.ticket, plan);
                let (number, of) = self.config.client;
                plan.reservation =
                    self.next_reservation + (request.seq * u64::from(of.max(1)) + u64::from(number)) as i64;
                // Twice 100.00 … 1,000.00.
                plan.price.unscaled = 2 * (10_000 + rng.below(90_001) as i64);
                plan.attributes = std::array::from_fn(|_| 1 + rng.below(1 << 20) as i64);
            }
            Kind::DeleteReservation => {
                let customer = self.book(rng, request.ticket, plan);
                plan.by = self.named_by(rng, customer);
            }
            Kind::UpdateReservation => {
                self.book(rng, request.ticket, plan);
                plan.attribute = rng.below(MOVES as u64) as usize;
                plan.attributes[0] = 1 + rng.below(1 << 20) as i64;
            }
        }
    }

    fn draw_flight(&self, rng: &mut Rng) -> u32 {
        self.in_play[rng.below(self.in_play.len() as u64) as usize]
    }

    fn search(&self, rng: &mut Rng) -> Search {
        let airport = |rng: &mut Rng| rng.below(super::airports::AIRPORTS as u64) as i64 + 1;
        let mut search = if rng.below(10) == 0 {
            let from = World::draw_upcoming(rng);
            Search { depart: airport(rng), arrive: airport(rng), from, to: from + 2 * DAY, within: None }
        } else {
            let number = self.draw_flight(rng);
            let (flight, departs) = (self.world.flights[number as usize], self.world.times(number).0);
            let (depart, arrive) = (i64::from(flight.depart) + 1, i64::from(flight.arrive) + 1);
            Search { depart, arrive, from: departs - 12 * HOUR, to: departs + 12 * HOUR, within: None }
        };
        if rng.below(4) == 0 {
            search.within = Some(DISTANCES[rng.below(DISTANCES.len() as u64) as usize]);
        }
        search
    }

    fn update_customer(&self, rng: &mut Rng, plan: &mut Plan) {
        self.name_customer(rng.below(self.world.customers), plan);
        plan.by = if rng.below(5) == 0 { By::Text } else { By::Id };
        plan.attributes[..2].fill_with(|| 1 + rng.below(1 << 20) as i64);
        plan.with_flyer = rng.below(4) == 0 || self.config.benchbase;
    }

    /// What the ticket says. Where the book had nothing, anything: a rule will refuse it.
    fn book(&self, rng: &mut Rng, ticket: u64, plan: &mut Plan) -> u64 {
        let booking = Booking::of(ticket).unwrap_or_else(|| Booking {
            flight: self.draw_flight(rng),
            customer: rng.below(self.world.customers),
            seat: rng.below(SEATS as u64) as usize,
        });
        plan.flight = self.world.flight_key(booking.flight);
        plan.seat = booking.seat as i64;
        self.name_customer(booking.customer, plan);
        booking.customer
    }

    fn name_customer(&self, customer: u64, plan: &mut Plan) {
        plan.customer = self.world.customer_key(customer);
        plan.customer_text = customer_text(customer);
    }

    /// 20 % of all by a frequent flyer's text, which only some have; the others by id or text, three to one.
    fn named_by(&self, rng: &mut Rng, customer: u64) -> By {
        let drawn = rng.unit();
        if self.world.is_flyer(customer) && drawn < 0.2 / flyer_share() {
            By::FrequentFlyer
        } else if rng.below(4) == 0 {
            By::Text
        } else {
            By::Id
        }
    }
}

/// Share of the customers who are anybody's frequent flyer: all but those for whom Zipf draws none.
fn flyer_share() -> f64 {
    1.0 - 1.0 / zeta(super::world::MOST_FLYER as u64 + 1, 2.0)
}
