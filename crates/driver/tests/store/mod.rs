//! Records in memory.

use driver::{KeyValue, Reply};
use std::collections::BTreeMap;

/// A key-value operation that owns its words.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Nothing,
    Read { key: String, field: Option<String> },
    Write { key: String, fields: Vec<(String, String)>, replaces: bool },
    Delete(String),
    Scan { key: String, count: u32 },
}

impl From<KeyValue<'_>> for Operation {
    fn from(operation: KeyValue<'_>) -> Operation {
        match operation {
            KeyValue::Read { key, field } => {
                Operation::Read { key: key.to_owned(), field: field.map(str::to_owned) }
            }
            KeyValue::Update { key, fields } | KeyValue::Insert { key, fields } => {
                let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
                Operation::Write {
                    key: key.to_owned(),
                    fields: fields.iter().map(owned).collect(),
                    replaces: false,
                }
            }
            KeyValue::Delete { key } => Operation::Delete(key.to_owned()),
            KeyValue::Scan { key, count } => Operation::Scan { key: key.to_owned(), count },
        }
    }
}

/// What an operation gave.
#[derive(Clone, Default, Debug)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) rows: Vec<Vec<String>>,
}

/// `None` is a record that can't be read.
#[derive(Default)]
pub(crate) struct Store(BTreeMap<String, Option<Vec<(String, String)>>>);

impl Store {
    pub(crate) fn spoil(&mut self, key: &str) {
        self.0.insert(key.to_owned(), None);
    }

    /// Gives the answer, or the words of an error.
    pub(crate) fn carry_out(&mut self, operation: &Operation) -> Result<Answer, String> {
        let spoilt = || "the record is spoilt".to_owned();
        let rows = match operation {
            Operation::Nothing => vec![],
            Operation::Read { key, field } => {
                let Some(record) = self.0.get(key) else { return Ok(Answer::default()) };
                let fields = record.as_ref().ok_or_else(spoilt)?;
                let wanted = |name: &String| field.as_ref().is_none_or(|field| field == name);
                let values = fields.iter().filter(|(name, _)| wanted(name)).map(|(_, value)| value.clone());
                let values: Vec<String> = values.collect();
                if values.is_empty() { vec![] } else { vec![values] }
            }
            Operation::Write { key, fields, replaces } => {
                let record = self.0.entry(key.clone()).or_insert_with(|| Some(vec![]));
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
            Operation::Delete(key) => return Ok(changed(u64::from(self.0.remove(key).is_some()))),
            Operation::Scan { key, count } => {
                let records = self.0.range(key.clone()..).take(*count as usize);
                let values = |fields: &Vec<(String, String)>| fields.iter().map(|(_, v)| v.clone()).collect();
                records.filter_map(|(_, record)| record.as_ref().map(values)).collect()
            }
        };
        Ok(Answer { reply: Reply { rows: rows.len() as u64, affected: 0 }, rows })
    }
}

fn changed(affected: u64) -> Answer {
    Answer { reply: Reply { rows: 0, affected }, rows: vec![] }
}
