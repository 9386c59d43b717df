//! Making a session ready: its settings, its isolation level, its statements.

use crate::cancel::Abandoned;
use crate::client::{Client, Failure};
use crate::codec::{self, Garbage, Inside};
use crate::login::can;
use crate::replies::{Replies, Shape};
use crate::session::Statements;
use crate::statement::Statement;
use crate::types::Column;
use driver::{Isolation, Results, StatementSpec};

/// What every connection sets, whatever the server's defaults are: UTC, so that moments mean the same on both sides; strict,
/// so that what does not fit a column is refused and not cut; each statement outside of a transaction is one of its own.
pub(crate) const SETTINGS: &str = "SET NAMES utf8mb4, time_zone = '+00:00', autocommit = 1, sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')";

/// Sets the session up and prepares the workload's statements, all in one round trip: in mid-run, somebody waits for the
/// session.
pub(crate) fn prepare(
    client: &mut Client,
    specs: &[StatementSpec],
    isolation: Option<Isolation>,
    abandoned: &Abandoned,
) -> Result<(Statements, Replies), Failure> {
    abandoned.end(client)?;
    codec::command(&mut client.out, codec::QUERY, SETTINGS);
    if let Some(level) = isolation {
        let sql = format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.sql());
        codec::command(&mut client.out, codec::QUERY, &sql);
    }
    for spec in specs {
        codec::command(&mut client.out, codec::PREPARE, &spec.sql);
    }
    client.send()?;
    client.done()?;
    if isolation.is_some() {
        client.done()?;
    }
    let workload: Result<Vec<(Statement, Shape)>, Failure> = specs
        .iter()
        .enumerate()
        .map(|(index, spec)| prepared(client, spec).map_err(|failure| about(index, spec, failure)))
        .collect();
    let (statements, shapes): (Vec<Statement>, Vec<Shape>) = workload?.into_iter().unzip();
    let statements = Statements {
        ping: Statement::plain(codec::PING, ""),
        // It would commit what is open.
        begin: Statement::control("BEGIN"),
        commit: Statement::control("COMMIT"),
        rollback: Statement::plain(codec::QUERY, "ROLLBACK"),
        workload: statements.into(),
    };
    let tells_columns = client.server.agreed & can::CACHED_COLUMNS != 0;
    Ok((statements, Replies::new(shapes.into(), tells_columns)))
}

/// The next statement as the server has prepared it.
fn prepared(client: &mut Client, spec: &StatementSpec) -> Result<(Statement, Shape), Failure> {
    let body = client.accepted()?;
    let mut inside = Inside(&body[1..]);
    let mut read = || Some((inside.u32()?, inside.u16()?, inside.u16()?));
    let (id, columns, parameters) = read().ok_or(Garbage::Malformed("prepared statement"))?;
    for _ in 0..parameters {
        client.accepted()?; // says nothing of its type
    }
    let mut definitions = Vec::new();
    for _ in 0..columns {
        definitions.push(client.accepted()?);
    }
    if usize::from(parameters) != spec.parameters.len() {
        let promised = spec.parameters.len();
        return Err(Failure::Unfit(format!("it has {parameters} parameters, the workload gives {promised}")));
    }
    let shape = match spec.results {
        Results::Count => Shape::default(),
        Results::Keep => shape(&definitions, spec)?,
    };
    Ok((Statement::prepared(id, spec, columns > 0), shape))
}

fn shape(definitions: &[Vec<u8>], spec: &StatementSpec) -> Result<Shape, Failure> {
    if spec.columns.len() > definitions.len() {
        let (has, wants) = (definitions.len(), spec.columns.len());
        return Err(Failure::Unfit(format!("it returns {has} columns, the workload reads {wants}")));
    }
    let wanted = spec.columns.iter().copied().map(Some).chain(std::iter::repeat(None));
    let columns: Result<Box<[Column]>, Failure> = definitions
        .iter()
        .zip(wanted)
        .map(|(body, wanted)| {
            let parsed = Column::parse(body, wanted);
            let (column, name) = parsed.ok_or(Garbage::Malformed("definition of a column"))?;
            if let Some(wanted) = wanted
                && !column.fits()
            {
                let there = column.type_name();
                return Err(Failure::Unfit(format!(
                    "column `{name}` is {there} at the server, the workload reads {wanted:?}; cast it"
                )));
            }
            Ok(column)
        })
        .collect();
    Ok(Shape { keeps: true, columns: columns? })
}

/// Says which statement it was.
fn about(index: usize, spec: &StatementSpec, failure: Failure) -> Failure {
    let named = |problem: &str| format!("statement {index} (`{}`): {problem}", beginning(&spec.sql));
    match failure {
        Failure::Refused { words, transient } => Failure::Refused { words: named(&words), transient },
        Failure::Unfit(problem) => Failure::Unfit(named(&problem)),
        other => other,
    }
}

/// The first words of a statement, on one line.
pub(crate) fn beginning(sql: &str) -> String {
    const SHOWN: usize = 60;
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
