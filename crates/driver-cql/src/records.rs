//! Set-up of records: tables, filling, listing, removing.

use crate::administration::CqlAdministration;
use crate::client::{Ended, IN_FLIGHT, Row};
use crate::codec::{self, Consistency, opcode};
use crate::layout::{self, text};
use crate::shape::{Names, Shape, Table, quoted};
use driver::{BulkRows, ConnectError, EachRecord, Records, Value};
use units::{Nanos, Outcome};

/// The key's name in tables that are made here, as in YCSB's.
const KEY: &str = "y_id";
/// How a table that was made here is known.
const MADE_HERE: &str = "made by truetail";
/// The table of notes.
const NOTES: &str = "truetail_notes";
/// How often a request of a load is sent when the server has too much to do.
const ATTEMPTS: u32 = 20;
/// How long it is left alone then.
const REST: Nanos = Nanos::from_millis(250);

/// A request that is sent together with others.
struct Request {
    id: Option<Vec<u8>>,
    cql: Vec<u8>,
    values: Vec<Vec<u8>>,
}

impl CqlAdministration {
    /// The table, if records can be in it.
    fn find(&mut self, name: &str) -> Result<Option<Table>, ConnectError> {
        let tables = layout::tables(&mut self.client, &self.config.keyspace)?;
        Ok(tables.into_iter().find(|table| table.is(name)))
    }

    fn table(&mut self, name: &str) -> Result<Table, ConnectError> {
        let missing =
            format!("{}: there is no table `{name}` with one key and columns of text", self.config.address);
        self.find(name)?.ok_or(ConnectError::permanent(missing))
    }

    /// Whether there is a table of this name, and anything in it.
    pub(crate) fn has_records(&mut self, name: &str) -> Result<bool, ConnectError> {
        let Some(table) = self.find(name)? else { return Ok(false) };
        let mut any = false;
        let cql = format!("{} LIMIT 1", select_keys(&table));
        self.client.rows(&cql, &[], self.config.reads, &mut |_| any = true)?;
        Ok(any)
    }

    /// Inserts rows whose first value is the key.
    pub(crate) fn insert_all(
        &mut self,
        name: &str,
        columns: &[&str],
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        let table = self.table(name)?;
        let names = columns.get(1..).unwrap_or_default();
        let mut cql = Vec::new();
        table.write(&mut cql, Shape::Insert(Names::Named(names)));
        let id = self.client.prepare(&[cql])?.pop();
        let (mut requests, mut count, mut more) = (Vec::new(), 0, true);
        while more {
            more = rows(&mut |values| {
                requests.push(Request {
                    id: id.clone(),
                    cql: Vec::new(),
                    values: values.iter().map(bytes).collect(),
                });
                count += 1;
            });
            if requests.len() >= IN_FLIGHT || !more {
                let level = self.config.writes;
                for group in requests.chunks(IN_FLIGHT) {
                    self.carry_out(group, level, &mut |_, _| ())?;
                }
                requests.clear();
            }
        }
        Ok(count)
    }

    /// Sends requests together, and those once more that the server had no time for: they do the same twice as once.
    fn carry_out(
        &mut self,
        requests: &[Request],
        level: Consistency,
        each: &mut dyn FnMut(usize, Vec<Row>),
    ) -> Result<(), ConnectError> {
        let mut left: Vec<usize> = (0..requests.len()).collect();
        for attempt in 1.. {
            let prepared = requests.first().is_some_and(|request| request.id.is_some());
            let code = if prepared { opcode::EXECUTE } else { opcode::QUERY };
            let ended: Vec<Ended> = self.client.many(code, left.len(), &mut |at, out| {
                let request = &requests[left[at]];
                match &request.id {
                    Some(id) => codec::short(out, id),
                    None => codec::sized(out, |out| out.extend_from_slice(&request.cql)),
                }
                codec::parameters(out, level, request.values.len());
                request.values.iter().for_each(|value| codec::value(out, value));
            })?;
            let mut again = Vec::new();
            for (at, ended) in left.iter().zip(ended) {
                match ended {
                    Ok(page) => each(*at, page.rows),
                    Err(refusal)
                        if attempt < ATTEMPTS && codec::outcome(refusal.code) == Outcome::Unavailable =>
                    {
                        again.push(*at);
                    }
                    Err(refusal) => return Err(self.client.refused(&refusal)),
                }
            }
            if again.is_empty() {
                break;
            }
            left = again;
            clock::pause(REST);
        }
        Ok(())
    }

    /// The same statement for each of some keys.
    fn for_keys(
        &mut self,
        table: &Table,
        shape: Shape<'_>,
        keys: &[&str],
        each: &mut dyn FnMut(usize, Vec<Row>),
    ) -> Result<(), ConnectError> {
        let mut cql = Vec::new();
        table.write(&mut cql, shape);
        let id = self.client.prepare(&[cql])?.pop();
        let level = if matches!(shape, Shape::Read(_)) { self.config.reads } else { self.config.writes };
        for (group, keys) in keys.chunks(IN_FLIGHT).enumerate() {
            let request = |key: &&str| Request {
                id: id.clone(),
                cql: Vec::new(),
                values: vec![key.as_bytes().to_vec()],
            };
            let requests: Vec<Request> = keys.iter().map(request).collect();
            self.carry_out(&requests, level, &mut |at, rows| each(group * IN_FLIGHT + at, rows))?;
        }
        Ok(())
    }

    /// Makes sure that there is the keyspace, or says how to make it.
    fn ensure_keyspace(&mut self) -> Result<(), ConnectError> {
        let keyspace = self.config.keyspace.clone();
        let found = self.known(
            "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?",
            &[keyspace.as_bytes()],
        )?;
        if !found.is_empty() {
            return Ok(());
        }
        let create = |copies: u8| {
            format!(
                "CREATE KEYSPACE IF NOT EXISTS \"{keyspace}\" WITH replication = \
                 {{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"
            )
        };
        match self.config.replication {
            Some(copies) => self.change_schema(&create(copies)),
            None => Err(ConnectError::permanent(format!(
                "{}: there is no keyspace `{keyspace}`; make it yourself, or write ?replication=1 for one that is made \
                 with as many copies of each record",
                self.config.address
            ))),
        }
    }

    fn notes_table(&self) -> String {
        format!("\"{}\".{NOTES}", self.config.keyspace)
    }

    fn has_notes(&mut self) -> Result<bool, ConnectError> {
        self.has_table(NOTES)
    }

    fn has_table(&mut self, name: &str) -> Result<bool, ConnectError> {
        let cql = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
        let keyspace = self.config.keyspace.clone();
        Ok(!self.known(cql, &[keyspace.as_bytes(), name.as_bytes()])?.is_empty())
    }
}

fn bytes(value: &Value<'_>) -> Vec<u8> {
    match value {
        Value::Text(text) => text.as_bytes().to_vec(),
        _ => Vec::new(),
    }
}

fn select_keys(table: &Table) -> String {
    let mut cql = b"SELECT ".to_vec();
    quoted(&mut cql, &table.key);
    cql.extend_from_slice(b" FROM ");
    table.write_name(&mut cql);
    String::from_utf8_lossy(&cql).into_owned()
}

fn cql_name(table: &Table) -> String {
    let mut cql = Vec::new();
    table.write_name(&mut cql);
    String::from_utf8_lossy(&cql).into_owned()
}

impl Records for CqlAdministration {
    fn make_table(&mut self, name: &str, fields: &[&str]) -> Result<(), ConnectError> {
        self.ensure_keyspace()?;
        if !self.has_table(name)? {
            let mut cql = b"CREATE TABLE IF NOT EXISTS ".to_vec();
            quoted(&mut cql, &self.config.keyspace);
            cql.push(b'.');
            quoted(&mut cql, name);
            cql.extend_from_slice(format!(" ({KEY} varchar PRIMARY KEY").as_bytes());
            for field in fields {
                cql.extend_from_slice(b", ");
                quoted(&mut cql, field);
                cql.extend_from_slice(b" varchar");
            }
            cql.extend_from_slice(format!(") WITH comment = '{MADE_HERE}'").as_bytes());
            self.change_schema(&String::from_utf8_lossy(&cql))?;
        }
        let table = self.table(name)?;
        match fields.iter().find(|field| !table.columns.iter().any(|column| column == *field)) {
            None => Ok(()),
            Some(field) => Err(ConnectError::permanent(format!(
                "{}: the table `{name}` has no column `{field}` of text; drop the table, or choose another keyspace",
                self.config.address
            ))),
        }
    }

    fn count(&mut self, name: &str) -> Result<u64, ConnectError> {
        let mut count = 0;
        self.keys(name, &mut |_| count += 1)?;
        Ok(count)
    }

    fn keys(&mut self, name: &str, each: &mut dyn FnMut(&str)) -> Result<(), ConnectError> {
        let Some(table) = self.find(name)? else { return Ok(()) };
        self.client.rows(&select_keys(&table), &[], self.config.reads, &mut |row| each(&text(row, 0)))
    }

    fn read(&mut self, name: &str, keys: &[&str], each: &mut EachRecord<'_>) -> Result<(), ConnectError> {
        let table = self.table(name)?;
        self.for_keys(&table, Shape::Read(Names::All), keys, &mut |at, rows| {
            let values = rows.into_iter().next().unwrap_or_default();
            let named = table.columns.iter().zip(values);
            let fields: Vec<(String, String)> = named
                .filter_map(|(name, value)| {
                    Some((name.clone(), String::from_utf8_lossy(&value?).into_owned()))
                })
                .collect();
            each(at, &fields);
        })
    }

    fn remove(&mut self, name: &str, keys: &[&str]) -> Result<(), ConnectError> {
        let table = self.table(name)?;
        self.for_keys(&table, Shape::Delete, keys, &mut |_, _| ())
    }

    /// A table that was made here goes; another one is emptied, since somebody made it as it is to be.
    fn drop_table(&mut self, name: &str) -> Result<(), ConnectError> {
        let Some(table) = self.find(name)? else { return Ok(()) };
        let cql = "SELECT comment FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
        let found = self.known(cql, &[table.keyspace.as_bytes(), name.as_bytes()])?;
        let is_ours = found.first().and_then(|row| row.first()).is_some_and(|comment| comment == MADE_HERE);
        if is_ours {
            self.change_schema(&format!("DROP TABLE IF EXISTS {}", cql_name(&table)))
        } else {
            self.client.done(&format!("TRUNCATE {}", cql_name(&table)), &[], self.config.writes)
        }
    }

    fn notes(&mut self, topic: &str) -> Result<Vec<(String, String)>, ConnectError> {
        if !self.has_notes()? {
            return Ok(Vec::new());
        }
        let cql = format!("SELECT name, note FROM {} WHERE topic = ?", self.notes_table());
        let mut notes = Vec::new();
        self.client.rows(&cql, &[topic.as_bytes()], self.config.reads, &mut |row| {
            notes.push((text(row, 0), text(row, 1)));
        })?;
        Ok(notes)
    }

    fn note(&mut self, topic: &str, name: &str, note: &str) -> Result<(), ConnectError> {
        if !self.has_notes()? {
            self.ensure_keyspace()?;
            let columns = "topic varchar, name varchar, note varchar, PRIMARY KEY (topic, name)";
            let table = self.notes_table();
            self.change_schema(&format!(
                "CREATE TABLE IF NOT EXISTS {table} ({columns}) WITH comment = '{MADE_HERE}'"
            ))?;
        }
        let cql = format!("INSERT INTO {} (topic, name, note) VALUES (?, ?, ?)", self.notes_table());
        let values = [topic.as_bytes(), name.as_bytes(), note.as_bytes()];
        self.client.done(&cql, &values, self.config.writes)
    }

    fn forget(&mut self, topic: &str, name: &str) -> Result<(), ConnectError> {
        if !self.has_notes()? {
            return Ok(());
        }
        let cql = format!("DELETE FROM {} WHERE topic = ? AND name = ?", self.notes_table());
        self.client.done(&cql, &[topic.as_bytes(), name.as_bytes()], self.config.writes)?;
        let mut any = false;
        let left = format!("SELECT name FROM {} LIMIT 1", self.notes_table());
        self.client.rows(&left, &[], self.config.reads, &mut |_| any = true)?;
        if any {
            return Ok(());
        }
        let drop = format!("DROP TABLE IF EXISTS {}", self.notes_table());
        self.change_schema(&drop)
    }
}
