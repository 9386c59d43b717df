//! A connection that blocks, with a limit: for logging in, preparing and administration.

use crate::cancel::ConnectionId;
use crate::codec::{self, Done, Garbage, HEADER, Inside, KEPT_LIMIT, LONGEST};
use crate::server_error::ServerError;
use socket::{Buffer, Deadline, Link, Readiness};
use std::io::{self, ErrorKind, Write};

/// Why a blocking exchange failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection broke or timed out.
    Io(io::Error),
    /// The server refused; the words and whether another attempt may succeed.
    Refused { words: String, transient: bool },
    /// The server sent nonsense.
    Garbage(Garbage),
    /// This driver can't or won't go on.
    Unfit(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<Garbage> for Failure {
    fn from(garbage: Garbage) -> Failure {
        Failure::Garbage(garbage)
    }
}

impl Failure {
    pub(crate) fn refused(body: &[u8]) -> Failure {
        let error = ServerError::parse(body);
        Failure::Refused { words: error.to_string(), transient: error.is_transient() }
    }

    /// Whether another attempt may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            // TLS's own errors come as invalid data: another attempt would fail in the same way.
            Failure::Io(error) => error.kind() != ErrorKind::InvalidData,
            Failure::Refused { transient, .. } => *transient,
            Failure::Garbage(_) | Failure::Unfit(_) => false,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Io(error) if error.kind() == ErrorKind::TimedOut => {
                f.write_str("no answer within the time limit")
            }
            Failure::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
                f.write_str("the server closed the connection")
            }
            Failure::Io(error) => write!(f, "{error}"),
            Failure::Refused { words, .. } => f.write_str(words),
            Failure::Garbage(garbage) => write!(f, "{garbage}; is this a MariaDB or MySQL server?"),
            Failure::Unfit(problem) => f.write_str(problem),
        }
    }
}

/// What the server's greeting said of it, and what was agreed on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Server {
    /// The connection's number at the server.
    pub(crate) id: ConnectionId,
    /// Whether it is MariaDB.
    pub(crate) is_mariadb: bool,
    /// What both sides can and this one wants.
    pub(crate) agreed: u64,
}

/// A connection and the limit by which the present piece of work must be done.
pub(crate) struct Client {
    pub(crate) link: Link,
    pub(crate) buffer: Buffer,
    pub(crate) out: Vec<u8>,
    pub(crate) deadline: Deadline,
    pub(crate) server: Server,
    /// The number of the packet that was received last.
    pub(crate) number: u8,
}

/// A row as text; `None` is NULL.
pub(crate) type Row = Vec<Option<String>>;

impl Client {
    pub(crate) fn new(link: Link, deadline: Deadline) -> Client {
        Client {
            link,
            buffer: Buffer::new(KEPT_LIMIT),
            out: Vec::with_capacity(4096),
            deadline,
            server: Server::default(),
            number: 0,
        }
    }

    /// Sends all of `out`, and empties it.
    pub(crate) fn send(&mut self) -> Result<(), Failure> {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.link.write(&self.out[sent..]) {
                Ok(count) => sent += count,
                Err(error) => self.wait_if_blocked(error, Readiness::Writable)?,
            }
        }
        while let Err(error) = self.link.flush() {
            self.wait_if_blocked(error, Readiness::Writable)?;
        }
        self.out.clear();
        Ok(())
    }

    /// Blocks until one more piece has been received.
    fn receive(&mut self) -> Result<(), Failure> {
        loop {
            let room = self.buffer.room(false).ok_or(Failure::Garbage(Garbage::TooManyRows))?;
            match self.link.read(room) {
                Ok(0) => return Err(Failure::Io(ErrorKind::UnexpectedEof.into())),
                Ok(count) => {
                    self.buffer.end += count;
                    return Ok(());
                }
                Err(error) => self.wait_if_blocked(error, Readiness::Readable)?,
            }
        }
    }

    pub(crate) fn wait_if_blocked(&self, error: io::Error, readiness: Readiness) -> Result<(), Failure> {
        if error.kind() != ErrorKind::WouldBlock {
            return Err(error.into());
        }
        Ok(self.link.socket().wait(readiness, &self.deadline)?)
    }

    /// The next packet's body.
    pub(crate) fn packet(&mut self) -> Result<Vec<u8>, Failure> {
        loop {
            if let Some((body, number)) = codec::packet(self.buffer.unparsed()) {
                if body.len() == LONGEST {
                    return Err(Garbage::LongRow.into());
                }
                if body.is_empty() {
                    return Err(Garbage::Malformed("packet without a body").into());
                }
                let body = body.to_vec();
                self.buffer.start += HEADER + body.len();
                self.number = number;
                return Ok(body);
            }
            self.receive()?;
        }
    }

    /// The next packet's body, unless it is an error.
    pub(crate) fn accepted(&mut self) -> Result<Vec<u8>, Failure> {
        let body = self.packet()?;
        if body[0] == codec::ERROR { Err(Failure::refused(&body)) } else { Ok(body) }
    }

    /// Runs SQL that gives no rows.
    pub(crate) fn execute(&mut self, sql: &str) -> Result<Done, Failure> {
        codec::command(&mut self.out, codec::QUERY, sql);
        self.send()?;
        self.done()
    }

    /// An OK.
    pub(crate) fn done(&mut self) -> Result<Done, Failure> {
        let body = self.accepted()?;
        match body[0] {
            codec::OK => Ok(codec::done(&body)?),
            first => Err(Garbage::Unexpected(first).into()),
        }
    }

    /// All rows of all results of one command, as text. When one of its statements is refused, those after it do not run.
    pub(crate) fn rows(&mut self) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        loop {
            let body = self.accepted()?;
            let done = match body[0] {
                codec::OK => codec::done(&body)?,
                first @ (codec::LOCAL_FILE | codec::END) => return Err(Garbage::Unexpected(first).into()),
                _ => {
                    let columns = Inside(&body).number().ok_or(Garbage::Malformed("number of columns"))?;
                    for _ in 0..columns {
                        self.accepted()?;
                    }
                    self.rows_of_one(columns, &mut rows)?
                }
            };
            if done.status & codec::MORE_RESULTS == 0 {
                return Ok(rows);
            }
        }
    }

    fn rows_of_one(&mut self, columns: u64, rows: &mut Vec<Row>) -> Result<Done, Failure> {
        loop {
            let body = self.accepted()?;
            if body[0] == codec::END {
                return Ok(codec::done(&body)?);
            }
            let mut inside = Inside(&body);
            let row = (0..columns).map(|_| field(&mut inside)).collect::<Option<Row>>();
            rows.push(row.ok_or(Garbage::Malformed("row"))?);
        }
    }
}

/// One field of a row in text; `Some(None)` is NULL.
#[expect(clippy::option_option, reason = "NULL and the end are two things")]
fn field(inside: &mut Inside<'_>) -> Option<Option<String>> {
    if let [codec::LOCAL_FILE, rest @ ..] = inside.0 {
        inside.0 = rest;
        return Some(None);
    }
    inside.counted().map(|bytes| Some(String::from_utf8_lossy(bytes).into_owned()))
}
