//! Why an output could not be read.

use std::path::PathBuf;

/// Why a tool's output could not be read. One line each: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is no format of this name; take one of those that the message lists.
    #[error("`{name}` is no format: there are {known}")]
    UnknownFormat {
        /// What was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The log has changed since it was looked at first; import it when the tool has ended.
    #[error("request {number} of the log is another than before: import it when the tool has ended")]
    Changed {
        /// Which request, from 0.
        number: u64,
    },
    /// Whoever took the requests wants no more; its own error says why.
    #[error("stopped")]
    Stopped,
    /// What says which column is what can't be understood.
    #[error("--map {text}: {why}")]
    Map {
        /// The whole of it.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// A file could not be read; the cause is the error's source.
    #[error("{} could not be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The output holds nothing that the format knows. Most often the tool failed, or it is another tool's.
    #[error("no {format} figures: {hint}")]
    Nothing {
        /// The format's name.
        format: &'static str,
        /// What was looked for, or what the tool said instead.
        hint: String,
    },
    /// A line that the format knows holds something that can't be.
    #[error("{format}, {place} line {line}: {why}")]
    Line {
        /// The format's name.
        format: &'static str,
        /// The file, or `standard output`.
        place: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong, with the text in question.
        why: String,
    },
    /// A document can't be understood as a whole.
    #[error("{format}, {place}: {why}")]
    Document {
        /// The format's name.
        format: &'static str,
        /// The file, or `standard output`.
        place: String,
        /// What is wrong.
        why: String,
    },
}
