//! Preparing a session's statements.

use crate::client::{Client, Failure};
use crate::codec::{self, Garbage};
use crate::session::Statements;
use crate::statement::{Described, Statement};
use driver::{Isolation, StatementSpec};

const PING: &str = "p";
const BEGIN: &str = "b";
const COMMIT: &str = "c";
const ROLLBACK: &str = "r";

/// Prepares the workload's statements and the session's own, all in one round trip: in mid-run, somebody waits
/// for the session.
///
/// The isolation level is set twice: on BEGIN, and as the session's default, because a statement outside of a
/// transaction block is a transaction, too.
pub(crate) fn prepare(
    client: &mut Client,
    specs: &[StatementSpec],
    isolation: Option<Isolation>,
) -> Result<Statements, Failure> {
    let mut begin = "BEGIN".to_owned();
    if let Some(level) = isolation {
        begin = format!("BEGIN ISOLATION LEVEL {}", level.sql());
        let default = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {}", level.sql());
        codec::query(&mut client.out, &default);
    }
    let own = [(PING, ""), (BEGIN, begin.as_str()), (COMMIT, "COMMIT"), (ROLLBACK, "ROLLBACK")];
    let names: Vec<String> = (0..specs.len()).map(|index| index.to_string()).collect();
    let workload = names.iter().zip(specs).map(|(name, spec)| (name.as_str(), spec.sql.as_str()));
    for (name, sql) in own.into_iter().chain(workload) {
        codec::prepare(&mut client.out, name, sql);
        // A Sync for each, so that an error belongs to one statement.
        client.out.extend_from_slice(&codec::SYNC);
    }
    client.send()?;
    if isolation.is_some() {
        client.until_ready(|tag, _| match tag {
            b'C' => Ok(()),
            _ => Err(Garbage::Unexpected(tag).into()),
        })?;
    }
    for _ in own {
        described(client)?;
    }
    let workload: Result<Box<[Statement]>, Failure> = names
        .iter()
        .zip(specs)
        .enumerate()
        .map(|(index, (name, spec))| {
            described(client)
                .and_then(|described| Statement::new(name, spec, &described).map_err(Failure::Unfit))
                .map_err(|failure| about(index, spec, failure))
        })
        .collect();
    Ok(Statements {
        ping: Statement::plain(PING),
        begin: Statement::plain(BEGIN),
        commit: Statement::plain(COMMIT),
        rollback: Statement::plain(ROLLBACK),
        workload: workload?,
    })
}

/// What the server says of the next statement.
fn described(client: &mut Client) -> Result<Described, Failure> {
    let mut described = Described::default();
    client.until_ready(|tag, body| {
        let understood = match tag {
            b'1' | b'n' => Some(()), // parsed; no columns
            b't' => described.parameters(body),
            b'T' => described.columns(body),
            _ => return Err(Garbage::Unexpected(tag).into()),
        };
        understood.ok_or_else(|| Garbage::Malformed(tag).into())
    })?;
    Ok(described)
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
