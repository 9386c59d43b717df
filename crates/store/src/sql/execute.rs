//! Executes what reads.

use super::access::Keys;
use super::datum::Datum;
use super::error::{SqlError, state};
use super::expression::{Context, Row, Stored, Typed};
use super::plan::{Aggregate, AggregateFunction, ResultRows, Select};
use super::rows::RowBuffer;
use super::system;
use super::transaction::Transaction;
use crate::{Data, Key, Staleness, View};

/// Where rows are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) data: &'a Data,
    pub(crate) transaction: &'a Transaction,
    pub(crate) view: View,
}

/// What is done with a row; `false` when no more are wanted.
type Take<'t> = dyn FnMut(&Stored) -> Result<bool, SqlError> + 't;

/// Appends the rows of the result. Gives how stale what was looked at was, at most; `None` where it was no record.
pub(crate) fn select(
    select: &Select,
    source: Source<'_>,
    context: &Context<'_>,
    rows: &mut RowBuffer<'_>,
) -> Result<Option<Staleness>, SqlError> {
    let skip = count(select.offset.as_ref(), "OFFSET", context)?.unwrap_or(0);
    let most = count(select.limit.as_ref(), "LIMIT", context)?.unwrap_or(u64::MAX);
    match &select.result {
        ResultRows::Each(_) if most == 0 => Ok(None),
        ResultRows::Each(outputs) => {
            let mut passed = 0;
            read(select, source, context, &mut |row| {
                passed += 1;
                if passed > skip {
                    rows.push_values(outputs, Row::of(row), context)?;
                }
                Ok(rows.count() < most)
            })
        }
        ResultRows::Aggregated(aggregates) => {
            let mut folded: Vec<Folded> = aggregates.iter().map(|_| Folded::default()).collect();
            let staleness = read(select, source, context, &mut |row| {
                for (folded, aggregate) in folded.iter_mut().zip(aggregates) {
                    folded.add(aggregate, row, context)?;
                }
                Ok(true)
            })?;
            let values: Vec<_> = folded
                .into_iter()
                .zip(aggregates)
                .map(|(folded, aggregate)| (folded.result(aggregate), aggregate.kind))
                .collect();
            if skip == 0 && most > 0 {
                rows.push_data(&values)?;
            }
            Ok(staleness)
        }
    }
}

/// The number behind LIMIT or OFFSET; `None` where there is none.
fn count(expr: Option<&Typed>, what: &str, context: &Context<'_>) -> Result<Option<u64>, SqlError> {
    let Some(expr) = expr else { return Ok(None) };
    match expr.value(Row::NONE, context)? {
        Datum::Int(value) => u64::try_from(value).map(Some).map_err(|_| {
            let state = if what == "LIMIT" {
                state::INVALID_ROW_COUNT_IN_LIMIT
            } else {
                state::INVALID_ROW_COUNT_IN_OFFSET
            };
            SqlError::new(state, format!("{what} must not be negative"))
        }),
        _ => Ok(None),
    }
}

/// Hands the rows that pass the filter over, in their order, until no more are wanted.
fn read(
    select: &Select,
    source: Source<'_>,
    context: &Context<'_>,
    take: &mut Take<'_>,
) -> Result<Option<Staleness>, SqlError> {
    let mut offer = |row: &Stored| match &select.filter {
        Some(filter) if !filter.holds(Row::of(row), context)? => Ok(true),
        _ => take(row),
    };
    let Some(table) = &select.table else {
        offer(&[])?;
        return Ok(None);
    };
    if let Some(relation) = table.system {
        let found = system::rows(relation, context);
        let found = found.iter().map(|row| (Some(row.as_slice()), Staleness::default()));
        in_order(found, select.descending, &mut offer)?;
        return Ok(None);
    }
    match select.access.keys(table, context)? {
        None => Ok(None),
        Some(Keys::One(key)) => {
            let (row, staleness) = source.transaction.read(source.data, source.view, &table.record(key));
            row.map(&mut offer).transpose()?;
            Ok(Some(staleness))
        }
        Some(Keys::Some(keys)) => {
            let look = |key| source.transaction.read(source.data, source.view, &table.record(key));
            in_order(keys.into_iter().map(look), select.descending, &mut offer).map(Some)
        }
        Some(Keys::Range(from, to)) => {
            let from = table.record(from);
            let found = scan(source, &from, to.as_deref()).map(|(_, row, staleness)| (row, staleness));
            in_order(found, select.descending, &mut offer).map(Some)
        }
    }
}

/// A record that is looked at: its row, if the view sees one, and how stale that is.
type Looked<'r> = (Option<&'r Stored>, Staleness);

/// Data is read upwards only: downwards, references to all rows are collected first. Gives how stale what was looked at
/// was, at most.
fn in_order<'r>(
    rows: impl Iterator<Item = Looked<'r>>,
    descending: bool,
    offer: &mut Take<'_>,
) -> Result<Staleness, SqlError> {
    if !descending {
        return until_enough(rows, offer);
    }
    let all: Vec<Looked<'_>> = rows.collect();
    until_enough(all.into_iter().rev(), offer)
}

fn until_enough<'r>(
    rows: impl Iterator<Item = Looked<'r>>,
    offer: &mut Take<'_>,
) -> Result<Staleness, SqlError> {
    let mut seen = Staleness::default();
    for (row, staleness) in rows {
        seen = seen.worst(staleness);
        if !row.map_or(Ok(true), &mut *offer)? {
            break;
        }
    }
    Ok(seen)
}

/// Records of a table from one key on, up to but without another.
pub(crate) fn scan<'a>(
    source: Source<'a>,
    from: &Key,
    to: Option<&'a [u8]>,
) -> impl Iterator<Item = (&'a Key, Option<&'a Stored>, Staleness)> {
    let rows = source.transaction.scan(source.data, source.view, from);
    rows.take_while(move |(key, ..)| to.is_none_or(|to| *key.key < *to))
}

/// An aggregate so far.
#[derive(Debug)]
struct Folded {
    count: i64,
    best: Datum<'static>,
}

impl Default for Folded {
    fn default() -> Folded {
        Folded { count: 0, best: Datum::Null }
    }
}

impl Folded {
    fn add(&mut self, aggregate: &Aggregate, row: &Stored, context: &Context<'_>) -> Result<(), SqlError> {
        let Some(argument) = &aggregate.argument else {
            self.count += 1;
            return Ok(());
        };
        let value = argument.value(Row::of(row), context)?;
        if value.is_null() {
            return Ok(());
        }
        self.count += 1;
        let better = match aggregate.function {
            AggregateFunction::Count => false,
            _ if self.best.is_null() => true,
            AggregateFunction::Least => value.compare(&self.best).is_lt(),
            AggregateFunction::Greatest => value.compare(&self.best).is_gt(),
        };
        if better {
            self.best = value.into_owned();
        }
        Ok(())
    }

    fn result(self, aggregate: &Aggregate) -> Datum<'static> {
        match aggregate.function {
            AggregateFunction::Count => Datum::Int(self.count),
            AggregateFunction::Least | AggregateFunction::Greatest => self.best,
        }
    }
}
