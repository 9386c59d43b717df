//! Carrying a plan out.
//!
//! Rows are locked in one order everywhere: flight, customer, reservation, frequent flyer; so no two transactions wait for
//! each other in a circle. Who changes how many reservations a flight has holds the flight's row first, at any isolation.

use super::config::SEATS;
use super::plan::{By, Plan, Search};
use super::statements::Ask;
use super::world::MOST_FLYER;
use super::{Kind, Rule, Seats};
use crate::transaction::settled;
use driver::{Command, Conversation, OpError, Value};
use units::Outcome;

/// Seats that an answer of `FindOpenSeats` offers at most.
pub(crate) const OFFERED: usize = 100;
/// Seats at double price, from the first on.
pub(crate) const FIRST_CLASS: usize = 10;
/// Airports of arrival that are searched at most.
const ARRIVALS: usize = 3;

/// How a transaction's steps ended.
enum Ended {
    /// Committed.
    Done,
    /// Nothing was changed: a rule forbids it. To be rolled back.
    Rejected(Rule),
}

pub(crate) async fn run<C: Conversation>(
    seats: &Seats,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Outcome, OpError> {
    let steps = match plan.kind {
        Kind::FindFlights => find_flights(seats, plan, conversation).await,
        Kind::FindOpenSeats => find_open_seats(plan, conversation).await,
        Kind::NewReservation => new_reservation(plan, conversation).await,
        Kind::DeleteReservation => delete_reservation(plan, conversation).await,
        Kind::UpdateCustomer => update_customer(plan, conversation).await,
        Kind::UpdateReservation => update_reservation(plan, conversation).await,
    };
    match steps {
        Ok(Ended::Done) => Ok(Outcome::Ok),
        Ok(Ended::Rejected(rule)) => {
            conversation.stage(Command::Rollback)?;
            conversation.exchange().await?;
            Ok(seats.rejected(rule))
        }
        // The indexes hold the rules where two requests passed each other between look and change.
        Err(error) if error.outcome == Outcome::Constraint && error.session_usable && plan.kind.books() => {
            let undone = settled(conversation, Err::<(), OpError>(error)).await;
            match undone {
                Err(error) if !error.session_usable => Err(error),
                _ => Ok(seats.rejected(Rule::SeatTaken)),
            }
        }
        Err(error) => settled(conversation, Err(error)).await,
    }
}

fn stage<C: Conversation>(conversation: &mut C, ask: Ask, arguments: &[Value<'_>]) -> Result<(), OpError> {
    conversation.stage(Command::Statement { index: ask.index(), arguments })
}

fn int<C: Conversation>(conversation: &C, command: usize, row: usize, column: usize) -> Option<i64> {
    match conversation.value(command, row, column) {
        Some(Value::Int(number)) => Some(number),
        _ => None,
    }
}

/// The reservation that a look-up found; ids begin at 1.
fn found<C: Conversation>(conversation: &C, command: usize) -> Option<i64> {
    int(conversation, command, 0, 0).filter(|id| *id > 0)
}

async fn find_flights<C: Conversation>(
    seats: &Seats,
    plan: &Plan,
    conversation: &mut C,
) -> Result<Ended, OpError> {
    let search = &plan.search;
    let mut arrivals = [Value::Int(search.arrive); ARRIVALS];
    let mut count = 1;
    conversation.stage(Command::Begin)?;
    if let Some(miles) = search.within {
        let around = if seats.config.benchbase { search.depart } else { search.arrive };
        let around = Value::Int(around);
        stage(conversation, Ask::AirportsNear, &[around, around, Value::Float(miles)])?;
        conversation.exchange().await?;
        count += neighbours(conversation, search, seats.config.benchbase, &mut arrivals[1..]);
    }
    let ask = [Ask::FlightsToOne, Ask::FlightsToTwo, Ask::FlightsToThree][count - 1];
    let window = [Value::Int(search.depart), Value::Timestamp(search.from), Value::Timestamp(search.to)];
    let mut arguments = [Value::Null; 3 + ARRIVALS];
    arguments[..3].copy_from_slice(&window);
    arguments[3..].copy_from_slice(&arrivals);
    stage(conversation, ask, &arguments[..3 + count])?;
    conversation.exchange().await?;
    let command = usize::from(search.within.is_none());
    let flights = flights_to(conversation, command, &arrivals[..count]);
    for (arrival, flights) in arrivals.iter().zip(flights) {
        for _ in 0..flights {
            stage(conversation, Ask::Airport, &[Value::Int(search.depart)])?;
            stage(conversation, Ask::Airport, &[*arrival])?;
        }
    }
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(Ended::Done)
}

/// The nearest airports of what was answered. Gives how many there are, at most as many as there is room for.
fn neighbours<C: Conversation>(
    conversation: &C,
    search: &Search,
    benchbase: bool,
    room: &mut [Value<'_>],
) -> usize {
    // `Begin` is the first command of the exchange.
    let rows = conversation.reply(1).rows as usize;
    let mut count = 0;
    for row in 0..rows {
        let Some(place) = room.get_mut(count) else { break };
        let pair = (int(conversation, 1, row, 0), int(conversation, 1, row, 1));
        let (Some(first), Some(second)) = pair else { break };
        let other = if first == search.arrive { second } else { first };
        // BenchBase reads the airport that it asked about.
        *place = Value::Int(if benchbase { search.depart } else { other });
        count += 1;
    }
    count
}

/// Flights to each of the airports.
fn flights_to<C: Conversation>(
    conversation: &C,
    command: usize,
    arrivals: &[Value<'_>],
) -> [usize; ARRIVALS] {
    let mut flights = [0; ARRIVALS];
    for row in 0..conversation.reply(command).rows as usize {
        let arrival = conversation.value(command, row, 6);
        if let Some(at) = arrivals.iter().position(|known| Some(*known) == arrival) {
            flights[at] += 1;
        }
    }
    flights
}

async fn find_open_seats<C: Conversation>(plan: &Plan, conversation: &mut C) -> Result<Ended, OpError> {
    conversation.stage(Command::Begin)?;
    stage(conversation, Ask::PricedFlight, &[plan.flight()])?;
    stage(conversation, Ask::TakenSeats, &[plan.flight()])?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    let Some(Value::Decimal(price)) = conversation.value(1, 0, 4) else {
        return Ok(Ended::Rejected(Rule::NoFlight));
    };
    let rows = conversation.reply(2).rows as usize;
    let taken = (0..rows).filter_map(|row| int(conversation, 2, row, 1));
    // What a passenger would be shown; nothing else is done with it.
    std::hint::black_box(open_seats(taken, price.unscaled));
    Ok(Ended::Done)
}

/// Up to 100 open seats with their prices, first class first; and how many they are.
pub(crate) fn open_seats(taken: impl Iterator<Item = i64>, price: i64) -> ([(u8, i64); OFFERED], usize) {
    let mut is_taken = [false; SEATS];
    for seat in taken {
        if let Some(place) = usize::try_from(seat).ok().and_then(|seat| is_taken.get_mut(seat)) {
            *place = true;
        }
    }
    let (mut offered, mut count) = ([(0, 0); OFFERED], 0);
    for seat in (0..SEATS).filter(|seat| !is_taken[*seat]).take(OFFERED) {
        offered[count] = (seat as u8, if seat < FIRST_CLASS { 2 * price } else { price });
        count += 1;
    }
    (offered, count)
}

async fn new_reservation<C: Conversation>(plan: &Plan, conversation: &mut C) -> Result<Ended, OpError> {
    let (flight, customer, seat) = (plan.flight(), plan.customer(), Value::Int(plan.seat));
    conversation.stage(Command::Begin)?;
    stage(conversation, Ask::FlightLocked, &[flight])?;
    stage(conversation, Ask::Airline, &[flight])?;
    stage(conversation, Ask::SeatOwner, &[flight, seat])?;
    stage(conversation, Ask::PassengerOf, &[flight, customer])?;
    stage(conversation, Ask::CustomerLocked, &[customer])?;
    conversation.exchange().await?;
    let (Some(airline), Some(booked)) = (int(conversation, 1, 0, 0), int(conversation, 1, 0, 1)) else {
        return Ok(Ended::Rejected(Rule::NoFlight));
    };
    if booked >= SEATS as i64 {
        return Ok(Ended::Rejected(Rule::FlightFull));
    }
    if found(conversation, 3).is_some() {
        return Ok(Ended::Rejected(Rule::SeatTaken));
    }
    if found(conversation, 4).is_some() {
        return Ok(Ended::Rejected(Rule::TwiceOnFlight));
    }
    if conversation.reply(5).rows == 0 {
        return Ok(Ended::Rejected(Rule::NoCustomer));
    }
    let a = plan.attributes.map(Value::Int);
    let (id, price) = (Value::Int(plan.reservation), Value::Decimal(plan.price));
    let values = [id, customer, flight, seat, price, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]];
    stage(conversation, Ask::Reserve, &values)?;
    stage(conversation, Ask::TakeSeat, &[flight])?;
    stage(conversation, Ask::CustomerReserved, &[a[0], a[1], a[2], a[3], customer])?;
    let airline = Value::Int(airline);
    stage(conversation, Ask::FlyerReserved, &[a[4], a[5], a[6], a[7], customer, airline])?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(Ended::Done)
}

async fn delete_reservation<C: Conversation>(plan: &Plan, conversation: &mut C) -> Result<Ended, OpError> {
    conversation.stage(Command::Begin)?;
    let mut first = 1;
    let mut flyer_of = None;
    if plan.by != By::Id {
        let by_flyer = plan.by == By::FrequentFlyer;
        let ask = if by_flyer { Ask::CustomerByFlyer } else { Ask::CustomerByText };
        stage(conversation, ask, &[plan.customer_text()])?;
        conversation.exchange().await?;
        if conversation.reply(1).rows == 0 {
            return Ok(Ended::Rejected(Rule::NoCustomer));
        }
        flyer_of = int(conversation, 1, 0, 1).filter(|_| by_flyer);
        first = 0;
    }
    // The key that was found is the plan's: a customer's text is a part of it.
    let (flight, customer) = (plan.flight(), plan.customer());
    stage(conversation, Ask::FlightLocked, &[flight])?;
    stage(conversation, Ask::CustomerLocked, &[customer])?;
    stage(conversation, Ask::Reservation, &[customer, flight])?;
    conversation.exchange().await?;
    let answer = first + 2;
    let (Some(id), Some(Value::Decimal(price)), Some(attribute)) =
        (int(conversation, answer, 0, 0), conversation.value(answer, 0, 1), int(conversation, answer, 0, 2))
    else {
        return Ok(Ended::Rejected(Rule::NoReservation));
    };
    stage(conversation, Ask::Cancel, &[Value::Int(id), customer, flight])?;
    stage(conversation, Ask::GiveSeat, &[flight])?;
    let values = [Value::Decimal(price), Value::Int(attribute), customer];
    stage(conversation, Ask::CustomerCancelled, &values)?;
    if let Some(airline) = flyer_of {
        stage(conversation, Ask::FlyerCancelled, &[customer, Value::Int(airline)])?;
    }
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(Ended::Done)
}

async fn update_customer<C: Conversation>(plan: &Plan, conversation: &mut C) -> Result<Ended, OpError> {
    let customer = plan.customer();
    conversation.stage(Command::Begin)?;
    let mut first = 1;
    if plan.by == By::Text {
        stage(conversation, Ask::CustomerByText, &[plan.customer_text()])?;
        conversation.exchange().await?;
        if conversation.reply(1).rows == 0 {
            return Ok(Ended::Rejected(Rule::NoCustomer));
        }
        first = 0;
    }
    // Locked here, before any row of his frequent flyer: the order of all transactions.
    stage(conversation, Ask::CustomerLocked, &[customer])?;
    conversation.exchange().await?;
    let Some(home) = int(conversation, first, 0, 0) else {
        return Ok(Ended::Rejected(Rule::NoCustomer));
    };
    stage(conversation, Ask::Airport, &[Value::Int(home)])?;
    if plan.with_flyer {
        stage(conversation, Ask::FlyersOf, &[customer])?;
    }
    conversation.exchange().await?;
    let mut airlines = [0; MOST_FLYER];
    let mut count = 0;
    if plan.with_flyer {
        for (row, airline) in airlines.iter_mut().enumerate() {
            let Some(found) = int(conversation, 1, row, 0) else { break };
            *airline = found;
            count = row + 1;
        }
    }
    let (first, second) = (Value::Int(plan.attributes[0]), Value::Int(plan.attributes[1]));
    for airline in &airlines[..count] {
        stage(conversation, Ask::FlyerChanged, &[first, second, customer, Value::Int(*airline)])?;
    }
    stage(conversation, Ask::CustomerChanged, &[first, second, customer])?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(Ended::Done)
}

async fn update_reservation<C: Conversation>(plan: &Plan, conversation: &mut C) -> Result<Ended, OpError> {
    let (flight, customer, seat) = (plan.flight(), plan.customer(), Value::Int(plan.seat));
    conversation.stage(Command::Begin)?;
    stage(conversation, Ask::SeatOwner, &[flight, seat])?;
    stage(conversation, Ask::PassengerOf, &[flight, customer])?;
    conversation.exchange().await?;
    if found(conversation, 1).is_some() {
        return Ok(Ended::Rejected(Rule::SeatTaken));
    }
    let Some(id) = int(conversation, 2, 0, 0) else {
        return Ok(Ended::Rejected(Rule::NoReservation));
    };
    let index = Ask::Move.index() + plan.attribute;
    let arguments = [seat, Value::Int(plan.attributes[0]), Value::Int(id), customer, flight];
    conversation.stage(Command::Statement { index, arguments: &arguments })?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    // Somebody may have cancelled it in between; then nothing was changed.
    let changed = conversation.reply(0).affected > 0;
    Ok(if changed { Ended::Done } else { Ended::Rejected(Rule::NoReservation) })
}
