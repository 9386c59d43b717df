//! What is asked of a table, as CQL: prepared where all records are asked so, and otherwise sent with its values.

use crate::codec;
use driver::{Fields, KeyValue};

/// Columns that a statement names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names<'a> {
    /// All that the table has.
    All,
    One(&'a str),
    Named(&'a [&'a str]),
    Written(&'a [(&'a str, &'a str)]),
}

impl<'a> From<Fields<'a>> for Names<'a> {
    fn from(fields: Fields<'a>) -> Names<'a> {
        match fields {
            Fields::All => Names::All,
            Fields::One(name) => Names::One(name),
            Fields::Named(names) => Names::Named(names),
        }
    }
}

/// A kind of statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'a> {
    Read(Names<'a>),
    Scan(Names<'a>),
    Insert(Names<'a>),
    Update(Names<'a>),
    Delete,
}

/// The identifier of a prepared statement.
pub(crate) type Id = Vec<u8>;

/// A table that records can be in: one key of text, and columns of text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Table {
    pub(crate) keyspace: String,
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) columns: Vec<String>,
    pub(crate) prepared: Prepared,
}

/// Statements that are prepared on each connection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prepared {
    read: Id,
    scan: Id,
    insert: Id,
    update: Id,
    delete: Id,
    /// By column.
    read_one: Vec<Id>,
    scan_one: Vec<Id>,
    update_one: Vec<Id>,
}

/// Tables of more columns have no statements for each of them.
const COLUMNS_MOST: usize = 64;

impl Table {
    /// Whether this is what a command means.
    #[inline]
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// All that is to be prepared, in the order in which [`Table::keep`] takes the identifiers.
    pub(crate) fn shapes(&self) -> Vec<Shape<'_>> {
        let mut shapes = vec![
            Shape::Read(Names::All),
            Shape::Scan(Names::All),
            Shape::Insert(Names::All),
            Shape::Update(Names::All),
            Shape::Delete,
        ];
        for column in self.columns.iter().filter(|_| self.columns.len() <= COLUMNS_MOST) {
            let one = Names::One(column);
            shapes.extend([Shape::Read(one), Shape::Scan(one), Shape::Update(one)]);
        }
        shapes
    }

    /// Keeps the identifiers of [`Table::shapes`].
    pub(crate) fn keep(&mut self, ids: Vec<Id>) {
        let mut ids = ids.into_iter();
        let mut next = || ids.next().unwrap_or_default();
        self.prepared = Prepared {
            read: next(),
            scan: next(),
            insert: next(),
            update: next(),
            delete: next(),
            ..Prepared::default()
        };
        let mut ids = ids.peekable();
        while ids.peek().is_some() {
            let mut next = || ids.next().unwrap_or_default();
            self.prepared.read_one.push(next());
            self.prepared.scan_one.push(next());
            self.prepared.update_one.push(next());
        }
    }

    /// The prepared statement of a shape, if it is one of those.
    #[inline]
    pub(crate) fn prepared(&self, shape: Shape<'_>) -> Option<&[u8]> {
        let prepared = &self.prepared;
        let (all, one, names) = match shape {
            Shape::Read(names) => (&prepared.read, &prepared.read_one, names),
            Shape::Scan(names) => (&prepared.scan, &prepared.scan_one, names),
            Shape::Insert(names) => (&prepared.insert, &prepared.update_one, names),
            Shape::Update(names) => (&prepared.update, &prepared.update_one, names),
            Shape::Delete => return Some(&prepared.delete),
        };
        let column = |name: &str| self.columns.iter().position(|column| column == name);
        let is_write = matches!(shape, Shape::Insert(_) | Shape::Update(_));
        match names {
            Names::All => Some(all),
            Names::Written(fields) if self.has_all(fields) => Some(all),
            Names::Written([(name, _)]) if matches!(shape, Shape::Update(_)) => {
                one.get(column(name)?).map(Vec::as_slice)
            }
            Names::One(name) if !is_write => one.get(column(name)?).map(Vec::as_slice),
            Names::Named([name]) if !is_write => one.get(column(name)?).map(Vec::as_slice),
            _ => None,
        }
    }

    /// Whether these are all columns, in the table's order.
    #[inline]
    fn has_all(&self, fields: &[(&str, &str)]) -> bool {
        fields.len() == self.columns.len()
            && self.columns.iter().zip(fields).all(|(column, (name, _))| column == name)
    }

    /// Puts the columns into the order of a data set's fields where it has the same: they are prepared in it.
    pub(crate) fn order_as_numbered(&mut self) {
        let parts = |name: &str| {
            let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let (stem, number) = name.split_at(name.len() - digits);
            (stem.to_owned(), number.parse::<u64>().ok(), name.to_owned())
        };
        self.columns.sort_by_key(|name| parts(name));
    }

    /// Appends the CQL of a shape.
    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>, shape: Shape<'_>) {
        match shape {
            Shape::Read(names) => {
                self.write_select(out, names);
                self.write_key(out);
            }
            Shape::Scan(names) => {
                self.write_select(out, names);
                out.extend_from_slice(b" WHERE token(");
                quoted(out, &self.key);
                out.extend_from_slice(b") >= token(?) LIMIT ?");
            }
            Shape::Insert(names) => {
                out.extend_from_slice(b"INSERT INTO ");
                self.write_name(out);
                out.extend_from_slice(b" (");
                quoted(out, &self.key);
                let mut count = 0;
                self.each(names, |name| {
                    out.push(b',');
                    quoted(out, name);
                    count += 1;
                });
                out.extend_from_slice(b") VALUES (?");
                (0..count).for_each(|_| out.extend_from_slice(b",?"));
                out.push(b')');
            }
            Shape::Update(names) => {
                out.extend_from_slice(b"UPDATE ");
                self.write_name(out);
                let mut before: &[u8] = b" SET ";
                self.each(names, |name| {
                    out.extend_from_slice(before);
                    quoted(out, name);
                    out.extend_from_slice(b"=?");
                    before = b",";
                });
                self.write_key(out);
            }
            Shape::Delete => {
                out.extend_from_slice(b"DELETE FROM ");
                self.write_name(out);
                self.write_key(out);
            }
        }
    }

    fn write_select(&self, out: &mut Vec<u8>, names: Names<'_>) {
        let mut before: &[u8] = b"SELECT ";
        self.each(names, |name| {
            out.extend_from_slice(before);
            quoted(out, name);
            before = b",";
        });
        out.extend_from_slice(b" FROM ");
        self.write_name(out);
    }

    fn write_key(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b" WHERE ");
        quoted(out, &self.key);
        out.extend_from_slice(b"=?");
    }

    /// The table's full name.
    pub(crate) fn write_name(&self, out: &mut Vec<u8>) {
        quoted(out, &self.keyspace);
        out.push(b'.');
        quoted(out, &self.name);
    }

    fn each(&self, names: Names<'_>, mut each: impl FnMut(&str)) {
        match names {
            Names::All => self.columns.iter().for_each(|name| each(name)),
            Names::One(name) => each(name),
            Names::Named(names) => names.iter().for_each(|name| each(name)),
            Names::Written(fields) => fields.iter().for_each(|(name, _)| each(name)),
        }
    }
}

/// An identifier, so that its case counts and nothing in it is CQL.
pub(crate) fn quoted(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    for byte in name.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// The shape of an operation, and its table's name.
#[inline]
pub(crate) fn of<'a>(operation: KeyValue<'a>) -> (&'a str, Shape<'a>) {
    match operation {
        KeyValue::Read { table, fields, .. } => (table, Shape::Read(fields.into())),
        KeyValue::Scan { table, fields, .. } => (table, Shape::Scan(fields.into())),
        KeyValue::Insert { table, fields, .. } => (table, Shape::Insert(Names::Written(fields))),
        KeyValue::Update { table, fields, .. } => (table, Shape::Update(Names::Written(fields))),
        KeyValue::Delete { table, .. } => (table, Shape::Delete),
    }
}

/// How many values [`values`] appends.
#[inline]
pub(crate) fn value_count(operation: KeyValue<'_>) -> usize {
    match operation {
        KeyValue::Read { .. } | KeyValue::Delete { .. } => 1,
        KeyValue::Scan { .. } => 2,
        KeyValue::Insert { fields, .. } | KeyValue::Update { fields, .. } => 1 + fields.len(),
    }
}

/// Appends an operation's values, in the order of its statement's markers.
#[inline]
pub(crate) fn values(out: &mut Vec<u8>, operation: KeyValue<'_>) {
    match operation {
        KeyValue::Read { key, .. } | KeyValue::Delete { key, .. } => codec::value(out, key.as_bytes()),
        KeyValue::Scan { key, count, .. } => {
            codec::value(out, key.as_bytes());
            let limit = i32::try_from(count).unwrap_or(i32::MAX);
            codec::value(out, &limit.to_be_bytes());
        }
        KeyValue::Insert { key, fields, .. } => {
            codec::value(out, key.as_bytes());
            fields.iter().for_each(|(_, text)| codec::value(out, text.as_bytes()));
        }
        KeyValue::Update { key, fields, .. } => {
            fields.iter().for_each(|(_, text)| codec::value(out, text.as_bytes()));
            codec::value(out, key.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table {
            keyspace: "ycsb".to_owned(),
            name: "usertable".to_owned(),
            key: "y_id".to_owned(),
            columns: ["field10", "field2", "a\"b"].map(str::to_owned).to_vec(),
            ..Table::default()
        };
        table.order_as_numbered();
        let ids = (0..table.shapes().len()).map(|number| vec![number as u8]).collect();
        table.keep(ids);
        table
    }

    fn cql(shape: Shape<'_>) -> String {
        let mut out = Vec::new();
        table().write(&mut out, shape);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn statements_name_what_they_touch() {
        let named = ["field2", "b"];
        assert_eq!(
            cql(Shape::Read(Names::All)),
            r#"SELECT "a""b","field2","field10" FROM "ycsb"."usertable" WHERE "y_id"=?"#
        );
        assert_eq!(
            cql(Shape::Scan(Names::Named(&named))),
            r#"SELECT "field2","b" FROM "ycsb"."usertable" WHERE token("y_id") >= token(?) LIMIT ?"#
        );
        assert_eq!(
            cql(Shape::Insert(Names::Written(&[("x", "1"), ("y", "2")]))),
            r#"INSERT INTO "ycsb"."usertable" ("y_id","x","y") VALUES (?,?,?)"#
        );
        assert_eq!(
            cql(Shape::Update(Names::Written(&[("x", "1"), ("y", "2")]))),
            r#"UPDATE "ycsb"."usertable" SET "x"=?,"y"=? WHERE "y_id"=?"#
        );
        assert_eq!(cql(Shape::Delete), r#"DELETE FROM "ycsb"."usertable" WHERE "y_id"=?"#);
    }

    #[test]
    fn usual_shapes_are_prepared_and_others_are_not() {
        let table = table();
        let all = [("a\"b", ""), ("field2", ""), ("field10", "")];
        let turned = [("field2", ""), ("a\"b", ""), ("field10", "")];
        for (shape, id) in [
            (Shape::Read(Names::All), Some(0)),
            (Shape::Scan(Names::All), Some(1)),
            (Shape::Insert(Names::Written(&all)), Some(2)),
            (Shape::Update(Names::Written(&all)), Some(3)),
            (Shape::Delete, Some(4)),
            (Shape::Read(Names::One("field2")), Some(8)),
            (Shape::Scan(Names::Named(&["field10"])), Some(12)),
            (Shape::Update(Names::Written(&all[1..2])), Some(10)),
            (Shape::Insert(Names::Written(&turned)), None),
            (Shape::Insert(Names::Written(&all[1..2])), None),
            (Shape::Update(Names::Written(&all[..2])), None),
            (Shape::Read(Names::One("other")), None),
        ] {
            let expected = id.map(|id: u8| vec![id]);
            assert_eq!(table.prepared(shape).map(<[u8]>::to_vec), expected, "{shape:?}");
        }
    }
}
