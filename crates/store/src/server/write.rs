//! Writing answers when they are due.

use super::connection::Connection;
use super::poll::Token;
use super::{Server, TruthSink};
use crate::{Ending, Injection, Rules};
use std::io;
use units::Nanos;

/// What came of writing to a connection.
enum Wrote {
    /// All that is due.
    Waits,
    /// The kernel has no room.
    Blocked,
    /// The connection is at its end.
    Ended,
}

impl<S: TruthSink> Server<S> {
    /// Writes all answers that are due; gives the time of the last look at the clock.
    pub(super) fn write_what_is_due(&mut self) -> Nanos {
        let mut now = self.now();
        while let Some((due, token)) = self.due.pop(now) {
            match self.connection(token).filter(|c| c.queued == Some(due)) {
                Some(connection) => {
                    connection.queued = None;
                    self.write(token);
                }
                None => self.due.forgot_stale(),
            }
            now = self.now();
        }
        now
    }

    /// Sees to it that the first answer of a connection comes up when it is due.
    pub(super) fn queue(&mut self, token: Token) {
        let Some(connection) = self.connection(token) else { return };
        let Some(due) = connection.owed.answers.front().map(|answer| answer.due) else { return };
        // One that is blocked is told when there is room.
        if connection.blocked || connection.queued == Some(due) {
            return;
        }
        let had = connection.queued.replace(due).is_some();
        self.due.push(due, token);
        if had {
            self.entry_is_stale();
        }
    }

    /// One entry of the queue counts no more.
    pub(super) fn entry_is_stale(&mut self) {
        let Server { due, connections, .. } = self;
        due.one_is_stale(|due, token| {
            let connection = connections.get(token.slot()).and_then(Option::as_ref);
            connection.is_some_and(|c| c.token == token && c.queued == Some(due))
        });
    }

    /// Writes what is due on one connection.
    pub(super) fn write(&mut self, token: Token) {
        let Server { connections, clock, sink, totals, .. } = self;
        let Some(connection) = connections.get_mut(token.slot()).and_then(Option::as_mut) else { return };
        if connection.token != token || connection.blocked {
            return;
        }
        let wrote = write_due(connection, clock, |served| {
            totals.answered += 1;
            sink.served(&served);
        });
        connection.owed.let_go();
        self.count(token);
        match wrote {
            Wrote::Waits => {
                self.queue(token);
                self.settle(token);
            }
            Wrote::Blocked => self.settle(token),
            Wrote::Ended => self.close(token),
        }
    }
}

/// Writes answer after answer until one is not due. Answers that are due at the same time leave in one piece.
fn write_due(
    connection: &mut Connection,
    clock: &clock::LiveClock,
    mut served: impl FnMut(super::Served),
) -> Wrote {
    loop {
        let now = Nanos(clock::Clock::now(clock).0);
        let Some(first) = connection.owed.answers.front() else { return Wrote::Waits };
        if first.due > now {
            return Wrote::Waits;
        }
        if let Some(injection) = first.injection {
            match disturb(connection, injection) {
                Some(wrote) => return wrote,
                None => continue,
            }
        }
        let run = connection.owed.answers.iter().take_while(|a| a.due <= now && a.injection.is_none());
        let count: usize = run.map(|answer| answer.left).sum();
        let mut taken = match send(connection, count) {
            Ok(taken) => taken,
            Err(wrote) => return wrote,
        };
        let all = taken == count;
        while let Some(answer) = connection.owed.answers.front_mut() {
            if answer.due > now || answer.injection.is_some() || answer.left > taken {
                answer.left -= taken.min(answer.left);
                break;
            }
            taken -= answer.left;
            let ends = answer.ending == Ending::Close;
            if let Some(mut answer) = connection.owed.answers.pop_front() {
                if answer.due < connection.unblocked_at
                    && let Some(decision) = &mut answer.decision
                {
                    decision.rules = decision.rules.with(Rules::CLIENT);
                }
                answer.served(Some(now)).into_iter().for_each(&mut served);
            }
            if ends {
                return Wrote::Ended;
            }
        }
        if !all {
            connection.blocked = true;
            return Wrote::Blocked;
        }
    }
}

/// Sends up to `count` bytes of what is owed; gives how many the kernel took.
fn send(connection: &mut Connection, count: usize) -> Result<usize, Wrote> {
    if count == 0 {
        return Ok(0);
    }
    match connection.socket.send(connection.owed.next(count)) {
        Ok(taken) => {
            connection.owed.took(taken);
            Ok(taken)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        Err(_) => Err(Wrote::Ended),
    }
}

/// Lets a fault act on the first answer, which is due; `None` when writing goes on.
fn disturb(connection: &mut Connection, injection: Injection) -> Option<Wrote> {
    let first = connection.owed.answers.front_mut()?;
    first.injection = None;
    let half = first.left / 2;
    match injection {
        Injection::DropBefore | Injection::DropAfter => Some(Wrote::Ended),
        Injection::DropMidAnswer => {
            let _ = send(connection, half);
            Some(Wrote::Ended)
        }
        Injection::Partial(pause) => {
            connection.owed.postpone(pause);
            match send(connection, half) {
                Ok(taken) => connection.owed.answers.front_mut()?.left -= taken,
                Err(wrote) => return Some(wrote),
            }
            None
        }
        // What is encoded already is the fault.
        Injection::Error(_) | Injection::Garbage => None,
    }
}
