//! What becomes of transactions that meet, as far as the fixture says that they do.

use super::batches::exchange;
use super::table::{self, NAME};
use super::{Conflict, Fixture, connect, moment, same, told};
use crate::{Command, Direct, Isolation, OpError, Session, StatementSpec, Target, Value, ValueType};

const READ: usize = 0;
const WRITE: usize = 1;
const ONE: [Value<'static>; 1] = [Value::Int(1)];
const TWO: [Value<'static>; 1] = [Value::Int(2)];

fn write<'a>(row: &'a [Value<'a>; 1]) -> Command<'a> {
    Command::Statement { index: WRITE, arguments: row }
}

/// Two sessions on a table of two rows, with the conflict's settings.
fn pair<F: Fixture>(
    fixture: &F,
    conflict: Conflict,
    isolation: Option<Isolation>,
) -> Result<[<F::Target as Target>::Session; 2], String> {
    drop(table::fresh(fixture, 2)?);
    let dialect = fixture.target().dialect();
    let (read, write) = (
        format!("SELECT number FROM {NAME} WHERE id = {}", dialect.placeholder(1)),
        format!("UPDATE {NAME} SET number = 7 - id WHERE id = {}", dialect.placeholder(1)),
    );
    let int = [ValueType::Int];
    let mut statements = vec![StatementSpec::counted(read, &int), StatementSpec::counted(write, &int)];
    statements.extend(conflict.settings.iter().map(|sql| StatementSpec::counted(*sql, &[])));
    let prepared = || -> Result<<F::Target as Target>::Session, String> {
        let mut session = connect(fixture, &statements, isolation)?;
        for (index, setting) in statements.iter().enumerate().skip(WRITE + 1) {
            let reply = Direct::new(&mut session).ask(Command::Statement { index, arguments: &[] });
            told(reply, &session, &setting.sql)?;
        }
        Ok(session)
    };
    Ok([prepared()?, prepared()?])
}

/// Each has changed a row and now wants the other's: one is the victim and told so, and the other goes on.
pub(super) fn deadlock_class<F: Fixture>(fixture: &F) -> Result<(), String> {
    let Some(conflict) = fixture.deadlock() else { return Ok(()) };
    let [mut first, mut second] = pair(fixture, conflict, None)?;
    let result = exchange(&mut first, &[Command::Begin, write(&ONE)]);
    told(result, &first, "begin and update")?;
    let result = exchange(&mut second, &[Command::Begin, write(&TWO)]);
    told(result, &second, "begin and update")?;
    let ends = std::thread::scope(|scope| {
        let other = scope.spawn(|| last_write(&mut first, &TWO));
        let own = last_write(&mut second, &ONE);
        other.join().map(|other| [other, own])
    });
    let ends = ends.map_err(|_| "a session panicked".to_owned())?;
    let refusal = Err(OpError::refused(conflict.outcome));
    if [[Ok(()), refusal], [refusal, Ok(())]].contains(&ends) {
        Ok(())
    } else {
        Err(format!("one of two that wait for each other must end in {refusal:?}; they ended in {ends:?}"))
    }
}

/// The transaction's last; it ends then in any case, so that whoever waits for it goes on.
fn last_write<S: Session>(session: &mut S, row: &[Value<'_>; 1]) -> Result<(), OpError> {
    let result = exchange(session, &[Command::Statement { index: WRITE, arguments: row }]);
    let _ = exchange(session, &[Command::Rollback]);
    result
}

/// A row that is locked for longer than a session waits.
pub(super) fn locked_class<F: Fixture>(fixture: &F) -> Result<(), String> {
    let Some(conflict) = fixture.locked() else { return Ok(()) };
    let [mut holder, mut other] = pair(fixture, conflict, None)?;
    let result = exchange(&mut holder, &[Command::Begin, write(&ONE)]);
    told(result, &holder, "begin and update")?;
    let result = ended(&mut other, write(&ONE))?;
    same(result, Err(OpError::refused(conflict.outcome)), "a change to a row that another has locked")?;
    let result = exchange(&mut holder, &[Command::Rollback]);
    told(result, &holder, "rollback")?;
    let result = exchange(&mut other, &[write(&ONE)]);
    told(result, &other, "the same change, when the row is free")
}

/// A row that was changed since it was read.
pub(super) fn overtaken_class<F: Fixture>(fixture: &F) -> Result<(), String> {
    let Some(conflict) = fixture.overtaken() else { return Ok(()) };
    let [mut slow, mut fast] = pair(fixture, conflict, Some(Isolation::RepeatableRead))?;
    let read = Command::Statement { index: READ, arguments: &ONE };
    let result = exchange(&mut slow, &[Command::Begin, read]);
    told(result, &slow, "begin and select")?;
    let result = exchange(&mut fast, &[write(&ONE)]);
    told(result, &fast, "an update by somebody else")?;
    let result = exchange(&mut slow, &[write(&ONE)]);
    same(result, Err(OpError::refused(conflict.outcome)), "a change to a row that was changed since")?;
    let result = exchange(&mut slow, &[Command::Rollback]);
    told(result, &slow, "rollback")?;
    let result = exchange(&mut slow, &[write(&ONE)]);
    told(result, &slow, "the same change afterwards")
}

/// Runs one command that may take long, and not for ever: who tries again and again in secret would.
fn ended<S: Session>(session: &mut S, command: Command<'_>) -> Result<Result<(), OpError>, String> {
    let mut left = super::PATIENCE;
    session.stage(command).map_err(|error| format!("staging: {error:?}"))?;
    loop {
        if let std::task::Poll::Ready(result) = session.poll_reply() {
            return Ok(result);
        }
        left -= 1;
        if left == 0 {
            return Err("no answer within half a minute; is it tried again in secret?".to_owned());
        }
        moment();
    }
}
