//! New connections.

use super::connection::Connection;
use super::poll::Token;
use super::{Endpoint, Server, TruthSink, strangers};
use crate::{ConnectionFault, NodeId};
use socket::Socket;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use units::Nanos;

/// A listener and whether it is being listened to.
pub(super) struct Listening {
    endpoint: Endpoint,
    /// Not before; set when the process has no descriptor left, or a fault makes accepting slow.
    closed_until: Option<Nanos>,
}

/// How long to leave a listener alone after an accept that failed for lack of something.
const BREATHER: Nanos = Nanos::from_millis(50);
/// Connections accepted in a row, before due times are looked at again.
const BATCH: usize = 16;

impl Listening {
    pub(super) fn new(endpoint: Endpoint) -> io::Result<Listening> {
        endpoint.listener.set_nonblocking(true)?;
        Ok(Listening { endpoint, closed_until: None })
    }

    pub(super) fn fd(&self) -> RawFd {
        self.endpoint.listener.as_raw_fd()
    }

    pub(super) fn node(&self) -> NodeId {
        self.endpoint.node
    }
}

impl<S: TruthSink> Server<S> {
    /// Accepts what waits at a listener.
    pub(super) fn accept(&mut self, index: usize) {
        for _ in 0..BATCH {
            match self.listening[index].endpoint.listener.accept() {
                Ok((stream, _)) => self.accepted(index, stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if lacks_something(&error) => return self.leave_alone(index, BREATHER),
                // The client has gone again: the next one, please.
                Err(_) => {}
            }
            self.write_what_is_due();
        }
    }

    fn accepted(&mut self, index: usize, stream: TcpStream) {
        let number = self.next_number;
        self.next_number = self.next_number.wrapping_add(1);
        let open = self.connections.len() - self.free.len();
        // The kernel gives the lowest descriptor that is free: this one tells how many are left for files.
        if open >= self.limits.connections || stream.as_raw_fd() >= self.descriptors {
            self.totals.refused += 1;
            return;
        }
        let fault = self.engine.connection_fault(number);
        if fault == Some(ConnectionFault::Refuse) {
            self.totals.refused += 1;
            return reset(stream);
        }
        match self.add(index, stream, number, fault) {
            Ok(()) => self.totals.connections += 1,
            Err(_) => self.totals.refused += 1,
        }
    }

    fn add(
        &mut self,
        index: usize,
        stream: TcpStream,
        number: u32,
        fault: Option<ConnectionFault>,
    ) -> io::Result<()> {
        let now = self.now();
        let socket = Socket::accepted(stream)?;
        strangers::probe_when_silent(socket.fd());
        let slot = self.free.last().copied().unwrap_or(self.connections.len() as u32);
        let token = Token::connection(slot, number);
        let slow = match fault {
            Some(ConnectionFault::SlowAccept(pause)) => Some(now + pause),
            _ => None,
        };
        self.poll.watch(socket.fd(), token, slow.is_none(), false)?;
        let listening = &self.listening[index];
        let protocol = (listening.endpoint.protocol)(number);
        let mut connection = Connection::new(token, number, listening.node(), socket, protocol);
        connection.deaf_until = slow;
        connection.watched = (slow.is_none(), false);
        self.deaf += u32::from(slow.is_some());
        if self.free.pop().is_some() {
            self.connections[slot as usize] = Some(connection);
        } else {
            self.connections.push(Some(connection));
        }
        self.expect_greeting(token, now);
        self.last_request = now;
        Ok(())
    }

    /// Reads connections again whose accept was slow.
    pub(super) fn end_deafness(&mut self, now: Nanos) {
        if self.deaf == 0 {
            return;
        }
        let over = |c: &&mut Connection| c.deaf_until.is_some_and(|until| until <= now);
        let mut hearing = Vec::new();
        for connection in self.connections.iter_mut().flatten().filter(over) {
            connection.deaf_until = None;
            hearing.push(connection.token);
        }
        self.deaf -= hearing.len() as u32;
        hearing.into_iter().for_each(|token| self.settle(token));
    }

    /// Stops listening for a while.
    fn leave_alone(&mut self, index: usize, pause: Nanos) {
        let now = self.now();
        let listening = &mut self.listening[index];
        listening.closed_until = Some(now + pause);
        // Without success the kernel goes on telling of it, and nothing else is lost.
        let _ = self.poll.change(listening.fd(), Token::listener(index), false, false);
    }

    /// Listens again where the time has come.
    pub(super) fn open_listeners(&mut self, now: Nanos) {
        for (index, listening) in self.listening.iter_mut().enumerate() {
            if listening.closed_until.is_some_and(|until| until <= now) {
                listening.closed_until = None;
                let _ = self.poll.change(listening.fd(), Token::listener(index), true, false);
            }
        }
    }
}

/// Closes a connection so that the client learns of it by a reset.
fn reset(stream: TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the option takes one linger structure of this size. Without success the client sees an ordinary end.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of_val(&linger) as libc::socklen_t,
        );
    }
}

/// Whether accepting again at once would fail again.
fn lacks_something(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}
