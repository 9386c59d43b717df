//! What is known of a run only at its end.

use crate::{JvmLogFacts, ServerLogFacts};
use units::{Instant, Outcome};

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// As planned.
    Completed,
    /// Somebody stopped it; the text says who or why.
    Interrupted(String),
    /// The harness could not go on; the text says why.
    Failed(String),
}

/// The last section of `run.toml`. A recording without one was cut short.
///
/// A producer fills in `ending`, `at` and `facts` with [`EndOfRun::new`]; the writer counts the rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndOfRun {
    /// How it ended.
    pub ending: Ending,
    /// When; NONE lets the writer take the newest completion.
    pub at: Instant,
    /// Samples on disk. Counted by the writer.
    pub samples: u64,
    /// Of them, how many with each outcome; outcomes that did not occur are absent. Counted by the writer.
    pub outcomes: Vec<(Outcome, u64)>,
    /// Samples that found their ring full. Counted by the [`Recorder`](crate::Recorder); an importer sets it.
    pub dropped: u64,
    /// Samples that the disk did not take. Counted by the writer.
    pub unwritable: u64,
    /// The first write error, in words. Filled in by the writer.
    pub trouble: Option<String>,
    /// Facts known only now: (name, value), such as the data set's invariants after the run.
    pub facts: Vec<(String, String)>,
    /// Logs of JVMs whose pauses are among the events.
    pub jvm_logs: Vec<JvmLogFacts>,
    /// Logs of database servers whose checkpoints and the like are among the events.
    pub server_logs: Vec<ServerLogFacts>,
}

impl EndOfRun {
    /// An end whose counts the writer fills in.
    pub fn new(ending: Ending) -> EndOfRun {
        EndOfRun {
            ending,
            at: Instant::NONE,
            samples: 0,
            outcomes: Vec::new(),
            dropped: 0,
            unwritable: 0,
            trouble: None,
            facts: Vec::new(),
            jvm_logs: Vec::new(),
            server_logs: Vec::new(),
        }
    }
}

/// The verdict as `run.toml` keeps it; computed from the recording itself, hence added after its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedVerdict {
    /// `valid`, `suspect` or `invalid`.
    pub state: String,
    /// One sentence each, worst first.
    pub reasons: Vec<String>,
}
