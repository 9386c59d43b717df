//! `cargo xtask ci`: everything that must hold before a change lands, in one command.
//!
//! Debug builds are shared by tests, and what clippy checked is shared by the documentation; only crates whose
//! promises depend on the optimiser are tested again in release.

use crate::install;
use crate::optional::{self, OPTIONAL};
use crate::steps::{Ended, Steps};
use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// How much to check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it, with the optional drivers and what they drive.
    Drivers,
    /// All of it, but for what optional drivers drive.
    Full,
    /// Format, lints and debug tests, with what is installed.
    Quick,
}

/// Crates with a hot path: "no allocation, no system call" is promised of what ships.
const HOT: [&str; 7] =
    ["load", "record", "driver-null", "driver-echo", "driver-postgres", "driver-mysql", "driver-redis"];

/// Seed of the property tests: what is judged is the change, and not the luck of the day. `cargo test` and `soak` look for
/// inputs that nobody has seen.
const PROPERTY_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// Runs all checks; whether all went well.
pub(crate) fn run(extent: Extent) -> anyhow::Result<bool> {
    let mut steps = Steps::default();
    if extent != Extent::Quick {
        let with_drivers = || if extent == Extent::Drivers { optional::install() } else { Ok(()) };
        steps.step("install", || match install::what_tests_need().and_then(|()| with_drivers()) {
            Ok(()) => Ended::Well,
            Err(error) => Ended::Badly(format!("{error:#}")),
        })?;
        if !steps.all_well() {
            // Without the servers most of what follows would fail, and hide the one reason.
            eprintln!("{}", steps.summary());
            return Ok(false);
        }
    }
    steps.command("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    let lints = ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
    steps.command("lints", &mut cargo(&lints))?;
    let features = optional::features();
    let lints = [
        "clippy",
        "--locked",
        "-p",
        "truetail",
        "--features",
        &features,
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    steps.command("lints, optional drivers", &mut cargo(&lints))?;
    let mut tests = cargo(&["test", "--locked", "--workspace", "--tests", "--no-fail-fast"]);
    tests.args(OPTIONAL.iter().flat_map(|driver| ["--exclude", driver.package]));
    steps.command("tests, debug", tests.env(PROPERTY_SEED.0, PROPERTY_SEED.1))?;
    drivers(&mut steps, extent)?;
    if extent != Extent::Quick {
        full(&mut steps)?;
    }
    eprintln!("{}", steps.summary());
    Ok(steps.all_well())
}

/// Tests of the optional drivers: those within the crates need nothing; the others need what is driven.
fn drivers(steps: &mut Steps, extent: Extent) -> anyhow::Result<()> {
    let packages = || OPTIONAL.iter().flat_map(|driver| ["--package", driver.package]);
    if extent != Extent::Drivers {
        let mut tests = cargo(&["test", "--locked", "--lib", "--no-fail-fast"]);
        let tests = tests.args(packages()).env(PROPERTY_SEED.0, PROPERTY_SEED.1);
        return steps.command("tests, optional drivers", tests);
    }
    for (name, profile) in
        [("optional drivers, debug", None), ("optional drivers, release", Some("--release"))]
    {
        let mut tests = cargo(&["test", "--locked", "--tests", "--no-fail-fast"]);
        let tests = tests.args(profile).args(packages()).env(PROPERTY_SEED.0, PROPERTY_SEED.1);
        let needy = OPTIONAL.iter().flat_map(|driver| driver.tests);
        steps.command(name, tests.args(needy.flat_map(|feature| ["--features", feature])))?;
    }
    let features = optional::features();
    let tests = ["test", "--locked", "-p", "truetail", "--features", &features, "--tests", "--no-fail-fast"];
    steps.command("truetail with all drivers", cargo(&tests).env(PROPERTY_SEED.0, PROPERTY_SEED.1))
}

fn full(steps: &mut Steps) -> anyhow::Result<()> {
    let mut release = cargo(&["test", "--locked", "--release", "--tests", "--no-fail-fast"]);
    for name in HOT {
        release.args(["--package", name]);
    }
    steps.command("tests, release", release.env(PROPERTY_SEED.0, PROPERTY_SEED.1))?;
    let examples = ["test", "--locked", "--workspace", "--doc", "--no-fail-fast"];
    steps.command("examples in documentation", &mut cargo(&examples))?;
    let mut documents = cargo(&["doc", "--locked", "--workspace", "--no-deps"]);
    steps.command("documentation", documents.env("RUSTDOCFLAGS", "-D warnings"))?;
    dependencies(steps)?;
    oldest_rust(steps)?;
    first_command(steps)
}

/// `deny.toml`, all of it; a tidy test holds its licences and bans where `cargo-deny` is missing.
fn dependencies(steps: &mut Steps) -> anyhow::Result<()> {
    let there = cargo(&["deny", "--version"]).output().is_ok_and(|output| output.status.success());
    if there {
        return steps.command("dependencies", &mut cargo(&["deny", "--locked", "check"]));
    }
    let how = "not installed: `cargo install --locked cargo-deny`";
    steps.step("dependencies", || Ended::Skipped(how.to_owned()))
}

/// The Rust of `rust-version` can build it. Where that toolchain is missing, clippy (which knows since when the standard
/// library has what) and a tidy test on the dependencies' own versions have to do.
fn oldest_rust(steps: &mut Steps) -> anyhow::Result<()> {
    let name = "oldest Rust";
    let manifest = std::fs::read_to_string("Cargo.toml").context("Cargo.toml")?;
    let version = rust_version(&manifest).context("Cargo.toml has no `rust-version`")?;
    let mut command = Command::new("rustup");
    command.args(["run", version, "cargo"]);
    if !command.arg("--version").output().is_ok_and(|output| output.status.success()) {
        let how = format!("not installed: `rustup toolchain install {version}`");
        return steps.step(name, || Ended::Skipped(how));
    }
    let mut command = Command::new("rustup");
    command.args([
        "run",
        version,
        "cargo",
        "check",
        "--locked",
        "--workspace",
        "--target-dir",
        "target/oldest",
    ]);
    steps.command(name, &mut command)
}

/// The value of `rust-version` in a manifest.
fn rust_version(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""))?;
    line.strip_suffix('"')
}

/// README's first command, shorter: what a newcomer types must work in a release build.
fn first_command(steps: &mut Steps) -> anyhow::Result<()> {
    let recording = Path::new("target").join("ci-recording");
    // A recording is never written over.
    let _ = std::fs::remove_dir_all(&recording);
    let mut run =
        cargo(&["run", "--locked", "--release", "--", "run", "-d", "2s", "--warmup", "1s", "--out"]);
    // 3: the verdict is invalid. It may well be, on a machine that builds other things meanwhile.
    steps.command_ending("a short run", run.arg(recording), &[0, 3])
}

/// The cargo that runs this, so that everything is built by one toolchain.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_rust_is_read_from_the_manifest() {
        assert_eq!(rust_version("[workspace.package]\nrust-version = \"1.90\"\n"), Some("1.90"));
        assert_eq!(rust_version("rust-version.workspace = true\n"), None);
        let own =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml")).unwrap();
        assert!(rust_version(&own).is_some());
    }
}
