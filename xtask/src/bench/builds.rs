//! The programs under the bench, built in release.

use super::Effort;
use super::figures::Figures;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where what is built lies.
pub(crate) struct Builds {
    target: PathBuf,
}

impl Builds {
    /// Builds the command line.
    pub(crate) fn new() -> anyhow::Result<Builds> {
        cargo(&["build", "--locked", "--release", "--package", "truetail"])?;
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let target = std::path::absolute(&target).with_context(|| format!("{}", target.display()))?;
        Ok(Builds { target })
    }

    /// A `truetail` command.
    pub(crate) fn truetail(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.target.join("release/truetail"));
        command.args(words);
        command
    }

    /// Builds an example of a package.
    pub(crate) fn example(&self, package: &str, name: &str) -> anyhow::Result<Command> {
        cargo(&["build", "--locked", "--release", "--package", package, "--example", name])?;
        Ok(Command::new(self.target.join("release/examples").join(name)))
    }

    /// A new directory for recordings, removed at the end.
    pub(crate) fn scratch(&self) -> anyhow::Result<Scratch> {
        let path = self.target.join("bench");
        // What an interrupted bench left is in the way of the next one.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).with_context(|| format!("{}", path.display()))?;
        Ok(Scratch(path))
    }

    /// Runs a bench that measures by itself, and takes each of its lines as a round of a figure.
    pub(crate) fn cargo_bench(
        &self,
        package: &str,
        bench: &str,
        effort: &Effort,
        figures: &mut Figures,
    ) -> anyhow::Result<()> {
        for _ in 0..effort.rounds {
            let mut command = cargo_command();
            command.args(["bench", "--locked", "--quiet", "--package", package, "--bench", bench]);
            let output =
                command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cargo bench")?;
            if !output.status.success() {
                bail!("`cargo bench --package {package} --bench {bench}` failed ({})", output.status);
            }
            let text = String::from_utf8_lossy(&output.stdout);
            for (name, value, unit) in text.lines().filter_map(figure) {
                figures.add(&name, unit, value);
            }
        }
        for (name, limit) in TARGETS {
            figures.at_most(name, limit);
        }
        Ok(())
    }
}

/// What is hoped of the benches' figures.
const TARGETS: [(&str, f64); 6] = [
    ("closed loop on null:, 1 session", 60.0),
    ("closed loop on null:, 8 sessions", 60.0),
    ("overloaded open loop on null:, 1 session", 60.0),
    ("overloaded open loop on null:, 8 sessions", 60.0),
    ("push and two stamps", 25.0),
    ("on disk", 12.0),
];

/// A bench's line: a name, two spaces or more, a number, a unit.
fn figure(line: &str) -> Option<(String, f64, &'static str)> {
    let (name, rest) = line.trim().split_once("  ")?;
    let mut words = rest.split_whitespace();
    let value = words.next()?.parse().ok()?;
    let unit = words.collect::<Vec<_>>().join(" ");
    let (_, short) = UNITS.into_iter().find(|(long, _)| unit.starts_with(long))?;
    Some((name.to_owned(), value, short))
}

/// Units as benches print them and as the table shows them.
const UNITS: [(&str, &str); 3] = [("ns each", "ns"), ("million samples/s", "M/s"), ("bytes per sample", "B")];

/// The cargo that runs this.
pub(crate) fn cargo_command() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn cargo(arguments: &[&str]) -> anyhow::Result<()> {
    let status = cargo_command().args(arguments).stdin(Stdio::null()).status().context("cargo")?;
    if !status.success() {
        bail!("`cargo {}` failed ({status})", arguments.join(" "));
    }
    Ok(())
}

/// A directory that is removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A place in it that is free.
    pub(crate) fn free(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_a_benchs_lines() {
        let read = |line| figure(line);
        let own = read("closed loop on null:, 8 sessions             95.0 ns each   hash 2aed");
        assert_eq!(own, Some(("closed loop on null:, 8 sessions".to_owned(), 95.0, "ns")));
        let written =
            read("write parts of one second, one thread           12.5 million samples/s     80.0 ns each");
        assert_eq!(written, Some(("write parts of one second, one thread".to_owned(), 12.5, "M/s")));
        assert_eq!(read("on disk      11.20 bytes per sample").map(|f| f.2), Some("B"));
        assert_eq!(read("  hash of the work       ff00"), None);
        assert_eq!(read("running 0 tests"), None);
    }
}
