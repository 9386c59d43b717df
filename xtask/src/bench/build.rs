//! A release build of the command line, from nothing: what whoever tries truetail pays first.

use super::Effort;
use super::builds::{Builds, cargo_command};
use super::child;
use super::figures::Figures;
use std::collections::BTreeSet;

/// CPU time of the whole build, min.
const CPU_MINUTES: f64 = 8.0;
/// Crates that are built, ours included.
const CRATES: f64 = 200.0;

/// One round, whatever is asked: compilers are steadier than loads, and a round takes minutes.
pub(crate) fn run(builds: &Builds, _effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let scratch = builds.scratch()?;
    let mut command = cargo_command();
    command.args(["build", "--locked", "--release", "--package", "truetail", "--target-dir"]);
    command.arg(scratch.free("build"));
    // A wrapper may have the answers already.
    command
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env("CARGO_BUILD_RUSTC_WRAPPER", "");
    let cost = child::run(&mut command, &[0])?;
    figures.add("CPU time, user and system", "min", cost.cpu_s() / 60.0);
    figures.add("wall time", "min", cost.wall_s / 60.0);
    figures.at_most("CPU time, user and system", CPU_MINUTES);
    let mut tree = cargo_command();
    tree.args(["tree", "--locked", "--package", "truetail", "--edges", "normal,build", "--prefix", "none"]);
    figures.add("crates, default features", "", crates(&child::run(&mut tree, &[0])?.stdout) as f64);
    figures.at_most("crates, default features", CRATES);
    figures.note("cargo, every compiler and every linker that it started; fetching sources is not in it");
    Ok(())
}

/// How many different packages `cargo tree` lists: a name and a version are one.
fn crates(tree: &str) -> usize {
    let package = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.next()?))
    };
    tree.lines().filter_map(package).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_counts_once_and_two_versions_twice() {
        let tree = "truetail v0.1.0 (/here)\nlibc v0.2.1\nsyn v1.0.0\nsyn v2.0.0 (*)\nlibc v0.2.1 (*)\n\n";
        assert_eq!(crates(tree), 4);
    }
}
