//! Waiting for descriptors and for time, on a live worker.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use units::Nanos;

/// The tasks whose descriptors are ready, by epoll; edge-triggered, registered once for each connection.
pub(crate) struct Readiness {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// False once the kernel has said that it lacks epoll_pwait2 (before Linux 5.11).
    has_pwait2: bool,
    registered: usize,
    /// Tasks to run next, with room for all of them: the worker's scratch list.
    pub(crate) ready: Vec<u32>,
}

impl Readiness {
    /// For up to `tasks` descriptors.
    ///
    /// # Errors
    /// The kernel's, when the process has no descriptor left.
    pub(crate) fn new(tasks: usize) -> io::Result<Readiness> {
        // SAFETY: a plain call; the result is checked and owned at once.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` is a fresh descriptor that nobody else owns.
        let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; tasks.clamp(1, 256)];
        Ok(Readiness {
            epoll,
            events,
            has_pwait2: true,
            registered: 0,
            ready: Vec::with_capacity(tasks + 256),
        })
    }

    /// Reports `task` whenever `fd` becomes readable or writable, or breaks, from now on. Closing the
    /// descriptor ends it.
    pub(crate) fn register(&mut self, fd: RawFd, task: u32) -> io::Result<()> {
        let interest = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut event = libc::epoll_event { events: interest as u32, u64: u64::from(task) };
        // SAFETY: both descriptors are open and `event` is valid for the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) };
        self.registered += 1;
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Whether there is anything to wait for besides time.
    pub(crate) fn has_descriptors(&self) -> bool {
        self.registered > 0
    }

    /// Waits until a descriptor is ready or `limit` has passed; appends the ready tasks to `ready`.
    /// Interrupted waits count as over.
    pub(crate) fn wait(&mut self, limit: Nanos) {
        let count = self.wait_kernel(limit);
        self.ready.extend(self.events[..count].iter().map(|event| event.u64 as u32));
    }

    fn wait_kernel(&mut self, limit: Nanos) -> usize {
        let capacity = self.events.len() as libc::c_int;
        if self.has_pwait2 {
            let timeout = libc::timespec {
                tv_sec: (limit.0 / 1_000_000_000) as libc::time_t,
                tv_nsec: (limit.0 % 1_000_000_000) as libc::c_long,
            };
            // SAFETY: the event buffer holds `capacity` entries, the timeout is valid, the mask is null.
            let count = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    self.epoll.as_raw_fd(),
                    self.events.as_mut_ptr(),
                    capacity,
                    &timeout,
                    std::ptr::null::<libc::sigset_t>(),
                    0usize,
                )
            };
            if count >= 0 {
                return count as usize;
            }
            if io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS) {
                return 0;
            }
            self.has_pwait2 = false;
        }
        // Rounded down: the worker spins for the rest.
        let millis = (limit.0 / 1_000_000).min(1000) as libc::c_int;
        // SAFETY: as above.
        let count =
            unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), capacity, millis) };
        count.max(0) as usize
    }
}
