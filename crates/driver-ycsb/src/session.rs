//! The session: what happens between `stage` and the last byte of the answer.

use crate::codec::{self, Garbage, MESSAGE_LIMIT};
use crate::jvm::Jvm;
use crate::replies::{Asked, Replies};
use crate::secrets::Secrets;
use crate::spent::Spent;
use driver::{
    Admission, Command, Exchange, Fields, KernelStamp, KeyValue, OpError, Phase, Reply, Session, Step, Value,
    ValueRef,
};
use socket::{Buffer, Socket};
use std::io::{self, ErrorKind};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::task::Poll;
use units::Outcome;

/// One connection to the bridge, driven by readiness: a thread of the JVM and an object of the database class.
///
/// All commands of a batch go out together and are answered in order; an error of one leaves the others as they are.
pub struct YcsbSession {
    socket: Socket,
    buffer: Buffer,
    exchange: Exchange,
    replies: Replies,
    stamp: Option<u64>,
    trouble: Trouble,
    spent: Arc<Spent>,
    secrets: Secrets,
    /// Behind the socket, whose end lets the JVM clean up; `None` in tests without a JVM.
    jvm: Option<Arc<Jvm>>,
}

/// What went wrong beside what the binding said itself.
#[derive(Debug)]
enum Trouble {
    None,
    Statement,
    Transaction,
    InFlight,
    Closed,
    Io(io::Error),
    Garbage(Garbage),
}

impl YcsbSession {
    pub(crate) fn new(
        socket: Socket,
        spent: Arc<Spent>,
        secrets: Secrets,
        jvm: Option<Arc<Jvm>>,
    ) -> YcsbSession {
        YcsbSession {
            socket,
            buffer: Buffer::new(MESSAGE_LIMIT),
            exchange: Exchange::default(),
            replies: Replies::new(),
            stamp: None,
            trouble: Trouble::None,
            spent,
            secrets,
            jvm,
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
            match self.replies.consume(self.buffer.received(), self.buffer.start, &self.spent) {
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

    /// Of a connection that ended: the JVM knows more than the socket.
    fn end(&self, otherwise: String) -> String {
        self.jvm.as_ref().map_or(otherwise, |jvm| jvm.last_words())
    }
}

fn asked(operation: KeyValue<'_>) -> Asked {
    match operation {
        KeyValue::Read { fields: Fields::All, .. } => Asked::Record,
        KeyValue::Read { .. } => Asked::Named,
        KeyValue::Update { .. } | KeyValue::Insert { .. } | KeyValue::Delete { .. } => Asked::Write,
        KeyValue::Scan { .. } => Asked::Scan,
    }
}

impl Session for YcsbSession {
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
                codec::ping(self.exchange.out());
                Asked::Ping
            }
            Command::KeyValue(operation) => {
                codec::operation(self.exchange.out(), operation);
                asked(operation)
            }
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
        if self.exchange.phase() != Phase::Done {
            return None;
        }
        let (begin, end) = self.replies.value(command, row, column)?;
        if (begin, end) == codec::NOWHERE {
            return Some(Value::Null);
        }
        let bytes = self.buffer.received().get(begin as usize..end as usize)?;
        std::str::from_utf8(bytes).ok().map(Value::Text)
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.exchange.arrived()
    }

    fn last_error(&self) -> Option<String> {
        if !self.replies.error().is_empty() {
            return Some(self.secrets.hidden_in(&String::from_utf8_lossy(self.replies.error())));
        }
        Some(match &self.trouble {
            Trouble::None => return None,
            Trouble::Statement => "YCSB's database classes have no SQL; use key-value operations".to_owned(),
            Trouble::Transaction => {
                "YCSB's database classes have no transactions; each operation is by itself".to_owned()
            }
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => self.end("the helper JVM closed the connection".to_owned()),
            Trouble::Io(error) => self.end(error.to_string()),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}
