//! Query: one text, perhaps of several statements.

use super::copying::Copying;
use super::established::{Established, Verdict, admit_unknown, write_completion};
use super::messages::Body;
use super::{End, Turn, replies, violation};
use crate::sql::{
    Call, Plan, Prepared, SqlError, Statement, parse, prepare, prepare_one, size_of_all, text_of,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// A statement of a Query that waits for those before it.
#[derive(Debug)]
pub(super) enum Waiting {
    /// Its plan is known: it was the only one, and there before.
    Planned(Arc<Prepared>),
    Parsed(Arc<Statement>),
}

impl Waiting {
    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        let content = match self {
            Waiting::Planned(prepared) => prepared.bytes,
            Waiting::Parsed(statement) => size_of_all(&**statement),
        };
        size_of::<Waiting>() + content
    }

    /// The plan; tables that the statements before it made are there by now.
    fn plan(self, turn: &Turn<'_>) -> Result<Arc<Prepared>, SqlError> {
        let prepared = match self {
            Waiting::Planned(prepared) => prepared,
            Waiting::Parsed(statement) => Arc::new(prepare(statement, Vec::new(), &turn.library.catalog)?),
        };
        if !prepared.parameters.is_empty() {
            return Err(SqlError::new(crate::sql::state::UNDEFINED_PARAMETER, "there is no parameter $1"));
        }
        Ok(prepared)
    }
}

impl Established {
    pub(super) fn query(&mut self, mut body: Body<'_>, turn: &mut Turn<'_>) -> Result<(), End> {
        let text =
            body.text().filter(|_| body.is_empty()).ok_or_else(|| violation("invalid message format"))?;
        self.statements.remove(b"");
        self.portals.remove(b"");
        match text_of(text).and_then(|text| understand(text, turn)) {
            Ok(statements) if statements.is_empty() => self.empty_query(turn),
            Ok(statements) => self.statements(statements, None, turn),
            Err(error) => self.unknown(&error, turn),
        }
        Ok(())
    }

    fn empty_query(&mut self, turn: &mut Turn<'_>) {
        let decision = turn.admit(crate::Operation::Ping, &[]);
        match Verdict::of(&decision) {
            Verdict::Execute => replies::bare(turn.outbox.bytes(), b'I'),
            Verdict::Refuse(error) => self.fail(&error, turn.outbox),
            Verdict::Nothing => {}
        }
        self.end_of_query(turn);
    }

    /// A text that is no SQL, or none that the store knows.
    fn unknown(&mut self, error: &SqlError, turn: &mut Turn<'_>) {
        let decision = admit_unknown(turn);
        match Verdict::of(&decision) {
            Verdict::Execute => self.fail(error, turn.outbox),
            Verdict::Refuse(error) => self.fail(&error, turn.outbox),
            Verdict::Nothing => {}
        }
        self.end_of_query(turn);
    }

    /// Executes statements up to the first that fails, or the first COPY, which goes on with the next messages.
    /// `bytes` is their memory where that has been measured.
    pub(super) fn statements(
        &mut self,
        mut statements: VecDeque<Waiting>,
        bytes: Option<usize>,
        turn: &mut Turn<'_>,
    ) {
        while let Some(statement) = statements.pop_front() {
            let prepared = match statement.plan(turn) {
                Ok(prepared) => prepared,
                Err(error) => return self.unknown(&error, turn),
            };
            if let Plan::CopyIn { table, columns } = &prepared.plan {
                if let Err(error) = self.session.check_may_copy(&prepared.plan) {
                    return self.unknown(&error, turn);
                }
                let copying = Copying::new(Arc::clone(table), columns.clone(), statements, bytes);
                replies::copy_in(turn.outbox.bytes(), copying.width());
                turn.outbox.flush(turn.answers);
                self.copying = Some(copying);
                return;
            }
            let is_done = match &prepared.plan {
                Plan::Control(_) => self.control_query(&prepared, turn),
                _ => self.statement(&prepared, turn),
            };
            if !is_done {
                break;
            }
        }
        self.end_of_query(turn);
    }

    fn control_query(&mut self, prepared: &Prepared, turn: &mut Turn<'_>) -> bool {
        // It does not wait for the statements before it.
        turn.outbox.flush(turn.answers);
        if let Some(columns) = &prepared.columns {
            replies::row_description(turn.outbox.bytes(), columns, &[]);
        }
        let result = self
            .session
            .check_not_failed(&prepared.plan)
            .and_then(|()| self.control(prepared, &[], &[], turn));
        match result {
            Ok(_) => {
                replies::complete(turn.outbox.bytes(), crate::sql::Tag::Counted("SELECT", 1));
                true
            }
            Err(error) => {
                self.fail(&error, turn.outbox);
                false
            }
        }
    }

    /// One timed statement; whether the next one may follow.
    fn statement(&mut self, prepared: &Arc<Prepared>, turn: &mut Turn<'_>) -> bool {
        let (operation, key) = self.session.route(prepared, &[], &turn.library.catalog);
        let decision = turn.admit(operation, &key);
        match Verdict::of(&decision) {
            Verdict::Execute => {}
            Verdict::Refuse(error) => {
                self.fail(&error, turn.outbox);
                return false;
            }
            Verdict::Nothing => return false,
        }
        let before = turn.outbox.bytes().len();
        if let Some(columns) = &prepared.columns {
            replies::row_description(turn.outbox.bytes(), columns, &[]);
        }
        let call = Call { prepared, parameters: &[], decision: &decision };
        match self.run(&call, &[], turn) {
            Ok(completion) => {
                write_completion(&completion, turn.outbox);
                true
            }
            Err(error) => {
                turn.outbox.bytes().truncate(before);
                self.fail(&error, turn.outbox);
                false
            }
        }
    }

    pub(super) fn end_of_query(&mut self, turn: &mut Turn<'_>) {
        self.end_request(turn);
        replies::ready(turn.outbox.bytes(), self.session.status());
        turn.outbox.flush(turn.answers);
    }
}

/// The statements of a text; a single one may be known from before.
fn understand(text: &str, turn: &mut Turn<'_>) -> Result<VecDeque<Waiting>, SqlError> {
    if let Some(found) = turn.library.plans.find(text, &[], &turn.library.catalog) {
        return Ok(VecDeque::from([Waiting::Planned(found)]));
    }
    let mut statements = parse(text)?;
    if let [Statement::CreateTable(_) | Statement::DropTables { .. } | Statement::Copy { .. }] =
        statements[..]
    {
        // They change what others are planned with, and seldom come twice.
        return Ok(statements.drain(..).map(Arc::new).map(Waiting::Parsed).collect());
    }
    if statements.len() == 1 {
        let library = &mut *turn.library;
        let known = statements.remove(0);
        let prepared = prepare_one(text, known, Vec::new(), &library.catalog, &mut library.plans)?;
        return Ok(VecDeque::from([Waiting::Planned(prepared)]));
    }
    // The collection takes over the room of the statements, which is many times what pointers to them need.
    let mut waiting: VecDeque<_> = statements.into_iter().map(Arc::new).map(Waiting::Parsed).collect();
    waiting.shrink_to_fit();
    Ok(waiting)
}
