//! Which format files are of, from what is in them.

use anyhow::{Context, bail};
use import::{ColumnMap, Format, FormatGuess};
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
