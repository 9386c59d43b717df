//! The recorder's thread.

use crate::{Consumer, EndOfRun, EventKind, Live, NoiseSourceFacts, RecordError, RunHeader};
use std::path::PathBuf;
use std::sync::Arc;
use units::{Nanos, Ticks};

const LATER: &str = "the bodies come with the next commit";

/// What a recorder needs to know.
#[derive(Clone, Debug)]
pub struct RecorderConfig {
    /// The recording's directory; made if it is not there.
    pub dir: PathBuf,
    /// The header; the recorder itself sets `epoch_wall_ns`.
    pub header: RunHeader,
    /// How often a part file is closed: what a killed run can lose.
    pub part_interval: Nanos,
    /// How often the rings are drained.
    pub drain_interval: Nanos,
    /// How often all clocks are read together.
    pub anchor_interval: Nanos,
}

impl RecorderConfig {
    /// One-second parts, a drain each 20 ms, an anchor each 100 ms.
    pub fn new(dir: impl Into<PathBuf>, header: RunHeader) -> RecorderConfig {
        RecorderConfig {
            dir: dir.into(),
            header,
            part_interval: Nanos::from_secs(1),
            drain_interval: Nanos::from_millis(20),
            anchor_interval: Nanos::from_millis(100),
        }
    }
}

/// What is on disk after a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// The recording's directory.
    pub path: PathBuf,
    /// Its last section, as written.
    pub end: EndOfRun,
}

/// The recorder of a live run.
pub struct Recorder {
    _private: (),
}

/// Takes events from other threads; cheap to clone; not for the hot path.
#[derive(Clone)]
pub struct EventSink {
    _private: (),
}

/// Takes noise observations from other threads; cheap to clone.
#[derive(Clone)]
pub struct NoiseSink {
    _private: (),
}

#[allow(unused_variables, missing_docs)]
impl EventSink {
    pub fn push(
        &self,
        kind: EventKind,
        begin: Ticks,
        end: Ticks,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        panic!("{LATER}")
    }
}

#[allow(unused_variables, missing_docs)]
impl NoiseSink {
    pub fn source(&self, facts: NoiseSourceFacts) -> u16 {
        panic!("{LATER}")
    }
    pub fn push(&self, source: u16, value: f64, begin: Ticks, end: Ticks) {
        panic!("{LATER}")
    }
}

#[allow(unused_variables, missing_docs)]
impl Recorder {
    pub fn start(
        config: RecorderConfig,
        consumers: Vec<Consumer>,
        clock: clock::LiveClock,
    ) -> Result<Recorder, RecordError> {
        panic!("{LATER}")
    }
    pub fn events(&self) -> EventSink {
        panic!("{LATER}")
    }
    pub fn noise(&self) -> NoiseSink {
        panic!("{LATER}")
    }
    pub fn live(&self) -> Arc<Live> {
        panic!("{LATER}")
    }
    pub fn trouble(&self) -> Option<String> {
        panic!("{LATER}")
    }
    /// Replaces the header (its `epoch_wall_ns` and phase spans set so far are kept).
    pub fn update_header(&self, header: RunHeader) {
        panic!("{LATER}")
    }
    /// Sets begin and end of phase `index` in the header, in ticks; the recorder converts them.
    pub fn phase_span(&self, index: u8, begin: Ticks, end: Ticks) {
        panic!("{LATER}")
    }
    pub fn finish(self, end: EndOfRun) -> Result<Finished, RecordError> {
        panic!("{LATER}")
    }
}
