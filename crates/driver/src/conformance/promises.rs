//! What a driver says of itself, held against what it does.

use super::batches::exchange;
use super::key_value::{self, has_records};
use super::table::{self, COUNT_FROM, INSERT, SELECT, UPDATE};
use super::{Fixture, connect, ensure, same, speaks_sql, told};
use crate::{Command, Direct, Execution, Session, Target, TargetFacts, Value};

fn facts<F: Fixture>(fixture: &F) -> Result<TargetFacts, String> {
    let mut administration = fixture.target().administer().map_err(|e| format!("administer: {e}"))?;
    administration.facts().map_err(|e| format!("facts: {e}"))
}

pub(super) fn facts_are_stated<F: Fixture>(fixture: &F) -> Result<(), String> {
    let facts = facts(fixture)?;
    for (name, text) in [("product", &facts.product), ("version", &facts.version)] {
        ensure(!text.is_empty(), || format!("the fact `{name}` is empty"))?;
    }
    let transports = ["tcp", "tcp+tls", "unix", "in-process"];
    ensure(transports.contains(&facts.transport.as_str()), || {
        format!("transport `{}` is none of {transports:?}", facts.transport)
    })?;
    ensure(!facts.settings.iter().any(|(name, _)| name.contains("password")), || {
        "a password is among the facts".to_owned()
    })?;
    let session = connect(fixture, &[], None)?;
    match (fixture.target().execution(), session.descriptor()) {
        (Execution::Blocking, Some(_)) => Err("a blocking session has a descriptor".to_owned()),
        // In process a session may answer without ever pending, as the null target's; over a network it pends, and
        // without a descriptor nobody would wake it.
        (Execution::Polled, None) if facts.transport != "in-process" => {
            Err(format!("a polled session over {} has no descriptor to wait for", facts.transport))
        }
        _ => Ok(()),
    }
}

/// A transaction and a few single requests: all kinds of commands that a session has.
fn steady_round<S: Session>(session: &mut S, round: i64, sql: bool) -> Result<(), String> {
    let reply = Direct::new(session).ask(Command::Ping);
    told(reply, session, "ping")?;
    if !sql {
        return Ok(());
    }
    let id = [Value::Int(round % 20 + 1)];
    let words = if round % 2 == 0 { "a rather long text, for what it is worth" } else { "short" };
    let change = [Value::Text(words), Value::Int(20)];
    let duplicate = table::row(1);
    for command in [
        Command::Statement { index: SELECT, arguments: &id },
        Command::Statement { index: COUNT_FROM, arguments: &id },
        Command::Statement { index: UPDATE, arguments: &change },
    ] {
        let reply = Direct::new(session).ask(command);
        told(reply, session, "statement")?;
    }
    ensure(session.value(0, 0, 0).is_none(), || "an update has values".to_owned())?;
    let transaction = [
        Command::Begin,
        Command::Statement { index: SELECT, arguments: &id },
        Command::Statement { index: UPDATE, arguments: &change },
        Command::Commit,
    ];
    let result = exchange(session, &transaction);
    told(result, session, "transaction")?;
    ensure(session.value(1, 0, 3).is_some() && session.reply(2).affected == 1, || {
        "the transaction's replies are wrong".to_owned()
    })?;
    let refused = Direct::new(session).ask(Command::Statement { index: INSERT, arguments: &duplicate });
    ensure(refused.is_err_and(|e| e.session_usable), || "a duplicate key was not refused".to_owned())
}

pub(super) fn no_allocation<F: Fixture>(fixture: &F) -> Result<(), String> {
    if !facts(fixture)?.native {
        return Ok(());
    }
    let calls = || {
        fixture.allocator_calls().ok_or_else(|| "a native driver's fixture must count allocations".to_owned())
    };
    let before = calls()?;
    drop(std::hint::black_box(Box::new(0_u8)));
    ensure(calls()? > before, || "the fixture's allocation count does not count".to_owned())?;
    if has_records(fixture) {
        let (mut session, keys) = key_value::steady(fixture)?;
        return steady_state(&calls, |round| key_value::steady_round(&mut session, round, &keys));
    }
    let sql = speaks_sql(fixture);
    let mut session = if sql { table::session(fixture, 20)?.1 } else { connect(fixture, &[], None)? };
    steady_state(&calls, |round| steady_round(&mut session, round as i64, sql))
}

/// Rounds that may allocate, then rounds that may not.
fn steady_state(
    calls: &dyn Fn() -> Result<u64, String>,
    mut work: impl FnMut(usize) -> Result<(), String>,
) -> Result<(), String> {
    (0..50).try_for_each(&mut work)?;
    let before = calls()?;
    (0..1000).try_for_each(&mut work)?;
    same(calls()? - before, 0, "calls of the allocator in 1000 rounds")
}

pub(super) fn kernel_stamps<F: Fixture>(fixture: &F) -> Result<(), String> {
    let promised = facts(fixture)?.kernel_stamps;
    let now = || {
        fixture
            .wall_time_ns()
            .ok_or_else(|| "a fixture of a target with stamps must tell the time".to_owned())
    };
    let mut session = connect(fixture, &[], None)?;
    for number in 1..=100 {
        let before = if promised { now()? } else { 0 };
        let reply = Direct::new(&mut session).ask(Command::Ping);
        told(reply, &session, "ping")?;
        let Some(stamp) = session.arrived() else {
            ensure(!promised, || format!("a promised kernel stamp is missing, that of answer {number}"))?;
            continue;
        };
        ensure(promised, || "there is a kernel stamp that the facts deny".to_owned())?;
        let after = now()?;
        ensure((before..=after).contains(&stamp.realtime_ns), || {
            format!("kernel stamp {} outside of its request [{before}, {after}]", stamp.realtime_ns)
        })?;
    }
    Ok(())
}
