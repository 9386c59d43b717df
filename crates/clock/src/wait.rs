//! Waiting, for threads that measure nothing; and the wall clock, for headers and file names.

use units::Nanos;

/// Sleeps for `elapsed` on a thread that measures nothing (writer, observers, set-up).
pub fn pause(elapsed: Nanos) {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
    std::thread::sleep(elapsed.to_std());
}

/// CPU time that the calling thread has used so far, user and system; ≈ 0.5 µs. Zero where the system keeps none.
pub fn thread_cpu_time() -> Nanos {
    Nanos(crate::live::gettime(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// Sleeps until `CLOCK_MONOTONIC` shows `deadline_ns`; signals do not end it.
#[cfg(target_os = "linux")]
pub(crate) fn sleep_until_monotonic(deadline_ns: u64) {
    let deadline = libc::timespec {
        tv_sec: (deadline_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (deadline_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `deadline` is a valid timespec, and an absolute sleep writes no remainder.
    while unsafe {
        libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &deadline, std::ptr::null_mut())
    } == libc::EINTR
    {}
}

/// Wall-clock time in nanoseconds since 1970: for headers and names, never for latencies.
pub fn wall_time_ns() -> u64 {
    crate::live::gettime(libc::CLOCK_REALTIME)
}

/// Asks the kernel to wake this thread without rounding its timers (the default slack is 50 µs).
/// True when it was granted.
pub fn set_timer_slack(slack: Nanos) -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: PR_SET_TIMERSLACK takes an integer and affects the calling thread alone.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack.0.max(1) as libc::c_ulong) == 0 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = slack;
        false
    }
}

/// Seconds by which this host's local time is ahead of UTC at a moment of wall time; `None` where the system can't tell. For
/// foreign logs that write local times without a zone.
pub fn local_offset_s(wall_ns: u64) -> Option<i64> {
    let seconds = libc::time_t::try_from(wall_ns / 1_000_000_000).ok()?;
    // SAFETY: an all-zero tm is valid, and both pointers are to values that live through the call.
    unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        (!libc::localtime_r(&seconds, &mut local).is_null()).then_some(local.tm_gmtoff)
    }
}

/// Pins the calling thread to one CPU; true when the kernel agreed.
pub fn pin_to(cpu: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: an all-zero cpu_set_t is valid, CPU_SET stays inside of it for cpu < CPU_SETSIZE.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            if cpu >= libc::CPU_SETSIZE as usize {
                return false;
            }
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) == 0
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = cpu;
        false
    }
}
