//! The tables: making them, and the parts that they are filled in.

use super::Seats;
use super::airports::AIRPORTS;
use super::fill::{COUNTRIES, DISTANCES};
use super::world::AIRLINES;
use crate::dataset::{CheckResult, DataSet, Marker};
use crate::foreign_keys::{self, ForeignKey};
use driver::{Administration, ConnectError, Dialect};

const VERSION: u32 = 1;

/// Customers or flights of one part.
const CHUNK: u64 = 10_000;
/// Keys in one statement that empties a part.
const TOGETHER: u64 = 200;

const fn key(
    name: &'static str,
    table: &'static str,
    column: &'static str,
    parent: &'static str,
    key: &'static str,
) -> ForeignKey {
    ForeignKey { name, table, column, parent, key }
}

pub(crate) const KEYS: [ForeignKey; 12] = [
    key("airport_country", "airport", "ap_co_id", "country", "co_id"),
    key("distance_airport0", "airport_distance", "d_ap_id0", "airport", "ap_id"),
    key("distance_airport1", "airport_distance", "d_ap_id1", "airport", "ap_id"),
    key("airline_country", "airline", "al_co_id", "country", "co_id"),
    key("customer_airport", "customer", "c_base_ap_id", "airport", "ap_id"),
    key("flyer_customer", "frequent_flyer", "ff_c_id", "customer", "c_id"),
    key("flyer_airline", "frequent_flyer", "ff_al_id", "airline", "al_id"),
    key("flight_airline", "flight", "f_al_id", "airline", "al_id"),
    key("flight_depart", "flight", "f_depart_ap_id", "airport", "ap_id"),
    key("flight_arrive", "flight", "f_arrive_ap_id", "airport", "ap_id"),
    key("reservation_customer", "reservation", "r_c_id", "customer", "c_id"),
    key("reservation_flight", "reservation", "r_f_id", "flight", "f_id"),
];

/// What a part holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Countries, airports, distances and airlines.
    Map,
    /// Customers from … to and what they are frequent flyers of.
    Customers(u64, u64),
    /// Flights from … to and their reservations.
    Flights(u64, u64),
}

impl DataSet for Seats {
    fn marker(&self) -> Marker {
        let (scale, seed) = (self.config.scale, self.config.seed.0);
        Marker { workload: self.config.layout_name(), scale, version: VERSION, seed, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec![
            "reservation",
            "flight",
            "frequent_flyer",
            "customer",
            "airline",
            "airport_distance",
            "airport",
            "country",
        ]
    }

    fn rows(&self) -> u64 {
        let small = COUNTRIES + AIRPORTS as u64 + DISTANCES + AIRLINES;
        small + self.world.customers + self.flyers() + self.world.flights.len() as u64 + self.bookings()
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if dialect == Dialect::KeyValue {
            return Err(ConnectError::permanent("seats: its data set needs SQL"));
        }
        administration.script(&schema(dialect))
    }

    fn parts(&self) -> u32 {
        (1 + self.world.customers.div_ceil(CHUNK) + (self.world.flights.len() as u64).div_ceil(CHUNK)) as u32
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        self.fill_part(self.part(part), administration, progress)
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        match self.part(part) {
            Part::Map => {
                let tables = ["airport_distance", "airport", "airline", "country"];
                tables.iter().try_for_each(|table| administration.script(&format!("DELETE FROM {table}")))
            }
            Part::Customers(from, to) => {
                // Ids begin with the customer's number.
                let (from, to) = (format!("{from:010}"), format!("{to:010}"));
                for (table, id) in [("frequent_flyer", "ff_c_id"), ("customer", "c_id")] {
                    administration
                        .script(&format!("DELETE FROM {table} WHERE {id} >= '{from}' AND {id} < '{to}'"))?;
                }
                Ok(())
            }
            Part::Flights(from, to) => self.empty_flights(from, to, administration),
        }
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        foreign_keys::add(&KEYS, administration, dialect)?;
        if dialect == Dialect::Postgres {
            for table in self.tables() {
                administration.script(&format!("VACUUM (ANALYZE) {table}"))?;
            }
        }
        Ok(())
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        administration.script(dialect.begin_snapshot())?;
        let results = self.checks(administration)?;
        administration.script("COMMIT")?;
        Ok(results)
    }

    fn check_is_cheap(&self) -> bool {
        self.world.customers <= 200_000 && self.world.flights.len() <= 200_000
    }
}

impl Seats {
    pub(crate) fn part(&self, number: u32) -> Part {
        let (customers, flights) = (self.world.customers, self.world.flights.len() as u64);
        let Some(number) = u64::from(number).checked_sub(1) else { return Part::Map };
        let of_customers = customers.div_ceil(CHUNK);
        match number.checked_sub(of_customers) {
            None => Part::Customers(number * CHUNK, ((number + 1) * CHUNK).min(customers)),
            Some(number) => Part::Flights(number * CHUNK, ((number + 1) * CHUNK).min(flights)),
        }
    }

    fn empty_flights(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
    ) -> Result<(), ConnectError> {
        for first in (from..to).step_by(TOGETHER as usize) {
            let keys: Vec<String> = (first..(first + TOGETHER).min(to))
                .map(|flight| format!("'{}'", self.world.flight_key(flight as u32).as_str()))
                .collect();
            let keys = keys.join(",");
            administration.script(&format!("DELETE FROM reservation WHERE r_f_id IN ({keys})"))?;
            administration.script(&format!("DELETE FROM flight WHERE f_id IN ({keys})"))?;
        }
        Ok(())
    }
}

/// `, name00 type, name01 type …`
fn columns(name: &str, count: usize, kind: &str) -> String {
    (0..count).map(|n| format!(", {name}{n:02} {kind}")).collect()
}

fn schema(dialect: Dialect) -> String {
    let (moment, money) = (dialect.timestamp(), dialect.decimal(12, 2));
    // SQLite: only this spelling makes it the row's own number instead of a second index.
    let number = if dialect == Dialect::Sqlite { "INTEGER PRIMARY KEY" } else { "bigint PRIMARY KEY" };
    let keys = |table: &str| foreign_keys::inline(&KEYS, table, dialect);
    let ints = |name: &str, count: usize| columns(name, count, "bigint");
    [
        format!(
            "CREATE TABLE country (co_id {number}, co_name varchar(64) NOT NULL, co_code_2 varchar(2) NOT NULL, \
             co_code_3 varchar(3) NOT NULL)"
        ),
        format!(
            "CREATE TABLE airport (ap_id {number}, ap_code varchar(3) NOT NULL, ap_name varchar(128) NOT NULL, \
             ap_city varchar(64) NOT NULL, ap_postal_code varchar(12), ap_co_id bigint NOT NULL, \
             ap_longitude double precision, ap_latitude double precision, ap_gmt_offset double precision, \
             ap_wac bigint{}{})",
            ints("ap_iattr", 16),
            keys("airport")
        ),
        format!(
            "CREATE TABLE airport_distance (d_ap_id0 bigint NOT NULL, d_ap_id1 bigint NOT NULL, \
             d_distance double precision NOT NULL, PRIMARY KEY (d_ap_id0, d_ap_id1){})",
            keys("airport_distance")
        ),
        format!(
            "CREATE TABLE airline (al_id {number}, al_iata_code varchar(3), al_icao_code varchar(3), \
             al_call_sign varchar(32), al_name varchar(128) NOT NULL, al_co_id bigint NOT NULL{}{})",
            ints("al_iattr", 16),
            keys("airline")
        ),
        format!(
            "CREATE TABLE customer (c_id varchar(128) PRIMARY KEY, c_id_str varchar(64) NOT NULL, \
             c_base_ap_id bigint, c_balance {money} NOT NULL, c_sattr00 varchar(32){}{}{})",
            (1..20).map(|n| format!(", c_sattr{n:02} varchar(8)")).collect::<String>(),
            ints("c_iattr", 20),
            keys("customer")
        ),
        "CREATE UNIQUE INDEX customer_id_str ON customer (c_id_str)".to_owned(),
        format!(
            "CREATE TABLE frequent_flyer (ff_c_id varchar(128) NOT NULL, ff_al_id bigint NOT NULL, \
             ff_c_id_str varchar(64) NOT NULL{}{}, PRIMARY KEY (ff_c_id, ff_al_id){})",
            columns("ff_sattr", 4, "varchar(32)"),
            ints("ff_iattr", 16),
            keys("frequent_flyer")
        ),
        "CREATE INDEX frequent_flyer_id_str ON frequent_flyer (ff_c_id_str)".to_owned(),
        format!(
            "CREATE TABLE flight (f_id varchar(128) PRIMARY KEY, f_al_id bigint NOT NULL, \
             f_depart_ap_id bigint NOT NULL, f_depart_time {moment} NOT NULL, f_arrive_ap_id bigint NOT NULL, \
             f_arrive_time {moment} NOT NULL, f_status bigint NOT NULL, f_base_price {money} NOT NULL, \
             f_seats_total bigint NOT NULL, f_seats_left bigint NOT NULL{}{})",
            ints("f_iattr", 30),
            keys("flight")
        ),
        "CREATE INDEX flight_depart_time ON flight (f_depart_time)".to_owned(),
        format!(
            "CREATE TABLE reservation (r_id bigint NOT NULL, r_c_id varchar(128) NOT NULL, \
             r_f_id varchar(128) NOT NULL, r_seat bigint NOT NULL, r_price {money} NOT NULL{}, \
             PRIMARY KEY (r_id, r_c_id, r_f_id){})",
            ints("r_iattr", 9),
            keys("reservation")
        ),
        "CREATE UNIQUE INDEX reservation_seat ON reservation (r_f_id, r_seat)".to_owned(),
        "CREATE UNIQUE INDEX reservation_customer_flight ON reservation (r_c_id, r_f_id)".to_owned(),
    ]
    .join(";")
}
