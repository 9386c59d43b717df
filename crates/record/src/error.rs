//! What can go wrong with a recording on disk.

use std::path::{Path, PathBuf};

/// Why a recording can't be written or read. Each message is one line and names the path.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The operating system refused; the text says what was tried.
    #[error("can't {doing} {}: {cause}", path.display())]
    Io {
        /// What was tried, e.g. `create`.
        doing: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Its answer.
        cause: std::io::Error,
    },
    /// A new recording was to be made where something else already is.
    #[error("{} {what}: name another directory, or remove it first", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// There is no such directory.
    #[error("{}: no such recording: check the path, or make one with `truetail run`", path.display())]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is there and holds no `run.toml`.
    #[error("{} is not a recording (it has no run.toml): name the directory that `--out` named", path.display())]
    NotARecording {
        /// The path as given.
        path: PathBuf,
    },
    /// There is no such directory.
    #[error("{}: no such truth log: check the path, or let `truetail store` write one", path.display())]
    NoTruthLog {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is there and holds no `truth.toml`.
    #[error("{} is not a truth log (it has no truth.toml): name the directory that the store wrote its truth log to", path.display())]
    NotATruthLog {
        /// The path as given.
        path: PathBuf,
    },
    /// A later version wrote it.
    #[error(
        "{}: recording format {found}, but this truetail reads formats 1 to {newest}: use truetail {tool} or later",
        path.display()
    )]
    FutureVersion {
        /// Its `run.toml`.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The newest format that can be read.
        newest: i64,
        /// The version of truetail that wrote it.
        tool: String,
    },
    /// `run.toml` can't be understood.
    #[error("{} is damaged: {reason}: restore the file; the samples beside it are still plain Parquet", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, one line.
        reason: String,
    },
    /// The Parquet library refused to write.
    #[error("can't encode {}: {reason}", path.display())]
    Encode {
        /// The file that was to be written.
        path: PathBuf,
        /// Its words.
        reason: String,
    },
}

impl RecordError {
    /// Wraps an answer of the operating system.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> RecordError {
        let path = path.to_owned();
        move |cause| RecordError::Io { doing, path, cause }
    }
}

/// The first line of a foreign message: ours are one line.
pub(crate) fn one_line(message: impl std::fmt::Display) -> String {
    message.to_string().lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
}
