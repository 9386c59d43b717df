//! The machine's own clocks.

use crate::{Anchor, Clock};
use units::{Nanos, Ticks};

/// Which clock a run is asked to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClockChoice {
    /// The cycle counter where it can be trusted, else the kernel's monotonic clock.
    #[default]
    Auto,
    /// The cycle counter, or an error that says why it can't be trusted.
    Tsc,
    /// `clock_gettime(CLOCK_MONOTONIC_RAW)`.
    Monotonic,
}

/// The clock that a run uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockKind {
    /// TSC on x86-64, CNTVCT on aarch64.
    Tsc,
    /// `clock_gettime(CLOCK_MONOTONIC_RAW)`: one tick is one nanosecond.
    Monotonic,
}

impl ClockKind {
    /// The name in flags and recordings.
    pub fn name(self) -> &'static str {
        match self {
            ClockKind::Tsc => "tsc",
            ClockKind::Monotonic => "monotonic",
        }
    }
}

/// Why the asked clock can't be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClockError {
    /// The cycle counter was asked for and can't be trusted; the text says why.
    TscUnusable(String),
}

impl std::fmt::Display for ClockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ClockError::TscUnusable(reason) = self;
        write!(f, "--clock tsc: the cycle counter can't be trusted here: {reason}; use --clock monotonic")
    }
}

impl std::error::Error for ClockError {}

/// What is known of the clock at the start of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ClockFacts {
    /// The clock in use.
    pub kind: ClockKind,
    /// Ticks per nanosecond, measured over 20 ms at the start.
    pub ticks_per_nano: f64,
    /// Cost of one reading: the median of several batches.
    pub cost: Nanos,
    /// Why the cycle counter isn't used although the choice was automatic.
    pub fallback_reason: Option<String>,
}

/// A clock that was checked and calibrated, and has no epoch yet.
#[derive(Clone, Debug)]
pub struct Calibration {
    facts: ClockFacts,
}

/// The clock of a live run. Copies share the epoch.
#[derive(Clone, Copy, Debug)]
pub struct LiveClock {
    kind: ClockKind,
    epoch: u64,
    ticks_per_nano: f64,
}

/// Checks and calibrates; takes ≈ 25 ms.
///
/// # Errors
/// [`ClockError::TscUnusable`] when the cycle counter was asked for by name and the kernel does not itself
/// trust it: it must be constant, nonstop and the kernel's current clock source. CPUID alone is not enough
/// (other clocks that asked only CPUID jumped backwards).
pub fn calibrate(choice: ClockChoice) -> Result<Calibration, ClockError> {
    let trusted = tsc_trusted();
    let (kind, fallback_reason) = match (choice, trusted) {
        (ClockChoice::Monotonic, _) => (ClockKind::Monotonic, None),
        (_, Ok(())) => (ClockKind::Tsc, None),
        (ClockChoice::Tsc, Err(reason)) => return Err(ClockError::TscUnusable(reason)),
        (ClockChoice::Auto, Err(reason)) => (ClockKind::Monotonic, Some(reason)),
    };
    let ticks_per_nano = match kind {
        ClockKind::Tsc => measure_frequency(),
        ClockKind::Monotonic => 1.0,
    };
    let cost = measure_cost(kind, ticks_per_nano);
    Ok(Calibration { facts: ClockFacts { kind, ticks_per_nano, cost, fallback_reason } })
}

impl Calibration {
    /// What was found.
    pub fn facts(&self) -> &ClockFacts {
        &self.facts
    }

    /// The run's clock; its epoch is now.
    pub fn start(&self) -> LiveClock {
        let kind = self.facts.kind;
        LiveClock { kind, epoch: raw(kind), ticks_per_nano: self.facts.ticks_per_nano }
    }
}

impl Clock for LiveClock {
    #[inline(always)]
    fn now(&self) -> Ticks {
        Ticks(raw(self.kind).wrapping_sub(self.epoch))
    }

    #[inline]
    fn ticks_in(&self, nanos: Nanos) -> u64 {
        (nanos.0 as f64 * self.ticks_per_nano) as u64
    }
}

impl LiveClock {
    /// Which clock this is.
    pub fn kind(&self) -> ClockKind {
        self.kind
    }

    /// Nanoseconds in `ticks` by the frequency known at the start: for timeouts and live views; results
    /// use [`crate::Anchors`].
    pub fn nanos_in(&self, ticks: u64) -> Nanos {
        Nanos((ticks as f64 / self.ticks_per_nano) as u64)
    }

    /// Sleeps until `due` and gives the moment at which this thread ran again: what lies between the two is how
    /// late it was woken. The kernel is given an absolute time, so that a thread which loses its CPU on the way to
    /// sleep is late by that, and its deadline is not put off. For threads that measure nothing but this.
    pub fn sleep_until(&self, due: Ticks) -> Ticks {
        let now = self.now();
        let left = self.nanos_in(due.0.saturating_sub(now.0));
        #[cfg(target_os = "linux")]
        if left > Nanos::ZERO {
            crate::wait::sleep_until_monotonic(gettime(libc::CLOCK_MONOTONIC).saturating_add(left.0));
        }
        #[cfg(not(target_os = "linux"))]
        crate::pause(left);
        self.now()
    }

    /// One reading of all clocks: the narrowest of 16 brackets, ≈ 2 µs in all.
    pub fn anchor(&self) -> Anchor {
        let mut best: Option<Anchor> = None;
        let mut narrowest = u64::MAX;
        for _ in 0..16 {
            let before = self.now();
            let monotonic_ns = gettime(libc::CLOCK_MONOTONIC_RAW);
            let realtime_ns = gettime(libc::CLOCK_REALTIME);
            let after = self.now();
            let slewed_ns = gettime(libc::CLOCK_MONOTONIC);
            let last = self.now();
            let width = after.0.saturating_sub(before.0);
            let whole = last.0.saturating_sub(before.0);
            if best.is_none() || whole < narrowest {
                narrowest = whole;
                let ticks = Ticks(before.0 + width / 2);
                // Read behind the bracket, so that it does not widen it; put back into its middle.
                let behind = (after.0 + last.0.saturating_sub(after.0) / 2).saturating_sub(ticks.0);
                let slewed_ns = slewed_ns.checked_sub(self.nanos_in(behind).0);
                best = Some(Anchor { ticks, monotonic_ns, realtime_ns, slewed_ns, width_ticks: width });
            }
        }
        best.expect("sixteen brackets were taken")
    }
}

#[inline(always)]
fn raw(kind: ClockKind) -> u64 {
    match kind {
        ClockKind::Tsc => cycle_counter(),
        ClockKind::Monotonic => gettime(libc::CLOCK_MONOTONIC_RAW),
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn cycle_counter() -> u64 {
    // SAFETY: RDTSC is part of every x86-64 CPU and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn cycle_counter() -> u64 {
    let value: u64;
    // SAFETY: CNTVCT_EL0 is readable from user space on every Linux and macOS host.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack)) };
    value
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn cycle_counter() -> u64 {
    gettime(libc::CLOCK_MONOTONIC_RAW)
}

#[inline(always)]
pub(crate) fn gettime(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the call to fill.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    debug_assert_eq!(result, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn tsc_trusted() -> Result<(), String> {
    let source_path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source_path).map_err(|e| format!("{source_path}: {e}"))?;
    if source.trim() != "tsc" {
        return Err(format!("the kernel's clock source is `{}`, not `tsc`", source.trim()));
    }
    let cpu = std::fs::read_to_string("/proc/cpuinfo").map_err(|e| format!("/proc/cpuinfo: {e}"))?;
    let flags = cpu.lines().find(|l| l.starts_with("flags")).unwrap_or("");
    for flag in ["constant_tsc", "nonstop_tsc"] {
        if !flags.split_whitespace().any(|f| f == flag) {
            return Err(format!("the CPU lacks `{flag}`"));
        }
    }
    Ok(())
}

#[cfg(target_arch = "aarch64")]
fn tsc_trusted() -> Result<(), String> {
    Ok(()) // CNTVCT is architecturally constant and synchronous.
}

#[cfg(not(any(all(target_os = "linux", target_arch = "x86_64"), target_arch = "aarch64")))]
fn tsc_trusted() -> Result<(), String> {
    Err("no trusted cycle counter is known on this platform".to_owned())
}

fn measure_frequency() -> f64 {
    let clock = LiveClock { kind: ClockKind::Tsc, epoch: 0, ticks_per_nano: 1.0 };
    let first = clock.anchor();
    crate::pause(Nanos::from_millis(20));
    let second = clock.anchor();
    (second.ticks.0 - first.ticks.0) as f64 / (second.monotonic_ns - first.monotonic_ns) as f64
}

fn measure_cost(kind: ClockKind, ticks_per_nano: f64) -> Nanos {
    let mut costs: Vec<u64> = (0..15)
        .map(|_| {
            let before = raw(kind);
            for _ in 0..200 {
                std::hint::black_box(raw(kind));
            }
            let ticks = raw(kind).saturating_sub(before);
            (ticks as f64 / ticks_per_nano / 200.0) as u64
        })
        .collect();
    costs.sort_unstable();
    Nanos(costs[costs.len() / 2])
}
