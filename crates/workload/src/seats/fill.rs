//! What the tables are filled with.

use super::Seats;
use super::airports::AIRPORTS;
use super::config::SEATS;
use super::dataset::Part;
use super::keys::customer_text;
use super::world::AIRLINES;
use driver::{Administration, ConnectError, Decimal, Value};
use units::Rng;

pub(crate) const COUNTRIES: u64 = 248;
/// Each pair of airports once.
pub(crate) const DISTANCES: u64 = (AIRPORTS * (AIRPORTS - 1) / 2) as u64;

/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;

/// Ids of reservations that loading makes are below: the flight's number × 150 + seat + 1.
pub(crate) fn first_free_reservation(flights: u64) -> i64 {
    (flights * SEATS as u64) as i64 + 1
}

/// Rows of a part that are written, and whom to tell.
struct Written<'a> {
    rows: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl Written<'_> {
    fn one_more(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(PROGRESS) {
            (self.progress)(self.rows);
        }
    }
}

/// Gives a row of a bulk load, or `None` at its end.
type NextRow<'a> = dyn FnMut(&mut Vec<Value<'a>>) -> bool + 'a;

/// Loads rows until there are none left.
fn write<'a>(
    administration: &mut dyn Administration,
    table: &str,
    columns: &[String],
    written: &mut Written<'_>,
    next: &mut NextRow<'a>,
) -> Result<(), ConnectError> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut row = Vec::with_capacity(columns.len());
    administration.bulk(table, &columns, &mut |push| {
        row.clear();
        if !next(&mut row) {
            return false;
        }
        push(&row);
        written.one_more();
        true
    })?;
    Ok(())
}

fn names(fixed: &[&str], attributes: &[(&str, usize)]) -> Vec<String> {
    let attributes =
        attributes.iter().flat_map(|(name, count)| (0..*count).map(move |n| format!("{name}{n:02}")));
    fixed.iter().map(|name| (*name).to_owned()).chain(attributes).collect()
}

/// Attributes that nothing reads: random numbers.
fn attributes(row: &mut Vec<Value<'_>>, rng: &mut Rng, count: usize) {
    row.extend((0..count).map(|_| Value::Int(rng.below(1 << 30) as i64)));
}

fn money(rng: &mut Rng, least: u64, most: u64) -> Value<'static> {
    let unscaled = 100 * least + rng.below(100 * (most - least) + 1);
    Value::Decimal(Decimal { unscaled: unscaled as i64, scale: 2 })
}

/// So many capitals, different for every number below 26 to that power.
fn code(mut number: usize, length: usize) -> String {
    let mut letters = vec![b'A'; length];
    for letter in letters.iter_mut().rev() {
        *letter = b'A' + (number % 26) as u8;
        number /= 26;
    }
    letters.into_iter().map(char::from).collect()
}

impl Seats {
    /// Rows of frequent flyers.
    pub(crate) fn flyers(&self) -> u64 {
        (0..self.world.customers).map(|customer| self.world.flyer_of(customer).1 as u64).sum()
    }

    /// Reservations that loading makes.
    pub(crate) fn bookings(&self) -> u64 {
        let mut count = 0;
        for flight in 0..self.world.flights.len() as u32 {
            self.world.booked(self.config.seed, flight, |_, _| count += 1);
        }
        count
    }

    pub(crate) fn fill_part(
        &self,
        part: Part,
        administration: &mut dyn Administration,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let mut written = Written { rows: 0, progress };
        match part {
            Part::Map => {
                self.fill_countries(administration, &mut written)?;
                self.fill_airports(administration, &mut written)?;
                self.fill_distances(administration, &mut written)?;
                self.fill_airlines(administration, &mut written)?;
            }
            Part::Customers(from, to) => {
                self.fill_customers(from, to, administration, &mut written)?;
                self.fill_flyers(from, to, administration, &mut written)?;
            }
            Part::Flights(from, to) => {
                self.fill_flights(from, to, administration, &mut written)?;
                self.fill_reservations(from, to, administration, &mut written)?;
            }
        }
        (written.progress)(written.rows);
        Ok(())
    }

    /// A drawn text of so many letters.
    fn letters(&self, rng: &mut Rng, length: u32) -> Value<'_> {
        Value::Text(self.letters.text(self.letters.draw(rng, length)))
    }

    fn fill_countries(
        &self,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let texts: Vec<(String, String, String)> =
            (0..COUNTRIES as usize).map(|n| (format!("Country {}", n + 1), code(n, 2), code(n, 3))).collect();
        let columns = names(&["co_id", "co_name", "co_code_2", "co_code_3"], &[]);
        let mut rows = (1..).zip(&texts);
        write(administration, "country", &columns, written, &mut |row| {
            let Some((id, (name, two, three))) = rows.next() else { return false };
            row.extend([Value::Int(id), Value::Text(name), Value::Text(two), Value::Text(three)]);
            true
        })
    }

    fn fill_airports(
        &self,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("seats/airports");
        let texts: Vec<(String, String, String)> = (0..AIRPORTS)
            .map(|n| (code(n, 3), format!("Airport {}", n + 1), format!("City {}", n + 1)))
            .collect();
        let fixed = [
            "ap_id",
            "ap_code",
            "ap_name",
            "ap_city",
            "ap_postal_code",
            "ap_co_id",
            "ap_longitude",
            "ap_latitude",
            "ap_gmt_offset",
            "ap_wac",
        ];
        let columns = names(&fixed, &[("ap_iattr", 16)]);
        let mut rows = texts.iter().enumerate();
        write(administration, "airport", &columns, written, &mut |row| {
            let Some((airport, (code, name, city))) = rows.next() else { return false };
            let mut rng = seed.at(airport as u64);
            let (latitude, longitude) = self.world.airports.place(airport);
            row.extend([
                Value::Int(airport as i64 + 1),
                Value::Text(code),
                Value::Text(name),
                Value::Text(city),
                self.letters(&mut rng, 8),
                Value::Int(1 + rng.below(COUNTRIES) as i64),
                Value::Float(longitude),
                Value::Float(latitude),
                Value::Float((longitude / 15.0).round()),
                Value::Int(1 + rng.below(1_000) as i64),
            ]);
            attributes(row, &mut rng, 16);
            true
        })
    }

    fn fill_distances(
        &self,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let columns = names(&["d_ap_id0", "d_ap_id1", "d_distance"], &[]);
        let mut pairs = (0..AIRPORTS).flat_map(|a| (a + 1..AIRPORTS).map(move |b| (a, b)));
        write(administration, "airport_distance", &columns, written, &mut |row| {
            let Some((a, b)) = pairs.next() else { return false };
            let miles = self.world.airports.miles(a, b);
            row.extend([Value::Int(a as i64 + 1), Value::Int(b as i64 + 1), Value::Float(miles)]);
            true
        })
    }

    fn fill_airlines(
        &self,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("seats/airlines");
        let texts: Vec<(String, String)> =
            (0..AIRLINES as usize).map(|n| (code(n, 3), format!("Airline {}", n + 1))).collect();
        let fixed = ["al_id", "al_iata_code", "al_icao_code", "al_call_sign", "al_name", "al_co_id"];
        let columns = names(&fixed, &[("al_iattr", 16)]);
        let mut rows = texts.iter().enumerate();
        write(administration, "airline", &columns, written, &mut |row| {
            let Some((airline, (code, name))) = rows.next() else { return false };
            let mut rng = seed.at(airline as u64);
            row.extend([
                Value::Int(airline as i64 + 1),
                Value::Text(code),
                Value::Text(code),
                self.letters(&mut rng, 16),
                Value::Text(name),
                Value::Int(1 + rng.below(COUNTRIES) as i64),
            ]);
            attributes(row, &mut rng, 16);
            true
        })
    }

    fn fill_customers(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("seats/customers");
        let columns =
            names(&["c_id", "c_id_str", "c_base_ap_id", "c_balance"], &[("c_sattr", 20), ("c_iattr", 20)]);
        let all: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut customers = from..to;
        administration.bulk("customer", &all, &mut |push| {
            let Some(customer) = customers.next() else { return false };
            let mut rng = seed.at(customer);
            let (key, text) = (self.world.customer_key(customer), customer_text(customer));
            let mut row = Vec::with_capacity(all.len());
            row.extend([
                Value::Text(key.as_str()),
                Value::Text(text.as_str()),
                Value::Int(self.world.home(customer) as i64 + 1),
                money(&mut rng, 1_000, 10_000),
                self.letters(&mut rng, 32),
            ]);
            row.extend((1..20).map(|_| self.letters(&mut rng, 8)));
            attributes(&mut row, &mut rng, 20);
            push(&row);
            written.one_more();
            true
        })?;
        Ok(())
    }

    fn fill_flyers(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("seats/flyers");
        let columns = names(&["ff_c_id", "ff_al_id", "ff_c_id_str"], &[("ff_sattr", 4), ("ff_iattr", 16)]);
        let all: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = (from..to).flat_map(|customer| {
            let (airlines, count) = self.world.flyer_of(customer);
            (0..count).map(move |at| (customer, airlines[at]))
        });
        administration.bulk("frequent_flyer", &all, &mut |push| {
            let Some((customer, airline)) = rows.next() else { return false };
            let mut rng = seed.at(customer << 11 | airline);
            let (key, text) = (self.world.customer_key(customer), customer_text(customer));
            let mut row = Vec::with_capacity(all.len());
            row.extend([Value::Text(key.as_str()), Value::Int(airline as i64), Value::Text(text.as_str())]);
            row.extend((0..4).map(|_| self.letters(&mut rng, 32)));
            attributes(&mut row, &mut rng, 16);
            push(&row);
            written.one_more();
            true
        })?;
        Ok(())
    }

    fn fill_flights(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("seats/flights");
        let fixed = [
            "f_id",
            "f_al_id",
            "f_depart_ap_id",
            "f_depart_time",
            "f_arrive_ap_id",
            "f_arrive_time",
            "f_status",
            "f_base_price",
            "f_seats_total",
            "f_seats_left",
        ];
        let columns = names(&fixed, &[("f_iattr", 30)]);
        let all: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut flights = from..to;
        administration.bulk("flight", &all, &mut |push| {
            let Some(number) = flights.next() else { return false };
            let (mut rng, number) = (seed.at(number), number as u32);
            let (flight, key) = (self.world.flights[number as usize], self.world.flight_key(number));
            let (departs, arrives) = self.world.times(number);
            let mut left = SEATS as i64;
            self.world.booked(self.config.seed, number, |_, _| left -= 1);
            let mut row = Vec::with_capacity(all.len());
            row.extend([
                Value::Text(key.as_str()),
                Value::Int(flight.airline.into()),
                Value::Int(i64::from(flight.depart) + 1),
                Value::Timestamp(departs),
                Value::Int(i64::from(flight.arrive) + 1),
                Value::Timestamp(arrives),
                Value::Int(0),
                money(&mut rng, 100, 1_000),
                Value::Int(SEATS as i64),
                Value::Int(left),
            ]);
            attributes(&mut row, &mut rng, 30);
            push(&row);
            written.one_more();
            true
        })?;
        Ok(())
    }

    fn fill_reservations(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        written: &mut Written<'_>,
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("seats/reservations");
        let columns = names(&["r_id", "r_c_id", "r_f_id", "r_seat", "r_price"], &[("r_iattr", 9)]);
        let all: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut flights = from..to;
        administration.bulk("reservation", &all, &mut |push| {
            let Some(flight) = flights.next() else { return false };
            let flight_key = self.world.flight_key(flight as u32);
            self.world.booked(self.config.seed, flight as u32, |seat, customer| {
                // Of its own: what is booked may not depend on what else is drawn.
                let id = flight * SEATS as u64 + seat as u64 + 1;
                let mut rng = seed.at(id);
                let key = self.world.customer_key(customer);
                let mut row = Vec::with_capacity(all.len());
                row.extend([
                    Value::Int(id as i64),
                    Value::Text(key.as_str()),
                    Value::Text(flight_key.as_str()),
                    Value::Int(seat as i64),
                    money(&mut rng, 100, 1_000),
                ]);
                attributes(&mut row, &mut rng, 9);
                push(&row);
                written.one_more();
            });
            true
        })?;
        Ok(())
    }
}
