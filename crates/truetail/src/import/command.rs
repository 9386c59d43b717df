//! `truetail import`.

use super::place::Place;
use super::{Further, ImportArguments, Imported, Request, guess, into_recording_with};
use crate::run::Done;
use crate::server_log::ServerLogs;
use crate::{Ended, commands, interrupt, output, run, settings};
use anyhow::{Context, bail};
use import::jvm::{JvmRole, JvmStart};
use import::{ColumnMap, Format};
use serde_json::json;
use std::path::{Path, PathBuf};
use units::{Quantile, format_counted};

/// Carries the command out.
pub(crate) fn run(arguments: ImportArguments, json: bool) -> anyhow::Result<Ended> {
    if arguments.list {
        return list(json);
    }
    let quantiles = arguments.percentiles.as_deref().map(settings::parse_percentiles).transpose()?;
    let columns = arguments.map.as_deref().map(ColumnMap::parse).transpose()?;
    each_once(&arguments.files)?;
    let (format, files) = format_and_files(&arguments.files, columns.as_ref())?;
    if columns.is_some() && format != Format::Csv {
        bail!("--map says which column is what, and {} has columns of its own; leave it out", format.name());
    }
    let further = Further {
        columns,
        jvm_start: arguments.jvm_start.as_deref().map(JvmStart::parse).transpose()?,
        server_logs: ServerLogs::new(&arguments.server_log, arguments.server_log_zone.as_deref())?,
        stop: Some(interrupt::flag()),
    };
    let named = files.clone();
    let request = request(arguments, format, files)?;
    if further.jvm_start.is_some() && request.jvm_logs.is_empty() {
        bail!("--jvm-start says when the JVM of a log started: name the log with --jvm-log FILE");
    }
    let place = Place::before(&request.directory)?;
    let made = make(&request, &further, &quantiles.unwrap_or_default());
    if interrupt::requested() {
        place.clear()?;
        output::note("truetail: interrupted: nothing was kept");
        return Ok(Ended::Interrupted);
    }
    let done = made.map_err(|error| {
        match guess::instead(error.downcast_ref(), request.format, &named, further.columns.as_ref()) {
            Some(hint) => anyhow::anyhow!(hint),
            None => error,
        }
    })?;
    let ended = commands::show(&done.analysis, &done.directory, json)?;
    done.end(ended)
}

/// The recording, its analysis and its page.
fn make(request: &Request, further: &Further, quantiles: &[Quantile]) -> anyhow::Result<Done> {
    let imported = into_recording_with(request, further)?;
    if !interrupt::requested() {
        tell(&imported);
    }
    run::conclude(&imported.directory, false, quantiles)
}

fn request(arguments: ImportArguments, format: Format, files: Vec<PathBuf>) -> anyhow::Result<Request> {
    let directory = arguments.out.context("-o DIR is missing: where is the recording to go?")?;
    let (printed, files) = apart(format, files)?;
    let role = if format.is_of_jvm() { JvmRole::Harness } else { JvmRole::Server };
    Ok(Request {
        format,
        printed,
        files,
        jvm_logs: crate::jvm::logs_of(&arguments.jvm_log, role)?,
        warm_up: settings::RunOptions::time("--warmup", arguments.warmup.as_deref())?,
        target: arguments.target.unwrap_or_default(),
        workload: arguments.workload.unwrap_or_default(),
        command: arguments.command.unwrap_or_default(),
        sessions: arguments.sessions,
        directory,
    })
}

/// What became of it, for whoever waits.
fn tell(imported: &Imported) {
    let mut text = match imported.samples {
        0 => format!(
            "{}: {} that it stated, and no single request",
            imported.tool,
            format_counted(imported.statements as u64, "set of figures", "sets of figures")
        ),
        samples => format!("{}: {}", imported.tool, format_counted(samples, "request", "requests")),
    };
    if imported.failed > 0 {
        text += &format!(", {} failed", imported.failed);
    }
    if imported.skipped > 0 {
        text += &format!(", {} that it did not send", imported.skipped);
    }
    if imported.grave_gaps > 0 {
        let gaps = format_counted(imported.grave_gaps as u64, "gap speaks", "gaps speak");
        text += &format!("; {gaps} against its figures");
    }
    output::note(&text);
}

/// A file that is there twice would count its requests twice.
fn each_once(files: &[PathBuf]) -> anyhow::Result<()> {
    let mut known: Vec<PathBuf> = Vec::new();
    for file in files {
        // What is no file, such as a format's name, is looked at later.
        let Ok(path) = file.canonicalize() else { continue };
        if known.contains(&path) {
            bail!(
                "{} is there twice, and each of its requests would count twice: name it once",
                file.display()
            );
        }
        known.push(path);
    }
    Ok(())
}

/// The format, named or guessed. A first word that is no format and no file is a mistyped format.
fn format_and_files(
    words: &[PathBuf],
    columns: Option<&ColumnMap>,
) -> anyhow::Result<(Format, Vec<PathBuf>)> {
    let Some((first, others)) = words.split_first() else {
        bail!("name the files that the tool wrote, such as `truetail import ycsb raw.csv -o DIR`");
    };
    let named = Format::parse(&first.to_string_lossy());
    match named {
        Ok(format) if others.is_empty() => {
            let (name, tool) = (format.name(), format.tool());
            bail!("{name}: name the files that {tool} wrote; if {name} is a file, write ./{name}");
        }
        Ok(format) => return Ok((format, others.to_vec())),
        Err(error) if !first.exists() => return Err(error).context("no such file, and no such format"),
        Err(_) => {}
    }
    let guess = guess::format_of(words, columns)?;
    let name = guess.format.name();
    output::note(&format!(
        "taken for {name}, as {}; if it is something else, name it: truetail import FORMAT FILES…",
        guess.by
    ));
    Ok((guess.format, words.to_vec()))
}

/// pgbench's printed summary among its logs is no log.
fn apart(format: Format, files: Vec<PathBuf>) -> anyhow::Result<(Option<String>, Vec<PathBuf>)> {
    if format != Format::PgbenchLog {
        return Ok((None, files));
    }
    let mut printed: Option<String> = None;
    let mut logs = Vec::new();
    for path in files {
        match summary(&path)? {
            Some(_) if printed.is_some() => {
                bail!("{}: a second summary of pgbench; import one run at a time", path.display())
            }
            Some(text) => printed = Some(text),
            None => logs.push(path),
        }
    }
    Ok((printed, logs))
}

/// The text of a file that holds what pgbench printed; `None` for a log.
fn summary(path: &Path) -> anyhow::Result<Option<String>> {
    if guess::format_of(std::slice::from_ref(&path.to_owned()), None)
        .is_ok_and(|g| g.format == Format::Pgbench)
    {
        let bytes = std::fs::read(path).with_context(|| format!("{} could not be read", path.display()))?;
        return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
    }
    Ok(None)
}

fn list(json: bool) -> anyhow::Result<Ended> {
    let gives = |format: Format| if format.has_requests() { "requests" } else { "figures" };
    if json {
        let formats =
            Format::NAMED.map(|(name, f)| json!({"name": name, "gives": gives(f), "reads": f.reads()}));
        output::json(&json!({"schema": "truetail.import-formats/1", "formats": formats}))?;
        return Ok(Ended::Well);
    }
    let lines = Format::NAMED.map(|(name, f)| format!("{name:<16} {:<9} {}\n", gives(f), f.reads()));
    output::result(&lines.concat())?;
    Ok(Ended::Well)
}
