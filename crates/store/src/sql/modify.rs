//! INSERT, UPDATE and DELETE.
//!
//! All writes go to the transaction first: a statement that fails half-way has written nothing.

use super::access::{Access, Keys, key_of_row};
use super::bind::{Binder, ParameterTypes, Scope};
use super::catalog::{Catalog, Column, Table};
use super::datum::Datum;
use super::error::{SqlError, state};
use super::execute::{Source, scan};
use super::expression::{Context, Row, Stored, Typed};
use super::plan::{columns_or_all, plan_condition};
use super::size::Heap;
use super::syntax::{Cell, Conflict, Expr, FromTable, Insert as InsertSyntax};
use super::transaction::{Transaction, size_of_write};
use crate::{Data, Key, View};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A row as it is stored.
pub(crate) type Cells = Vec<Option<Vec<u8>>>;

/// What a statement reads and where it writes to.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) data: &'a Data,
    pub(crate) transaction: &'a mut Transaction,
    pub(crate) view: View,
}

impl Target<'_> {
    fn source(&self) -> Source<'_> {
        Source { data: self.data, transaction: self.transaction, view: self.view }
    }

    fn read(&self, key: &Key) -> Option<&Stored> {
        self.transaction.read(self.data, self.view, key).0
    }

    fn write(&mut self, key: Key, row: Option<Cells>) -> Result<(), SqlError> {
        self.transaction.write(self.view, key, row);
        self.transaction.check_room(0)
    }
}

/// `column = expression`; `None` is the column's default.
type Assignment = (usize, Option<Typed>);

#[derive(Clone, Debug)]
pub(crate) struct Insert {
    table: Arc<Table>,
    /// For each column of the table, which of a row's values it gets; `None` where its default is what it gets.
    given: Vec<Option<usize>>,
    /// The values that were named, row by row, and no places for others: a table may have 1,600 columns, and a statement
    /// 262,000 rows. `None` is the column's default.
    rows: Vec<Vec<Option<Typed>>>,
    conflict: Option<OnConflict>,
}

#[derive(Clone, Debug)]
enum OnConflict {
    Nothing,
    Update { assignments: Vec<Assignment>, condition: Option<Typed> },
}

impl Insert {
    pub(crate) fn plan(
        insert: &InsertSyntax,
        catalog: &Catalog,
        parameters: &mut ParameterTypes,
    ) -> Result<Insert, SqlError> {
        let table = Arc::clone(catalog.own_table(&insert.table)?);
        let places = columns_or_all(&table, &insert.columns)?;
        let mut rows = Vec::with_capacity(insert.rows.len());
        for row in &insert.rows {
            if row.len() > places.len() {
                let message = "INSERT has more expressions than target columns";
                return Err(SqlError::new(state::SYNTAX, message));
            }
            if row.len() < places.len() && !insert.columns.is_empty() {
                let message = "INSERT has more target columns than expressions";
                return Err(SqlError::new(state::SYNTAX, message));
            }
            let mut values = Vec::with_capacity(row.len());
            let mut binder = Binder { scope: Scope::default(), parameters };
            for (place, cell) in places.iter().zip(row) {
                values.push(bind_cell(cell, &table.columns[*place], &mut binder)?);
            }
            rows.push(values);
        }
        let width = insert.rows.first().map_or(0, Vec::len);
        if insert.rows.iter().any(|row| row.len() != width) {
            return Err(SqlError::new(state::SYNTAX, "VALUES lists must all be the same length"));
        }
        let conflict = insert.conflict.as_ref().map(|c| plan_conflict(c, &table, parameters)).transpose()?;
        let mut given = vec![None; table.columns.len()];
        for (value, place) in places.into_iter().take(width).enumerate() {
            given[place] = Some(value);
        }
        Ok(Insert { table, given, rows, conflict })
    }

    /// The key of the first row.
    pub(crate) fn leading(&self) -> Option<&Typed> {
        let value = (*self.given.get(self.table.key?)?)?;
        self.rows.first()?.get(value)?.as_ref()
    }

    /// Gives how many rows were inserted or changed.
    pub(crate) fn run(&self, target: &mut Target<'_>, context: &Context<'_>) -> Result<u64, SqlError> {
        let mut affected = 0;
        let mut touched = BTreeSet::new();
        for values in &self.rows {
            let (key, row) = self.new_row(values, context)?;
            let Some(existing) = target.read(&key) else {
                if self.rows.len() > 1 {
                    touched.insert(key.clone());
                }
                target.write(key, Some(row))?;
                affected += 1;
                continue;
            };
            match &self.conflict {
                None => return Err(duplicate(&self.table, &row)),
                Some(OnConflict::Nothing) => {}
                Some(OnConflict::Update { assignments, condition }) => {
                    if touched.contains(&key) {
                        let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
                        return Err(SqlError::new(state::CARDINALITY_VIOLATION, message));
                    }
                    let pair = Row { current: existing, excluded: &row };
                    let wanted = condition.as_ref().map_or(Ok(true), |c| c.holds(pair, context))?;
                    if wanted {
                        let changed = assigned(&self.table, assignments, pair, context)?;
                        touched.insert(key.clone());
                        target.write(key, Some(changed))?;
                        affected += 1;
                    }
                }
            }
        }
        Ok(affected)
    }

    /// A new row with its key.
    fn new_row(&self, values: &[Option<Typed>], context: &Context<'_>) -> Result<(Key, Cells), SqlError> {
        let table = &self.table;
        let mut row = Vec::with_capacity(table.columns.len());
        let (mut key, mut room) = (None, ROW_MAX);
        for (place, column) in table.columns.iter().enumerate() {
            let value = self.given[place].and_then(|value| values.get(value)?.as_ref());
            let value = match value.or(column.default.as_ref()) {
                Some(typed) => typed.value(Row::NONE, context)?,
                None => Datum::Null,
            };
            row.push(take_room(cell_of(table, place, &value)?, &mut room)?);
            if table.key == Some(place) {
                key = key_of_row(table, &value);
            }
        }
        // A key is never null: its column is NOT NULL. What is left is a table without one.
        let key = key.unwrap_or_else(|| table.next_row_key());
        Ok((table.record(key), row))
    }
}

impl Heap for Insert {
    fn heap(&self) -> usize {
        size_of_val(&self.given[..]) + self.rows.heap() + self.conflict.heap()
    }
}

impl Heap for OnConflict {
    fn heap(&self) -> usize {
        match self {
            OnConflict::Nothing => 0,
            OnConflict::Update { assignments, condition } => assignments.heap() + condition.heap(),
        }
    }
}

fn plan_conflict(
    conflict: &Conflict,
    table: &Table,
    parameters: &mut ParameterTypes,
) -> Result<OnConflict, SqlError> {
    let key = table.key.map(|key| table.columns[key].name.as_str());
    for column in &conflict.target {
        table.column_or_error(column)?;
    }
    if !conflict.target.is_empty() && conflict.target.iter().map(String::as_str).ne(key) {
        let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message));
    }
    if conflict.assignments.is_empty() {
        return Ok(OnConflict::Nothing);
    }
    if conflict.target.is_empty() {
        let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
        return Err(SqlError::new(state::SYNTAX, message));
    }
    let scope = Scope { table: Some(table), alias: None, excluded: true };
    let mut binder = Binder { scope, parameters };
    let assignments = bind_assignments(&conflict.assignments, table, &mut binder)?;
    let condition = conflict.condition.as_ref().map(|expr| binder.condition(expr, "WHERE")).transpose()?;
    Ok(OnConflict::Update { assignments, condition })
}

fn bind_cell(cell: &Cell, column: &Column, binder: &mut Binder<'_>) -> Result<Option<Typed>, SqlError> {
    match cell {
        Cell::Default => Ok(None),
        Cell::Value(expr) => binder.assigned(expr, column).map(Some),
    }
}

fn bind_assignments(
    assignments: &[(String, Cell)],
    table: &Table,
    binder: &mut Binder<'_>,
) -> Result<Vec<Assignment>, SqlError> {
    let mut bound: Vec<Assignment> = Vec::with_capacity(assignments.len());
    for (name, cell) in assignments {
        let place = table.column_or_error(name)?;
        if bound.iter().any(|(other, _)| *other == place) {
            let message = format!("multiple assignments to same column \"{name}\"");
            return Err(SqlError::new(state::SYNTAX, message));
        }
        if table.key == Some(place) {
            return Err(SqlError::unsupported("changes of a primary key; delete the row and insert another"));
        }
        bound.push((place, bind_cell(cell, &table.columns[place], binder)?));
    }
    Ok(bound)
}

/// The values that a statement computes for one row may have so many bytes together.
const ROW_MAX: usize = 64 << 20;

/// Passes a cell on if there is room for it.
fn take_room(cell: Option<Vec<u8>>, room: &mut usize) -> Result<Option<Vec<u8>>, SqlError> {
    *room = room.checked_sub(cell.as_ref().map_or(0, Vec::len)).ok_or_else(|| {
        SqlError::new(state::PROGRAM_LIMIT, format!("the values of a row have more than {ROW_MAX} bytes"))
    })?;
    Ok(cell)
}

/// A value as it is stored in the column.
pub(crate) fn cell_of(table: &Table, place: usize, value: &Datum<'_>) -> Result<Option<Vec<u8>>, SqlError> {
    let column = &table.columns[place];
    if value.is_null() {
        if column.not_null {
            let message = format!(
                "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                column.name, table.name
            );
            return Err(SqlError::new(state::NOT_NULL_VIOLATION, message));
        }
        return Ok(None);
    }
    let mut bytes = Vec::new();
    value.write_text(column.column_type.kind, &mut bytes);
    Ok(Some(bytes))
}

/// Inserts a row of a COPY.
pub(crate) fn insert_row(
    table: &Table,
    key: Option<Box<[u8]>>,
    row: Cells,
    target: &mut Target<'_>,
) -> Result<(), SqlError> {
    let record = table.record(key.unwrap_or_else(|| table.next_row_key()));
    if target.read(&record).is_some() {
        return Err(duplicate(table, &row));
    }
    target.write(record, Some(row))
}

fn duplicate(table: &Table, row: &Stored) -> SqlError {
    let message = format!("duplicate key value violates unique constraint \"{}\"", table.key_name());
    let error = SqlError::new(state::UNIQUE_VIOLATION, message);
    let Some(key) = table.key else { return error };
    let value = row.get(key).and_then(Option::as_deref).unwrap_or_default();
    let name = &table.columns[key].name;
    error.with_detail(format!("Key ({name})=({}) already exists.", String::from_utf8_lossy(value)))
}

/// The row with the assignments done.
fn assigned(
    table: &Table,
    assignments: &[Assignment],
    row: Row<'_>,
    context: &Context<'_>,
) -> Result<Cells, SqlError> {
    let mut changed = row.current.to_vec();
    let mut room = ROW_MAX;
    for (place, typed) in assignments {
        let value = match typed.as_ref().or(table.columns[*place].default.as_ref()) {
            Some(typed) => typed.value(row, context)?,
            None => Datum::Null,
        };
        changed[*place] = take_room(cell_of(table, *place, &value)?, &mut room)?;
    }
    Ok(changed)
}

#[derive(Clone, Debug)]
pub(crate) struct Update {
    table: Arc<Table>,
    assignments: Vec<Assignment>,
    pub(crate) access: Access,
    filter: Option<Typed>,
}

impl Update {
    pub(crate) fn plan(
        from: &FromTable,
        assignments: &[(String, Cell)],
        condition: Option<&Expr>,
        catalog: &Catalog,
        parameters: &mut ParameterTypes,
    ) -> Result<Update, SqlError> {
        let table = Arc::clone(catalog.own_table(&from.table)?);
        let scope = Scope { table: Some(&table), alias: from.alias.as_deref(), excluded: false };
        let assignments = bind_assignments(assignments, &table, &mut Binder { scope, parameters })?;
        let (access, filter) = plan_condition(&table, from, condition, parameters)?;
        Ok(Update { table, assignments, access, filter })
    }

    /// Gives how many rows were changed.
    pub(crate) fn run(&self, target: &mut Target<'_>, context: &Context<'_>) -> Result<u64, SqlError> {
        let changed =
            affected(&self.table, &self.access, self.filter.as_ref(), target, context, |key, row| {
                let row = assigned(&self.table, &self.assignments, Row::of(row), context)?;
                Ok((key.clone(), Some(row)))
            })?;
        write_all(changed, target)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Delete {
    table: Arc<Table>,
    pub(crate) access: Access,
    filter: Option<Typed>,
}

impl Heap for Update {
    fn heap(&self) -> usize {
        self.assignments.heap() + self.access.heap() + self.filter.heap()
    }
}

impl Heap for Delete {
    fn heap(&self) -> usize {
        self.access.heap() + self.filter.heap()
    }
}

impl Delete {
    pub(crate) fn plan(
        from: &FromTable,
        condition: Option<&Expr>,
        catalog: &Catalog,
        parameters: &mut ParameterTypes,
    ) -> Result<Delete, SqlError> {
        let table = Arc::clone(catalog.own_table(&from.table)?);
        let (access, filter) = plan_condition(&table, from, condition, parameters)?;
        Ok(Delete { table, access, filter })
    }

    /// Gives how many rows were deleted.
    pub(crate) fn run(&self, target: &mut Target<'_>, context: &Context<'_>) -> Result<u64, SqlError> {
        let filter = self.filter.as_ref();
        let gone =
            affected(&self.table, &self.access, filter, target, context, |key, _| Ok((key.clone(), None)))?;
        write_all(gone, target)
    }
}

type Written = (Key, Option<Cells>);

/// What becomes of each record that is found and passes the filter. It counts while it is collected.
fn affected(
    table: &Table,
    access: &Access,
    filter: Option<&Typed>,
    target: &Target<'_>,
    context: &Context<'_>,
    change: impl Fn(&Key, &Stored) -> Result<Written, SqlError>,
) -> Result<Vec<Written>, SqlError> {
    let (mut all, mut collected) = (Vec::new(), 0);
    let mut offer = |key: &Key, row: &Stored| -> Result<(), SqlError> {
        if filter.map_or(Ok(true), |filter| filter.holds(Row::of(row), context))? {
            let written = change(key, row)?;
            collected += size_of_write(&written.0, written.1.as_ref());
            target.transaction.check_room(collected)?;
            all.push(written);
        }
        Ok(())
    };
    match access.keys(table, context)? {
        None => {}
        Some(Keys::One(key)) => {
            let key = table.record(key);
            target.read(&key).map_or(Ok(()), |row| offer(&key, row))?;
        }
        Some(Keys::Some(keys)) => {
            for key in keys {
                let key = table.record(key);
                target.read(&key).map_or(Ok(()), |row| offer(&key, row))?;
            }
        }
        Some(Keys::Range(from, to)) => {
            let from = table.record(from);
            for (key, row, _) in scan(target.source(), &from, to.as_deref()) {
                row.map_or(Ok(()), |row| offer(key, row))?;
            }
        }
    }
    Ok(all)
}

fn write_all(changes: Vec<Written>, target: &mut Target<'_>) -> Result<u64, SqlError> {
    let count = changes.len() as u64;
    for (key, row) in changes {
        target.write(key, row)?;
    }
    Ok(count)
}
