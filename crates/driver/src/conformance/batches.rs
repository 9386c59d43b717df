//! Exchanges: single commands, batches, refusals, several sessions.

use super::key_value::{self, has_records};
use super::table::{self, COUNT_FROM, DELETE, INSERT, SELECT};
use super::{Fixture, connect, ensure, same, speaks_sql, told};
use crate::{
    Command, Conversation, Dialect, Direct, Fields, Isolation, KeyValue, OpError, Reply, Session, Target,
    Value,
};
use units::Outcome;

/// Stages all commands, then exchanges once.
pub(super) fn exchange<S: Session>(session: &mut S, commands: &[Command<'_>]) -> Result<(), OpError> {
    let mut direct = Direct::new(session);
    for command in commands {
        direct.stage(*command)?;
    }
    Direct::<S>::run(direct.exchange())
}

pub(super) fn pings_are_answered<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = connect(fixture, &[], None)?;
    for _ in 0..3 {
        let reply = Direct::new(&mut session).ask(Command::Ping);
        same(told(reply, &session, "ping")?, Reply::default(), "a ping's reply")?;
    }
    Ok(())
}

pub(super) fn empty_exchange_succeeds<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = connect(fixture, &[], None)?;
    let result = exchange(&mut session, &[]);
    told(result, &session, "an exchange of nothing")?;
    same(session.reply(0), Reply::default(), "the reply of a command that was not sent")
}

pub(super) fn unknown_statement_is_refused<F: Fixture>(fixture: &F) -> Result<(), String> {
    let mut session = connect(fixture, &[], None)?;
    refused_and_usable(&mut session, Command::Statement { index: 0, arguments: &[] })
}

/// Commands of the other kind: records where there are tables; transactions where there are records.
pub(super) fn what_the_target_lacks_is_refused<F: Fixture>(fixture: &F) -> Result<(), String> {
    if fixture.target().dialect() == Dialect::Null {
        return Ok(()); // lacks nothing
    }
    let mut session = connect(fixture, &[], None)?;
    if !has_records(fixture) {
        let read = KeyValue::Read {
            table: "truetail_conformance",
            key: "truetail_conformance",
            fields: Fields::All,
        };
        return refused_and_usable(&mut session, Command::KeyValue(read));
    }
    for command in [Command::Begin, Command::Commit, Command::Rollback] {
        refused_and_usable(&mut session, command)?;
    }
    key_value::refusal_takes_the_batch_along(fixture)?;
    match fixture.target().connect(&[], Some(Isolation::Serializable)) {
        Ok(_) => Err("an isolation level was accepted without transactions".to_owned()),
        Err(error) => ensure(!error.transient && error.message.contains("isolation"), || {
            format!("expected a permanent error that speaks of isolation, got {error:?}")
        }),
    }
}

pub(super) fn wrong_argument_count_is_refused<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return Ok(());
    }
    let dialect = fixture.target().dialect();
    if !speaks_sql(fixture) {
        let mut session = connect(fixture, &table::statements(dialect), None)?;
        return refused_and_usable(&mut session, Command::Statement { index: SELECT, arguments: &[] });
    }
    let (mut administration, mut session) = table::session(fixture, 1)?;
    let two = [Value::Int(1), Value::Int(1)];
    refused_and_usable(&mut session, Command::Statement { index: SELECT, arguments: &[] })?;
    refused_and_usable(&mut session, Command::Statement { index: SELECT, arguments: &two })?;
    let new = table::row(50);
    let staged = session.stage(Command::Statement { index: INSERT, arguments: &new });
    told(staged, &session, "staging an insert")?;
    let refusal = session.stage(Command::Statement { index: SELECT, arguments: &two });
    same(refusal, Err(OpError::refused(Outcome::Protocol)), "staging what can't be sent")?;
    let reply = Direct::new(&mut session).ask(Command::Statement { index: SELECT, arguments: &two[..1] });
    same(told(reply, &session, "select")?.rows, 1, "rows of the first command after a refusal")?;
    same(table::count(&mut *administration)?.as_str(), "1", "rows after half a batch was refused")
}

/// A refused command takes what was staged before it along, and leaves the session usable.
pub(super) fn refused_and_usable<S: Session>(session: &mut S, command: Command<'_>) -> Result<(), String> {
    let staged = session.stage(Command::Ping);
    told(staged, session, "staging a ping")?;
    let refusal = session.stage(command);
    same(refusal, Err(OpError::refused(Outcome::Protocol)), "staging what can't be sent")?;
    ensure(session.last_error().is_some_and(|words| !words.is_empty()), || {
        "a refusal left no words in last_error".to_owned()
    })?;
    for _ in 0..2 {
        let reply = Direct::new(session).ask(Command::Ping);
        told(reply, session, "a ping after a refusal")?;
    }
    Ok(())
}

pub(super) fn many_exchanges<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::many_exchanges(fixture);
    }
    if !speaks_sql(fixture) {
        let mut session = connect(fixture, &[], None)?;
        return (0..1000).try_for_each(|_| {
            let reply = Direct::new(&mut session).ask(Command::Ping);
            told(reply, &session, "ping").map(drop)
        });
    }
    let (_administration, mut session) = table::session(fixture, 20)?;
    for round in 0..1000 {
        let id = round % 20 + 1;
        let arguments = [Value::Int(id)];
        let reply =
            Direct::new(&mut session).ask(Command::Statement { index: SELECT, arguments: &arguments });
        same(told(reply, &session, "select")?.rows, 1, "rows of a point select")?;
        same(session.value(0, 0, 0), Some(Value::Int(id)), "the id selected")?;
    }
    Ok(())
}

pub(super) fn batch_answers_in_order<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::batch_answers_in_order(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 30)?;
    let ids: Vec<[Value<'_>; 1]> = (1..=30).map(|id| [Value::Int(id)]).collect();
    let mut commands: Vec<Command<'_>> =
        ids.iter().map(|id| Command::Statement { index: SELECT, arguments: id }).collect();
    commands.push(Command::Ping);
    let insert = table::row(31);
    commands.push(Command::Statement { index: INSERT, arguments: &insert });
    commands.push(Command::Statement { index: COUNT_FROM, arguments: &ids[10] });
    let result = exchange(&mut session, &commands);
    told(result, &session, "a batch")?;
    for (command, id) in (0..30).zip(1..) {
        same(session.reply(command), Reply { rows: 1, affected: 0 }, "reply of a select in a batch")?;
        same(session.value(command, 0, 0), Some(Value::Int(id)), "value of a select in a batch")?;
    }
    same(session.reply(30), Reply::default(), "reply of a ping in a batch")?;
    same(session.reply(31), Reply { rows: 0, affected: 1 }, "reply of an insert in a batch")?;
    same(session.reply(32), Reply { rows: 21, affected: 0 }, "reply of a counted select in a batch")?;
    same(session.reply(33), Reply::default(), "reply past the end of the batch")
}

pub(super) fn error_in_a_batch<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::error_in_a_batch(fixture);
    }
    if !speaks_sql(fixture) {
        return Ok(());
    }
    let (_administration, mut session) = table::session(fixture, 3)?;
    let (new, duplicate, one) = (table::row(4), table::row(2), [Value::Int(1)]);
    let commands = [
        Command::Statement { index: INSERT, arguments: &new },
        Command::Statement { index: INSERT, arguments: &duplicate },
        Command::Statement { index: SELECT, arguments: &one },
    ];
    let result = exchange(&mut session, &commands);
    same(result, Err(OpError::refused(Outcome::Constraint)), "a batch with a duplicate key in it")?;
    for _ in 0..3 {
        let reply = Direct::new(&mut session).ask(Command::Statement { index: SELECT, arguments: &one });
        same(told(reply, &session, "after a failed batch")?.rows, 1, "rows after a failed batch")?;
        same(session.value(0, 0, 0), Some(Value::Int(1)), "value after a failed batch")?;
    }
    Ok(())
}

pub(super) fn two_sessions<F: Fixture>(fixture: &F) -> Result<(), String> {
    if has_records(fixture) {
        return key_value::two_sessions(fixture);
    }
    if !speaks_sql(fixture) {
        let (mut first, mut second) = (connect(fixture, &[], None)?, connect(fixture, &[], None)?);
        return [&mut first, &mut second].into_iter().try_for_each(|session| {
            let reply = Direct::new(session).ask(Command::Ping);
            told(reply, session, "ping").map(drop)
        });
    }
    let (mut administration, mut first) = table::session(fixture, 0)?;
    let mut second = connect(fixture, &table::statements(fixture.target().dialect()), None)?;
    for id in 1..=10 {
        let row = table::row(id);
        let writer = if id % 2 == 0 { &mut first } else { &mut second };
        let reply = Direct::new(writer).ask(Command::Statement { index: INSERT, arguments: &row });
        same(told(reply, writer, "insert")?.affected, 1, "rows inserted")?;
        let reader = if id % 2 == 0 { &mut second } else { &mut first };
        let one = [Value::Int(id)];
        let reply = Direct::new(reader).ask(Command::Statement { index: SELECT, arguments: &one });
        same(told(reply, reader, "select")?.rows, 1, "rows that the other session sees")?;
    }
    drop(first); // a session that ends must not disturb the other
    let from = [Value::Int(6)];
    let reply = Direct::new(&mut second).ask(Command::Statement { index: DELETE, arguments: &from });
    same(told(reply, &second, "delete")?.affected, 5, "rows deleted")?;
    same(table::count(&mut *administration)?.as_str(), "5", "rows left")
}
