//! Connecting, and blocking requests for set-up.

use crate::codec::{self, Garbage, Item, MESSAGE_LIMIT};
use crate::config::{Config, Host};
use driver::ConnectError;
use socket::{Buffer, Deadline, Readiness, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use units::{Nanos, Outcome};

/// A connection that is logged in.
pub(crate) struct Client {
    pub(crate) socket: Socket,
    buffer: Buffer,
    address: String,
    limit: Nanos,
}

/// A whole reply.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    Text(String),
    Error(String),
    Integer(i64),
    Nil,
    /// The items of an array, arrays in it one after the other.
    Items(Vec<Answer>),
}

/// Connects, authenticates, and selects the database.
pub(crate) fn connect(config: &Config) -> Result<Client, ConnectError> {
    let deadline = Deadline::after(config.limit);
    let mut client = Client {
        socket: reach(config, &deadline)?,
        buffer: Buffer::new(MESSAGE_LIMIT),
        address: config.address.clone(),
        limit: config.limit,
    };
    match (&config.password, config.user.as_str()) {
        (None, _) => {}
        (Some(password), "") => client.succeed(&["AUTH", password], "AUTH", &deadline)?,
        (Some(password), user) => client.succeed(&["AUTH", user, password], "AUTH", &deadline)?,
    }
    if config.database != 0 {
        let number = config.database.to_string();
        client.succeed(&["SELECT", &number], &format!("SELECT {number}"), &deadline)?;
    }
    // Tells at once whether a password is missing, and a server that is still loading.
    client.succeed(&["PING"], "PING", &deadline)?;
    match client.buffer.unparsed() {
        [] => Ok(client),
        _ => Err(client.failed(&garbage(Garbage::Surplus))),
    }
}

fn reach(config: &Config, deadline: &Deadline) -> Result<Socket, ConnectError> {
    match &config.host {
        Host::Unix(path) => Socket::unix(path).map_err(|error| {
            unreached(
                config,
                &error,
                format!("no connection at {}: {error}; is the server running?", path.display()),
            )
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
    /// A request that must not be answered by an error; `shown` stands for it in messages, without secrets.
    fn succeed(&mut self, parts: &[&str], shown: &str, deadline: &Deadline) -> Result<(), ConnectError> {
        let Answer::Error(words) = self.ask_until(parts, deadline)? else { return Ok(()) };
        let hint = match words.split(' ').next() {
            Some("NOAUTH") => " Write redis://:PASSWORD@…, or set REDISCLI_AUTH",
            _ => "",
        };
        let transient = may_pass(&words);
        Err(ConnectError { message: format!("{}: {shown}: {words}{hint}", self.address), transient })
    }

    /// One request and its whole answer.
    pub(crate) fn ask(&mut self, parts: &[&str]) -> Result<Answer, ConnectError> {
        self.ask_until(parts, &Deadline::after(self.limit))
    }

    /// The same; an answer that is an error is one.
    pub(crate) fn asked(&mut self, parts: &[&str]) -> Result<Answer, ConnectError> {
        let answer = self.ask(parts)?;
        self.without_error(parts.first().copied().unwrap_or_default(), answer)
    }

    fn without_error(&self, shown: &str, answer: Answer) -> Result<Answer, ConnectError> {
        let Answer::Error(words) = answer else { return Ok(answer) };
        let transient = may_pass(&words);
        Err(ConnectError { message: format!("{}: {shown}: {words}", self.address), transient })
    }

    /// Sends several requests at once; `each` gets the place and the answer of each. The answers must be short, or the
    /// requests: both sides may be writing.
    pub(crate) fn batch(
        &mut self,
        requests: &[u8],
        answers: usize,
        each: &mut dyn FnMut(usize, Answer),
    ) -> Result<(), ConnectError> {
        let deadline = Deadline::after(self.limit);
        self.send(requests, &deadline).map_err(|error| self.failed(&error))?;
        let mut failure = None;
        for at in 0..answers {
            let answer = self.receive(&deadline).map_err(|error| self.failed(&error))?;
            match self.without_error("a batch", answer) {
                Ok(answer) => each(at, answer),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn ask_until(&mut self, parts: &[&str], deadline: &Deadline) -> Result<Answer, ConnectError> {
        let mut out = Vec::new();
        codec::command(&mut out, parts.len());
        parts.iter().for_each(|part| codec::part(&mut out, part.as_bytes()));
        self.send(&out, deadline).and_then(|()| self.receive(deadline)).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> ConnectError {
        let (problem, transient) = match error.kind() {
            ErrorKind::TimedOut => ("no answer within the time limit".to_owned(), true),
            ErrorKind::UnexpectedEof => ("the server closed the connection".to_owned(), true),
            ErrorKind::InvalidData => (format!("{error}; is this a server that speaks RESP?"), false),
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

    fn receive(&mut self, deadline: &Deadline) -> io::Result<Answer> {
        loop {
            let start = self.buffer.start;
            if let Some((answer, next)) = answer(self.buffer.received(), start)? {
                self.buffer.start = next;
                self.buffer.forget_parsed();
                return Ok(answer);
            }
            let Some(room) = self.buffer.room(true) else { return Err(garbage(Garbage::TooLong)) };
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

/// Whether a server that answers so when one connects may let us in later.
fn may_pass(words: &str) -> bool {
    codec::outcome(words.as_bytes()) != Outcome::Server || words.starts_with("ERR max number of clients")
}

/// The whole reply at `at` and where the next begins; nested arrays are flattened.
fn answer(bytes: &[u8], at: usize) -> io::Result<Option<(Answer, usize)>> {
    let (mut at, mut pending) = (at, 1_usize);
    let mut items: Option<Vec<Answer>> = None;
    loop {
        let Some((item, next)) = codec::item(bytes, at).map_err(garbage)? else { return Ok(None) };
        at = next;
        pending -= 1;
        let text = |begin: usize, end: usize| String::from_utf8_lossy(&bytes[begin..end]).into_owned();
        let one = match item {
            Item::Array(count) => {
                pending += count;
                items.get_or_insert_default();
                None
            }
            Item::Simple { begin, end } | Item::Bulk { begin, end } => Some(Answer::Text(text(begin, end))),
            Item::Error { begin, end } => Some(Answer::Error(text(begin, end))),
            Item::Integer(number) => Some(Answer::Integer(number)),
            Item::Nil => Some(Answer::Nil),
        };
        match (&mut items, one) {
            (Some(items), Some(one)) => items.push(one),
            (None, Some(one)) => return Ok(Some((one, at))),
            _ => {}
        }
        if pending == 0 {
            return Ok(Some((Answer::Items(items.unwrap_or_default()), at)));
        }
    }
}
