//! What is asked, encoded: the commands that YCSB's MongoDB binding makes its driver send.

use crate::bson::{array, binary, boolean, embedded, int, text};
use crate::config::Durability;
use crate::message::command;
use driver::{Fields, KeyValue};

/// The cheapest round trip.
#[inline]
pub(crate) fn ping(out: &mut Vec<u8>, id: u32) {
    command(out, id, "admin", |out| int(out, "ping", 1));
}

/// A key-value operation on a database.
#[inline]
pub(crate) fn key_value(
    out: &mut Vec<u8>,
    id: u32,
    database: &str,
    durability: &Durability,
    operation: KeyValue<'_>,
) {
    command(out, id, database, |out| match operation {
        KeyValue::Read { table, key, fields } => {
            text(out, "find", table);
            embedded(out, "filter", |out| text(out, "_id", key));
            projection(out, fields);
            int(out, "limit", 1);
            boolean(out, "singleBatch", true);
        }
        KeyValue::Scan { table, key, count, fields } => {
            text(out, "find", table);
            embedded(out, "filter", |out| embedded(out, "_id", |out| text(out, "$gte", key)));
            embedded(out, "sort", |out| int(out, "_id", 1));
            projection(out, fields);
            let count = i32::try_from(count).unwrap_or(i32::MAX);
            int(out, "limit", count);
            // All of it at once: otherwise the first answer ends after 101 records.
            int(out, "batchSize", count);
            boolean(out, "singleBatch", true);
        }
        KeyValue::Insert { table, key, fields } => {
            text(out, "insert", table);
            array(out, "documents", |out| {
                embedded(out, "0", |out| {
                    text(out, "_id", key);
                    values(out, fields);
                });
            });
            acknowledged(out, durability);
        }
        KeyValue::Update { table, key, fields } => {
            text(out, "update", table);
            array(out, "updates", |out| {
                embedded(out, "0", |out| {
                    embedded(out, "q", |out| text(out, "_id", key));
                    embedded(out, "u", |out| embedded(out, "$set", |out| values(out, fields)));
                });
            });
            acknowledged(out, durability);
        }
        KeyValue::Delete { table, key } => {
            text(out, "delete", table);
            array(out, "deletes", |out| {
                embedded(out, "0", |out| {
                    embedded(out, "q", |out| text(out, "_id", key));
                    int(out, "limit", 1);
                });
            });
            acknowledged(out, durability);
        }
    });
}

/// Values are bytes, as the binding writes them.
#[inline]
fn values(out: &mut Vec<u8>, fields: &[(&str, &str)]) {
    for (name, value) in fields {
        binary(out, name, value.as_bytes());
    }
}

#[inline]
fn projection(out: &mut Vec<u8>, fields: Fields<'_>) {
    let one;
    let names = match fields {
        Fields::All => return,
        Fields::One(name) => {
            one = [name];
            &one[..]
        }
        Fields::Named(names) => names,
    };
    embedded(out, "projection", |out| names.iter().for_each(|name| int(out, name, 1)));
}

/// What a write waits for, where that was said.
#[inline]
fn acknowledged(out: &mut Vec<u8>, durability: &Durability) {
    if durability.is_the_servers() {
        return;
    }
    embedded(out, "writeConcern", |out| {
        match &durability.nodes {
            Some(crate::config::Nodes::Number(number)) => int(out, "w", *number),
            Some(crate::config::Nodes::Named(name)) => text(out, "w", name),
            None => {}
        }
        if let Some(journal) = durability.journal {
            boolean(out, "j", journal);
        }
    });
}

/// Whether a name or a table can be sent: BSON ends names with a NUL, and has no other sign for it.
#[inline]
pub(crate) fn can_be_sent(operation: &KeyValue<'_>) -> bool {
    let plain = |name: &str| !name.as_bytes().contains(&0);
    match operation {
        KeyValue::Read { fields, .. } | KeyValue::Scan { fields, .. } => match fields {
            Fields::All => true,
            Fields::One(name) => plain(name),
            Fields::Named(names) => names.iter().all(|name| plain(name)),
        },
        KeyValue::Insert { fields, .. } | KeyValue::Update { fields, .. } => {
            fields.iter().all(|(name, _)| plain(name))
        }
        KeyValue::Delete { .. } => true,
    }
}
