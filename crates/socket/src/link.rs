//! A socket with or without TLS on it; either way non-blocking.

use crate::Socket;
use rustls::ClientConnection;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::RawFd;

/// A socket that bytes go through as they are, or through TLS.
pub struct Link {
    socket: Socket,
    /// Boxed: the state of TLS is large, and most links have none.
    tls: Option<Box<ClientConnection>>,
    /// The kernel's stamp of the last bytes that were read.
    stamp: Option<u64>,
}

impl Link {
    /// Without TLS.
    pub fn plain(socket: Socket) -> Link {
        Link { socket, tls: None, stamp: None }
    }

    /// Lets TLS begin; its handshake happens with the first reads and writes.
    pub fn begin_tls(&mut self, connection: ClientConnection) {
        self.tls = Some(Box::new(connection));
    }

    /// The descriptor, for readiness.
    pub fn fd(&self) -> RawFd {
        self.socket.fd()
    }

    /// The socket below.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The state of TLS, where it has begun.
    pub fn tls(&self) -> Option<&ClientConnection> {
        self.tls.as_deref()
    }

    /// The stamp of the last bytes that were read from the socket.
    pub fn stamp(&self) -> Option<u64> {
        self.stamp
    }

    /// Reads into `room`. Zero bytes mean that the other side has closed.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` when there is nothing; `InvalidData` for what is wrong with TLS.
    #[inline]
    pub fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => {
                let (received, stamp) = self.socket.receive(room)?;
                self.stamp = stamp;
                Ok(received)
            }
            Some(tls) => read_tls(tls, &self.socket, &mut self.stamp, room),
        }
    }

    /// Takes the handshake as far as it goes without blocking; true when it is done.
    ///
    /// # Errors
    /// As [`Link::read`].
    pub fn handshake(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.is_handshaking() {
            pump_out(tls, &self.socket)?;
            if tls.is_handshaking() && !pump_in(tls, &self.socket, &mut self.stamp)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        pump_out(tls, &self.socket)?;
        Ok(true)
    }
}

impl Write for Link {
    /// Takes over some of `bytes`: to the kernel, or into TLS's own buffer.
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.send(bytes),
            Some(tls) => {
                pump_out(tls, &self.socket)?;
                tls.writer().write(bytes)
            }
        }
    }

    /// Hands what TLS still holds to the kernel. `WouldBlock` when it can't take all of it now.
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => Ok(()),
            Some(tls) => pump_out(tls, &self.socket),
        }
    }
}

fn read_tls(
    tls: &mut ClientConnection,
    socket: &Socket,
    stamp: &mut Option<u64>,
    room: &mut [u8],
) -> io::Result<usize> {
    loop {
        match tls.reader().read(room) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // Servers often close without TLS's good-bye; the protocol above knows whether that was too early.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
            result => return result,
        }
        if !pump_in(tls, socket, stamp)? {
            return Ok(0);
        }
        // Key updates want an answer; if the kernel can't take it now, the next write does.
        if tls.wants_write() {
            match pump_out(tls, socket) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
    }
}

fn pump_out(tls: &mut ClientConnection, socket: &Socket) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(&mut Ciphertext { socket, stamp: &mut None })?;
    }
    Ok(())
}

/// False at the end of the stream.
fn pump_in(tls: &mut ClientConnection, socket: &Socket, stamp: &mut Option<u64>) -> io::Result<bool> {
    let received = tls.read_tls(&mut Ciphertext { socket, stamp })?;
    if let Err(error) = tls.process_new_packets() {
        // The other side deserves to be told; it may be gone already.
        let _ = pump_out(tls, socket);
        return Err(io::Error::new(ErrorKind::InvalidData, error));
    }
    Ok(received > 0)
}

/// The socket as TLS sees it.
struct Ciphertext<'a> {
    socket: &'a Socket,
    stamp: &'a mut Option<u64>,
}

impl Read for Ciphertext<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let (received, stamp) = self.socket.receive(room)?;
        *self.stamp = stamp;
        Ok(received)
    }
}

impl Write for Ciphertext<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
