//! `run.toml`: the only place where a recording's facts become text and back.
//!
//! Domain types know nothing of serde; the structs in [`v1`] do, and are the format. A field that a later
//! truetail adds is ignored here, a field that an earlier one did not write has a default, and only a change
//! that would make an old reader wrong gets a new format number and a module of its own beside `v1`.

mod jvm_v1;
pub(crate) mod last_line;
mod server_log_v1;
mod v1;
pub(crate) mod whole;

use crate::error::one_line;
use crate::{EndOfRun, NoiseSourceFacts, RecordError, RecordedVerdict, RunHeader};
use std::path::Path;

/// The format that this truetail writes, and the newest that it reads.
pub(crate) const FORMAT: i64 = 1;

/// Everything in `run.toml`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RunFile {
    /// Sixteen hexadecimal digits; each part file repeats them.
    pub(crate) run_id: String,
    pub(crate) header: RunHeader,
    pub(crate) noise_sources: Vec<NoiseSourceFacts>,
    /// `None` while the run goes on, and for ever if it was cut short.
    pub(crate) end: Option<EndOfRun>,
    /// How many sample parts each client wrote: (client, parts). Known at the end.
    pub(crate) parts: Vec<(u16, u32)>,
    pub(crate) verdict: Option<RecordedVerdict>,
}

/// The text of `run.toml`; `Err` says why it can't be made (a bug, not the world).
pub(crate) fn write(run: &RunFile) -> Result<String, String> {
    toml::to_string(&v1::Run::from_domain(run)).map(|text| last_line::closed(&text)).map_err(one_line)
}

/// Reads the text of a `run.toml`; `path` is for messages.
pub(crate) fn read(text: &str, path: &Path) -> Result<RunFile, RecordError> {
    let damaged = |reason: String| RecordError::Damaged { path: path.to_owned(), reason };
    let table: toml::Table = text.parse().map_err(|e| damaged(explain(&e, text)))?;
    let format = match table.get("format") {
        Some(toml::Value::Integer(format)) => *format,
        Some(_) => return Err(damaged("`format` is not a whole number".to_owned())),
        None => return Err(damaged("it has no `format`".to_owned())),
    };
    match format {
        1 => {
            let run: v1::Run = table.try_into().map_err(|e| damaged(explain(&e, text)))?;
            run.is_whole(text).map_err(damaged)?;
            run.into_domain().map_err(damaged)
        }
        found if found > FORMAT => {
            let tool = table.get("tool_version").and_then(toml::Value::as_str).unwrap_or("a later version");
            Err(RecordError::FutureVersion {
                path: path.to_owned(),
                found,
                newest: FORMAT,
                tool: one_line(tool),
            })
        }
        other => Err(damaged(format!("`format` is {other}, and the first format is 1"))),
    }
}

/// What a TOML parser says, with the line.
pub(crate) fn explain(error: &toml::de::Error, text: &str) -> String {
    let message = one_line(error.message());
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    }
}

#[cfg(test)]
mod tests;
