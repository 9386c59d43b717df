//! Set-up of records: filling, listing, removing.

use crate::administration::RedisAdministration;
use crate::client::Answer;
use crate::codec;
use crate::session::{INDEX, score};
use driver::{BulkRows, ConnectError, EachRecord, Records, Value};

/// Bytes that are sent before their answers are waited for.
const BATCH_BYTES: usize = 1 << 18;
/// Keys that are asked for or removed together.
const BATCH_KEYS: usize = 1_000;

impl RedisAdministration {
    /// Whether any record is in the index.
    pub(crate) fn has_index(&mut self) -> Result<bool, ConnectError> {
        Ok(self.client.asked(&["EXISTS", INDEX])? == Answer::Integer(1))
    }

    /// Inserts rows whose first value is the key.
    pub(crate) fn insert_all(
        &mut self,
        columns: &[&str],
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        let (mut out, mut answers, mut count) = (Vec::new(), 0, 0);
        let mut more = true;
        while more {
            more = rows(&mut |values| {
                let Some((Value::Text(key), values)) = values.split_first() else { return };
                insert(&mut out, key, columns.get(1..).unwrap_or_default(), values);
                answers += 2;
                count += 1;
            });
            if out.len() >= BATCH_BYTES || !more {
                self.client.batch(&out, answers, &mut |_, _| ())?;
                out.clear();
                answers = 0;
            }
        }
        Ok(count)
    }
}

fn insert(out: &mut Vec<u8>, key: &str, names: &[&str], values: &[Value<'_>]) {
    let fields = names.iter().zip(values).filter_map(|(name, value)| match value {
        Value::Text(text) => Some((*name, *text)),
        _ => None,
    });
    // Of a row that is there fields of another kind would stay; what is loaded is new.
    codec::command(out, 2 + 2 * fields.clone().count());
    codec::part(out, b"HSET");
    codec::part(out, key.as_bytes());
    for (name, text) in fields {
        codec::part(out, name.as_bytes());
        codec::part(out, text.as_bytes());
    }
    codec::command(out, 4);
    codec::part(out, b"ZADD");
    codec::part(out, INDEX.as_bytes());
    codec::number(out, score(key).into());
    codec::part(out, key.as_bytes());
}

/// The hash that holds the notes of a topic.
fn notes_of(topic: &str) -> String {
    format!("truetail:{topic}")
}

/// Names and values that take turns.
fn pairs(answer: Answer) -> Vec<(String, String)> {
    let Answer::Items(items) = answer else { return Vec::new() };
    let mut texts = items.into_iter().filter_map(|item| match item {
        Answer::Text(text) => Some(text),
        _ => None,
    });
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
        pairs.push((name, value));
    }
    pairs
}

impl Records for RedisAdministration {
    fn count(&mut self, _table: &str) -> Result<u64, ConnectError> {
        match self.client.asked(&["ZCARD", INDEX])? {
            Answer::Integer(count) => Ok(count.max(0).unsigned_abs()),
            _ => Ok(0),
        }
    }

    fn keys(&mut self, _table: &str, each: &mut dyn FnMut(&str)) -> Result<(), ConnectError> {
        for from in (0_u64..).step_by(BATCH_KEYS) {
            let to = from + BATCH_KEYS as u64 - 1;
            let Answer::Items(keys) =
                self.client.asked(&["ZRANGE", INDEX, &from.to_string(), &to.to_string()])?
            else {
                break;
            };
            for key in &keys {
                if let Answer::Text(key) = key {
                    each(key);
                }
            }
            if keys.len() < BATCH_KEYS {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self, _table: &str, keys: &[&str], each: &mut EachRecord<'_>) -> Result<(), ConnectError> {
        for (batch, keys) in keys.chunks(BATCH_KEYS).enumerate() {
            let mut out = Vec::new();
            for key in keys {
                codec::command(&mut out, 2);
                codec::part(&mut out, b"HGETALL");
                codec::part(&mut out, key.as_bytes());
            }
            self.client.batch(&out, keys.len(), &mut |at, answer| {
                each(batch * BATCH_KEYS + at, &pairs(answer));
            })?;
        }
        Ok(())
    }

    fn remove(&mut self, _table: &str, keys: &[&str]) -> Result<(), ConnectError> {
        for keys in keys.chunks(BATCH_KEYS) {
            self.client.asked(&[&["DEL"], keys].concat())?;
            self.client.asked(&[&["ZREM", INDEX], keys].concat())?;
        }
        Ok(())
    }

    fn drop_table(&mut self, table: &str) -> Result<(), ConnectError> {
        let most = (BATCH_KEYS - 1).to_string();
        while let Answer::Items(items) = self.client.asked(&["ZRANGE", INDEX, "0", &most])? {
            let keys: Vec<&str> = items
                .iter()
                .filter_map(|item| match item {
                    Answer::Text(key) => Some(key.as_str()),
                    _ => None,
                })
                .collect();
            if keys.is_empty() {
                break;
            }
            self.remove(table, &keys)?;
        }
        Ok(())
    }

    fn notes(&mut self, topic: &str) -> Result<Vec<(String, String)>, ConnectError> {
        Ok(pairs(self.client.asked(&["HGETALL", &notes_of(topic)])?))
    }

    fn note(&mut self, topic: &str, name: &str, text: &str) -> Result<(), ConnectError> {
        self.client.asked(&["HSET", &notes_of(topic), name, text]).map(drop)
    }

    fn forget(&mut self, topic: &str, name: &str) -> Result<(), ConnectError> {
        self.client.asked(&["HDEL", &notes_of(topic), name]).map(drop)
    }
}
