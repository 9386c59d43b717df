//! The session: what happens between `stage` and the last byte of the answer.

use crate::codec::{self, Garbage, MESSAGE_LIMIT};
use crate::replies::{Asked, Replies, Wanted};
use driver::{
    Admission, Command, Exchange, Fields, KernelStamp, KeyValue, OpError, Phase, Reply, Session, Step, Value,
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
    fn stage_key_value(&mut self, operation: KeyValue<'_>) {
        let out = self.exchange.out();
        let asked = match operation {
            KeyValue::Read { key, fields, .. } => Asked::Record(stage_read(out, key, fields)),
            KeyValue::Update { key, fields, .. } => {
                stage_write(out, key, fields);
                Asked::Write
            }
            KeyValue::Insert { key, fields, .. } => {
                stage_write(out, key, fields);
                codec::command(out, 4);
                codec::part(out, b"ZADD");
                codec::part(out, INDEX.as_bytes());
                codec::number(out, score(key).into());
                codec::part(out, key.as_bytes());
                Asked::Insert
            }
            KeyValue::Delete { key, .. } => {
                codec::command(out, 2);
                codec::part(out, b"DEL");
                codec::part(out, key.as_bytes());
                codec::command(out, 3);
                codec::part(out, b"ZREM");
                codec::part(out, INDEX.as_bytes());
                codec::part(out, key.as_bytes());
                Asked::Delete
            }
            KeyValue::Scan { key, count, fields, .. } => {
                codec::command(out, 7);
                codec::part(out, b"ZRANGEBYSCORE");
                codec::part(out, INDEX.as_bytes());
                codec::number(out, score(key).into());
                out.extend_from_slice(b"$4\r\n+inf\r\n$5\r\nLIMIT\r\n$1\r\n0\r\n");
                codec::number(out, count.into());
                return self.replies.expect_scan(fields);
            }
        };
        self.replies.expect(asked);
    }

    /// Reads until all that was sent is answered or nothing more is there. `None`: there is more to be sent.
    #[inline]
    fn receive(&mut self) -> Option<Poll<Result<(), OpError>>> {
        loop {
            let Some(room) = self.buffer.room(true) else {
                return Some(self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::TooLong)));
            };
            match self.socket.receive(room) {
                Ok((0, _)) => return Some(self.lose(Outcome::ConnectionLost, Trouble::Closed)),
                Ok((received, stamp)) => {
                    self.buffer.end += received;
                    self.stamp = stamp;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(Poll::Pending),
                Err(error) => return Some(self.lose(Outcome::ConnectionLost, Trouble::Io(error))),
            }
            match self.replies.consume(self.buffer.received(), self.buffer.start) {
                Ok((start, whole)) => {
                    self.buffer.start = start;
                    if whole {
                        return self.complete();
                    }
                }
                Err(garbage) => return Some(self.lose(Outcome::Protocol, Trouble::Garbage(garbage))),
            }
        }
    }

    #[inline]
    fn complete(&mut self) -> Option<Poll<Result<(), OpError>>> {
        // Answers have no numbers: one too many would be taken for the next request's.
        if self.exchange.phase() == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return Some(self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::Surplus)));
        }
        if self.replies.lacks_records() {
            self.exchange.end_part();
            self.replies.ask_for_records(self.buffer.received(), self.exchange.out());
            self.exchange.go_on();
            return None;
        }
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound: false };
        self.exchange.complete(self.stamp.map(stamp));
        Some(Poll::Ready(self.replies.failure().map_or(Ok(()), Err)))
    }
}

/// The sorted set of all keys, as YCSB's binding calls it.
pub(crate) const INDEX: &str = "_indices";

/// A key's place in the index: what Java's `String.hashCode` makes of it, which decides the order of YCSB's scans.
#[inline]
pub(crate) fn score(key: &str) -> i32 {
    key.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

#[inline]
fn stage_read(out: &mut Vec<u8>, key: &str, fields: Fields<'_>) -> Wanted {
    let one;
    let names = match fields {
        Fields::All => {
            codec::command(out, 2);
            codec::part(out, b"HGETALL");
            codec::part(out, key.as_bytes());
            return Wanted::All;
        }
        Fields::One(name) => {
            one = [name];
            &one[..]
        }
        Fields::Named(names) => names,
    };
    codec::command(out, 2 + names.len());
    codec::part(out, b"HMGET");
    codec::part(out, key.as_bytes());
    names.iter().for_each(|name| codec::part(out, name.as_bytes()));
    Wanted::Named(names.len())
}

#[inline]
fn stage_write(out: &mut Vec<u8>, key: &str, fields: &[(&str, &str)]) {
    codec::command(out, 2 + 2 * fields.len());
    codec::part(out, b"HSET");
    codec::part(out, key.as_bytes());
    for (name, value) in fields {
        codec::part(out, name.as_bytes());
        codec::part(out, value.as_bytes());
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
        match command {
            Command::Ping => {
                self.exchange.out().extend_from_slice(b"*1\r\n$4\r\nPING\r\n");
                self.replies.expect(Asked::Ping);
            }
            Command::KeyValue(operation) => self.stage_key_value(operation),
            Command::Statement { .. } => return Err(self.refuse(Trouble::Statement)),
            Command::Begin | Command::Commit | Command::Rollback => {
                return Err(self.refuse(Trouble::Transaction));
            }
        }
        Ok(())
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        loop {
            match self.exchange.advance(!self.replies.is_empty(), &mut self.socket) {
                Step::Receive => {
                    if let Some(result) = self.receive() {
                        return result;
                    }
                }
                Step::Over(result) => return result,
                Step::Failed(error) => return self.lose(Outcome::ConnectionLost, Trouble::Io(error)),
            }
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
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}
