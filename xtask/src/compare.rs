//! `cargo xtask compare-peers`: truetail next to other load tools, as a page.
//!
//! Contenders take turns, round by round, on servers that all of them share. What a tool says is read by `import`, as a user
//! would import it; CPU time is that of the process, from outside.

mod contender;
mod effort;
mod page;
mod results;
mod server;
mod session;
mod told;

use crate::bench::builds::Builds;
use crate::stopwatch::{Stopwatch, spoken};
use anyhow::{Context, bail};
use effort::{Effort, FULL, QUICK, left_s};
use page::Facts;
use server::System;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PAGE: &str = "docs/comparison.md";

fn usage() -> String {
    let minutes = |effort: &Effort| (left_s(effort, &effort.steps(), 0, 0.0) / 60.0).ceil();
    format!(
        "Usage: cargo xtask compare-peers [--rounds N] [--seconds N] [--rate N] [--quick] [--out FILE]\n\n\
         Runs truetail, pgbench, sysbench, redis-benchmark and YCSB in turn, on servers that it starts, and writes\n{PAGE}. \
         It takes {} min, a release build aside; a quiet machine is up to you.\n\n\
         --rounds N   rounds of each load [default: {}]; servers stall in three of them at most\n\
         --seconds N  of each load, at least 3 [default: {}]\n\
         --rate N     requests per second of loads with a fixed rate [default: {}]\n\
         --quick      one round of {} s, about {} min: whether all of it works\n\
         --out FILE   where the page goes",
        minutes(&FULL),
        FULL.rounds,
        FULL.seconds,
        FULL.rate,
        QUICK.seconds,
        minutes(&QUICK),
    )
}

/// Runs all, and writes the page.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    if words.iter().any(|word| matches!(*word, "--help" | "-h" | "help")) {
        println!("{}", usage());
        return Ok(true);
    }
    let (effort, out) = asked(words)?;
    let builds = Builds::new()?;
    let facts = facts();
    let stopwatch = Stopwatch::start()?;
    let results = session::run(&effort, &builds)?;
    let text = page::page(&results, &facts, &effort);
    std::fs::write(&out, text).with_context(|| format!("can't write {}", out.display()))?;
    eprintln!("{} is written, after {}", out.display(), spoken(stopwatch.seconds()));
    Ok(results.failures.is_empty())
}

/// What the flags ask for.
fn asked(words: &[&str]) -> anyhow::Result<(Effort, PathBuf)> {
    let mut effort = if words.contains(&"--quick") { QUICK } else { FULL };
    let mut out = PathBuf::from(PAGE);
    let mut rest = words.iter().filter(|word| **word != "--quick");
    while let Some(word) = rest.next() {
        match *word {
            "--rounds" => effort.rounds = number(word, rest.next(), 1)?,
            "--seconds" => effort.seconds = number(word, rest.next(), 3)?,
            "--rate" => effort.rate = number(word, rest.next(), 100)?,
            "--out" => out = rest.next().map(PathBuf::from).context("--out: expected a file's name")?,
            other => bail!(
                "compare-peers `{other}`: there are --rounds N, --seconds N, --rate N, --quick and --out FILE; `--help` says more"
            ),
        }
    }
    Ok((effort, out))
}

fn number(flag: &str, text: Option<&&str>, least: u32) -> anyhow::Result<u32> {
    match text.and_then(|text| text.parse().ok()) {
        Some(number) if number >= least => Ok(number),
        _ => bail!("{flag}: expected a whole number, at least {least}"),
    }
}

/// The host and the programs, by their own words.
fn facts() -> Facts {
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processors = text("/proc/cpuinfo");
    let model =
        processors.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(": ")?.1));
    let model = model.map_or_else(String::new, |model| format!(" ({})", model.trim()));
    let kernel = text("/proc/sys/kernel/osrelease");
    let programs = System::ALL
        .map(System::program)
        .into_iter()
        .chain(["pgbench", "sysbench", "redis-benchmark", "java"])
        .filter_map(version);
    Facts { host: format!("{cpus} CPUs{model}, Linux {}", kernel.trim()), versions: programs.collect() }
}

/// A program's name and version, where it tells; Debian keeps some programs off the path.
fn version(program: &str) -> Option<String> {
    let places = [PathBuf::from(program), Path::new("/usr/sbin").join(program)];
    let said = places.iter().find_map(|place| {
        let output = Command::new(place).arg("--version").stdin(Stdio::null()).output().ok()?;
        String::from_utf8(output.stdout).ok()
    })?;
    Some(format!("{program} {}", digits(&said)?))
}

/// The first word that begins with a digit and has a point in it.
fn digits(said: &str) -> Option<&str> {
    let words = said.split(|c: char| c.is_whitespace() || c == '=' || c == '(' || c == ')');
    words
        .map(|word| word.trim_start_matches('v').trim_end_matches(','))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_or_refused_with_those_that_there_are() {
        assert_eq!(asked(&[]).unwrap(), (FULL, PathBuf::from(PAGE)));
        let (effort, out) = asked(&["--quick", "--rounds", "2", "--out", "x.md"]).unwrap();
        assert_eq!((effort, out), (Effort { rounds: 2, ..QUICK }, PathBuf::from("x.md")));
        for words in [&["--rounds", "0"][..], &["--seconds", "2"], &["--rate"], &["--out"], &["nope"]] {
            assert!(asked(words).is_err(), "{words:?}");
        }
        assert!(asked(&["nope"]).unwrap_err().to_string().contains("--rounds N"));
        assert!(usage().lines().all(|line| line.chars().count() <= 120), "{}", usage());
    }

    #[test]
    fn versions_are_found_in_a_programs_words() {
        let said = [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18"),
            (
                "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (Debian 12)",
                "10.11.14-MariaDB-0+deb12u2",
            ),
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64", "7.0.15"),
            ("sysbench 1.0.20", "1.0.20"),
            ("openjdk 17.0.15 2025-04-15", "17.0.15"),
        ];
        for (said, version) in said {
            assert_eq!(digits(said), Some(version));
        }
        assert_eq!(digits("no version"), None);
    }
}
