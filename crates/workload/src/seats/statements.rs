//! The statements, written once for all SQL databases.

use driver::{Dialect, StatementSpec, ValueType};

/// What is asked; the number is the index into the list of [`statements`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Ask {
    AirportsNear,
    FlightsToOne,
    FlightsToTwo,
    FlightsToThree,
    Airport,
    PricedFlight,
    TakenSeats,
    FlightLocked,
    Airline,
    SeatOwner,
    PassengerOf,
    CustomerLocked,
    CustomerByText,
    CustomerByFlyer,
    FlyersOf,
    Reservation,
    Reserve,
    TakeSeat,
    GiveSeat,
    CustomerReserved,
    FlyerReserved,
    CustomerCancelled,
    FlyerCancelled,
    Cancel,
    CustomerChanged,
    FlyerChanged,
    /// And three more, one for each attribute.
    Move,
}

/// Attributes of a reservation that an update may set.
pub(crate) const MOVES: usize = 4;

impl Ask {
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// All of them, in the order of [`Ask`].
pub(crate) fn statements(dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
    use ValueType::{Decimal, Int, Text, Timestamp};
    if dialect == Dialect::KeyValue {
        return Err("seats: needs SQL; this target has only key-value operations".to_owned());
    }
    let money = Decimal(2);
    let kept = |sql: &str, parameters: &[ValueType], columns: &[ValueType]| {
        StatementSpec::kept(dialect.sql(sql), parameters, columns)
    };
    let counted = |sql: &str, parameters: &[ValueType]| StatementSpec::counted(dialect.sql(sql), parameters);
    let flights_to = |arrivals: usize| {
        let places = vec!["?"; arrivals].join(", ");
        let sql = format!(
            "SELECT f_id, f_al_id, al_name, f_depart_time, f_depart_ap_id, f_arrive_time, f_arrive_ap_id \
             FROM flight, airline WHERE f_depart_ap_id = ? AND f_depart_time >= ? AND f_depart_time <= ? \
             AND f_al_id = al_id AND f_arrive_ap_id IN ({places})"
        );
        let mut parameters = vec![Int, Timestamp, Timestamp];
        parameters.resize(3 + arrivals, Int);
        kept(&sql, &parameters, &[Text, Int, Text, Timestamp, Int, Timestamp, Int])
    };
    let mut all = vec![
        // Each pair is there once, the lower id first.
        kept(
            "SELECT d_ap_id0, d_ap_id1, d_distance FROM airport_distance WHERE (d_ap_id0 = ? OR d_ap_id1 = ?) \
             AND d_distance <= ? ORDER BY d_distance",
            &[Int, Int, ValueType::Float],
            &[Int, Int, ValueType::Float],
        ),
        flights_to(1),
        flights_to(2),
        flights_to(3),
        counted(
            "SELECT ap_code, ap_name, ap_city, ap_longitude, ap_latitude, co_id, co_name, co_code_2, co_code_3 \
             FROM airport, country WHERE ap_id = ? AND ap_co_id = co_id",
            &[Int],
        ),
        kept(
            &format!(
                "SELECT f_status, f_base_price, f_seats_total, f_seats_left, {} FROM flight WHERE f_id = ?",
                price(dialect)
            ),
            &[Text],
            &[Int, money, Int, Int, money],
        ),
        kept("SELECT r_id, r_seat FROM reservation WHERE r_f_id = ?", &[Text], &[Int, Int]),
        kept(
            "SELECT f_al_id, f_seats_total - f_seats_left FROM flight WHERE f_id = ? FOR UPDATE",
            &[Text],
            &[Int, Int],
        ),
        kept(
            "SELECT al_id, al_iata_code, al_name FROM airline WHERE al_id = (SELECT f_al_id FROM flight WHERE f_id = ?)",
            &[Text],
            &[Int, Text, Text],
        ),
        kept("SELECT r_id FROM reservation WHERE r_f_id = ? AND r_seat = ?", &[Text, Int], &[Int]),
        kept("SELECT r_id FROM reservation WHERE r_f_id = ? AND r_c_id = ?", &[Text, Text], &[Int]),
        kept(
            "SELECT c_base_ap_id, c_balance, c_sattr00 FROM customer WHERE c_id = ? FOR UPDATE",
            &[Text],
            &[Int, money, Text],
        ),
        kept("SELECT c_id FROM customer WHERE c_id_str = ?", &[Text], &[Text]),
        kept(
            "SELECT c_id, ff_al_id FROM customer, frequent_flyer WHERE ff_c_id_str = ? AND ff_c_id = c_id \
             ORDER BY ff_al_id",
            &[Text],
            &[Text, Int],
        ),
        kept("SELECT ff_al_id FROM frequent_flyer WHERE ff_c_id = ? ORDER BY ff_al_id", &[Text], &[Int]),
        kept(
            "SELECT r_id, r_price, r_iattr00, c_balance, c_iattr00, f_seats_left FROM customer, flight, reservation \
             WHERE c_id = ? AND f_id = ? AND r_c_id = c_id AND r_f_id = f_id",
            &[Text, Text],
            &[Int, money, Int, money, Int, Int],
        ),
        counted(
            "INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price, r_iattr00, r_iattr01, r_iattr02, r_iattr03, \
             r_iattr04, r_iattr05, r_iattr06, r_iattr07, r_iattr08) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[Int, Text, Text, Int, money, Int, Int, Int, Int, Int, Int, Int, Int, Int],
        ),
        counted("UPDATE flight SET f_seats_left = f_seats_left - 1 WHERE f_id = ?", &[Text]),
        counted("UPDATE flight SET f_seats_left = f_seats_left + 1 WHERE f_id = ?", &[Text]),
        counted(
            "UPDATE customer SET c_iattr10 = c_iattr10 + 1, c_iattr11 = c_iattr11 + 1, c_iattr12 = ?, c_iattr13 = ?, \
             c_iattr14 = ?, c_iattr15 = ? WHERE c_id = ?",
            &[Int, Int, Int, Int, Text],
        ),
        counted(
            "UPDATE frequent_flyer SET ff_iattr10 = ff_iattr10 + 1, ff_iattr11 = ?, ff_iattr12 = ?, ff_iattr13 = ?, \
             ff_iattr14 = ? WHERE ff_c_id = ? AND ff_al_id = ?",
            &[Int, Int, Int, Int, Text, Int],
        ),
        // c_iattr11 first: MariaDB's assignments see those before them, and others do not.
        counted(
            "UPDATE customer SET c_balance = c_balance - ?, c_iattr00 = ?, c_iattr11 = c_iattr10 - 1, \
             c_iattr10 = c_iattr10 - 1 WHERE c_id = ?",
            &[money, Int, Text],
        ),
        counted(
            "UPDATE frequent_flyer SET ff_iattr10 = ff_iattr10 - 1 WHERE ff_c_id = ? AND ff_al_id = ?",
            &[Text, Int],
        ),
        counted("DELETE FROM reservation WHERE r_id = ? AND r_c_id = ? AND r_f_id = ?", &[Int, Text, Text]),
        counted("UPDATE customer SET c_iattr00 = ?, c_iattr01 = ? WHERE c_id = ?", &[Int, Int, Text]),
        counted(
            "UPDATE frequent_flyer SET ff_iattr00 = ?, ff_iattr01 = ? WHERE ff_c_id = ? AND ff_al_id = ?",
            &[Int, Int, Text, Int],
        ),
    ];
    all.extend((0..MOVES).map(|attribute| {
        let sql = format!(
            "UPDATE reservation SET r_seat = ?, r_iattr0{attribute} = ? WHERE r_id = ? AND r_c_id = ? AND r_f_id = ?"
        );
        counted(&sql, &[Int, Int, Int, Text, Text])
    }));
    Ok(all)
}

/// base + base × (1 − left / total), to the cent.
fn price(dialect: Dialect) -> &'static str {
    match dialect {
        // Whole cents there; a quotient of integers would be an integer.
        Dialect::Sqlite => {
            "CAST(round(f_base_price + f_base_price * (f_seats_total - f_seats_left) * 1.0 / f_seats_total) AS integer)"
        }
        _ => {
            "CAST(f_base_price + f_base_price * (f_seats_total - f_seats_left) / f_seats_total AS decimal(12,2))"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_name_their_statements() {
        for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::DuckDb, Dialect::Null] {
            let all = statements(dialect).unwrap();
            assert_eq!(all.len(), Ask::Move.index() + MOVES);
            for (ask, words) in [
                (Ask::FlightsToThree, "f_arrive_ap_id IN ("),
                (Ask::PricedFlight, "SELECT f_status"),
                (Ask::SeatOwner, "AND r_seat ="),
                (Ask::FlyersOf, "SELECT ff_al_id"),
                (Ask::Cancel, "DELETE FROM reservation"),
                (Ask::FlyerChanged, "SET ff_iattr00"),
                (Ask::Move, "r_iattr00 ="),
            ] {
                assert!(all[ask.index()].sql.contains(words), "{ask:?}: {}", all[ask.index()].sql);
            }
        }
        assert!(statements(Dialect::KeyValue).unwrap_err().contains("needs SQL"));
    }
}
