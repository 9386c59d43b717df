//! Readiness of descriptors, by epoll. Level-triggered: what is not taken is told again.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Events taken at a time.
const EVENTS: usize = 256;

/// Lets this process have as many descriptors as its hard limit allows; the soft one is 1,024 where nobody has raised it.
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

/// What a descriptor is watched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interest {
    Nothing,
    Bytes,
    /// Room to send.
    Room,
}

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

    /// Watches a new descriptor for bytes. Closing it ends that.
    pub(super) fn watch(&self, fd: RawFd, token: usize) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, Interest::Bytes)
    }

    /// Changes what it is watched for.
    pub(super) fn change(&self, fd: RawFd, token: usize, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    fn control(&self, operation: libc::c_int, fd: RawFd, token: usize, interest: Interest) -> io::Result<()> {
        let interest = match interest {
            Interest::Nothing => 0,
            Interest::Bytes => libc::EPOLLIN,
            Interest::Room => libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event { events: interest as u32, u64: token as u64 };
        // SAFETY: our descriptor is open, the kernel checks the other, and `event` is valid for the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// How many descriptors are ready, waiting for the first at most so long.
    pub(super) fn wait(&mut self, milliseconds: i32) -> io::Result<usize> {
        // SAFETY: the event buffer holds as many entries as said.
        let count = unsafe {
            let epoll = self.epoll.as_raw_fd();
            libc::epoll_wait(epoll, self.events.as_mut_ptr(), EVENTS as libc::c_int, milliseconds)
        };
        if let Ok(count) = usize::try_from(count) {
            return Ok(count);
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) }
    }

    /// The token of the n-th that is ready.
    pub(super) fn ready(&self, index: usize) -> usize {
        let event = self.events[index];
        event.u64 as usize
    }
}
