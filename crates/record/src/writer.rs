//! Writing a recording.

use crate::directory::{RUN_FILE, SUMMARY_FILE, require_vacant_for_recording};
use crate::error::one_line;
use crate::parts::{self, Part, PartWriter};
use crate::reserve;
use crate::sealed::{self, PartFacts, ROWS_MAX};
use crate::table::anchors::{ANCHORS, RunAnchor};
use crate::table::sample;
use crate::table::small::Row;
use crate::table::statement::{ROWS_TOGETHER, STATEMENTS};
use crate::table::{SampleReader, small, stated};
use crate::wire::{self, RunFile};
use crate::{
    Columns, EndOfRun, Event, NoiseObservation, NoiseSourceFacts, Provenance, RecordError, RunHeader,
    STATED_MAX, Sample, SampleBatch, Stated, Statement,
};
use clock::Anchor;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Instant, Outcome, Seed};

/// Writes a recording, synchronously: for importers, simulations and tests. A live run uses the
/// [`Recorder`](crate::Recorder), which has one of these on a thread of its own.
///
/// Samples, events and observations gather in memory until [`RecordingWriter::close_part`]; samples also
/// close a part by themselves at 2²⁰ rows. Samples keep the order in which they came, client by client.
/// Dropped without [`RecordingWriter::finish`], it leaves a recording that was cut short.
///
/// ```no_run
/// # fn demo(header: record::RunHeader, samples: Vec<record::Sample>) -> Result<(), record::RecordError> {
/// use record::{EndOfRun, Ending, RecordingWriter};
/// let mut writer = RecordingWriter::create("results/first", &header)?;
/// writer.write_samples(&samples)?;
/// let end = writer.finish(EndOfRun::new(Ending::Completed))?;
/// assert_eq!(end.samples, samples.len() as u64);
/// # Ok(())
/// # }
/// ```
pub struct RecordingWriter {
    dir: PathBuf,
    run: RunFile,
    /// `run.toml` lacks something that is known by now.
    run_is_stale: bool,
    clients: BTreeMap<u16, OpenPart>,
    noise: Vec<NoiseObservation>,
    noise_parts: PartWriter,
    events: Vec<Event>,
    event_parts: PartWriter,
    anchors: Vec<RunAnchor>,
    anchor_parts: PartWriter,
    statements: Vec<Statement>,
    statement_parts: PartWriter,
    counts: Counts,
    finished: bool,
}

/// The samples of one client that are not on disk yet, and its parts.
struct OpenPart {
    batch: SampleBatch,
    parts: PartWriter,
}

/// What the end of `run.toml` will say.
#[derive(Default)]
struct Counts {
    samples: u64,
    unwritable: u64,
    outcomes: [u64; Outcome::ALL.len()],
    newest: Option<Instant>,
    trouble: Option<String>,
}

impl RecordingWriter {
    /// Makes the directory and a `run.toml` that says `complete = false`.
    ///
    /// # Errors
    /// [`RecordError::Occupied`] if the directory holds anything: a recording is never written over.
    /// [`RecordError::Io`] if it can't be made.
    pub fn create(dir: impl AsRef<Path>, header: &RunHeader) -> Result<RecordingWriter, RecordError> {
        let dir = dir.as_ref();
        require_vacant_for_recording(dir)?;
        std::fs::create_dir_all(dir).map_err(RecordError::io("create", dir))?;
        let run_id = run_id(header);
        let part_writer = |table: &str| PartWriter::new(dir.join(table), table, &run_id, header.client);
        let mut writer = RecordingWriter {
            dir: dir.to_owned(),
            run_is_stale: true,
            clients: BTreeMap::new(),
            noise: Vec::new(),
            noise_parts: part_writer(small::NOISE),
            events: Vec::new(),
            event_parts: part_writer(small::EVENTS),
            anchors: Vec::new(),
            anchor_parts: part_writer(ANCHORS),
            statements: Vec::new(),
            statement_parts: part_writer(STATEMENTS),
            counts: Counts::default(),
            finished: false,
            run: RunFile {
                run_id,
                header: header.clone(),
                noise_sources: Vec::new(),
                end: None,
                parts: Vec::new(),
                verdict: None,
            },
        };
        writer.write_run_file()?;
        reserve::take(&writer.dir)?;
        Ok(writer)
    }

    /// The recording's directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Samples that the disk did not take so far.
    pub fn unwritable(&self) -> u64 {
        self.counts.unwritable
    }

    /// The first write error so far, in words.
    pub fn trouble(&self) -> Option<&str> {
        self.counts.trouble.as_deref()
    }

    /// Appends samples to the open part; ≈ 5 ns each, and now and then a part is written.
    ///
    /// # Errors
    /// When a full part can't be written. Its samples are lost and counted as unwritable; all of `samples`
    /// are taken nevertheless, and writing goes on with the next part.
    pub fn write_samples(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        let mut result = Ok(());
        for of_client in samples.chunk_by(|a, b| a.client == b.client) {
            let client = of_client[0].client;
            let (dir, run_id) = (&self.dir, &self.run.run_id);
            let open = self.clients.entry(client).or_insert_with(|| OpenPart::new(dir, run_id, client));
            for sample in of_client {
                open.batch.push(sample);
                if open.batch.len() >= ROWS_MAX {
                    result = result.and(open.close(&mut self.counts));
                }
            }
        }
        result
    }

    /// Writes everything that is still in memory, as new part files; nothing if there is nothing.
    ///
    /// # Errors
    /// The first write error. What could not be written is lost: samples are counted as unwritable, and
    /// [`RecordingWriter::trouble`] keeps the words.
    pub fn close_part(&mut self) -> Result<(), RecordError> {
        let mut result = Ok(());
        for open in self.clients.values_mut() {
            result = result.and(open.close(&mut self.counts));
        }
        let small = close_rows(&mut self.noise_parts, &mut self.noise)
            .and(close_rows(&mut self.event_parts, &mut self.events))
            .and(close_rows(&mut self.anchor_parts, &mut self.anchors))
            .and(close_rows(&mut self.statement_parts, &mut self.statements))
            .and(if self.run_is_stale { self.write_run_file() } else { Ok(()) });
        self.counts.remember(&small);
        result.and(small)
    }

    /// Adds an event; on disk with the next closed part.
    pub fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Adds an anchor whose ticks are nanoseconds since the run's epoch; on disk with the next closed part.
    pub fn anchor(&mut self, anchor: Anchor) {
        self.anchors.push(RunAnchor(anchor));
    }

    /// Adds exchanges inside of requests to the open part; on disk with the next closed part, and now and then before.
    ///
    /// # Errors
    /// When a full part can't be written; its exchanges are lost, and [`RecordingWriter::trouble`] keeps the words.
    pub fn write_statements(&mut self, statements: &[Statement]) -> Result<(), RecordError> {
        self.statements.extend_from_slice(statements);
        if self.statements.len() < ROWS_TOGETHER {
            return Ok(());
        }
        let result = close_rows(&mut self.statement_parts, &mut self.statements);
        self.counts.remember(&result);
        result
    }

    /// Adds a noise source and gives the number by which observations name it. A source whose name is
    /// already there is replaced and keeps its number.
    ///
    /// # Panics
    /// At the 65,536th name: only a bug makes that many.
    pub fn noise_source(&mut self, facts: NoiseSourceFacts) -> u16 {
        self.run_is_stale = true;
        let sources = &mut self.run.noise_sources;
        let index = sources.iter().position(|s| s.name == facts.name);
        match index {
            Some(index) => sources[index] = facts,
            None => sources.push(facts),
        }
        let index = index.unwrap_or(sources.len() - 1);
        u16::try_from(index).expect("there are fewer than 65,536 noise sources")
    }

    /// Adds an observation; on disk with the next closed part.
    pub fn noise(&mut self, observation: NoiseObservation) {
        self.noise.push(observation);
    }

    /// The header as it will be written.
    pub fn header(&self) -> &RunHeader {
        &self.run.header
    }

    /// Replaces the header, on disk too.
    ///
    /// # Errors
    /// [`RecordError::Io`]; the old `run.toml` is then still there, and the next part tries again.
    pub fn update_header(&mut self, header: &RunHeader) -> Result<(), RecordError> {
        self.run.header = header.clone();
        self.write_run_file()
    }

    /// Writes what another tool stated of the run, `stated.parquet`; replaces what was written before.
    ///
    /// # Errors
    /// [`RecordError::Io`] when it can't be written, [`RecordError::Encode`] for more than a million figures.
    pub fn set_stated(&mut self, all: &[Stated]) -> Result<(), RecordError> {
        let path = self.dir.join(stated::STATED).with_extension("parquet");
        let encode = |reason: String| RecordError::Encode { path: path.clone(), reason };
        let count: usize = all.iter().map(Stated::figures).sum();
        if count > STATED_MAX {
            return Err(encode(format!("{count} figures, and the table has room for {STATED_MAX}")));
        }
        let figures = stated::figures(all);
        let (table, run_id, client) =
            (stated::STATED.to_owned(), self.run.run_id.clone(), self.run.header.client);
        let facts = PartFacts { table, run_id, client, first: 0, last: 0 };
        let bytes = Row::encode(&figures, &facts).map_err(|error| encode(one_line(error)))?;
        parts::write_whole(&path, &bytes)
    }

    /// Writes `summary.json`.
    ///
    /// # Errors
    /// [`RecordError::Io`]
    pub fn set_summary_json(&mut self, json: &str) -> Result<(), RecordError> {
        parts::write_whole(&self.dir.join(SUMMARY_FILE), json.as_bytes())
    }

    /// Writes what is left, closes `run.toml` with `complete = true`, and merges small parts into large ones
    /// (≈ 0.15 µs a sample on each core; not needed for reading, so it comes last). Gives the end as written.
    ///
    /// # Errors
    /// When `run.toml` can't be closed: the recording then reads as cut short. Parts that could not be
    /// written are no error here; the end that is given back counts their samples and has the first reason.
    pub fn finish(mut self, mut end: EndOfRun) -> Result<EndOfRun, RecordError> {
        // Its error is in `counts`, which become part of the end.
        let _ = self.close_part();
        self.finished = true;
        let counts = std::mem::take(&mut self.counts);
        end.samples = counts.samples;
        end.unwritable = end.unwritable.saturating_add(counts.unwritable);
        end.trouble = end.trouble.or(counts.trouble);
        end.at = end.at.get().or(counts.newest).unwrap_or(Instant::NONE);
        let outcomes = Outcome::ALL.into_iter().zip(counts.outcomes);
        end.outcomes = outcomes.filter(|&(_, count)| count > 0).collect();
        self.run.parts =
            self.clients.iter().map(|(&client, open)| (client, open.parts.parts().len() as u32)).collect();
        self.run.end = Some(end.clone());
        reserve::give_back(&self.dir);
        self.write_run_file()?;
        // Whatever happens to the merge, the single parts are whole and are what counts.
        let _ = self.compact();
        Ok(end)
    }

    fn write_run_file(&mut self) -> Result<(), RecordError> {
        write_run_file(&self.dir, &self.run)?;
        self.run_is_stale = false;
        Ok(())
    }

    fn compact(&self) -> Result<(), RecordError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        for open in self.clients.values() {
            let dir = self.dir.join(sample::TABLE);
            let name = |facts: &PartFacts| dir.join(parts::file_name(facts));
            parts::compact(open.parts.parts(), ROWS_MAX as u64, cores, name, merge_samples)?;
        }
        let dir = self.dir.join(small::NOISE);
        let name = |facts: &PartFacts| dir.join(parts::file_name(facts));
        let noise = self.noise_parts.parts();
        parts::compact(noise, ROWS_MAX as u64, 1, name, merge_rows::<NoiseObservation>)?;
        let dir = self.dir.join(ANCHORS);
        let name = |facts: &PartFacts| dir.join(parts::file_name(facts));
        parts::compact(self.anchor_parts.parts(), ROWS_MAX as u64, 1, name, merge_rows::<RunAnchor>)?;
        let dir = self.dir.join(STATEMENTS);
        let name = |facts: &PartFacts| dir.join(parts::file_name(facts));
        let statements = self.statement_parts.parts();
        parts::compact(statements, ROWS_TOGETHER as u64, cores, name, merge_rows::<Statement>)?;
        compact_events(&self.dir, self.event_parts.parts())
    }
}

impl Drop for RecordingWriter {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody is left to hear of an error; the recording is cut short anyway.
            let _ = self.close_part();
            reserve::give_back(&self.dir);
        }
    }
}

pub(crate) fn write_run_file(dir: &Path, run: &RunFile) -> Result<(), RecordError> {
    let path = dir.join(RUN_FILE);
    let text = wire::write(run).map_err(|reason| RecordError::Encode { path: path.clone(), reason })?;
    parts::write_whole(&path, text.as_bytes())
}

/// The same for the same simulation or import; unique for a live run.
fn run_id(header: &RunHeader) -> String {
    let unique = match header.provenance {
        Provenance::Live => clock::wall_time_ns() ^ u64::from(std::process::id()).rotate_left(40),
        Provenance::Simulated | Provenance::Imported { .. } => 0,
    };
    format!("{:016x}", Seed(unique).derive(&format!("{header:?}")).0)
}

impl OpenPart {
    fn new(dir: &Path, run_id: &str, client: u16) -> OpenPart {
        let parts = PartWriter::new(dir.join(sample::TABLE), sample::TABLE, run_id, client);
        OpenPart { batch: SampleBatch { client, ..SampleBatch::default() }, parts }
    }

    fn close(&mut self, counts: &mut Counts) -> Result<(), RecordError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = &self.batch;
        let result = self.parts.write(batch.len(), |facts| sample::encode(batch, facts));
        match &result {
            Ok(()) => counts.written(batch),
            Err(_) => counts.unwritable += batch.len() as u64,
        }
        counts.remember(&result);
        self.batch.clear();
        result
    }
}

impl Counts {
    fn written(&mut self, batch: &SampleBatch) {
        self.samples += batch.len() as u64;
        for &code in &batch.outcome {
            self.outcomes[usize::from(code)] += 1;
        }
        let newest = batch.completed.iter().copied().filter(|&at| at != Instant::NONE.0).max();
        self.newest = self.newest.max(newest.map(Instant));
    }

    fn remember(&mut self, result: &Result<(), RecordError>) {
        if let Err(error) = result
            && self.trouble.is_none()
        {
            self.trouble = Some(one_line(error));
        }
    }
}

/// Writes rows as parts of their own and forgets them.
pub(crate) fn close_rows<R: Row>(parts: &mut PartWriter, rows: &mut Vec<R>) -> Result<(), RecordError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut chunks = rows.chunks(ROWS_MAX);
    let result = chunks.try_for_each(|chunk| parts.write(chunk.len(), |facts| R::encode(chunk, facts)));
    rows.clear();
    result
}

/// All events become `events.parquet`, unless they are too many for one part.
pub(crate) fn compact_events(dir: &Path, parts: &[Part]) -> Result<(), RecordError> {
    if parts.iter().map(|part| part.rows).sum::<u64>() > ROWS_MAX as u64 {
        return Ok(());
    }
    let single = dir.join(small::EVENTS).with_extension("parquet");
    parts::compact(parts, ROWS_MAX as u64, 1, |_| single.clone(), merge_rows::<Event>)?;
    // Empty by now, or never made; if it is neither, it stays.
    let _ = std::fs::remove_dir(dir.join(small::EVENTS));
    Ok(())
}

fn merge_samples(group: &[Part], facts: &PartFacts) -> Result<Vec<u8>, String> {
    let mut all = SampleBatch { client: facts.client, ..SampleBatch::default() };
    for part in group {
        let file = sealed::open(&part.path)?;
        let mut reader = SampleReader::new(&file, Columns::ALL)?;
        while reader.append(Columns::ALL, ROWS_MAX, &mut all)? > 0 {}
    }
    sample::encode(&all, facts).map_err(one_line)
}

pub(crate) fn merge_rows<R: Row>(group: &[Part], facts: &PartFacts) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for part in group {
        all.append(&mut R::decode(&sealed::open(&part.path)?)?);
    }
    R::encode(&all, facts).map_err(one_line)
}
