//! A connection whose client is in.

use super::copying::Copying;
use super::messages::Body;
use super::named::Named;
use super::outbox::Outbox;
use super::replies::{self, Severity};
use super::{End, Turn, violation};
use crate::sql::{Call, Completion, Datum, Format, Prepared, RowBuffer, Session, SqlError, state};
use crate::{Arrival, Decision, ErrorClass, Injection, Operation};
use std::sync::Arc;
use units::Nanos;

/// Answers to what was received at once may have so many bytes, so that a flood of small requests does not become a larger
/// one of answers.
const ANSWERS_MAX: usize = 128 << 20;

/// The state between two messages.
#[derive(Debug)]
pub(super) struct Established {
    pub(super) session: Session,
    /// `None` is the empty statement.
    pub(super) statements: Named<Option<Arc<Prepared>>>,
    pub(super) portals: Named<Portal>,
    /// Whether all is skipped up to the next Sync.
    pub(super) skipping: bool,
    pub(super) copying: Option<Copying>,
}

/// A statement with its parameters, ready to be executed.
#[derive(Debug)]
pub(super) struct Portal {
    pub(super) prepared: Option<Arc<Prepared>>,
    pub(super) parameters: Vec<Datum<'static>>,
    pub(super) formats: Vec<Format>,
    pub(super) progress: Progress,
}

/// How far a portal has been executed.
#[derive(Debug)]
pub(super) enum Progress {
    Fresh,
    /// Rows that were found and not sent: encoded, from `at` on.
    Suspended {
        rows: Vec<u8>,
        at: usize,
    },
    Done,
}

/// What the server does with a statement that has been admitted.
pub(super) enum Verdict {
    Execute,
    /// A fault takes its place.
    Refuse(SqlError),
    /// The connection ends before it.
    Nothing,
}

impl Verdict {
    pub(super) fn of(decision: &Decision) -> Verdict {
        match decision.injection {
            Some(Injection::Error(class)) => Verdict::Refuse(injected(class)),
            Some(injection) if !injection.executes() => Verdict::Nothing,
            _ => Verdict::Execute,
        }
    }
}

/// An injected error, in PostgreSQL's words for its class.
fn injected(class: ErrorClass) -> SqlError {
    let (state, message) = match class {
        ErrorClass::Serialization => {
            (state::SERIALIZATION_FAILURE, "could not serialize access due to concurrent update")
        }
        ErrorClass::Deadlock => (state::DEADLOCK, "deadlock detected"),
        ErrorClass::Busy => (state::LOCK_NOT_AVAILABLE, "could not obtain lock on row"),
        ErrorClass::Retryable => (state::CANNOT_CONNECT_NOW, "the database system is in recovery mode"),
        ErrorClass::Internal => (state::INTERNAL, "internal error"),
    };
    SqlError::new(state, message).with_detail("This fault was injected by truetail's store.")
}

impl Turn<'_> {
    /// Admits a request; bytes belong to its answer from here on.
    pub(super) fn admit(&mut self, operation: Operation, key: &[u8]) -> Decision {
        let decision = self.engine.admit(self.arrival, operation, key);
        self.outbox.begin(decision, self.answers);
        decision
    }

    /// The moment at which what is not itself a request looks at data: never before anybody else's.
    pub(super) fn now(&self) -> Nanos {
        let Arrival { at, .. } = self.arrival;
        self.engine.last_begun().max(at)
    }
}

impl Established {
    pub(super) fn new(session: Session) -> Established {
        Established {
            session,
            statements: Named::new("prepared statements"),
            portals: Named::new("portals"),
            skipping: false,
            copying: None,
        }
    }

    /// Bytes of memory, about: sums that are kept, no walk.
    pub(super) fn holds(&self) -> usize {
        let named = self.statements.holds() + self.portals.holds();
        size_of::<Established>()
            + self.session.holds()
            + named
            + self.copying.as_ref().map_or(0, Copying::holds)
    }

    /// Deals with one message.
    pub(super) fn message(&mut self, tag: u8, body: &[u8], turn: &mut Turn<'_>) -> Result<(), End> {
        if self.copying.is_some() {
            return self.copy_message(tag, body, turn);
        }
        if self.skipping && !matches!(tag, b'S' | b'X') {
            return Ok(());
        }
        let body = Body(body);
        match tag {
            b'Q' => self.query(body, turn),
            b'P' => self.extended(body, turn, Established::parse),
            b'B' => self.extended(body, turn, Established::bind),
            b'D' => self.extended(body, turn, Established::describe),
            b'E' => self.extended(body, turn, Established::execute),
            b'C' => self.extended(body, turn, Established::close),
            b'H' => {
                turn.outbox.flush(turn.answers);
                Ok(())
            }
            b'S' => {
                self.sync(turn);
                Ok(())
            }
            b'F' => {
                let error = SqlError::unsupported("function calls outside of SQL");
                self.fail(&error, turn.outbox);
                replies::ready(turn.outbox.bytes(), self.session.status());
                turn.outbox.flush(turn.answers);
                Ok(())
            }
            // The rest of a COPY whose error the client had not seen yet.
            b'd' | b'c' | b'f' => Ok(()),
            b'X' => Err(End::Quiet),
            _ => Err(violation(format!("invalid frontend message type {tag}"))),
        }
    }

    /// Runs the handler of a message of the extended protocol: after an error all is skipped up to Sync.
    fn extended(
        &mut self,
        body: Body<'_>,
        turn: &mut Turn<'_>,
        handler: fn(&mut Established, Body<'_>, &mut Turn<'_>) -> Result<(), Problem>,
    ) -> Result<(), End> {
        match handler(self, body, turn) {
            Ok(()) => Ok(()),
            Err(Problem::Malformed) => Err(violation("invalid message format")),
            Err(Problem::Sql(error)) => {
                self.fail(&error, turn.outbox);
                self.skipping = true;
                turn.outbox.flush(turn.answers);
                Ok(())
            }
        }
    }

    /// Tells the client what went wrong; the transaction is lost.
    pub(super) fn fail(&mut self, error: &SqlError, outbox: &mut Outbox) {
        self.session.fail();
        replies::error(outbox.bytes(), Severity::Error, error);
    }

    /// The end of an implicit transaction, if this is one: what was written is there for all.
    pub(super) fn end_request(&mut self, turn: &mut Turn<'_>) {
        let at = turn.now();
        self.session.end_request(turn.engine, at, turn.outbox.made());
        let engine = &*turn.engine;
        turn.outbox.committed(turn.answers, |decision| engine.spread(decision, at));
        if !self.session.in_block() {
            self.portals.clear();
        }
    }

    /// Executes an admitted statement. Rows go to the outbox, and are taken back if it fails.
    pub(super) fn run(
        &mut self,
        call: &Call<'_>,
        formats: &[Format],
        turn: &mut Turn<'_>,
    ) -> Result<Completion, SqlError> {
        let most = ANSWERS_MAX.saturating_sub(turn.answers.bytes().len());
        let mut rows = RowBuffer::new(turn.outbox.bytes(), formats, most);
        let result = self.session.run(call, &mut turn.library.catalog, turn.engine, &mut rows);
        match result {
            Ok(completion) => {
                turn.outbox.tell(completion.staleness, completion.writes);
                Ok(completion)
            }
            Err(error) => {
                rows.clear();
                Err(error)
            }
        }
    }

    /// `SELECT truetail('…')`: a command to the store, answered at once with one row.
    pub(super) fn control(
        &mut self,
        prepared: &Prepared,
        parameters: &[Datum<'static>],
        formats: &[Format],
        turn: &mut Turn<'_>,
    ) -> Result<bool, SqlError> {
        let crate::sql::Plan::Control(command) = &prepared.plan else { return Ok(false) };
        let at = turn.arrival.at;
        let command = self.session.command(command, parameters, &turn.library.catalog, at)?;
        let said = turn
            .engine
            .control(at, &command)
            .map_err(|message| SqlError::new(state::INVALID_PARAMETER, message))?;
        let mut rows = RowBuffer::new(turn.outbox.bytes(), formats, ANSWERS_MAX);
        rows.push_data(&[(Datum::Text(said.into()), crate::sql::Type::Text)])?;
        Ok(true)
    }
}

/// Why a message of the extended protocol has no effect.
pub(super) enum Problem {
    /// It is not what the protocol has.
    Malformed,
    Sql(SqlError),
}

impl From<SqlError> for Problem {
    fn from(error: SqlError) -> Problem {
        Problem::Sql(error)
    }
}

/// Notices, the tag, and settings that changed.
pub(super) fn write_completion(completion: &Completion, outbox: &mut Outbox) {
    let out = outbox.bytes();
    for notice in &completion.notices {
        replies::notice(out, notice);
    }
    replies::complete(out, completion.tag);
    if let Some((name, value)) = &completion.reported {
        replies::parameter_status(out, name, value);
    }
}

/// Admits what can't be understood: it is a request, too.
pub(super) fn admit_unknown(turn: &mut Turn<'_>) -> Decision {
    turn.admit(Operation::Other, &[])
}
