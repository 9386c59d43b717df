//! Markers in stores without SQL: notes under two topics, in place of the two tables.

use driver::{ConnectError, Records};

const MARKERS: &str = "truetail_dataset";

/// Parts of one data set.
fn parts_of(workload: &str) -> String {
    format!("truetail_dataset_parts:{workload}")
}

/// Stands between the columns of a marker.
const BETWEEN: char = '\t';

/// The rows of all markers, columns as in the table.
pub(super) fn read(records: &mut dyn Records) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
    let mut notes = records.notes(MARKERS)?;
    notes.sort();
    let row = |(workload, rest): (String, String)| {
        std::iter::once(Some(workload)).chain(rest.split(BETWEEN).map(|text| Some(text.to_owned()))).collect()
    };
    Ok(notes.into_iter().map(row).collect())
}

/// Notes a marker; `columns` are those behind the workload's name.
pub(super) fn write(
    records: &mut dyn Records,
    workload: &str,
    columns: &[String],
) -> Result<(), ConnectError> {
    records.note(MARKERS, workload, &columns.join(&BETWEEN.to_string()))
}

/// Forgets a marker and which parts are filled.
pub(super) fn delete(records: &mut dyn Records, workload: &str) -> Result<(), ConnectError> {
    forget_parts(records, workload)?;
    records.forget(MARKERS, workload)
}

/// Parts that are filled, with their rows; the one for tables that are made, too.
pub(super) fn parts(
    records: &mut dyn Records,
    workload: &str,
) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
    let notes = records.notes(&parts_of(workload))?;
    Ok(notes.into_iter().map(|(part, rows)| vec![Some(part), Some(rows)]).collect())
}

/// Notes a part.
pub(super) fn note_part(
    records: &mut dyn Records,
    workload: &str,
    part: i64,
    rows: u64,
) -> Result<(), ConnectError> {
    records.note(&parts_of(workload), &part.to_string(), &rows.to_string())
}

/// Forgets which parts of a data set are filled.
pub(super) fn forget_parts(records: &mut dyn Records, workload: &str) -> Result<(), ConnectError> {
    let topic = parts_of(workload);
    for (part, _) in records.notes(&topic)? {
        records.forget(&topic, &part)?;
    }
    Ok(())
}
