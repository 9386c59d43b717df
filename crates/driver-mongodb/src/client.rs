//! Connecting, and blocking requests for set-up.

use crate::bson::{Document, Garbage, Item, int};
use crate::config::{Config, Host};
use crate::message::{self, MESSAGE_LIMIT};
use crate::{login, outcome};
use driver::ConnectError;
use socket::{Buffer, Deadline, Readiness, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use units::Nanos;

/// A connection that is logged in.
pub(crate) struct Client {
    pub(crate) socket: Socket,
    buffer: Buffer,
    address: String,
    limit: Nanos,
    next: u32,
}

/// Why a command was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) words: String,
}

/// The answer to a command: a document with `ok: 1`.
pub(crate) struct Answer(Vec<u8>);

impl Answer {
    pub(crate) fn document(&self) -> Document<'_> {
        // It was read as one before.
        Document::whole(&self.0).unwrap_or(Document::EMPTY)
    }

    pub(crate) fn find(&self, name: &str) -> Option<Item<'_>> {
        self.document().find(name).ok().flatten()
    }

    /// Refusals of single writes.
    pub(crate) fn write_errors(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if let Some(mut list) = self.find("writeErrors").and_then(Item::inside) {
            while let Ok(Some((_, item))) = list.next() {
                refusals.extend(item.inside().map(refusal));
            }
        }
        refusals.extend(self.find("writeConcernError").and_then(Item::inside).map(refusal));
        refusals
    }
}

fn refusal(document: Document<'_>) -> Refusal {
    let find = |name| document.find(name).ok().flatten();
    Refusal {
        code: find("code").and_then(Item::whole).unwrap_or(0),
        words: find("errmsg").and_then(Item::shown).unwrap_or_else(|| "no words".to_owned()),
    }
}

/// Connects, sees whether somebody answers who speaks this protocol, and logs in.
pub(crate) fn connect(config: &Config) -> Result<Client, ConnectError> {
    let deadline = Deadline::after(config.limit);
    let mut client = Client {
        socket: reach(config, &deadline)?,
        buffer: Buffer::new(MESSAGE_LIMIT),
        address: config.address.clone(),
        limit: config.limit,
        next: 1,
    };
    client.ask_until("admin", &|out| int(out, "hello", 1), &deadline)?;
    if !config.user.is_empty() {
        login::log_in(&mut client, config, &deadline)?;
    }
    match client.buffer.unparsed() {
        [] => Ok(client),
        _ => Err(client.failed(&garbage(Garbage::Surplus))),
    }
}

fn reach(config: &Config, deadline: &Deadline) -> Result<Socket, ConnectError> {
    match &config.host {
        Host::Unix(path) => Socket::unix(path).map_err(|error| {
            let problem = format!("no connection at {}: {error}; is the server running?", path.display());
            unreached(config, &error, problem)
        }),
        Host::Tcp(host) => {
            let addresses: Vec<SocketAddr> = (host.as_str(), config.port)
                .to_socket_addrs()
                .map_err(|error| {
                    ConnectError::permanent(format!("{}: host `{host}` not found: {error}", config.address))
                })?
                .collect();
            let mut last = io::Error::from(ErrorKind::NotFound);
            for address in addresses {
                match Socket::tcp(address, deadline) {
                    Ok(socket) => return Ok(socket),
                    Err(error) => last = error,
                }
            }
            let place = format!("{host}:{}", config.port);
            let problem = match last.kind() {
                ErrorKind::ConnectionRefused => {
                    format!("connection refused at {place}; is the server running?")
                }
                ErrorKind::TimedOut => format!("no answer from {place} within the time limit"),
                _ => format!("{place}: {last}"),
            };
            Err(unreached(config, &last, problem))
        }
    }
}

fn unreached(config: &Config, error: &io::Error, problem: String) -> ConnectError {
    // A path that can't be used or entered stays so; everything else may change.
    let transient = !matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput);
    ConnectError { message: format!("{}: {problem}", config.address), transient }
}

impl Client {
    /// One command on a database and its answer.
    ///
    /// # Errors
    /// The server's words, or that it was lost.
    pub(crate) fn ask(
        &mut self,
        database: &str,
        inside: &dyn Fn(&mut Vec<u8>),
    ) -> Result<Answer, ConnectError> {
        self.ask_until(database, inside, &Deadline::after(self.limit))
    }

    /// The same; a refusal is an answer, too.
    ///
    /// # Errors
    /// That the server was lost.
    pub(crate) fn try_ask(
        &mut self,
        database: &str,
        inside: &dyn Fn(&mut Vec<u8>),
    ) -> Result<Result<Answer, Refusal>, ConnectError> {
        self.exchange(database, inside, &Deadline::after(self.limit))
    }

    pub(crate) fn ask_until(
        &mut self,
        database: &str,
        inside: &dyn Fn(&mut Vec<u8>),
        deadline: &Deadline,
    ) -> Result<Answer, ConnectError> {
        let answer = self.exchange(database, inside, deadline)?;
        answer.map_err(|refusal| self.refused(&refusal))
    }

    /// What the server said, as an error about it.
    pub(crate) fn refused(&self, refusal: &Refusal) -> ConnectError {
        let message = format!("{}: {}", self.address, one_line(&refusal.words));
        ConnectError { message, transient: outcome::may_pass(refusal.code) }
    }

    /// What can't be done here at all.
    pub(crate) fn unfit(&self, problem: &str) -> ConnectError {
        ConnectError::permanent(format!("{}: {problem}", self.address))
    }

    fn exchange(
        &mut self,
        database: &str,
        inside: &dyn Fn(&mut Vec<u8>),
        deadline: &Deadline,
    ) -> Result<Result<Answer, Refusal>, ConnectError> {
        let mut out = Vec::new();
        message::command(&mut out, self.next, database, inside);
        let expected = self.next;
        self.next = self.next.wrapping_add(1);
        let answer = self.send(&out, deadline).and_then(|()| self.receive(expected, deadline));
        let answer = answer.map_err(|error| self.failed(&error))?;
        match answer.find("ok").and_then(Item::number) {
            Some(1.0) => Ok(Ok(answer)),
            Some(_) => Ok(Err(refusal(answer.document()))),
            None => Err(self.failed(&garbage(Garbage::Answer))),
        }
    }

    fn failed(&self, error: &io::Error) -> ConnectError {
        let (problem, transient) = match error.kind() {
            ErrorKind::TimedOut => (
                "no answer within the time limit; is this a server that speaks MongoDB's protocol?"
                    .to_owned(),
                true,
            ),
            ErrorKind::UnexpectedEof => ("the server closed the connection".to_owned(), true),
            ErrorKind::InvalidData => {
                (format!("{error}; is this a server that speaks MongoDB's protocol?"), false)
            }
            _ => (error.to_string(), true),
        };
        ConnectError { message: format!("{}: {problem}", self.address), transient }
    }

    fn send(&mut self, bytes: &[u8], deadline: &Deadline) -> io::Result<()> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.socket.send(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.socket.wait(Readiness::Writable, deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, expected: u32, deadline: &Deadline) -> io::Result<Answer> {
        loop {
            let start = self.buffer.start;
            if let Some((message, next)) = message::message(self.buffer.received(), start).map_err(garbage)? {
                if message.answers != expected {
                    return Err(garbage(Garbage::Order));
                }
                let answer = Answer(message.document.copied());
                self.buffer.start = next;
                self.buffer.forget_parsed();
                return Ok(answer);
            }
            let Some(room) = self.buffer.room(true) else { return Err(garbage(Garbage::Length)) };
            match self.socket.receive(room) {
                Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((received, _)) => self.buffer.end += received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.socket.wait(Readiness::Readable, deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn garbage(garbage: Garbage) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, garbage.to_string())
}

fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
