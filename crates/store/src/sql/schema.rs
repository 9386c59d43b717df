//! CREATE TABLE, DROP TABLE and TRUNCATE.
//!
//! They act at once and for everybody: a ROLLBACK does not take them back.

use super::bind::{Binder, ParameterTypes, Scope};
use super::catalog::{Catalog, Column, is_key_type};
use super::error::{SqlError, state};
use super::plan::Plan;
use super::session::Notice;
use super::syntax::{CreateTable, TableName};
use super::transaction::Transaction;
use crate::Data;

pub(crate) fn plan_create(create: &CreateTable, catalog: &Catalog) -> Result<Plan, SqlError> {
    catalog.may_own(&create.name)?;
    let mut columns: Vec<Column> = Vec::with_capacity(create.columns.len());
    for new in &create.columns {
        if columns.iter().any(|column| column.name == new.name) {
            let message = format!("column \"{}\" specified more than once", new.name);
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
        let mut column = Column {
            name: new.name.clone(),
            column_type: new.column_type,
            not_null: new.not_null,
            default: None,
        };
        if let Some(expr) = &new.default {
            let mut parameters = ParameterTypes::default();
            let mut binder = Binder { scope: Scope::default(), parameters: &mut parameters };
            column.default = Some(binder.assigned(expr, &column)?);
            if !parameters.0.is_empty() {
                return Err(SqlError::new(state::UNDEFINED_PARAMETER, "there is no parameter in a DEFAULT"));
            }
        }
        columns.push(column);
    }
    let key = plan_key(create, &mut columns)?;
    Ok(Plan::CreateTable {
        name: create.name.name.clone(),
        if_not_exists: create.if_not_exists,
        columns,
        key,
    })
}

fn plan_key(create: &CreateTable, columns: &mut [Column]) -> Result<Option<usize>, SqlError> {
    let name = match create.key.as_slice() {
        [] => return Ok(None),
        [name] => name,
        _ => return Err(SqlError::unsupported("primary keys of several columns")),
    };
    let Some(place) = columns.iter().position(|column| column.name == *name) else {
        let message = format!("column \"{name}\" named in key does not exist");
        return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
    };
    let kind = columns[place].column_type.kind;
    if !is_key_type(kind) {
        return Err(SqlError::unsupported(format_args!("a primary key of type {}", kind.name())));
    }
    columns[place].not_null = true;
    Ok(Some(place))
}

/// Makes a table, or says that there is one.
pub(crate) fn create(
    name: &str,
    if_not_exists: bool,
    columns: &[Column],
    key: Option<usize>,
    catalog: &mut Catalog,
    notices: &mut Vec<Notice>,
) -> Result<(), SqlError> {
    let own = TableName { schema: Some("public".to_owned()), name: name.to_owned() };
    if catalog.table(&own).is_err() {
        return catalog.create(name, columns.to_vec(), key);
    }
    let message = format!("relation \"{name}\" already exists");
    if !if_not_exists {
        return Err(SqlError::new(state::DUPLICATE_TABLE, message));
    }
    notices.push(Notice::new(state::DUPLICATE_TABLE, format!("{message}, skipping")));
    Ok(())
}

/// Drops tables with all that is in them.
pub(crate) fn drop_tables(
    names: &[TableName],
    if_exists: bool,
    catalog: &mut Catalog,
    data: &mut Data,
    transaction: &mut Transaction,
    notices: &mut Vec<Notice>,
) -> Result<(), SqlError> {
    for name in names {
        let missing = match catalog.own_table(name) {
            Ok(_) => continue,
            Err(error) if error.state == state::UNDEFINED_TABLE => error,
            Err(error) => return Err(error),
        };
        if !if_exists {
            let message = format!("table \"{}\" does not exist", name.name);
            return Err(SqlError { message, ..missing });
        }
        let message = format!("table \"{}\" does not exist, skipping", name.name);
        notices.push(Notice::new("00000", message));
    }
    for name in names {
        if catalog.drop(&name.name) {
            empty(&name.name, data, transaction);
        }
    }
    Ok(())
}

/// Forgets all rows of a table.
pub(crate) fn empty(table: &str, data: &mut Data, transaction: &mut Transaction) {
    transaction.forget(table.as_bytes());
    data.drop_space(table.as_bytes());
}
