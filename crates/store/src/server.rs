//! The server: one thread with all sockets, which watches the clock and writes each answer when it is due.
//!
//! The thread never sleeps while there is work: between two looks at the sockets it looks at the next due time, so an
//! answer leaves within a few microseconds of it, where a timer of the kernel's or of a runtime's would add 50 to 1,000.
//! Its clock is `CLOCK_MONOTONIC_RAW`, which the kernel reads from the cycle counter without a system call; recordings
//! are anchored to the same clock, so that a truth log and a recording need no fitting to be laid over each other.
//! After a second without a request it sleeps in the kernel until the next one.
//!
//! What is late all the same is known: each request's due time and the time at which it was written are logged.

mod accept;
mod budget;
mod connection;
mod due;
mod poll;
mod receive;
mod stamps;
mod standstill;
mod strangers;
#[cfg(test)]
mod tests;
mod write;

use crate::{Decision, Engine, Protocol, Staleness};
pub use standstill::Standstill;

use accept::Listening;
use budget::Budget;
use clock::{Clock, LiveClock};
use connection::Connection;
use due::DueTimes;
use poll::{Poll, Token};
use stamps::WallStamps;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use strangers::Strangers;
use units::Nanos;

/// Where to listen, and what to speak there.
pub struct Endpoint {
    /// A bound listener.
    pub listener: TcpListener,
    /// The node that a client reaches here.
    pub node: crate::NodeId,
    /// Makes the state machine of a new connection, given its number.
    pub protocol: Box<dyn Fn(u32) -> Box<dyn Protocol> + Send>,
}

/// Limits of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections at a time; one more is closed as soon as it is accepted. Fewer where the process may not have as many
    /// descriptors: some of those are kept free for files.
    pub connections: usize,
    /// Answers of one connection that wait to be due or to be taken; its requests are not read meanwhile.
    pub pending: usize,
    /// Their bytes.
    pub pending_bytes: usize,
    /// Bytes that all connections together make the server keep: unfinished messages, answers that wait, and the state
    /// of their protocols ([`Protocol::holds`]). Beyond it, the connections that hold most are closed.
    pub total_bytes: usize,
    /// How long a connection may take until it is established ([`Protocol::is_established`]); then it is closed.
    pub greeting: Nanos,
    /// How long the thread goes on watching without any request before it sleeps until the next one.
    pub watch: Nanos,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 20_000,
            pending: 4096,
            pending_bytes: 4 << 20,
            total_bytes: 1 << 30,
            greeting: Nanos::from_secs(30),
            watch: Nanos::from_secs(1),
        }
    }
}

/// One request, once it is known what became of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Served {
    /// What was decided.
    pub decision: Decision,
    /// Its number among the requests of its connection, from 0.
    pub number: u32,
    /// Just before the last byte of its answer was handed to the kernel; `None` if it never was.
    pub written: Option<Nanos>,
    /// See [`crate::Answer::staleness`].
    pub staleness: Option<Staleness>,
}

/// Takes what is known of each request; called by the server's thread, so it must neither block nor allocate.
pub trait TruthSink {
    /// A request that is done with.
    fn served(&mut self, served: &Served);
    /// Called about each 10 ms, off the path of any request.
    fn tick(&mut self, _now: Nanos, _engine: &mut Engine) {}
}

/// A log that nobody reads.
impl TruthSink for () {
    fn served(&mut self, _served: &Served) {}
}

/// What a server did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerTotals {
    /// Connections accepted.
    pub connections: u64,
    /// Connections turned away at the limit or by a fault.
    pub refused: u64,
    /// Connections closed because of what they sent, or did not send in time, or held.
    pub broken: u64,
    /// Requests answered.
    pub answered: u64,
    /// Requests whose answer was never written.
    pub unanswered: u64,
    /// How the host let the store's thread stand still.
    pub standstill: Standstill,
}

/// Serves until `stop` is set, on the calling thread. Times are nanoseconds since the epoch of `clock`, which must
/// be of the monotonic kind.
///
/// # Errors
/// The kernel's, when readiness can't be watched at all. What goes wrong with one connection ends that connection.
pub fn serve<S: TruthSink>(
    endpoints: Vec<Endpoint>,
    engine: Engine,
    limits: Limits,
    clock: LiveClock,
    sink: S,
    stop: &AtomicBool,
) -> io::Result<(ServerTotals, S)> {
    poll::allow_descriptors();
    let mut server = Server::new(endpoints, engine, limits, clock, sink)?;
    while !stop.load(Ordering::Relaxed) {
        server.turn()?;
    }
    server.end();
    Ok((server.totals, server.sink))
}

/// How often the clocks are compared and the sink may do its chores.
const CHORES: Nanos = Nanos::from_millis(10);
/// Arrivals are stamped by another clock, which is never so far off.
const STAMPS_OFF: Nanos = Nanos::from_millis(500);
/// The longest sleep; also how soon a stop is noticed.
const NAP: Nanos = Nanos::from_millis(100);

struct Server<S> {
    engine: Engine,
    limits: Limits,
    clock: LiveClock,
    sink: S,
    poll: Poll,
    listening: Vec<Listening>,
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    next_number: u32,
    /// Connections of which nothing is read for a while.
    deaf: u32,
    /// See [`Limits::total_bytes`].
    budget: Budget,
    strangers: Strangers,
    /// Connections have descriptors below this one.
    descriptors: i32,
    due: DueTimes,
    stamps: WallStamps,
    /// Reused from one turn to the next.
    scratch: receive::Scratch,
    totals: ServerTotals,
    last_request: Nanos,
    next_chores: Nanos,
}

impl<S: TruthSink> Server<S> {
    fn new(
        endpoints: Vec<Endpoint>,
        engine: Engine,
        limits: Limits,
        clock: LiveClock,
        sink: S,
    ) -> io::Result<Server<S>> {
        let poll = Poll::new()?;
        let listening: Vec<Listening> =
            endpoints.into_iter().map(Listening::new).collect::<Result<_, _>>()?;
        for (index, listening) in listening.iter().enumerate() {
            poll.watch(listening.fd(), Token::listener(index), true, false)?;
        }
        Ok(Server {
            engine,
            limits,
            clock,
            sink,
            poll,
            listening,
            connections: Vec::new(),
            free: Vec::new(),
            next_number: 0,
            deaf: 0,
            budget: Budget::default(),
            strangers: Strangers::default(),
            descriptors: poll::descriptors_for_connections(),
            due: DueTimes::default(),
            stamps: WallStamps::new(&clock),
            scratch: receive::Scratch::new(),
            totals: ServerTotals::default(),
            last_request: Nanos::ZERO,
            next_chores: Nanos::ZERO,
        })
    }

    fn now(&self) -> Nanos {
        Nanos(self.clock.now().0)
    }

    /// One look at everything.
    fn turn(&mut self) -> io::Result<()> {
        let now = self.write_what_is_due();
        let chores = now >= self.next_chores;
        if chores {
            self.next_chores = now + CHORES;
            self.stamps.refresh(&self.clock);
            self.open_listeners(now);
            self.end_deafness(now);
            self.sink.tick(now, &mut self.engine);
        }
        let nap = if self.due.is_empty()
            && self.deaf == 0
            && now.saturating_sub(self.last_request) > self.limits.watch
        {
            NAP
        } else {
            Nanos::ZERO
        };
        let ready = self.poll.wait(nap)?;
        if nap > Nanos::ZERO && ready == 0 {
            // Nobody waits, and what arrives from here on arrives later; stamps of the kernel may be off by a little.
            self.engine.rest(now.saturating_sub(STAMPS_OFF));
        }
        if nap == Nanos::ZERO && !chores {
            self.totals.standstill.note(self.now().saturating_sub(now));
        }
        for index in 0..ready {
            let (token, readiness) = self.poll.event(index);
            match token.listener_index() {
                Some(index) => self.accept(index),
                None => self.ready(token, readiness),
            }
            self.write_what_is_due();
        }
        self.execute_received();
        if chores {
            // Behind the reading: what has come by now came in time.
            self.end_strangers(now);
        }
        Ok(())
    }

    /// The connection of a token, if it is still the same one.
    fn connection(&mut self, token: Token) -> Option<&mut Connection> {
        let connection = self.connections.get_mut(token.slot())?.as_mut()?;
        (connection.token == token).then_some(connection)
    }

    /// Closes a connection; what was not answered is logged as such.
    fn close(&mut self, token: Token) {
        if self.connection(token).is_none() {
            return;
        }
        let slot = token.slot();
        if let Some(connection) = self.connections[slot].take() {
            self.deaf -= u32::from(connection.deaf_until.is_some());
            self.budget.set(slot, 0);
            if connection.queued.is_some() {
                self.entry_is_stale();
            }
            self.free.push(slot as u32);
            for served in connection.unanswered() {
                self.totals.unanswered += 1;
                self.sink.served(&served);
            }
        }
    }

    fn end(&mut self) {
        self.write_what_is_due();
        let tokens: Vec<Token> = self.connections.iter().flatten().map(|c| c.token).collect();
        tokens.into_iter().for_each(|token| self.close(token));
        let now = self.now();
        self.sink.tick(now, &mut self.engine);
    }
}
