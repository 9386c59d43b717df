//! Set-up of records: filling, listing, removing.

use crate::administration::{MongoAdministration, any_of};
use crate::bson::{Document, Item, array, binary, boolean, document, embedded, int, long, text};
use crate::client::Refusal;
use driver::{BulkRows, ConnectError, EachRecord, Records, Value};
use std::collections::HashMap;

/// Records that are written together; a message may have 100,000 of them and 48 MB.
const BATCH: usize = 1_000;
const BATCH_BYTES: usize = 8 << 20;
/// Keys that are asked for or removed together.
const BATCH_KEYS: usize = 1_000;

/// The collection of what truetail notes of its own data sets.
const NOTES: &str = "truetail_notes";

/// What servers say of a key that is there already, and of a collection that is not.
const DUPLICATE_KEY: i64 = 11_000;
const NO_COLLECTION: i64 = 26;

/// Documents that wait to be written: key, and the whole as bytes.
type Batch = Vec<(String, Vec<u8>)>;

fn record(key: &str, names: &[&str], values: &[Value<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    document(&mut out, |out| {
        text(out, "_id", key);
        for (name, value) in names.iter().zip(values) {
            if let Value::Text(value) = value {
                binary(out, name, value.as_bytes());
            }
        }
    });
    out
}

/// Appends a document that is there as bytes.
fn as_it_is(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    let elements = bytes.get(4..bytes.len().saturating_sub(1)).unwrap_or_default();
    embedded(out, name, |out| out.extend_from_slice(elements));
}

impl MongoAdministration {
    /// Inserts rows whose first value is the key, in place of what has the same key.
    pub(crate) fn insert_all(
        &mut self,
        table: &str,
        columns: &[&str],
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        let names = columns.get(1..).unwrap_or_default();
        let (mut batch, mut bytes, mut count, mut more) = (Batch::new(), 0, 0, true);
        while more {
            more = rows(&mut |values| {
                let Some((Value::Text(key), values)) = values.split_first() else { return };
                let record = record(key, names, values);
                bytes += record.len();
                count += 1;
                batch.push(((*key).to_owned(), record));
            });
            if batch.len() >= BATCH || bytes >= BATCH_BYTES || !more {
                self.write(table, &batch)?;
                batch.clear();
                bytes = 0;
            }
        }
        Ok(count)
    }

    fn write(&mut self, table: &str, batch: &Batch) -> Result<(), ConnectError> {
        if batch.is_empty() {
            return Ok(());
        }
        let answer = self.client.ask(&self.config.database, &|out| {
            text(out, "insert", table);
            array(out, "documents", |out| {
                batch.iter().enumerate().for_each(|(at, (_, record))| as_it_is(out, &at.to_string(), record));
            });
            boolean(out, "ordered", false);
        })?;
        let errors = answer.write_errors();
        match errors.iter().find(|refusal| refusal.code != DUPLICATE_KEY) {
            Some(refusal) => Err(self.client.refused(refusal)),
            None if errors.is_empty() => Ok(()),
            // Some are there: of all of them what is there is replaced.
            None => self.replace(table, batch),
        }
    }

    fn replace(&mut self, table: &str, batch: &Batch) -> Result<(), ConnectError> {
        let answer = self.client.ask(&self.config.database, &|out| {
            text(out, "update", table);
            array(out, "updates", |out| {
                for (at, (key, record)) in batch.iter().enumerate() {
                    embedded(out, &at.to_string(), |out| {
                        embedded(out, "q", |out| text(out, "_id", key));
                        as_it_is(out, "u", record);
                        boolean(out, "upsert", true);
                    });
                }
            });
        })?;
        self.written(&answer.write_errors())
    }

    fn written(&self, errors: &[Refusal]) -> Result<(), ConnectError> {
        errors.first().map_or(Ok(()), |refusal| Err(self.client.refused(refusal)))
    }

    /// Gives each document that a `find` has, batch by batch.
    fn find_all(
        &mut self,
        table: &str,
        find: &dyn Fn(&mut Vec<u8>),
        each: &mut dyn FnMut(Document<'_>),
    ) -> Result<(), ConnectError> {
        let mut answer = self.client.ask(&self.config.database, find)?;
        loop {
            let cursor = answer.find("cursor").and_then(Item::inside).unwrap_or(Document::EMPTY);
            let find = |name| cursor.find(name).ok().flatten();
            let batch = find("firstBatch").or_else(|| find("nextBatch")).and_then(Item::inside);
            let mut batch = batch.unwrap_or(Document::EMPTY);
            while let Ok(Some((_, item))) = batch.next() {
                item.inside().into_iter().for_each(&mut *each);
            }
            let id = find("id").and_then(Item::whole).unwrap_or(0);
            if id == 0 {
                return Ok(());
            }
            answer = self.client.ask(&self.config.database, &|out| {
                long(out, "getMore", id);
                text(out, "collection", table);
                int(out, "batchSize", BATCH_KEYS as i32);
            })?;
        }
    }

    fn delete(&mut self, table: &str, filter: &dyn Fn(&mut Vec<u8>)) -> Result<(), ConnectError> {
        let answer = self.client.ask(&self.config.database, &|out| {
            text(out, "delete", table);
            array(out, "deletes", |out| {
                embedded(out, "0", |out| {
                    embedded(out, "q", filter);
                    int(out, "limit", 0);
                });
            });
        })?;
        self.written(&answer.write_errors())
    }
}

/// A text field of a document.
fn field(document: Document<'_>, name: &str) -> Option<String> {
    document.find(name).ok().flatten().and_then(Item::shown)
}

fn note_key(topic: &str, name: &str) -> String {
    format!("{topic}\n{name}")
}

impl Records for MongoAdministration {
    fn count(&mut self, table: &str) -> Result<u64, ConnectError> {
        let answer = self.client.ask(&self.config.database, &|out| text(out, "count", table))?;
        let count = answer.find("n").and_then(Item::whole).unwrap_or(0);
        Ok(count.max(0).unsigned_abs())
    }

    fn keys(&mut self, table: &str, each: &mut dyn FnMut(&str)) -> Result<(), ConnectError> {
        let find = |out: &mut Vec<u8>| {
            text(out, "find", table);
            embedded(out, "projection", |out| int(out, "_id", 1));
            int(out, "batchSize", BATCH_KEYS as i32);
        };
        self.find_all(table, &find, &mut |document| {
            if let Some(key) = field(document, "_id") {
                each(&key);
            }
        })
    }

    fn read(&mut self, table: &str, keys: &[&str], each: &mut EachRecord<'_>) -> Result<(), ConnectError> {
        for (batch, keys) in keys.chunks(BATCH_KEYS).enumerate() {
            let mut found: HashMap<String, Vec<(String, String)>> = HashMap::new();
            let find = |out: &mut Vec<u8>| {
                text(out, "find", table);
                embedded(out, "filter", |out| any_of(out, keys));
                int(out, "batchSize", BATCH_KEYS as i32);
            };
            self.find_all(table, &find, &mut |document| {
                if let Some(key) = field(document, "_id") {
                    found.insert(key, fields(document));
                }
            })?;
            for (at, key) in keys.iter().enumerate() {
                each(batch * BATCH_KEYS + at, found.get(*key).map_or(&[], Vec::as_slice));
            }
        }
        Ok(())
    }

    fn remove(&mut self, table: &str, keys: &[&str]) -> Result<(), ConnectError> {
        keys.chunks(BATCH_KEYS).try_for_each(|keys| self.delete(table, &|out| any_of(out, keys)))
    }

    fn drop_table(&mut self, table: &str) -> Result<(), ConnectError> {
        match self.client.try_ask(&self.config.database, &|out| text(out, "drop", table))? {
            Err(refusal) if refusal.code != NO_COLLECTION => Err(self.client.refused(&refusal)),
            _ => Ok(()),
        }
    }

    fn notes(&mut self, topic: &str) -> Result<Vec<(String, String)>, ConnectError> {
        let mut notes = Vec::new();
        let find = |out: &mut Vec<u8>| {
            text(out, "find", NOTES);
            embedded(out, "filter", |out| text(out, "topic", topic));
        };
        self.find_all(NOTES, &find, &mut |document| {
            notes.extend(field(document, "name").zip(field(document, "text")));
        })?;
        Ok(notes)
    }

    fn note(&mut self, topic: &str, name: &str, words: &str) -> Result<(), ConnectError> {
        let key = note_key(topic, name);
        let answer = self.client.ask(&self.config.database, &|out| {
            text(out, "update", NOTES);
            array(out, "updates", |out| {
                embedded(out, "0", |out| {
                    embedded(out, "q", |out| text(out, "_id", &key));
                    embedded(out, "u", |out| {
                        let note = [("_id", key.as_str()), ("topic", topic), ("name", name), ("text", words)];
                        note.iter().for_each(|(name, value)| text(out, name, value));
                    });
                    boolean(out, "upsert", true);
                });
            });
        })?;
        self.written(&answer.write_errors())
    }

    fn forget(&mut self, topic: &str, name: &str) -> Result<(), ConnectError> {
        let key = note_key(topic, name);
        self.delete(NOTES, &|out| text(out, "_id", &key))?;
        // The last one takes the collection along: nothing of truetail's stays.
        if self.count(NOTES)? == 0 { self.drop_table(NOTES) } else { Ok(()) }
    }
}

/// Names and values, as far as they are text.
fn fields(mut document: Document<'_>) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut fields = Vec::new();
    while let Ok(Some((name, item))) = document.next() {
        if name != b"_id"
            && let Some(bytes) = item.bytes()
        {
            fields.push((text(name), text(bytes)));
        }
    }
    fields
}
