//! One exchange of a session over a byte stream: a batch goes out whole, then its answers come in.

use crate::{KernelStamp, OpError};
use std::io::{self, ErrorKind, Write};
use std::task::Poll;
use units::Outcome;

/// Bytes that a batch may have without an allocation.
const ROOM: usize = 4096;

/// Parts that a batch may have without an allocation.
const PARTS: usize = 16;

/// Where a session is between [`stage`](crate::Session::stage) and the last byte of the answer.
///
/// A driver with a stream of its own keeps one: what is to be sent, how much of it was taken, and what may come next.
/// How commands are encoded and answers are read stays the driver's.
#[derive(Debug)]
pub struct Exchange {
    out: Vec<u8>,
    /// How much of `out` the stream has taken.
    sent: usize,
    /// Where parts of `out` end that are to be answered before the next is sent; those up to `part` were.
    ends: Vec<usize>,
    part: usize,
    phase: Phase,
    arrived: Option<KernelStamp>,
}

/// The phases of an exchange, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Commands are being collected.
    Staging,
    /// A part of the batch is answered, and the next is to be sent.
    Starting,
    /// Some bytes of the batch have not been taken by the stream.
    Sending,
    /// All bytes were taken; the answers are awaited.
    Receiving,
    /// The replies are there until the next `stage`.
    Done,
    /// The connection can't be used any more.
    Broken,
}

/// Whether a command may be staged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// Behind those that are staged already.
    Next,
    /// As the first of a batch: the last one and its replies are to be forgotten before.
    First,
    /// Not while the batch before it is in flight.
    InFlight,
    /// Never again.
    Broken,
}

/// What a session has to do when it is polled.
#[derive(Debug)]
pub enum Step {
    /// Read. Also while sending: the server may have to write before it reads on.
    Receive,
    /// This is what `poll_reply` gives.
    Over(Poll<Result<(), OpError>>),
    /// The stream failed; the session is lost.
    Failed(io::Error),
}

impl Default for Exchange {
    fn default() -> Exchange {
        let mut out = vec![1; ROOM]; // touched, so that the first request faults no page
        out.clear();
        Exchange {
            out,
            sent: 0,
            ends: Vec::with_capacity(PARTS),
            part: 0,
            phase: Phase::Staging,
            arrived: None,
        }
    }
}

impl Exchange {
    /// Where it is.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What is to be sent; encode into its end.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// What is staged from here on is sent only after [`Exchange::go_on`]: for commands that must not run where one before
    /// them has failed, at a server that would run them all the same.
    #[inline]
    pub fn end_part(&mut self) {
        self.ends.push(self.out.len());
    }

    /// The answers to all that was sent are in: what is left of the batch may be sent, with the next [`Exchange::advance`].
    /// False where nothing is left.
    #[inline]
    pub fn go_on(&mut self) -> bool {
        let more = self.part < self.ends.len();
        if more {
            self.part += 1;
            self.phase = Phase::Starting;
        }
        more
    }

    /// As [`crate::Session::waits_to_send`].
    #[inline]
    pub fn waits_to_send(&self) -> bool {
        matches!(self.phase, Phase::Sending)
    }

    /// As [`crate::Session::arrived`].
    #[inline]
    pub fn arrived(&self) -> Option<KernelStamp> {
        self.arrived
    }

    /// Whether a command may be staged now.
    #[inline]
    pub fn admission(&self) -> Admission {
        match self.phase {
            Phase::Staging => Admission::Next,
            Phase::Done => Admission::First,
            Phase::Starting | Phase::Sending | Phase::Receiving => Admission::InFlight,
            Phase::Broken => Admission::Broken,
        }
    }

    /// Forgets the batch, sent or not.
    #[inline]
    pub fn forget(&mut self) {
        self.out.clear();
        self.sent = 0;
        self.ends.clear();
        self.part = 0;
        self.phase = Phase::Staging;
    }

    /// Sends what there is to send. `staged`: whether the batch holds a command.
    ///
    /// After a send that the stream took whole it says to wait without trying to read: the answer can't be there yet.
    #[inline]
    pub fn advance(&mut self, staged: bool, stream: &mut impl Write) -> Step {
        match self.phase {
            Phase::Staging if !staged => return Step::Over(Poll::Ready(Ok(()))),
            Phase::Staging | Phase::Starting => {
                self.arrived = None;
                self.phase = Phase::Sending;
                match self.send(stream) {
                    Ok(true) => return Step::Over(Poll::Pending),
                    Ok(false) => {}
                    Err(error) => return Step::Failed(error),
                }
            }
            Phase::Sending => {
                if let Err(error) = self.send(stream) {
                    return Step::Failed(error);
                }
            }
            Phase::Receiving => {}
            Phase::Done => return Step::Over(Poll::Ready(Ok(()))), // nothing was staged since
            Phase::Broken => {
                return Step::Over(Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))));
            }
        }
        Step::Receive
    }

    /// Hands the batch, or this part of it, to the stream; true when it took all of it.
    #[inline]
    fn send(&mut self, stream: &mut impl Write) -> io::Result<bool> {
        let end = self.ends.get(self.part).copied().unwrap_or(self.out.len());
        let blocked = |error: io::Error| {
            if error.kind() == ErrorKind::WouldBlock { Ok(false) } else { Err(error) }
        };
        while self.sent < end {
            match stream.write(&self.out[self.sent..end]) {
                Ok(count) => self.sent += count,
                Err(error) => return blocked(error),
            }
        }
        if let Err(error) = stream.flush() {
            return blocked(error);
        }
        self.phase = Phase::Receiving;
        Ok(true)
    }

    /// All answers are in; the last byte that they needed has this stamp.
    #[inline]
    pub fn complete(&mut self, arrived: Option<KernelStamp>) {
        self.phase = Phase::Done;
        self.arrived = arrived;
    }

    /// The connection can't be used any more: what `poll_reply` gives then.
    #[cold]
    pub fn lose(&mut self, outcome: Outcome) -> Poll<Result<(), OpError>> {
        self.phase = Phase::Broken;
        Poll::Ready(Err(OpError::lost(outcome)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes at a time, and nothing where that is zero.
    struct Stream {
        room: Vec<usize>,
        taken: Vec<u8>,
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = if self.room.is_empty() { bytes.len() } else { self.room.remove(0) };
            if room == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = room.min(bytes.len());
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stream(room: &[usize]) -> Stream {
        Stream { room: room.to_vec(), taken: Vec::new() }
    }

    fn staged() -> Exchange {
        let mut exchange = Exchange::default();
        exchange.out().extend_from_slice(b"question");
        exchange
    }

    #[test]
    fn a_batch_that_is_taken_whole_is_waited_for_unread() {
        let (mut exchange, mut stream) = (staged(), stream(&[]));
        assert!(matches!(exchange.advance(true, &mut stream), Step::Over(Poll::Pending)));
        assert_eq!(exchange.admission(), Admission::InFlight);
        assert!(matches!(exchange.advance(true, &mut stream), Step::Receive));
        assert_eq!(stream.taken, b"question");
    }

    #[test]
    fn what_finds_no_room_is_sent_later_and_answers_are_read_meanwhile() {
        let (mut exchange, mut stream) = (staged(), stream(&[3, 0, 2, 0]));
        assert!(matches!(exchange.advance(true, &mut stream), Step::Receive));
        assert!(exchange.waits_to_send());
        assert!(matches!(exchange.advance(true, &mut stream), Step::Receive));
        assert!(exchange.waits_to_send());
        assert!(matches!(exchange.advance(true, &mut stream), Step::Receive));
        assert!(!exchange.waits_to_send());
        assert_eq!(stream.taken, b"question");
    }

    #[test]
    fn replies_stay_until_the_next_batch() {
        let mut exchange = staged();
        let stamp = Some(KernelStamp { realtime_ns: 7, upper_bound: false });
        exchange.complete(stamp);
        assert_eq!((exchange.admission(), exchange.arrived()), (Admission::First, stamp));
        assert!(matches!(exchange.advance(true, &mut stream(&[])), Step::Over(Poll::Ready(Ok(())))));
        exchange.forget();
        assert_eq!((exchange.admission(), exchange.out().len()), (Admission::Next, 0));
        assert!(matches!(exchange.advance(false, &mut stream(&[])), Step::Over(Poll::Ready(Ok(())))));
    }

    #[test]
    fn what_has_to_wait_is_sent_when_the_part_before_it_is_answered() {
        let (mut exchange, mut stream) = (staged(), stream(&[]));
        exchange.end_part();
        exchange.out().extend_from_slice(b"next");
        exchange.end_part();
        exchange.out().extend_from_slice(b"last");
        let mut taken = Vec::new();
        loop {
            assert!(matches!(exchange.advance(true, &mut stream), Step::Over(Poll::Pending)));
            assert!(matches!(exchange.advance(true, &mut stream), Step::Receive));
            taken.push(std::mem::take(&mut stream.taken));
            if !exchange.go_on() {
                break;
            }
            assert_eq!(exchange.admission(), Admission::InFlight);
        }
        assert_eq!(taken, [b"question".to_vec(), b"next".to_vec(), b"last".to_vec()]);
        // The next batch has no parts of this one.
        exchange.forget();
        exchange.out().extend_from_slice(b"question and answer");
        assert!(matches!(exchange.advance(true, &mut stream), Step::Over(Poll::Pending)));
        assert_eq!(stream.taken, b"question and answer");
    }

    #[test]
    fn a_lost_connection_stays_lost() {
        let mut exchange = staged();
        assert!(matches!(exchange.lose(Outcome::Protocol), Poll::Ready(Err(_))));
        assert_eq!(exchange.admission(), Admission::Broken);
        let step = exchange.advance(true, &mut stream(&[]));
        assert!(matches!(step, Step::Over(Poll::Ready(Err(error))) if !error.session_usable));
    }
}
