//! The session: what happens between `stage` and the last byte of the answer.

use crate::cancel::{Abandoned, ConnectionId};
use crate::client::Client;
use crate::codec::{self, Garbage};
use crate::replies::{Asked, Progress, Replies};
use crate::server_error::ServerError;
use crate::statement::{Refusal, Statement};
use crate::types;
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

/// One connection to MariaDB or MySQL, driven by readiness.
///
/// In the steady state a request is one `send` and one `recv` and allocates nothing. After a send that the kernel took
/// whole, the session returns without trying to read: the answer can't be there yet.
///
/// Commands of a batch are sent together as far as that is safe. The server carries each of them out, also where one before
/// it has failed; a deadlock even ends the transaction, and what comes after it would be a transaction of its own. So a
/// command that changes something, and a COMMIT, is sent when those before it have succeeded, and not at all when one of
/// them has failed. Reads travel together, and so does what comes right after BEGIN.
pub struct MySqlSession {
    link: Link,
    buffer: Buffer,
    exchange: Exchange,
    replies: Replies,
    statements: Statements,
    trouble: Trouble,
    /// Whether a command of the part that is being staged may fail.
    may_fail: bool,
    id: ConnectionId,
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

impl MySqlSession {
    pub(crate) fn new(
        client: Client,
        statements: Statements,
        replies: Replies,
        abandoned: Abandoned,
    ) -> MySqlSession {
        MySqlSession {
            id: client.server.id,
            link: client.link,
            buffer: client.buffer,
            exchange: Exchange::default(),
            replies,
            statements,
            trouble: Trouble::None,
            may_fail: false,
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
        self.may_fail = false;
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

    /// Reads until what was sent is answered or nothing more is there. `None`: the next part is to be sent.
    #[inline]
    fn receive(&mut self) -> Option<Poll<Result<(), OpError>>> {
        loop {
            let Some(room) = self.buffer.room(self.replies.keeps()) else {
                return Some(self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::TooManyRows)));
            };
            // After a short read there is one more: an end of the stream that came together with the data makes no edge
            // of its own. Answers that come in one piece don't get here a second time.
            let received = match self.link.read(room) {
                Ok(0) => return Some(self.closed()),
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(Poll::Pending),
                Err(error) => return Some(self.io_failed(error)),
            };
            self.buffer.end += received;
            match self.replies.consume(self.buffer.received(), self.buffer.start) {
                Ok((start, progress)) => {
                    self.buffer.start = start;
                    match progress {
                        Progress::Incomplete => {}
                        Progress::Answered if self.replies.failure().is_none() && self.exchange.go_on() => {
                            self.replies.go_on();
                            return None;
                        }
                        Progress::Answered => return Some(Poll::Ready(self.complete())),
                        Progress::Ended => return Some(self.ended()),
                    }
                }
                Err(garbage) => return Some(self.lose(Outcome::Protocol, Trouble::Garbage(garbage))),
            }
        }
    }

    #[inline]
    fn complete(&mut self) -> Result<(), OpError> {
        // The stamp belongs to the last segment that was read. It is that of the answer's last byte unless something
        // followed the answer, or TLS had to wait for the end of a record.
        let upper_bound = self.link.tls().is_some() || !self.buffer.unparsed().is_empty();
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound };
        self.exchange.complete(self.link.stamp().map(stamp));
        self.replies.failure().map_or(Ok(()), Err)
    }

    /// The stream is at its end; a good-bye may have come together with the answer before this.
    #[cold]
    fn closed(&mut self) -> Poll<Result<(), OpError>> {
        match self.replies.consume(self.buffer.received(), self.buffer.start) {
            Ok((_, Progress::Ended)) => self.ended(),
            _ => self.lose(Outcome::ConnectionLost, Trouble::Closed),
        }
    }

    #[cold]
    fn ended(&mut self) -> Poll<Result<(), OpError>> {
        let outcome = self.replies.failure().map_or(Outcome::ConnectionLost, |failure| failure.outcome);
        self.lose(outcome, Trouble::None)
    }
}

impl Session for MySqlSession {
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
                (statement, arguments, Asked::Statement(index as u32))
            }
            Command::Ping => (&self.statements.ping, &[], Asked::Control),
            Command::Begin => (&self.statements.begin, &[], Asked::Control),
            Command::Commit => (&self.statements.commit, &[], Asked::Control),
            Command::Rollback => (&self.statements.rollback, &[], Asked::Control),
            Command::KeyValue(_) => return Err(self.refuse(Trouble::KeyValue)),
        };
        if self.may_fail && !statement.harmless {
            self.exchange.end_part();
            self.replies.end_part();
            self.may_fail = false;
        }
        if let Err(refusal) = statement.encode(self.exchange.out(), arguments) {
            let index = if let Command::Statement { index, .. } = command { index } else { 0 };
            return Err(self.refuse(Trouble::Refused(index, refusal)));
        }
        self.may_fail |= matches!(command, Command::Statement { .. } | Command::Commit);
        self.replies.expect(asked);
        Ok(())
    }

    #[inline]
    fn waits_to_send(&self) -> bool {
        self.exchange.waits_to_send()
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        loop {
            match self.exchange.advance(!self.replies.is_empty(), &mut self.link) {
                Step::Receive => {
                    if let Some(over) = self.receive() {
                        return over;
                    }
                }
                Step::Over(result) => return result,
                Step::Failed(error) => return self.io_failed(error),
            }
        }
    }

    #[inline]
    fn reply(&self, command: usize) -> Reply {
        self.replies.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let (columns, body) = self.replies.kept(command, row, self.buffer.received())?;
        types::value(columns, body, column)
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
            Trouble::None => return None,
            Trouble::Refused(index, Refusal::Count { wanted, given }) => {
                format!("statement {index} has {wanted} parameters and was given {given} arguments")
            }
            Trouble::Refused(index, Refusal::Argument { position, unfit }) => {
                format!("statement {index}: argument {position} does not fit its parameter ({unfit})")
            }
            Trouble::Refused(index, Refusal::Length) => {
                format!("statement {index}: the arguments are longer than {} bytes", codec::LONGEST)
            }
            Trouble::UnknownStatement(index) => {
                format!("no statement {index}: there are {}", self.statements.workload.len())
            }
            Trouble::KeyValue => {
                "MariaDB and MySQL have no key-value operations here; use statements".to_owned()
            }
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}

impl Drop for MySqlSession {
    fn drop(&mut self) {
        match self.exchange.phase() {
            // A good-bye where it is cheap: without it an idle session's end is a warning in the server's log.
            Phase::Staging | Phase::Done => {
                let mut good_bye = Vec::new();
                codec::command(&mut good_bye, codec::QUIT, "");
                let _ = self.link.write(&good_bye).and_then(|_| self.link.flush());
            }
            // A session in flight is just closed; what it asked for is ended by whoever connects next.
            Phase::Starting | Phase::Sending | Phase::Receiving => self.abandoned.push(self.id),
            Phase::Broken => {}
        }
    }
}
