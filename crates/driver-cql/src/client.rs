//! Connecting, and blocking requests for set-up.

use crate::codec::{self, BODY_LIMIT, Body, Consistency, Garbage, HEADER, kind, opcode};
use crate::config::Config;
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
    /// What the server says it supports, as it stands in its answer.
    pub(crate) is_scylla: bool,
}

/// A whole answer.
pub(crate) struct Answer {
    opcode: u8,
    /// The frame, of which the body begins behind the header.
    frame: Vec<u8>,
}

/// A row's values as they came.
pub(crate) type Row = Vec<Option<Vec<u8>>>;

/// A part of a result.
pub(crate) struct Page {
    pub(crate) rows: Vec<Row>,
    /// Where the next begins; `None` behind the last.
    pub(crate) state: Option<Vec<u8>>,
}

/// An error of the server's.
pub(crate) struct Refusal {
    pub(crate) code: i32,
    pub(crate) words: String,
}

/// What a request of many ended in.
pub(crate) type Ended = Result<Page, Refusal>;

/// Connects to one of the hosts, the one at `turn` first, and logs in.
pub(crate) fn connect(config: &Config, turn: usize) -> Result<Client, ConnectError> {
    let deadline = Deadline::after(config.limit);
    let count = config.hosts.len();
    let mut last = None;
    for offset in 0..count {
        let host = &config.hosts[(turn % count + offset) % count];
        match reach(config, host, &deadline).and_then(|socket| log_in(config, socket, &deadline)) {
            Ok(client) => return Ok(client),
            // Another host would say the same.
            Err(error) if !error.transient => return Err(error),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| ConnectError::permanent(format!("{}: no host", config.address))))
}

fn reach(config: &Config, host: &str, deadline: &Deadline) -> Result<Socket, ConnectError> {
    let addresses: Vec<SocketAddr> = (host, config.port)
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
        ErrorKind::ConnectionRefused => format!("connection refused at {place}; is the server running?"),
        ErrorKind::TimedOut => format!("no answer from {place} within the time limit"),
        _ => format!("{place}: {last}"),
    };
    let transient = !matches!(last.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput);
    Err(ConnectError { message: format!("{}: {problem}", config.address), transient })
}

fn log_in(config: &Config, socket: Socket, deadline: &Deadline) -> Result<Client, ConnectError> {
    let mut client = Client {
        socket,
        buffer: Buffer::new(HEADER + BODY_LIMIT),
        address: config.address.clone(),
        limit: config.limit,
        is_scylla: false,
    };
    let supported = client.ask(opcode::OPTIONS, deadline, |_| ())?;
    client.is_scylla = supported.frame.windows(7).any(|bytes| bytes == b"SCYLLA_");
    let answer = client.ask(opcode::STARTUP, deadline, |out| {
        out.extend_from_slice(&1_u16.to_be_bytes());
        codec::short(out, b"CQL_VERSION");
        codec::short(out, b"3.0.0");
    })?;
    match answer.opcode {
        opcode::READY => Ok(client),
        opcode::AUTHENTICATE => authenticate(client, config, deadline),
        other => Err(client.misunderstood(Garbage::Opcode(other))),
    }
}

/// By name and password, as SASL's PLAIN has them.
fn authenticate(mut client: Client, config: &Config, deadline: &Deadline) -> Result<Client, ConnectError> {
    let Some((user, password)) = &config.user else {
        return Err(ConnectError::permanent(format!(
            "{}: the server wants a user and a password; write cql://USER:PASSWORD@HOST/KEYSPACE",
            config.address
        )));
    };
    let token = format!("\0{user}\0{password}");
    let answer = client.ask(opcode::AUTH_RESPONSE, deadline, |out| codec::value(out, token.as_bytes()))?;
    match answer.opcode {
        opcode::AUTH_SUCCESS => Ok(client),
        opcode::AUTH_CHALLENGE => Err(ConnectError::permanent(format!(
            "{}: the server asks for more than a user and a password, which this driver does not have",
            config.address
        ))),
        other => Err(client.misunderstood(Garbage::Opcode(other))),
    }
}

impl Client {
    /// One request and its whole answer, which must not be an error.
    fn ask(
        &mut self,
        opcode: u8,
        deadline: &Deadline,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Answer, ConnectError> {
        let mut out = Vec::new();
        codec::frame(&mut out, 0, opcode, body);
        let answer = self.send(&out, deadline).and_then(|()| self.receive(deadline));
        let (_, answer) = answer.map_err(|error| self.failed(&error))?;
        match refusal(&answer) {
            Ok(None) => Ok(answer),
            Ok(Some(refusal)) => Err(self.refused(&refusal)),
            Err(garbage) => Err(self.misunderstood(garbage)),
        }
    }

    /// All rows of a query, page by page.
    pub(crate) fn rows(
        &mut self,
        cql: &str,
        values: &[&[u8]],
        level: Consistency,
        each: &mut dyn FnMut(&Row),
    ) -> Result<(), ConnectError> {
        const PAGE: i32 = 5_000;
        let mut state: Option<Vec<u8>> = None;
        loop {
            let deadline = Deadline::after(self.limit);
            let answer = self.ask(opcode::QUERY, &deadline, |out| {
                codec::sized(out, |out| out.extend_from_slice(cql.as_bytes()));
                codec::paged(out, level, values, PAGE, state.as_deref());
            })?;
            let page = page(&answer).map_err(|garbage| self.misunderstood(garbage))?;
            page.rows.iter().for_each(&mut *each);
            match page.state {
                Some(next) => state = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// A statement without rows.
    pub(crate) fn done(
        &mut self,
        cql: &str,
        values: &[&[u8]],
        level: Consistency,
    ) -> Result<(), ConnectError> {
        self.rows(cql, values, level, &mut |_| ())
    }

    /// Prepares statements, all at once; gives their identifiers in the same order.
    pub(crate) fn prepare(&mut self, statements: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, ConnectError> {
        let deadline = Deadline::after(self.limit);
        let mut ids = Vec::new();
        for group in statements.chunks(IN_FLIGHT) {
            let answers = self.exchange(opcode::PREPARE, &deadline, group.len(), &mut |at, out| {
                codec::sized(out, |out| out.extend_from_slice(&group[at]));
            })?;
            for answer in answers {
                if let Some(refusal) = refusal(&answer).map_err(|garbage| self.misunderstood(garbage))? {
                    return Err(self.refused(&refusal));
                }
                ids.push(prepared(&answer).map_err(|garbage| self.misunderstood(garbage))?);
            }
        }
        Ok(ids)
    }

    /// Sends requests of one kind together, at most [`IN_FLIGHT`]; gives what each ended in, in their order.
    pub(crate) fn many(
        &mut self,
        opcode: u8,
        count: usize,
        body: &mut dyn FnMut(usize, &mut Vec<u8>),
    ) -> Result<Vec<Ended>, ConnectError> {
        let deadline = Deadline::after(self.limit);
        let answers = self.exchange(opcode, &deadline, count, body)?;
        let ended = |answer: &Answer| match refusal(answer)? {
            Some(refusal) => Ok(Err(refusal)),
            None => page(answer).map(Ok),
        };
        answers
            .iter()
            .map(ended)
            .collect::<Result<Vec<Ended>, Garbage>>()
            .map_err(|garbage| self.misunderstood(garbage))
    }

    /// The same, with the answers as they are: the server gives them in any order.
    fn exchange(
        &mut self,
        opcode: u8,
        deadline: &Deadline,
        count: usize,
        body: &mut dyn FnMut(usize, &mut Vec<u8>),
    ) -> Result<Vec<Answer>, ConnectError> {
        let mut out = Vec::new();
        for at in 0..count {
            codec::frame(&mut out, at as i16, opcode, |out| body(at, out));
        }
        self.send(&out, deadline).map_err(|error| self.failed(&error))?;
        let mut answers: Vec<Option<Answer>> = (0..count).map(|_| None).collect();
        for _ in 0..count {
            let (stream, answer) = self.receive(deadline).map_err(|error| self.failed(&error))?;
            let place = usize::try_from(stream).ok().and_then(|at| answers.get_mut(at));
            let place = place.filter(|place| place.is_none());
            *place.ok_or_else(|| self.misunderstood(Garbage::Stream(stream)))? = Some(answer);
        }
        Ok(answers.into_iter().flatten().collect())
    }

    pub(crate) fn refused(&self, refusal: &Refusal) -> ConnectError {
        let Refusal { code, words } = refusal;
        let message = format!("{}: {}: {}", self.address, codec::error_name(*code), one_line(words));
        ConnectError { message, transient: codec::outcome(*code) == Outcome::Unavailable }
    }

    fn misunderstood(&self, what: Garbage) -> ConnectError {
        self.failed(&garbage(what))
    }

    fn failed(&self, error: &io::Error) -> ConnectError {
        let (problem, transient) = match error.kind() {
            ErrorKind::TimedOut => ("no answer within the time limit".to_owned(), true),
            ErrorKind::UnexpectedEof => ("the server closed the connection".to_owned(), true),
            ErrorKind::InvalidData => {
                (format!("{error}; is this a server that speaks CQL's native protocol, without TLS?"), false)
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

    /// The next answer, and the number of its request.
    fn receive(&mut self, deadline: &Deadline) -> io::Result<(i16, Answer)> {
        loop {
            let start = self.buffer.start;
            if let Some(head) = codec::head(self.buffer.received(), start).map_err(garbage)? {
                let frame = self.buffer.received()[start..head.end].to_vec();
                self.buffer.start = head.end;
                self.buffer.forget_parsed();
                return Ok((head.stream, Answer { opcode: head.opcode, frame }));
            }
            let Some(room) = self.buffer.room(true) else { return Err(garbage(Garbage::Length(i32::MAX))) };
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

/// Requests that set-up has in flight together. Their answers must find room while they are sent: they are short, or the
/// requests are.
pub(crate) const IN_FLIGHT: usize = 128;

fn garbage(garbage: Garbage) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, garbage.to_string())
}

fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The body of an answer.
fn body(answer: &Answer) -> Result<Body<'_>, Garbage> {
    let head = codec::head(&answer.frame, 0)?.ok_or(Garbage::Short)?;
    Body::of(&answer.frame, head)
}

fn refusal(answer: &Answer) -> Result<Option<Refusal>, Garbage> {
    if answer.opcode != opcode::ERROR {
        return Ok(None);
    }
    let (code, words) = codec::error(&mut body(answer)?)?;
    Ok(Some(Refusal { code, words: String::from_utf8_lossy(words).into_owned() }))
}

fn prepared(answer: &Answer) -> Result<Vec<u8>, Garbage> {
    let mut body = body(answer)?;
    match (answer.opcode, body.int()?) {
        (opcode::RESULT, kind::PREPARED) => {
            let id = body.string()?;
            Ok(body.at(id).to_vec())
        }
        (opcode::RESULT, other) => Err(Garbage::Kind(other)),
        (other, _) => Err(Garbage::Opcode(other)),
    }
}

/// The rows of a result; none where it has no rows.
fn page(answer: &Answer) -> Result<Page, Garbage> {
    let mut body = body(answer)?;
    if answer.opcode != opcode::RESULT {
        return Err(Garbage::Opcode(answer.opcode));
    }
    match body.int()? {
        kind::ROWS => {}
        kind::VOID | kind::SCHEMA_CHANGE | kind::SET_KEYSPACE => {
            return Ok(Page { rows: Vec::new(), state: None });
        }
        other => return Err(Garbage::Kind(other)),
    }
    let (columns, state) = body.metadata()?;
    let state = state.map(|place| body.at(place).to_vec());
    if columns <= 0 {
        return Err(Garbage::Columns(columns));
    }
    let mut rows = Vec::new();
    for _ in 0..body.int()? {
        let mut row = Vec::new();
        for _ in 0..columns {
            row.push(body.bytes()?.map(|place| body.at(place).to_vec()));
        }
        rows.push(row);
    }
    Ok(Page { rows, state })
}
