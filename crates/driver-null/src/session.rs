//! The session that answers at once.

use driver::{
    Command, Decimal, KernelStamp, OpError, Reply, Results, Session, StatementSpec, ValueRef, ValueType,
};
use std::os::fd::RawFd;
use std::task::Poll;
use units::Outcome;

/// Commands of one batch whose place is preallocated; longer batches grow the list once.
const BATCH: usize = 64;

/// What a staged command will answer.
#[derive(Clone, Copy)]
enum Staged {
    /// No row: a ping or a transaction's bounds.
    Nothing,
    /// One row that was read and changed, of the statement at this index.
    Row(usize),
    /// One row without a statement: a key-value operation.
    Record,
}

/// A session of [`crate::NullTarget`].
pub struct NullSession {
    statements: Vec<Shape>,
    batch: Vec<Staged>,
    answered: bool,
    refused: bool,
}

/// What is left of a statement when nothing runs it.
struct Shape {
    parameters: usize,
    /// Types of the kept columns; empty when rows are only counted.
    columns: Vec<ValueType>,
}

impl NullSession {
    pub(crate) fn new(statements: &[StatementSpec]) -> NullSession {
        let shape = |spec: &StatementSpec| Shape {
            parameters: spec.parameters.len(),
            columns: if spec.results == Results::Keep { spec.columns.clone() } else { Vec::new() },
        };
        NullSession {
            statements: statements.iter().map(shape).collect(),
            batch: Vec::with_capacity(BATCH),
            answered: false,
            refused: false,
        }
    }
}

impl Session for NullSession {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    #[inline]
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if self.answered {
            self.batch.clear();
            self.answered = false;
        }
        let staged = match command {
            Command::Ping | Command::Begin | Command::Commit | Command::Rollback => Staged::Nothing,
            Command::KeyValue(_) => Staged::Record,
            Command::Statement { index, arguments } => match self.statements.get(index) {
                Some(shape) if shape.parameters == arguments.len() => Staged::Row(index),
                _ => {
                    self.refused = true;
                    self.batch.clear();
                    return Err(OpError::refused(Outcome::Protocol));
                }
            },
        };
        self.batch.push(staged);
        Ok(())
    }

    #[inline]
    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        self.answered = true;
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn reply(&self, command: usize) -> Reply {
        match self.batch.get(command) {
            Some(Staged::Row(_) | Staged::Record) if self.answered => Reply { rows: 1, affected: 1 },
            _ => Reply::default(),
        }
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let Staged::Row(index) = *self.batch.get(command).filter(|_| self.answered && row == 0)? else {
            return None;
        };
        Some(match *self.statements[index].columns.get(column)? {
            ValueType::Int => ValueRef::Int(0),
            ValueType::Float => ValueRef::Float(0.0),
            ValueType::Text => ValueRef::Text(""),
            ValueType::Timestamp => ValueRef::Timestamp(0),
            ValueType::Decimal(scale) => ValueRef::Decimal(Decimal { unscaled: 0, scale }),
        })
    }

    fn arrived(&self) -> Option<KernelStamp> {
        None
    }

    fn last_error(&self) -> Option<String> {
        self.refused.then(|| "unknown statement, or not as many arguments as it has parameters".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::{Direct, Value};

    fn session() -> NullSession {
        NullSession::new(&[
            StatementSpec::counted("UPDATE t SET a = ?1", &[ValueType::Int]),
            StatementSpec::kept("SELECT a, b FROM t", &[], &[ValueType::Int, ValueType::Text]),
        ])
    }

    #[test]
    fn statements_touch_a_row_and_bounds_do_not() {
        let mut session = session();
        let mut direct = Direct::new(&mut session);
        let update = Command::Statement { index: 0, arguments: &[Value::Int(1)] };
        assert_eq!(direct.ask(update).unwrap(), Reply { rows: 1, affected: 1 });
        for bound in [Command::Ping, Command::Begin, Command::Commit, Command::Rollback] {
            assert_eq!(direct.ask(bound).unwrap(), Reply::default());
        }
        assert!(
            direct
                .ask(Command::KeyValue(driver::KeyValue::Delete { table: "usertable", key: "a" }))
                .unwrap()
                .touched()
        );
    }

    #[test]
    fn kept_rows_have_values_of_their_types_until_the_next_stage() {
        let mut session = session();
        session.stage(Command::Begin).unwrap();
        session.stage(Command::Statement { index: 1, arguments: &[] }).unwrap();
        assert_eq!(session.reply(1), Reply::default(), "no reply before it was collected");
        assert!(session.poll_reply().is_ready());
        assert_eq!(session.value(1, 0, 0), Some(Value::Int(0)));
        assert_eq!(session.value(1, 0, 1), Some(Value::Text("")));
        assert_eq!(
            (session.value(1, 0, 2), session.value(1, 1, 0), session.value(0, 0, 0)),
            (None, None, None)
        );
        session.stage(Command::Ping).unwrap();
        assert_eq!(session.value(1, 0, 0), None);
    }

    #[test]
    fn what_a_real_driver_refuses_is_refused() {
        let mut session = session();
        assert_eq!(session.last_error(), None);
        for (index, arguments) in [(0, &[][..]), (1, &[Value::Null]), (2, &[])] {
            let error = session.stage(Command::Statement { index, arguments }).unwrap_err();
            assert_eq!(error, OpError::refused(Outcome::Protocol));
        }
        assert!(session.last_error().is_some());
    }
}
