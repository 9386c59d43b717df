//! The chores of the project: `cargo xtask ci`, and slower ones that only a developer needs.

mod bench;
mod ci;
mod compare;
mod docs;
mod install;
mod optional;
mod servers;
mod soak;
mod steps;
mod stopwatch;

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask CHORE

Chores:
  ci [--quick]             install what tests need, then format, lints, all tests, documentation
                           --quick: format, lints and tests in debug only, with what is installed
                           --all-drivers: also what drivers that are optional drive, and their tests
  install                  install what tests need, and what optional drivers drive
  docs                     write what of docs/ the program itself prints: the table of papers.md
  servers up KIND…         start servers on free ports, until Ctrl-C: postgres, mariadb, redis
  servers down KIND…       end them from elsewhere
  bench [SECTION…]         figures next to targets and peers; `bench --help` lists sections and how long they take
  compare-peers            writes docs/comparison.md from runs of truetail, pgbench, sysbench, YCSB and redis-benchmark
                           on the same servers; `compare-peers --help` says more
  soak                     all tests in release, with the long variants of those that have one
  soak --minutes N         runs of N minutes each, whose memory must stay flat
  soak --fuzz SECONDS      inputs that nobody wrote: recordings, configuration, loads, URLs, answers, requests, outputs";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does one chore: whether it went well.
fn run(words: &[&str]) -> anyhow::Result<bool> {
    std::env::set_current_dir(root()?).context("the repository's directory")?;
    match words {
        ["ci"] => ci::run(ci::Extent::Full),
        ["ci", "--quick"] => ci::run(ci::Extent::Quick),
        ["ci", "--all-drivers"] => ci::run(ci::Extent::Drivers),
        ["install"] => install::what_tests_need().and_then(|()| optional::install()).map(|()| true),
        ["docs"] => docs::run(),
        ["bench", rest @ ..] => bench::run(rest),
        ["compare-peers", rest @ ..] => compare::run(rest),
        ["servers", rest @ ..] => servers::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        [] | ["help" | "--help" | "-h", ..] => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => bail!("`{}`: there is no such chore\n\n{USAGE}", words.join(" ")),
    }
}

/// The repository's directory: the parent of this crate's.
fn root() -> anyhow::Result<PathBuf> {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    Ok(parent.context("this crate lies at the top of the file system")?.to_owned())
}
