//! Reading a recording.

use crate::directory::{RUN_FILE, SUMMARY_FILE};
use crate::error::one_line;
use crate::parts::{self, Part};
use crate::sealed;
use crate::table::anchors::{ANCHORS, RunAnchor};
use crate::table::small::Row;
use crate::table::statement::STATEMENTS;
use crate::table::{sample, small, stated};
use crate::wire::{self, RunFile};
use crate::writer::write_run_file;
use crate::{
    EndOfRun, Event, NoiseObservation, NoiseSourceFacts, RecordError, RecordedVerdict, RunHeader, Stated,
    Statement,
};
use clock::Anchor;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A recording on disk, read-only.
///
/// Damage is never fatal: a part that is missing, cut off or altered is left out and named in
/// [`Recording::unreadable`], and the rest is read. See [`Recording::scan`] for the samples.
#[derive(Debug)]
pub struct Recording {
    dir: PathBuf,
    run: RunFile,
    pub(crate) parts: Vec<Part>,
    unreadable: Mutex<Vec<(String, String)>>,
}

impl Recording {
    /// Reads `run.toml` and the footers of the parts (≈ 50 µs each), no samples.
    ///
    /// # Errors
    /// [`RecordError::Missing`], [`RecordError::NotARecording`], [`RecordError::FutureVersion`],
    /// [`RecordError::Damaged`] for `run.toml` alone, [`RecordError::Io`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Recording, RecordError> {
        let dir = dir.as_ref();
        let run = read_run_file(dir)?;
        let listing = parts::list(dir, sample::TABLE, &run.run_id, &run.parts)?;
        Ok(Recording {
            dir: dir.to_owned(),
            run,
            parts: listing.parts,
            unreadable: Mutex::new(listing.unreadable),
        })
    }

    /// The directory, as it was given.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Sixteen hexadecimal digits that all of the run's parts repeat.
    pub fn run_id(&self) -> &str {
        &self.run.run_id
    }

    /// What was asked and found at the start.
    pub fn header(&self) -> &RunHeader {
        &self.run.header
    }

    /// How it ended; `None` if it was cut short, or still goes on.
    pub fn end(&self) -> Option<&EndOfRun> {
        self.run.end.as_ref()
    }

    /// The verdict, if [`conclude`] has added one.
    pub fn verdict(&self) -> Option<&RecordedVerdict> {
        self.run.verdict.as_ref()
    }

    /// The text of `summary.json`, if there is one.
    ///
    /// # Errors
    /// [`RecordError::Io`]
    pub fn summary_json(&self) -> Result<Option<String>, RecordError> {
        let path = self.dir.join(SUMMARY_FILE);
        match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            bytes => {
                let bytes = bytes.map_err(RecordError::io("read", &path))?;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    /// Files that are missing or damaged: (file, why). Missing parts and damaged footers are known from the
    /// start; damage inside of a file is found when it is read, so the list is complete after a scan.
    pub fn unreadable(&self) -> Vec<(String, String)> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Samples in all parts that could be opened.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// What happened besides requests, ordered by begin.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the directory can't be listed.
    pub fn events(&self) -> Result<Vec<Event>, RecordError> {
        let mut events: Vec<Event> = self.read_rows(small::EVENTS)?;
        events.sort_by_key(|event| event.begin);
        Ok(events)
    }

    /// All noise observations, in the order in which they were written; 32 bytes of memory each.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the directory can't be listed.
    pub fn noise(&self) -> Result<Vec<NoiseObservation>, RecordError> {
        self.read_rows(small::NOISE)
    }

    /// What the host's clocks showed at moments of the run, in order: an anchor's ticks are nanoseconds since the run's
    /// epoch. They lead from other clocks of that host to instants. Empty in recordings of a simulation or an import, and in
    /// those made before recordings had any: then `epoch_wall_ns` of the header is all there is.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the directory can't be listed.
    pub fn anchors(&self) -> Result<Vec<Anchor>, RecordError> {
        Ok(self.read_rows(ANCHORS)?.into_iter().map(|row: RunAnchor| row.0).collect())
    }

    /// What another tool stated of the run, in its order; empty but for imports.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the directory can't be listed.
    pub fn stated(&self) -> Result<Vec<Stated>, RecordError> {
        Ok(stated::statements(&self.read_rows(stated::STATED)?))
    }

    /// Hands all exchanges inside of requests to `take`, part by part: up to 262,144 at a time, of one client, roughly in the
    /// order of their requests; those of one request may lie in two parts. None where the header has no statements.
    /// ≈ 0.1 µs each.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the directory can't be listed.
    pub fn statements(&self, mut take: impl FnMut(&[Statement])) -> Result<(), RecordError> {
        self.each_part(STATEMENTS, |rows: Vec<Statement>| take(&rows))
    }

    /// The noise sources, available or not; an observation's `source` is an index.
    pub fn noise_sources(&self) -> &[NoiseSourceFacts] {
        &self.run.noise_sources
    }

    fn read_rows<R: Row>(&self, table: &str) -> Result<Vec<R>, RecordError> {
        let mut all = Vec::new();
        self.each_part(table, |mut rows| all.append(&mut rows))?;
        Ok(all)
    }

    fn each_part<R: Row>(&self, table: &str, mut take: impl FnMut(Vec<R>)) -> Result<(), RecordError> {
        let listing = parts::list(&self.dir, table, &self.run.run_id, &[])?;
        for (file, why) in listing.unreadable {
            self.note_unreadable(file, why);
        }
        for part in listing.parts {
            match sealed::open(&part.path).and_then(|file| R::decode(&file)) {
                Ok(rows) => take(rows),
                Err(why) => self.note_unreadable_path(&part.path, why),
            }
        }
        Ok(())
    }

    pub(crate) fn note_unreadable_path(&self, path: &Path, why: String) {
        let file = path.strip_prefix(&self.dir).unwrap_or(path).display().to_string();
        self.note_unreadable(file, why);
    }

    fn note_unreadable(&self, file: String, why: String) {
        let mut list = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.iter().any(|(known, _)| *known == file) {
            list.push((file, why));
        }
    }
}

fn read_run_file(dir: &Path) -> Result<RunFile, RecordError> {
    let path = dir.join(RUN_FILE);
    let bytes = match std::fs::read(&path) {
        Err(_) if !dir.exists() => return Err(RecordError::Missing { path: dir.to_owned() }),
        Err(_) if !path.exists() => return Err(RecordError::NotARecording { path: dir.to_owned() }),
        bytes => bytes.map_err(RecordError::io("read", &path))?,
    };
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        RecordError::Damaged { path: path.clone(), reason: format!("byte {at} is not UTF-8 text") }
    })?;
    wire::read(&text, &path)
}

/// Adds the verdict and the summary to a recording: both are computed from the recording itself, hence after
/// its end. Replaces earlier ones.
///
/// # Errors
/// Those of [`Recording::open`] for `run.toml`, and [`RecordError::Io`] when writing.
pub fn conclude(
    dir: impl AsRef<Path>,
    verdict: &RecordedVerdict,
    summary_json: &str,
) -> Result<(), RecordError> {
    let dir = dir.as_ref();
    let mut run = read_run_file(dir)?;
    run.verdict = Some(RecordedVerdict {
        state: one_line(&verdict.state),
        reasons: verdict.reasons.iter().map(one_line).collect(),
    });
    // The verdict first: it is what a full disk should rather keep.
    write_run_file(dir, &run)?;
    parts::write_whole(&dir.join(SUMMARY_FILE), summary_json.as_bytes())
}
