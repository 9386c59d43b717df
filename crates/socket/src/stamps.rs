//! The kernel's stamps of what arrives.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::OnceLock;

/// How often the kernel is asked whether it stamps by now, and how many ms lie between.
const TRIES: u32 = 250;
const PAUSE_MS: libc::c_int = 2;

/// Lets the kernel stamp what arrives at a socket; whether it will.
///
/// Linux stamps segments only while some socket asks for it, and switches that on by deferred work: what arrives within
/// the next moment has no stamp. So the first call lets a socket of its own ask, waits until that one gets a stamp, and
/// keeps it for as long as the process lives.
pub(crate) fn ask_for_stamps(fd: RawFd) -> bool {
    static KEEPER: OnceLock<Option<UdpSocket>> = OnceLock::new();
    let asked = ask(fd);
    if asked {
        KEEPER.get_or_init(|| stamped_loop().ok().flatten());
    }
    asked
}

/// A socket that talks to itself and has got a stamp; `None` when there was none in time.
fn stamped_loop() -> io::Result<Option<UdpSocket>> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(socket.local_addr()?)?;
    socket.set_nonblocking(true)?;
    if !ask(socket.as_raw_fd()) {
        return Ok(None);
    }
    for _ in 0..TRIES {
        socket.send(&[0])?;
        // What a socket sends itself over loopback is there when it was sent.
        if let (1.., Some(_)) = receive_stamped(socket.as_raw_fd(), &mut [0; 8]) {
            return Ok(Some(socket));
        }
        let mut nothing = libc::pollfd { fd: socket.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&mut nothing, 1, PAUSE_MS) };
    }
    Ok(None)
}

#[cfg(target_os = "linux")]
fn ask(fd: RawFd) -> bool {
    // Stamps are taken where a segment enters this host's stack, and are reported in software's own clock.
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option takes one unsigned integer of this size.
    let result = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of_val(&flags) as libc::socklen_t,
        )
    };
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn ask(_fd: RawFd) -> bool {
    false
}

/// Room for one stamp message (a header and three timespecs), aligned as the kernel wants it.
#[cfg(target_os = "linux")]
#[repr(C, align(8))]
struct Control([std::mem::MaybeUninit<u8>; 96]);

#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn receive_stamped(fd: RawFd, room: &mut [u8]) -> (isize, Option<u64>) {
    let mut control = Control([std::mem::MaybeUninit::uninit(); 96]);
    let mut vector = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: an all-zero msghdr is valid (musl has private padding fields); all pointers that are set below
    // outlive the call, and the control messages are read only as far as the kernel says it wrote them.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut vector;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>() as _;
        // Not the C library's function: see `send` in `stream`.
        let received = libc::syscall(libc::SYS_recvmsg, fd, &raw mut message, 0 as libc::c_int) as isize;
        if received <= 0 {
            return (received, None);
        }
        let mut stamp = None;
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SO_TIMESTAMPING {
                let time = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                // Zero: the segment arrived before stamps were switched on.
                if time.tv_sec > 0 {
                    stamp = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
                }
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
        (received, stamp)
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn receive_stamped(fd: RawFd, room: &mut [u8]) -> (isize, Option<u64>) {
    // SAFETY: the pointer and length are those of a live, writable slice.
    (unsafe { libc::recv(fd, room.as_mut_ptr().cast(), room.len(), 0) }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn whoever_has_asked_once_gets_stamps_from_the_first_byte_on() {
        assert!(stamped_loop().unwrap().is_some(), "no stamp in {} ms", TRIES * PAUSE_MS as u32);
    }
}
