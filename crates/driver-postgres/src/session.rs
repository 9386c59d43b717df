//! The session: what happens between `stage` and the last byte of the answer.

use crate::cancel::{Abandoned, CancelKey};
use crate::client::Client;
use crate::codec::{Garbage, SYNC, TERMINATE};
use crate::replies::{self, Asked, Progress, Replies};
use crate::server_error::ServerError;
use crate::statement::{Refusal, Statement};
use driver::{
    Admission, Command, Exchange, KernelStamp, OpError, Phase, Reply, Session, Step, Value, ValueRef,
};
use socket::{Buffer, Link};
use std::io::{self, ErrorKind, Write};
use std::os::fd::RawFd;
use std::task::Poll;
use units::Outcome;

/// The statements of a session, as templates.
pub(crate) struct Statements {
    pub(crate) ping: Statement,
    pub(crate) begin: Statement,
    pub(crate) commit: Statement,
    pub(crate) rollback: Statement,
    pub(crate) workload: Box<[Statement]>,
}

/// One connection to PostgreSQL, driven by readiness.
///
/// All commands of a batch go out together, followed by one Sync, so that each batch is one round trip. In the
/// steady state a request is one `send` and one `recv` and allocates nothing. After a send that the kernel took
/// whole, the session returns without trying to read: the answer can't be there yet.
///
/// A batch outside of a transaction is one transaction to PostgreSQL: when a command in it fails, the changes of
/// those before it are undone, too.
pub struct PostgresSession {
    link: Link,
    buffer: Buffer,
    exchange: Exchange,
    replies: Replies,
    statements: Statements,
    trouble: Trouble,
    key: Option<CancelKey>,
    abandoned: Abandoned,
}

/// What went wrong beside what the server said itself.
#[derive(Debug)]
enum Trouble {
    None,
    Refused(usize, Refusal),
    UnknownStatement(usize),
    KeyValue,
    InFlight,
    Closed,
    Io(io::Error),
    Garbage(Garbage),
}

impl PostgresSession {
    pub(crate) fn new(client: Client, statements: Statements, abandoned: Abandoned) -> PostgresSession {
        PostgresSession {
            link: client.link,
            buffer: client.buffer,
            exchange: Exchange::default(),
            replies: Replies::new(),
            statements,
            trouble: Trouble::None,
            key: client.key,
            abandoned,
        }
    }

    /// Forgets the last batch and its replies.
    #[inline]
    fn forget(&mut self) {
        self.replies.clear();
        self.buffer.forget_parsed();
        self.exchange.forget();
        self.trouble = Trouble::None;
    }

    /// Refuses a command, and with it the batch that it was to be part of.
    #[cold]
    fn refuse(&mut self, trouble: Trouble) -> OpError {
        self.forget();
        self.trouble = trouble;
        OpError::refused(Outcome::Protocol)
    }

    #[cold]
    fn lose(&mut self, outcome: Outcome, trouble: Trouble) -> Poll<Result<(), OpError>> {
        self.trouble = trouble;
        self.exchange.lose(outcome)
    }

    #[cold]
    fn io_failed(&mut self, error: io::Error) -> Poll<Result<(), OpError>> {
        let trouble =
            if error.kind() == ErrorKind::UnexpectedEof { Trouble::Closed } else { Trouble::Io(error) };
        self.lose(Outcome::ConnectionLost, trouble)
    }

    /// Reads until the batch is answered or nothing more is there.
    #[inline]
    fn receive(&mut self) -> Poll<Result<(), OpError>> {
        loop {
            let Some(room) = self.buffer.room(self.replies.keeps()) else {
                return self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::TooManyRows));
            };
            // After a short read there is one more: an end of the stream that came together with the data
            // makes no edge of its own. Answers that come in one piece don't get here a second time.
            let received = match self.link.read(room) {
                Ok(0) => return self.lose(Outcome::ConnectionLost, Trouble::Closed),
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return self.io_failed(error),
            };
            self.buffer.end += received;
            match self.replies.consume(self.buffer.received(), self.buffer.start) {
                Ok((start, progress)) => {
                    self.buffer.start = start;
                    match progress {
                        Progress::Incomplete => {}
                        Progress::Ready => return Poll::Ready(self.complete()),
                        Progress::Ended => return self.ended(),
                    }
                }
                Err(garbage) => return self.lose(Outcome::Protocol, Trouble::Garbage(garbage)),
            }
        }
    }

    #[inline]
    fn complete(&mut self) -> Result<(), OpError> {
        // The stamp belongs to the last segment that was read. It is that of the answer's last byte unless
        // something followed the answer, or TLS had to wait for the end of a record.
        let upper_bound = self.link.tls().is_some() || !self.buffer.unparsed().is_empty();
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound };
        self.exchange.complete(self.link.stamp().map(stamp));
        self.replies.failure().map_or(Ok(()), Err)
    }

    #[cold]
    fn ended(&mut self) -> Poll<Result<(), OpError>> {
        let outcome = self.replies.failure().map_or(Outcome::ConnectionLost, |failure| failure.outcome);
        self.lose(outcome, Trouble::None)
    }
}

impl Session for PostgresSession {
    #[inline]
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.link.fd())
    }

    #[inline]
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        match self.exchange.admission() {
            Admission::Next => {}
            Admission::First => self.forget(),
            Admission::InFlight => {
                self.trouble = Trouble::InFlight;
                return Err(OpError::refused(Outcome::Protocol));
            }
            Admission::Broken => return Err(OpError::lost(Outcome::ConnectionLost)),
        }
        let (statement, arguments, asked): (&Statement, &[Value<'_>], Asked) = match command {
            Command::Statement { index, arguments } => {
                let Some(statement) = self.statements.workload.get(index) else {
                    return Err(self.refuse(Trouble::UnknownStatement(index)));
                };
                let asked = if statement.keeps() { Asked::Kept(index as u32) } else { Asked::Counted };
                (statement, arguments, asked)
            }
            Command::Ping => (&self.statements.ping, &[], Asked::Ping),
            Command::Begin => (&self.statements.begin, &[], Asked::Control),
            Command::Commit => (&self.statements.commit, &[], Asked::Commit),
            Command::Rollback => (&self.statements.rollback, &[], Asked::Control),
            Command::KeyValue(_) => return Err(self.refuse(Trouble::KeyValue)),
        };
        if let Err(refusal) = statement.encode(self.exchange.out(), arguments) {
            let index = if let Command::Statement { index, .. } = command { index } else { 0 };
            return Err(self.refuse(Trouble::Refused(index, refusal)));
        }
        self.replies.expect(asked);
        Ok(())
    }

    #[inline]
    fn waits_to_send(&self) -> bool {
        self.exchange.waits_to_send()
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        let staged = !self.replies.is_empty();
        if staged && self.exchange.phase() == Phase::Staging {
            self.exchange.out().extend_from_slice(&SYNC);
        }
        match self.exchange.advance(staged, &mut self.link) {
            Step::Receive => self.receive(),
            Step::Over(result) => result,
            Step::Failed(error) => self.io_failed(error),
        }
    }

    #[inline]
    fn reply(&self, command: usize) -> Reply {
        self.replies.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let (statement, body) = self.replies.kept(command, row, self.buffer.received())?;
        let column_type = self.statements.workload.get(statement as usize)?.column(column)?;
        match replies::field(body, column)? {
            None => Some(Value::Null),
            Some(bytes) => column_type.decode(bytes),
        }
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.exchange.arrived()
    }

    fn last_error(&self) -> Option<String> {
        if !self.replies.error().is_empty() {
            return Some(ServerError::parse(self.replies.error()).to_string());
        }
        Some(match &self.trouble {
            // The only failure that the server does not put into words.
            Trouble::None => {
                self.replies.failure()?;
                "COMMIT was answered by ROLLBACK: an earlier statement of the transaction had failed"
                    .to_owned()
            }
            Trouble::Refused(index, Refusal::Count { wanted, given }) => {
                format!("statement {index} has {wanted} parameters and was given {given} arguments")
            }
            Trouble::Refused(index, Refusal::Argument { position, unfit }) => {
                format!("statement {index}: argument {position} does not fit its parameter ({unfit})")
            }
            Trouble::Refused(index, Refusal::Length) => {
                format!("statement {index}: the arguments are longer than 1 GiB")
            }
            Trouble::UnknownStatement(index) => {
                format!("no statement {index}: there are {}", self.statements.workload.len())
            }
            Trouble::KeyValue => "PostgreSQL has no key-value operations; use statements".to_owned(),
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        match (self.exchange.phase(), self.key) {
            // A good-bye where it is cheap: without it an idle session's end is an error in the server's log.
            (Phase::Staging | Phase::Done, _) => {
                let _ = self.link.write(&TERMINATE).and_then(|_| self.link.flush());
            }
            // A session in flight is just closed; what it asked for is cancelled by whoever connects next.
            (Phase::Starting | Phase::Sending | Phase::Receiving, Some(key)) => self.abandoned.push(key),
            (Phase::Starting | Phase::Sending | Phase::Receiving | Phase::Broken, _) => {}
        }
    }
}
