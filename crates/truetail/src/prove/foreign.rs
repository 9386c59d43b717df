//! Foreign tools through the scenarios.

use super::arguments::ProveArguments;
use super::bench::{Behaviour, Bench};
use crate::process::{self, file_name, is_installed, well};
use anyhow::{Context, anyhow, bail};
use import::{Format, Reported, StatedFrom};
use load::arrivals::Process;
use prove::invocations::{INVOCATIONS, Invocation, Pacing, Protocol, Values, expand};
use prove::offered::Made;
use prove::scenario::Scenario;
use prove::verdict::{self, Judgement, Reference, Step};
use prove::{Figures, ToolResult, ToolScenario};
use record::TruthLog;
use std::path::{Path, PathBuf};
use store::Operation;

/// A tool in one protocol.
pub(super) struct Candidate {
    name: String,
    format: Format,
    protocol: Protocol,
    counted_from: StatedFrom,
    prepare: Option<String>,
    command: String,
    /// What the tool draws its intended starts from.
    arrivals: Process,
    ready_made: Option<&'static Invocation>,
    /// Files to read, with places such as `{dir}` in their names.
    read: Vec<String>,
    class_path: Option<String>,
}

impl Candidate {
    /// `YCSB op, resp`.
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.name, self.protocol.name())
    }

    /// A command of the user's own is given a rate to keep.
    fn pacing(&self) -> Pacing {
        self.ready_made.map_or(Pacing::Rate, |invocation| invocation.pacing)
    }

    fn ready_made(invocation: &'static Invocation, class_path: Option<&str>) -> Candidate {
        Candidate {
            name: invocation.name.to_owned(),
            format: invocation.format,
            protocol: invocation.protocol,
            counted_from: invocation.counted_from,
            prepare: invocation.prepare.map(str::to_owned),
            command: invocation.command.to_owned(),
            arrivals: invocation.arrivals(),
            ready_made: Some(invocation),
            read: Vec::new(),
            class_path: class_path.map(str::to_owned),
        }
    }
}

/// The tools that are asked for, in each of the protocols asked for; and, where all were, what is missing for the others.
///
/// # Errors
/// One line: a name that is none, a program that is missing and how to install it.
pub(super) fn candidates(arguments: &ProveArguments) -> anyhow::Result<(Vec<Candidate>, Vec<String>)> {
    let protocols = arguments.protocols()?;
    let class_path = arguments.class_path.as_deref();
    let mut candidates = Vec::new();
    for tool in &arguments.tool {
        let is_named = |i: &&Invocation| {
            tool == "all" || i.needs[0] == tool || i.name.to_lowercase().starts_with(&tool.to_lowercase())
        };
        let named = INVOCATIONS.iter().filter(is_named);
        let named: Vec<Candidate> = named
            .filter(|invocation| protocols.contains(&invocation.protocol))
            .map(|invocation| Candidate::ready_made(invocation, class_path))
            .collect();
        match (named.is_empty(), &arguments.format) {
            (false, None) => candidates.extend(named),
            (_, Some(format)) => candidates.extend(given(arguments, tool, format, &protocols)?),
            (true, None) if tool.contains('{') || tool.contains(' ') => {
                bail!(
                    "--tool '{tool}': a command needs {{port}} in it, --format for what it prints, and --protocol"
                )
            }
            (true, None) => bail!(
                "--tool {tool}: no ready-made tool of that name speaks {}; `truetail prove --list` names them",
                protocols.iter().map(|p| p.name()).collect::<Vec<_>>().join(" or ")
            ),
        }
    }
    if !arguments.tool.iter().any(|tool| tool == "all") {
        candidates.iter().try_for_each(check)?;
        return Ok((candidates, Vec::new()));
    }
    let (mut ready, mut missing) = (Vec::new(), Vec::new());
    for candidate in candidates {
        match check(&candidate) {
            Ok(()) => ready.push(candidate),
            Err(why) => missing.push(format!("{}: {why:#}", candidate.protocol.name())),
        }
    }
    if ready.is_empty() {
        bail!(
            "--tool all: none of the ready-made tools can be run; `truetail prove --list` says what they need"
        );
    }
    Ok((ready, missing))
}

/// A command of the user's own.
fn given(
    arguments: &ProveArguments,
    command: &str,
    format: &str,
    protocols: &[Protocol],
) -> anyhow::Result<Vec<Candidate>> {
    let format = Format::parse(format).map_err(|error| anyhow!("--format: {error}"))?;
    let arrivals = match arguments.arrivals.as_deref() {
        None => Process::Constant,
        Some(text) => Process::parse(text).map_err(|error| anyhow!("--arrivals: {error}"))?,
    };
    let program = command.split_whitespace().next().unwrap_or_default();
    let name =
        Path::new(program).file_name().map_or(program.to_owned(), |n| n.to_string_lossy().into_owned());
    let [protocol] = protocols else {
        bail!("--tool '{command}': say with --protocol which one it speaks, resp or postgres");
    };
    Ok(vec![Candidate {
        name,
        format,
        protocol: *protocol,
        counted_from: StatedFrom::Unsaid,
        prepare: None,
        command: command.to_owned(),
        arrivals,
        ready_made: None,
        read: arguments.read.clone(),
        class_path: arguments.class_path.clone(),
    }])
}

/// Whether a tool could be run: its command line can be made, and its programs are there.
fn check(candidate: &Candidate) -> anyhow::Result<()> {
    let values = Values {
        host: "127.0.0.1",
        port: 1,
        rate: 1,
        seconds: 1,
        sessions: 1,
        directory: Path::new("."),
        class_path: candidate.class_path.as_deref(),
    };
    let wrong = |error| anyhow!("--tool {}: {error}", candidate.name);
    expand(&candidate.command, &values).map_err(wrong)?;
    candidate.read.iter().try_for_each(|path| expand(path, &values).map(drop).map_err(wrong))?;
    let Some(ready_made) = candidate.ready_made else { return Ok(()) };
    match ready_made.needs.iter().find(|program| !is_installed(program)) {
        Some(missing) => {
            bail!("--tool {}: `{missing}` is not installed; {}", candidate.name, ready_made.install)
        }
        None => Ok(()),
    }
}

/// Runs a tool through the scenarios; `begins` is told of each. Of several measures in its output the one that
/// [`graded_row`] names is judged.
pub(super) fn through(
    candidate: &Candidate,
    scenarios: &[Scenario],
    directory: &Path,
    mut begins: impl FnMut(&Scenario),
) -> anyhow::Result<ToolResult> {
    let mut result = ToolResult {
        tool: candidate.name(),
        command: candidate.command.split_whitespace().collect::<Vec<_>>().join(" "),
        scenarios: Vec::new(),
    };
    for scenario in scenarios {
        begins(scenario);
        let place = directory.join(file_name(&candidate.name())).join(scenario.name);
        let judged = one(candidate, scenario, &place)
            .with_context(|| format!("{} in scenario {}", candidate.name(), scenario.name))?;
        result.scenarios.push(judged);
    }
    Ok(result)
}

fn one(candidate: &Candidate, scenario: &Scenario, place: &Path) -> anyhow::Result<ToolScenario> {
    let work = place.join("work");
    std::fs::create_dir_all(&work).with_context(|| format!("can't create {}", work.display()))?;
    let work = std::fs::canonicalize(&work)?;
    if let Some(ready_made) = candidate.ready_made {
        ready_made
            .set_up(&work)
            .map_err(|(path, error)| anyhow!("can't write {}: {error}", path.display()))?;
    }
    let bench = Bench::start(Behaviour::of(scenario), candidate.protocol, &place.join("truth"))?;
    let values = Values {
        host: &bench.host,
        port: bench.port,
        rate: (scenario.rate.get().round() as u64).max(1),
        seconds: scenario.duration.0.div_ceil(1_000_000_000).max(1),
        sessions: scenario.sessions,
        directory: &work,
        class_path: candidate.class_path.as_deref(),
    };
    let limit = process::limit(scenario.duration);
    let mut first = 0;
    if let Some(prepare) = &candidate.prepare {
        well(process::foreign(&expand(prepare, &values)?, &work, limit)?)?;
        // The scenario begins with the load, not with what fills the store.
        first = bench.begin_anew();
    }
    let printed = well(process::foreign(&expand(&candidate.command, &values)?, &work, limit)?)?;
    let files = files(candidate, &values, &work)?;
    let truth = bench.truth.clone();
    let host_standstill = bench.end()?.totals.standstill.share();
    let report = import::read(candidate.format, &printed.stdout, &files)?;
    let reported = graded_row(candidate, &report)?;
    let (mut service, arrivals) = times(&TruthLog::open(&truth)?, first)?;
    let reference = Reference::new(scenario, Figures::of(&mut service), &candidate.arrivals, reported.count);
    let stated = verdict::stated(&reported);
    let objection = Made::new(&report, arrivals).objection(scenario, candidate.pacing());
    Ok(ToolScenario {
        scenario: scenario.name.to_owned(),
        protocol: candidate.protocol.name().to_owned(),
        judgement: Judgement::new(&stated, Step::of(&reported), &reference).unless(objection),
        stated,
        host_standstill,
    })
}

/// What the tool has written.
fn files(candidate: &Candidate, values: &Values<'_>, work: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let named = candidate.read.iter().map(|path| Ok(PathBuf::from(expand(path, values)?.join(" "))));
    let mut files: Vec<PathBuf> = named.collect::<anyhow::Result<_>>()?;
    if let Some(prefix) = candidate.ready_made.map(|r| r.writes).filter(|prefix| !prefix.is_empty()) {
        let entries = std::fs::read_dir(work).with_context(|| format!("can't read {}", work.display()))?;
        let begins =
            |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix));
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(begins));
        files.sort();
    }
    Ok(files)
}

/// The row of all requests: the one that counts from where it is said to count, else the only one.
fn graded_row(candidate: &Candidate, report: &import::ToolReport) -> anyhow::Result<Reported> {
    let order = [candidate.counted_from, StatedFrom::Schedule, StatedFrom::Unsaid, StatedFrom::Send];
    order.into_iter().find_map(|from| report.overall(from)).with_context(|| {
        let rows: Vec<String> =
            report.rows.iter().map(|r| format!("{} {}", r.operation, r.measure)).collect();
        format!("its output has no row of all requests; there are: {}", rows.join(", "))
    })
}

/// Of the requests of the load: true service times, from the arrival at the store to the answer, and arrivals; ns.
fn times(log: &TruthLog, first: u64) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (mut service, mut arrivals) = (Vec::new(), Vec::new());
    log.scan(|rows| {
        let of_load = |row: &&record::TruthRow| {
            row.seq >= first
                && row.operation != Operation::Other as u8
                && row.operation != Operation::Transaction as u8
        };
        for row in rows.iter().filter(of_load) {
            arrivals.push(row.arrived.0 as f64);
            service.extend(row.written.since(row.arrived).map(|time| time.0 as f64));
        }
    });
    whole(log)?;
    Ok((service, arrivals))
}

/// What is held against a truth log must be all of it; to be asked after it was read.
pub(super) fn whole(log: &TruthLog) -> anyhow::Result<()> {
    let path = log.path().display();
    if let [(file, why), ..] = &log.unreadable()[..] {
        bail!("the truth log {path} can't be read: {file}: {why}; run this again");
    }
    let end = log.end().with_context(|| format!("the truth log {path} was cut short; run this again"))?;
    match end.dropped + end.unwritable {
        0 => Ok(()),
        lost => bail!(
            "the truth log {path} lacks {lost} requests ({} that found no room, {} that the disk did not take); run this \
             again on a host that does less, or name a faster disk with --out",
            end.dropped,
            end.unwritable
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tool: &str) -> ProveArguments {
        ProveArguments { tool: vec![tool.to_owned()], ..ProveArguments::default() }
    }

    fn refusal(arguments: &ProveArguments) -> String {
        candidates(arguments).map(|(ready, _)| ready.len()).unwrap_err().to_string()
    }

    #[test]
    fn a_tool_that_can_not_be_run_is_told_before_anything_is_started() {
        assert!(refusal(&asked("no-such-tool")).contains("`truetail prove --list` names them"));
        assert!(refusal(&asked("tool {port}")).contains("--format"));
        let own = |protocol: &str, command: &str| ProveArguments {
            format: Some("csv".to_owned()),
            protocol: Some(protocol.to_owned()),
            ..asked(command)
        };
        assert!(refusal(&own("both", "tool {port}")).contains("--protocol"));
        assert!(refusal(&own("resp", "tool {speed}")).contains("`{speed}` stands for nothing"));
        assert_eq!(candidates(&own("resp", "tool {port}")).map(|(ready, _)| ready.len()).ok(), Some(1));
    }

    /// Three rows; what is lost of them is said so.
    fn log(directory: &Path, dropped: u64) -> TruthLog {
        let header = record::TruthHeader {
            tool_version: "0".to_owned(),
            command: String::new(),
            epoch_wall_ns: 1,
            seed: 1,
            operations: store::Operation::ALL.map(|o| o.name().to_owned()).to_vec(),
            rules: Vec::new(),
            settings: Vec::new(),
        };
        let mut writer = record::TruthWriter::create(directory, &header).unwrap();
        let row = |seq: u64| record::TruthRow {
            arrived: units::Instant(1_000 * seq),
            begun: units::Instant(1_000 * seq),
            due: units::Instant(1_000 * seq + 7),
            written: units::Instant(1_000 * seq + 7),
            seq,
            ..record::TruthRow::EMPTY
        };
        writer.write_rows(&[row(0), row(1), row(2)]).unwrap();
        writer.finish(record::TruthEnd { dropped, ..record::TruthEnd::new(Vec::new()) }).unwrap();
        TruthLog::open(directory).unwrap()
    }

    #[test]
    fn a_truth_log_with_rows_missing_is_an_error() {
        let directory = std::env::temp_dir().join(format!("truetail-truth-{}", std::process::id()));
        let place = |name: &str| directory.join(name);
        let found = times(&log(&place("whole"), 0), 1).unwrap();
        assert_eq!(found, (vec![7.0, 7.0], vec![1_000.0, 2_000.0]));
        let error = |log: &TruthLog| times(log, 0).unwrap_err().to_string();
        let dropped = error(&log(&place("dropped"), 5));
        assert!(dropped.contains("lacks 5 requests (5 that found no room"), "{dropped}");

        log(&place("damaged"), 0);
        let parts = std::fs::read_dir(place("damaged").join("truth")).unwrap();
        for part in parts.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file()) {
            std::fs::write(part, "nonsense").unwrap();
        }
        let damaged = error(&TruthLog::open(place("damaged")).unwrap());
        assert!(damaged.contains("can't be read"), "{damaged}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
