//! An exact model: after a run the database holds what the model holds, to the last value.

use super::book::Booking;
use super::plan::By;
use super::*;
use crate::OpId;
use crate::model::{Database, Table};
use driver::Value;

fn seats(parameters: &[(&str, &str)]) -> Seats {
    let mut all = vec![("customers", "400"), ("flightsperday", "1"), ("outstanding", "0")];
    all.extend(parameters);
    let all: Vec<_> = all.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Seats::new(SeatsConfig::new(1.0, Seed(3), &all).unwrap()).unwrap()
}

#[derive(PartialEq)]
struct Model {
    customers: Table,
    flyers: Table,
    flights: Table,
    /// By flight and customer.
    reservations: Table,
    /// What no transaction changes.
    others: Vec<Table>,
}

impl Model {
    fn read(database: &Database) -> Model {
        let administration = &mut *database.administer();
        let others = [
            ("country", vec!["co_id"]),
            ("airport", vec!["ap_id"]),
            ("airport_distance", vec!["d_ap_id0", "d_ap_id1"]),
            ("airline", vec!["al_id"]),
        ];
        Model {
            customers: Table::read(administration, "customer", &["c_id"]),
            flyers: Table::read(administration, "frequent_flyer", &["ff_c_id", "ff_al_id"]),
            flights: Table::read(administration, "flight", &["f_id"]),
            reservations: Table::read(administration, "reservation", &["r_f_id", "r_c_id"]),
            others: others.iter().map(|(table, key)| Table::read(administration, table, key)).collect(),
        }
    }

    fn seat_is_taken(&self, plan: &Plan) -> bool {
        let seat = plan.seat.to_string();
        self.reservations.rows.iter().any(|(key, row)| key[0] == plan.flight.as_str() && row[3] == seat)
    }

    /// Airlines whose frequent flyer a customer is, lowest first.
    fn airlines(&self, customer: &str) -> Vec<String> {
        let mut airlines: Vec<u64> = self
            .flyers
            .rows
            .keys()
            .filter(|key| key[0] == customer)
            .map(|key| key[1].parse().unwrap())
            .collect();
        airlines.sort_unstable();
        airlines.into_iter().map(|airline| airline.to_string()).collect()
    }

    /// The rule that is broken, if one is; otherwise what the request does is done.
    fn apply(&mut self, plan: &Plan) -> Option<Rule> {
        match plan.kind {
            Kind::FindFlights | Kind::FindOpenSeats => None,
            Kind::NewReservation => self.reserve(plan),
            Kind::DeleteReservation => self.cancel(plan),
            Kind::UpdateReservation => self.change(plan),
            Kind::UpdateCustomer => {
                self.update_customer(plan);
                None
            }
        }
    }

    fn reserve(&mut self, plan: &Plan) -> Option<Rule> {
        let (flight, customer) = (plan.flight.as_str(), plan.customer.as_str());
        if self.flights.get(&[flight], "f_seats_left")? == "0" {
            return Some(Rule::FlightFull);
        }
        if self.seat_is_taken(plan) {
            return Some(Rule::SeatTaken);
        }
        if self.reservations.get(&[flight, customer], "r_id").is_some() {
            return Some(Rule::TwiceOnFlight);
        }
        let mut row: Vec<String> = [
            plan.reservation.to_string(),
            customer.to_owned(),
            flight.to_owned(),
            plan.seat.to_string(),
            plan.price.unscaled.to_string(),
        ]
        .into();
        row.extend(plan.attributes.iter().map(i64::to_string));
        self.reservations.rows.insert(vec![flight.to_owned(), customer.to_owned()], row);
        self.flights.add(&[flight], "f_seats_left", -1);
        for column in ["c_iattr10", "c_iattr11"] {
            self.customers.add(&[customer], column, 1);
        }
        for (n, value) in plan.attributes[..4].iter().enumerate() {
            self.customers.set(&[customer], &format!("c_iattr{}", 12 + n), value);
        }
        let airline = self.flights.get(&[flight], "f_al_id").unwrap().to_owned();
        self.flyers.add(&[customer, &airline], "ff_iattr10", 1);
        for (n, value) in plan.attributes[4..8].iter().enumerate() {
            self.flyers.set(&[customer, &airline], &format!("ff_iattr{}", 11 + n), value);
        }
        None
    }

    fn cancel(&mut self, plan: &Plan) -> Option<Rule> {
        let (flight, customer) = (plan.flight.as_str(), plan.customer.as_str());
        let airlines = self.airlines(customer);
        if plan.by == By::FrequentFlyer && airlines.is_empty() {
            return Some(Rule::NoCustomer);
        }
        let key = vec![flight.to_owned(), customer.to_owned()];
        let Some(row) = self.reservations.rows.remove(&key) else { return Some(Rule::NoReservation) };
        self.flights.add(&[flight], "f_seats_left", 1);
        self.customers.add(&[customer], "c_balance", -row[4].parse::<i64>().unwrap());
        self.customers.set(&[customer], "c_iattr00", &row[5]);
        self.customers.add(&[customer], "c_iattr10", -1);
        let tenth = self.customers.get(&[customer], "c_iattr10").unwrap().to_owned();
        self.customers.set(&[customer], "c_iattr11", tenth);
        if plan.by == By::FrequentFlyer {
            self.flyers.add(&[customer, &airlines[0]], "ff_iattr10", -1);
        }
        None
    }

    fn change(&mut self, plan: &Plan) -> Option<Rule> {
        let (flight, customer) = (plan.flight.as_str(), plan.customer.as_str());
        if self.seat_is_taken(plan) {
            return Some(Rule::SeatTaken);
        }
        if !self.reservations.set(&[flight, customer], "r_seat", plan.seat) {
            return Some(Rule::NoReservation);
        }
        let attribute = format!("r_iattr0{}", plan.attribute);
        self.reservations.set(&[flight, customer], &attribute, plan.attributes[0]);
        None
    }

    fn update_customer(&mut self, plan: &Plan) {
        let customer = plan.customer.as_str();
        let airlines = if plan.with_flyer { self.airlines(customer) } else { Vec::new() };
        for (n, value) in plan.attributes[..2].iter().enumerate() {
            self.customers.set(&[customer], &format!("c_iattr0{n}"), value);
            for airline in &airlines {
                self.flyers.set(&[customer, airline], &format!("ff_iattr0{n}"), value);
            }
        }
    }
}

fn assert_sound(seats: &Seats, database: &Database) {
    for result in seats.checks(&mut *database.administer()).unwrap() {
        assert!(result.passed, "{}: {}", result.name, result.detail);
    }
}

#[test]
fn the_database_is_what_the_model_says_and_nothing_is_rejected() {
    let mut seats = seats(&[]);
    let database = Database::loaded(&seats);
    let mut model = Model::read(&database);
    let mut by_kind = HashMap::new();
    // The second run begins with the reservations that the first has left.
    for _ in 0..2 {
        seats.observe(&mut *database.administer()).unwrap();
        database.run(
            &seats,
            8_000,
            |_, _, ticket| ticket,
            |plan, outcome| {
                assert_eq!((outcome, model.apply(plan)), (Outcome::Ok, None), "{plan}");
                *by_kind.entry(format!("{:?} {:?}", plan.kind, plan.by)).or_insert(0) += 1;
            },
        );
        assert!(model == Model::read(&database), "tables differ");
        assert_sound(&seats, &database);
    }
    for by in ["Id", "Text", "FrequentFlyer"] {
        let share = f64::from(by_kind[&format!("DeleteReservation {by}")]) / 1_600.0;
        let expected = if by == "Id" { 0.6 } else { 0.2 };
        assert!((share - expected).abs() < 0.05, "{by}: {share}");
    }
}

#[test]
fn the_book_before_the_run_is_that_of_the_database() {
    let mut seats = seats(&[]);
    let database = Database::loaded(&seats);
    let op = OpId(KINDS.iter().position(|kind| *kind == Kind::DeleteReservation).unwrap() as u8);
    let all = |seats: &Seats| {
        let mut tickets = seats.tickets();
        (0..2_000).map(|seq| tickets.next(seq, op)).collect::<Vec<u64>>()
    };
    let supposed = all(&seats);
    seats.observe(&mut *database.administer()).unwrap();
    assert_eq!(all(&seats), supposed);
    let cancelled = supposed.iter().filter(|ticket| **ticket != book::NOTHING).count() as u64;
    assert_eq!(cancelled, seats.bookings(), "each reservation is cancelled once");
}

/// Tickets that no book would give: every rule is broken, and the database is still what the model says.
#[test]
fn broken_rules_change_nothing() {
    for compat in ["none", "benchbase"] {
        let seats = seats(&[("compat", compat)]);
        let database = Database::loaded(&seats);
        let mut model = Model::read(&database);
        let mut rules = HashMap::new();
        let mut rng = Seed(7).rng();
        database.run(
            &seats,
            12_000,
            |_, _, _| {
                // Three flights, so that they fill up.
                let (flight, customer) = (rng.below(3) as u32, rng.below(160));
                Booking { flight, customer, seat: rng.below(150) as usize }.ticket()
            },
            |plan, outcome| {
                let broken = model.apply(plan);
                let rejected = if compat == "none" { Outcome::Abort } else { Outcome::Ok };
                assert_eq!(
                    outcome,
                    if broken.is_some() { rejected } else { Outcome::Ok },
                    "{plan} {broken:?}"
                );
                if let Some(rule) = broken {
                    *rules.entry(rule as usize).or_insert(0) += 1;
                }
            },
        );
        assert!(model == Model::read(&database), "tables differ");
        assert_sound(&seats, &database);
        for (rule, (name, count)) in seats.counts().into_iter().enumerate() {
            assert_eq!(count, rules.get(&rule).copied().unwrap_or(0), "{name}");
        }
        for rule in [Rule::SeatTaken, Rule::TwiceOnFlight, Rule::NoReservation] {
            assert!(rules.contains_key(&(rule as usize)), "{rule:?} was never broken");
        }
    }
}

#[test]
fn a_full_flight_refuses() {
    let seats = seats(&[]);
    let database = Database::loaded(&seats);
    database.administer().script("UPDATE flight SET f_seats_left = 0").unwrap();
    let mut model = Model::read(&database);
    database.run(
        &seats,
        300,
        |_, _, ticket| ticket,
        |plan, outcome| assert_eq!(outcome == Outcome::Abort, model.apply(plan).is_some(), "{plan}"),
    );
    assert!(model == Model::read(&database), "tables differ");
    assert_eq!(seats.counts()[1].0, "rejected: flight full");
    assert!(seats.counts()[1].1 > 30);
}

/// The nearest airports of the arrival are searched, too; BenchBase searches the departure itself in their place.
#[test]
fn nearby_airports_widen_the_search() {
    use super::statements::{Ask, statements};
    use driver::{Command, Direct, Target};
    let seats = seats(&[("flightsperday", "40")]);
    let database = Database::loaded(&seats);
    let mut session = database.target.connect(&statements(Dialect::Sqlite).unwrap(), None).unwrap();
    let mut direct = Direct::new(&mut session);
    let mut widened = 0;
    for arrival in 1..=286_i64 {
        let mut near: Vec<(f64, i64)> = (1..=286)
            .filter(|other| *other != arrival)
            .map(|other| (seats.world.airports.miles(arrival as usize - 1, other as usize - 1), other))
            .filter(|(miles, _)| *miles <= 50.0)
            .collect();
        near.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let arguments = [Value::Int(arrival), Value::Int(arrival), Value::Float(50.0)];
        let command = Command::Statement { index: Ask::AirportsNear.index(), arguments: &arguments };
        assert_eq!(direct.ask(command).unwrap().rows, near.len() as u64, "{arrival}");
        widened += usize::from(!near.is_empty());
        // The statement's rows are the nearest first.
        let first = [0, 1].map(|column| driver::Conversation::value(&direct, 0, 0, column));
        if let Some((_, nearest)) = near.first() {
            assert!(first.contains(&Some(Value::Int(*nearest))), "{arrival}: {first:?}");
        }
    }
    assert!(widened > 40, "{widened}");
}

#[test]
fn prices_rise_with_what_is_booked_and_first_class_is_double() {
    use super::statements::{Ask, statements};
    use driver::{Command, Conversation, Direct, Target};
    let seats = seats(&[]);
    let database = Database::loaded(&seats);
    let mut session = database.target.connect(&statements(Dialect::Sqlite).unwrap(), None).unwrap();
    database
        .administer()
        .script("UPDATE flight SET f_base_price = 20000, f_seats_left = 149; DELETE FROM reservation")
        .unwrap();
    let mut direct = Direct::new(&mut session);
    let key = seats.world.flight_key(0);
    let arguments = [Value::Text(key.as_str())];
    direct.ask(Command::Statement { index: Ask::PricedFlight.index(), arguments: &arguments }).unwrap();
    // 200.00 + 200.00 / 150, to the cent.
    let Some(Value::Decimal(price)) = direct.value(0, 0, 4) else { panic!("no price") };
    assert_eq!((price.unscaled, price.scale), (20_133, 2));
    let (offered, count) = run::open_seats([0, 3, 149].into_iter(), price.unscaled);
    assert_eq!(count, 100);
    assert_eq!(offered[..3], [(1, 40_266), (2, 40_266), (4, 40_266)]);
    assert_eq!(offered[8], (10, 20_133));
    let (_, few) = run::open_seats(0..148, 1);
    assert_eq!(few, 2);
}
