//! Non-blocking sockets with the kernel's receive stamps.

use crate::Deadline;
use crate::stamps::{ask_for_stamps, receive_stamped};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use units::Nanos;

/// A connected stream. Reads and writes never block.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    /// The other end's address, on TCP.
    peer: Option<IpAddr>,
    /// Whether the kernel stamps what arrives. Unix sockets have no stamps.
    stamps: bool,
}

/// What a socket waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// Bytes, or the other side's end.
    Readable,
    /// Room to send.
    Writable,
}

#[cfg(target_os = "linux")]
const SEND_FLAGS: libc::c_int = libc::MSG_NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const SEND_FLAGS: libc::c_int = 0; // Rust programs ignore SIGPIPE anyway

impl Socket {
    /// Connects to one address.
    ///
    /// # Errors
    /// The kernel's, or `TimedOut` when the deadline passes first.
    pub fn tcp(address: SocketAddr, deadline: &Deadline) -> io::Result<Socket> {
        let left = deadline.left();
        if left == Nanos::ZERO {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let stream = TcpStream::connect_timeout(&address, left.to_std())?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let fd = OwnedFd::from(stream);
        let stamps = ask_for_stamps(fd.as_raw_fd());
        Ok(Socket { fd, peer: Some(address.ip()), stamps })
    }

    /// Connects to a unix socket.
    ///
    /// # Errors
    /// The kernel's.
    pub fn unix(path: &Path) -> io::Result<Socket> {
        let stream = UnixStream::connect(path)?;
        stream.set_nonblocking(true)?;
        Ok(Socket { fd: stream.into(), peer: None, stamps: false })
    }

    /// Takes an accepted TCP connection: no delay, non-blocking, stamped.
    ///
    /// # Errors
    /// The kernel's, when the other side is gone already.
    pub fn accepted(stream: TcpStream) -> io::Result<Socket> {
        let address = stream.peer_addr()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let fd = OwnedFd::from(stream);
        let stamps = ask_for_stamps(fd.as_raw_fd());
        Ok(Socket { fd, peer: Some(address.ip()), stamps })
    }

    /// The descriptor, for readiness.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The other end's address, on TCP.
    pub fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Whether the kernel stamps what arrives.
    pub fn has_stamps(&self) -> bool {
        self.stamps
    }

    /// Hands bytes to the kernel; gives how many it took.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` when there is no room.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let sent = send(self.fd(), bytes);
            if let Ok(sent) = usize::try_from(sent) {
                return Ok(sent);
            }
            retry_if_interrupted()?;
        }
    }

    /// Takes bytes from the kernel, with the stamp (`CLOCK_REALTIME`, ns) of the segment that carried the last
    /// of them. Zero bytes mean that the other side has closed.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` when there is nothing.
    #[inline]
    pub fn receive(&self, room: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
        loop {
            let (received, stamp) = if self.stamps {
                receive_stamped(self.fd(), room)
            } else {
                // SAFETY: the pointer and length are those of a live, writable slice.
                (unsafe { libc::recv(self.fd(), room.as_mut_ptr().cast(), room.len(), 0) }, None)
            };
            if let Ok(received) = usize::try_from(received) {
                return Ok((received, stamp));
            }
            retry_if_interrupted()?;
        }
    }

    /// Blocks until the socket is ready; an error of kind `TimedOut` when the deadline passes first.
    ///
    /// # Errors
    /// See above.
    pub fn wait(&self, readiness: Readiness, deadline: &Deadline) -> io::Result<()> {
        let events = match readiness {
            Readiness::Readable => libc::POLLIN,
            Readiness::Writable => libc::POLLOUT,
        };
        loop {
            let left = deadline.left_ms();
            if left == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let mut poll = libc::pollfd { fd: self.fd(), events, revents: 0 };
            // SAFETY: one valid pollfd.
            if unsafe { libc::poll(&mut poll, 1, left) } > 0 {
                return Ok(());
            }
        }
    }
}

impl io::Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes)
    }

    /// Nothing is held back.
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The system call itself: the C library's function is a point where threads can be cancelled, which costs two atomic
/// operations, and nobody here cancels threads.
#[cfg(target_os = "linux")]
#[inline]
fn send(fd: RawFd, bytes: &[u8]) -> isize {
    let nobody = std::ptr::null::<libc::sockaddr>();
    // SAFETY: the pointer and length are those of a live slice; there is no address.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_sendto,
            fd,
            bytes.as_ptr(),
            bytes.len(),
            SEND_FLAGS,
            nobody,
            0 as libc::socklen_t,
        )
    };
    sent as isize
}

#[cfg(not(target_os = "linux"))]
fn send(fd: RawFd, bytes: &[u8]) -> isize {
    // SAFETY: the pointer and length are those of a live slice.
    unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), SEND_FLAGS) }
}

#[cold]
fn retry_if_interrupted() -> io::Result<()> {
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
