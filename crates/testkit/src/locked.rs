//! Counts the locked instructions of a piece of work: the proof of "no lock".
//!
//! A lock that nobody else holds makes no system call, so a jail does not see it. But whoever takes a lock must
//! read and write one word at once, and on x86-64 that is a locked instruction: one with the `lock` prefix, or an
//! exchange with memory. The work runs in a child, one instruction at a time, and each is looked at.
//!
//! What this shows: how many such instructions were executed, in whatever library. What it does not show: a lock
//! that is made of plain loads, stores and fences (Dekker, Peterson); nothing in use is. Only for x86-64 on Linux:
//! elsewhere an atomic access is a loop of instructions that single steps never let come to its end.

use crate::syscalls::Violation;

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Locked instructions between the first and the last mark.
    pub locked: u64,
    /// How often the work came by a [`mark`].
    pub marks: u64,
}

impl Counted {
    /// Locked instructions from each mark to the next.
    pub fn each(&self) -> f64 {
        self.locked as f64 / self.marks.saturating_sub(1) as f64
    }
}

/// The bytes of an instruction that does nothing and that no compiler writes: `nop [rax + 0x6B72616D]`.
const MARK: [u8; 7] = [0x0F, 0x1F, 0x80, b'm', b'a', b'r', b'k'];

/// A place that [`locked_instructions`] counts from and to; else it does nothing.
#[inline(always)]
pub fn mark() {
    // SAFETY: an instruction without any effect.
    unsafe { std::arch::asm!(".byte 0x0F, 0x1F, 0x80, 0x6D, 0x61, 0x72, 0x6B", options(nomem, nostack)) }
}

/// Runs `work` in a forked child, step by step, and counts its locked instructions between the first and the last
/// [`mark`] that it comes by; ≈ 5 µs for each instruction.
///
/// `work` runs on a copy of this process, in which only an idle thread is left of the others: expect none of its
/// effects here.
///
/// # Errors
/// [`Violation`], when the child could not be traced or did not come to its end.
pub fn locked_instructions(work: impl FnOnce()) -> Result<Counted, Violation> {
    let _guard = crate::syscalls::nobody_forks();
    // SAFETY: the child runs `work` and then ends by `_exit`; it returns to nobody.
    match unsafe { libc::fork() } {
        -1 => Err(Violation::NoJail(errno())),
        0 => {
            // The C library leaves the `lock` out while a process has one thread.
            // SAFETY: `pause` takes nothing.
            std::thread::spawn(|| while unsafe { libc::pause() } == -1 {});
            // SAFETY: plain calls; the parent waits for the stop. `_exit` runs no destructors.
            unsafe {
                if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == -1 {
                    libc::_exit(EXIT_NO_TRACE);
                }
                libc::raise(libc::SIGSTOP);
                work();
                libc::_exit(0)
            }
        }
        child => step_through(child),
    }
}

const EXIT_NO_TRACE: i32 = 42;

fn step_through(child: libc::pid_t) -> Result<Counted, Violation> {
    let mut counted = Counted { locked: 0, marks: 0 };
    let mut since_mark = 0;
    let mut status = wait(child);
    while libc::WIFSTOPPED(status) {
        match libc::WSTOPSIG(status) {
            libc::SIGSTOP | libc::SIGTRAP => {
                let instruction = next_instruction(child);
                since_mark += u64::from(is_locked(instruction));
                if instruction.starts_with(&MARK) {
                    counted.locked += if counted.marks > 0 { since_mark } else { 0 };
                    counted.marks += 1;
                    since_mark = 0;
                }
            }
            signal => {
                // SAFETY: the child is ours and stopped.
                unsafe { libc::ptrace(libc::PTRACE_KILL, child, 0, 0) };
                wait(child);
                return Err(Violation::Signal(signal));
            }
        }
        // SAFETY: the child is ours and stopped; no signal is handed on.
        if unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) } == -1 {
            return Err(Violation::NoJail(errno()));
        }
        status = wait(child);
    }
    match libc::WEXITSTATUS(status) {
        _ if libc::WIFSIGNALED(status) => Err(Violation::Signal(libc::WTERMSIG(status))),
        0 => Ok(counted),
        code => Err(Violation::NoJail(code)),
    }
}

/// The first eight bytes of the instruction that the child executes next.
fn next_instruction(child: libc::pid_t) -> [u8; 8] {
    const RIP: usize = std::mem::offset_of!(libc::user_regs_struct, rip);
    // SAFETY: both look into a stopped child of ours; its code goes on for eight bytes behind any instruction
    // that is not the last of a mapping, and there the call fails and gives all ones, which is no lock.
    unsafe {
        let at = libc::ptrace(libc::PTRACE_PEEKUSER, child, RIP, 0);
        libc::ptrace(libc::PTRACE_PEEKTEXT, child, at, 0).to_le_bytes()
    }
}

/// Whether these bytes are a locked instruction (Intel SDM, vol. 2A, 2.1.1 and vol. 3A, 9.1.2).
fn is_locked(bytes: [u8; 8]) -> bool {
    const PREFIXES: [u8; 10] = [0x66, 0x67, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65];
    let mut rest = bytes.iter().copied().skip_while(|byte| PREFIXES.contains(byte)).peekable();
    if rest.peek() == Some(&0xF0) {
        return true;
    }
    let mut rest = rest.skip_while(|byte| (0x40..=0x4F).contains(byte));
    let exchange = matches!(rest.next(), Some(0x86 | 0x87));
    let with_memory = rest.next().is_some_and(|operands| operands >> 6 != 0b11);
    exchange && with_memory
}

fn wait(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: `child` is our own and `status` is valid; a signal only makes us wait again.
    while unsafe { libc::waitpid(child, &mut status, 0) } == -1 && errno() == libc::EINTR {}
    status
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, RwLock};

    /// Locked instructions of `work`, each time it is done.
    fn each(work: impl Fn()) -> f64 {
        let all = || {
            mark();
            (0..100).for_each(|_| {
                work();
                mark();
            });
        };
        let counted = locked_instructions(all).unwrap();
        assert_eq!(counted.marks, 101);
        counted.each()
    }

    #[test]
    fn plain_work_is_free_of_them() {
        let (word, cell) = (AtomicU64::new(0), std::cell::RefCell::new(0_u64));
        let plain = || {
            word.store(word.load(Ordering::Acquire) + 1, Ordering::Release);
            *cell.borrow_mut() += 1;
        };
        assert_eq!(each(plain), 0.0);
        assert_eq!(each(|| assert!(clock::wall_time_ns() > 0)), 0.0);
    }

    #[test]
    fn locks_that_nobody_holds_are_seen() {
        let (mutex, lock) = (Mutex::new(0_u64), RwLock::new(0_u64));
        assert_eq!(each(|| *mutex.lock().unwrap() += 1), 2.0, "taken and given back");
        assert_eq!(each(|| *lock.write().unwrap() += 1), 2.0);
        assert_eq!(each(|| assert!(*lock.read().unwrap() == 0)), 2.0);
        let word = AtomicU64::new(0);
        assert_eq!(each(|| assert!(word.fetch_add(1, Ordering::Relaxed) < 1000)), 1.0);
        assert_eq!(
            each(|| assert!(word.swap(7, Ordering::Relaxed) < 1000)),
            1.0,
            "an exchange needs no prefix"
        );
        // SAFETY: an initialised mutex of this frame, taken and given back by one thread.
        let pthreads = || unsafe {
            static mut OTHER: libc::pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;
            libc::pthread_mutex_lock(&raw mut OTHER);
            libc::pthread_mutex_unlock(&raw mut OTHER);
        };
        assert_eq!(each(pthreads), 2.0);
    }

    #[test]
    fn a_crash_is_not_mistaken_for_success() {
        // SAFETY: raising a signal is harmless.
        assert!(locked_instructions(|| unsafe { libc::abort() }).is_err());
    }

    #[test]
    fn instructions_are_told_apart() {
        let is = |bytes: &[u8]| {
            let mut room = [0x90; 8];
            room[..bytes.len()].copy_from_slice(bytes);
            is_locked(room)
        };
        assert!(is(&[0xF0, 0x48, 0x0F, 0xC1, 0x07]), "lock xadd [rdi], rax");
        assert!(is(&[0x64, 0xF0, 0x0F, 0xB1, 0x0F]), "lock cmpxchg fs:[rdi], ecx");
        assert!(is(&[0x48, 0x87, 0x07]) && is(&[0x86, 0x07]), "xchg [rdi], rax");
        assert!(!is(&[0x48, 0x87, 0xC3]), "xchg rbx, rax");
        assert!(!is(&[0x48, 0x89, 0x07]) && !is(&[0x0F, 0xAE, 0xF0]), "mov [rdi], rax; mfence");
    }
}
