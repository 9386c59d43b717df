//! The session: what happens between `stage` and the last byte of the answer.

use crate::bson::Garbage;
use crate::commands;
use crate::config::Durability;
use crate::message::MESSAGE_LIMIT;
use crate::replies::Replies;
use driver::{
    Admission, Command, Exchange, KernelStamp, KeyValue, OpError, Phase, Reply, Session, Step, Value,
    ValueRef,
};
use socket::{Buffer, Socket};
use std::io::{self, ErrorKind};
use std::os::fd::RawFd;
use std::task::Poll;
use units::Outcome;

/// One connection, driven by readiness.
///
/// All commands of a batch go out together and are answered in order; an error of one leaves the others as they are.
pub struct MongoSession {
    socket: Socket,
    buffer: Buffer,
    exchange: Exchange,
    replies: Replies,
    stamp: Option<u64>,
    trouble: Trouble,
    database: String,
    durability: Durability,
    /// The number of the next message.
    next: u32,
}

/// What went wrong beside what the server said itself.
#[derive(Debug)]
enum Trouble {
    None,
    Statement,
    Transaction,
    Name,
    InFlight,
    Closed,
    Io(io::Error),
    Garbage(Garbage),
}

impl MongoSession {
    pub(crate) fn new(socket: Socket, database: &str, durability: &Durability) -> MongoSession {
        MongoSession {
            socket,
            buffer: Buffer::new(MESSAGE_LIMIT),
            exchange: Exchange::default(),
            replies: Replies::new(),
            stamp: None,
            trouble: Trouble::None,
            database: database.to_owned(),
            durability: durability.clone(),
            next: 1,
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

    #[inline]
    fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    #[inline]
    fn stage_key_value(&mut self, operation: KeyValue<'_>) -> Result<(), OpError> {
        if !commands::can_be_sent(&operation) {
            return Err(self.refuse(Trouble::Name));
        }
        let number = self.number();
        commands::key_value(self.exchange.out(), number, &self.database, &self.durability, operation);
        self.replies.expect_key_value(number, &operation);
        Ok(())
    }

    /// Reads until all that was sent is answered or nothing more is there.
    #[inline]
    fn receive(&mut self) -> Poll<Result<(), OpError>> {
        loop {
            let Some(room) = self.buffer.room(true) else {
                return self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::Length));
            };
            match self.socket.receive(room) {
                Ok((0, _)) => return self.lose(Outcome::ConnectionLost, Trouble::Closed),
                Ok((received, stamp)) => {
                    self.buffer.end += received;
                    self.stamp = stamp;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return self.lose(Outcome::ConnectionLost, Trouble::Io(error)),
            }
            match self.replies.consume(self.buffer.received(), self.buffer.start) {
                Ok((start, whole)) => {
                    self.buffer.start = start;
                    if whole {
                        return self.complete();
                    }
                }
                Err(garbage) => return self.lose(Outcome::Protocol, Trouble::Garbage(garbage)),
            }
        }
    }

    #[inline]
    fn complete(&mut self) -> Poll<Result<(), OpError>> {
        if self.exchange.phase() == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::Surplus));
        }
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound: false };
        self.exchange.complete(self.stamp.map(stamp));
        Poll::Ready(self.replies.failure().map_or(Ok(()), Err))
    }
}

impl Session for MongoSession {
    #[inline]
    fn descriptor(&self) -> Option<RawFd> {
        Some(self.socket.fd())
    }

    #[inline]
    fn waits_to_send(&self) -> bool {
        self.exchange.waits_to_send()
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
        match command {
            Command::Ping => {
                let number = self.number();
                commands::ping(self.exchange.out(), number);
                self.replies.expect_ping(number);
                Ok(())
            }
            Command::KeyValue(operation) => self.stage_key_value(operation),
            Command::Statement { .. } => Err(self.refuse(Trouble::Statement)),
            Command::Begin | Command::Commit | Command::Rollback => Err(self.refuse(Trouble::Transaction)),
        }
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        match self.exchange.advance(!self.replies.is_empty(), &mut self.socket) {
            Step::Receive => self.receive(),
            Step::Over(result) => result,
            Step::Failed(error) => self.lose(Outcome::ConnectionLost, Trouble::Io(error)),
        }
    }

    #[inline]
    fn reply(&self, command: usize) -> Reply {
        self.replies.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        if self.exchange.phase() != Phase::Done {
            return None;
        }
        let Some((begin, end)) = self.replies.value(command, row, column)? else { return Some(Value::Null) };
        let bytes = self.buffer.received().get(begin as usize..end as usize)?;
        std::str::from_utf8(bytes).ok().map(Value::Text)
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.exchange.arrived()
    }

    fn last_error(&self) -> Option<String> {
        Some(match &self.trouble {
            Trouble::None => {
                let failure = self.replies.failure()?;
                match self.replies.error() {
                    [] => format!("the server answered with {} and no words", failure.outcome.name()),
                    words => String::from_utf8_lossy(words).into_owned(),
                }
            }
            Trouble::Statement => "a document store has no SQL; use key-value operations".to_owned(),
            Trouble::Transaction => "transactions are refused: this driver has none".to_owned(),
            Trouble::Name => "a field's name has a NUL in it, which BSON can't hold".to_owned(),
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}
