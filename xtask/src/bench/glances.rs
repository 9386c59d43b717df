//! What a process had used at moments while it ran.
//!
//! A whole process's CPU time has its start and its end in it: connecting, and for truetail the analysis and the pages.
//! Between two glances there is neither: what a request costs is the CPU time between them over the requests between
//! them, for any client and measured the same way.

use crate::stopwatch::Stopwatch;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Nanos;

/// How often to look. The kernel counts in steps of 10 ms, and a look costs about 0.1 ms of somebody else's core.
const INTERVAL: Nanos = Nanos::from_millis(100);

/// CPU time in s.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Used {
    pub(crate) user: f64,
    pub(crate) system: f64,
}

impl Used {
    pub(crate) fn total(self) -> f64 {
        self.user + self.system
    }

    fn plus(self, other: Used) -> Used {
        Used { user: self.user + other.user, system: self.system + other.system }
    }

    fn per_second_since(self, earlier: Used, seconds: f64) -> Used {
        Used { user: (self.user - earlier.user) / seconds, system: (self.system - earlier.system) / seconds }
    }
}

/// One look at a process.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Glance {
    /// Since the process was started.
    at_s: f64,
    /// All of its threads, also those that have ended.
    pub(crate) process: Used,
    /// The threads of the name that was asked for; `None` while there are none.
    pub(crate) threads: Option<Used>,
}

/// CPU time per second, while the threads that were asked for were all at work.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Steady {
    pub(crate) process: Used,
    pub(crate) threads: Used,
    /// How long.
    pub(crate) seconds: f64,
}

/// Looks at a process until it has ended.
pub(crate) fn watch(pid: u32, prefix: &str, stopwatch: &Stopwatch, ended: &AtomicBool) -> Vec<Glance> {
    let process = Path::new("/proc").join(pid.to_string());
    let mut glances = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let at_s = stopwatch.seconds();
        if let Some((_, used)) = read(&process) {
            let tasks = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
            let threads = tasks.filter_map(|task| read(&task.path()));
            let named = threads.filter(|(name, _)| name.starts_with(prefix)).map(|(_, used)| used);
            glances.push(Glance { at_s, process: used, threads: named.reduce(Used::plus) });
        }
        clock::pause(INTERVAL);
    }
    glances
}

/// What lies between the glances that are `skip` s after the first and before the last one that saw the threads; `None`
/// if that is no time at all.
pub(crate) fn steady(glances: &[Glance], skip: (f64, f64)) -> Option<Steady> {
    let at_work = || glances.iter().filter_map(|glance| Some((glance, glance.threads?)));
    let begin = at_work().next()?.0.at_s + skip.0;
    let end = at_work().next_back()?.0.at_s - skip.1;
    let mut inside = at_work().filter(|(glance, _)| (begin..=end).contains(&glance.at_s));
    let (first, threads_first) = inside.next()?;
    let (last, threads_last) = inside.next_back()?;
    let seconds = last.at_s - first.at_s;
    Some(Steady {
        process: last.process.per_second_since(first.process, seconds),
        threads: threads_last.per_second_since(threads_first, seconds),
        seconds,
    })
}

/// Name and CPU time of a process or a thread, by its directory in `/proc`.
fn read(directory: &Path) -> Option<(String, Used)> {
    named_usage(&std::fs::read_to_string(directory.join("stat")).ok()?, ticks_per_second()?)
}

/// `PID (NAME) STATE …`, where user and system time are the 14th and 15th field; a name may hold anything.
fn named_usage(stat: &str, ticks_per_second: f64) -> Option<(String, Used)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / ticks_per_second);
    Some((name.to_owned(), Used { user: seconds()?, system: seconds()? }))
}

/// CPU time of a process or a thread, by its directory in `/proc`.
pub(crate) fn usage(directory: &Path) -> Option<Used> {
    read(directory).map(|(_, used)| used)
}

fn ticks_per_second() -> Option<f64> {
    // SAFETY: takes an integer and gives one.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_name() {
        let stat = "17 (load-0) 1) R 1 17 17 0 -1 4194304 90 0 0 0 250 50 0 0 20 0 3 0 123 1 2 3";
        let (name, used) = named_usage(stat, 100.0).unwrap();
        assert_eq!((name.as_str(), used), ("load-0) 1", Used { user: 2.5, system: 0.5 }));
        assert_eq!(named_usage("17 (sh", 100.0), None);
        assert!(read(Path::new("/proc/self")).is_some());
    }

    #[test]
    fn start_and_end_are_not_in_the_steady_part() {
        // A start of 1 s that burns a whole core, 10 s of half a core in the thread and a tenth beside it, an end.
        let glances: Vec<Glance> = (0..=130)
            .map(|tenth| {
                let at_s = f64::from(tenth) / 10.0;
                let worked = (at_s - 1.0).clamp(0.0, 10.0);
                let ends = (at_s - 11.0).max(0.0);
                let thread = Used { user: 0.2 * worked, system: 0.3 * worked };
                let others = at_s.min(1.0) + 0.1 * worked + 2.0 * ends;
                let process = thread.plus(Used { user: others, system: 0.0 });
                let threads = (1.0..=11.0).contains(&at_s).then_some(thread);
                Glance { at_s, process, threads }
            })
            .collect();
        let steady = steady(&glances, (1.0, 0.5)).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(steady.threads.user, 0.2) && close(steady.threads.system, 0.3), "{steady:?}");
        assert!(close(steady.process.user, 0.3) && close(steady.process.system, 0.3), "{steady:?}");
        assert!(close(steady.seconds, 8.5), "{steady:?}");
        assert_eq!(super::steady(&glances, (8.0, 4.0)), None);
        assert_eq!(super::steady(&glances[..5], (0.0, 0.0)), None);
    }
}
