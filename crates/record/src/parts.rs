//! Part files: their names, how they appear whole or not at all, and which of them count.
//!
//! A part is written under a name that no reader looks at and then renamed, so that a part that exists is
//! whole. Parts of a client are numbered from 0; a merged part stands for a range of numbers. Merging writes
//! the merged part first and removes the single ones afterwards: whoever looks in between sees both, and a
//! part whose numbers lie inside of another's range does not count. So a kill at any moment neither loses nor
//! doubles a sample.

use crate::RecordError;
use crate::error::one_line;
use crate::sealed::{self, PartFacts};
use parquet::errors::ParquetError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A part that is there and whose footer is sound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) facts: PartFacts,
    pub(crate) rows: u64,
}

/// The parts of one table and one client, as they are written.
pub(crate) struct PartWriter {
    dir: PathBuf,
    /// Table, run and client; the numbers are those of the next part.
    next: PartFacts,
    parts: Vec<Part>,
}

impl PartWriter {
    pub(crate) fn new(dir: PathBuf, table: &str, run_id: &str, client: u16) -> PartWriter {
        let next =
            PartFacts { table: table.to_owned(), run_id: run_id.to_owned(), client, first: 0, last: 0 };
        PartWriter { dir, next, parts: Vec::new() }
    }

    /// Writes the next part; its number is used up only if that succeeds.
    pub(crate) fn write(
        &mut self,
        rows: usize,
        encode: impl FnOnce(&PartFacts) -> Result<Vec<u8>, ParquetError>,
    ) -> Result<(), RecordError> {
        let path = self.dir.join(file_name(&self.next));
        let reason = |e| RecordError::Encode { path: path.clone(), reason: one_line(e) };
        let bytes = encode(&self.next).map_err(reason)?;
        std::fs::create_dir_all(&self.dir).map_err(RecordError::io("create", &self.dir))?;
        write_whole(&path, &bytes)?;
        self.parts.push(Part { path, facts: self.next.clone(), rows: rows as u64 });
        self.next.first += 1;
        self.next.last += 1;
        Ok(())
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// `part-0000-000017.parquet`, or `part-0000-000000-000017.parquet` for a merged part.
pub(crate) fn file_name(facts: &PartFacts) -> String {
    let PartFacts { client, first, last, .. } = facts;
    match first == last {
        true => format!("part-{client:04}-{first:06}.parquet"),
        false => format!("part-{client:04}-{first:06}-{last:06}.parquet"),
    }
}

/// (client, first, last) by a file's name; only for files whose footer can't be asked.
fn numbers(name: &str) -> Option<(u16, u32, u32)> {
    let mut fields = name.strip_prefix("part-")?.strip_suffix(".parquet")?.split('-');
    let client = fields.next()?.parse().ok()?;
    let first = fields.next()?.parse().ok()?;
    let last = fields.next().map_or(Some(first), |text| text.parse().ok())?;
    Some((client, first, last))
}

/// Writes a file so that it appears whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let temporary = path.with_extension("tmp");
    let written = std::fs::write(&temporary, bytes)
        .map_err(RecordError::io("write", path))
        .and_then(|()| std::fs::rename(&temporary, path).map_err(RecordError::io("rename to", path)));
    if written.is_err() {
        // What is left of it helps nobody and may be what fills the disk.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// The parts that count, and the files that can't be used.
#[derive(Default)]
pub(crate) struct Listing {
    /// Ordered by client and number.
    pub(crate) parts: Vec<Part>,
    /// (file, why)
    pub(crate) unreadable: Vec<(String, String)>,
}

/// Looks at all parts of a table in `root/table/`, and at `root/table.parquet` if there is one.
/// `expected` are the parts that each client is known to have written. Cost: ≈ 50 µs a file.
pub(crate) fn list(
    root: &Path,
    table: &str,
    run_id: &str,
    expected: &[(u16, u32)],
) -> Result<Listing, RecordError> {
    let mut candidates = Vec::new();
    let mut unreadable = Vec::new();
    for path in files(root, table)? {
        match open_part(&path, table, run_id) {
            Ok(part) => candidates.push(part),
            Err(reason) => unreadable.push((shown(root, &path), reason)),
        }
    }
    candidates.sort_by_key(|part| (part.facts.client, part.facts.first, u32::MAX - part.facts.last));
    let mut listing = Listing { parts: Vec::new(), unreadable };
    let mut next: BTreeMap<u16, u64> = expected.iter().map(|&(client, _)| (client, 0)).collect();
    for part in candidates {
        let PartFacts { client, first, last, .. } = part.facts;
        let next = next.entry(client).or_insert(0);
        if u64::from(last) < *next {
            continue; // a merged part stands for it
        }
        if u64::from(first) < *next {
            let reason = "overlaps another part; its samples are not counted twice".to_owned();
            listing.unreadable.push((shown(root, &part.path), reason));
            continue;
        }
        listing.note_gap(table, client, *next, u64::from(first));
        *next = u64::from(last) + 1;
        listing.parts.push(part);
    }
    for &(client, count) in expected {
        listing.note_gap(table, client, next[&client], u64::from(count));
    }
    Ok(listing)
}

impl Listing {
    /// Names the parts in [from, to) as missing, but for those that an unreadable file accounts for.
    fn note_gap(&mut self, table: &str, client: u16, from: u64, to: u64) {
        let damaged: Vec<(u64, u64)> = self
            .unreadable
            .iter()
            .filter_map(|(name, _)| numbers(name.rsplit('/').next()?))
            .filter(|&(c, ..)| c == client)
            .map(|(_, first, last)| (u64::from(first), u64::from(last) + 1))
            .collect();
        let mut at = from;
        while at < to {
            if let Some((_, end)) = damaged.iter().find(|(begin, end)| (*begin..*end).contains(&at)) {
                at = *end;
                continue;
            }
            let end = damaged.iter().map(|d| d.0).filter(|&begin| begin > at).min().unwrap_or(to).min(to);
            let name = match end - at {
                1 => format!("{table}/part-{client:04}-{at:06}.parquet"),
                _ => format!("{table}/part-{client:04}-{at:06} to {:06}", end - 1),
            };
            self.unreadable.push((name, "missing".to_owned()));
            at = end;
        }
    }
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// All Parquet files of a table, in no particular order.
fn files(root: &Path, table: &str) -> Result<Vec<PathBuf>, RecordError> {
    let single = root.join(table).with_extension("parquet");
    let mut files: Vec<PathBuf> = single.exists().then_some(single).into_iter().collect();
    let dir = root.join(table);
    let entries = match std::fs::read_dir(&dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(files),
        entries => entries.map_err(RecordError::io("list", &dir))?,
    };
    for entry in entries {
        let path = entry.map_err(RecordError::io("list", &dir))?.path();
        if path.extension().is_some_and(|e| e == "parquet") {
            files.push(path);
        }
    }
    Ok(files)
}

fn open_part(path: &Path, table: &str, run_id: &str) -> Result<Part, String> {
    let file = sealed::open(path)?;
    if file.facts.run_id != run_id {
        return Err(format!("it belongs to another run, {}", one_line(&file.facts.run_id)));
    }
    if file.facts.table != table {
        return Err(format!("it holds {}, not {table}", one_line(&file.facts.table)));
    }
    if file.facts.first > file.facts.last {
        return Err("its part numbers are the wrong way round".to_owned());
    }
    Ok(Part { path: path.to_owned(), facts: file.facts, rows: file.rows })
}

/// A part of at least this share of `rows_max` stays as it is: merging saves neither bytes nor time for a reader
/// any more, and writing all of a fast run twice would cost about as much as recording it.
const LARGE: u64 = 64;

/// Merges neighbouring parts of one client into parts of up to `rows_max` rows. Parts that `merge` can't
/// read, or that are large already ([`LARGE`]), stay as they are.
///
/// `name` decides what a merged part is called. Runs on up to `threads` threads.
pub(crate) fn compact(
    parts: &[Part],
    rows_max: u64,
    threads: usize,
    name: impl Fn(&PartFacts) -> PathBuf + Sync,
    merge: impl Fn(&[Part], &PartFacts) -> Result<Vec<u8>, String> + Sync,
) -> Result<(), RecordError> {
    let groups = groups(parts, rows_max);
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), RecordError> {
        // Relaxed: the counter hands out indices and orders nothing else.
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            merge_group(group, &name, &merge)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads.min(groups.len())).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = helpers.into_iter().map(|helper| helper.join().unwrap_or(Ok(())));
        others.fold(own, |first, other| first.and(other))
    })
}

/// Runs of neighbours that fit into one part; a run may be of one.
fn groups(parts: &[Part], rows_max: u64) -> Vec<&[Part]> {
    let mut groups = Vec::new();
    let mut begin = 0;
    let mut rows = 0u64;
    let large = |part: &Part| part.rows > rows_max / LARGE;
    for (index, part) in parts.iter().enumerate() {
        let fits = rows.saturating_add(part.rows) <= rows_max;
        let joins = index > begin && fits && !large(part) && !large(&parts[index - 1]);
        if !joins {
            groups.push(&parts[begin..index]);
            (begin, rows) = (index, 0);
        }
        rows = rows.saturating_add(part.rows);
    }
    groups.push(&parts[begin..]);
    groups.retain(|group| !group.is_empty());
    groups
}

fn merge_group(
    group: &[Part],
    name: impl Fn(&PartFacts) -> PathBuf,
    merge: impl Fn(&[Part], &PartFacts) -> Result<Vec<u8>, String>,
) -> Result<(), RecordError> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return Ok(()) };
    let facts = PartFacts { last: last.facts.last, ..first.facts.clone() };
    let merged = name(&facts);
    if group.iter().any(|part| part.path == merged) {
        return Ok(()); // a run of one under its own name
    }
    let Ok(bytes) = merge(group, &facts) else { return Ok(()) };
    write_whole(&merged, &bytes)?;
    for part in group {
        std::fs::remove_file(&part.path).map_err(RecordError::io("remove", &part.path))?;
    }
    Ok(())
}
