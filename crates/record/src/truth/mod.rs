//! The truth log: what a simulated store knows of each request, beside what a recording measured of it.
//!
//! A directory like a recording, made by the same machinery: sealed Parquet parts closed each half second and merged
//! at the end, and a text file that says what they are. It is no recording, since its rows are not samples: nothing in them
//! was measured by a client.
//!
//! ```text
//!  store's thread ──push──► ring ──drain──► recorder's thread ──► truth/*.parquet, anchors/*.parquet,
//!  (TruthRow)               (TruthRow)                            events.parquet, truth.toml
//! ```
//!
//! Instants are those of the store's own clock, which follows the frequency that was known at its start. That is exact
//! within a request and drifts over minutes; so the log has anchors that say what the clocks of the host showed meanwhile.

mod log;
mod recorder;
mod row;
mod table;
mod wire;
mod writer;

pub use log::TruthLog;
pub use recorder::{TruthEvents, TruthFinished, TruthProducer, TruthRecorder, TruthRecorderConfig};
pub use row::{CLIENT_RULE, TruthEnd, TruthHeader, TruthRow, TruthStaleness, key_hash};
pub use writer::TruthWriter;

/// The text file that says what a truth log is.
pub(crate) const TRUTH_FILE: &str = "truth.toml";

/// Everything in `truth.toml`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TruthFile {
    /// Sixteen hexadecimal digits; each part file repeats them.
    run_id: String,
    header: TruthHeader,
    /// `None` while the store runs, and for ever if it was killed.
    end: Option<TruthEnd>,
    /// How many parts of rows were written. Known at the end.
    parts: u32,
}
