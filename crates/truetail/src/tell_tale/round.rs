//! One round of one cell: the harness runs, and what it leaves behind becomes a recording.

use super::benchbase;
use super::database::{self, Database};
use super::document::RateEntry;
use super::found::Found;
use super::imported::{self, Output};
use super::jvm::Jvm;
use super::lines::{self, Measured, RAW, Run};
use super::matrix::{Harness, Planned, Row, Workload};
use super::preset::{Length, Size};
use super::secret::SecretFile;
use crate::process::{self, Printed, file_name, well};
use anyhow::{Context, anyhow};
use driver::TargetUrl;
use import::Format;
use record::Recording;
use std::path::{Path, PathBuf};
use units::Nanos;

/// The JVM's log beside the recording.
const LOG: &str = "gc.log";
/// The password for YCSB, which has it from nowhere else but its command line.
const SECRET: &str = "secret.properties";

/// What all rounds have in common.
pub(super) struct Bench<'a> {
    pub(super) size: &'a Size,
    pub(super) found: &'a Found,
    pub(super) databases: &'a [Database],
    pub(super) directory: &'a Path,
}

/// What came of a round.
pub(super) struct Done {
    /// Program and arguments, without secrets; empty where it did not come to that.
    pub(super) command: Vec<String>,
    /// The recording, from the experiment's directory.
    pub(super) recording: anyhow::Result<PathBuf>,
}

/// A cell's directory: `ycsb-postgresql-open-ycsb-g1`.
pub(super) fn directory_name(planned: &Planned) -> String {
    let cell = &planned.cell;
    let load = if planned.row.is_open { "open" } else { "closed" };
    let log = if cell.jvm_log == Some(false) { "-no-log" } else { "" };
    file_name(&format!("{}-{}-{load}-{}{log}", cell.workload, cell.target, cell.harness))
}

impl Bench<'_> {
    /// How long a run is expected to take, seconds.
    pub(super) fn expected_seconds(&self, planned: &Planned, rates: &[RateEntry]) -> f64 {
        let row = planned.row;
        let size = self.size.of_row(row);
        let rate = rate_of(row, rates).or_else(|| row.is_open.then_some(size.highest_rate));
        let run = Run { row, size: &size, length: size.length, rate, url: None, place: Path::new("") };
        let jvm = match &planned.how {
            Ok(Harness::Ycsb(jvm) | Harness::BenchBase(jvm)) => Some(jvm),
            _ => None,
        };
        lines::expected_seconds(&run, jvm, self.found.available_mib)
    }

    /// Runs a cell once.
    pub(super) fn round(&self, planned: &Planned, number: u32, rates: &[RateEntry]) -> Done {
        let mut command = Vec::new();
        let inside = Path::new(&directory_name(planned)).join(format!("round-{number}"));
        let recording = self.recorded(planned, &inside, rates, &mut command);
        Done { command, recording: recording.map(|()| inside.join("recording")) }
    }

    fn recorded(
        &self,
        planned: &Planned,
        inside: &Path,
        rates: &[RateEntry],
        command: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let harness = planned.how.as_ref().map_err(|why| anyhow!(why.clone()))?;
        let row = planned.row;
        let place = self.place(inside)?;
        let url = self.url(row, harness)?;
        let rate = rate_of(row, rates);
        let size = self.size.of_row(row);
        let run = Run { row, size: &size, length: size.length, rate, url: url.as_ref(), place: &place };
        let log = place.join(LOG);
        let log = (planned.cell.jvm_log == Some(true)).then_some(log.as_path());
        let limit = Nanos((self.expected_seconds(planned, rates) * 3e9) as u64) + Nanos::from_secs(90);
        let recording = place.join("recording");
        match harness {
            Harness::Truetail => self.truetail(&run, &recording, limit, command),
            Harness::Ycsb(jvm) => {
                let printed = self.ycsb(&run, jvm, log, Measured::Raw, limit, command)?;
                // Its command line, which says whether it had a rate, is told on standard error.
                let told = std::fs::read(&printed.stderr)
                    .with_context(|| format!("can't read {}", printed.stderr.display()))?;
                let output = Output {
                    format: Format::Ycsb,
                    printed: format!("{}\n{}", String::from_utf8_lossy(&told), printed.stdout),
                    rows: place.join(RAW),
                    log,
                    command: command.as_slice(),
                };
                imported::into_recording(&run, &output, &recording)?;
                // Each row is a sample of the recording, and takes three times the room here.
                std::fs::remove_file(&output.rows)
                    .with_context(|| format!("can't remove {}", output.rows.display()))
            }
            Harness::BenchBase(jvm) => {
                // It makes and loads its tables in each run, some thousand records a second.
                let loaded = u64::from(self.size.scale.max(60 * self.size.warehouses));
                let limit = limit + Nanos::from_secs(loaded);
                let printed = self.benchbase(&run, jvm, log, limit, command)?;
                let rows = benchbase::rows(&place)?;
                let format = Format::BenchBase;
                let output =
                    Output { format, printed: printed.stdout, rows, log, command: command.as_slice() };
                imported::into_recording(&run, &output, &recording)
            }
        }
    }

    /// A directory below the experiment's, from the root: programs that start elsewhere are told of it.
    fn place(&self, inside: &Path) -> anyhow::Result<PathBuf> {
        let place = self.directory.join(inside);
        std::fs::create_dir_all(&place).with_context(|| format!("can't create {}", place.display()))?;
        place.canonicalize().with_context(|| format!("can't find {}", place.display()))
    }

    /// What is asked; none is the store that does nothing.
    fn url(&self, row: Row, harness: &Harness) -> anyhow::Result<Option<TargetUrl>> {
        let Some(server) = row.target.server() else { return Ok(None) };
        let database = self.databases.iter().find(|database| database.server() == server);
        let database = database.with_context(|| format!("there is no {}", server.name()))?;
        match (row.workload, harness) {
            (Workload::NoOp, _) => Ok(Some(database.plain())),
            // It makes its own tables.
            (_, Harness::BenchBase(_)) => database.empty().map(Some),
            (workload, _) => database.copy(workload, self.size).map(Some),
        }
    }

    fn truetail(
        &self,
        run: &Run<'_>,
        recording: &Path,
        limit: Nanos,
        command: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let arguments = lines::truetail(run, recording);
        *command = std::iter::once("truetail".to_owned()).chain(arguments.iter().cloned()).collect();
        let secrets = run.url.map(database::secrets).unwrap_or_default();
        process::truetail(&arguments, &secrets, limit, recording, || ())
    }

    fn ycsb(
        &self,
        run: &Run<'_>,
        jvm: &Jvm,
        log: Option<&Path>,
        measured: Measured,
        limit: Nanos,
        command: &mut Vec<String>,
    ) -> anyhow::Result<Printed> {
        let class_path = self.found.ycsb.as_ref().map_err(|why| anyhow!(why.clone()))?;
        let words = jvm.words(run.size, self.found.available_mib, log);
        *command = lines::ycsb(run, words, class_path, measured);
        let Some(password) = run.url.and_then(database::password) else {
            return well(process::foreign(command, run.place, limit)?);
        };
        let secret = SecretFile::write(run.place.join(SECRET), &properties(&password))?;
        command.extend(["-P".to_owned(), secret.path().display().to_string()]);
        let printed = process::foreign(command, run.place, limit);
        secret.remove()?;
        well(printed?)
    }

    fn benchbase(
        &self,
        run: &Run<'_>,
        jvm: &Jvm,
        log: Option<&Path>,
        limit: Nanos,
        command: &mut Vec<String>,
    ) -> anyhow::Result<Printed> {
        let jar =
            self.found.benchbase.clone().context("no BenchBase was named")?.map_err(|why| anyhow!(why))?;
        let password = run.url.and_then(database::password);
        let configuration = benchbase::write(run, password.as_deref())?;
        let words = jvm.words(run.size, self.found.available_mib, log);
        *command = benchbase::words(run, words, &jar, configuration.path());
        // It reads its own configuration from where it is started.
        let home = jar.parent().unwrap_or(Path::new("/"));
        let printed = process::foreign_from(command, home, run.place, limit);
        configuration.remove()?;
        well(printed?)
    }

    /// Requests a second of a closed loop as fast as it goes, by the harness's own account.
    pub(super) fn probe(&self, row: Row, harness: &Harness, length: Length) -> anyhow::Result<f64> {
        let name = format!("{}-{}-{}", row.workload.name(), row.target.name(), tool(harness));
        let place = self.place(&Path::new("probes").join(file_name(&name)))?;
        let url = self.url(row, harness)?;
        let size = self.size.of_row(row);
        let run = Run { row, size: &size, length, rate: None, url: url.as_ref(), place: &place };
        let limit = process::limit(length.whole());
        let mut command = Vec::new();
        match harness {
            Harness::Truetail => {
                let recording = place.join("recording");
                self.truetail(&run, &recording, limit, &mut command)?;
                let recording = Recording::open(&recording)?;
                let samples = recording.end().context("the probe was cut short")?.samples;
                Ok(samples as f64 / (length.whole().0 as f64 / 1e9))
            }
            Harness::Ycsb(jvm) | Harness::BenchBase(jvm) => {
                let printed = self.ycsb(&run, jvm, None, Measured::Histogram, limit, &mut command)?;
                throughput(&printed.stdout).context("YCSB printed no throughput")
            }
        }
    }
}

fn tool(harness: &Harness) -> &'static str {
    match harness {
        Harness::Truetail => "truetail",
        Harness::Ycsb(_) => "ycsb",
        Harness::BenchBase(_) => "benchbase",
    }
}

/// The rate of a row's open loop.
fn rate_of(row: Row, rates: &[RateEntry]) -> Option<u64> {
    let is_of_row = |rate: &&RateEntry| {
        (rate.workload.as_str(), rate.target.as_str()) == (row.workload.name(), row.target.name())
    };
    rates.iter().find(is_of_row).filter(|_| row.is_open).map(|rate| rate.per_second)
}

/// What YCSB's client says of the whole run, operations a second.
fn throughput(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix("[OVERALL], Throughput(ops/sec), "))?;
    line.trim().parse().ok().filter(|rate: &f64| rate.is_finite())
}

/// The password as a file of Java's properties.
fn properties(password: &str) -> String {
    let escaped: String = password.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("postgres.password={escaped}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_throughput_is_that_of_the_whole_run() {
        let printed =
            "[OVERALL], RunTime(ms), 1003\n[OVERALL], Throughput(ops/sec), 9523.42\n[READ], Operations, 1\n";
        assert_eq!(throughput(printed), Some(9_523.42));
        assert_eq!(throughput("[OVERALL], Throughput(ops/sec), NaN\n"), None);
    }
}
