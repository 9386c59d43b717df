//! What a server does to its clients, as far as the fixture can make it: who is let in, what is encrypted, what becomes of
//! what was given up, and of sessions when it goes down.

use super::batches::exchange;
use super::{Fixture, PATIENCE, connect, ensure, moment, same, told};
use crate::{Administration, Command, Direct, Execution, OpError, Session, StatementSpec, Target};
use units::Outcome;

const LONG: Command<'static> = Command::Statement { index: 0, arguments: &[] };

/// For good, in one line, and without the password.
pub(super) fn wrong_password<F: Fixture>(fixture: &F) -> Result<(), String> {
    let Some((target, password)) = fixture.with_wrong_password() else { return Ok(()) };
    let refusals = [target.connect(&[], None).err(), target.administer().err()];
    for refusal in refusals {
        let error = refusal.ok_or("a wrong password let somebody in")?;
        ensure(!error.transient, || format!("a wrong password may pass, it is said: {error}"))?;
        ensure(!error.message.contains(password), || "the password is in the message".to_owned())?;
        ensure(!error.message.is_empty() && !error.message.contains('\n'), || {
            format!("not one line: {error:?}")
        })?;
    }
    // The right one still does.
    pinged(&mut connect(fixture, &[], None)?)
}

pub(super) fn tls<F: Fixture>(fixture: &F) -> Result<(), String> {
    let Some(encrypted) = fixture.over_tls() else { return Ok(()) };
    let facts = encrypted.trusting.administer().and_then(|mut administration| administration.facts());
    let facts = facts.map_err(|e| format!("facts over TLS: {e}"))?;
    same(facts.transport.as_str(), "tcp+tls", "the transport")?;
    pinged(&mut encrypted.trusting.connect(&[], None).map_err(|e| format!("connect over TLS: {e}"))?)?;
    let refusal = encrypted.doubting.connect(&[], None).err();
    let error = refusal.ok_or("a certificate that nobody known has signed was trusted")?;
    ensure(!error.transient && !error.message.contains('\n'), || {
        format!("expected a permanent error in one line, got {error:?}")
    })
}

fn pinged<S: Session>(session: &mut S) -> Result<(), String> {
    let reply = Direct::new(session).ask(Command::Ping);
    told(reply, session, "ping").map(drop)
}

/// A session that blocks is interrupted; one that is polled is dropped, as after a timeout, and the next connection ends
/// what it left behind.
pub(super) fn given_up<F: Fixture>(fixture: &F) -> Result<(), String> {
    let Some(long) = fixture.long_statement() else { return Ok(()) };
    let statements = [StatementSpec::counted(long.sql, &[])];
    let mut session = connect(fixture, &statements, None)?;
    if fixture.target().execution() == Execution::Blocking {
        return interrupted(&mut session);
    }
    let mut watcher = fixture.target().administer().map_err(|e| format!("administer: {e}"))?;
    let staged = session.stage(LONG);
    told(staged, &session, "staging")?;
    ensure(session.poll_reply().is_pending(), || "the long statement was over at once".to_owned())?;
    until(&mut *watcher, long.running, true, PATIENCE)?;
    drop(session);
    pinged(&mut connect(fixture, &statements, None)?)?;
    until(&mut *watcher, long.running, false, long.patience)
}

fn until(watcher: &mut dyn Administration, running: &str, wanted: bool, patience: u32) -> Result<(), String> {
    for _ in 0..patience {
        let rows = watcher.query(running).map_err(|e| e.to_string())?;
        if rows.is_empty() != wanted {
            return Ok(());
        }
        moment();
    }
    let not = if wanted { "does not run" } else { "runs on" };
    Err(format!("the long statement {not}, as was seen {patience} times"))
}

fn interrupted<S: Session>(session: &mut S) -> Result<(), String> {
    let cancel = session.canceller().ok_or("a session that blocks has no canceller")?;
    let (result, tries) = std::thread::scope(|scope| {
        let work = scope.spawn(|| exchange(session, &[LONG]));
        let mut tries = 0;
        // Before the statement has begun there is nothing to interrupt.
        while !work.is_finished() && tries < PATIENCE {
            moment();
            cancel();
            tries += 1;
        }
        (work.join(), tries)
    });
    let result = result.map_err(|_| "the session panicked".to_owned())?;
    ensure(result.is_err() && tries < PATIENCE, || {
        format!("interrupted {tries} times, the long statement ended in {result:?}")
    })?;
    pinged(session)
}

/// Sessions are lost with their class and stay lost, nothing connects again in secret, and connecting says that it may
/// pass, which it does.
pub(super) fn restart<F: Fixture>(fixture: &F) -> Result<(), String> {
    let statements: Vec<StatementSpec> =
        fixture.long_statement().iter().map(|long| StatementSpec::counted(long.sql, &[])).collect();
    let (mut idle, mut busy) = (connect(fixture, &statements, None)?, connect(fixture, &statements, None)?);
    pinged(&mut idle)?;
    if !statements.is_empty() && fixture.target().execution() == Execution::Polled {
        let staged = busy.stage(LONG);
        told(staged, &busy, "staging")?;
        ensure(busy.poll_reply().is_pending(), || "the long statement was over at once".to_owned())?;
    } else {
        let staged = busy.stage(Command::Ping);
        told(staged, &busy, "staging")?;
    }
    let Some(stopped) = fixture.stop() else {
        return Ok(());
    };
    stopped?;
    let refusals = [fixture.target().connect(&statements, None).err(), fixture.target().administer().err()];
    // Whatever was found, the checks after this one need the server.
    fixture.launch()?;
    let lost = Err(OpError::lost(Outcome::ConnectionLost));
    same(exchange(&mut busy, &[]), lost, "what was in flight when the server went down")?;
    let staged = idle.stage(Command::Ping);
    told(staged, &idle, "staging on a session that was idle when the server went down")?;
    same(exchange(&mut idle, &[]), lost, "a ping on a session that was idle when the server went down")?;
    for session in [&mut idle, &mut busy] {
        ensure(session.last_error().is_some_and(|words| !words.is_empty()), || {
            "a lost session left no words in last_error".to_owned()
        })?;
        same(session.stage(Command::Ping), lost, "staging on a lost session")?;
    }
    for refusal in refusals {
        let error = refusal.ok_or("somebody connected to a server that was down")?;
        ensure(error.transient && !error.message.contains('\n'), || {
            format!("expected a transient error in one line, got {error:?}")
        })?;
    }
    pinged(&mut connect(fixture, &statements, None)?)
}
