//! The session: what happens between `stage` and the last byte of the answer.

use crate::config::Config;
use crate::frame::{self, HEADER, LIMIT, Lengths, REFUSAL, WORDS};
use crate::shape::{self, Shape, Staged};
use driver::{Command, KernelStamp, OpError, Reply, Session, StatementSpec, ValueRef};
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
    out: Vec<u8>,
    /// How much of `out` the kernel has taken.
    sent: usize,
    /// Answers of the batch that are in.
    answered: usize,
    phase: Phase,
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
        let mut out = vec![1; request.len() * 2]; // touched, so that the first request faults no page
        out.clear();
        EchoSession {
            socket,
            buffer: Buffer::new(HEADER + LIMIT as usize),
            statements: statements.iter().map(Shape::of).collect(),
            request,
            answer,
            batch: Vec::with_capacity(BATCH),
            out,
            sent: 0,
            answered: 0,
            phase: Phase::Staging,
            stamp: None,
            arrived: None,
            trouble: Trouble::None,
        }
    }

    /// Forgets the last batch and its replies.
    #[inline]
    fn forget(&mut self) {
        self.batch.clear();
        self.out.clear();
        self.sent = 0;
        self.answered = 0;
        self.phase = Phase::Staging;
        self.trouble = Trouble::None;
    }

    #[cold]
    fn lose(&mut self, outcome: Outcome, trouble: Trouble) -> Poll<Result<(), OpError>> {
        self.phase = Phase::Broken;
        self.trouble = trouble;
        Poll::Ready(Err(OpError::lost(outcome)))
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
        if self.phase == Phase::Sending || !self.buffer.unparsed().is_empty() {
            return self.lose(Outcome::Protocol, Trouble::Surplus);
        }
        self.phase = Phase::Done;
        // Nothing follows the answer, so the last segment that was read carried its last byte.
        self.arrived = self.stamp.map(|realtime_ns| KernelStamp { realtime_ns, upper_bound: false });
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
        let Some(staged) = shape::staged(command, &self.statements) else {
            self.forget();
            self.trouble = Trouble::Statement;
            return Err(OpError::refused(Outcome::Protocol));
        };
        self.batch.push(staged);
        self.out.extend_from_slice(&self.request);
        Ok(())
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        match self.phase {
            Phase::Staging if self.batch.is_empty() => return Poll::Ready(Ok(())),
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
        match self.batch.get(command) {
            Some(Staged::Row(_) | Staged::Record) if self.phase == Phase::Done => {
                Reply { rows: 1, affected: 1 }
            }
            _ => Reply::default(),
        }
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let Staged::Row(index) =
            *self.batch.get(command).filter(|_| self.phase == Phase::Done && row == 0)?
        else {
            return None;
        };
        self.statements[index].value(column)
    }

    #[inline]
    fn arrived(&self) -> Option<KernelStamp> {
        self.arrived
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
