//! Pauses of a JVM, from the log that it wrote: HotSpot's unified logging (JDK 11 to 25) and OpenJ9's verbose:gc.
//!
//! ```text
//!  text ──► decorators ──► messages ──► hotspot ─┐
//!    └────► xml ─────────► openj9 ───────────────┴─► JvmLog ──► align ──► events
//! ```
//!
//! A pause is an interval `[stamp − total, stamp]`, because its line is written at the end. Stalls of single threads are told
//! apart from pauses of the whole VM, the time to safepoint from the operation, and a safepoint that two kinds of lines tell
//! of is counted once. A log never fails to be read: lines that are not understood are counted, and the first are kept.
//!
//! A log is laid over a run by clocks ([`crate::RunClocks`]): `CLOCK_MONOTONIC` (the decorator `timenanos`, to the microsecond), or
//! wall time (`time`, `utctime`, `timemillis`, to the millisecond). An uptime alone leads nowhere: a line that has another
//! clock beside it, an anchor that a program printed into the log, or the JVM's start as its user knows it must help.
//! `docs/jvm.md` has the formats.
//!
//! ```
//! use import::jvm;
//! let log = jvm::parse(
//!     "[0.242s][info][safepoint] Safepoint \"G1CollectForAllocation\", Time since last: 94860762 ns, Reaching safepoint: \
//!      914634 ns, Cleanup: 17747 ns, At safepoint: 4836207 ns, Total: 5768588 ns\n",
//! );
//! assert_eq!(log.pauses[0].total.0, 5_768_588);
//! assert_eq!(log.pauses[0].time_to_safepoint.unwrap().0, 914_634);
//! ```

mod align;
mod decorators;
mod events;
mod hotspot;
mod messages;
mod openj9;
mod pause;
mod stamp;
mod table;
mod xml;

pub use align::JvmStart;
pub use events::{JvmRole, LaidOver, failed, lay_over};
pub use pause::{JvmLog, JvmLogFormat, JvmPause, ToldBy};
pub use stamp::{Offset, Reading, Stamp};

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// What makes HotSpot log its pauses with clocks that lead to any recording, one of this host, another host's or an import.
/// `F` is the log's file.
pub const LOG_WITH: &str = "-Xlog:safepoint*:file=F:time,timenanos,uptimenanos,level,tags";

/// Why a JVM's log can't be laid over a run. One line each, with the next step.
#[derive(Debug, thiserror::Error)]
pub enum JvmError {
    /// The file could not be read.
    #[error("the JVM log {} could not be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Its lines have an uptime at most, and nothing tells when the JVM started.
    #[error(
        "its lines have no clock but the JVM's uptime: log with {}, or say with --jvm-start when the JVM started, such as \
         2026-11-21T06:35:37.116Z",
        LOG_WITH
    )]
    NoClock,
    /// It has `CLOCK_MONOTONIC` alone, and the recording has not, or that of another host.
    #[error(
        "its lines have CLOCK_MONOTONIC alone, and the recording has no anchor of this clock (it is of another host, \
         imported, or older): log with {}",
        LOG_WITH
    )]
    NoMonotonic,
    /// The time of the JVM's start can't be understood.
    #[error("--jvm-start {text}: expected a moment with its zone, such as 2026-11-21T06:35:37.116Z")]
    Start {
        /// What was given.
        text: String,
    },
}

/// Reads a log's text, whichever JVM wrote it. Time and memory are proportional to it.
pub fn parse(text: &str) -> JvmLog {
    parse_from(text.as_bytes()).expect("a text that is there can be read")
}

/// Reads a log's file; damaged bytes do not hide the lines around them. HotSpot's is read line by line: memory does not grow
/// with it but for what it tells. OpenJ9's is held as a whole, since its tags go over lines and its documents need no end.
///
/// # Errors
/// [`JvmError::Unreadable`]
pub fn read(path: &Path) -> Result<JvmLog, JvmError> {
    let unreadable = |cause| JvmError::Unreadable { path: path.to_owned(), cause };
    let file = BufReader::with_capacity(1 << 18, File::open(path).map_err(unreadable)?);
    parse_from(file).map_err(unreadable)
}

fn parse_from(mut log: impl BufRead) -> io::Result<JvmLog> {
    if !openj9::is_xml(&String::from_utf8_lossy(log.fill_buf()?)) {
        return hotspot::parse(log);
    }
    let mut bytes = Vec::new();
    log.read_to_end(&mut bytes)?;
    Ok(openj9::parse(&String::from_utf8_lossy(&bytes)))
}
