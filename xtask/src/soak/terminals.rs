//! 10,000 of TPC-C's terminals, which think, on one client: at most one core and 1 GiB, at any time and not on average alone.

use super::{cargo, resident_mib};
use crate::bench::glances::usage;
use crate::bench::peers::number_at;
use crate::stopwatch::Stopwatch;
use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::postgres::{Options, Server};
use units::Nanos;

/// Ten terminals each.
const WAREHOUSES: u32 = 1_000;
const TERMINALS: f64 = 10.0 * WAREHOUSES as f64;
/// A thousand whole warehouses are a hundred gigabytes. What a request costs the client does not depend on how many rows the
/// tables have beside those that it asks for.
const SMALL: [&str; 6] = ["-w", "tpcc", "-p", "items=100", "-p", "customers=30"];
const SESSIONS: &str = "32";

/// Cores, in each window.
const CORES: f64 = 1.0;
/// Resident memory, at each look.
const MIB: f64 = 1_024.0;
/// Seconds over which CPU time is averaged.
const WINDOW_S: f64 = 10.0;
/// Requests of each terminal a minute, at least, by which the load is one of terminals: a cycle takes 21 s on average.
const CYCLES: f64 = 2.0;

/// One look at the client.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Look {
    at_s: f64,
    /// CPU time so far, user and system.
    cpu_s: f64,
    resident_mib: f64,
}

/// Loads and runs it; whether it kept within the limits.
pub(super) fn run(minutes: u64) -> anyhow::Result<bool> {
    if !cargo(&["build", "--locked", "--release", "--package", "truetail"]).status()?.success() {
        bail!("truetail could not be built");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let program = target.join("release/truetail");
    let settings = [("shared_buffers", "512MB"), ("synchronous_commit", "off"), ("max_wal_size", "8GB")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let server = Server::start(&Options { settings, ..Options::default() }).map_err(|why| anyhow!(why))?;
    let command = |verb: &str| {
        let mut command = Command::new(&program);
        command.args([verb, &server.unix_url()]).args(SMALL).args(["--scale", &WAREHOUSES.to_string()]);
        command.stdin(Stdio::null());
        command
    };
    if !command("load").status().context("truetail load")?.success() {
        bail!("the warehouses could not be loaded");
    }
    let recording = target.join("soak");
    let _ = std::fs::remove_dir_all(&recording);
    let seconds = minutes * 60;
    let mut load = command("run");
    load.args(["--tpcc-terminals", "spec", "-c", SESSIONS, "--warmup", "0s", "-d", &format!("{seconds}s")]);
    load.args(["--retry", "10", "--json", "--out"]).arg(&recording).stdout(Stdio::piped());
    let mut child = load.spawn().context("truetail")?;
    let looks = watch(&mut child, seconds as f64)?;
    let output = child.wait_with_output().context("truetail")?;
    let _ = std::fs::remove_dir_all(&recording);
    // 3: the verdict is invalid, which on a busy machine says nothing of what the client takes.
    if !matches!(output.status.code(), Some(0 | 3)) {
        bail!("truetail failed ({})", output.status);
    }
    let document = serde_json::from_slice(&output.stdout).context("truetail's JSON document")?;
    let rate = number_at(&document, "/load/achieved_per_second")?;
    if rate * 60.0 < CYCLES * TERMINALS {
        bail!(
            "{rate:.0} requests/s are too few for {TERMINALS} terminals: the server did not keep up, and the client had little to do"
        );
    }
    let found = Found::of(&looks).context("too short to say anything: it takes a minute at least")?;
    let word = if found.is_within() { "within" } else { "ABOVE" };
    println!("{TERMINALS} terminals, {rate:.0} requests/s: {found}: {word} {CORES} core and {MIB} MiB");
    Ok(found.is_within())
}

/// Looks once a second while the load runs; what comes after it, the analysis, may take what it needs.
fn watch(child: &mut Child, seconds: f64) -> anyhow::Result<Vec<Look>> {
    let process = Path::new("/proc").join(child.id().to_string());
    let stopwatch = Stopwatch::start()?;
    let mut looks = Vec::new();
    while stopwatch.seconds() < seconds && matches!(child.try_wait(), Ok(None)) {
        clock::pause(Nanos::from_secs(1));
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        if let (Some(used), Some(resident_mib)) = (usage(&process), resident_mib(&status)) {
            looks.push(Look { at_s: stopwatch.seconds(), cpu_s: used.total(), resident_mib });
        }
    }
    Ok(looks)
}

/// What the looks come to.
#[derive(Clone, PartialEq, Debug)]
struct Found {
    /// Cores of each window, ascending.
    cores: Vec<f64>,
    most_mib: f64,
}

impl Found {
    fn of(looks: &[Look]) -> Option<Found> {
        let mut begin = *looks.first()?;
        let mut cores = Vec::new();
        for look in looks {
            if look.at_s - begin.at_s >= WINDOW_S {
                cores.push((look.cpu_s - begin.cpu_s) / (look.at_s - begin.at_s));
                begin = *look;
            }
        }
        cores.sort_by(f64::total_cmp);
        let most_mib = looks.iter().map(|look| look.resident_mib).fold(0.0, f64::max);
        (cores.len() >= 3).then_some(Found { cores, most_mib })
    }

    fn is_within(&self) -> bool {
        self.cores.iter().all(|cores| *cores <= CORES) && self.most_mib <= MIB
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (first, last) = (self.cores[0], self.cores[self.cores.len() - 1]);
        let middle = self.cores[self.cores.len() / 2];
        write!(
            f,
            "{middle:.2} cores [{first:.2} … {last:.2}] in {} windows of {WINDOW_S} s, at most {:.0} MiB",
            self.cores.len(),
            self.most_mib
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many cores from the beginning on, and `busy` of them for ten seconds in the middle.
    fn looks(cores: f64, busy: f64, mib: f64) -> Vec<Look> {
        let mut cpu_s = 0.0;
        let look = |second: u32| {
            cpu_s += if (31..=40).contains(&second) { busy } else { cores };
            Look { at_s: f64::from(second), cpu_s, resident_mib: mib }
        };
        (1..=90).map(look).collect()
    }

    #[test]
    fn one_window_above_the_limit_is_seen() {
        let within = |cores, busy, mib| Found::of(&looks(cores, busy, mib)).unwrap().is_within();
        assert!(within(0.5, 0.5, 300.0));
        assert!(!within(0.5, 1.2, 300.0), "on average it is below");
        assert!(!within(0.5, 0.5, 1_025.0));
        assert_eq!(Found::of(&looks(0.5, 0.5, 300.0)[..20]), None);
        assert_eq!(Found::of(&[]), None);
        let words = Found::of(&looks(0.5, 0.9, 300.0)).unwrap().to_string();
        assert_eq!(words, "0.50 cores [0.50 … 0.86] in 8 windows of 10 s, at most 300 MiB");
    }
}
