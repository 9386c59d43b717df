//! Observers of the measuring host: what the machine did to the measurement while it ran.
//!
//! A [`NoiseSource`] is opened, then read each interval on a housekeeping thread. A reading is a value over a
//! window; a failed reading is discarded, and a source that can't be opened is recorded as unavailable with
//! the reason: never as zero.
//!
//! To add a source: a module with a type that implements [`NoiseSource`], and a line in [`registry`].
#![deny(missing_docs)]

mod cgroup;
mod observer;
mod process;
mod steal;

pub use observer::{Observer, ObserverSink};

use std::fmt;

/// What a value of a source means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Time that was lost or used within the window, in nanoseconds.
    Time,
    /// How often something happened within the window.
    Count,
    /// A share of what is possible, in [0, 1].
    Share,
}

impl Kind {
    /// The unit's name in recordings.
    pub fn unit(self) -> &'static str {
        match self {
            Kind::Time => "ns",
            Kind::Count => "count",
            Kind::Share => "share",
        }
    }
}

/// What a source says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// Unique name, e.g. `steal`.
    pub name: &'static str,
    /// What its values mean.
    pub kind: Kind,
    /// The smallest step of a value, in its unit's words, e.g. `10 ms (1 jiffy)`.
    pub quantum: &'static str,
    /// One line: what it sees.
    pub summary: &'static str,
}

/// Why a source can't be read here. One line with the next step where there is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One observer of the host.
pub trait NoiseSource: Send {
    /// What it is.
    fn describe(&self) -> Description;

    /// Gets ready; the first window begins here.
    ///
    /// # Errors
    /// [`Unavailable`] on hosts that lack what it reads.
    fn open(&mut self) -> Result<(), Unavailable>;

    /// The value since the last reading; `elapsed_ns` is the window's length. `None` discards the window.
    fn read(&mut self, elapsed_ns: u64) -> Option<f64>;
}

/// All sources, in the order of their recording. The greppable list.
pub fn registry() -> Vec<Box<dyn NoiseSource>> {
    vec![
        Box::new(steal::Steal::default()),
        Box::new(cgroup::Throttled::default()),
        Box::new(process::ClientCpu::new()),
        Box::new(process::InvoluntarySwitches::default()),
        Box::new(process::MajorFaults::default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_source_reads_or_says_why_not() {
        let mut names = Vec::new();
        for mut source in registry() {
            let about = source.describe();
            assert!(!about.summary.is_empty() && !about.quantum.is_empty());
            assert!(!names.contains(&about.name), "two sources named {}", about.name);
            names.push(about.name);
            match source.open() {
                Ok(()) => {
                    if let Some(value) = source.read(1_000_000) {
                        assert!(value.is_finite() && value >= 0.0, "{}: {value}", about.name);
                    }
                }
                Err(Unavailable(reason)) => assert!(!reason.is_empty() && !reason.contains('\n')),
            }
        }
    }

    #[test]
    fn burnt_cpu_time_is_seen() {
        let mut source = process::ClientCpu::new();
        source.open().expect("getrusage is everywhere");
        let mut x = 1u64;
        let clock = clock::calibrate(clock::ClockChoice::Auto).expect("automatic choice").start();
        let begin = clock::Clock::now(&clock).0;
        while clock.nanos_in(clock::Clock::now(&clock).0 - begin).0 < 100_000_000 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        let elapsed = clock.nanos_in(clock::Clock::now(&clock).0 - begin).0;
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
        // Other tests share the CPUs: some of the time must have been ours, and no more than all of it.
        let share = source.read(elapsed).expect("a reading");
        assert!(share > 0.05 / cpus && share < 1.2, "{share}");
    }
}
