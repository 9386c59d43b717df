//! Which format files are of, from what is in them.

use anyhow::{Context, bail};
use import::{ColumnMap, Format, FormatGuess, ImportError};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The beginning of a file that is looked at.
const LOOKED_AT: u64 = 1 << 16;

/// The format of all files, and by what it was known.
///
/// # Errors
/// Where none is known, several are possible, or files are of several runs.
pub(super) fn format_of(files: &[PathBuf], columns: Option<&ColumnMap>) -> anyhow::Result<FormatGuess> {
    if columns.is_some() {
        return Ok(FormatGuess { format: Format::Csv, by: "there is a --map" });
    }
    let mut found: Option<FormatGuess> = None;
    for path in files {
        let guess = match &import::guess(&beginning(path)?)[..] {
            [one] => *one,
            [] => continue,
            several => bail!(
                "{}: it may be {}; say which, as in `truetail import {} FILE`",
                path.display(),
                several.iter().map(|guess| guess.format.name()).collect::<Vec<_>>().join(" or "),
                several[0].format.name()
            ),
        };
        found = match found {
            None => Some(guess),
            Some(other) => Some(together(other, guess).with_context(|| {
                let (name, others) = (guess.format.name(), other.format.name());
                format!("{} is {name} and others are {others}: import one run at a time", path.display())
            })?),
        };
    }
    found.with_context(|| {
        let first = files.first().map_or(Path::new("no file"), PathBuf::as_path);
        format!(
            "{}: not known by its content; name the format, as in `truetail import csv FILE` (--list names them)",
            first.display()
        )
    })
}

/// What to say instead of an error of a format that was named, where the files' content is known as another: `this looks like
/// pgbench-log`. `None` where it is not, or the error is of something else than what is in the files.
pub(super) fn instead(
    error: Option<&ImportError>,
    named: Format,
    files: &[PathBuf],
    columns: Option<&ColumnMap>,
) -> Option<String> {
    let error = error.filter(|error| {
        matches!(error, ImportError::Nothing { .. } | ImportError::Line { .. } | ImportError::Document { .. })
    })?;
    // What can't be read twice, such as a pipe, is not looked at again.
    if columns.is_some() || !files.iter().all(|file| file.is_file()) {
        return None;
    }
    let guess = format_of(files, None).ok()?;
    let is_other = std::mem::discriminant(&guess.format) != std::mem::discriminant(&named);
    let (name, other, first) = (named.name(), guess.format.name(), files.first()?.display());
    let more = if files.len() > 1 { " …" } else { "" };
    let hint = format!("this looks like {other}, as {}: truetail import {other} {first}{more}", guess.by);
    is_other.then(|| match error {
        // What it lacks of the format that it is not would lead astray.
        ImportError::Nothing { .. } => format!("{first}: no {name} figures; {hint}"),
        other => format!("{other}; {hint}"),
    })
}

/// A log and its summary are of one run.
fn together(one: FormatGuess, other: FormatGuess) -> Option<FormatGuess> {
    match (one.format, other.format) {
        (a, b) if a == b => Some(one),
        (Format::PgbenchLog, Format::Pgbench) => Some(one),
        (Format::Pgbench, Format::PgbenchLog) => Some(other),
        _ => None,
    }
}

fn beginning(path: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("{} could not be read", path.display());
    let file = std::fs::File::open(path).with_context(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes).with_context(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
