//! The session: what happens between `stage` and the last byte of the answer.

use crate::codec::{self, Garbage, MESSAGE_LIMIT};
use crate::replies::{Asked, Replies};
use driver::{Command, KernelStamp, KeyValue, OpError, Reply, Session, Value, ValueRef};
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
    out: Vec<u8>,
    /// How much of `out` the kernel has taken.
    sent: usize,
    phase: Phase,
    replies: Replies,
    stamp: Option<u64>,
    arrived: Option<KernelStamp>,
    trouble: Trouble,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Commands are being collected.
    Staging,
    /// Some bytes of the batch have not been taken by the kernel.
    Sending,
    /// All bytes were taken; the answers are awaited.
    Receiving,
    /// The replies are there until the next `stage`.
    Done,
    /// The connection can't be used any more.
    Broken,
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

const OUT_ROOM: usize = 4096;

impl RedisSession {
    pub(crate) fn new(socket: Socket) -> RedisSession {
        let mut out = vec![1; OUT_ROOM]; // touched, so that the first request faults no page
        out.clear();
        RedisSession {
            socket,
            buffer: Buffer::new(MESSAGE_LIMIT),
            out,
            sent: 0,
            phase: Phase::Staging,
            replies: Replies::new(),
            stamp: None,
            arrived: None,
            trouble: Trouble::None,
        }
    }

    /// Forgets the last batch and its replies.
    #[inline]
    fn forget(&mut self) {
        self.replies.clear();
        self.buffer.forget_parsed();
        self.out.clear();
        self.sent = 0;
        self.phase = Phase::Staging;
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
        self.phase = Phase::Broken;
        self.trouble = trouble;
        Poll::Ready(Err(OpError::lost(outcome)))
    }

    #[inline]
    fn stage_key_value(&mut self, operation: KeyValue<'_>) -> Option<Asked> {
        let out = &mut self.out;
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

    /// Hands the batch to the kernel; true when it took all of it.
    #[inline]
    fn send(&mut self) -> io::Result<bool> {
        while self.sent < self.out.len() {
            match self.socket.send(&self.out[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.phase = Phase::Receiving;
        Ok(true)
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
        if self.phase == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::Surplus));
        }
        self.phase = Phase::Done;
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        self.arrived = self.stamp.map(|realtime_ns| KernelStamp { realtime_ns, upper_bound: false });
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
        matches!(self.phase, Phase::Sending)
    }

    #[inline]
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        match self.phase {
            Phase::Staging => {}
            Phase::Done => self.forget(),
            Phase::Broken => return Err(OpError::lost(Outcome::ConnectionLost)),
            Phase::Sending | Phase::Receiving => {
                self.trouble = Trouble::InFlight;
                return Err(OpError::refused(Outcome::Protocol));
            }
        }
        let asked = match command {
            Command::Ping => {
                self.out.extend_from_slice(b"*1\r\n$4\r\nPING\r\n");
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
        match self.phase {
            Phase::Staging if self.replies.is_empty() => return Poll::Ready(Ok(())),
            Phase::Staging => {
                self.arrived = None;
                self.phase = Phase::Sending;
                match self.send() {
                    Ok(true) => return Poll::Pending,
                    Ok(false) => {}
                    Err(error) => return self.lose(Outcome::ConnectionLost, Trouble::Io(error)),
                }
            }
            Phase::Sending => {
                if let Err(error) = self.send() {
                    return self.lose(Outcome::ConnectionLost, Trouble::Io(error));
                }
            }
            Phase::Receiving => {}
            Phase::Done => return Poll::Ready(Ok(())), // nothing was staged since
            Phase::Broken => return Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))),
        }
        // Also while sending: the server may have to write before it reads on.
        self.receive()
    }

    #[inline]
    fn reply(&self, command: usize) -> Reply {
        self.replies.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        if row > 0 || self.phase != Phase::Done {
            return None;
        }
        let (begin, end) = self.replies.value(command, column)?;
        let bytes = self.buffer.received().get(begin as usize..end as usize)?;
        std::str::from_utf8(bytes).ok().map(Value::Text)
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.arrived
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
