//! Checkpoints, vacuums and waits for locks, from PostgreSQL's own log: as text (stderr), csvlog, or jsonlog (PostgreSQL 15 and
//! later).
//!
//! ```text
//!  lines ──► entries (stderr, csvlog, jsonlog) ──► messages ──► happenings ──► events
//! ```
//!
//! A checkpoint reaches from the line of its begin, or its own total before its end where that is earlier, to the line of
//! its end: exact to the log's millisecond, where asking the server each so often gives a window. One that had not ended when
//! the log was read goes on, as far as anybody knows, and reaches to the end of the run. Vacuums and waits for locks are told
//! at their end, with their length. All else is counted and left alone. A log never fails to be read: lines that are not
//! understood are counted, and the first are kept.
//!
//! Times are wall times in a zone that the log names by its abbreviation. UTC and offsets (`+03`) are clear; of any other, such as
//! `CET` or `IST`, somebody has to say what it means ([`LogZone`]). `docs/server-log.md` has the settings to log with.
//!
//! ```
//! use import::server_log;
//! let log = server_log::parse(
//!     "2026-11-22 06:26:05.475 UTC [17718] LOG:  checkpoint starting: immediate force wait\n\
//!      2026-11-22 06:26:05.539 UTC [17718] LOG:  checkpoint complete: wrote 1060 buffers (12.9%); 0 WAL file(s) added, \
//!      0 removed, 0 recycled; write=0.027 s, sync=0.010 s, total=0.064 s; sync files=3, longest=0.006 s, average=0.004 s\n",
//! );
//! assert_eq!(log.happenings[0].length(), Some(units::Nanos(64_000_000)));
//! ```

mod entries;
mod events;
mod log;
mod messages;
mod zone;

pub use events::{LaidOver, failed, lay_over};
pub use log::{Happening, ServerLog};
pub use zone::{LogZone, Moment, Zone};

use crate::log_lines::each_line;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Why a server's log can't be laid over a run. One line each, with the next step.
#[derive(Debug, thiserror::Error)]
pub enum ServerLogError {
    /// The file could not be read.
    #[error("the server's log {} could not be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Nobody knows how far its times are from UTC.
    #[error(
        "its times are in the zone `{zone}`, which has no one meaning: say `--server-log-zone +01:00` or what it is ahead \
         of UTC, `--server-log-zone host` for this host's zone, or log with log_timezone = 'UTC'"
    )]
    Zone {
        /// As the log names it; empty where it names none.
        zone: String,
    },
    /// One offset was given for two zones, such as those of summer and winter.
    #[error(
        "its times are in the zones {zones}, of which --server-log-zone can be one: say `--server-log-zone host` for this \
         host's zone, or log with log_timezone = 'UTC'"
    )]
    Zones {
        /// As the log names them.
        zones: String,
    },
    /// What was given is no zone.
    #[error(
        "--server-log-zone {text}: expected what it is ahead of UTC, such as `+01:00`, or `UTC`, or `host`"
    )]
    NoZone {
        /// What was given.
        text: String,
    },
}

/// Reads a log's text. Time is proportional to it.
pub fn parse(text: &str) -> ServerLog {
    parse_from(text.as_bytes()).expect("a text that is there can be read")
}

/// Reads a log's file line by line: memory does not grow with it but for what it tells, and of a line of more than 1 MiB the
/// begin is read. Damaged bytes do not hide the lines around them.
///
/// # Errors
/// [`ServerLogError::Unreadable`]
pub fn read(path: &Path) -> Result<ServerLog, ServerLogError> {
    let unreadable = |cause| ServerLogError::Unreadable { path: path.to_owned(), cause };
    let file = BufReader::with_capacity(1 << 18, File::open(path).map_err(unreadable)?);
    parse_from(file).map_err(unreadable)
}

fn parse_from(log: impl BufRead) -> io::Result<ServerLog> {
    let mut reader = log::Reader::default();
    each_line(log, |line| reader.line(line))?;
    Ok(reader.finish())
}
