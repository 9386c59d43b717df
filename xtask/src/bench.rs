//! `cargo xtask bench`: what truetail costs, next to its targets and its peers.
//!
//! Contenders take turns, round by round, so that a slow minute of the machine hits all of them; each figure is shown
//! as the median of its rounds with the smallest and the largest.

mod builds;
mod child;
mod figures;
mod noop;
mod open;
mod peers;
mod report;

use anyhow::bail;
use builds::Builds;
use figures::Figures;

/// How much to do.
#[derive(Clone, Copy)]
struct Effort {
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
    run: fn(&Builds, &Effort, &mut Figures) -> anyhow::Result<()>,
}

const SECTIONS: [Section; 5] = [
    Section {
        name: "null",
        run: |builds, effort, figures| builds.cargo_bench("load", "null", effort, figures),
    },
    Section {
        name: "record",
        run: |builds, effort, figures| builds.cargo_bench("record", "recording", effort, figures),
    },
    Section { name: "report", run: report::run },
    Section { name: "noop", run: noop::run },
    Section { name: "open", run: open::run },
];

/// Runs the sections that are named, or all; whether all met their targets is for the reader to say: this machine may
/// be busy, and figures are no test.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
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
                bail!("bench `{other}`: there are {}, --rounds N, --seconds N and --quick", known.join(", "));
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
