//! The session: what happens between `stage` and the last byte of the answer.

use crate::config::Config;
use crate::frame::{self, HEADER, LIMIT, Lengths, REFUSAL, WORDS};
use crate::shape::{self, Shape, Staged};
use driver::{
    Admission, Command, Exchange, KernelStamp, OpError, Phase, Reply, Session, StatementSpec, Step, ValueRef,
};
use socket::{Buffer, Socket};
use std::io::{self, ErrorKind};
use std::os::fd::RawFd;
use std::task::Poll;
use units::Outcome;

/// Commands of one batch whose place is preallocated; longer batches grow the lists once.
const BATCH: usize = 64;

/// One connection, driven by readiness.
pub struct EchoSession {
    socket: Socket,
    buffer: Buffer,
    statements: Vec<Shape>,
    /// One request, as it goes out each time.
    request: Vec<u8>,
    /// Its answer, as it must come in.
    answer: Vec<u8>,
    batch: Vec<Staged>,
    exchange: Exchange,
    /// Answers of the batch that are in.
    answered: usize,
    stamp: Option<u64>,
    trouble: Trouble,
}

#[derive(Debug)]
enum Trouble {
    None,
    Statement,
    InFlight,
    Closed,
    Io(io::Error),
    Refused(String),
    Different,
    Surplus,
}

impl EchoSession {
    pub(crate) fn new(socket: Socket, config: &Config, statements: &[StatementSpec]) -> EchoSession {
        // Letters, so that a client or a server that mixes up its bytes is seen.
        let payload: Vec<u8> = (b'a'..=b'z').cycle().take(config.request as usize).collect();
        let (mut request, mut answer) = (Vec::new(), Vec::new());
        frame::request(&payload, config.answer, &mut request);
        frame::echo(&payload, config.answer, &mut answer);
        EchoSession {
            socket,
            buffer: Buffer::new(HEADER + LIMIT as usize),
            statements: statements.iter().map(Shape::of).collect(),
            request,
            answer,
            batch: Vec::with_capacity(BATCH),
            exchange: Exchange::default(),
            answered: 0,
            stamp: None,
            trouble: Trouble::None,
        }
    }

    /// Forgets the last batch and its replies.
    #[inline]
    fn forget(&mut self) {
        self.batch.clear();
        self.exchange.forget();
        self.answered = 0;
        self.trouble = Trouble::None;
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
            let Some(room) = self.buffer.room(false) else {
                return self.lose(Outcome::Protocol, Trouble::Different);
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
            if let Err(trouble) = self.take_answers() {
                return self.lose(Outcome::Protocol, trouble);
            }
            if self.answered == self.batch.len() {
                return self.complete();
            }
        }
    }

    /// Takes the whole answers out of the buffer, up to those of the batch.
    #[inline]
    fn take_answers(&mut self) -> Result<(), Trouble> {
        while self.answered < self.batch.len() {
            let bytes = self.buffer.unparsed();
            let Some(whole) = bytes.get(..self.answer.len()) else { return self.not_whole() };
            if whole != self.answer {
                return self.not_whole().and(Err(Trouble::Different));
            }
            self.buffer.start += self.answer.len();
            self.answered += 1;
        }
        Ok(())
    }

    /// An error where what is there can't become an answer: another header, or the whole words of a refusal.
    fn not_whole(&self) -> Result<(), Trouble> {
        let bytes = self.buffer.unparsed();
        let Some(lengths) = Lengths::read(bytes) else { return Ok(()) };
        if lengths.payload == REFUSAL && lengths.other <= WORDS {
            let end = HEADER + lengths.other as usize;
            let words = bytes.get(HEADER..end).map(|words| String::from_utf8_lossy(words).into_owned());
            return words.map_or(Ok(()), |words| Err(Trouble::Refused(words)));
        }
        if bytes[..HEADER] == self.answer[..HEADER] { Ok(()) } else { Err(Trouble::Different) }
    }

    #[inline]
    fn complete(&mut self) -> Poll<Result<(), OpError>> {
        // Answers have no numbers: one too many would be taken for the next request's.
        if self.exchange.phase() == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return self.lose(Outcome::Protocol, Trouble::Surplus);
        }
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        let stamp = |realtime_ns| KernelStamp { realtime_ns, upper_bound: false };
        self.exchange.complete(self.stamp.map(stamp));
        Poll::Ready(Ok(()))
    }
}

impl Session for EchoSession {
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
        let Some(staged) = shape::staged(command, &self.statements) else {
            self.forget();
            self.trouble = Trouble::Statement;
            return Err(OpError::refused(Outcome::Protocol));
        };
        self.batch.push(staged);
        self.exchange.out().extend_from_slice(&self.request);
        Ok(())
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        match self.exchange.advance(!self.batch.is_empty(), &mut self.socket) {
            Step::Receive => self.receive(),
            Step::Over(result) => result,
            Step::Failed(error) => self.lose(Outcome::ConnectionLost, Trouble::Io(error)),
        }
    }

    #[inline]
    fn reply(&self, command: usize) -> Reply {
        match self.batch.get(command) {
            Some(Staged::Row(_) | Staged::Record) if self.exchange.phase() == Phase::Done => {
                Reply { rows: 1, affected: 1 }
            }
            _ => Reply::default(),
        }
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let Staged::Row(index) =
            *self.batch.get(command).filter(|_| self.exchange.phase() == Phase::Done && row == 0)?
        else {
            return None;
        };
        self.statements[index].value(column)
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.exchange.arrived()
    }

    fn last_error(&self) -> Option<String> {
        Some(match &self.trouble {
            Trouble::None => return None,
            Trouble::Statement => {
                "unknown statement, or not as many arguments as it has parameters".to_owned()
            }
            Trouble::InFlight => "a command was staged while the batch before it was in flight".to_owned(),
            Trouble::Closed => "the server closed the connection".to_owned(),
            Trouble::Io(error) => error.to_string(),
            Trouble::Refused(words) => format!("the server refuses: {words}"),
            Trouble::Different => "other bytes came back than were sent".to_owned(),
            Trouble::Surplus => "more came back than was asked for".to_owned(),
        })
    }
}
