//! `cargo xtask soak`: checks that take too long for every change.

mod terminals;

use crate::stopwatch::{Stopwatch, spoken};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use units::Nanos;

/// Loads of the long run: (what, flags).
const LOADS: [(&str, &[&str]); 2] = [
    ("closed loop on null:", &["null:", "-w", "noop", "--closed", "-c", "8", "--think", "constant:1ms"]),
    ("open loop on SQLite", &["sqlite:", "-w", "ycsb", "-r", "2000/s"]),
];

/// Crates with fuzz targets: tests whose names begin with `fuzz_`.
const FUZZED: [&str; 16] = [
    "benchbase",
    "record",
    "driver",
    "driver-cql",
    "driver-duckdb",
    "driver-echo",
    "driver-mongodb",
    "driver-mysql",
    "driver-redis",
    "driver-ycsb",
    "import",
    "load",
    "noise",
    "store",
    "truetail",
    "workload-file",
];

/// Inputs of each property test, of seeds that no run had before.
const PROPERTY_CASES: &str = "10000";

/// Growth of memory that a run may show after its first quarter: what allocators and page caches do by themselves.
const GROWTH: f64 = 0.10;
/// The same in MiB, for small processes.
const GROWTH_MIB: f64 = 8.0;

/// Runs the crates' long tests; with `--minutes N` the memory runs of N minutes each; with `--terminals N` TPC-C's terminals
/// for N minutes; with `--fuzz N` the fuzz targets
/// for N seconds each.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    match words {
        [] => tests(),
        ["--minutes", minutes] => memory(number("--minutes", minutes)?),
        ["--terminals", minutes] => terminals::run(number("--terminals", minutes)?),
        ["--fuzz", seconds] => fuzz(number("--fuzz", seconds)?),
        _ => bail!(
            "`soak {}`: there are `soak`, `soak --minutes N`, `soak --terminals MINUTES` and `soak --fuzz SECONDS`",
            words.join(" ")
        ),
    }
}

fn number(flag: &str, text: &str) -> anyhow::Result<u64> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.with_context(|| format!("{flag} {text}: expected a whole number above 0, such as `{flag} 60`"))
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// All tests in release; those that honour `TRUETAIL_SOAK` do more, and properties are held against more inputs.
fn tests() -> anyhow::Result<bool> {
    let mut command = cargo(&["test", "--locked", "--release", "--workspace", "--tests", "--no-fail-fast"]);
    command.env("TRUETAIL_SOAK", "1").env("PROPTEST_CASES", PROPERTY_CASES);
    Ok(command.status().context("cargo test")?.success())
}

/// The fuzz targets, for so many seconds each, from a seed that no run had before. What fails says how to repeat it.
fn fuzz(seconds: u64) -> anyhow::Result<bool> {
    let mut command = cargo(&["test", "--locked", "--release", "--no-fail-fast", "--tests"]);
    for name in FUZZED {
        command.args(["--package", name]);
    }
    command.args(["fuzz_", "--", "--nocapture"]).env("TRUETAIL_FUZZ_SECONDS", seconds.to_string());
    Ok(command.status().context("cargo test")?.success())
}

fn memory(minutes: u64) -> anyhow::Result<bool> {
    if !cargo(&["build", "--locked", "--release", "--package", "truetail"]).status()?.success() {
        bail!("truetail could not be built");
    }
    let mut flat = true;
    for (what, flags) in LOADS {
        let sizes = observe(flags, minutes).with_context(|| what.to_owned())?;
        let (early, late) = halves(&sizes).with_context(|| format!("{what}: too short to say anything"))?;
        let grew = grows(early, late);
        flat &= !grew;
        let word = if grew { "GROWS" } else { "flat" };
        println!("{what}: {word}: {early:.1} MiB in the second quarter, {late:.1} MiB in the last one");
    }
    Ok(flat)
}

/// Resident memory in MiB, once a second while the load runs.
fn observe(flags: &[&str], minutes: u64) -> anyhow::Result<Vec<f64>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let recording = target.join("soak");
    let _ = std::fs::remove_dir_all(&recording);
    let seconds = minutes * 60;
    let mut command = Command::new(target.join("release/truetail"));
    command.arg("run").args(flags).args(["--warmup", "0s", "-d", &format!("{seconds}s"), "--json", "--out"]);
    command.arg(&recording).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("truetail")?;
    let stopwatch = Stopwatch::start()?;
    let sizes = sample(&mut child, seconds as f64, &stopwatch);
    // The load has ended; the analysis that follows may take the memory that it needs.
    let status = child.wait().context("truetail")?;
    let _ = std::fs::remove_dir_all(&recording);
    // 3: the verdict is invalid, which on a busy machine says nothing of its memory.
    if !matches!(status.code(), Some(0 | 3)) {
        bail!("truetail failed ({status}) after {}", spoken(stopwatch.seconds()));
    }
    Ok(sizes)
}

fn sample(child: &mut Child, seconds: f64, stopwatch: &Stopwatch) -> Vec<f64> {
    let status = Path::new("/proc").join(child.id().to_string()).join("status");
    let mut sizes = Vec::new();
    while stopwatch.seconds() < seconds && matches!(child.try_wait(), Ok(None)) {
        clock::pause(Nanos::from_secs(1));
        sizes.extend(std::fs::read_to_string(&status).ok().and_then(|text| resident_mib(&text)));
    }
    sizes
}

/// `VmRSS` of `/proc/PID/status`.
fn resident_mib(status: &str) -> Option<f64> {
    let rest = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Means of the second and of the last quarter: the first one is start-up.
fn halves(sizes: &[f64]) -> Option<(f64, f64)> {
    let quarter = sizes.len() / 4;
    if quarter == 0 {
        return None;
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    Some((mean(&sizes[quarter..2 * quarter]), mean(&sizes[sizes.len() - quarter..])))
}

/// Whether memory grew by more than it may.
fn grows(early: f64, late: f64) -> bool {
    late - early > GROWTH_MIB.max(GROWTH * early)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_is_seen_and_a_warm_up_is_not() {
        let leak: Vec<f64> = (0..3600).map(|second| 50.0 + f64::from(second) * 0.01).collect();
        let (early, late) = halves(&leak).unwrap();
        assert!(grows(early, late), "{early} {late}");
        let warm: Vec<f64> = (0..3600).map(|second| if second < 600 { 20.0 } else { 60.0 }).collect();
        let (early, late) = halves(&warm).unwrap();
        assert!(!grows(early, late), "{early} {late}");
        assert_eq!(halves(&[1.0]), None);
    }

    #[test]
    fn every_crate_with_a_fuzz_target_is_fuzzed() {
        let crates = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")).unwrap();
        let mut found: Vec<String> = crates
            .map(|entry| entry.unwrap())
            .filter(|entry| {
                holds_target(&entry.path().join("tests")) || holds_target(&entry.path().join("src"))
            })
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        found.sort();
        let mut known = FUZZED;
        known.sort_unstable();
        assert_eq!(found, known);
    }

    /// Whether a file below has a fuzz target in it.
    fn holds_target(directory: &Path) -> bool {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(|path| match path.is_dir() {
            true => holds_target(&path),
            false => std::fs::read_to_string(&path).is_ok_and(|text| text.lines().any(is_target)),
        })
    }

    /// At the beginning of a line, or within a module of tests.
    fn is_target(line: &str) -> bool {
        line.trim_start().starts_with("fn fuzz_")
    }

    #[test]
    fn numbers_of_flags_are_checked() {
        assert_eq!(number("--fuzz", "60").unwrap(), 60);
        let error = number("--fuzz", "0").unwrap_err().to_string();
        assert!(error.contains("--fuzz 0") && error.contains("--fuzz 60"), "{error}");
    }

    #[test]
    fn memory_is_read_from_proc() {
        assert_eq!(resident_mib("Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t1\n"), Some(2.0));
        assert_eq!(resident_mib("Name:\tx\n"), None);
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(resident_mib(&own).is_some_and(|mib| mib > 0.1));
    }
}
