//! The threads that make the load: how much CPU time they used of what they can use, how long they waited for a CPU that others used, and how often they were moved.

use crate::text::{Text, unavailable};
use crate::{Description, Kind, NoiseSource, Pace, Unavailable, Watch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Threads that are read, at most: an embedded database has one for each session.
const THREADS_MAX: usize = 64;
/// How often threads that came or went are looked for, ns.
const SCAN_NS: u64 = 1_000_000_000;

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let own = watch.places.proc.join("self");
    let of = |about, file, parse| Box::new(Threads::new(about, &own, watch.load_threads, file, parse));
    let mut used = Threads::new(load_cpu(), &own, watch.load_threads, "schedstat", cpu_time);
    used.places = Some((watch.load_count.max(1), watch.load_cpus.max(1)));
    vec![
        Box::new(used),
        of(
            Description {
                name: "run-queue-wait".into(),
                kind: Kind::Time,
                pace: Pace::Fast,
                quantum: "1 ns",
                summary: "time that threads of the load wanted to run and had no CPU, all (at most 64) together",
            },
            "schedstat",
            run_delay,
        ),
        of(
            Description {
                name: "migrations".into(),
                kind: Kind::Count,
                pace: Pace::Slow,
                quantum: "1",
                summary: "how often threads of the load (at most 64) were moved to another CPU",
            },
            "sched",
            migrations,
        ),
    ]
}

fn load_cpu() -> Description {
    Description {
        name: "load-cpu".into(),
        kind: Kind::Share,
        pace: Pace::Fast,
        quantum: "1 ns",
        summary: "CPU time of the load's threads, as a share of what so many can use of their CPUs",
    }
}

/// The first of three numbers: time on a CPU, ns.
fn cpu_time(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The second of three numbers: time on a run queue, ns (Documentation/scheduler/sched-stats.rst).
fn run_delay(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// `se.nr_migrations                             :                    0`
fn migrations(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("se.nr_migrations"))?;
    line.trim_start().strip_prefix(':')?.trim().parse().ok()
}

type Parse = fn(&str) -> Option<u64>;

/// A counter of each thread of the load, summed over those that are there.
struct Threads {
    about: Description,
    /// `/proc/self`
    own: PathBuf,
    prefix: &'static str,
    file: &'static str,
    parse: Parse,
    /// How many of them there are, and how many CPUs they may use: where a share of these is asked for.
    places: Option<(usize, usize)>,
    /// By thread id: its file, and the counter when it was last read.
    known: BTreeMap<u32, (Text, u64)>,
    since_scan: u64,
}

impl Threads {
    fn new(
        about: Description,
        own: &Path,
        prefix: &'static str,
        file: &'static str,
        parse: Parse,
    ) -> Threads {
        let own = own.to_owned();
        Threads { about, own, prefix, file, parse, places: None, known: BTreeMap::new(), since_scan: 0 }
    }

    /// Finds threads that have joined. What one waited before it was found is not known.
    fn scan(&mut self) {
        self.since_scan = 0;
        let Ok(entries) = std::fs::read_dir(self.own.join("task")) else { return };
        for entry in entries.flatten() {
            let id = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(id) = id.filter(|id| self.known.len() < THREADS_MAX && !self.known.contains_key(id))
            else {
                continue;
            };
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            if !name.starts_with(self.prefix) {
                continue;
            }
            // It may have ended meanwhile.
            let Ok(mut text) = Text::open(&entry.path().join(self.file)) else { continue };
            if let Some(now) = text.read().ok().and_then(self.parse) {
                self.known.insert(id, (text, now));
            }
        }
    }
}

impl NoiseSource for Threads {
    fn describe(&self) -> Description {
        self.about.clone()
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        if let Some((count, _)) = self.places.filter(|(count, _)| *count > THREADS_MAX) {
            return Err(Unavailable(format!(
                "{count} threads make the load: no more than {THREADS_MAX} are read"
            )));
        }
        let own = self.own.join(self.file);
        let text = Text::open(&own).and_then(|mut text| text.read().map(str::to_owned));
        let counter = text.map(|text| (self.parse)(&text));
        match counter {
            Ok(Some(_)) => {
                self.scan();
                Ok(())
            }
            Ok(None) => Err(unavailable(&own, "this kernel does not count it there")),
            Err(why) => Err(why),
        }
    }

    /// `None` as long as there is no such thread, and when a counter went backwards.
    fn read(&mut self, elapsed_ns: u64) -> Option<f64> {
        let (mut sum, mut is_known) = (None, true);
        let parse = self.parse;
        self.known.retain(|_, (text, before)| {
            let Some(now) = text.read().ok().and_then(parse) else { return false };
            let grown = now.checked_sub(std::mem::replace(before, now));
            is_known &= grown.is_some();
            sum = Some(sum.unwrap_or(0u64).saturating_add(grown.unwrap_or(0)));
            true
        });
        self.since_scan = self.since_scan.saturating_add(elapsed_ns);
        if self.known.is_empty() || self.since_scan >= SCAN_NS {
            self.scan();
        }
        let sum = sum.filter(|_| is_known)? as f64;
        let Some((count, cpus)) = self.places else { return Some(sum) };
        (elapsed_ns > 0).then(|| sum / elapsed_ns as f64 / count.min(cpus) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;
    use std::sync::atomic::{AtomicBool, Ordering};
    use units::Nanos;

    const SCHED: &str = "load-0 (7, #threads: 3)\n-------------------\n\
        se.exec_start                                :     999.5\n\
        se.nr_migrations                             :                   12\n";

    #[test]
    fn counters_are_read() {
        assert_eq!(run_delay("777505 66277 2\n"), Some(66_277));
        assert_eq!(migrations(SCHED), Some(12));
        assert_eq!((run_delay("1"), migrations("se.nr_migrations 3")), (None, None));
    }

    fn plant(planted: &Planted, id: u32, name: &str, waited: u64) {
        planted.write(&format!("proc/self/task/{id}/comm"), &format!("{name}\n"));
        planted.write(&format!("proc/self/task/{id}/schedstat"), &format!("1000 {waited} 2\n"));
    }

    #[test]
    fn threads_of_the_load_are_summed_late_ones_too_and_no_others() {
        let planted = Planted::new("threads");
        planted.write("proc/self/schedstat", "1 2 3\n");
        plant(&planted, 1, "truetail", 5_000);
        let mut sources = sources(&planted.watch());
        assert!(sources[2].open().unwrap_err().0.contains("sched: No such file"));
        let source = &mut sources[1];
        source.open().unwrap();
        assert_eq!(source.read(1), None, "no thread of the load is there yet");
        plant(&planted, 2, "load-0", 100);
        assert_eq!(source.read(1), None);
        plant(&planted, 2, "load-0", 140);
        plant(&planted, 1, "truetail", 9_000);
        plant(&planted, 3, "load-1", 70);
        assert_eq!(source.read(SCAN_NS), Some(40.0), "the late one is found, and counts from now on");
        plant(&planted, 3, "load-1", 77);
        assert_eq!(source.read(1), Some(7.0));
        // One that has ended takes its counter with it.
        planted.write("proc/self/task/2/schedstat", "");
        plant(&planted, 3, "load-1", 80);
        assert_eq!(source.read(1), Some(3.0));
        plant(&planted, 3, "load-1", 5);
        assert_eq!(source.read(1), None, "it went backwards");
        plant(&planted, 3, "load-1", 9);
        assert_eq!(source.read(1), Some(4.0));
    }

    #[test]
    fn what_threads_use_is_a_share_of_what_they_can_use() {
        let planted = Planted::new("load-cpu");
        planted.write("proc/self/schedstat", "1 2 3\n");
        let used = |id: u32, used: u64| {
            planted.write(&format!("proc/self/task/{id}/comm"), &format!("load-{id}\n"));
            planted.write(&format!("proc/self/task/{id}/schedstat"), &format!("{used} 2 3\n"));
        };
        let share = |load_count, load_cpus| {
            used(0, 0);
            used(1, 0);
            let mut source = sources(&Watch { load_count, load_cpus, ..planted.watch() }).swap_remove(0);
            source.open()?;
            used(0, 90);
            used(1, 60);
            Ok(source.read(100).unwrap())
        };
        // Two threads on sixteen CPUs, and on one.
        assert_eq!((share(2, 16), share(2, 1)), (Ok(0.75), Ok(1.5)));
        let why: Unavailable = share(65, 16).unwrap_err();
        assert_eq!(why.0, "65 threads make the load: no more than 64 are read");
    }

    #[test]
    fn a_thread_of_this_process_that_waited_is_found() {
        let mut watch = crate::registry::tests::watch();
        watch.load_threads = "waits-";
        let mut source = sources(&watch).swap_remove(1);
        if !Path::new("/proc/self/schedstat").exists() {
            assert!(source.open().unwrap_err().0.contains("schedstat"), "a kernel without it says so");
            return;
        }
        // Two threads that want the same CPU all the time: each waits while the other one runs.
        static STOP: AtomicBool = AtomicBool::new(false);
        let cpu =
            (0..1_024).find(|&cpu| std::thread::spawn(move || clock::pin_to(cpu)).join().unwrap()).unwrap();
        let burn = |index: usize| {
            let thread = std::thread::Builder::new().name(format!("waits-{index}"));
            let work = move || {
                let pinned = clock::pin_to(cpu);
                while !STOP.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                pinned
            };
            thread.spawn(work).unwrap()
        };
        let threads = [burn(0), burn(1)];
        source.open().unwrap();
        let mut waited = 0.0;
        for _ in 0..10_000 {
            waited += source.read(SCAN_NS).unwrap_or(0.0);
            if waited > 0.0 {
                break;
            }
            clock::pause(Nanos::from_millis(1));
        }
        STOP.store(true, Ordering::Relaxed);
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
        assert!(waited > 0.0);
    }

    #[test]
    fn fuzz_thread_counters() {
        let words = ["se.nr_migrations", ":", "18446744073709551616"];
        testkit::fuzz::Fuzz::new("thread-counters").from(["1 2 3", SCHED]).words(words).run(2_000, |input| {
            let text = String::from_utf8_lossy(input);
            let _ = (run_delay(&text), migrations(&text));
        });
    }
}
