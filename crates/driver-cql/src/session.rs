//! The session: what happens between `stage` and the last byte of the answer.

use crate::codec::{self, BODY_LIMIT, Garbage, HEADER, opcode};
use crate::config::Config;
use crate::replies::{Asked, Replies};
use crate::shape::{self, Shape, Table};
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
/// Of a batch each command is answered before the next is sent: the server would carry them out side by side, in any order.
/// An error of one leaves the others as they are.
pub struct CqlSession {
    socket: Socket,
    buffer: Buffer,
    exchange: Exchange,
    replies: Replies,
    tables: Vec<Table>,
    levels: Levels,
    stamp: Option<u64>,
    trouble: Trouble,
}

/// How surely is read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    reads: codec::Consistency,
    writes: codec::Consistency,
}

impl From<&Config> for Levels {
    fn from(config: &Config) -> Levels {
        Levels { reads: config.reads, writes: config.writes }
    }
}

/// What went wrong beside what the server said itself.
#[derive(Debug)]
enum Trouble {
    None,
    Statement,
    Transaction,
    Table(String),
    InFlight,
    Closed,
    Io(io::Error),
    Garbage(Garbage),
}

impl CqlSession {
    pub(crate) fn new(socket: Socket, tables: Vec<Table>, levels: Levels) -> CqlSession {
        CqlSession {
            socket,
            buffer: Buffer::new(HEADER + BODY_LIMIT),
            exchange: Exchange::default(),
            replies: Replies::new(),
            tables,
            levels,
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

    /// Expects an answer; gives its request's number. What was staged before is to be answered first.
    #[inline]
    fn expect(&mut self, asked: Asked) -> i16 {
        if !self.replies.is_empty() {
            self.exchange.end_part();
        }
        self.replies.expect(asked)
    }

    #[inline]
    fn stage_key_value(&mut self, operation: KeyValue<'_>) -> Result<(), OpError> {
        let (name, shape) = shape::of(operation);
        let Some(at) = self.tables.iter().position(|table| table.is(name)) else {
            return Err(self.refuse(Trouble::Table(name.to_owned())));
        };
        let stream = self.expect(asked(operation, &self.tables[at]));
        let table = &self.tables[at];
        let is_read = matches!(shape, Shape::Read(_) | Shape::Scan(_));
        let level = if is_read { self.levels.reads } else { self.levels.writes };
        let prepared = table.prepared(shape);
        let code = if prepared.is_some() { opcode::EXECUTE } else { opcode::QUERY };
        codec::frame(self.exchange.out(), stream, code, |out| {
            match prepared {
                Some(id) => codec::short(out, id),
                None => codec::sized(out, |out| table.write(out, shape)),
            }
            codec::parameters(out, level, shape::value_count(operation));
            shape::values(out, operation);
        });
        Ok(())
    }

    /// Reads until what was sent is answered or nothing more is there. `None`: there is more to be sent.
    #[inline]
    fn receive(&mut self) -> Option<Poll<Result<(), OpError>>> {
        loop {
            let Some(room) = self.buffer.room(true) else {
                let garbage = Garbage::Length(i32::MAX);
                return Some(self.lose(Outcome::Protocol, Trouble::Garbage(garbage)));
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
                Ok(None) => {}
                Ok(Some(next)) => {
                    self.buffer.start = next;
                    return self.answered();
                }
                Err(garbage) => return Some(self.lose(Outcome::Protocol, Trouble::Garbage(garbage))),
            }
        }
    }

    /// One command's answer is in.
    #[inline]
    fn answered(&mut self) -> Option<Poll<Result<(), OpError>>> {
        // Only one request is in flight: nothing can follow its answer.
        if self.exchange.phase() == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return Some(self.lose(Outcome::Protocol, Trouble::Garbage(Garbage::Surplus)));
        }
        match self.replies.failure() {
            Some(failure) if !failure.session_usable => {
                return Some(self.lose(failure.outcome, Trouble::None));
            }
            _ => {}
        }
        if self.exchange.go_on() {
            return None;
        }
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound: false };
        self.exchange.complete(self.stamp.map(stamp));
        Some(Poll::Ready(self.replies.failure().map_or(Ok(()), Err)))
    }
}

/// What the answer to an operation is.
#[inline]
fn asked(operation: KeyValue<'_>, table: &Table) -> Asked {
    match operation {
        KeyValue::Read { fields, .. } | KeyValue::Scan { fields, .. } => match fields {
            Fields::All => Asked::All(table.columns.len()),
            Fields::One(_) => Asked::Named(1),
            Fields::Named(names) => Asked::Named(names.len()),
        },
        KeyValue::Insert { .. } | KeyValue::Update { .. } | KeyValue::Delete { .. } => Asked::Write,
    }
}

impl Session for CqlSession {
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
                let stream = self.expect(Asked::Ping);
                codec::frame(self.exchange.out(), stream, opcode::OPTIONS, |_| ());
                Ok(())
            }
            Command::KeyValue(operation) => self.stage_key_value(operation),
            Command::Statement { .. } => Err(self.refuse(Trouble::Statement)),
            Command::Begin | Command::Commit | Command::Rollback => Err(self.refuse(Trouble::Transaction)),
        }
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
        if let Some(words) = self.replies.error() {
            return Some(words);
        }
        Some(match &self.trouble {
            Trouble::None => return None,
            Trouble::Statement => "statements are not prepared over CQL; use key-value operations".to_owned(),
            Trouble::Transaction => "there are no transactions over CQL".to_owned(),
            Trouble::Table(name) => format!(
                "there was no table `{name}` with one key and columns of text when this session connected"
            ),
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Garbage(garbage) => garbage.to_string(),
        })
    }
}
