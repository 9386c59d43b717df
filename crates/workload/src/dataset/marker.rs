//! The tables `truetail_dataset` and `truetail_dataset_parts`.

use super::{DataSet, Marker, notes};
use driver::{Administration, ConnectError};
use std::collections::BTreeMap;

const TABLE: &str = "truetail_dataset";

/// A row for each part of a data set whose loading has not ended.
const PARTS: &str = "truetail_dataset_parts";

/// What a database holds in a data set's place.
#[derive(Clone, PartialEq, Debug)]
pub enum Status {
    /// Nothing.
    Missing,
    /// The data set, complete. Its seed may be another one: that changes values and nothing that is measured.
    Matching {
        /// What it says of itself.
        found: Marker,
    },
    /// The data set at another scale, complete.
    OtherScale {
        /// What it says of itself.
        found: Marker,
    },
    /// The data set in a layout of another version of truetail.
    OtherVersion {
        /// What it says of itself.
        found: Marker,
    },
    /// Another workload's data set, or one that other properties made, in a table of the same name.
    OtherWorkload {
        /// What it says of itself.
        found: Marker,
    },
    /// A load or a drop was cut short, or a table is gone.
    Incomplete,
    /// A table of this name that truetail did not make.
    Foreign {
        /// Its name.
        table: String,
    },
}

impl Status {
    /// One line for messages and checks.
    pub fn describe(&self, dataset: &dyn DataSet) -> String {
        let Marker { workload, scale, version, .. } = dataset.marker();
        match self {
            Status::Missing => format!("no data set `{workload}` is in this database; load it first"),
            Status::Matching { found } => {
                format!("data set `{workload}` at scale {scale}, made from seed {}", found.seed)
            }
            Status::OtherScale { found } => {
                format!("data set `{workload}` has scale {}, not {scale}; load it again", found.scale)
            }
            Status::OtherVersion { found } => {
                format!("data set `{workload}` has layout {}, not {version}; load it again", found.version)
            }
            Status::OtherWorkload { found } => format!(
                "`{}` {} another data set, `{}` at scale {}, and is left alone; the flags that fit it are `{}`",
                dataset.tables().join("`, `"),
                if dataset.tables().len() == 1 { "holds" } else { "hold" },
                found.workload,
                found.scale,
                found.flags()
            ),
            Status::Incomplete => format!("data set `{workload}` was not loaded to its end; load it again"),
            Status::Foreign { table } => format!("the table `{table}` was not made by truetail"),
        }
    }
}

/// A marker with the tables that it speaks for.
struct Row {
    marker: Marker,
    tables: Vec<String>,
}

/// What is in the data set's place.
///
/// # Errors
/// The database's words, or a marker that can't be read.
pub fn status(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
) -> Result<Status, ConnectError> {
    let (expected, tables) = (dataset.marker(), dataset.tables());
    if tables.is_empty() {
        return Ok(Status::Matching { found: expected });
    }
    if let Some(records) = administration.records().filter(|records| !records.lists()) {
        return dataset.probe(records);
    }
    let mut present = Vec::new();
    for table in &tables {
        if administration.table_exists(table)? {
            present.push(*table);
        }
    }
    let rows = read(administration)?;
    let speaks_for = |row: &&Row| row.tables.iter().any(|table| tables.contains(&table.as_str()));
    let Some(row) = rows.iter().find(speaks_for) else {
        return Ok(match present.first() {
            Some(table) => Status::Foreign { table: (*table).to_owned() },
            None => Status::Missing,
        });
    };
    let found = row.marker.clone();
    Ok(if found.workload != expected.workload && !present.is_empty() {
        Status::OtherWorkload { found }
    } else if !found.complete || present.len() < tables.len() {
        Status::Incomplete
    } else if found.version != expected.version {
        Status::OtherVersion { found }
    } else if found.scale != expected.scale {
        Status::OtherScale { found }
    } else {
        Status::Matching { found }
    })
}

/// Whether there is a place for markers: not in stores that can't tell their keys, and so have none for notes.
fn keeps_markers(administration: &mut dyn Administration) -> bool {
    administration.records().is_none_or(|records| records.lists())
}

/// Replaces the markers of `tables` by this one.
pub(super) fn write(
    administration: &mut dyn Administration,
    marker: &Marker,
    tables: &[&str],
) -> Result<(), ConnectError> {
    if !keeps_markers(administration) {
        return Ok(());
    }
    if administration.records().is_none() && !administration.table_exists(TABLE)? {
        // All text: the same words work in every dialect, and numbers come back as they were written.
        administration.script(&format!(
            "CREATE TABLE {TABLE} (workload varchar(190) PRIMARY KEY, scale text NOT NULL, version text NOT NULL, \
             seed text NOT NULL, complete text NOT NULL, tables text NOT NULL)"
        ))?;
    }
    delete(administration, tables)?;
    let Marker { workload, scale, version, seed, complete } = marker;
    if let Some(records) = administration.records() {
        let columns = [
            format!("{scale:?}"),
            version.to_string(),
            seed.to_string(),
            complete.to_string(),
            tables.join(","),
        ];
        return notes::write(records, workload, &columns);
    }
    administration.script(&format!(
        "INSERT INTO {TABLE} (workload, scale, version, seed, complete, tables) \
         VALUES ('{}', '{scale:?}', '{version}', '{seed}', '{complete}', '{}')",
        quoted(workload),
        tables.join(",")
    ))
}

/// Removes the markers of `tables`, and the table with the last of them.
pub(super) fn forget(administration: &mut dyn Administration, tables: &[&str]) -> Result<(), ConnectError> {
    if administration.records().is_some() {
        return delete(administration, tables);
    }
    if !administration.table_exists(TABLE)? {
        return Ok(());
    }
    delete(administration, tables)?;
    if read(administration)?.is_empty() {
        administration.script(&format!("DROP TABLE {TABLE}"))?;
    }
    Ok(())
}

fn delete(administration: &mut dyn Administration, tables: &[&str]) -> Result<(), ConnectError> {
    for row in read(administration)? {
        if row.tables.iter().any(|table| tables.contains(&table.as_str())) {
            let workload = row.marker.workload;
            if let Some(records) = administration.records() {
                notes::delete(records, &workload)?;
                continue;
            }
            forget_parts(administration, &workload)?;
            administration
                .script(&format!("DELETE FROM {TABLE} WHERE workload = '{}'", quoted(&workload)))?;
        }
    }
    Ok(())
}

fn read(administration: &mut dyn Administration) -> Result<Vec<Row>, ConnectError> {
    if let Some(records) = administration.records() {
        return notes::read(records)?.iter().map(|row| parse(row)).collect();
    }
    if !administration.table_exists(TABLE)? {
        return Ok(Vec::new());
    }
    let sql =
        format!("SELECT workload, scale, version, seed, complete, tables FROM {TABLE} ORDER BY workload");
    let rows = administration.query(&sql)?;
    rows.iter().map(|row| parse(row)).collect()
}

fn parse(row: &[Option<String>]) -> Result<Row, ConnectError> {
    let text = |column: usize| row.get(column).and_then(|text| text.as_deref()).unwrap_or("");
    let bad = |name: &str, column: usize| {
        ConnectError::permanent(format!(
            "{TABLE}: `{}` is not a {name}; drop this table yourself",
            text(column)
        ))
    };
    Ok(Row {
        marker: Marker {
            workload: text(0).to_owned(),
            scale: text(1).parse().map_err(|_| bad("scale", 1))?,
            version: text(2).parse().map_err(|_| bad("version", 2))?,
            seed: text(3).parse().map_err(|_| bad("seed", 3))?,
            complete: text(4).parse().map_err(|_| bad("truth value", 4))?,
        },
        tables: text(5).split(',').map(str::to_owned).collect(),
    })
}

/// In place of a part's number: the tables are made.
const CREATED: i64 = -1;

/// Parts of this very data set that a load which was cut short has filled, with their rows. `None` where it has to be made
/// from the start: there is none, it is complete, or what is there is of another kind.
pub(super) fn parts_done(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
) -> Result<Option<BTreeMap<u32, u64>>, ConnectError> {
    if !keeps_markers(administration) {
        return Ok(None);
    }
    let begun = Marker { complete: false, ..dataset.marker() };
    let has_records = administration.records().is_some();
    let is_begun = read(administration)?.iter().any(|row| row.marker == begun);
    if !is_begun || !(has_records || administration.table_exists(PARTS)?) {
        return Ok(None);
    }
    for table in dataset.tables() {
        // A store's table is there with its first record.
        if !has_records && !administration.table_exists(table)? {
            return Ok(None);
        }
    }
    let sql = format!("SELECT part, loaded FROM {PARTS} WHERE workload = '{}'", quoted(&begun.workload));
    let mut done = BTreeMap::new();
    let mut is_created = false;
    let rows = match administration.records() {
        Some(records) => notes::parts(records, &begun.workload)?,
        None => administration.query(&sql)?,
    };
    for row in rows {
        let number = |at: usize| row.get(at)?.as_deref()?.parse::<i64>().ok();
        match (number(0), number(1)) {
            (Some(CREATED), _) => is_created = true,
            (Some(part @ 0..=0xFFFF_FFFF), Some(rows @ 0..)) => {
                done.insert(part as u32, rows.unsigned_abs());
            }
            _ => return Ok(None),
        }
    }
    Ok(is_created.then_some(done))
}

/// The tables are made, and no part is filled.
pub(super) fn note_created(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
) -> Result<(), ConnectError> {
    if administration.records().is_none() && !administration.table_exists(PARTS)? {
        administration.script(&format!(
            "CREATE TABLE {PARTS} (name varchar(190) PRIMARY KEY, workload text NOT NULL, part bigint NOT NULL, \
             loaded bigint NOT NULL)"
        ))?;
    }
    note(administration, dataset, CREATED, 0)
}

/// A part is filled.
pub(super) fn note_part(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    part: u32,
    rows: u64,
) -> Result<(), ConnectError> {
    note(administration, dataset, part.into(), rows)
}

fn note(
    administration: &mut dyn Administration,
    dataset: &dyn DataSet,
    part: i64,
    rows: u64,
) -> Result<(), ConnectError> {
    if !keeps_markers(administration) {
        return Ok(());
    }
    let workload = dataset.marker().workload;
    if let Some(records) = administration.records() {
        return notes::note_part(records, &workload, part, rows);
    }
    administration.script(&format!(
        "INSERT INTO {PARTS} (name, workload, part, loaded) VALUES ('{part} {0}', '{0}', {part}, {rows})",
        quoted(&workload)
    ))
}

/// Forgets which parts of a data set are filled, and drops the table with the last of them.
pub(super) fn forget_parts(
    administration: &mut dyn Administration,
    workload: &str,
) -> Result<(), ConnectError> {
    if let Some(records) = administration.records() {
        return notes::forget_parts(records, workload);
    }
    if !administration.table_exists(PARTS)? {
        return Ok(());
    }
    administration.script(&format!("DELETE FROM {PARTS} WHERE workload = '{}'", quoted(workload)))?;
    if administration.query(&format!("SELECT part FROM {PARTS} LIMIT 1"))?.is_empty() {
        administration.script(&format!("DROP TABLE {PARTS}"))?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    text.replace('\'', "''")
}
