//! `truetail ycsb`: YCSB's command line, answered in YCSB's text, by truetail's own load and recording.
//!
//! ```text
//!  words ──► properties ──► plan ──► a run like any other ──► its recording ──► series ──► figures ──► text
//! ```
//!
//! All that is printed is read back from the recording; nothing is counted beside it.

mod exporter;
mod figures;
mod hdr_files;
mod measured;
mod numbers;
mod place;
mod plan;
mod properties;
mod status;
mod told;
mod words;

use crate::registry;
use crate::run::{self, Data, Manner};
use crate::{Ended, commands, output};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use driver::TargetUrl;
use measured::Measured;
use plan::Plan;
use record::Recording;
use std::ffi::OsString;
use words::Verb;

#[derive(Args, Clone, PartialEq, Debug)]
pub(crate) struct YcsbArguments {
    /// `load` or `run`, the database (jdbc, redis, basic, or a URL), then -P FILE, -p NAME=VALUE, -threads N, -target N, -s
    #[arg(value_name = "WORD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Carries a command of YCSB's out.
pub(crate) fn run(arguments: &YcsbArguments, json: bool) -> anyhow::Result<Ended> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| anyhow!("`{}`: not a text", word.to_string_lossy()))
    };
    let words = arguments.words.iter().map(text).collect::<anyhow::Result<Vec<String>>>()?;
    let plan = plan::of(words::read(&words)?)?;
    require_writable(&plan)?;
    // Before anything is said: a value that is wrong is one line.
    registry::make_workload(&plan.options.workload_choice()?)?;
    plan.notes.iter().for_each(|note| output::note(note));
    output::note(if plan.verb == Verb::Load { "Loading workload..." } else { "Starting test." });
    let (sender, receiver) = std::sync::mpsc::channel();
    let operations = plan.options.requests.unwrap_or(0);
    let status =
        plan.told.status.map(|interval| status::Status::start(&plan.told, interval, operations, receiver));
    let manner = Manner {
        quiet: true,
        silent: true,
        tap: status.is_some().then_some(sender),
        data: data(&plan)?,
        ..Manner::default()
    };
    let done = run::execute_with(&plan.options, manner);
    if let Some(status) = status {
        status.stop();
    }
    let done = done?;
    let recording = Recording::open(&done.directory)?;
    let measured = Measured::of(&recording, &plan.told)?;
    if json {
        output::json(&report::json::document(&done.analysis))?;
    } else {
        tell(&plan, &recording, &measured)?;
    }
    let directory = done.directory.display();
    if measured.unanswered > 0 {
        output::note(&format!(
            "{} requests had no answer at the end, and are in no figure",
            measured.unanswered
        ));
    }
    let verdict = &done.analysis.verdict;
    let reasons: Vec<&str> = verdict.reasons.iter().map(|reason| reason.text.as_str()).collect();
    let because = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    output::note(&format!("verdict {}{because}", verdict.state.name()));
    output::note(&format!("recording: {directory}; `truetail report {directory}` shows it"));
    let ended = commands::ended(&done.analysis);
    done.end(ended)
}

/// What can't be written at the end is known at the beginning.
fn require_writable(plan: &Plan) -> anyhow::Result<()> {
    for (name, path) in
        [("exportfile", &plan.told.file), ("measurement.raw.output_file", &plan.told.raw_file)]
    {
        let Some(path) = path else { continue };
        if path.is_dir()
            || path.parent().is_some_and(|parent| !parent.as_os_str().is_empty() && !parent.is_dir())
        {
            bail!("{name}={}: no file can be written there", path.display());
        }
    }
    Ok(())
}

/// What is to be in the database, with the commands that make and drop it.
fn data(plan: &Plan) -> anyhow::Result<Data> {
    let url = TargetUrl::parse(plan.options.target.as_deref().unwrap_or_default())?;
    let of = |verb: &str| format!("truetail {verb} {url} {}", plan.flags);
    Ok(match plan.verb {
        Verb::Run => Data::Expected { load: of("load") },
        Verb::Load => Data::ByRequests { cleanup: of("cleanup") },
    })
}

/// Prints the figures, or writes them to where they are wanted.
fn tell(plan: &Plan, recording: &Recording, measured: &Measured) -> anyhow::Result<()> {
    let told = &plan.told;
    let mut figures = figures::of(measured, told, plan.is_open);
    figures.extend(figures::verified(recording));
    let mut text = String::new();
    if told.has_raw() {
        let rows = figures::raw_rows(measured, told, plan.is_open);
        match &told.raw_file {
            Some(path) => write(path, &rows)?,
            None => text += &rows,
        }
    }
    if let Some(prefix) = &told.hdr_files {
        for file in hdr_files::write(prefix, measured, told, plan.is_open, recording.header().epoch_wall_ns)?
        {
            output::note(&format!("wrote {}", file.display()));
        }
    }
    let shown = told.exporter.write(&figures);
    match &told.file {
        Some(path) => write(path, &shown)?,
        None => text += &shown,
    }
    if text.is_empty() { Ok(()) } else { output::result(&text) }
}

fn write(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}
