//! Which tables of a keyspace records can be in.

use crate::client::{Client, Row};
use crate::codec::Consistency;
use crate::shape::Table;
use driver::ConnectError;

/// Every node has the schema whole.
const LOCAL: &str = "one";

/// More tables than a data set has are somebody else's keyspace.
const TABLES_MOST: usize = 16;

pub(crate) fn local() -> Consistency {
    Consistency::named(LOCAL).unwrap_or(Consistency::QUORUM)
}

/// The n-th value of a row as text; empty where there is none.
pub(crate) fn text(row: &Row, column: usize) -> String {
    let bytes = row.get(column).and_then(|value| value.as_deref()).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// A column as the server describes it.
struct Column {
    table: String,
    name: String,
    /// `partition_key`, `clustering`, `regular` or `static`.
    kind: String,
    text: bool,
}

/// The tables of a keyspace that records can be in; none where there is no such keyspace.
pub(crate) fn tables(client: &mut Client, keyspace: &str) -> Result<Vec<Table>, ConnectError> {
    let cql = "SELECT table_name, column_name, kind, type FROM system_schema.columns WHERE keyspace_name = ?";
    let mut columns = Vec::new();
    client.rows(cql, &[keyspace.as_bytes()], local(), &mut |row| {
        let is_text = ["text", "ascii", "varchar"].contains(&text(row, 3).as_str());
        columns.push(Column { table: text(row, 0), name: text(row, 1), kind: text(row, 2), text: is_text });
    })?;
    let mut names: Vec<&str> = columns.iter().map(|column| column.table.as_str()).collect();
    names.dedup();
    Ok(names.iter().filter_map(|name| fitting(keyspace, name, &columns)).collect())
}

/// The table of this name, if it has one key, of text, and columns of text.
fn fitting(keyspace: &str, name: &str, columns: &[Column]) -> Option<Table> {
    let own = || columns.iter().filter(|column| column.table == name);
    let mut keys = own().filter(|column| column.kind != "regular" && column.kind != "static");
    let key = keys.next().filter(|key| key.kind == "partition_key" && key.text)?;
    if keys.next().is_some() {
        return None;
    }
    let fields: Vec<String> = own()
        .filter(|column| column.kind == "regular" && column.text)
        .map(|column| column.name.clone())
        .collect();
    if fields.is_empty() {
        return None;
    }
    let mut table = Table {
        keyspace: keyspace.to_owned(),
        name: name.to_owned(),
        key: key.name.clone(),
        columns: fields,
        ..Table::default()
    };
    table.order_as_numbered();
    Some(table)
}

/// The same, with their statements prepared on this connection.
pub(crate) fn prepared_tables(client: &mut Client, keyspace: &str) -> Result<Vec<Table>, ConnectError> {
    let mut tables = tables(client, keyspace)?;
    tables.truncate(TABLES_MOST);
    for table in &mut tables {
        let cql = |shape| {
            let mut out = Vec::new();
            table.write(&mut out, shape);
            out
        };
        let statements: Vec<Vec<u8>> = table.shapes().into_iter().map(cql).collect();
        let ids = client.prepare(&statements)?;
        table.keep(ids);
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(table: &str, described: &[(&str, &str, bool)]) -> Vec<Column> {
        let column = |(name, kind, text): &(&str, &str, bool)| Column {
            table: table.to_owned(),
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            text: *text,
        };
        described.iter().map(column).collect()
    }

    #[test]
    fn a_table_fits_by_its_key_and_its_columns_of_text() {
        let key = ("y_id", "partition_key", true);
        let fields =
            [key, ("field10", "regular", true), ("field2", "regular", true), ("count", "regular", false)];
        let table = fitting("k", "t", &columns("t", &fields)).unwrap();
        assert_eq!(
            (table.key.as_str(), table.columns),
            ("y_id", vec!["field2".to_owned(), "field10".to_owned()])
        );
        for unfit in [
            &[key][..],
            &[key, ("n", "regular", false)],
            &[("id", "partition_key", false), ("f", "regular", true)],
            &[key, ("other", "clustering", true), ("f", "regular", true)],
            &[key, ("other", "partition_key", true), ("f", "regular", true)],
        ] {
            assert_eq!(fitting("k", "t", &columns("t", unfit)), None);
        }
        assert_eq!(fitting("k", "other", &columns("t", &fields)), None);
    }
}
