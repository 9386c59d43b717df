//! What `getrusage` says of our own process.

use crate::counter::Growth;
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};

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
    /// None after a failure: the next reading would tell of more than its own window.
    nanos: Option<u64>,
    cpus: f64,
}

impl ClientCpu {
    /// Of so many CPUs: those of the whole process, also where its threads keep off some of them. What a load can use of
    /// them is less where it has few threads, or CPUs of its own: `load-cpu` tells that.
    fn new(cpus: usize) -> ClientCpu {
        ClientCpu { nanos: None, cpus: cpus.max(1) as f64 }
    }
}

impl NoiseSource for ClientCpu {
    fn describe(&self) -> Description {
        Description {
            name: "client-cpu".into(),
            kind: Kind::Share,
            pace: Pace::Fast,
            quantum: "1 µs of CPU time",
            summary: "CPU time of truetail itself, as a share of the CPUs that it may use",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.nanos = Some(cpu_nanos(&usage().ok_or_else(no_usage)?));
        Ok(())
    }

    fn read(&mut self, elapsed_ns: u64) -> Option<f64> {
        let before = self.nanos.take();
        let now = cpu_nanos(&usage()?);
        self.nanos = Some(now);
        let used = now.checked_sub(before?)?;
        (elapsed_ns > 0).then(|| used as f64 / elapsed_ns as f64 / self.cpus)
    }
}

/// All sources that `getrusage` feeds.
pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let counted = |name: &'static str, summary, of: fn(&libc::rusage) -> libc::c_long| {
        let about =
            Description { name: name.into(), kind: Kind::Count, pace: Pace::Fast, quantum: "1", summary };
        Box::new(Growth::new(about, 1.0, move || {
            let usage = usage().ok_or_else(no_usage)?;
            u64::try_from(of(&usage)).map_err(|_| no_usage())
        }))
    };
    vec![
        Box::new(ClientCpu::new(watch.process_cpus)),
        counted("involuntary-switches", "how often the kernel took a CPU from one of our threads", |u| {
            u.ru_nivcsw
        }),
        counted("major-faults", "page faults of truetail that waited for a disk", |u| u.ru_majflt),
        counted("minor-faults", "page faults of truetail that waited for no disk", |u| u.ru_minflt),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Clock;

    #[test]
    fn burnt_cpu_time_is_seen() {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let mut source = ClientCpu::new(cpus);
        source.open().expect("getrusage is everywhere");
        let mut x = 1u64;
        let clock = clock::calibrate(clock::ClockChoice::Auto).expect("automatic choice").start();
        let begin = clock.now().0;
        while clock.nanos_in(clock.now().0 - begin).0 < 100_000_000 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        let elapsed = clock.nanos_in(clock.now().0 - begin).0;
        // Other tests share the CPUs: some of the time must have been ours, and no more than all of it.
        let share = source.read(elapsed).expect("a reading");
        assert!(share > 0.05 / cpus as f64 && share < 1.2, "{share}");
    }

    #[test]
    fn a_window_without_a_beginning_is_not_told() {
        let mut source = ClientCpu::new(1);
        assert_eq!(source.read(1_000), None);
        assert!(source.read(1_000).is_some());
        source.nanos = Some(u64::MAX);
        assert_eq!(source.read(1_000), None, "a counter that went backwards");
    }

    #[test]
    fn pages_touched_for_the_first_time_are_seen() {
        let mut sources = sources(&crate::registry::tests::watch());
        let faults = sources.last_mut().expect("four sources");
        assert_eq!(faults.describe().name, "minor-faults");
        faults.open().expect("getrusage is everywhere");
        // Untouched until written to; 64 pages at least, were they the largest.
        let pages = std::hint::black_box(vec![1u8; 64 << 21]);
        assert!(faults.read(1).expect("a reading") >= 64.0);
        drop(pages);
    }
}
