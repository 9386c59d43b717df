//! What a statement comes to, once its tables are known.

use super::access::{self, Access};
use super::bind::{Binder, ParameterTypes, Scope};
use super::catalog::{Catalog, Column, Table};
use super::error::{SqlError, state};
use super::expression::{Context, Node, Row, Typed};
use super::modify::{Delete, Insert, Update};
use super::size::{Heap, size_of_all};
use super::syntax::{Expr, FromTable, Modes, Output, Select as SelectSyntax, Statement, TableName};
use super::types::{ColumnType, Type};
use crate::Operation;
use std::sync::Arc;

/// As many columns as a result of PostgreSQL may have.
const OUTPUTS_MAX: usize = 1664;

/// A column of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OutputColumn {
    pub(crate) name: String,
    pub(crate) kind: ColumnType,
}

/// A statement that has been understood, and can be executed as long as the catalog is the same.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) statement: Arc<Statement>,
    pub(crate) plan: Plan,
    /// What the client said of the parameters.
    pub(crate) declared: Vec<Option<Type>>,
    pub(crate) parameters: Vec<Type>,
    /// `None`: it gives no rows.
    pub(crate) columns: Option<Vec<OutputColumn>>,
    pub(crate) version: u64,
    /// Memory of all this, about.
    pub(crate) bytes: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Select(Select),
    /// `SELECT truetail('…')`
    Control(Typed),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    CopyIn {
        table: Arc<Table>,
        columns: Vec<usize>,
    },
    CreateTable {
        name: String,
        if_not_exists: bool,
        columns: Vec<Column>,
        key: Option<usize>,
    },
    DropTables {
        names: Vec<TableName>,
        if_exists: bool,
    },
    Truncate(Vec<Arc<Table>>),
    CreateIndex,
    Begin {
        start: bool,
        modes: Modes,
    },
    Commit,
    Rollback,
    SetTransaction {
        session: bool,
        modes: Modes,
    },
    Set {
        name: String,
        value: Option<String>,
        local: bool,
        tag: &'static str,
    },
    ResetAll,
    Show(String),
    ShowAll,
    Maintenance(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct Select {
    /// `None`: one row without columns.
    pub(crate) table: Option<Arc<Table>>,
    pub(crate) access: Access,
    pub(crate) filter: Option<Typed>,
    pub(crate) result: ResultRows,
    pub(crate) descending: bool,
    pub(crate) limit: Option<Typed>,
    pub(crate) offset: Option<Typed>,
    /// Without a table: whether it asks what the server is.
    about_server: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum ResultRows {
    Each(Vec<Typed>),
    /// One row over all.
    Aggregated(Vec<Aggregate>),
}

#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub(crate) function: AggregateFunction,
    /// `None` for `count(*)`.
    pub(crate) argument: Option<Typed>,
    pub(crate) kind: Type,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AggregateFunction {
    Count,
    Least,
    Greatest,
}

/// Settles tables, columns and types of a statement.
pub(crate) fn prepare(
    statement: Arc<Statement>,
    declared: Vec<Option<Type>>,
    catalog: &Catalog,
) -> Result<Prepared, SqlError> {
    let mut parameters = ParameterTypes(declared.clone());
    let (plan, columns) = plan(&statement, catalog, &mut parameters)?;
    let parameters: Vec<Type> = parameters.0.iter().map(|kind| kind.unwrap_or(Type::Text)).collect();
    let types = size_of_val(&declared[..]) + size_of_val(&parameters[..]);
    let bytes = size_of::<Prepared>() + size_of_all(&*statement) + plan.heap() + columns.heap() + types;
    Ok(Prepared { statement, plan, declared, parameters, columns, version: catalog.version, bytes })
}

type Planned = (Plan, Option<Vec<OutputColumn>>);

fn plan(
    statement: &Statement,
    catalog: &Catalog,
    parameters: &mut ParameterTypes,
) -> Result<Planned, SqlError> {
    let plan = match statement {
        Statement::Select(select) => return plan_select(select, catalog, parameters),
        Statement::Show { name } => {
            let column = OutputColumn { name: super::settings::shown_name(name), kind: Type::Text.into() };
            return Ok((Plan::Show(name.clone()), Some(vec![column])));
        }
        Statement::ShowAll => {
            let columns = ["name", "setting", "description"]
                .map(|name| OutputColumn { name: name.to_owned(), kind: Type::Text.into() });
            return Ok((Plan::ShowAll, Some(columns.to_vec())));
        }
        Statement::Insert(insert) => Plan::Insert(Insert::plan(insert, catalog, parameters)?),
        Statement::Update { table, assignments, condition } => {
            Plan::Update(Update::plan(table, assignments, condition.as_ref(), catalog, parameters)?)
        }
        Statement::Delete { table, condition } => {
            Plan::Delete(Delete::plan(table, condition.as_ref(), catalog, parameters)?)
        }
        Statement::Copy { table, columns } => {
            let table = Arc::clone(catalog.own_table(table)?);
            let columns = columns_or_all(&table, columns)?;
            Plan::CopyIn { table, columns }
        }
        Statement::CreateTable(create) => super::schema::plan_create(create, catalog)?,
        Statement::DropTables { names, if_exists } => {
            Plan::DropTables { names: names.clone(), if_exists: *if_exists }
        }
        Statement::Truncate { names } => {
            let tables = names.iter().map(|name| catalog.own_table(name).map(Arc::clone));
            Plan::Truncate(tables.collect::<Result<_, _>>()?)
        }
        Statement::CreateIndex { table, columns, unique } => {
            let table = catalog.own_table(table)?;
            for column in columns {
                table.column_or_error(column)?;
            }
            if *unique {
                return Err(SqlError::unsupported("UNIQUE indexes; the primary key alone is unique"));
            }
            Plan::CreateIndex
        }
        Statement::Begin { start, modes } => Plan::Begin { start: *start, modes: *modes },
        Statement::Commit => Plan::Commit,
        Statement::Rollback => Plan::Rollback,
        Statement::SetTransaction { session, modes } => {
            Plan::SetTransaction { session: *session, modes: *modes }
        }
        Statement::Set { name, value, local, tag } => {
            Plan::Set { name: name.clone(), value: value.clone(), local: *local, tag }
        }
        Statement::ResetAll => Plan::ResetAll,
        Statement::Maintenance { tag, tables } => {
            for table in tables {
                catalog.table(table)?;
            }
            Plan::Maintenance(tag)
        }
    };
    Ok((plan, None))
}

/// The places of the named columns, each once; all of the table where none is named.
pub(crate) fn columns_or_all(table: &Table, names: &[String]) -> Result<Vec<usize>, SqlError> {
    if names.is_empty() {
        return Ok((0..table.columns.len()).collect());
    }
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let place = table.column_or_error(name)?;
        if places.contains(&place) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
        places.push(place);
    }
    Ok(places)
}

fn scope<'a>(table: Option<&'a Table>, from: Option<&'a FromTable>) -> Scope<'a> {
    Scope { table, alias: from.and_then(|from| from.alias.as_deref()), excluded: false }
}

/// Plans which rows a change or a query looks at.
pub(crate) fn plan_condition(
    table: &Table,
    from: &FromTable,
    condition: Option<&Expr>,
    parameters: &mut ParameterTypes,
) -> Result<(Access, Option<Typed>), SqlError> {
    let mut binder = Binder { scope: scope(Some(table), Some(from)), parameters };
    let condition = condition.map(|expr| binder.condition(expr, "WHERE")).transpose()?;
    Ok(access::plan(table, condition))
}

fn plan_select(
    select: &SelectSyntax,
    catalog: &Catalog,
    parameters: &mut ParameterTypes,
) -> Result<Planned, SqlError> {
    if let Some(control) = plan_control(select, parameters)? {
        return Ok(control);
    }
    let table = select.from.as_ref().map(|from| catalog.table(&from.table).map(Arc::clone)).transpose()?;
    let mut binder = Binder { scope: scope(table.as_deref(), select.from.as_ref()), parameters };
    let (result, columns) = plan_outputs(&select.outputs, &mut binder)?;
    let condition = select.condition.as_ref().map(|expr| binder.condition(expr, "WHERE")).transpose()?;
    let descending = plan_order(select, table.as_deref(), &columns, &result, &mut binder)?;
    let mut count = |expr: &Option<Expr>| -> Result<Option<Typed>, SqlError> {
        let mut binder = Binder { scope: Scope::default(), parameters: binder.parameters };
        expr.as_ref().map(|expr| binder.bind(expr, Some(Type::Int8))).transpose()
    };
    let (limit, offset) = (count(&select.limit)?, count(&select.offset)?);
    for (what, expr) in [("LIMIT", &limit), ("OFFSET", &offset)] {
        if let Some(expr) = expr.as_ref().filter(|expr| !expr.kind.kind.is_integer()) {
            let message =
                format!("argument of {what} must be type bigint, not type {}", expr.kind.kind.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
    }
    let (access, filter) = match &table {
        Some(table) => access::plan(table, condition),
        None => (Access::All, condition),
    };
    let about_server = match (&table, &result) {
        (None, ResultRows::Each(outputs)) => outputs.iter().any(Typed::is_about_server),
        _ => false,
    };
    let select = Select { table, access, filter, result, descending, limit, offset, about_server };
    Ok((Plan::Select(select), Some(columns)))
}

/// `SELECT truetail('…')` alone: a command to the store, not a request.
fn plan_control(select: &SelectSyntax, parameters: &mut ParameterTypes) -> Result<Option<Planned>, SqlError> {
    let ([Output::Value { expr: Expr::Call { name, arguments, star: false }, alias }], None, None) =
        (select.outputs.as_slice(), &select.from, &select.condition)
    else {
        return Ok(None);
    };
    if name != "truetail" {
        return Ok(None);
    }
    let [argument] = arguments.as_slice() else {
        return Err(SqlError::new(state::UNDEFINED_FUNCTION, "truetail() takes one text, the command"));
    };
    let mut binder = Binder { scope: Scope::default(), parameters };
    let command = binder.bind(argument, Some(Type::Text))?;
    let name = alias.clone().unwrap_or_else(|| name.clone());
    let column = OutputColumn { name, kind: Type::Text.into() };
    Ok(Some((Plan::Control(command), Some(vec![column]))))
}

fn plan_outputs(
    outputs: &[Output],
    binder: &mut Binder<'_>,
) -> Result<(ResultRows, Vec<OutputColumn>), SqlError> {
    let (mut each, mut aggregates, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for output in outputs {
        // Looked at before each: a `*` is one byte and may be a thousand columns.
        check_width(columns.len())?;
        match output {
            Output::All(name) => {
                let table = all_of(name.as_deref(), &binder.scope)?;
                for (index, column) in table.columns.iter().enumerate() {
                    let kind = column.column_type;
                    each.push(Typed { node: Node::Column(index), kind });
                    columns.push(OutputColumn { name: column.name.clone(), kind });
                }
            }
            Output::Value { expr, alias } => {
                let name = alias.clone().unwrap_or_else(|| name_of(expr));
                let kind = match aggregate(expr, binder)? {
                    Some(aggregate) => {
                        let kind = aggregate.kind.into();
                        aggregates.push(aggregate);
                        kind
                    }
                    None => {
                        let typed = binder.bind(expr, None)?;
                        let kind = typed.kind;
                        each.push(typed);
                        kind
                    }
                };
                columns.push(OutputColumn { name, kind });
            }
        }
    }
    check_width(columns.len())?;
    match (each.is_empty(), aggregates.is_empty()) {
        (true, false) => Ok((ResultRows::Aggregated(aggregates), columns)),
        (_, true) => Ok((ResultRows::Each(each), columns)),
        (false, false) => {
            let message =
                "columns beside an aggregate must appear in a GROUP BY clause, which the store lacks";
            Err(SqlError::new(state::GROUPING, message))
        }
    }
}

fn check_width(columns: usize) -> Result<(), SqlError> {
    if columns > OUTPUTS_MAX {
        let message = format!("target lists can have at most {OUTPUTS_MAX} entries");
        return Err(SqlError::new(state::TOO_MANY_COLUMNS, message));
    }
    Ok(())
}

fn all_of<'a>(name: Option<&str>, scope: &Scope<'a>) -> Result<&'a Table, SqlError> {
    let Some(table) = scope.table else {
        return Err(SqlError::new(state::SYNTAX, "SELECT * with no tables specified is not valid"));
    };
    match name {
        Some(name) if name != scope.alias.unwrap_or(&table.name) => {
            let message = format!("missing FROM-clause entry for table \"{name}\"");
            Err(SqlError::new(state::UNDEFINED_TABLE, message))
        }
        _ => Ok(table),
    }
}

fn aggregate(expr: &Expr, binder: &mut Binder<'_>) -> Result<Option<Aggregate>, SqlError> {
    let Expr::Call { name, arguments, star } = expr else { return Ok(None) };
    let function = match name.as_str() {
        "count" => AggregateFunction::Count,
        "min" => AggregateFunction::Least,
        "max" => AggregateFunction::Greatest,
        "sum" | "avg" => return Err(SqlError::unsupported(format_args!("the aggregate {name}()"))),
        _ => return Ok(None),
    };
    let argument = match (arguments.as_slice(), star) {
        ([], true) if function == AggregateFunction::Count => None,
        ([argument], false) => Some(binder.bind(argument, None)?),
        _ => {
            let message = format!("function {name}() does not exist with {} arguments", arguments.len());
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
    };
    let kind = match (function, &argument) {
        (AggregateFunction::Count, _) | (_, None) => Type::Int8,
        (_, Some(argument)) if argument.kind.kind == Type::Bool => {
            let message = format!("function {name}(boolean) does not exist");
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
        // Of all kinds of text, only text and char(n) have these.
        (_, Some(argument)) if matches!(argument.kind.kind, Type::Varchar | Type::Name) => Type::Text,
        (_, Some(argument)) => argument.kind.kind,
    };
    Ok(Some(Aggregate { function, argument, kind }))
}

/// What PostgreSQL calls a column without a name.
fn name_of(expr: &Expr) -> String {
    match expr {
        Expr::Column { name, .. } | Expr::Call { name, .. } => name.clone(),
        Expr::Cast(inner, to) => match &**inner {
            Expr::Column { .. } | Expr::Call { .. } => name_of(inner),
            _ => to.kind.catalog_name().to_owned(),
        },
        _ => "?column?".to_owned(),
    }
}

/// Whether rows come in the opposite order. Only the order of the primary key, the order of the records, is there.
fn plan_order(
    select: &SelectSyntax,
    table: Option<&Table>,
    columns: &[OutputColumn],
    result: &ResultRows,
    binder: &mut Binder<'_>,
) -> Result<bool, SqlError> {
    let Some(first) = select.order.first() else { return Ok(false) };
    let other = || SqlError::unsupported("ORDER BY anything but the primary key");
    let Some(table) = table else { return Ok(false) }; // one row is always in order
    let ResultRows::Each(outputs) = result else { return Ok(false) };
    let typed = match &first.expr {
        // A number is a place in the list, a name first of all a result column's.
        Expr::Number(place) => {
            let place = place.parse::<usize>().ok().and_then(|place| outputs.get(place.checked_sub(1)?));
            place.cloned().ok_or_else(|| {
                SqlError::new(state::INVALID_COLUMN_REFERENCE, "ORDER BY position is not in select list")
            })?
        }
        Expr::Column { table: None, name } => match columns.iter().position(|column| column.name == *name) {
            Some(place) => outputs[place].clone(),
            None => binder.bind(&first.expr, None)?,
        },
        expr => binder.bind(expr, None)?,
    };
    match (typed.node, table.key) {
        // The key is unique: what comes behind it decides nothing.
        (Node::Column(column), Some(key)) if column == key => Ok(first.descending),
        _ => Err(other()),
    }
}

impl Plan {
    /// What the timing model takes it for.
    pub(crate) fn operation(&self) -> Operation {
        match self {
            Plan::Select(select) => match (&select.table, &select.access) {
                (None, _) if select.about_server => Operation::Other,
                (None, _) => Operation::Ping,
                (Some(table), _) if table.system.is_some() => Operation::Other,
                (Some(_), Access::One(_)) => Operation::Read,
                (Some(_), _) => Operation::Scan,
            },
            Plan::Insert(_) => Operation::Insert,
            Plan::Update(_) => Operation::Update,
            Plan::Delete(_) => Operation::Delete,
            Plan::Begin { .. } | Plan::Commit | Plan::Rollback => Operation::Transaction,
            _ => Operation::Other,
        }
    }

    /// The key that it is about, as text: of several the first; empty where there is none.
    pub(crate) fn key(&self, context: &Context<'_>) -> Vec<u8> {
        let leading = match self {
            Plan::Select(select) if select.table.as_ref().is_some_and(|table| table.system.is_none()) => {
                select.access.leading()
            }
            Plan::Insert(insert) => insert.leading(),
            Plan::Update(update) => update.access.leading(),
            Plan::Delete(delete) => delete.access.leading(),
            _ => None,
        };
        let mut key = Vec::new();
        // A value that can't be computed shows when the statement is executed.
        if let Some(Ok((value, kind))) =
            leading.map(|typed| typed.value(Row::NONE, context).map(|value| (value, typed.kind.kind)))
        {
            value.write_text(kind, &mut key);
        }
        key
    }

    /// What a read-only transaction says of it; `None` if it may do it.
    pub(crate) fn writes(&self) -> Option<&'static str> {
        match self {
            Plan::Insert(_) => Some("INSERT"),
            Plan::Update(_) => Some("UPDATE"),
            Plan::Delete(_) => Some("DELETE"),
            Plan::CopyIn { .. } => Some("COPY FROM"),
            Plan::CreateTable { .. } => Some("CREATE TABLE"),
            Plan::DropTables { .. } => Some("DROP TABLE"),
            Plan::Truncate(_) => Some("TRUNCATE TABLE"),
            Plan::CreateIndex => Some("CREATE INDEX"),
            _ => None,
        }
    }
}
