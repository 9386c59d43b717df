//! From bytes to admitted requests.

use super::poll::EVENTS;
use super::poll::{Readiness, Token};
use super::{Server, TruthSink};
use crate::{Answers, Arrival, Received};
use clock::Clock;
use std::io;
use units::Nanos;

/// Bytes taken from one connection at a time.
const READ_SIZE: usize = 16 * 1024;

/// What was received in one turn and is not executed yet; memory that is used again and again.
pub(super) struct Scratch {
    /// Room for as many reads as a turn has events.
    bytes: Vec<u8>,
    used: usize,
    received: Vec<Piece>,
    answers: Answers,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        let bytes = vec![1; EVENTS * READ_SIZE]; // 1, not 0: zeroed pages are not there yet
        Scratch { bytes, used: 0, received: Vec::with_capacity(EVENTS), answers: Answers::new() }
    }
}

/// Bytes of one connection.
#[derive(Clone, Copy)]
struct Piece {
    token: Token,
    arrival: Arrival,
    begin: usize,
    end: usize,
}

impl<S: TruthSink> Server<S> {
    /// Something happened on a connection.
    pub(super) fn ready(&mut self, token: Token, readiness: Readiness) {
        if self.connection(token).is_none() {
            return;
        }
        if readiness.writable {
            let now = self.now();
            if let Some(connection) = self.connection(token).filter(|c| c.blocked) {
                connection.blocked = false;
                connection.unblocked_at = now;
            }
            self.write(token);
        }
        let Some(connection) = self.connection(token) else { return };
        if !connection.suspended && !connection.input_ended && connection.deaf_until.is_none() {
            if readiness.readable || readiness.gone {
                self.read(token);
            }
        } else if readiness.gone {
            self.close(token);
        }
    }

    /// Reads once. What was read is executed at the end of the turn, in the order of arrival over all connections.
    fn read(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token.slot()).and_then(Option::as_mut) else {
            return;
        };
        let begin = self.scratch.used;
        let room = &mut self.scratch.bytes[begin..begin + READ_SIZE];
        let (received, stamp) = match connection.socket.receive(room) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => return self.close(token),
        };
        self.scratch.used += received;
        if received == 0 {
            connection.input_ended = true;
            return self.settle(token);
        }
        // After receiving: an arrival is never later than this.
        let now = Nanos(self.clock.now().0);
        let stamped = stamp.and_then(|wall_ns| self.stamps.convert(wall_ns, now));
        let arrival = Arrival {
            at: stamped.unwrap_or(now),
            stamped: stamped.is_some(),
            connection: connection.number,
            node: connection.node,
        };
        self.scratch.received.push(Piece { token, arrival, begin, end: begin + received });
        self.last_request = now;
    }

    /// Hands what was received to the protocols, earliest arrival first.
    pub(super) fn execute_received(&mut self) {
        let mut received = std::mem::take(&mut self.scratch.received);
        received.sort_by_key(|piece| piece.arrival.at);
        for piece in received.drain(..) {
            self.execute(piece);
            self.write_what_is_due();
        }
        self.scratch.received = received;
        self.scratch.used = 0;
    }

    fn execute(&mut self, piece: Piece) {
        let now = self.now();
        let limits = self.limits;
        let Server { connections, scratch, engine, .. } = self;
        let Some(connection) = connections.get_mut(piece.token.slot()).and_then(Option::as_mut) else {
            return;
        };
        if connection.token != piece.token {
            return;
        }
        let Scratch { bytes, answers, .. } = scratch;
        let fresh = &bytes[piece.begin..piece.end];
        answers.clear();
        let received = if connection.unfinished.is_empty() {
            let received = connection.protocol.receive(fresh, piece.arrival, engine, answers);
            if let Received::Consumed(count) = received {
                connection.unfinished.extend_from_slice(&fresh[count..]);
            }
            received
        } else {
            connection.unfinished.extend_from_slice(fresh);
            let received =
                connection.protocol.receive(&connection.unfinished, piece.arrival, engine, answers);
            if let Received::Consumed(count) = received {
                connection.unfinished.drain(..count);
            }
            received
        };
        let oversize = connection.unfinished.len() > connection.protocol.message_limit();
        let broken = received == Received::Broken || oversize;
        let over = broken || received == Received::Over;
        connection.owe(answers, now);
        self.totals.broken += u64::from(broken);
        if over {
            connection.input_ended = true;
            connection.unfinished = Vec::new();
        }
        if connection.unfinished.is_empty() && connection.unfinished.capacity() > READ_SIZE {
            connection.unfinished = Vec::new();
        }
        connection.suspended = connection.owed.answers.len() >= limits.pending
            || connection.owed.waiting() >= limits.pending_bytes;
        let token = piece.token;
        self.queue(token);
        self.count(token);
        self.keep_within_budget();
        self.settle(token);
    }

    /// Counts what a connection holds now.
    pub(super) fn count(&mut self, token: Token) {
        if let Some(connection) = self.connection(token) {
            let holds = connection.holds();
            self.budget.set(token.slot(), holds);
        }
    }

    /// Where all connections together hold too much, those go that hold most, and not whoever happens to ask next.
    fn keep_within_budget(&mut self) {
        while self.budget.total() > self.limits.total_bytes {
            let Some(slot) = self.budget.largest() else { return };
            let Some(token) = self.connections.get(slot).and_then(Option::as_ref).map(|c| c.token) else {
                return;
            };
            self.totals.broken += 1;
            self.close(token);
        }
    }

    /// Brings what is watched for in line with a connection's state; closes it when nothing more can come of it.
    pub(super) fn settle(&mut self, token: Token) {
        let limits = self.limits;
        let Some(connection) = self.connection(token) else { return };
        if connection.input_ended && connection.owed.answers.is_empty() {
            return self.close(token);
        }
        if connection.suspended
            && connection.owed.answers.len() < limits.pending / 2 + 1
            && connection.owed.waiting() < limits.pending_bytes / 2 + 1
        {
            connection.suspended = false;
        }
        let read = !connection.suspended && !connection.input_ended && connection.deaf_until.is_none();
        let (fd, blocked) = (connection.socket.fd(), connection.blocked);
        if connection.watched == (read, blocked) {
            return;
        }
        connection.watched = (read, blocked);
        if self.poll.change(fd, token, read, blocked).is_err() {
            self.close(token);
        }
    }
}
