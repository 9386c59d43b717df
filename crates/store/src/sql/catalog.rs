//! Which tables there are, and how their keys are encoded.

use super::datum::Datum;
use super::error::{SqlError, state};
use super::expression::Typed;
use super::syntax::TableName;
use super::system;
use super::types::{ColumnType, Family, Type};
use crate::Key;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// As many columns as PostgreSQL's tables may have.
const COLUMNS_MAX: usize = 1600;
/// As many tables as the store may have.
const TABLES_MAX: usize = 10_000;
/// Numbers from here on are not PostgreSQL's own.
const FIRST_OID: u32 = 16_384;

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) column_type: ColumnType,
    pub(crate) not_null: bool,
    /// What it holds where nothing is said; `None` is null.
    pub(crate) default: Option<Typed>,
}

/// A table; it never changes, but for the row numbers.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) oid: u32,
    pub(crate) columns: Vec<Column>,
    /// Which column is the primary key; rows without one are numbered.
    pub(crate) key: Option<usize>,
    /// Where the rows come from, if not from data.
    pub(crate) system: Option<system::Relation>,
    next_row: AtomicU64,
}

impl Table {
    pub(crate) fn system(
        name: &str,
        oid: u32,
        columns: &[(&str, Type)],
        relation: system::Relation,
    ) -> Table {
        let columns = columns.iter().map(|(name, kind)| Column {
            name: (*name).to_owned(),
            column_type: ColumnType::from(*kind),
            not_null: false,
            default: None,
        });
        let columns = columns.collect();
        let system = Some(relation);
        Table { name: name.to_owned(), oid, columns, key: Some(0), system, next_row: AtomicU64::new(0) }
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    pub(crate) fn column_or_error(&self, name: &str) -> Result<usize, SqlError> {
        self.column(name).ok_or_else(|| {
            let table = &self.name;
            let message = format!("column \"{name}\" of relation \"{table}\" does not exist");
            SqlError::new(state::UNDEFINED_COLUMN, message)
        })
    }

    /// The namespace of its records.
    pub(crate) fn space(&self) -> Box<[u8]> {
        self.name.as_bytes().into()
    }

    /// The record of this key.
    pub(crate) fn record(&self, key: Box<[u8]>) -> Key {
        Key { space: self.space(), key }
    }

    /// The key of a new row of a table without a primary key.
    pub(crate) fn next_row_key(&self) -> Box<[u8]> {
        let row = self.next_row.fetch_add(1, Ordering::Relaxed); // a number, nothing else hangs on it
        Box::new(row.to_be_bytes())
    }

    /// Table and key as PostgreSQL calls the index behind the primary key.
    pub(crate) fn key_name(&self) -> String {
        format!("{}_pkey", self.name)
    }
}

/// A key value in bytes whose order is the order of the values: integers and moments with their sign bit turned, eight
/// bytes long, texts and bytes as they are. `None` for a null.
pub(crate) fn encode_key(datum: &Datum<'_>, kind: Type) -> Option<Box<[u8]>> {
    match datum {
        Datum::Int(value) | Datum::Moment(value) => {
            Some(Box::new((value.cast_unsigned() ^ (1 << 63)).to_be_bytes()))
        }
        // Blanks at the end of a char(n) do not count.
        Datum::Text(text) if kind == Type::Bpchar => Some(text.trim_end_matches(' ').as_bytes().into()),
        Datum::Text(text) => Some(text.as_bytes().into()),
        Datum::Bytes(bytes) => Some(bytes.as_ref().into()),
        Datum::Null | Datum::Bool(_) | Datum::Float(_) => None,
    }
}

/// Whether a column of this type can be a primary key.
pub(crate) fn is_key_type(kind: Type) -> bool {
    match kind.family() {
        Family::Bool => false,
        Family::Number => kind != Type::Float8,
        Family::Text | Family::Bytes | Family::Moment => true,
    }
}

/// All tables. What is changed here is there for everybody at once.
#[derive(Debug)]
pub(crate) struct Catalog {
    tables: BTreeMap<String, Arc<Table>>,
    system: Vec<Arc<Table>>,
    next_oid: u32,
    /// Goes up with each change: plans of another version are made again.
    pub(crate) version: u64,
}

impl Catalog {
    pub(crate) fn new() -> Catalog {
        Catalog { tables: BTreeMap::new(), system: system::relations(), next_oid: FIRST_OID, version: 0 }
    }

    /// The table of this name.
    pub(crate) fn table(&self, name: &TableName) -> Result<&Arc<Table>, SqlError> {
        let missing = || {
            let schema = name.schema.as_ref().map_or_else(String::new, |schema| format!("{schema}."));
            let message = format!("relation \"{schema}{}\" does not exist", name.name);
            SqlError::new(state::UNDEFINED_TABLE, message)
        };
        let own = || self.tables.get(&name.name);
        let system = || self.system.iter().find(|table| table.name == name.name);
        match name.schema.as_deref() {
            None => own().or_else(system).ok_or_else(missing),
            Some("public") => own().ok_or_else(missing),
            Some("pg_catalog") => system().ok_or_else(missing),
            Some(_) => Err(missing()),
        }
    }

    /// The same, for a change of its rows.
    pub(crate) fn own_table(&self, name: &TableName) -> Result<&Arc<Table>, SqlError> {
        let table = self.table(name)?;
        if table.system.is_some() {
            let message = format!("cannot change \"{}\": it is a system catalog", table.name);
            return Err(SqlError::new(state::WRONG_OBJECT, message));
        }
        Ok(table)
    }

    /// Whether a table of this name can be made or dropped at all.
    pub(crate) fn may_own(&self, name: &TableName) -> Result<(), SqlError> {
        match name.schema.as_deref() {
            None | Some("public") => Ok(()),
            Some(schema) => {
                Err(SqlError::new(state::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")))
            }
        }
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// Adds a table; its name must be free.
    pub(crate) fn create(
        &mut self,
        name: &str,
        columns: Vec<Column>,
        key: Option<usize>,
    ) -> Result<(), SqlError> {
        if columns.len() > COLUMNS_MAX {
            let message = format!("tables can have at most {COLUMNS_MAX} columns");
            return Err(SqlError::new(state::TOO_MANY_COLUMNS, message));
        }
        if self.tables.len() >= TABLES_MAX {
            let message = format!("the store can have at most {TABLES_MAX} tables; drop some");
            return Err(SqlError::new(state::PROGRAM_LIMIT, message));
        }
        let oid = self.next_oid;
        self.next_oid = self.next_oid.checked_add(1).unwrap_or(FIRST_OID);
        self.version += 1;
        let next_row = AtomicU64::new(0);
        let table = Table { name: name.to_owned(), oid, columns, key, system: None, next_row };
        self.tables.insert(name.to_owned(), Arc::new(table));
        Ok(())
    }

    /// Removes a table; whether there was one.
    pub(crate) fn drop(&mut self, name: &str) -> bool {
        self.version += 1;
        self.tables.remove(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn the_order_of_keys_is_the_order_of_values() {
        let numbers = [i64::MIN, -70_000, -1, 0, 1, 255, 256, 70_000, i64::MAX];
        let keys: Vec<_> = numbers.iter().map(|n| encode_key(&Datum::Int(*n), Type::Int8)).collect();
        assert!(keys.is_sorted() && keys.iter().all(Option::is_some));
        let texts = ["", "A", "a", "aa", "user1", "user10", "user2", "é"];
        let keys: Vec<_> =
            texts.iter().map(|t| encode_key(&Datum::Text(Cow::Borrowed(t)), Type::Text)).collect();
        assert!(keys.is_sorted());
        assert_eq!(encode_key(&Datum::Null, Type::Int4), None);
        let blanks = |text| encode_key(&Datum::Text(Cow::Borrowed(text)), Type::Bpchar);
        assert_eq!(blanks("a "), blanks("a"));
    }
}
