//! Which sources there are, and which of them watch a run.

use crate::{
    NoiseSource, cgroup, cpu, disk, hiccup, interrupts, pressure, process, steal, threads, timerlat, who,
};
use clock::LiveClock;
use std::path::PathBuf;
use units::Nanos;

/// What is to be watched, and with what.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The run's clock.
    pub clock: LiveClock,
    /// CPUs that are looked at one by one, ascending: those of the client and, on the same host, of the server.
    pub cpus: Vec<usize>,
    /// How many CPUs the process may use; at least 1.
    pub process_cpus: usize,
    /// How the names of the threads that make the load begin.
    pub load_threads: &'static str,
    /// How many of these there are; at least 1.
    pub load_count: usize,
    /// How many CPUs they may use; at least 1.
    pub load_cpus: usize,
    /// How often a hiccup thread wakes; see [`hiccup::period`].
    pub hiccup_period: Nanos,
    /// Where the kernel's files are.
    pub places: Places,
}

/// Where the kernel's files are; elsewhere in tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// `/proc`
    pub proc: PathBuf,
    /// `/sys`
    pub sys: PathBuf,
}

impl Default for Places {
    fn default() -> Places {
        Places { proc: "/proc".into(), sys: "/sys".into() }
    }
}

type Sources = Vec<Box<dyn NoiseSource>>;

/// Sources that are asked for together.
pub struct Family {
    /// The name in `--observers`.
    pub name: &'static str,
    /// Whether it watches a run of which nothing else was said.
    pub by_default: bool,
    /// One line: what it sees.
    pub summary: &'static str,
    /// Makes its sources.
    make: fn(&Watch) -> Sources,
}

/// The family of hiccup threads.
const HICCUP: &str = "hiccup";

/// All sources, in the order of their recording. The greppable list.
pub const FAMILIES: &[Family] = &[
    Family {
        name: HICCUP,
        by_default: true,
        summary: "how late an idle thread wakes, on each observed CPU",
        make: hiccup::sources,
    },
    Family {
        name: "steal",
        by_default: true,
        summary: "time that the hypervisor took from the observed CPUs, by its own account",
        make: steal::sources,
    },
    Family {
        name: "throttled",
        by_default: true,
        summary: "time that CPU limits of the cgroup, and of those above it, stopped it",
        make: cgroup::sources,
    },
    Family {
        name: "process",
        by_default: true,
        summary: "truetail's own CPU time, involuntary switches, page faults",
        make: process::sources,
    },
    Family {
        name: "threads",
        by_default: true,
        summary: "how much CPU time the threads of the load used, how long they waited for a CPU, how often they moved to another",
        make: threads::sources,
    },
    Family {
        name: "pressure",
        by_default: true,
        summary: "time in which some task of the host waited for CPU, disk or memory",
        make: pressure::sources,
    },
    Family {
        name: "interrupts",
        by_default: true,
        summary: "interrupts and softirqs on each observed CPU",
        make: interrupts::sources,
    },
    Family {
        name: "disks",
        by_default: true,
        summary: "mean time of an I/O and queue depth, device by device",
        make: disk::sources,
    },
    Family {
        name: "cpus",
        by_default: true,
        summary: "the lowest frequency, and thermal throttling",
        make: cpu::sources,
    },
    Family {
        name: "timerlat",
        by_default: false,
        summary: "the kernel's own timer tracer; needs root, and wakes each CPU each millisecond",
        make: timerlat::sources,
    },
    Family {
        name: "who",
        by_default: false,
        summary: "which task or interrupt had a CPU that a thread of ours wanted; needs root",
        make: who::sources,
    },
];

/// Which families watch a run, and how often hiccup threads wake where that was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    names: Vec<&'static str>,
    /// As asked by `hiccup=TIME`; `None` leaves it to what a wake costs (see [`hiccup::period`]).
    pub hiccup_period: Option<Nanos>,
}

impl Default for Selection {
    /// Those that cost little.
    fn default() -> Selection {
        let names = FAMILIES.iter().filter(|family| family.by_default).map(|family| family.name);
        Selection { names: names.collect(), hiccup_period: None }
    }
}

impl Selection {
    /// Nothing: nothing will be known of the host.
    pub fn off() -> Selection {
        Selection { names: Vec::new(), hiccup_period: None }
    }

    /// Reads `default`, `off`, or a list such as `hiccup,steal`, where `default` and `all` stand for several and
    /// `hiccup=1ms` says how often its threads wake, whatever that costs.
    ///
    /// # Errors
    /// One line that names the unknown part and what there is.
    pub fn parse(text: &str) -> Result<Selection, String> {
        let mut selection = Selection::off();
        if text.trim() == "off" {
            return Ok(selection);
        }
        for word in text.split(',').map(str::trim) {
            let (name, period) = match word.split_once('=') {
                Some(("hiccup", time)) => ("hiccup", Some(asked_period(time)?)),
                _ => (word, None),
            };
            let meant = |family: &&Family| match name {
                "all" => true,
                "default" => family.by_default,
                _ => family.name == name,
            };
            let found: Vec<&'static str> = FAMILIES.iter().filter(meant).map(|family| family.name).collect();
            if name == "spin" {
                return Err("`spin`: threads that spin would take whole CPUs from the load and the server; `truetail gaps` looks at a host before a run".to_owned());
            }
            if found.is_empty() {
                let known: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
                return Err(format!("`{word}`: there are default, off, all, {}", known.join(", ")));
            }
            selection.names.extend(found);
            selection.hiccup_period = period.or(selection.hiccup_period);
        }
        Ok(selection)
    }

    /// Whether nothing is to watch.
    pub fn is_off(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether hiccup threads are among them: no other source needs their period.
    pub fn looks_for_hiccups(&self) -> bool {
        self.names.contains(&HICCUP)
    }

    /// Whether a family is among them.
    pub fn has(&self, family: &Family) -> bool {
        self.names.contains(&family.name)
    }
}

fn asked_period(text: &str) -> Result<Nanos, String> {
    let period = units::parse_duration(text).map_err(|error| format!("`hiccup={text}`: {error}"))?;
    match hiccup::PERIODS.contains(&period) {
        true => Ok(period),
        false => {
            let (least, most) = (hiccup::PERIODS.start(), hiccup::PERIODS.end());
            Err(format!("`hiccup={text}`: must be in {least} to {most}"))
        }
    }
}

/// The sources of a selection, in the order of [`FAMILIES`].
pub fn registry(selection: &Selection, watch: &Watch) -> Sources {
    let selected = FAMILIES.iter().filter(|family| selection.has(family));
    selected.flat_map(|family| (family.make)(watch)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Unavailable;

    /// This process on this host.
    pub(crate) fn watch() -> Watch {
        Watch {
            clock: clock::calibrate(clock::ClockChoice::Auto).expect("automatic choice").start(),
            cpus: vec![0],
            process_cpus: std::thread::available_parallelism().map_or(1, usize::from),
            load_threads: "load-",
            load_count: 1,
            load_cpus: 1,
            hiccup_period: Nanos::from_millis(1),
            places: Places::default(),
        }
    }

    #[test]
    fn names_are_unique_and_every_source_reads_or_says_why_not() {
        let mut names = Vec::new();
        // But for the tracer, which would change this host's settings.
        for mut source in registry(&Selection::default(), &watch()) {
            let about = source.describe();
            assert!(!about.summary.is_empty() && !about.quantum.is_empty());
            assert!(!names.contains(&about.name), "two sources named {}", about.name);
            names.push(about.name.clone());
            match source.open() {
                Ok(()) => {
                    if let Some(value) = source.read(1_000_000) {
                        assert!(value.is_finite() && value >= 0.0, "{}: {value}", about.name);
                    }
                    source.close();
                }
                Err(Unavailable(reason)) => assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}"),
            }
        }
    }

    #[test]
    fn families_are_selected_by_name() {
        let selected = |text: &str| -> Vec<&str> {
            let selection = Selection::parse(text).expect(text);
            FAMILIES.iter().filter(|family| selection.has(family)).map(|family| family.name).collect()
        };
        assert_eq!(selected("steal, hiccup"), ["hiccup", "steal"]);
        assert!(selected("off").is_empty());
        let hiccups = |text: &str| Selection::parse(text).expect(text).looks_for_hiccups();
        assert_eq!(["steal", "steal,hiccup", "default", "off"].map(hiccups), [false, true, true, false]);
        assert_eq!(selected("all").len(), FAMILIES.len());
        assert!(
            !selected("default").contains(&"who")
                && !selected("default").contains(&"timerlat")
                && selected("default,timerlat").contains(&"timerlat")
        );
        assert!(
            Selection::parse("off").unwrap().is_off()
                && Selection::parse("default") == Ok(Selection::default())
        );
        let period = |text: &str| Selection::parse(text).map(|selection| selection.hiccup_period);
        assert_eq!(period("default,hiccup=1ms"), Ok(Some(Nanos::from_millis(1))));
        assert_eq!(period("hiccup,steal"), Ok(None));
        assert!(period("hiccup=1h").unwrap_err().ends_with("must be in 100 µs to 1.00 s"));
        assert!(period("hiccup=x").unwrap_err().starts_with("`hiccup=x`: "));
        assert!(
            Selection::parse("default,spin")
                .unwrap_err()
                .ends_with("`truetail gaps` looks at a host before a run")
        );
        for bad in ["", "hiccups", "hiccup,,steal", "off,steal", "steal=1ms"] {
            let reason = Selection::parse(bad).expect_err(bad);
            assert!(reason.contains("there are default, off, all, hiccup"), "{reason}");
        }
    }
}
