//! Flights and customers: functions of the sizes alone, so that a run knows every key whatever seed the data was loaded
//! with.

use super::STRUCTURE;
use super::airports::{AIRPORTS, Airports};
use super::config::{DAYS, SEATS, SeatsConfig};
use super::keys::{CustomerKey, Digits, FlightKey, customer_key};
use crate::distribution::Zipf;
use std::collections::HashSet;
use units::{Rng, Seed};

/// Airlines; their ids are 1 … 1,250.
pub(crate) const AIRLINES: u64 = 1_250;
/// Most airlines whose frequent flyer a customer is.
pub(crate) const MOST_FLYER: usize = 9;

/// 2025-01-01T00:00:00Z in microseconds: the first upcoming day. Flights begin the day before.
const UPCOMING: i64 = 1_735_689_600_000_000;
const MINUTE: i64 = 60_000_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
const MILES_AN_HOUR: f64 = 570.0;

/// A flight; airports are counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flight {
    pub(crate) airline: u16,
    pub(crate) depart: u16,
    pub(crate) arrive: u16,
    /// Minutes since the first day of flights began.
    minute: u32,
}

/// See the module.
pub(crate) struct World {
    pub(crate) airports: Airports,
    pub(crate) flights: Vec<Flight>,
    pub(crate) customers: u64,
    /// The first customer of each airport; one more than there are airports.
    at_home: Vec<u64>,
    flyer_of: Zipf,
}

impl World {
    pub(crate) fn new(config: &SeatsConfig) -> World {
        let airports = Airports::new();
        let all: u64 = airports.departures().iter().sum();
        let mut before = 0;
        let mut at_home: Vec<u64> = vec![0];
        for departures in airports.departures() {
            before += departures;
            at_home.push((u128::from(config.customers) * u128::from(before) / u128::from(all)) as u64);
        }
        World {
            flights: flights(config.flights_a_day, &airports),
            airports,
            customers: config.customers,
            at_home,
            flyer_of: Zipf::new(MOST_FLYER as u64 + 1, 2.0),
        }
    }

    pub(crate) fn flight_key(&self, flight: u32) -> FlightKey {
        let Flight { airline, depart, arrive, minute } = self.flights[flight as usize];
        Digits::of(&[
            (airline.into(), 19),
            (u64::from(depart) + 1, 19),
            (u64::from(arrive) + 1, 19),
            (u64::from(minute) / 60, 19),
        ])
    }

    /// (departure, arrival) in microseconds since 1970.
    pub(crate) fn times(&self, flight: u32) -> (i64, i64) {
        let flight = self.flights[flight as usize];
        let departs = UPCOMING - DAY + i64::from(flight.minute) * MINUTE;
        let miles = self.airports.miles(flight.depart.into(), flight.arrive.into());
        (departs, departs + (miles / MILES_AN_HOUR * 60.0).round() as i64 * MINUTE)
    }

    /// A moment at which an upcoming day begins.
    pub(crate) fn draw_upcoming(rng: &mut Rng) -> i64 {
        UPCOMING + DAY * rng.below(DAYS - 1) as i64
    }

    /// The airport where a customer is at home, counted from 0.
    pub(crate) fn home(&self, customer: u64) -> usize {
        (self.at_home.partition_point(|first| *first <= customer) - 1).min(AIRPORTS - 1)
    }

    pub(crate) fn customer_key(&self, customer: u64) -> CustomerKey {
        customer_key(customer, self.home(customer) as u64 + 1)
    }

    /// Somebody who is at home at an airport; anybody where nobody is.
    fn draw_customer_at(&self, rng: &mut Rng, airport: u16) -> u64 {
        let (first, end) = (self.at_home[usize::from(airport)], self.at_home[usize::from(airport) + 1]);
        if end > first { first + rng.below(end - first) } else { rng.below(self.customers) }
    }

    /// Ids of the airlines whose frequent flyer a customer is, and how many they are.
    pub(crate) fn flyer_of(&self, customer: u64) -> ([u64; MOST_FLYER], usize) {
        let mut rng = FLYERS.at(customer);
        let count = self.flyer_of.draw(&mut rng) as usize;
        let mut airlines = [0; MOST_FLYER];
        let mut known = 0;
        while known < count {
            let airline = 1 + rng.below(AIRLINES);
            if !airlines[..known].contains(&airline) {
                airlines[known] = airline;
                known += 1;
            }
        }
        (airlines, count)
    }

    /// Whether a customer is anybody's frequent flyer.
    pub(crate) fn is_flyer(&self, customer: u64) -> bool {
        self.flyer_of.draw(&mut FLYERS.at(customer)) > 0
    }

    /// Somebody for a flight from an airport: at home there at the first tries, anybody at the later ones.
    pub(crate) fn draw_passenger(&self, rng: &mut Rng, airport: u16, tries: usize) -> u64 {
        if tries < 4 { self.draw_customer_at(rng, airport) } else { rng.below(self.customers) }
    }

    /// (seat, customer) of what a data set of this seed has booked: each seat with 1 %, nobody twice on a flight.
    pub(crate) fn booked(&self, seed: Seed, flight: u32, mut book: impl FnMut(usize, u64)) {
        let mut rng = seed.derive("seats/booked").at(flight.into());
        let mut aboard = [0; SEATS];
        let mut count = 0;
        for seat in 0..SEATS {
            if rng.below(100) != 0 {
                continue;
            }
            let from = self.flights[flight as usize].depart;
            let drawn = (0..16)
                .map(|tries| self.draw_passenger(&mut rng, from, tries))
                .find(|customer| !aboard[..count].contains(customer));
            // With fewer customers than that, the seat stays free.
            if let Some(customer) = drawn {
                aboard[count] = customer;
                count += 1;
                book(seat, customer);
            }
        }
    }
}

const FLYERS: Seed = Seed(STRUCTURE.0 ^ 0x464C_5945_5253);

/// All flights, day after day. No two have the same airline, airports and hour, which are their key.
fn flights(a_day: u64, airports: &Airports) -> Vec<Flight> {
    let seed = STRUCTURE.derive("flights");
    let mut flights = Vec::with_capacity((DAYS * (a_day + a_day / 8 + 1)) as usize);
    let mut keys = HashSet::new();
    for day in 0..DAYS {
        let mut rng = seed.at(day);
        for _ in 0..flights_of_a_day(a_day, &mut rng) {
            let (depart, arrive) = airports.draw_pair(&mut rng);
            let minute = (day * 24 * 60 + airports.draw_minute(&mut rng)) as u32;
            let mut flight = Flight { airline: 0, depart: depart as u16, arrive: arrive as u16, minute };
            for _ in 0..AIRLINES {
                flight.airline = 1 + rng.below(AIRLINES) as u16;
                if keys.insert((flight.airline, flight.depart, flight.arrive, minute / 60)) {
                    flights.push(flight);
                    break;
                }
            }
        }
    }
    flights
}

/// Normal around the mean of 1,500, within 1,125 … 1,875, to scale.
fn flights_of_a_day(mean: u64, rng: &mut Rng) -> u64 {
    let share = (0..64).map(|_| 1.0 + rng.normal() / 12.0).find(|share| (0.75..=1.25).contains(share));
    ((mean as f64 * share.unwrap_or(1.0)).round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(parameters: &[(&str, &str)]) -> World {
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        World::new(&SeatsConfig::new(1.0, Seed(1), &parameters).unwrap())
    }

    #[test]
    fn sizes_are_the_published_ones() {
        let world = world(&[]);
        let flights = world.flights.len() as f64;
        // 52 days of 1,500 ± 125: four standard errors.
        assert!((flights - 78_000.0).abs() < 4.0 * 125.0 * 52_f64.sqrt(), "{flights}");
        let flyers: usize = (0..100_000).map(|customer| world.flyer_of(customer).1).sum();
        assert!((87_000..91_500).contains(&flyers), "{flyers} frequent flyers");
        let mut booked = 0;
        (0..world.flights.len() as u32).for_each(|f| world.booked(Seed(1), f, |_, _| booked += 1));
        assert!(
            (booked as f64 - flights * 1.5).abs() < 4.0 * (flights * 1.5).sqrt(),
            "{booked} reservations"
        );
    }

    #[test]
    fn keys_differ_and_flights_last_as_long_as_the_way_is() {
        let world = world(&[]);
        let keys: HashSet<_> = (0..world.flights.len() as u32).map(|f| world.flight_key(f)).collect();
        assert_eq!(keys.len(), world.flights.len());
        for flight in 0..1_000 {
            let (departs, arrives) = world.times(flight);
            assert!((0..12 * HOUR).contains(&(arrives - departs)), "{departs} {arrives}");
        }
        let (first, last) = (world.times(0).0, world.times(world.flights.len() as u32 - 1).0);
        assert!((UPCOMING - DAY..UPCOMING).contains(&first) && last >= UPCOMING + 50 * DAY);
    }

    #[test]
    fn customers_are_at_home_where_flights_leave() {
        for customers in ["10", "1000", "100000"] {
            let world = world(&[("customers", customers), ("flightsperday", "1")]);
            let mut rng = Seed(1).rng();
            for customer in 0..world.customers {
                let home = world.home(customer);
                let range = world.at_home[home]..world.at_home[home + 1];
                assert!(range.contains(&customer), "{customer} of {customers}");
                let other = world.draw_customer_at(&mut rng, home as u16);
                assert_eq!(world.home(other), home);
                let (airlines, count) = world.flyer_of(customer);
                assert_eq!(world.is_flyer(customer), count > 0);
                let different: HashSet<_> = airlines[..count].iter().collect();
                assert_eq!(different.len(), count);
            }
            assert!((0..AIRPORTS as u16).all(|a| world.draw_customer_at(&mut rng, a) < world.customers));
        }
    }
}
