//! What lies in a recording's directory, and what may lie there before it is made.

use crate::RecordError;
use crate::reserve;
use crate::table::anchors::ANCHORS;
use crate::table::sample;
use crate::table::small::{EVENTS, NOISE};
use crate::table::stated::STATED;
use crate::table::statement::STATEMENTS;
use crate::truth::TRUTH_FILE;
use std::path::Path;

pub(crate) const RUN_FILE: &str = "run.toml";
pub(crate) const SUMMARY_FILE: &str = "summary.json";

/// Files of an embedded database that may already lie in a new recording's directory begin with this.
pub const DATABASE_PREFIX: &str = "data.";

/// The directory within a recording that holds what the measuring side itself costs: recordings that were made right before
/// it, and so lie there when it begins.
pub const FLOOR_DIRECTORY: &str = "floor";

/// The log of a JVM that the run's driver starts, which begins to write it before the recording is made.
pub const DRIVER_JVM_LOG: &str = "driver-jvm.log";

/// The directory within a recording that holds the texts that its workload was made from.
pub const WORKLOAD_DIRECTORY: &str = "workload";

/// Writes the texts that a workload was made from beside the samples: (path below [`WORKLOAD_DIRECTORY`], text). Without
/// any, nothing is made.
///
/// # Errors
/// What could not be written.
pub fn keep_texts(dir: &Path, texts: &[(String, String)]) -> Result<(), RecordError> {
    for (name, text) in texts {
        let path = dir.join(WORKLOAD_DIRECTORY).join(name);
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent).map_err(RecordError::io("create", parent))?;
        std::fs::write(&path, text).map_err(RecordError::io("write", &path))?;
    }
    Ok(())
}

/// Whether a writer makes a file or directory of this name at the top of a recording, finished or not. Whoever takes an unfinished
/// recording away takes these, and nothing that a user may have put beside them.
pub fn is_of_recording(name: &str) -> bool {
    const TABLES: [&str; 6] = [sample::TABLE, NOISE, ANCHORS, EVENTS, STATED, STATEMENTS];
    let is_table = |stem: &str| TABLES.contains(&stem);
    let is_file =
        |file: &str| [RUN_FILE, SUMMARY_FILE].iter().any(|known| known.split('.').next() == Some(file));
    match name.rsplit_once('.') {
        None => is_table(name),
        Some((stem, "parquet")) => is_table(stem),
        Some((stem, "tmp")) => is_table(stem) || is_file(stem) || name == reserve::FILE,
        Some(_) => [RUN_FILE, SUMMARY_FILE].contains(&name),
    }
}

/// Takes away what a driver's JVM logged for a recording that was never begun, and the directory if nothing else is in it, so that
/// neither is in the next one's way. A recording that was begun keeps its log, damaged or not.
pub fn forget_unbegun(dir: &Path) {
    if !dir.join(RUN_FILE).exists() {
        let _ = std::fs::remove_file(dir.join(DRIVER_JVM_LOG)); // may not be there
        let _ = std::fs::remove_dir(dir); // stays where anything else is in it
    }
}

/// Checks that a recording can be made in `dir`: it is missing, empty, or holds an embedded database alone.
///
/// # Errors
/// [`RecordError::Occupied`], or that the directory can't be listed.
pub fn require_vacant(dir: &Path) -> Result<(), RecordError> {
    require_vacant_but_for(dir, &|name| name.starts_with(DATABASE_PREFIX))
}

/// The same where floors may have been measured before, and a driver's JVM may have started.
pub(crate) fn require_vacant_for_recording(dir: &Path) -> Result<(), RecordError> {
    let before = |name: &str| [FLOOR_DIRECTORY, DRIVER_JVM_LOG].contains(&name);
    require_vacant_but_for(dir, &|name| name.starts_with(DATABASE_PREFIX) || before(name))
}

/// The same, where what `expected` says of may lie there.
fn require_vacant_but_for(dir: &Path, expected: &dyn Fn(&str) -> bool) -> Result<(), RecordError> {
    let occupied = |what| Err(RecordError::Occupied { path: dir.to_owned(), what });
    let mut entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
            return occupied(if dir.exists() { "is a file" } else { "lies below a file" });
        }
        entries => entries.map_err(RecordError::io("list", dir))?,
    };
    if dir.join(RUN_FILE).exists() {
        return occupied("already holds a recording");
    }
    if dir.join(TRUTH_FILE).exists() {
        return occupied("already holds a truth log");
    }
    let foreign = |entry: &std::io::Result<std::fs::DirEntry>| {
        entry.as_ref().map_or(true, |e| !expected(&e.file_name().to_string_lossy()))
    };
    match entries.find(foreign) {
        Some(_) => occupied("is not empty"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_a_recording_that_was_never_begun_is_forgotten_and_no_other() {
        let dir = std::env::temp_dir().join(format!("truetail-unbegun-{}", std::process::id()));
        let write = |name: &str| {
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join(name), "x").unwrap();
        };
        write(DRIVER_JVM_LOG);
        write("data.db");
        forget_unbegun(&dir);
        assert!(!dir.join(DRIVER_JVM_LOG).exists() && dir.join("data.db").exists());
        std::fs::remove_file(dir.join("data.db")).unwrap();
        forget_unbegun(&dir);
        assert!(!dir.exists());
        write(DRIVER_JVM_LOG);
        write(RUN_FILE);
        forget_unbegun(&dir);
        assert!(dir.join(DRIVER_JVM_LOG).exists());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_a_user_puts_beside_a_recording_is_his() {
        let own = [
            "run.toml",
            "run.tmp",
            "summary.json",
            "summary.tmp",
            "reserve.tmp",
            "samples",
            "noise",
            "anchors",
            "statements",
            "events",
        ];
        let own =
            own.into_iter().chain(["events.parquet", "events.tmp", "stated.parquet", "samples.parquet"]);
        own.for_each(|name| assert!(is_of_recording(name), "{name}"));
        for his in [
            "notes.txt",
            "data.db",
            "floor",
            "run.toml.orig",
            "samples.csv",
            "thesis.tmp",
            "run",
            "a.parquet",
            "",
        ] {
            assert!(!is_of_recording(his), "{his}");
        }
    }
}
