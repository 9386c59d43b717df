//! A connection that blocks, with a limit: for logging in, preparing and administration.

use crate::cancel::CancelKey;
use crate::codec::{self, Frame, Garbage, MESSAGE_LIMIT};
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
    pub(crate) fn refused(error: ServerError<'_>) -> Failure {
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
            Failure::Garbage(garbage) => write!(f, "{garbage}; is this a PostgreSQL server?"),
            Failure::Unfit(problem) => f.write_str(problem),
        }
    }
}

/// A connection and the limit by which the present piece of work must be done.
pub(crate) struct Client {
    pub(crate) link: Link,
    pub(crate) buffer: Buffer,
    pub(crate) out: Vec<u8>,
    pub(crate) deadline: Deadline,
    /// What the server takes for a right to cancel; none before the login, or where it gave none.
    pub(crate) key: Option<CancelKey>,
}

impl Client {
    pub(crate) fn new(link: Link, deadline: Deadline) -> Client {
        Client {
            link,
            buffer: Buffer::new(MESSAGE_LIMIT),
            out: Vec::with_capacity(4096),
            deadline,
            key: None,
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
    pub(crate) fn receive(&mut self) -> Result<(), Failure> {
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

    /// The next message that answers something: `handle` gets its tag and body.
    pub(crate) fn next<T>(
        &mut self,
        handle: impl FnOnce(u8, &[u8]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        loop {
            match codec::frame(self.buffer.unparsed())? {
                None => self.receive()?,
                // Notices, parameters and notifications come at any time and answer nothing.
                Some(Frame { tag: b'N' | b'S' | b'A', size, .. }) => self.buffer.start += size,
                Some(Frame { tag, body, size }) => {
                    let result = handle(tag, body);
                    self.buffer.start += size;
                    return result;
                }
            }
        }
    }

    /// Hands every message up to ReadyForQuery to `handle`; then fails if the server has refused something.
    pub(crate) fn until_ready(
        &mut self,
        mut handle: impl FnMut(u8, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut refusal = None;
        loop {
            let ready = self.next(|tag, body| match tag {
                b'Z' => Ok(true),
                b'E' => {
                    let error = ServerError::parse(body);
                    let fatal = error.is_fatal();
                    refusal.get_or_insert(Failure::refused(error));
                    Ok(fatal)
                }
                _ if refusal.is_some() => Ok(false),
                _ => handle(tag, body).map(|()| false),
            })?;
            if ready {
                return refusal.map_or(Ok(()), Err);
            }
        }
    }
}
