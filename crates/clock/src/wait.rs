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

/// What the clocks of a zone show at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalZone {
    /// By how many seconds they are ahead of UTC.
    pub ahead_s: i64,
    /// What the zone is called then, such as `CET` in winter and `CEST` in summer; empty where the system has no name.
    pub name: String,
}

/// This host's zone at a moment of wall time; `None` where the system can't tell. For foreign logs that write local times,
/// without a zone or with an abbreviation.
pub fn local_zone(wall_ns: u64) -> Option<LocalZone> {
    let seconds = libc::time_t::try_from(wall_ns / 1_000_000_000).ok()?;
    // SAFETY: an all-zero tm is valid, and both pointers are to values that live through the call. The name is a C string that
    // belongs to the system until it reads another zone, which nothing in this program asks it to; it is copied at once.
    unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&seconds, &mut local).is_null() {
            return None;
        }
        let name = match local.tm_zone.is_null() {
            true => String::new(),
            false => std::ffi::CStr::from_ptr(local.tm_zone).to_string_lossy().into_owned(),
        };
        Some(LocalZone { ahead_s: local.tm_gmtoff, name })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, ClockChoice, calibrate};
    use units::Ticks;

    #[test]
    fn a_sleep_ends_when_it_is_due_and_not_before() {
        for choice in [ClockChoice::Auto, ClockChoice::Monotonic] {
            let clock = calibrate(choice).unwrap().start();
            let begin = clock.now();
            let due = Ticks(begin.0 + clock.ticks_in(Nanos::from_millis(2)));
            let woke = clock.sleep_until(due);
            // The kernel's clock is steered, and the frequency was measured over 20 ms: a millionth is not much.
            assert!(woke.0 + clock.ticks_in(Nanos::from_micros(20)) >= due.0, "{woke:?} before {due:?}");
            let late = clock.now();
            assert!(clock.sleep_until(begin) >= late, "what is past is not waited for");
        }
    }

    #[test]
    fn cpu_time_is_that_of_work_and_not_of_sleep() {
        let clock = calibrate(ClockChoice::Auto).unwrap().start();
        let begin = clock.now();
        let before = thread_cpu_time();
        let due = Ticks(begin.0 + clock.ticks_in(Nanos::from_millis(30)));
        clock.sleep_until(due);
        let slept = thread_cpu_time();
        while thread_cpu_time().0 - slept.0 < 5_000_000 {
            std::hint::spin_loop();
        }
        let elapsed = clock.nanos_in(clock.now().0 - begin.0);
        let used = thread_cpu_time().0 - before.0;
        assert!(used >= 5_000_000 && used + 20_000_000 < elapsed.0, "{used} ns of {elapsed}");
    }
}
