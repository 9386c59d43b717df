//! Reading a recording.

use crate::{
    Columns, EndOfRun, Event, NoiseObservation, NoiseSourceFacts, RecordError, RecordedVerdict, RunHeader,
    SampleBatch,
};
use std::path::Path;

const LATER: &str = "the bodies come with the next commit";

/// A recording on disk.
pub struct Recording {
    _private: (),
}

#[allow(unused_variables, missing_docs)]
impl Recording {
    pub fn open(dir: impl AsRef<Path>) -> Result<Recording, RecordError> {
        panic!("{LATER}")
    }
    pub fn path(&self) -> &Path {
        panic!("{LATER}")
    }
    pub fn header(&self) -> &RunHeader {
        panic!("{LATER}")
    }
    /// `None` if the run was cut short.
    pub fn end(&self) -> Option<&EndOfRun> {
        panic!("{LATER}")
    }
    pub fn verdict(&self) -> Option<&RecordedVerdict> {
        panic!("{LATER}")
    }
    pub fn summary_json(&self) -> Result<Option<String>, RecordError> {
        panic!("{LATER}")
    }
    /// (file, why); complete after a scan.
    pub fn unreadable(&self) -> Vec<(String, String)> {
        panic!("{LATER}")
    }
    pub fn events(&self) -> Result<Vec<Event>, RecordError> {
        panic!("{LATER}")
    }
    pub fn noise(&self) -> Result<Vec<NoiseObservation>, RecordError> {
        panic!("{LATER}")
    }
    pub fn noise_sources(&self) -> &[NoiseSourceFacts] {
        panic!("{LATER}")
    }
    /// Rows of all readable parts.
    pub fn rows(&self) -> u64 {
        panic!("{LATER}")
    }
    /// One accumulator for each thread; batches of up to 64 Ki rows in no particular order.
    pub fn scan<A: Send>(
        &self,
        threads: usize,
        init: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, &SampleBatch) + Sync,
    ) -> Result<Vec<A>, RecordError> {
        panic!("{LATER}")
    }
    pub fn scan_columns<A: Send>(
        &self,
        columns: Columns,
        threads: usize,
        init: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, &SampleBatch) + Sync,
    ) -> Result<Vec<A>, RecordError> {
        panic!("{LATER}")
    }
}

/// Adds verdict and summary to a finished recording.
#[allow(unused_variables)]
pub fn conclude(
    dir: impl AsRef<Path>,
    verdict: &RecordedVerdict,
    summary_json: &str,
) -> Result<(), RecordError> {
    panic!("{LATER}")
}
