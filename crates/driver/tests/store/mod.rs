//! Records in memory.

use driver::{ConnectError, EachRecord, Fields, KeyValue, Records, Reply};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A key-value operation that owns its words.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Nothing,
    Read { key: String, fields: Option<Vec<String>> },
    Write { key: String, fields: Vec<(String, String)>, replaces: bool },
    Delete(String),
    Scan { key: String, count: u32, fields: Option<Vec<String>> },
}

fn owned(fields: Fields<'_>) -> Option<Vec<String>> {
    match fields {
        Fields::All => None,
        Fields::One(name) => Some(vec![name.to_owned()]),
        Fields::Named(names) => Some(names.iter().map(|name| (*name).to_owned()).collect()),
    }
}

impl From<KeyValue<'_>> for Operation {
    fn from(operation: KeyValue<'_>) -> Operation {
        match operation {
            KeyValue::Read { key, fields, .. } => {
                Operation::Read { key: key.to_owned(), fields: owned(fields) }
            }
            KeyValue::Update { key, fields, .. } | KeyValue::Insert { key, fields, .. } => {
                let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
                Operation::Write {
                    key: key.to_owned(),
                    fields: fields.iter().map(owned).collect(),
                    replaces: false,
                }
            }
            KeyValue::Delete { key, .. } => Operation::Delete(key.to_owned()),
            KeyValue::Scan { key, count, fields, .. } => {
                Operation::Scan { key: key.to_owned(), count, fields: owned(fields) }
            }
        }
    }
}

/// Values of one record; `None` for a field that it lacks.
pub(crate) type Row = Vec<Option<String>>;

/// What an operation gave.
#[derive(Clone, Default, Debug)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) rows: Vec<Row>,
}

/// `None` is a record that can't be read.
#[derive(Default)]
pub(crate) struct Store {
    records: BTreeMap<String, Option<Vec<(String, String)>>>,
    notes: BTreeMap<(String, String), String>,
    /// A fault: what is dropped stays.
    pub(crate) drops_nothing: bool,
}

/// The wanted fields of a record, unless it has none of them.
fn chosen(record: &[(String, String)], fields: &Option<Vec<String>>) -> Option<Row> {
    let value =
        |name: &String| record.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
    let row: Row = match fields {
        None => record.iter().map(|(_, value)| Some(value.clone())).collect(),
        Some(names) => names.iter().map(value).collect(),
    };
    row.iter().any(Option::is_some).then_some(row)
}

impl Store {
    pub(crate) fn spoil(&mut self, key: &str) {
        self.records.insert(key.to_owned(), None);
    }

    /// Gives the answer, or the words of an error.
    pub(crate) fn carry_out(&mut self, operation: &Operation) -> Result<Answer, String> {
        let spoilt = || "the record is spoilt".to_owned();
        let rows = match operation {
            Operation::Nothing => vec![],
            Operation::Read { key, fields } => {
                let Some(record) = self.records.get(key) else { return Ok(Answer::default()) };
                chosen(record.as_ref().ok_or_else(spoilt)?, fields).into_iter().collect()
            }
            Operation::Write { key, fields, replaces } => {
                let record = self.records.entry(key.clone()).or_insert_with(|| Some(vec![]));
                let record = record.as_mut().ok_or_else(spoilt)?;
                if *replaces {
                    record.clear();
                }
                for (name, value) in fields {
                    record.retain(|(other, _)| other != name);
                    record.push((name.clone(), value.clone()));
                }
                return Ok(changed(1));
            }
            Operation::Delete(key) => return Ok(changed(u64::from(self.records.remove(key).is_some()))),
            Operation::Scan { key, count, fields } => {
                let records = self.records.range(key.clone()..).take(*count as usize);
                records.filter_map(|(_, record)| chosen(record.as_ref()?, fields)).collect()
            }
        };
        Ok(Answer { reply: Reply { rows: rows.len() as u64, affected: 0 }, rows })
    }
}

fn changed(affected: u64) -> Answer {
    Answer { reply: Reply { rows: 0, affected }, rows: vec![] }
}

/// What all sessions have in common.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Store>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One table.
impl Records for Shared {
    fn count(&mut self, _table: &str) -> Result<u64, ConnectError> {
        Ok(self.lock().records.len() as u64)
    }

    fn keys(&mut self, _table: &str, each: &mut dyn FnMut(&str)) -> Result<(), ConnectError> {
        self.lock().records.keys().for_each(|key| each(key));
        Ok(())
    }

    fn read(&mut self, _table: &str, keys: &[&str], each: &mut EachRecord<'_>) -> Result<(), ConnectError> {
        for (at, key) in keys.iter().enumerate() {
            each(at, self.lock().records.get(*key).and_then(Option::as_deref).unwrap_or_default());
        }
        Ok(())
    }

    fn remove(&mut self, _table: &str, keys: &[&str]) -> Result<(), ConnectError> {
        self.lock().records.retain(|key, _| !keys.contains(&key.as_str()));
        Ok(())
    }

    fn drop_table(&mut self, _table: &str) -> Result<(), ConnectError> {
        let mut store = self.lock();
        if !store.drops_nothing {
            store.records.clear();
        }
        Ok(())
    }

    fn notes(&mut self, topic: &str) -> Result<Vec<(String, String)>, ConnectError> {
        let store = self.lock();
        let of_topic = store.notes.iter().filter(|((found, _), _)| found == topic);
        Ok(of_topic.map(|((_, name), text)| (name.clone(), text.clone())).collect())
    }

    fn note(&mut self, topic: &str, name: &str, text: &str) -> Result<(), ConnectError> {
        self.lock().notes.insert((topic.to_owned(), name.to_owned()), text.to_owned());
        Ok(())
    }

    fn forget(&mut self, topic: &str, name: &str) -> Result<(), ConnectError> {
        self.lock().notes.remove(&(topic.to_owned(), name.to_owned()));
        Ok(())
    }
}
