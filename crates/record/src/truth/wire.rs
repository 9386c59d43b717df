//! `truth.toml`: the facts of a truth log as text and back. Versions are kept as those of `run.toml` are.

use crate::RecordError;
use crate::error::one_line;
use crate::truth::{TruthEnd, TruthFile, TruthHeader};
use crate::wire::last_line::{self, LAST_LINE};
use crate::wire::whole::Whole;
use crate::wire::{FORMAT, explain};
use serde::{Deserialize, Serialize};
use std::path::Path;
use units::Instant;

type Pairs = Vec<(String, String)>;

#[derive(Serialize, Deserialize)]
struct Truth {
    format: i64,
    run_id: String,
    /// False until the store has ended in an orderly way: a killed one keeps it.
    complete: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_line: Option<String>,
    #[serde(default)]
    tool_version: String,
    #[serde(default)]
    command: String,
    /// Required: it stands behind `last_line`, so that a file cut before that line is no whole one without it.
    epoch_wall_ns: Whole,
    #[serde(default)]
    seed: Whole,
    #[serde(default)]
    operations: Vec<String>,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    settings: Pairs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

#[derive(Serialize, Deserialize)]
struct End {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_ns: Option<Whole>,
    #[serde(default)]
    rows: Whole,
    #[serde(default)]
    parts: u32,
    #[serde(default)]
    unanswered: Whole,
    #[serde(default)]
    dropped: Whole,
    #[serde(default)]
    unwritable: Whole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    #[serde(default)]
    facts: Pairs,
}

/// The text of `truth.toml`; `Err` says why it can't be made (a bug, not the world).
pub(super) fn write(file: &TruthFile) -> Result<String, String> {
    let header = file.header.clone();
    let end = file.end.as_ref().map(|end| End {
        at_ns: end.at.get().map(|at| Whole(at.0)),
        rows: Whole(end.rows),
        parts: file.parts,
        unanswered: Whole(end.unanswered),
        dropped: Whole(end.dropped),
        unwritable: Whole(end.unwritable),
        trouble: end.trouble.clone(),
        facts: end.facts.clone(),
    });
    let truth = Truth {
        format: FORMAT,
        run_id: file.run_id.clone(),
        complete: end.is_some(),
        last_line: Some(LAST_LINE.to_owned()),
        tool_version: header.tool_version,
        command: header.command,
        epoch_wall_ns: Whole(header.epoch_wall_ns),
        seed: Whole(header.seed),
        operations: header.operations,
        rules: header.rules,
        settings: header.settings,
        end,
    };
    toml::to_string(&truth).map(|text| last_line::closed(&text)).map_err(one_line)
}

/// Reads the text of a `truth.toml`; `path` is for messages.
pub(super) fn read(text: &str, path: &Path) -> Result<TruthFile, RecordError> {
    let damaged = |reason: String| RecordError::Damaged { path: path.to_owned(), reason };
    let table: toml::Table = text.parse().map_err(|e| damaged(explain(&e, text)))?;
    match table.get("format").and_then(toml::Value::as_integer) {
        None => return Err(damaged("it has no whole number as `format`".to_owned())),
        Some(found) if found > FORMAT => return Err(later(found, &table, path)),
        Some(found) if found < 1 => {
            return Err(damaged(format!("`format` is {found}, and the first format is 1")));
        }
        Some(_) => {}
    }
    let truth: Truth = table.try_into().map_err(|e| damaged(explain(&e, text)))?;
    last_line::check(text, truth.last_line.as_deref(), truth.complete, truth.end.is_some())
        .map_err(damaged)?;
    Ok(domain(truth))
}

fn later(found: i64, table: &toml::Table, path: &Path) -> RecordError {
    let tool = table.get("tool_version").and_then(toml::Value::as_str).unwrap_or("a later version");
    RecordError::FutureVersion { path: path.to_owned(), found, newest: FORMAT, tool: one_line(tool) }
}

fn domain(truth: Truth) -> TruthFile {
    let end = truth.end.filter(|_| truth.complete);
    let parts = end.as_ref().map_or(0, |end| end.parts);
    let end = end.map(|end| TruthEnd {
        at: end.at_ns.map_or(Instant::NONE, |at| Instant(at.0)),
        rows: end.rows.0,
        unanswered: end.unanswered.0,
        dropped: end.dropped.0,
        unwritable: end.unwritable.0,
        trouble: end.trouble,
        facts: end.facts,
    });
    let header = TruthHeader {
        tool_version: truth.tool_version,
        command: truth.command,
        epoch_wall_ns: truth.epoch_wall_ns.0,
        seed: truth.seed.0,
        operations: truth.operations,
        rules: truth.rules,
        settings: truth.settings,
    };
    TruthFile { run_id: truth.run_id, header, end, parts }
}
