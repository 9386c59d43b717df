//! Transactions and the classes of errors.

use super::batches::exchange;
use super::key_value::has_records;
use super::table::{self, COUNT_FROM, INSERT, SELECT, UPDATE};
use super::{Fixture, connect, ensure, same, speaks_sql, told};
use crate::{Command, Dialect, Direct, Isolation, OpError, Session, StatementSpec, Target, Value, ValueType};
use units::Outcome;

pub(super) fn commit_is_seen<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return Ok(());
    }
    if !speaks_sql(fixture) {
        let mut session = connect(fixture, &[], None)?;
        let result = exchange(&mut session, &[Command::Begin, Command::Commit]);
        return told(result, &session, "an empty transaction");
    }
    let (mut administration, mut session) = table::session(fixture, 1)?;
    let (two, three) = (table::row(2), table::row(3));
    let first = [Command::Begin, Command::Statement { index: INSERT, arguments: &two }];
    let result = exchange(&mut session, &first);
    told(result, &session, "begin and insert")?;
    same(session.reply(1).affected, 1, "rows inserted")?;
    same(table::count(&mut *administration)?.as_str(), "1", "rows that others see before the commit")?;
    let second = [Command::Statement { index: INSERT, arguments: &three }, Command::Commit];
    let result = exchange(&mut session, &second);
    told(result, &session, "insert and commit")?;
    same(table::count(&mut *administration)?.as_str(), "3", "rows that others see after the commit")
}

pub(super) fn rollback_leaves_no_trace<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (mut administration, mut session) = table::session(fixture, 1)?;
    let two = table::row(2);
    let from = [Value::Int(1)];
    let commands = [
        Command::Begin,
        Command::Statement { index: INSERT, arguments: &two },
        Command::Statement { index: COUNT_FROM, arguments: &from },
        Command::Rollback,
    ];
    let result = exchange(&mut session, &commands);
    told(result, &session, "a transaction that rolls back")?;
    same(session.reply(2).rows, 2, "rows that the transaction itself sees")?;
    same(table::count(&mut *administration)?.as_str(), "1", "rows after the rollback")?;
    // The next statement is outside of any transaction: it must be seen at once.
    let reply = Direct::new(&mut session).ask(Command::Statement { index: INSERT, arguments: &two });
    told(reply, &session, "insert after a rollback")?;
    same(table::count(&mut *administration)?.as_str(), "2", "rows after an insert outside")
}

pub(super) fn rollback_outside<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return Ok(());
    }
    let mut session = connect(fixture, &[], None)?;
    for command in [Command::Rollback, Command::Ping, Command::Rollback, Command::Begin, Command::Rollback] {
        let reply = Direct::new(&mut session).ask(command);
        told(reply, &session, &format!("{command:?}"))?;
    }
    Ok(())
}

pub(super) fn failed_transaction<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (mut administration, mut session) = table::session(fixture, 2)?;
    let (new, duplicate) = (table::row(3), table::row(1));
    for _ in 0..3 {
        let begin = [Command::Begin, Command::Statement { index: INSERT, arguments: &new }];
        let result = exchange(&mut session, &begin);
        told(result, &session, "begin and insert")?;
        let insert = Command::Statement { index: INSERT, arguments: &duplicate };
        let reply = Direct::new(&mut session).ask(insert);
        same(reply, Err(OpError::refused(Outcome::Constraint)), "a duplicate key in a transaction")?;
        let reply = Direct::new(&mut session).ask(Command::Rollback);
        told(reply, &session, "rollback of a failed transaction")?;
        same(table::count(&mut *administration)?.as_str(), "2", "rows after a failed transaction")?;
    }
    Ok(())
}

/// Workloads send the last statements of a transaction and its commit together.
pub(super) fn commit_behind_a_failure<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (mut administration, mut session) = table::session(fixture, 2)?;
    let (new, newer, duplicate) = (table::row(3), table::row(4), table::row(1));
    for _ in 0..2 {
        let begin = [Command::Begin, Command::Statement { index: INSERT, arguments: &new }];
        let result = exchange(&mut session, &begin);
        told(result, &session, "begin and insert")?;
        let rest = [
            Command::Statement { index: INSERT, arguments: &duplicate },
            Command::Statement { index: INSERT, arguments: &newer },
            Command::Commit,
        ];
        let result = exchange(&mut session, &rest);
        same(result, Err(OpError::refused(Outcome::Constraint)), "a batch that fails before its commit")?;
        let reply = Direct::new(&mut session).ask(Command::Rollback);
        told(reply, &session, "rollback behind a failed batch")?;
        same(
            table::count(&mut *administration)?.as_str(),
            "2",
            "rows after a commit behind a failed command",
        )?;
    }
    Ok(())
}

pub(super) fn isolation_is_set<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (sql, tells) = match fixture.target().dialect() {
        Dialect::Postgres => ("SELECT current_setting('transaction_isolation')", true),
        // MySQL has another name for it; nobody can run the suite on it without changing this.
        Dialect::MySql => ("SELECT @@SESSION.tx_isolation", true),
        _ => ("SELECT 'anything'", false),
    };
    let asked = [StatementSpec::kept(sql, &[], &[ValueType::Text])];
    for level in Isolation::ALL {
        if fixture.refuses().contains(&level) {
            is_refused(fixture, level)?;
            continue;
        }
        let mut session = connect(fixture, &asked, Some(level))?;
        let statement = Command::Statement { index: 0, arguments: &[] };
        let result = exchange(&mut session, &[Command::Begin, statement, Command::Commit]);
        told(result, &session, level.name())?;
        let Some(Value::Text(found)) = session.value(1, 0, 0) else {
            return Err(format!("{}: no text came back", level.name()));
        };
        if tells {
            let found = found.to_uppercase().replace('-', " ");
            same(found.as_str(), level.sql(), "the isolation level in the transaction")?;
        }
    }
    Ok(())
}

/// For good, and with words that name it.
fn is_refused<F: Fixture>(fixture: &F, level: Isolation) -> Result<(), String> {
    match fixture.target().connect(&[], Some(level)) {
        Ok(_) => Err(format!("{}: accepted, although the fixture says that it is refused", level.name())),
        Err(error) => ensure(!error.transient && error.message.contains(level.name()), || {
            format!("expected a permanent error that names {}, got {error:?}", level.name())
        }),
    }
}

/// What a transaction sees of another's commit between two looks at the same row.
pub(super) fn isolation_shows<F: Fixture>(fixture: &F) -> Result<(), String> {
    let dialect = fixture.target().dialect();
    // Where there are snapshots only, the weaker level shows no more.
    let weaker_sees_it = match dialect {
        Dialect::Postgres | Dialect::MySql => true,
        Dialect::DuckDb => false,
        _ => return Ok(()), // SQLite has one level, under which nobody else writes
    };
    if !fixture.isolates() {
        return Ok(());
    }
    let (one, from_one) = ([Value::Int(1)], [Value::Text("changed"), Value::Int(1)]);
    for (level, sees_it) in [(Isolation::ReadCommitted, weaker_sees_it), (Isolation::RepeatableRead, false)] {
        let (_administration, mut writer) = table::session(fixture, 1)?;
        let statements = table::statements(fixture.target().dialect());
        let mut reader = connect(fixture, &statements, Some(level))?;
        let look = Command::Statement { index: SELECT, arguments: &one };
        let result = exchange(&mut reader, &[Command::Begin, look]);
        told(result, &reader, "begin and select")?;
        let reply = Direct::new(&mut writer).ask(Command::Statement { index: UPDATE, arguments: &from_one });
        told(reply, &writer, "update")?;
        let result = exchange(&mut reader, &[look]);
        told(result, &reader, "the second select")?;
        let changed = reader.value(0, 0, 3) == Some(Value::Text("changed"));
        ensure(changed == sees_it, || {
            let not = if sees_it { "does not see" } else { "sees" };
            format!("{}: a transaction {not} what another has committed meanwhile", level.name())
        })?;
        let reply = Direct::new(&mut reader).ask(Command::Rollback);
        told(reply, &reader, "rollback")?;
    }
    Ok(())
}

pub(super) fn constraint_class<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 2)?;
    let duplicate = table::row(2);
    let reply = Direct::new(&mut session).ask(Command::Statement { index: INSERT, arguments: &duplicate });
    same(reply, Err(OpError::refused(Outcome::Constraint)), "a duplicate key")?;
    ensure(session.last_error().is_some_and(|words| !words.is_empty()), || {
        "last_error has no words for a violated constraint".to_owned()
    })
}
