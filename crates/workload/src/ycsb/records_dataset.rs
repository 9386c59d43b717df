//! The data set as records: filling is [`super::dataset`]'s, here is what SQL does there.

use super::Ycsb;
use super::config::{Family, YcsbConfig};
use super::dataset::field_lengths;
use super::keys::KeyText;
use crate::dataset::{CheckResult, DataSet, Status};
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
    if !records.lists() {
        return numbers_there(config, records, from);
    }
    let mut numbers = Vec::new();
    records.keys(config.table, &mut |key| {
        numbers.extend(KeyText::number_of(key).filter(|number| *number >= from));
    })?;
    numbers.sort_unstable();
    Ok(numbers)
}

/// The same by asking for each, until as many in a row as are asked for together are not there.
fn numbers_there(
    config: &YcsbConfig,
    records: &mut dyn Records,
    from: u64,
) -> Result<Vec<u64>, ConnectError> {
    let (mut numbers, mut next) = (Vec::new(), from);
    if is_indifferent(config, records)? {
        return Ok(numbers);
    }
    loop {
        let before = numbers.len();
        let last = next + TOGETHER as u64;
        each_batch(config, (next, last), &mut |first, keys| {
            records.read(config.table, keys, &mut |at, fields| {
                if !fields.is_empty() {
                    numbers.push(first + at as u64);
                }
            })
        })?;
        if numbers.len() == before {
            return Ok(numbers);
        }
        next = last;
    }
}

/// Whether a store says of any record that it is there, as those do that only pretend to be one.
pub(super) fn is_indifferent(config: &YcsbConfig, records: &mut dyn Records) -> Result<bool, ConnectError> {
    let mut is_there = false;
    records
        .read(config.table, &["no record has this key"], &mut |_, fields| is_there = !fields.is_empty())?;
    Ok(is_there)
}

/// Takes away what runs have inserted, in a store that can't tell its keys.
pub(super) fn empty_inserted(config: &YcsbConfig, records: &mut dyn Records) -> Result<(), ConnectError> {
    for number in numbers_there(config, records, config.records)? {
        records.remove(config.table, &[key(config, number).as_str()])?;
    }
    Ok(())
}

/// Of a data set, so many records are looked at to tell whether it is there.
const PROBED: u64 = 64;

impl Ycsb {
    /// By the first record, the last and some between them.
    pub(super) fn probe_records(&self, records: &mut dyn Records) -> Result<Status, ConnectError> {
        let last = u128::from(self.config.records.saturating_sub(1));
        let asked = PROBED.min(self.config.records);
        let (mut there, mut sound) = (0, 0);
        for nth in 0..asked {
            let number = (last * u128::from(nth) / u128::from(asked.max(2) - 1)) as u64;
            records.read(self.config.table, &[key(&self.config, number).as_str()], &mut |_, fields| {
                there += u64::from(!fields.is_empty());
                sound += u64::from(self.may_be_sound(fields));
            })?;
        }
        Ok(match (there, sound) {
            (0, _) => Status::Missing,
            (there, sound) if there > sound => Status::Foreign { table: self.config.table.to_owned() },
            (there, _) if there < asked => Status::Incomplete,
            _ => Status::Matching { found: self.marker() },
        })
    }

    /// As the checks in SQL: all rows, the loaded keys, the fields.
    pub(super) fn check_records(&self, records: &mut dyn Records) -> Result<Vec<CheckResult>, ConnectError> {
        let lists = records.lists();
        let count = if lists { records.count(self.config.table)? } else { 0 };
        let (mut originals, mut wrong) = (0, 0);
        let mut look = |fields: &[(String, String)], is_original: bool| {
            originals += u64::from(is_original && !fields.is_empty());
            let is_sound = if lists { self.is_sound(fields) } else { self.may_be_sound(fields) };
            wrong += u64::from(!fields.is_empty() && !is_sound);
        };
        let loaded = (0, self.config.records);
        each_batch(&self.config, loaded, &mut |_, keys| {
            records.read(self.config.table, keys, &mut |_, fields| look(fields, true))
        })?;
        if !lists {
            return Ok(vec![self.judge_originals(originals), self.judge_fields(wrong)]);
        }
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

    /// The same where names are unknown, and fields may not be shown.
    fn may_be_sound(&self, fields: &[(String, String)]) -> bool {
        let (least, most) = field_lengths(&self.config);
        let fits = |value: &String| (least as usize..=most as usize).contains(&value.chars().count());
        match fields {
            [(name, value)] if name.is_empty() && value.is_empty() => true,
            _ => self.fields.len() == fields.len() && fields.iter().all(|(_, value)| fits(value)),
        }
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
