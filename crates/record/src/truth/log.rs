//! Reading a truth log.

use crate::parts::{self, Part};
use crate::sealed;
use crate::table::anchors::ANCHORS;
use crate::table::small::{self, Row};
use crate::truth::table::{TABLE, TruthReader};
use crate::truth::{TRUTH_FILE, TruthEnd, TruthFile, TruthHeader, TruthRow, wire};
use crate::{Event, RecordError};
use clock::Anchor;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Rows of a batch at most; 7 MB.
const BATCH_ROWS: usize = 64 << 10;

/// A truth log on disk, read-only.
///
/// Damage is never fatal: a part that is missing, cut off or altered is left out and named in
/// [`TruthLog::unreadable`], and the rest is read.
#[derive(Debug)]
pub struct TruthLog {
    dir: PathBuf,
    file: TruthFile,
    parts: Vec<Part>,
    unreadable: Mutex<Vec<(String, String)>>,
}

impl TruthLog {
    /// Reads `truth.toml` and the footers of the parts (≈ 50 µs each), no rows.
    ///
    /// # Errors
    /// [`RecordError::NoTruthLog`], [`RecordError::NotATruthLog`], [`RecordError::FutureVersion`],
    /// [`RecordError::Damaged`] for `truth.toml` alone, [`RecordError::Io`].
    pub fn open(dir: impl AsRef<Path>) -> Result<TruthLog, RecordError> {
        let dir = dir.as_ref();
        let file = read_truth_file(dir)?;
        let expected: &[(u16, u32)] = if file.end.is_some() { &[(0, file.parts)] } else { &[] };
        let listing = parts::list(dir, TABLE, &file.run_id, expected)?;
        Ok(TruthLog {
            dir: dir.to_owned(),
            file,
            parts: listing.parts,
            unreadable: Mutex::new(listing.unreadable),
        })
    }

    /// Whether `dir` claims to be a truth log: it holds a `truth.toml`.
    pub fn is_at(dir: impl AsRef<Path>) -> bool {
        dir.as_ref().join(TRUTH_FILE).exists()
    }

    /// The directory, as it was given.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// What the store was.
    pub fn header(&self) -> &TruthHeader {
        &self.file.header
    }

    /// How it ended; `None` if it was cut short, or still goes on.
    pub fn end(&self) -> Option<&TruthEnd> {
        self.file.end.as_ref()
    }

    /// Rows in all parts that could be opened.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// Files that are missing or damaged: (file, why); complete after a scan.
    pub fn unreadable(&self) -> Vec<(String, String)> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hands all rows to `take`, batch by batch of up to 65,536, in the order in which they were logged: by the times of
    /// the answers, more or less, and by number within each half second. ≈ 0.1 µs a row. Parts that turn out to be
    /// damaged are left out from the damaged batch on and named by [`TruthLog::unreadable`].
    pub fn scan(&self, mut take: impl FnMut(&[TruthRow])) {
        let mut batch = Vec::new();
        for part in &self.parts {
            if let Err(why) = scan_part(part, &mut batch, &mut take) {
                self.note_unreadable(&part.path, why);
            }
        }
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

    /// What the host's clocks showed at moments of the store's clock, in order: an anchor's ticks are nanoseconds since
    /// the store's epoch. Empty where the store's clock is a simulated one: then its epoch and wall time are all there is.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the directory can't be listed.
    pub fn anchors(&self) -> Result<Vec<Anchor>, RecordError> {
        self.read_rows(ANCHORS)
    }

    fn read_rows<R: Row>(&self, table: &str) -> Result<Vec<R>, RecordError> {
        let listing = parts::list(&self.dir, table, &self.file.run_id, &[])?;
        for (file, why) in listing.unreadable {
            self.note(file, why);
        }
        let mut rows = Vec::new();
        for part in listing.parts {
            match sealed::open(&part.path).and_then(|file| R::decode(&file)) {
                Ok(mut more) => rows.append(&mut more),
                Err(why) => self.note_unreadable(&part.path, why),
            }
        }
        Ok(rows)
    }

    fn note_unreadable(&self, path: &Path, why: String) {
        self.note(path.strip_prefix(&self.dir).unwrap_or(path).display().to_string(), why);
    }

    fn note(&self, file: String, why: String) {
        let mut list = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.iter().any(|(known, _)| *known == file) {
            list.push((file, why));
        }
    }
}

fn scan_part(
    part: &Part,
    batch: &mut Vec<TruthRow>,
    take: &mut impl FnMut(&[TruthRow]),
) -> Result<(), String> {
    let file = sealed::open(&part.path)?;
    if file.facts != part.facts || file.rows != part.rows {
        return Err("it changed while it was read".to_owned());
    }
    let mut reader = TruthReader::new(&file)?;
    loop {
        batch.clear();
        if reader.append(BATCH_ROWS, batch)? == 0 {
            return Ok(());
        }
        take(batch);
    }
}

fn read_truth_file(dir: &Path) -> Result<TruthFile, RecordError> {
    let path = dir.join(TRUTH_FILE);
    let bytes = match std::fs::read(&path) {
        Err(_) if !dir.exists() => return Err(RecordError::NoTruthLog { path: dir.to_owned() }),
        Err(_) if !path.exists() => return Err(RecordError::NotATruthLog { path: dir.to_owned() }),
        bytes => bytes.map_err(RecordError::io("read", &path))?,
    };
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        RecordError::Damaged { path: path.clone(), reason: format!("byte {at} is not UTF-8 text") }
    })?;
    wire::read(&text, &path)
}
