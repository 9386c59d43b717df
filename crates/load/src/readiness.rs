//! Waiting for descriptors and for time, on a live worker.

use crate::local::Registration;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use units::Nanos;

/// What a worker waits with: the kernel, or a simulated clock in tests.
pub(crate) trait Waiting {
    /// Reports the task whenever its descriptor becomes readable or breaks, from now on; writable too, if it
    /// asks for that. Another registration of the same descriptor takes the place of the first, and reports
    /// what is there already.
    ///
    /// # Errors
    /// The kernel's: `EBADF` when the descriptor is closed, `ENOSPC` or `ENOMEM` when it can't watch more.
    fn register(&mut self, registration: Registration) -> io::Result<()>;

    /// Waits until a descriptor is ready or `limit` has passed; appends the ready tasks to `ready`.
    /// Interrupted waits count as over.
    fn wait(&mut self, limit: Nanos, ready: &mut Vec<u32>);
}

/// The tasks of one worker that are to run next, and what it waits with.
pub(crate) struct Readiness<W = Epoll> {
    waiting: W,
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
        Ok(Readiness::with(Epoll::new(tasks)?, tasks))
    }
}

impl<W: Waiting> Readiness<W> {
    pub(crate) fn with(waiting: W, tasks: usize) -> Readiness<W> {
        Readiness { waiting, registered: 0, ready: Vec::with_capacity(tasks + MOST_EVENTS) }
    }

    /// As [`Waiting::register`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn register(&mut self, registration: Registration) -> io::Result<()> {
        self.registered += 1;
        self.waiting.register(registration)
    }

    /// Whether there is anything to wait for besides time.
    pub(crate) fn has_descriptors(&self) -> bool {
        self.registered > 0
    }

    /// As [`Waiting::wait`], to the list of this.
    pub(crate) fn wait(&mut self, limit: Nanos) {
        self.waiting.wait(limit, &mut self.ready);
    }
}

/// Events that one wait can give.
const MOST_EVENTS: usize = 256;

/// The kernel's readiness; edge-triggered, registered once for each connection. Closing a descriptor ends it.
pub(crate) struct Epoll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// False once epoll_pwait2 was refused: the kernel lacks it (before Linux 5.11), or a sandbox forbids it.
    has_pwait2: bool,
}

impl Epoll {
    fn new(tasks: usize) -> io::Result<Epoll> {
        // SAFETY: a plain call; the result is checked and owned at once.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` is a fresh descriptor that nobody else owns.
        let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; tasks.clamp(1, MOST_EVENTS)];
        Ok(Epoll { epoll, events, has_pwait2: true })
    }

    fn control(&self, operation: libc::c_int, registration: Registration) -> io::Result<()> {
        let Registration { fd, task, room } = registration;
        let room = if room { libc::EPOLLOUT } else { 0 };
        let interest = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET | room;
        let mut event = libc::epoll_event { events: interest as u32, u64: u64::from(task) };
        // SAFETY: our descriptor is open, the kernel checks the other, and `event` is valid for the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// How many events there are, by epoll_pwait2; `None` when that was refused, now or before.
    fn wait_finely(&mut self, limit: Nanos) -> Option<usize> {
        if !self.has_pwait2 {
            return None;
        }
        let timeout = libc::timespec {
            tv_sec: (limit.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (limit.0 % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the event buffer holds as many entries as said, the timeout is valid, the mask is null.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                &timeout,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        if count >= 0 {
            return Some(count as usize);
        }
        // Whatever else the errno: the older call can do all that is needed. Sandboxes answer unknown calls
        // with EPERM and not with ENOSYS; taken for "nothing is ready", it would be the same each time.
        let interrupted = io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        self.has_pwait2 = interrupted;
        interrupted.then_some(0)
    }

    /// As `wait_finely`, by epoll_wait: in whole milliseconds, rounded down; the worker spins for the rest.
    fn wait_coarsely(&mut self, limit: Nanos) -> usize {
        let millis = (limit.0 / 1_000_000).min(1000) as libc::c_int;
        let capacity = self.events.len() as libc::c_int;
        // SAFETY: the event buffer holds `capacity` entries.
        let count =
            unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), capacity, millis) };
        count.max(0) as usize
    }
}

impl Waiting for Epoll {
    fn register(&mut self, registration: Registration) -> io::Result<()> {
        match self.control(libc::EPOLL_CTL_ADD, registration) {
            // It is watched already, for another task, an earlier session of this one, or for more or less. The
            // change re-arms it, so that what is there already is reported.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                self.control(libc::EPOLL_CTL_MOD, registration)
            }
            result => result,
        }
    }

    fn wait(&mut self, limit: Nanos, ready: &mut Vec<u32>) {
        let count = self.wait_finely(limit).unwrap_or_else(|| self.wait_coarsely(limit));
        ready.extend(self.events[..count].iter().map(|event| event.u64 as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use testkit::syscalls::refusing;

    fn answers(descriptor: &impl AsRawFd, task: u32) -> Registration {
        Registration { fd: descriptor.as_raw_fd(), task, room: false }
    }

    /// A worker that waits for answers does not wake because a server has read a request.
    #[test]
    fn room_to_send_is_reported_to_those_who_wait_for_it() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut readiness = Readiness::new(1).unwrap();
        readiness.register(answers(&ours, 3)).unwrap();
        assert!(ready(&mut readiness).is_empty());
        readiness.register(Registration { room: true, ..answers(&ours, 3) }).unwrap();
        assert_eq!(ready(&mut readiness), [3]);
        readiness.register(answers(&ours, 3)).unwrap();
        assert!(ready(&mut readiness).is_empty());
    }

    fn ready(readiness: &mut Readiness) -> Vec<u32> {
        readiness.wait(Nanos::ZERO);
        std::mem::take(&mut readiness.ready)
    }

    #[test]
    fn a_sandbox_that_refuses_the_newer_call_hides_no_answer() {
        // ENOSYS says that a kernel lacks it; EPERM is what older container runtimes say of any unknown call.
        for errno in [libc::ENOSYS, libc::EPERM, libc::EACCES] {
            let (reader, mut writer) = io::pipe().unwrap();
            let mut readiness = Readiness::new(1).unwrap();
            readiness.register(answers(&reader, 7)).unwrap();
            writer.write_all(b"x").unwrap();
            let outcome = refusing(libc::SYS_epoll_pwait2, errno, || ready(&mut readiness) == [7]);
            assert_eq!(outcome, Ok(true), "errno {errno}");
        }
    }

    #[test]
    fn canary_the_refusal_is_real() {
        let refused = || {
            let readiness = Readiness::new(1).unwrap();
            let mut epoll = readiness.waiting;
            (epoll.wait_finely(Nanos::ZERO), epoll.has_pwait2) == (None, false)
        };
        assert_eq!(refusing(libc::SYS_epoll_pwait2, libc::EPERM, refused), Ok(true));
        assert_eq!(refusing(libc::SYS_getppid, libc::EPERM, refused), Ok(false));
    }

    #[test]
    fn a_descriptor_that_is_used_again_is_reported_to_its_new_task() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut readiness = Readiness::new(2).unwrap();
        readiness.register(answers(&reader, 0)).unwrap();
        writer.write_all(b"x").unwrap();
        assert_eq!(ready(&mut readiness), [0]);
        // Nobody has read it: only a registration that re-arms reports it again.
        assert_eq!(ready(&mut readiness), [0; 0]);
        readiness.register(answers(&reader, 1)).unwrap();
        assert_eq!(ready(&mut readiness), [1]);
    }

    #[test]
    fn a_closed_descriptor_is_told_from_a_kernel_that_has_no_room() {
        let mut readiness = Readiness::new(1).unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let fd = reader.as_raw_fd();
        let no_room = refusing(libc::SYS_epoll_ctl, libc::ENOSPC, || {
            let error = readiness.register(Registration { fd, task: 0, room: false }).unwrap_err();
            error.raw_os_error() == Some(libc::ENOSPC)
        });
        assert_eq!(no_room, Ok(true));
        drop((reader, writer)); // kept open until here
        assert_eq!(
            readiness.register(Registration { fd: -1, task: 0, room: false }).unwrap_err().raw_os_error(),
            Some(libc::EBADF)
        );
    }
}
