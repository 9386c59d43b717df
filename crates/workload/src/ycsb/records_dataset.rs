//! The data set as records: filling is [`super::dataset`]'s, here is what SQL does there.

use super::Ycsb;
use super::config::{Family, YcsbConfig};
use super::dataset::field_lengths;
use super::keys::KeyText;
use crate::dataset::CheckResult;
use driver::{ConnectError, Records};

/// Records that are asked for together.
const TOGETHER: usize = 1_000;

/// The text key of a record.
pub(super) fn key(config: &YcsbConfig, number: u64) -> KeyText {
    match config.family {
        Family::Mix => KeyText::of_mix(number),
        Family::Core => KeyText::of(config, number),
    }
}

/// Takes the number of the first record and the keys.
type EachBatch<'a> = dyn FnMut(u64, &[&str]) -> Result<(), ConnectError> + 'a;

/// Carries something out for the keys of the records `from..to`, so many at a time.
fn each_batch(
    config: &YcsbConfig,
    (from, to): (u64, u64),
    with: &mut EachBatch<'_>,
) -> Result<(), ConnectError> {
    for first in (from..to).step_by(TOGETHER) {
        let last = (first + TOGETHER as u64).min(to);
        let texts: Vec<KeyText> = (first..last).map(|number| key(config, number)).collect();
        let keys: Vec<&str> = texts.iter().map(KeyText::as_str).collect();
        with(first, &keys)?;
    }
    Ok(())
}

/// Takes away the records `from..to`.
pub(super) fn empty(
    config: &YcsbConfig,
    records: &mut dyn Records,
    from: u64,
    to: u64,
) -> Result<(), ConnectError> {
    each_batch(config, (from, to), &mut |_, keys| records.remove(config.table, keys))
}

/// Those of the record numbers in `from..to` that are there, in their order.
pub(super) fn numbers_present(
    config: &YcsbConfig,
    records: &mut dyn Records,
    from: u64,
    to: u64,
) -> Result<Vec<u64>, ConnectError> {
    let mut found = Vec::new();
    each_batch(config, (from, to), &mut |first, keys| {
        records.read(config.table, keys, &mut |at, fields| {
            if !fields.is_empty() {
                found.push(first + at as u64);
            }
        })
    })?;
    Ok(found)
}

/// The numbers of the mix's records from `from` on that are there, in their order.
pub(super) fn numbers_from(
    config: &YcsbConfig,
    records: &mut dyn Records,
    from: u64,
) -> Result<Vec<u64>, ConnectError> {
    let mut numbers = Vec::new();
    records.keys(config.table, &mut |key| {
        numbers.extend(KeyText::number_of(key).filter(|number| *number >= from));
    })?;
    numbers.sort_unstable();
    Ok(numbers)
}

impl Ycsb {
    /// As the checks in SQL: all rows, the loaded keys, the fields.
    pub(super) fn check_records(&self, records: &mut dyn Records) -> Result<Vec<CheckResult>, ConnectError> {
        let count = records.count(self.config.table)?;
        let (mut originals, mut wrong) = (0, 0);
        let mut look = |fields: &[(String, String)], is_original: bool| {
            originals += u64::from(is_original && !fields.is_empty());
            wrong += u64::from(!fields.is_empty() && !self.is_sound(fields));
        };
        let loaded = (0, self.config.records);
        each_batch(&self.config, loaded, &mut |_, keys| {
            records.read(self.config.table, keys, &mut |_, fields| look(fields, true))
        })?;
        // What runs have inserted.
        let mut known = std::collections::HashSet::new();
        each_batch(&self.config, loaded, &mut |_, keys| {
            known.extend(keys.iter().map(|key| (*key).to_owned()));
            Ok(())
        })?;
        let mut inserted = Vec::new();
        records.keys(self.config.table, &mut |key| {
            if !known.contains(key) {
                inserted.push(key.to_owned());
            }
        })?;
        for keys in inserted.chunks(TOGETHER) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            // A key of the index without its record is as wrong as a record without its fields.
            records.read(self.config.table, &keys, &mut |_, fields| {
                wrong += u64::from(!self.is_sound(fields));
            })?;
        }
        Ok(vec![self.judge_count(count), self.judge_originals(originals), self.judge_fields(wrong)])
    }

    fn is_sound(&self, fields: &[(String, String)]) -> bool {
        let (least, most) = field_lengths(&self.config);
        let fits = |name: &&'static str| {
            let value =
                fields.iter().find(|(found, _)| found == *name).map(|(_, value)| value.chars().count());
            value.is_some_and(|length| (least as usize..=most as usize).contains(&length))
        };
        self.fields.len() == fields.len() && self.fields.iter().all(fits)
    }
}
