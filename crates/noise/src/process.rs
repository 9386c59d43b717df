//! What `getrusage` says of our own process.

use crate::{Description, Kind, NoiseSource, Unavailable};

fn usage() -> Option<libc::rusage> {
    // SAFETY: an all-zero rusage is valid, and the call fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &mut usage) == 0).then_some(usage)
    }
}

fn cpu_nanos(usage: &libc::rusage) -> u64 {
    let nanos = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    nanos(usage.ru_utime) + nanos(usage.ru_stime)
}

fn no_usage() -> Unavailable {
    Unavailable("getrusage failed".to_owned())
}

/// CPU time of the process as a share of the CPUs that it may use.
pub(crate) struct ClientCpu {
    nanos: u64,
    cpus: f64,
}

impl ClientCpu {
    /// Counts the CPUs now: a thread that keeps off some of them later still belongs to the whole process.
    pub(crate) fn new() -> ClientCpu {
        let cpus = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
        ClientCpu { nanos: 0, cpus }
    }
}

impl NoiseSource for ClientCpu {
    fn describe(&self) -> Description {
        Description {
            name: "client-cpu",
            kind: Kind::Share,
            quantum: "1 µs of CPU time",
            summary: "CPU time of truetail itself, as a share of the CPUs that it may use",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.nanos = cpu_nanos(&usage().ok_or_else(no_usage)?);
        Ok(())
    }

    fn read(&mut self, elapsed_ns: u64) -> Option<f64> {
        let now = cpu_nanos(&usage()?);
        let used = now.saturating_sub(self.nanos);
        self.nanos = now;
        (elapsed_ns > 0).then(|| used as f64 / elapsed_ns as f64 / self.cpus)
    }
}

/// How often the kernel took a CPU from one of our threads that wanted to go on.
#[derive(Default)]
pub(crate) struct InvoluntarySwitches {
    count: i64,
}

impl NoiseSource for InvoluntarySwitches {
    fn describe(&self) -> Description {
        Description {
            name: "involuntary-switches",
            kind: Kind::Count,
            quantum: "1",
            summary: "how often the kernel took a CPU from one of our threads",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.count = usage().ok_or_else(no_usage)?.ru_nivcsw;
        Ok(())
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let now = usage()?.ru_nivcsw;
        let seen = (now - self.count).max(0);
        self.count = now;
        Some(seen as f64)
    }
}

/// Page faults of ours that waited for a disk.
#[derive(Default)]
pub(crate) struct MajorFaults {
    count: i64,
}

impl NoiseSource for MajorFaults {
    fn describe(&self) -> Description {
        Description {
            name: "major-faults",
            kind: Kind::Count,
            quantum: "1",
            summary: "page faults of truetail that waited for a disk",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.count = usage().ok_or_else(no_usage)?.ru_majflt;
        Ok(())
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let now = usage()?.ru_majflt;
        let seen = (now - self.count).max(0);
        self.count = now;
        Some(seen as f64)
    }
}
