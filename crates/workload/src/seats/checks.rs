//! The invariants: what must hold whatever has run, in one snapshot.

use super::Seats;
use super::airports::AIRPORTS;
use super::config::SEATS;
use super::dataset::KEYS;
use super::fill::{COUNTRIES, DISTANCES};
use super::world::AIRLINES;
use crate::dataset::CheckResult;
use crate::foreign_keys::{self, counted, none_found};
use driver::{Administration, ConnectError};

impl Seats {
    pub(crate) fn checks(
        &self,
        administration: &mut dyn Administration,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        let rows = [
            ("country", COUNTRIES),
            ("airport", AIRPORTS as u64),
            ("airport_distance", DISTANCES),
            ("airline", AIRLINES),
            ("customer", self.world.customers),
            ("frequent_flyer", self.flyers()),
            ("flight", self.world.flights.len() as u64),
        ];
        Ok(vec![
            counted(administration, "no table but reservation grew or shrank", &rows)?,
            none_found(
                administration,
                "seats left and reservations add up to the seats of a flight",
                "flights whose f_seats_left is null or not f_seats_total less their reservations",
                // A left join: a flight without reservations counts, too; a null is equal to nothing.
                "SELECT count(*) FROM flight LEFT JOIN (SELECT r_f_id, count(*) AS booked FROM reservation \
                 GROUP BY r_f_id) counted ON r_f_id = f_id WHERE f_seats_left IS NULL OR f_seats_total IS NULL \
                 OR f_seats_left <> f_seats_total - coalesce(booked, 0)",
            )?,
            none_found(
                administration,
                "every flight has its seats",
                "flights whose f_seats_total is null or not 150, or whose f_seats_left is not in 0 … 150",
                &format!(
                    "SELECT count(*) FROM flight WHERE f_seats_total IS NULL OR f_seats_total <> {SEATS} \
                     OR f_seats_left IS NULL OR f_seats_left < 0 OR f_seats_left > {SEATS}"
                ),
            )?,
            none_found(
                administration,
                "no seat is reserved twice",
                "seats of a flight with more than one reservation",
                "SELECT count(*) FROM (SELECT r_f_id FROM reservation GROUP BY r_f_id, r_seat \
                 HAVING count(*) > 1) twice",
            )?,
            none_found(
                administration,
                "nobody is on a flight twice",
                "customers with more than one reservation of a flight",
                "SELECT count(*) FROM (SELECT r_f_id FROM reservation GROUP BY r_f_id, r_c_id \
                 HAVING count(*) > 1) twice",
            )?,
            none_found(
                administration,
                "every reservation is of a seat that there is",
                "reservations whose r_seat is null or not in 0 … 149",
                &format!(
                    "SELECT count(*) FROM reservation WHERE r_seat IS NULL OR r_seat < 0 OR r_seat >= {SEATS}"
                ),
            )?,
            foreign_keys::check(&KEYS, administration)?,
        ])
    }
}
