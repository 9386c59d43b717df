//! A jail in which every syscall is fatal: the proof of "no syscall of our own".
//!
//! The jail is a seccomp *filter*. Strict mode would also turn off the TSC, so that even reading the clock
//! through the vDSO would kill the child.

/// Why the jailed work did not end well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// It made the syscall of this number (a panic shows as `write` or `futex`).
    Syscall(i64),
    /// It died of this signal.
    Signal(i32),
    /// The jail itself could not be built; `errno` of the step that failed.
    NoJail(i32),
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Violation::Syscall(number) => write!(f, "the jailed work made syscall {number}"),
            Violation::Signal(signal) => write!(f, "the jailed work died of signal {signal}"),
            Violation::NoJail(errno) => {
                write!(f, "no seccomp jail here: {}", std::io::Error::from_raw_os_error(*errno))
            }
        }
    }
}

impl std::error::Error for Violation {}

/// Runs `work` in a forked child that may do nothing but end.
///
/// `work` runs on a copy of this process with a single thread: prepare and touch all memory that it needs
/// beforehand, and expect none of its effects here.
///
/// # Errors
/// [`Violation`], with the number of the first syscall.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn no_syscalls(work: impl FnOnce()) -> Result<(), Violation> {
    linux::run(&[], work)
}

/// As [`no_syscalls`], but these (of `libc::SYS_…`) are allowed: the driver's own.
///
/// # Errors
/// [`Violation`], with the number of the first other syscall.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn only_syscalls(allowed: &[libc::c_long], work: impl FnOnce()) -> Result<(), Violation> {
    linux::run(allowed, work)
}

/// What [`only_syscalls_on_threads`] gives each of its threads: runs a piece of work in the jail and does not return.
pub type Jail<'a> = dyn Fn(&mut dyn FnMut()) + 'a;

/// As [`only_syscalls`], for several threads at the same time: in the child, `prepare` is given its thread's number
/// and a jail, and calls it once all is prepared.
///
/// # Errors
/// [`Violation`], with the number of the first syscall of any of them.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn only_syscalls_on_threads(
    allowed: &[libc::c_long],
    count: usize,
    prepare: impl Fn(usize, &Jail<'_>) + Sync,
) -> Result<(), Violation> {
    linux::run_threads(allowed, count, prepare)
}

/// Runs `work` in a forked child in which the kernel answers syscall `number` with `errno`, as a container's
/// filter does; all others pass. Gives what `work` gave: of all its effects, that alone comes back.
///
/// # Errors
/// [`Violation`], when the child could not be made so or did not come to its end (as when `work` panicked).
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn refusing(number: libc::c_long, errno: i32, work: impl FnOnce() -> bool) -> Result<bool, Violation> {
    linux::run_refusing(number, errno, work)
}

/// While this lives, no other thread makes a child by this crate's means: for tests that count page faults, which
/// each fork brings about once more.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn nobody_forks() -> std::sync::MutexGuard<'static, ()> {
    linux::alone()
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use super::Violation;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    const NOTHING: i64 = -1;
    const EXIT_CLEAN: i32 = 0;
    const EXIT_SYSCALL: i32 = 41;
    const EXIT_NO_JAIL: i32 = 42;

    /// One page that parent and child share; null until the first jail is built.
    static SHARED: Mutex<()> = Mutex::new(());
    static mut PAGE: *mut AtomicI64 = std::ptr::null_mut();

    pub(super) fn alone() -> MutexGuard<'static, ()> {
        // A poisoned lock only means that a test failed.
        SHARED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    const EXIT_TRUE: i32 = 43;
    const EXIT_FALSE: i32 = 44;
    const EXIT_PANIC: i32 = 45;

    pub(super) fn run(allowed: &[libc::c_long], work: impl FnOnce()) -> Result<(), Violation> {
        let work = || {
            work();
            EXIT_CLEAN
        };
        match in_child(filter_program(allowed), work)? {
            EXIT_CLEAN => Ok(()),
            other => Err(Violation::NoJail(other)),
        }
    }

    pub(super) fn run_threads(
        allowed: &[libc::c_long],
        count: usize,
        prepare: impl Fn(usize, &super::Jail<'_>) + Sync,
    ) -> Result<(), Violation> {
        let done = AtomicI64::new(0);
        let jail = |work: &mut dyn FnMut()| {
            if build_jail(filter_program(allowed)).is_err() {
                // SAFETY: `_exit` runs no destructors.
                unsafe { libc::_exit(EXIT_NO_JAIL) }
            }
            work();
            done.fetch_add(1, Ordering::SeqCst);
            // To free what was prepared, or to end the thread, would be a syscall.
            loop {
                std::hint::spin_loop();
            }
        };
        let all = || {
            std::thread::scope(|scope| {
                let (prepare, jail, done) = (&prepare, &jail, &done);
                (0..count).for_each(|index| drop(scope.spawn(move || prepare(index, jail))));
                while done.load(Ordering::SeqCst) < count as i64 {
                    clock::pause(units::Nanos::from_millis(1));
                }
                // SAFETY: `_exit` runs no destructors; it ends the threads, too.
                unsafe { libc::_exit(EXIT_CLEAN) }
            })
        };
        // The first thread may do what it likes: it only waits.
        match in_child(allowing_program(), all)? {
            EXIT_CLEAN => Ok(()),
            other => Err(Violation::NoJail(other)),
        }
    }

    pub(super) fn run_refusing(
        number: libc::c_long,
        errno: i32,
        work: impl FnOnce() -> bool,
    ) -> Result<bool, Violation> {
        let work = || {
            // A panic must not unwind into the parent's code, nor wait for a lock that a thread of the parent
            // held during the fork to print its words: it is an end without an answer.
            std::panic::set_hook(Box::new(|_| ()));
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
                Ok(true) => EXIT_TRUE,
                Ok(false) => EXIT_FALSE,
                Err(_) => EXIT_PANIC,
            }
        };
        match in_child(refusal_program(number, errno), work)? {
            EXIT_TRUE => Ok(true),
            EXIT_FALSE => Ok(false),
            _ => Err(Violation::Signal(libc::SIGABRT)),
        }
    }

    /// Runs `work` under the filter `program` and gives the code that it ended with.
    fn in_child(program: Vec<libc::sock_filter>, work: impl FnOnce() -> i32) -> Result<i32, Violation> {
        // One jail at a time: the page is shared by all.
        let _guard = alone();
        let page = map_page()?;
        // SAFETY: `page` points to a live shared mapping of at least eight bytes, aligned to a page.
        let report = unsafe { &*page };
        report.store(NOTHING, Ordering::SeqCst);
        // SAFETY: only the thread that holds the lock writes PAGE, and the handler of the child reads it.
        unsafe { PAGE = page };
        // SAFETY: the child runs `work` and then ends by `_exit`; it returns to nobody.
        let status = match unsafe { libc::fork() } {
            -1 => return Err(Violation::NoJail(errno())),
            0 => {
                let code = match build_jail(program) {
                    Ok(()) => work(),
                    Err(error) => {
                        report.store(i64::from(error), Ordering::SeqCst);
                        EXIT_NO_JAIL
                    }
                };
                // SAFETY: `_exit` runs no destructors, which belong to the parent.
                unsafe { libc::_exit(code) }
            }
            child => wait_for(child),
        };
        let told = report.load(Ordering::SeqCst);
        // SAFETY: `page` was mapped by `map_page` with this length and nobody uses it any more.
        unsafe { libc::munmap(page.cast(), PAGE_SIZE) };
        if libc::WIFSIGNALED(status) {
            return Err(Violation::Signal(libc::WTERMSIG(status)));
        }
        match libc::WEXITSTATUS(status) {
            EXIT_SYSCALL => Err(Violation::Syscall(told)),
            EXIT_NO_JAIL => Err(Violation::NoJail(i32::try_from(told).unwrap_or(0))),
            code => Ok(code),
        }
    }

    const PAGE_SIZE: usize = 4096;

    fn map_page() -> Result<*mut AtomicI64, Violation> {
        // SAFETY: an anonymous mapping of one page; the result is checked.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE_SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED { Err(Violation::NoJail(errno())) } else { Ok(page.cast()) }
    }

    fn wait_for(child: libc::pid_t) -> i32 {
        let mut status = 0;
        // SAFETY: `child` is our own and `status` is valid; a signal only makes us wait again.
        while unsafe { libc::waitpid(child, &mut status, 0) } == -1 && errno() == libc::EINTR {}
        status
    }

    fn errno() -> i32 {
        std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
    }

    extern "C" fn on_sigsys(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // The kernel's layout on 64-bit machines: three ints, padding, the caller's address, the number.
        const NUMBER_OFFSET: usize = 24;
        // SAFETY: the kernel gives a full siginfo_t (128 bytes); PAGE was set before the fork.
        unsafe {
            let number = info.cast::<u8>().add(NUMBER_OFFSET).cast::<i32>().read_unaligned();
            (*PAGE).store(i64::from(number), Ordering::SeqCst);
            libc::_exit(EXIT_SYSCALL)
        }
    }

    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

    fn filter(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
        libc::sock_filter { code, jt, jf, k }
    }

    /// Allows everything: a jail with open doors.
    fn allowing_program() -> Vec<libc::sock_filter> {
        vec![filter(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0)]
    }

    /// Answers one syscall with an errno and allows the rest.
    fn refusal_program(number: libc::c_long, errno: i32) -> Vec<libc::sock_filter> {
        let refuse = libc::SECCOMP_RET_ERRNO | (errno as u32 & libc::SECCOMP_RET_DATA);
        vec![
            filter(LOAD, 0, 0, 0), // seccomp_data.nr
            filter(EQUAL, number as u32, 0, 1),
            filter(RETURN, refuse, 0, 0),
            filter(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        ]
    }

    /// Allows the ends of the process and `allowed`, traps the rest. One comparison and one return each, so
    /// that no jump is longer than one instruction.
    fn filter_program(allowed: &[libc::c_long]) -> Vec<libc::sock_filter> {
        let mut program = vec![filter(LOAD, 0, 0, 0)]; // seccomp_data.nr
        for number in [libc::SYS_exit_group, libc::SYS_exit].iter().chain(allowed) {
            program.push(filter(EQUAL, *number as u32, 0, 1));
            program.push(filter(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
        }
        program.push(filter(RETURN, libc::SECCOMP_RET_TRAP, 0, 0));
        program
    }

    fn build_jail(mut program: Vec<libc::sock_filter>) -> Result<(), i32> {
        let handle = libc::sock_fprog { len: program.len() as libc::c_ushort, filter: program.as_mut_ptr() };
        // SAFETY: plain calls with valid arguments; `program` outlives the call that copies it.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_sigsys as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            if libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()) != 0
                || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &handle) != 0
            {
                return Err(errno());
            }
        }
        std::mem::forget(program); // freeing it might be a syscall
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_and_clock_readings_pass() {
        use clock::Clock;
        let clock = clock::calibrate(clock::ClockChoice::Auto).unwrap().start();
        let mut sum = 0_u64;
        assert_eq!(no_syscalls(|| sum = sum.wrapping_add(clock.now().0)), Ok(()));
        assert_eq!(no_syscalls(|| assert!(clock::wall_time_ns() > 0)), Ok(()));
    }

    #[test]
    fn a_syscall_is_caught_by_its_number() {
        // SAFETY: `getppid` takes nothing and cannot fail.
        let caught = no_syscalls(|| assert!(unsafe { libc::getppid() } > 0));
        assert_eq!(caught, Err(Violation::Syscall(libc::SYS_getppid)));
        let caught = no_syscalls(|| clock::pause(units::Nanos::from_millis(1)));
        assert!(matches!(caught, Err(Violation::Syscall(_))), "{caught:?}");
    }

    #[test]
    fn only_what_is_allowed_passes() {
        // SAFETY: these take nothing and cannot fail.
        let parent = || assert!(unsafe { libc::getppid() } > 0);
        let user = || assert!(unsafe { libc::getuid() } < u32::MAX);
        assert_eq!(only_syscalls(&[libc::SYS_getppid, libc::SYS_getuid], || (parent(), user()).0), Ok(()));
        let caught = only_syscalls(&[libc::SYS_getppid], || (parent(), user()).0);
        assert_eq!(caught, Err(Violation::Syscall(libc::SYS_getuid)));
    }

    #[test]
    fn each_of_several_threads_is_jailed() {
        let work = |culprit: usize| {
            move |index: usize, jail: &Jail<'_>| {
                // SAFETY: `getppid` takes nothing and cannot fail.
                let parent = || assert!(unsafe { libc::getppid() } > 0);
                parent();
                jail(&mut || {
                    if index == culprit {
                        parent();
                    }
                });
            }
        };
        assert_eq!(only_syscalls_on_threads(&[], 2, work(2)), Ok(()));
        for culprit in [0, 1] {
            let caught = only_syscalls_on_threads(&[], 2, work(culprit));
            assert_eq!(caught, Err(Violation::Syscall(libc::SYS_getppid)));
        }
    }

    #[test]
    fn one_syscall_is_refused_and_the_others_pass() {
        // SAFETY: it takes nothing. By its number, since the wrapper knows of no error.
        let parent = || unsafe { libc::syscall(libc::SYS_getppid) };
        let refused = || parent() == -1 && std::io::Error::last_os_error().raw_os_error() == Some(99);
        assert_eq!(refusing(libc::SYS_getppid, 99, refused), Ok(true));
        assert_eq!(refusing(libc::SYS_getpgrp, 99, refused), Ok(false));
        assert!(refusing(libc::SYS_getppid, 99, || unreachable!("an end without an answer")).is_err());
    }

    #[test]
    fn a_crash_is_not_mistaken_for_success() {
        // SAFETY: raising a signal is harmless; the jail stops it as the syscall that it is.
        let caught = no_syscalls(|| unsafe { libc::abort() });
        assert!(caught.is_err(), "{caught:?}");
    }
}
