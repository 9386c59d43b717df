//! Readiness of descriptors, by epoll.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use units::Nanos;

/// What a descriptor is known by: a listener's index, or a connection's slot and how often the slot was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token(u64);

const LISTENER: u64 = 1 << 63;

impl Token {
    pub(super) fn listener(index: usize) -> Token {
        Token(LISTENER | index as u64)
    }

    pub(super) fn connection(slot: u32, number: u32) -> Token {
        // Numbers are never used again, so an old event can't be taken for a new connection's.
        Token((u64::from(number & 0x7FFF_FFFF) << 32) | u64::from(slot))
    }

    pub(super) fn listener_index(self) -> Option<usize> {
        (self.0 & LISTENER != 0).then_some((self.0 & !LISTENER) as usize)
    }

    pub(super) fn slot(self) -> usize {
        (self.0 & 0xFFFF_FFFF) as usize
    }
}

/// What an event says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Readiness {
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// Reset, or closed on both sides.
    pub(super) gone: bool,
}

/// Lets the process have as many descriptors as its hard limit allows; the soft one is 1,024 where nobody has raised it.
/// Without success there are as many connections as there are descriptors.
pub(super) fn allow_descriptors() {
    // SAFETY: both calls take a pointer to a live structure of their own.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// Descriptors that connections leave free, for files that the process opens meanwhile: parts of a log, for one.
const KEPT_FREE: i32 = 64;

/// Connections may have descriptors below this number: all but [`KEPT_FREE`] of the process, or three quarters where it may
/// not have many.
pub(super) fn descriptors_for_connections() -> i32 {
    // SAFETY: the call takes a pointer to a live structure of its own.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return i32::MAX;
        }
        i32::try_from(limit.rlim_cur).unwrap_or(i32::MAX)
    };
    limit - KEPT_FREE.min(limit / 4)
}

/// Events taken at a time: few, since due times are looked at after each.
pub(super) const EVENTS: usize = 32;

pub(super) struct Poll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Poll {
    pub(super) fn new() -> io::Result<Poll> {
        // SAFETY: a plain call; the result is checked and owned at once.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` is a fresh descriptor that nobody else owns.
        let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Poll { epoll, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS] })
    }

    /// Watches a new descriptor. Level-triggered: what is not taken is told again. Closing ends it.
    pub(super) fn watch(&self, fd: RawFd, token: Token, read: bool, write: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, read, write)
    }

    /// Changes what is watched for.
    pub(super) fn change(&self, fd: RawFd, token: Token, read: bool, write: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, read, write)
    }

    fn control(
        &self,
        operation: libc::c_int,
        fd: RawFd,
        token: Token,
        read: bool,
        write: bool,
    ) -> io::Result<()> {
        let mut interest = 0;
        if read {
            interest |= libc::EPOLLIN;
        }
        if write {
            interest |= libc::EPOLLOUT;
        }
        let mut event = libc::epoll_event { events: interest as u32, u64: token.0 };
        // SAFETY: our descriptor is open, the kernel checks the other, and `event` is valid for the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// How many descriptors are ready, waiting for the first up to `nap`.
    pub(super) fn wait(&mut self, nap: Nanos) -> io::Result<usize> {
        let timeout = i32::try_from(nap.0 / 1_000_000).unwrap_or(i32::MAX);
        // SAFETY: the event buffer holds as many entries as said.
        let count = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), EVENTS as libc::c_int, timeout)
        };
        if let Ok(count) = usize::try_from(count) {
            return Ok(count);
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) }
    }

    pub(super) fn event(&self, index: usize) -> (Token, Readiness) {
        let event = self.events[index];
        let bits = event.events as libc::c_int;
        let readiness = Readiness {
            readable: bits & libc::EPOLLIN != 0,
            writable: bits & libc::EPOLLOUT != 0,
            gone: bits & (libc::EPOLLERR | libc::EPOLLHUP) != 0,
        };
        (Token(event.u64), readiness)
    }
}
