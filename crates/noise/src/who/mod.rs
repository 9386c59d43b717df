//! Who ran instead: which task or interrupt had an observed CPU while a thread of ours wanted it.
//!
//! ```text
//!  kernel: sched_switch, sched_wakeup, interrupts ─► filter ─► ring ─► turns and waits of each CPU ─► who, from when, how long
//! ```
//!
//! Threads of ours are those of the load and, on each observed CPU, the one that looks for hiccups; so each hiccup that
//! somebody here made has a name. One that has none was made by nobody on this host: no task and no interrupt kept the
//! thread off, and the timer itself was late (or the kernel ran with its interrupts off).
//!
//! What is told goes to sources of its own, one for each CPU and name: `ran cpu 1: postgres (pid 77)`. Their values are how
//! long it ran, ns, within [begin, end]. The source [`SOURCE`] says that somebody watched; its values are how many events
//! were lost or left out. The programs are written in the kernel's own instructions (`program`), a few hundred of them: that
//! needs neither a compiler on this host nor a library, and a stock binary does it. Members of kernel structures are found
//! by the kernel's own description of its types.

mod assembler;
mod btf;
#[cfg(all(target_os = "linux", target_endian = "little"))]
mod kernel;
#[cfg(not(all(target_os = "linux", target_endian = "little")))]
mod nowhere;
mod program;
mod told;

#[cfg(all(target_os = "linux", target_endian = "little"))]
use kernel::{Attached, interrupt_name};
#[cfg(not(all(target_os = "linux", target_endian = "little")))]
use nowhere::{Attached, interrupt_name};

use crate::{Description, Kind, NamedReport, NoiseSource, Pace, Places, Unavailable, Watch, hiccup};
use clock::{Clock, LiveClock};
use program::VECTORS;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use told::{Event, Kept, Lately, Runner, What};
use units::{Nanos, Ticks};

/// The source that says that somebody watched.
pub const SOURCE: &str = "who";
/// How the names of sources begin that tell who ran: then the CPU, [`NAME`], and the name.
pub const RAN: &str = "ran cpu ";
/// Between the CPU and the name.
pub const NAME: &str = ": ";
/// How the name of a thread of ours ends.
const OURS: &str = " (truetail)";
/// The name of what a signal did to us.
pub const STOPPED: &str = "truetail was stopped by a signal";

/// Sources, each of a CPU and a name, that are told apart by process: after those, tasks of one name are told together.
const NAMES_MAX: usize = 500;
/// Sources at all, but for [`OTHERS`] of each CPU, which is what comes later.
const NAMES_AT_ALL_MAX: usize = 1_000;
const OTHERS: &str = "other tasks";
/// Intervals that are told in a run at most: some 20 MB of recording. What is left out is counted.
const INTERVALS_MAX: u64 = 1_000_000;
/// Of them, how many a round may tell beyond its share, so that a bad hour leaves some for the next one.
const INTERVALS_PER_ROUND: u64 = 500;

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    vec![Box::new(Who {
        cpus: watch.cpus.clone(),
        places: watch.places.clone(),
        clock: watch.clock,
        attached: None,
        lately: BTreeMap::new(),
        threads: Threads::new(watch),
        names: Names::default(),
        lost_before: 0,
        told: 0,
        left_out: 0,
    })]
}

struct Who {
    cpus: Vec<usize>,
    places: Places,
    clock: LiveClock,
    attached: Option<Attached>,
    lately: BTreeMap<usize, Lately>,
    threads: Threads,
    names: Names,
    lost_before: u64,
    /// Intervals so far.
    told: u64,
    /// Since the last reading.
    left_out: u64,
}

impl Who {
    fn round(&mut self) -> Vec<Kept> {
        let (lately, threads) = (&mut self.lately, &mut self.threads);
        let (mut found, mut forgotten) = (Vec::new(), 0);
        let Some(attached) = &mut self.attached else { return found };
        attached.drain(|bytes| match Event::read(bytes) {
            Some(Event { what: What::Wait(thread), .. }) if !threads.matters(thread) => {}
            Some(event) => {
                let is_incomplete = lately.entry(event.cpu).or_default().take(event, |kept| found.push(kept));
                forgotten += u64::from(is_incomplete);
            }
            None => forgotten += 1,
        });
        self.left_out += forgotten;
        // The longest matter most.
        let most = INTERVALS_PER_ROUND.min(INTERVALS_MAX - self.told) as usize;
        if found.len() > most {
            found.sort_by_key(|kept| std::cmp::Reverse(kept.ran));
            self.left_out += (found.len() - most) as u64;
            found.truncate(most);
        }
        self.told += found.len() as u64;
        found
    }
}

impl NoiseSource for Who {
    fn describe(&self) -> Description {
        Description {
            name: SOURCE.into(),
            kind: Kind::Count,
            pace: Pace::Fast,
            quantum: "1",
            summary: "who had a CPU that a thread of ours wanted, one by one; its value: events lost or left out",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        let attached = Attached::new(&self.cpus, &self.places.sys)?;
        self.names.own = attached.own;
        self.attached = Some(attached);
        Ok(())
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let lost = self.attached.as_ref()?.lost()?;
        let new = lost.saturating_sub(std::mem::replace(&mut self.lost_before, lost));
        Some((new + std::mem::take(&mut self.left_out)) as f64)
    }

    fn named(&mut self, report: &mut NamedReport<'_>) {
        let found = self.round();
        if found.is_empty() {
            return;
        }
        // The kernel's stamps are of its monotonic clock, which runs as ours does but for some ppm.
        let anchor = self.clock.anchor();
        let Some(monotonic) = anchor.slewed_ns else { return };
        let ticks = |ns: u64| {
            let ago = self.clock.ticks_in(Nanos(monotonic.abs_diff(ns)));
            Ticks(if ns <= monotonic { anchor.ticks.0.saturating_sub(ago) } else { anchor.ticks.0 + ago })
        };
        for kept in found {
            let source = self.names.source(kept.cpu, kept.runner, &self.places);
            report(&source, kept.ran as f64, ticks(kept.begin), ticks(kept.end));
        }
    }
}

/// Which threads of ours have waits that matter: recorder and reader have a low priority, and wait behind everybody.
struct Threads {
    tasks: PathBuf,
    prefixes: [&'static str; 2],
    known: BTreeMap<u32, bool>,
}

impl Threads {
    fn new(watch: &Watch) -> Threads {
        let prefixes = [watch.load_threads, hiccup::THREADS];
        Threads { tasks: watch.places.proc.join("self/task"), prefixes, known: BTreeMap::new() }
    }

    /// Of one that can't be found (in a container it has another number here, or it has ended), it does.
    fn matters(&mut self, thread: u32) -> bool {
        let (tasks, prefixes) = (&self.tasks, &self.prefixes);
        *self.known.entry(thread).or_insert_with(|| {
            let name = std::fs::read_to_string(tasks.join(thread.to_string()).join("comm"));
            name.is_ok_and(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
                || !tasks.join(thread.to_string()).exists()
        })
    }
}

/// Sources that were given names.
#[derive(Default)]
struct Names {
    /// Our process.
    own: u32,
    given: BTreeMap<(usize, Runner), String>,
    all: BTreeSet<String>,
}

impl Names {
    /// The source of a runner on a CPU.
    fn source(&mut self, cpu: usize, runner: Runner, places: &Places) -> String {
        if let Some(name) = self.given.get(&(cpu, runner)) {
            return name.clone();
        }
        let on_cpu = |name: &str| format!("{RAN}{cpu}{NAME}{name}");
        let mut name = on_cpu(&self.full(runner, places));
        if self.all.len() >= NAMES_MAX && !self.all.contains(&name) {
            name = plain(runner).map_or(name, |plain| on_cpu(&plain));
        }
        if self.all.len() >= NAMES_AT_ALL_MAX && !self.all.contains(&name) {
            name = on_cpu(OTHERS);
        }
        self.all.insert(name.clone());
        // Bounded as well: many processes may share a name.
        if self.given.len() < 10 * NAMES_AT_ALL_MAX {
            self.given.insert((cpu, runner), name.clone());
        }
        name
    }

    fn full(&self, runner: Runner, places: &Places) -> String {
        match runner {
            Runner::Task { process, name, .. } if process == self.own => text(&name) + OURS,
            Runner::Task { thread, name, is_kernel: true, .. } => {
                format!("{} (kernel thread, pid {thread})", text(&name))
            }
            Runner::Task { process, name, .. } => format!("{} (pid {process})", text(&name)),
            Runner::Short => format!("several tasks, each for less than {}", program::LEAST),
            Runner::Stopped => STOPPED.to_owned(),
            Runner::Irq(number) => match interrupt_name(&places.proc, number) {
                Some(name) => format!("interrupt {number} {name}"),
                None => format!("interrupt {number}"),
            },
            Runner::Softirq(number) => match SOFTIRQS.get(number as usize) {
                Some(name) => format!("softirq {name}"),
                None => format!("softirq {number}"),
            },
            Runner::Vector(number) => {
                format!(
                    "interrupt {}",
                    VECTORS.get(number as usize).unwrap_or(&"of the CPU").replace('_', " ")
                )
            }
        }
    }
}

/// In the order of `include/linux/interrupt.h`.
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// A task's name without its process.
fn plain(runner: Runner) -> Option<String> {
    match runner {
        Runner::Task { name, .. } => Some(text(&name)),
        _ => None,
    }
}

/// Anybody may give a task any name: what is no text is replaced.
fn text(name: &[u8; 16]) -> String {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let text = String::from_utf8_lossy(&name[..end]);
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Planted;

    fn task(process: u32, name: &[u8], is_kernel: bool) -> Runner {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name);
        Runner::Task { thread: process + 1, process, name: bytes, is_kernel }
    }

    #[test]
    fn runners_have_names_that_tell_them_apart() {
        let planted = Planted::new("who-names");
        let interrupts =
            "      CPU0\n 36:   7  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\nLOC: 9 Local timer\n";
        planted.write("proc/interrupts", interrupts);
        let places = planted.watch().places;
        let mut names = Names { own: 5, ..Names::default() };
        let mut name = |runner| {
            let source = names.source(3, runner, &places);
            source.strip_prefix("ran cpu 3: ").expect("on its CPU").to_owned()
        };
        assert_eq!(name(task(77, b"postgres", false)), "postgres (pid 77)");
        assert_eq!(name(task(12, b"kworker/0:1", true)), "kworker/0:1 (kernel thread, pid 13)");
        assert_eq!(name(task(5, b"load-0", false)), "load-0 (truetail)");
        assert_eq!(name(task(9, b"a\nb\xff", false)), "a?b\u{fffd} (pid 9)");
        assert_eq!(name(Runner::Irq(36)), "interrupt 36 virtio1-req.0");
        assert_eq!(
            (name(Runner::Irq(37)), name(Runner::Softirq(99))),
            ("interrupt 37".into(), "softirq 99".into())
        );
        assert_eq!(
            (name(Runner::Softirq(3)), name(Runner::Vector(0))),
            ("softirq NET_RX".into(), "interrupt local timer".into())
        );
        assert_eq!(name(Runner::Short), "several tasks, each for less than 50.0 µs");
    }

    #[test]
    fn names_are_bounded_however_many_processes_there_are() {
        let places = Places::default();
        let mut names = Names::default();
        let all: BTreeSet<String> =
            (1..30_000).map(|process| names.source(0, task(process, b"cc1", false), &places)).collect();
        assert_eq!(all.len(), NAMES_MAX + 1, "with a process each, and then the rest together");
        assert!(all.contains("ran cpu 0: cc1"));
        for process in 1..30_000 {
            names.source(1, task(process, format!("job {process}").as_bytes(), false), &places);
        }
        assert!(names.all.len() <= NAMES_AT_ALL_MAX + 2 && names.given.len() <= 10 * NAMES_AT_ALL_MAX);
        assert_eq!(names.source(2, task(99_999, b"late", false), &places), "ran cpu 2: other tasks");
    }

    #[test]
    fn waits_of_threads_that_only_keep_house_do_not_matter() {
        let planted = Planted::new("who-threads");
        for (thread, name) in [(7, "load-3"), (8, "hiccup-0"), (9, "observe")] {
            planted.write(&format!("proc/self/task/{thread}/comm"), &format!("{name}\n"));
        }
        let mut threads = Threads::new(&planted.watch());
        assert_eq!([7, 8, 9, 10].map(|thread| threads.matters(thread)), [true, true, false, true]);
    }

    #[test]
    fn a_kernel_that_does_not_describe_itself_is_no_place_for_it() {
        let planted = Planted::new("no-btf");
        let why = sources(&planted.watch())[0].open().unwrap_err().0;
        assert!(why.contains("btf/vmlinux: No such file"), "{why}");
        assert!(why.ends_with("it needs a kernel with CONFIG_DEBUG_INFO_BTF"), "{why}");
    }
}
