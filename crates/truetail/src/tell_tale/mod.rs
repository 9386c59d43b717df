//! `truetail experiment tell-tale`: harness against harness, as *Tell-Tale Tail Latencies* (Fruth et al., TPCTC 2021) did it.
//!
//! ```text
//!  flags, host ──► found ──► cells, each with how it is run or why it can't be
//!                              │ for each round, in an order of its own
//!                              ▼
//!  database (a fresh copy) ──► round: a harness in a process of its own ──► a recording
//!                              │                                            │
//!                              ▼                                            ▼
//!                        experiment.toml ──────────────────────────► analysis::tell_tale
//! ```

mod arguments;
mod benchbase;
mod database;
mod document;
mod found;
mod imported;
mod jvm;
mod lines;
mod listed;
mod look;
mod matrix;
mod only;
pub(crate) mod order;
mod preset;
mod rates;
mod round;
mod secret;

pub(crate) use arguments::TellTaleArguments;
pub(crate) use database::secrets as secret_words;

use crate::{Ended, host, interrupt, output, run};
use anyhow::{Context, bail};
use clock::Clock;
use database::{Database, Server};
use document::{CellEntry, Document, JvmEntry, RateEntry, RoundEntry};
use found::Found;
use matrix::{Planned, Workload};
use only::Only;
use preset::{SESSIONS, Size};
use round::Bench;
use std::path::{Path, PathBuf};

/// Carries the experiment out, or looks at one again.
pub(crate) fn run(arguments: &TellTaleArguments, json: bool) -> anyhow::Result<Ended> {
    if let Some(directory) = &arguments.again {
        return look::again(directory, json);
    }
    let size = Size::of(arguments)?;
    let only = Only::parse(&arguments.only)?;
    let found = found::look(arguments)?;
    let mut planned = matrix::cells(&found, &only)?;
    if arguments.list {
        let bench = Bench { size: &size, found: &found, databases: &[], directory: Path::new("") };
        output::result(&listed::text(&planned, &bench))?;
        return Ok(Ended::Well);
    }
    if planned.iter().all(|one| one.how.is_err()) {
        let why = planned.iter().find_map(|one| one.how.as_ref().err()).cloned().unwrap_or_default();
        bail!("no cell can be run here: {why}; `truetail experiment tell-tale --list` says what each needs");
    }
    let directory = arguments.out.clone().unwrap_or_else(|| {
        PathBuf::from("experiments").join(format!("{}-tell-tale", run::timestamp(clock::wall_time_ns())))
    });
    record::require_vacant(&directory)?;
    std::fs::create_dir_all(&directory).with_context(|| {
        format!("can't create {}; name another directory with --out", directory.display())
    })?;
    interrupt::flag();
    let bench = Bench { size: &size, found: &found, databases: &[], directory: &directory };
    output::note(&listed::summary(&planned, &bench));
    let databases: Vec<Database> = Server::ALL
        .into_iter()
        .filter_map(|server| open_database(server, &mut planned, &size, &found))
        .collect();
    let bench = Bench { databases: &databases, ..bench };
    let rates = rates::find(&mut planned, &size, &bench);
    let mut document = begin(&planned, &bench, rates);
    document.write(&directory)?;
    let finished = all_rounds(&planned, &bench, &mut document)?;
    document.complete = finished;
    document.write(&directory)?;
    // Before the look, which takes a while; on any error before, it goes at once.
    drop(databases);
    let ended = look::look(&directory, &document, json)?;
    if !finished {
        bail!(
            "interrupted; what was run until then lies in {0}, and `truetail experiment tell-tale --again {0}` looks at it",
            directory.display()
        );
    }
    if let Some(why) = document.nothing_was_run() {
        bail!("no cell could be run: {why}; `truetail experiment tell-tale --list` says what each needs");
    }
    Ok(ended)
}

/// A server with its data, where a cell needs it; where there is none to be had, those cells get the reason.
fn open_database(server: Server, planned: &mut [Planned], size: &Size, found: &Found) -> Option<Database> {
    let needs = |one: &Planned| one.row.target.server() == Some(server) && one.how.is_ok();
    let place = found.place(server).as_ref().ok().filter(|_| planned.iter().any(needs))?;
    let opened = Database::open(server, place.given());
    let mut database = match opened {
        Ok(database) => database,
        Err(error) => {
            give_up(planned, needs, &error);
            return None;
        }
    };
    for workload in [Workload::Ycsb, Workload::TpcC] {
        let needs_data = |one: &Planned| needs(one) && one.row.workload == workload;
        if !planned.iter().any(needs_data) || !database.has_templates() {
            continue;
        }
        let what = match workload {
            Workload::TpcC => units::format_counted(size.warehouses.into(), "warehouse", "warehouses"),
            _ => format!("{} records", size.records()),
        };
        output::note(&format!("loading {what} into {}", server.name()));
        if let Err(error) = database.load(workload, size) {
            give_up(planned, needs_data, &error);
        }
    }
    Some(database)
}

fn give_up(planned: &mut [Planned], which: impl Fn(&Planned) -> bool, error: &anyhow::Error) {
    let why = output::one_line(error);
    output::note(&format!("left out: {why}"));
    planned.iter_mut().filter(|one| which(one)).for_each(|one| one.how = Err(why.clone()));
}

/// The document before the first round.
fn begin(planned: &[Planned], bench: &Bench<'_>, rates: Vec<RateEntry>) -> Document {
    let Bench { size, found, .. } = bench;
    let jvm = |jvm: &jvm::Jvm| JvmEntry {
        name: jvm.name.clone(),
        java: jvm.java.display().to_string(),
        version: jvm.version.clone().unwrap_or_else(|why| why),
        flags: jvm.words(size, found.available_mib, None).split_off(1),
    };
    let server = |database: &Database| {
        let said = database.described().unwrap_or_else(|error| format!("{error:#}"));
        (database.server().name().to_owned(), said)
    };
    let mut facts = host::described();
    facts.push(("memory free for heaps, MiB".to_owned(), found.available_mib.to_string()));
    facts.push(("TPC-C's warehouses".to_owned(), size.warehouses.to_string()));
    facts.extend(bench.databases.iter().map(server));
    Document {
        schema: Document::schema(),
        tool_version: crate::VERSION.to_owned(),
        started: run::timestamp(clock::wall_time_ns()),
        complete: false,
        preset: size.preset.to_owned(),
        rounds: size.rounds,
        seed: size.seed.0,
        sessions: SESSIONS,
        warmup_ns: size.length.warmup.0,
        time_ns: size.length.time.0,
        unhindered_warmup_ns: size.unhindered.warmup.0,
        unhindered_time_ns: size.unhindered.time.0,
        records: size.records(),
        longest_scan: size.longest_scan,
        facts,
        jvms: found.jvms.iter().map(jvm).collect(),
        rates,
        cells: planned.iter().map(CellEntry::new).collect(),
    }
}

/// All rounds, the document written after each run. False if the user wanted an end.
fn all_rounds(planned: &[Planned], bench: &Bench<'_>, document: &mut Document) -> anyhow::Result<bool> {
    let rates = document.rates.clone();
    let can: Vec<usize> = (0..planned.len()).filter(|&at| planned[at].how.is_ok()).collect();
    let runs: Vec<(u32, usize)> = (1..=bench.size.rounds)
        .flat_map(|round| {
            order::shuffled(&can, bench.size.seed, round).into_iter().map(move |at| (round, at))
        })
        .collect();
    let expected: Vec<f64> =
        runs.iter().map(|&(_, at)| bench.expected_seconds(&planned[at], &rates)).collect();
    let clock = clock::calibrate(clock::ClockChoice::Monotonic)?.start();
    for (index, &(round, at)) in runs.iter().enumerate() {
        if interrupt::requested() {
            return Ok(false);
        }
        let taken = clock.now().0 as f64 / 1e9;
        let left = order::left(&expected, index, taken);
        let what = listed::name(&planned[at].cell);
        output::note(&format!(
            "{} of {}: round {round}, {what}; about {} left",
            index + 1,
            runs.len(),
            lines::shown_seconds(left)
        ));
        let done = bench.round(&planned[at], round, &rates);
        if interrupt::requested() {
            return Ok(false);
        }
        let (recording, failed) = match done.recording {
            Ok(recording) => (Some(recording), None),
            Err(error) => (None, Some(output::one_line(&error))),
        };
        if let Some(why) = &failed {
            output::note(&format!("  failed: {why}"));
        }
        document.cells[at].rounds.push(RoundEntry {
            number: round,
            recording,
            failed,
            command: done.command,
        });
        document.write(bench.directory)?;
    }
    Ok(true)
}
