//! How long the scheduler lets a thread run at a time, and with that, how soon it runs when it wakes.

use units::Nanos;

/// What came of asking for short slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShortSlices {
    /// The kernel has taken the length, as read back.
    Granted,
    /// The kernel knows no slices for each thread (before Linux 6.12, or not Linux).
    Unsupported,
    /// The thread runs under a policy that has no slices, e.g. a real-time one; it was left alone.
    OtherPolicy,
    /// The kernel refused.
    Refused,
}

impl std::fmt::Display for ShortSlices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ShortSlices::Granted => "granted",
            ShortSlices::Unsupported => "unknown to this kernel (Linux 6.12 has it)",
            ShortSlices::OtherPolicy => "not asked: the thread runs under another policy",
            ShortSlices::Refused => "refused",
        })
    }
}

/// Asks for slices of `length` (the kernel takes 0.1 to 100 ms) for the calling thread. Needs no privilege.
///
/// The thread's share of a busy CPU stays what it was. What changes is that on waking it may go before a thread
/// with longer slices that runs at that moment, instead of waiting for the end of its slice or for the next tick
/// (EEVDF's PREEMPT_SHORT, Linux 6.12). For a thread that wakes often and works for microseconds, that is the
/// difference between 0.1 and 4 ms. ≈ 1 µs; for the start of a thread.
pub fn ask_for_short_slices(length: Nanos) -> ShortSlices {
    #[cfg(target_os = "linux")]
    {
        let Some(mut attributes) = linux::read() else { return ShortSlices::Refused };
        let policy = attributes.sched_policy as libc::c_int;
        if !matches!(policy, libc::SCHED_OTHER | libc::SCHED_BATCH) {
            return ShortSlices::OtherPolicy;
        }
        attributes.sched_runtime = length.0;
        if !linux::write(&mut attributes) {
            return ShortSlices::Refused;
        }
        match linux::read() {
            Some(now) if now.sched_runtime == length.0 => ShortSlices::Granted,
            _ => ShortSlices::Unsupported,
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = length;
        ShortSlices::Unsupported
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use libc::sched_attr;

    /// The calling thread's scheduling attributes.
    pub(super) fn read() -> Option<sched_attr> {
        // SAFETY: all-zero attributes are valid; the size tells the kernel how much it may write.
        unsafe {
            let mut attributes: sched_attr = std::mem::zeroed();
            let size = std::mem::size_of_val(&attributes);
            let done = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) == 0;
            done.then_some(attributes)
        }
    }

    /// Sets them; true when the kernel agreed.
    pub(super) fn write(attributes: &mut sched_attr) -> bool {
        attributes.size = std::mem::size_of_val(attributes) as u32;
        // SAFETY: the attributes were read from the kernel, and `size` is theirs.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const *attributes, 0) == 0 }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// On a kernel that has them the length is read back; on others nothing breaks and nothing is claimed.
    #[test]
    fn slices_are_read_back_and_the_rest_stays() {
        std::thread::spawn(|| {
            let before = linux::read().unwrap();
            let answer = ask_for_short_slices(Nanos::from_micros(200));
            let after = linux::read().unwrap();
            assert_eq!((after.sched_policy, after.sched_nice), (before.sched_policy, before.sched_nice));
            let taken = after.sched_runtime == 200_000;
            assert_eq!(answer, if taken { ShortSlices::Granted } else { ShortSlices::Unsupported });
        })
        .join()
        .unwrap();
    }

    #[test]
    fn another_policy_is_left_alone() {
        std::thread::spawn(|| {
            let none = libc::sched_param { sched_priority: 0 };
            // SAFETY: lowers the calling thread's own policy, which needs no privilege.
            assert_eq!(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &none) }, 0);
            assert_eq!(ask_for_short_slices(Nanos::from_micros(200)), ShortSlices::OtherPolicy);
            assert_eq!(linux::read().unwrap().sched_policy as libc::c_int, libc::SCHED_IDLE);
        })
        .join()
        .unwrap();
    }
}
