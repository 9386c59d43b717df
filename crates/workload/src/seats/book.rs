//! Which seat is whose: the sequential state, from which requests take seats that are free and reservations that exist.
//!
//! BenchBase's terminals remember what `FindOpenSeats` told them, and a transaction that finds nothing remembered is over
//! at once, and is counted with its time of nearly nothing. Here the thread that writes the schedule keeps the book of all
//! seats of the flights in play, and decides for each `NewReservation`, `UpdateReservation` and `DeleteReservation`, in
//! the order of requests and long before it is due, whom it concerns. Nothing is looked up when a request is due, and what
//! a request does is a function of its number.
//!
//! The book supposes that every request succeeds. One that fails (a timeout, say) leaves a seat that the book has wrong
//! until the run ends; a later request for it breaks a rule, which the database finds, and is counted as an abort. What
//! is in the database is read before each run.

use super::Kind;
use super::config::SEATS;
use super::world::World;
use crate::{OpId, Tickets};
use std::sync::Arc;
use units::{Rng, Seed};

/// Flight, customer and seat of a request in one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Booking {
    /// In [0, 2²⁶).
    pub(crate) flight: u32,
    /// In [0, 2³⁰).
    pub(crate) customer: u64,
    /// In [0, 150).
    pub(crate) seat: usize,
}

/// Ticket of a request for which the book has nothing: no seat is free, or nothing is reserved.
pub(crate) const NOTHING: u64 = u64::MAX;

impl Booking {
    pub(crate) fn ticket(self) -> u64 {
        u64::from(self.flight) << 38 | self.customer << 8 | self.seat as u64
    }

    /// What a ticket says; `None` for [`NOTHING`].
    pub(crate) fn of(ticket: u64) -> Option<Booking> {
        let parts = Booking {
            flight: (ticket >> 38) as u32,
            customer: ticket >> 8 & ((1 << 30) - 1),
            seat: (ticket & 0xFF) as usize,
        };
        (ticket != NOTHING).then_some(parts)
    }
}

/// In place of a customer: the seat is free.
const FREE: u32 = u32::MAX;

/// The seats of the flights in play.
#[derive(Clone)]
pub(crate) struct Book {
    /// Numbers of the flights.
    flights: Arc<[u32]>,
    /// Customers, `SEATS` for each flight.
    seats: Vec<u32>,
}

impl Book {
    /// With every seat free.
    pub(crate) fn new(flights: Arc<[u32]>) -> Book {
        Book { seats: vec![FREE; flights.len() * SEATS], flights }
    }

    /// Whose seat it is, of the flight at `place` in play.
    pub(crate) fn set(&mut self, place: usize, seat: usize, customer: u64) {
        self.seats[place * SEATS + seat] = customer as u32;
    }

    fn of(&self, place: usize) -> &[u32] {
        &self.seats[place * SEATS..(place + 1) * SEATS]
    }
}

/// Flights that are drawn before it is given up to find what is wanted.
const TRIES: usize = 64;
/// Customers that are drawn for a seat.
const CUSTOMERS: usize = 8;
/// Flights that are searched one after the other when drawing found no reservation.
const SWEPT: usize = 4_096;

/// See the module.
pub(crate) struct SeatTickets {
    pub(crate) kinds: &'static [Kind],
    pub(crate) world: Arc<World>,
    pub(crate) seed: Seed,
    pub(crate) book: Book,
    /// Bookings of the last requests, which may be in flight.
    recent: Vec<u64>,
    next_recent: usize,
    swept: usize,
    /// Whether a seat to move to is drawn without a look whether it is free.
    any_seat: bool,
}

impl SeatTickets {
    pub(crate) fn new(
        kinds: &'static [Kind],
        world: Arc<World>,
        seed: Seed,
        book: Book,
        outstanding: usize,
        any_seat: bool,
    ) -> SeatTickets {
        let recent = vec![NOTHING; outstanding];
        SeatTickets { kinds, world, seed, book, recent, next_recent: 0, swept: 0, any_seat }
    }

    fn note(&mut self, booking: Booking) {
        if self.recent.is_empty() {
            return;
        }
        self.recent[self.next_recent] = booking.ticket();
        self.next_recent = (self.next_recent + 1) % self.recent.len();
    }

    /// Whether one of the last requests concerns this seat or this customer of a flight.
    fn is_recent(&self, flight: u32, seat: Option<usize>, customer: Option<u64>) -> bool {
        self.recent.iter().filter(|ticket| (**ticket >> 38) as u32 == flight).any(|ticket| {
            Booking::of(*ticket).is_some_and(|recent| {
                seat.is_some_and(|seat| seat == recent.seat)
                    || customer.is_some_and(|customer| customer == recent.customer)
            })
        })
    }

    /// The first free seat from a drawn one on.
    fn free_seat(&self, rng: &mut Rng, place: usize) -> Option<usize> {
        let (start, flight) = (rng.below(SEATS as u64) as usize, self.book.flights[place]);
        let seats = self.book.of(place);
        (start..SEATS)
            .chain(0..start)
            .find(|seat| seats[*seat] == FREE && !self.is_recent(flight, Some(*seat), None))
    }

    /// The first reservation from a drawn seat on.
    fn reservation(&self, rng: &mut Rng, place: usize) -> Option<Booking> {
        let (start, flight) = (rng.below(SEATS as u64) as usize, self.book.flights[place]);
        let seats = self.book.of(place);
        (start..SEATS)
            .chain(0..start)
            .filter(|seat| seats[*seat] != FREE)
            .map(|seat| Booking { flight, customer: seats[seat].into(), seat })
            .find(|booking| !self.is_recent(flight, Some(booking.seat), Some(booking.customer)))
    }

    fn draw_place(&self, rng: &mut Rng) -> usize {
        rng.below(self.book.flights.len() as u64) as usize
    }

    /// A reservation of a drawn flight; where few are left, of the next flight that has one.
    fn draw_reservation(&mut self, rng: &mut Rng) -> Option<(usize, Booking)> {
        for _ in 0..TRIES {
            let place = self.draw_place(rng);
            if let Some(booking) = self.reservation(rng, place) {
                return Some((place, booking));
            }
        }
        for _ in 0..SWEPT.min(self.book.flights.len()) {
            self.swept = (self.swept + 1) % self.book.flights.len();
            if let Some(booking) = self.reservation(rng, self.swept) {
                return Some((self.swept, booking));
            }
        }
        None
    }

    fn reserve(&mut self, rng: &mut Rng) -> Option<Booking> {
        for _ in 0..TRIES {
            let place = self.draw_place(rng);
            let Some(seat) = self.free_seat(rng, place) else { continue };
            let flight = self.book.flights[place];
            let from = self.world.flights[flight as usize].depart;
            for tries in 0..CUSTOMERS {
                let customer = self.world.draw_passenger(rng, from, tries);
                let aboard = self.book.of(place).contains(&(customer as u32));
                if !aboard && !self.is_recent(flight, None, Some(customer)) {
                    self.book.set(place, seat, customer);
                    let booking = Booking { flight, customer, seat };
                    self.note(booking);
                    return Some(booking);
                }
            }
        }
        None
    }

    fn cancel(&mut self, rng: &mut Rng) -> Option<Booking> {
        let (place, booking) = self.draw_reservation(rng)?;
        self.book.seats[place * SEATS + booking.seat] = FREE;
        self.note(booking);
        Some(booking)
    }

    fn change(&mut self, rng: &mut Rng) -> Option<Booking> {
        for _ in 0..TRIES {
            let (place, from) = self.draw_reservation(rng)?;
            let seat = if self.any_seat {
                rng.below(SEATS as u64) as usize
            } else {
                match self.free_seat(rng, place) {
                    Some(seat) => seat,
                    None => continue,
                }
            };
            if self.book.of(place)[seat] == FREE {
                self.book.seats[place * SEATS + from.seat] = FREE;
                self.book.set(place, seat, from.customer);
            }
            self.note(from);
            let to = Booking { seat, ..from };
            self.note(to);
            return Some(to);
        }
        None
    }
}

impl Tickets for SeatTickets {
    fn next(&mut self, seq: u64, op: OpId) -> u64 {
        let mut rng = self.seed.at(seq);
        let booking = match self.kinds[usize::from(op.0)] {
            Kind::NewReservation => self.reserve(&mut rng),
            Kind::DeleteReservation => self.cancel(&mut rng),
            Kind::UpdateReservation => self.change(&mut rng),
            Kind::FindFlights | Kind::FindOpenSeats | Kind::UpdateCustomer => return 0,
        };
        booking.map_or(NOTHING, Booking::ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::SeatsConfig;
    use super::*;

    const KINDS: [Kind; 3] = [Kind::NewReservation, Kind::DeleteReservation, Kind::UpdateReservation];

    fn tickets(flights: usize, outstanding: usize) -> SeatTickets {
        let small = [("customers", "2000"), ("flightsperday", "2")];
        let small: Vec<_> = small.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let world = Arc::new(World::new(&SeatsConfig::new(1.0, Seed(1), &small).unwrap()));
        let book = Book::new((0..flights as u32).collect());
        SeatTickets::new(&KINDS, world, Seed(2), book, outstanding, false)
    }

    #[test]
    fn tickets_carry_bookings() {
        let booking = Booking { flight: (1 << 26) - 1, customer: (1 << 30) - 1, seat: 149 };
        assert_eq!(Booking::of(booking.ticket()), Some(booking));
        assert_eq!(Booking::of(NOTHING), None);
    }

    #[test]
    fn a_full_plane_and_an_empty_one_give_nothing() {
        let mut tickets = tickets(1, 0);
        assert_eq!(tickets.next(0, OpId(1)), NOTHING);
        assert_eq!(tickets.next(1, OpId(2)), NOTHING);
        for seq in 0..150 {
            assert_ne!(tickets.next(seq, OpId(0)), NOTHING, "{seq}");
        }
        assert_eq!(tickets.next(150, OpId(0)), NOTHING);
        assert_eq!(tickets.next(151, OpId(2)), NOTHING, "no seat to move to");
        assert_ne!(tickets.next(152, OpId(1)), NOTHING);
        assert_ne!(tickets.next(153, OpId(0)), NOTHING);
    }

    #[test]
    fn what_may_be_in_flight_is_left_alone() {
        let mut tickets = tickets(3, 20);
        let mut last: Vec<Booking> = Vec::new();
        for seq in 0..20_000 {
            let op = OpId((seq % 5 % 3) as u8);
            let Some(booking) = Booking::of(tickets.next(seq, op)) else { continue };
            // A change notes two.
            for recent in last.iter().rev().take(10) {
                let same = recent.flight == booking.flight
                    && (recent.seat == booking.seat || recent.customer == booking.customer);
                assert!(!same, "{seq}: {booking:?} after {recent:?}");
            }
            last.push(booking);
        }
    }
}
