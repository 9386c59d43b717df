//! One connection: reads requests, answers those that are whole.

use super::listener::Stream;
use super::{OUT_ROOM, Totals};
use crate::frame::{self, HEADER, LIMIT};
use socket::Buffer;
use std::io::{self, ErrorKind};
use std::os::fd::RawFd;

/// Whether there is more to expect of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Stays,
    Gone,
}

/// Bytes that are read and thrown away behind a bad request, so that the client gets to read why; then it is cut off.
const PATIENCE: usize = 1 << 20;

pub(super) struct Client {
    stream: Stream,
    buffer: Buffer,
    /// Answers that the kernel has not taken; most clients never have any.
    waiting: Vec<u8>,
    /// Bytes that were thrown away since a bad request; `None` while there was none.
    refused: Option<usize>,
}

impl Client {
    pub(super) fn new(stream: Stream) -> Client {
        let buffer = Buffer::new(HEADER + LIMIT as usize);
        Client { stream, buffer, waiting: Vec::new(), refused: None }
    }

    pub(super) fn fd(&self) -> RawFd {
        self.stream.fd()
    }

    /// Whether it waits for room to send.
    pub(super) fn is_blocked(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What there is to do when the kernel says that the connection is ready; `out` is room to work in.
    #[inline]
    pub(super) fn work(&mut self, out: &mut Vec<u8>, totals: &mut Totals) -> Fate {
        let done = if self.is_blocked() { self.send_waiting() } else { self.receive() };
        match done {
            Ok(Fate::Gone) => return Fate::Gone,
            Ok(Fate::Stays) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Fate::Stays;
            }
            Err(_) => return Fate::Gone,
        }
        if self.refused.is_some() || self.is_blocked() {
            return Fate::Stays;
        }
        self.answer(out, totals).unwrap_or(Fate::Gone)
    }

    /// One read: what is left is told of again.
    #[inline]
    fn receive(&mut self) -> io::Result<Fate> {
        // There is always room for a whole request: longer ones are refused by their header.
        let Some(room) = self.buffer.room(false) else { return Ok(Fate::Gone) };
        let received = self.stream.read(room)?;
        if received == 0 {
            return Ok(Fate::Gone);
        }
        match &mut self.refused {
            None => self.buffer.end += received,
            Some(thrown) => {
                *thrown += received;
                if *thrown > PATIENCE {
                    return Ok(Fate::Gone);
                }
            }
        }
        Ok(Fate::Stays)
    }

    /// Answers what was received, until no request is whole or the client has to read first.
    #[inline]
    fn answer(&mut self, out: &mut Vec<u8>, totals: &mut Totals) -> io::Result<Fate> {
        loop {
            out.clear();
            let progress = frame::answer(self.buffer.unparsed(), out, OUT_ROOM);
            self.buffer.start += progress.used;
            totals.answered += progress.answered;
            if let Some(why) = progress.refused {
                totals.broken += 1;
                frame::refusal(why, out);
                self.refused = Some(0);
            }
            if out.is_empty() {
                return Ok(Fate::Stays);
            }
            self.send(out)?;
            if self.refused.is_some() {
                return self.hang_up();
            }
            if self.is_blocked() {
                return Ok(Fate::Stays);
            }
        }
    }

    /// Hands answers to the kernel, and keeps what it does not take.
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream.write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.waiting.extend_from_slice(&bytes[sent..]);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The client has made room.
    fn send_waiting(&mut self) -> io::Result<Fate> {
        let sent = self.stream.write(&self.waiting)?;
        self.waiting.drain(..sent);
        match (self.refused, self.is_blocked()) {
            (Some(_), false) => self.hang_up(),
            _ => Ok(Fate::Stays),
        }
    }

    /// Behind a refusal, once it is sent: closing now would take it back where bytes of the client are unread.
    fn hang_up(&mut self) -> io::Result<Fate> {
        if !self.is_blocked() {
            self.stream.end_writing()?;
        }
        Ok(Fate::Stays)
    }
}
