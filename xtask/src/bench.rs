//! `cargo xtask bench`: what truetail costs, next to its targets and its peers.
//!
//! Contenders take turns, round by round, so that a slow minute of the machine hits all of them; each figure is shown
//! as the median of its rounds with the smallest and the largest.

mod build;
pub(crate) mod builds;
pub(crate) mod child;
pub(crate) mod figures;
mod gaps;
pub(crate) mod glances;
mod noop;
mod observers;
mod open;
mod peers;
mod report;
mod store;

use anyhow::bail;
use builds::Builds;
use figures::Figures;

/// How much to do.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    rounds: u32,
    /// Seconds of each measured load.
    seconds: u32,
    /// Requests of the recording that is reported on.
    samples: u64,
}

const FULL: Effort = Effort { rounds: 3, seconds: 5, samples: 100_000_000 };
const QUICK: Effort = Effort { rounds: 1, seconds: 2, samples: 10_000_000 };

/// One section of the bench.
struct Section {
    name: &'static str,
    /// What it measures, and for what targets.
    about: &'static str,
    /// How long it takes on two cores, building aside.
    takes: &'static str,
    run: fn(&Builds, &Effort, &mut Figures) -> anyhow::Result<()>,
}

const SECTIONS: [Section; 9] = [
    Section {
        name: "null",
        about: "own cost on null: of a request (at most 60 ns), of a push with two stamps (25 ns)",
        takes: "5 s",
        run: |builds, effort, figures| builds.cargo_bench("load", "null", effort, figures),
    },
    Section {
        name: "record",
        about: "writing, reading and recording samples; bytes of each on disk (at most 12)",
        takes: "30 s",
        run: |builds, effort, figures| builds.cargo_bench("record", "recording", effort, figures),
    },
    Section {
        name: "report",
        about: "a report on 10⁸ samples (at most 15 s and 1 GiB)",
        takes: "2 min, 1.2 GB of disk",
        run: report::run,
    },
    Section {
        name: "noop",
        about: "closed loop of `SELECT 1` on PostgreSQL: requests and CPU time next to pgbench and sysbench",
        takes: "7 min",
        run: noop::run,
    },
    Section {
        name: "open",
        about: "open loop on PostgreSQL: how late each request is sent, next to pgbench",
        takes: "3 min",
        run: open::run,
    },
    Section {
        name: "store",
        about: "the simulated store: lateness of its answers at 5,000/s (p99.9 at most 100 µs), requests/s (30,000)",
        takes: "2 min",
        run: store::run,
    },
    Section {
        name: "observers",
        about: "what watching the host costs (at most 1 % of one core), and response times with it and without",
        takes: "1 min",
        run: observers::run,
    },
    Section {
        name: "gaps",
        about: "for how long this host's CPUs do not run a thread that never sleeps, one by one and all at once",
        takes: "15 s for each CPU",
        run: gaps::run,
    },
    Section {
        name: "build",
        about: "a release build from nothing: CPU time (at most 8 min) and crates (200); one round",
        takes: "5 min, 1 GB of disk",
        run: build::run,
    },
];

/// What `--help` says.
fn usage() -> String {
    let mut text = String::from(
        "Usage: cargo xtask bench [SECTION…] [--rounds N] [--seconds N] [--quick]\n\n\
         Figures as medians of rounds with the smallest and the largest, next to their targets. A quiet machine is\n\
         up to you. Without a section: all of them, about 20 min.\n\nSections:\n",
    );
    for Section { name, about, takes, .. } in &SECTIONS {
        text.push_str(&format!("  {name:<8} {about}\n{:11}{takes}\n", ""));
    }
    let Effort { rounds, seconds, .. } = FULL;
    text.push_str(&format!(
        "\n--rounds N    rounds of each figure [default: {rounds}]\n\
         --seconds N   of each measured load [default: {seconds}; noop: at least 10, open: at least 6]\n\
         --quick       one round of {} s, and a report on {} million samples\n",
        QUICK.seconds,
        QUICK.samples / 1_000_000
    ));
    text
}

/// Runs the sections that are named, or all; whether all met their targets is for the reader to say: this machine may
/// be busy, and figures are no test.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    if words.iter().any(|word| matches!(*word, "--help" | "-h" | "help")) {
        println!("{}", usage());
        return Ok(true);
    }
    let mut effort = if words.contains(&"--quick") { QUICK } else { FULL };
    let mut named = Vec::new();
    let mut rest = words.iter().filter(|word| **word != "--quick");
    while let Some(word) = rest.next() {
        match (*word, SECTIONS.iter().find(|section| section.name == *word)) {
            ("--rounds", _) => effort.rounds = number("--rounds", rest.next())?,
            ("--seconds", _) => effort.seconds = number("--seconds", rest.next())?,
            (_, Some(section)) => named.push(section),
            (other, None) => {
                let known: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
                bail!(
                    "bench `{other}`: there are {}, --rounds N, --seconds N and --quick; `--help` says more",
                    known.join(", ")
                );
            }
        }
    }
    let sections = if named.is_empty() { SECTIONS.iter().collect() } else { named };
    let builds = Builds::new()?;
    for section in sections {
        let mut figures = Figures::default();
        (section.run)(&builds, &effort, &mut figures)?;
        println!("\n{}\n{figures}", section.name);
    }
    Ok(true)
}

fn number(flag: &str, text: Option<&&str>) -> anyhow::Result<u32> {
    match text.and_then(|text| text.parse().ok()) {
        Some(number) if number > 0 => Ok(number),
        _ => bail!("{flag}: expected a whole number above 0, such as `{flag} 3`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_section_with_its_time() {
        let text = usage();
        for section in &SECTIONS {
            assert!(text.contains(&format!("\n  {:<8} {}", section.name, section.about)), "{text}");
            assert!(section.takes.contains(" s") || section.takes.contains(" min"), "{}", section.name);
        }
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn an_unknown_section_is_refused_with_the_known_ones() {
        let error = run(&["nope"]).unwrap_err().to_string();
        assert!(
            error.contains("`nope`")
                && error.contains("null, record, report, noop, open, store, observers, gaps, build"),
            "{error}"
        );
    }
}
