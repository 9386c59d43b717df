//! `dataintegrity`: values that follow from key and field, so that every read can be verified.

use super::Ycsb;
use super::config::YcsbConfig;
use super::keys::KeyText;
use super::plan::Plan;
use super::pool::Span;
use driver::{Conversation, Value};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads so far; added to by all sessions.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    right: AtomicU64,
    wrong: AtomicU64,
}

impl Verified {
    /// Reads that gave what had been written, and others.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // Relaxed: read when the sessions have ended.
        (self.right.load(Ordering::Relaxed), self.wrong.load(Ordering::Relaxed))
    }
}

/// Bytes that the values of a record take while they are made.
pub(crate) fn room(config: &YcsbConfig) -> usize {
    let names = KeyText::LONGEST + config.field_prefix.len() + 32;
    config.fields * config.field_length.most as usize + names
}

/// The value of a field, as YCSB makes it: key, field, and hashes of what there is so far until it is long enough.
fn append(text: &mut String, key: &str, prefix: &str, field: usize, length: usize) {
    let begin = text.len();
    let mut hashed = begin;
    let mut hash = 0_i32;
    // Writing to a string can't fail.
    let _ = write!(text, "{key}:{prefix}{field}");
    while text.len() - begin < length {
        text.push(':');
        // Java's `String.hashCode` of all that is there; keys and names are ASCII.
        for byte in text[hashed..].bytes() {
            hash = hash.wrapping_mul(31).wrapping_add(byte.into());
        }
        hashed = text.len();
        let _ = write!(text, "{hash}");
    }
    text.truncate(begin + length);
}

/// Makes all values of the plan's record, and has those that it writes point at them.
pub(crate) fn fill(config: &YcsbConfig, plan: &mut Plan) {
    values(config, plan.key_text.as_str(), &mut plan.text);
    let length = config.field_length.most;
    for (at, value) in plan.values.iter_mut().enumerate() {
        *value = Span { offset: (plan.write_field + at) as u32 * length, length };
    }
}

/// The values of all fields of a record, one after the other.
pub(crate) fn values(config: &YcsbConfig, key: &str, text: &mut String) {
    text.clear();
    for field in 0..config.fields {
        append(text, key, &config.field_prefix, field, config.field_length.most as usize);
    }
}

/// The value of one field within [`values`].
pub(crate) fn value_of<'a>(config: &YcsbConfig, text: &'a str, field: usize) -> &'a str {
    let length = config.field_length.most as usize;
    text.get(field * length..(field + 1) * length).unwrap_or_default()
}

/// Verifies the record that the command at index 0 has read; `first` is the column of its first field.
pub(crate) fn verify<C: Conversation>(ycsb: &Ycsb, plan: &Plan, conversation: &C, first: usize) {
    let fields = if ycsb.config.read_all_fields {
        0..ycsb.config.fields
    } else {
        plan.read_field..plan.read_field + 1
    };
    let is_right = fields.enumerate().all(|(column, field)| {
        let expected = value_of(&ycsb.config, &plan.text, field);
        conversation.value(0, 0, first + column) == Some(Value::Text(expected))
    });
    let count = if is_right { &ycsb.verified.right } else { &ycsb.verified.wrong };
    count.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What YCSB's own code gives; `bindings/ycsb` has the program that wrote it.
    const GOLDEN: &str = include_str!("../../tests/golden/ycsb.txt");

    #[test]
    fn values_are_ycsb_s() {
        let rows: Vec<Vec<&str>> = GOLDEN.lines().map(|line| line.split('\t').collect()).collect();
        let mut seen = 0;
        for row in rows.iter().filter(|row| row[0] == "value") {
            let [key, field, length, value] = row[1..] else { panic!("{row:?}") };
            let mut text = "before".to_owned();
            append(&mut text, key, "field", field.parse().unwrap(), length.parse().unwrap());
            assert_eq!(text, format!("before{value}"));
            seen += 1;
        }
        assert_eq!(seen, 10);
    }
}
