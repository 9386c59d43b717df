//! The session: what happens between `stage` and the last byte of the answer.

use crate::codec::{self, Garbage, MESSAGE_LIMIT};
use crate::replies::{Asked, Replies};
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
pub struct RedisSession {
    socket: Socket,
    buffer: Buffer,
    exchange: Exchange,
    replies: Replies,
    stamp: Option<u64>,
    trouble: Trouble,
}

/// What went wrong beside what the server said itself.
#[derive(Debug)]
enum Trouble {
    None,
    Statement,
    Transaction,
    Scan,
    InFlight,
    Closed,
    Io(io::Error),
    Garbage(Garbage),
}

impl RedisSession {
    pub(crate) fn new(socket: Socket) -> RedisSession {
        RedisSession {
            socket,
            buffer: Buffer::new(MESSAGE_LIMIT),
            exchange: Exchange::default(),
            replies: Replies::new(),
            stamp: None,
            trouble: Trouble::None,
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
    fn stage_key_value(&mut self, operation: KeyValue<'_>) -> Option<Asked> {
        let out = self.exchange.out();
        let asked = match operation {
            KeyValue::Read { key, field: None } => {
                codec::command(out, 2);
                codec::part(out, b"HGETALL");
                codec::part(out, key.as_bytes());
                Asked::AllFields
            }
            KeyValue::Read { key, field: Some(field) } => {
                codec::command(out, 3);
                codec::part(out, b"HMGET");
                codec::part(out, key.as_bytes());
                codec::part(out, field.as_bytes());
                Asked::OneField
            }
            KeyValue::Update { key, fields } | KeyValue::Insert { key, fields } => {
                codec::command(out, 2 + 2 * fields.len());
                codec::part(out, b"HSET");
                codec::part(out, key.as_bytes());
                for (name, value) in fields {
                    codec::part(out, name.as_bytes());
                    codec::part(out, value.as_bytes());
                }
                Asked::Write
            }
            KeyValue::Delete { key } => {
                codec::command(out, 2);
                codec::part(out, b"DEL");
                codec::part(out, key.as_bytes());
                Asked::Delete
            }
            KeyValue::Scan { .. } => return None,
        };
        Some(asked)
    }

    /// Reads until the batch is answered or nothing more is there.
    #[inline]
    fn receive(&mut self) -> Poll<Result<(), OpError>> {
        loop {
            let Some(room) = self.buffer.room(true) else {
                return self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::TooLong));
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
        // Answers have no numbers: one too many would be taken for the next request's.
        if self.exchange.phase() == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::Surplus));
        }
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound: false };
        self.exchange.complete(self.stamp.map(stamp));
        Poll::Ready(self.replies.failure().map_or(Ok(()), Err))
    }
}

impl Session for RedisSession {
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
        let asked = match command {
            Command::Ping => {
                self.exchange.out().extend_from_slice(b"*1\r\n$4\r\nPING\r\n");
                Asked::Ping
            }
            Command::KeyValue(operation) => match self.stage_key_value(operation) {
                Some(asked) => asked,
                None => return Err(self.refuse(Trouble::Scan)),
            },
            Command::Statement { .. } => return Err(self.refuse(Trouble::Statement)),
            Command::Begin | Command::Commit | Command::Rollback => {
                return Err(self.refuse(Trouble::Transaction));
            }
        };
        self.replies.expect(asked);
        Ok(())
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
        if row > 0 || self.exchange.phase() != Phase::Done {
            return None;
        }
        let (begin, end) = self.replies.value(command, column)?;
        let bytes = self.buffer.received().get(begin as usize..end as usize)?;
        std::str::from_utf8(bytes).ok().map(Value::Text)
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.exchange.arrived()
    }

    fn last_error(&self) -> Option<String> {
        if !self.replies.error().is_empty() {
            return Some(String::from_utf8_lossy(self.replies.error()).into_owned());
        }
        Some(match &self.trouble {
            Trouble::None => {
                self.replies.failure()?;
                "the server answered with an error and no words".to_owned()
            }
            Trouble::Statement => "a RESP store has no SQL; use key-value operations".to_owned(),
            Trouble::Transaction => {
                "transactions are refused: MULTI only queues commands, and nothing can be read before EXEC"
                    .to_owned()
            }
            Trouble::Scan => "scans are refused: keys of a RESP store have no order".to_owned(),
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}
