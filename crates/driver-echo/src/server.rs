//! The echo server: one thread, epoll, no allocation for a request.
//!
//! It sleeps in the kernel between two requests, as the servers of databases do: that a process has to be woken is part
//! of the floor. What it does with a request is to copy its bytes, so that all else is the kernel's and the network's.
//!
//! Whatever a client sends, the others are served: a request beyond [`crate::LIMIT`] is refused in words and its
//! connection closed; a client that does not take its answers is not read any more until it does. So a connection keeps
//! at most two payloads and some room for what is unread.

mod client;
mod listener;
mod poll;

pub use listener::Listener;

use client::{Client, Fate};
use poll::{Interest, Poll};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a server did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Connections accepted.
    pub connections: u64,
    /// Connections turned away at the limit.
    pub refused: u64,
    /// Connections closed for what they sent.
    pub broken: u64,
    /// Requests answered.
    pub answered: u64,
}

/// Serves until `stop` is set, on the calling thread; `connections` is how many there may be at a time.
///
/// # Errors
/// The kernel's, when readiness can't be watched at all. What goes wrong with one connection ends that connection.
pub fn serve(listeners: Vec<Listener>, connections: usize, stop: &AtomicBool) -> io::Result<Totals> {
    let mut server = Server::new(listeners, connections)?;
    while !stop.load(Ordering::Relaxed) {
        server.turn(NAP_MS)?;
    }
    Ok(server.totals)
}

/// The longest sleep, in milliseconds; also how soon a stop is noticed.
const NAP_MS: i32 = 100;
/// Connections accepted in a row, before requests are looked at again.
const BATCH: usize = 16;
/// Bytes of answers that are made before they are handed to the kernel.
const OUT_ROOM: usize = 1 << 16;

struct Server {
    poll: Poll,
    listeners: Vec<Listener>,
    /// By slot; the kernel knows a client by its slot behind those of the listeners.
    clients: Vec<Option<Client>>,
    free: Vec<usize>,
    most: usize,
    /// The listeners are left alone: there was no descriptor for one more client.
    deaf: bool,
    /// Answers on their way to the kernel; reused.
    out: Vec<u8>,
    totals: Totals,
}

impl Server {
    fn new(listeners: Vec<Listener>, most: usize) -> io::Result<Server> {
        poll::allow_descriptors();
        let poll = Poll::new()?;
        for (token, listener) in listeners.iter().enumerate() {
            listener.make_non_blocking()?;
            poll.watch(listener.fd(), token)?;
        }
        let mut out = vec![1; 2 * OUT_ROOM]; // touched, so that the first answer faults no page
        out.clear();
        let (clients, free, totals) = (Vec::new(), Vec::new(), Totals::default());
        Ok(Server { poll, listeners, clients, free, most, deaf: false, out, totals })
    }

    /// Waits for something to do, at most so long, and does it.
    fn turn(&mut self, milliseconds: i32) -> io::Result<()> {
        let ready = self.poll.wait(milliseconds)?;
        if ready == 0 {
            self.hear();
        }
        for index in 0..ready {
            let token = self.poll.ready(index);
            match token.checked_sub(self.listeners.len()) {
                None => self.accept(token),
                Some(slot) => self.serve(slot),
            }
        }
        Ok(())
    }

    fn accept(&mut self, listener: usize) {
        for _ in 0..BATCH {
            let stream = match self.listeners[listener].accept() {
                Ok(stream) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if lacks_something(&error) => return self.leave_alone(listener),
                Err(_) => continue, // the client has gone again
            };
            if self.clients.len() - self.free.len() >= self.most {
                self.totals.refused += 1;
                continue;
            }
            let slot = self.free.last().copied().unwrap_or(self.clients.len());
            if self.poll.watch(stream.fd(), self.listeners.len() + slot).is_err() {
                self.totals.refused += 1;
                continue;
            }
            self.totals.connections += 1;
            let client = Some(Client::new(stream));
            match self.free.pop() {
                Some(slot) => self.clients[slot] = client,
                None => self.clients.push(client),
            }
        }
    }

    fn serve(&mut self, slot: usize) {
        // Gone already, when the kernel has told of it twice in one turn.
        let Some(client) = self.clients.get_mut(slot).and_then(Option::as_mut) else { return };
        let blocked = client.is_blocked();
        let fate = client.work(&mut self.out, &mut self.totals);
        let watched = match (fate, client.is_blocked()) {
            (Fate::Gone, _) => false,
            (Fate::Stays, now) if now == blocked => return,
            (Fate::Stays, now) => {
                let interest = if now { Interest::Room } else { Interest::Bytes };
                self.poll.change(client.fd(), self.listeners.len() + slot, interest).is_ok()
            }
        };
        if !watched {
            self.clients[slot] = None;
            self.free.push(slot);
            self.hear();
        }
    }

    /// Accepts nobody until a client has gone, or nothing else is to be done: the kernel would tell of them all the time.
    fn leave_alone(&mut self, listener: usize) {
        self.deaf = self.poll.change(self.listeners[listener].fd(), listener, Interest::Nothing).is_ok();
    }

    fn hear(&mut self) {
        if self.deaf {
            self.deaf = false;
            for (token, listener) in self.listeners.iter().enumerate() {
                // Without success the next turn tries again.
                self.deaf |= self.poll.change(listener.fd(), token, Interest::Bytes).is_err();
            }
        }
    }
}

/// Whether accepting again at once would fail again.
fn lacks_something(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

#[cfg(test)]
mod tests;
