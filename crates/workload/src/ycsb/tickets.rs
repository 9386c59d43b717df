//! What depends on all earlier requests: keys to insert and keys to delete.

use super::config::{Family, YcsbConfig};
use super::keys::KeyText;
use super::{Kind, records_dataset};
use crate::{OpId, Tickets};
use driver::{Administration, ConnectError};
use std::collections::HashSet;
use std::sync::Arc;

/// Ticket of a delete that takes a drawn key, since too few inserted ones are certain to be in the table.
pub(crate) const DRAWN: u64 = u64::MAX;

/// Most keys of earlier runs that are taken over for deletion; beyond, they just stay.
const LEFTOVERS_MOST: usize = 100_000;

/// Numbers that are looked up together when searching for the end of what earlier runs inserted; also the longest gap
/// (of inserts that failed) that is bridged.
const PROBED: u64 = 1_000;

/// What was in the table before the run.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    /// The first record number (CoreWorkload) or key (mix) that this client inserts; all of its own from there
    /// on are free.
    pub(crate) next: u64,
    /// Records that are there for certain, whoever inserted them: those of the range, and behind all records those that
    /// earlier runs inserted.
    pub(crate) shared: u64,
    /// Keys that earlier runs inserted and did not delete, oldest first.
    leftovers: Arc<[u64]>,
}

impl Observed {
    /// A data set on which nothing has run.
    pub(crate) fn fresh(config: &YcsbConfig) -> Observed {
        Observed::free_from(config, config.records, Arc::from([]))
    }

    fn free_from(config: &YcsbConfig, free: u64, leftovers: Arc<[u64]>) -> Observed {
        // What other clients insert meanwhile comes with gaps, and then only the loaded records are certain.
        let inserted = if config.stride() == 1 { free.saturating_sub(config.records) } else { 0 };
        let shared = config.population() + inserted;
        Observed { next: config.first_owned(free), shared, leftovers }
    }
}

/// The sequential state at the run's start.
pub(crate) fn tickets(config: &YcsbConfig, observed: &Observed) -> Box<dyn Tickets> {
    let kinds = config.family.kinds();
    match config.family {
        Family::Core => Box::new(CoreTickets { kinds, inserted: 0 }),
        Family::Mix => Box::new(MixTickets {
            kinds,
            outstanding: config.outstanding,
            stable: config.stable,
            stride: config.stride(),
            next: observed.next,
            oldest: observed.next,
            leftovers: observed.leftovers.clone(),
            taken: 0,
        }),
    }
}

/// The ticket is the number of inserts before the request.
struct CoreTickets {
    kinds: &'static [Kind],
    inserted: u64,
}

impl Tickets for CoreTickets {
    fn next(&mut self, _seq: u64, op: OpId) -> u64 {
        let before = self.inserted;
        self.inserted += u64::from(self.kinds[usize::from(op.0)] == Kind::Insert);
        before
    }
}

/// The ticket of an insert is its key, that of a delete the oldest inserted key or [`DRAWN`].
///
/// Only keys with more than `outstanding` younger ones are deleted: by then their insert has long been answered,
/// unless more requests are in flight than that.
struct MixTickets {
    kinds: &'static [Kind],
    outstanding: u64,
    stable: bool,
    stride: u64,
    next: u64,
    oldest: u64,
    leftovers: Arc<[u64]>,
    taken: usize,
}

impl MixTickets {
    fn oldest(&mut self) -> u64 {
        let waiting = (self.leftovers.len() - self.taken) as u64 + (self.next - self.oldest) / self.stride;
        if !self.stable || waiting <= self.outstanding {
            return DRAWN;
        }
        if let Some(&key) = self.leftovers.get(self.taken) {
            self.taken += 1;
            return key;
        }
        self.oldest += self.stride;
        self.oldest - self.stride
    }
}

impl Tickets for MixTickets {
    fn next(&mut self, _seq: u64, op: OpId) -> u64 {
        match self.kinds[usize::from(op.0)] {
            Kind::Insert => {
                self.next += self.stride;
                self.next - self.stride
            }
            Kind::Delete => self.oldest(),
            _ => 0,
        }
    }
}

/// Looks at what earlier runs left.
pub(crate) fn observe(
    config: &YcsbConfig,
    administration: &mut dyn Administration,
) -> Result<Observed, String> {
    match config.family {
        _ if config.loading => observe_loading(config, administration),
        Family::Mix => observe_mix(config, administration),
        Family::Core => observe_core(config, administration),
    }
}

/// A load by requests must not find its records there: each of them would fail, or be written over.
fn observe_loading(config: &YcsbConfig, administration: &mut dyn Administration) -> Result<Observed, String> {
    let (from, count) = (config.range.0, config.population());
    // Who says of any record that it is there need not be asked.
    let tells = match administration.records() {
        Some(records) if !records.lists() => {
            !records_dataset::is_indifferent(config, records).map_err(|error| said(config, &error))?
        }
        _ => present(config, administration)? != Some(0),
    };
    if tells {
        let mut found = 0;
        for first in (from..from + count).step_by(PROBED as usize) {
            found +=
                numbers_present(config, administration, first, (first + PROBED).min(from + count))?.len();
        }
        if found > 0 {
            return Err(format!(
                "{}: {found} of the {count} records from insertstart={from} on are there already; \
                 drop them, or load others by insertstart and insertcount",
                config.name
            ));
        }
    }
    Ok(Observed::fresh(config))
}

fn observe_mix(config: &YcsbConfig, administration: &mut dyn Administration) -> Result<Observed, String> {
    if let Some(records) = administration.records() {
        let there =
            records_dataset::numbers_from(config, records, config.records).map_err(|e| said(config, &e))?;
        let above = there.last().map_or(0, |key| key + 1);
        let own = there.into_iter().filter(|key| config.owns(*key)).take(LEFTOVERS_MOST).collect();
        return Ok(Observed::free_from(config, config.records.max(above), own));
    }
    let highest = numbers(config, administration, &format!("SELECT max(ycsb_key) FROM {}", config.table))?;
    let leftovers = numbers(
        config,
        administration,
        &format!(
            "SELECT ycsb_key FROM {} WHERE ycsb_key >= {} ORDER BY ycsb_key LIMIT {LEFTOVERS_MOST}",
            config.table, config.records
        ),
    )?;
    let above = highest.first().map_or(0, |key| key + 1);
    let own: Arc<[u64]> = leftovers.into_iter().filter(|key| config.owns(*key)).collect();
    Ok(Observed::free_from(config, config.records.max(above), own))
}

fn observe_core(config: &YcsbConfig, administration: &mut dyn Administration) -> Result<Observed, String> {
    let present = present(config, administration)?;
    // With as many rows, no free number can lie below; numbers above exist only where inserts failed.
    let mut next = config.records.max(present.unwrap_or(0));
    if present.is_some_and(|present| present <= config.records) {
        return Ok(Observed::fresh(config));
    }
    while let Some(highest) = highest_present(config, administration, next)? {
        next = highest + 1;
    }
    Ok(Observed::free_from(config, next, Arc::from([])))
}

/// How many records the table has; `None` where rows can't be counted: there, what runs have inserted is looked for in any case,
/// unless that would never end.
fn present(config: &YcsbConfig, administration: &mut dyn Administration) -> Result<Option<u64>, String> {
    if let Some(records) = administration.records() {
        let mut present = || match records.lists() {
            true => records.count(config.table).map(Some),
            false => Ok(records_dataset::is_indifferent(config, records)?.then_some(config.records)),
        };
        return present().map_err(|error| said(config, &error));
    }
    let counted = numbers(config, administration, &format!("SELECT count(*) FROM {}", config.table))?;
    Ok(Some(counted.first().copied().unwrap_or(0)))
}

/// The highest of the record numbers from `from` on, within [`PROBED`], that is in the table.
fn highest_present(
    config: &YcsbConfig,
    administration: &mut dyn Administration,
    from: u64,
) -> Result<Option<u64>, String> {
    Ok(numbers_present(config, administration, from, from + PROBED)?.last().copied())
}

/// Those of the record numbers in `from..to` that are in the table, in their order.
fn numbers_present(
    config: &YcsbConfig,
    administration: &mut dyn Administration,
    from: u64,
    to: u64,
) -> Result<Vec<u64>, String> {
    if let Some(records) = administration.records() {
        return records_dataset::numbers_present(config, records, from, to)
            .map_err(|error| said(config, &error));
    }
    let keys: Vec<KeyText> = (from..to).map(|number| KeyText::of(config, number)).collect();
    let list: Vec<String> = keys.iter().map(|key| format!("'{}'", key.as_str())).collect();
    let sql = format!("SELECT ycsb_key FROM {} WHERE ycsb_key IN ({})", config.table, list.join(","));
    let rows = administration.query(&sql).map_err(|error| said(config, &error))?;
    let present: HashSet<&str> = rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    Ok((from..to)
        .zip(&keys)
        .filter(|(_, key)| present.contains(key.as_str()))
        .map(|(number, _)| number)
        .collect())
}

fn said(config: &YcsbConfig, error: &ConnectError) -> String {
    format!("{}: {error}", config.name)
}

fn numbers(
    config: &YcsbConfig,
    administration: &mut dyn Administration,
    sql: &str,
) -> Result<Vec<u64>, String> {
    let rows = administration.query(sql).map_err(|error| said(config, &error))?;
    rows.iter()
        .filter_map(|row| row.first()?.as_deref())
        .map(|text| text.parse().map_err(|_| format!("{}: `{text}` in the table is not a key", config.name)))
        .collect()
}
