//! A session: staged commands, run when the reply is asked for.

use crate::api::{Kind, RawResult, first_line, problem, returns};
use crate::arena::Arena;
use crate::chunk::Chunk;
use crate::database::{Answer, Connection, failure};
use crate::options::Options;
use crate::rows::{Rows, receive};
use crate::statement::Statement;
use driver::{
    Canceller, Command, ConnectError, KernelStamp, OpError, Reply, Results, Session, StatementSpec, Value,
    ValueRef, ValueType,
};
use std::ffi::c_uint;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use units::Outcome;

/// Room that is taken when connecting; larger batches grow it once.
const COMMANDS: usize = 64;
const ARGUMENTS: usize = 1 << 10;
const TEXT_BYTES: usize = 1 << 16;
const COLUMNS: usize = 64;

/// A connection with its prepared statements.
pub struct DuckDbSession {
    statements: Vec<Prepared>,
    bounds: Bounds,
    connection: Arc<Connection>,
    staged: Vec<Staged>,
    arguments: Arena,
    replies: Vec<Reply>,
    rows: Rows,
    kinds: Vec<Kind>,
    transaction: Transaction,
    answered: bool,
    cancelled: Arc<AtomicBool>,
    words: Words,
}

/// A statement of the workload.
struct Prepared {
    statement: Statement,
    /// Types of the columns when rows are kept.
    kept: Option<Vec<ValueType>>,
}

/// The statements of the other commands.
struct Bounds {
    ping: Statement,
    begin: Statement,
    commit: Statement,
    rollback: Statement,
}

/// Where the session stands; what a workload's own `BEGIN` does is not followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    None,
    Open,
    /// A statement failed in it: DuckDB rolls it back whatever is asked, and says so only of statements.
    Failed,
}

#[derive(Clone, Copy)]
enum Staged {
    Ping,
    Begin,
    Commit,
    Rollback,
    Statement { index: usize, first: usize },
}

/// The words of the last error, in memory of their own: errors happen on the hot path.
struct Words {
    bytes: Vec<u8>,
}

const WORDS_BYTES: usize = 512;

impl Words {
    /// Keeps a copy of the first line, cut at the room there is.
    fn set(&mut self, words: &[u8]) {
        let line = first_line(words);
        self.bytes.clear();
        self.bytes.extend_from_slice(&line[..line.len().min(WORDS_BYTES)]);
    }

    fn get(&self) -> Option<String> {
        (!self.bytes.is_empty()).then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

/// What becomes of a sample whose statement ended with an error of this class and these words.
pub(crate) fn outcome(class: c_uint, words: &[u8]) -> Outcome {
    let say = |part: &[u8]| words.windows(part.len()).any(|window| window == part);
    match class {
        problem::INTERRUPT => Outcome::Timeout,
        problem::CONSTRAINT => Outcome::Constraint,
        // "Conflict on update!", "Conflict on tuple deletion!", "write-write conflict".
        problem::TRANSACTION if say(b"onflict") => Outcome::Serialization,
        // "Failed to commit: PRIMARY KEY or UNIQUE constraint violation": both had inserted the key.
        problem::TRANSACTION if say(b"constraint") => Outcome::Constraint,
        problem::OUT_OF_MEMORY => Outcome::Unavailable,
        _ => Outcome::Server,
    }
}

impl DuckDbSession {
    pub(crate) fn open(options: &Options, specs: &[StatementSpec]) -> Result<DuckDbSession, ConnectError> {
        let connection = Arc::new(Connection::open(options)?);
        let bounds = Bounds {
            // There is no round trip; this is the cheapest call that enters the engine.
            ping: prepare(&connection, "SELECT 1")?,
            begin: prepare(&connection, "BEGIN TRANSACTION")?,
            commit: prepare(&connection, "COMMIT")?,
            rollback: prepare(&connection, "ROLLBACK")?,
        };
        let statements =
            specs.iter().map(|spec| prepare_spec(&connection, spec)).collect::<Result<_, _>>()?;
        Ok(DuckDbSession {
            statements,
            bounds,
            connection,
            staged: Vec::with_capacity(COMMANDS),
            arguments: Arena::new(ARGUMENTS, TEXT_BYTES),
            replies: Vec::with_capacity(COMMANDS),
            rows: Rows::new(),
            kinds: Vec::with_capacity(COLUMNS),
            transaction: Transaction::None,
            answered: false,
            cancelled: Arc::new(AtomicBool::new(false)),
            words: Words { bytes: Vec::with_capacity(WORDS_BYTES) },
        })
    }

    fn stage_statement(&mut self, index: usize, arguments: &[Value<'_>]) -> Result<Staged, OpError> {
        let Some(Prepared { statement, .. }) = self.statements.get(index) else {
            return Err(self.refuse("there is no statement with this index"));
        };
        if statement.parameters() != arguments.len() {
            return Err(self.refuse("not as many arguments as the statement has parameters"));
        }
        if !arguments.iter().enumerate().all(|(place, argument)| statement.takes(place, *argument)) {
            return Err(self.refuse("an argument is out of the range of its parameter's type"));
        }
        let first = self.arguments.len();
        for argument in arguments {
            self.arguments.push(*argument);
        }
        Ok(Staged::Statement { index, first })
    }

    fn forget(&mut self) {
        self.staged.clear();
        self.arguments.clear();
        self.replies.clear();
        self.rows.clear();
    }

    fn refuse(&mut self, words: &str) -> OpError {
        self.words.set(words.as_bytes());
        OpError::refused(Outcome::Protocol)
    }

    fn run_batch(&mut self) -> Result<(), OpError> {
        self.cancelled.store(false, Ordering::Relaxed);
        for command in 0..self.staged.len() {
            // DuckDB forgets an interrupt that comes between two statements. Relaxed: nothing else is passed along.
            if self.cancelled.load(Ordering::Relaxed) {
                self.words.set(b"interrupted");
                return Err(OpError::refused(Outcome::Timeout));
            }
            let reply = match self.staged[command] {
                Staged::Ping => self.bound(|bounds| &mut bounds.ping),
                Staged::Begin => self.bound(|bounds| &mut bounds.begin).inspect(|_| {
                    self.transaction = Transaction::Open;
                }),
                Staged::Commit => self.commit(),
                Staged::Rollback => self.roll_back(),
                Staged::Statement { index, first } => self.run_statement(command, index, first),
            }?;
            self.replies.push(reply);
        }
        Ok(())
    }

    fn bound(&mut self, choose: fn(&mut Bounds) -> &mut Statement) -> Result<Reply, OpError> {
        match choose(&mut self.bounds).run() {
            Ok(_) => Ok(Reply::default()),
            Err(answer) => Err(self.failed(answer)),
        }
    }

    /// DuckDB answers a commit of a failed transaction as if it were one; nothing was committed.
    fn commit(&mut self) -> Result<Reply, OpError> {
        let before = std::mem::replace(&mut self.transaction, Transaction::None);
        let reply = self.bound(|bounds| &mut bounds.commit)?;
        if before == Transaction::Failed {
            self.words.set(b"the transaction had failed before: its commit rolled it back");
            return Err(OpError::refused(Outcome::Server));
        }
        Ok(reply)
    }

    /// Outside of a transaction there is nothing to do.
    fn roll_back(&mut self) -> Result<Reply, OpError> {
        self.transaction = Transaction::None;
        match self.bounds.rollback.run() {
            Ok(_) => Ok(Reply::default()),
            Err(mut answer) => {
                let says_none = answer.words().windows(NO_TRANSACTION.len()).any(|w| w == NO_TRANSACTION);
                if says_none { Ok(Reply::default()) } else { Err(self.failed(answer)) }
            }
        }
    }

    fn run_statement(&mut self, command: usize, index: usize, first: usize) -> Result<Reply, OpError> {
        let Prepared { statement, kept } = &mut self.statements[index];
        for parameter in 0..statement.parameters() {
            let Some(value) = self.arguments.get(first + parameter) else { break };
            if !statement.bind(parameter, value) {
                return Err(self.refuse("DuckDB does not take an argument"));
            }
        }
        let mut answer = match statement.run() {
            Ok(answer) => answer,
            Err(answer) => return Err(self.failed(answer)),
        };
        let api = self.connection.api();
        // SAFETY: the result is alive until the end of this function, as in all calls below.
        let class = unsafe { (api.result_return_type)(answer.raw) };
        let mut reply = Reply::default();
        if class == returns::CHANGED_ROWS {
            // SAFETY: see above.
            reply.affected = unsafe { (api.rows_changed)(&mut answer.raw) };
            return Ok(reply);
        }
        if class != returns::QUERY_RESULT {
            return Ok(reply);
        }
        kinds_of(api, &mut answer.raw, &mut self.kinds);
        if kept.is_some() {
            self.rows.start(command, self.kinds.len());
        }
        // SAFETY: the chunk goes before the result does.
        while let Some(chunk) = unsafe { Chunk::next(api, answer.raw) } {
            reply.rows += chunk.rows() as u64;
            let kept = match kept {
                None => {
                    receive(&chunk, &self.kinds);
                    Ok(())
                }
                Some(types) => self.rows.keep(&chunk, &self.kinds, types),
            };
            if kept.is_err() {
                drop(chunk);
                return Err(self.refuse("a value is not of its column's declared type"));
            }
        }
        if statement.changes() {
            reply.affected = reply.rows;
        }
        Ok(reply)
    }

    /// Keeps the words of an error, and what it does to the transaction.
    fn failed(&mut self, mut answer: Answer) -> OpError {
        self.words.set(answer.words());
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
        match answer.is_fatal() {
            // DuckDB has invalidated the database: it must be opened anew.
            true => OpError::lost(Outcome::ConnectionLost),
            false => OpError::refused(answer.outcome()),
        }
    }
}

const NO_TRANSACTION: &[u8] = b"no transaction is active";

/// The kinds of a result's columns, into memory that is there.
pub(crate) fn kinds_of(api: &crate::api::Api, raw: &mut RawResult, kinds: &mut Vec<Kind>) {
    kinds.clear();
    // SAFETY: the result is alive.
    let count = unsafe { (api.column_count)(raw) };
    // SAFETY: as above; the type is given to nobody else.
    kinds.extend((0..count).map(|index| unsafe { Kind::take(api, (api.column_logical_type)(raw, index)) }));
}

impl Session for DuckDbSession {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if self.answered {
            self.answered = false;
            self.forget();
        }
        let staged = match command {
            Command::Ping => Ok(Staged::Ping),
            Command::Begin => Ok(Staged::Begin),
            Command::Commit => Ok(Staged::Commit),
            Command::Rollback => Ok(Staged::Rollback),
            Command::Statement { index, arguments } => self.stage_statement(index, arguments),
            Command::KeyValue(_) => Err(self.refuse("DuckDB has no key-value commands")),
        };
        match staged {
            Ok(staged) => self.staged.push(staged),
            // Half a batch must never run.
            Err(_) => self.forget(),
        }
        staged.map(drop)
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        if self.answered {
            return Poll::Ready(Ok(()));
        }
        self.answered = true;
        Poll::Ready(self.run_batch())
    }

    fn reply(&self, command: usize) -> Reply {
        self.replies.get(command).copied().unwrap_or_default()
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        if self.answered { self.rows.value(command, row, column) } else { None }
    }

    fn arrived(&self) -> Option<KernelStamp> {
        None
    }

    fn last_error(&self) -> Option<String> {
        self.words.get()
    }

    fn canceller(&self) -> Option<Canceller> {
        // A session that is gone has nothing to interrupt, and its file must not stay open for that.
        let (connection, cancelled) = (Arc::downgrade(&self.connection), self.cancelled.clone());
        Some(Box::new(move || {
            cancelled.store(true, Ordering::Relaxed);
            if let Some(connection) = connection.upgrade() {
                connection.interrupt();
            }
        }))
    }
}

fn prepare(connection: &Arc<Connection>, sql: &str) -> Result<Statement, ConnectError> {
    Statement::prepare(connection, sql)
        .map_err(|words| failure(&connection.path, &format!("{words} in `{sql}`")))
}

fn prepare_spec(connection: &Arc<Connection>, spec: &StatementSpec) -> Result<Prepared, ConnectError> {
    let statement = prepare(connection, &spec.sql)?;
    let differ = |what: &str, found: usize, stated: usize| {
        failure(&connection.path, &format!("{found} {what}, {stated} stated, in `{}`", spec.sql))
    };
    let (parameters, columns) = (statement.parameters(), statement.columns());
    if parameters != spec.parameters.len() {
        return Err(differ("parameters", parameters, spec.parameters.len()));
    }
    let kept = (spec.results == Results::Keep).then(|| spec.columns.clone());
    if let Some(types) = &kept
        && types.len() != columns
    {
        return Err(differ("columns", columns, types.len()));
    }
    Ok(Prepared { statement, kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_told_by_number_and_where_that_says_too_little_by_words() {
        for (class, words, expected) in [
            (10, "TransactionContext Error: Conflict on update!", Outcome::Serialization),
            (10, "TransactionContext Error: Conflict on tuple deletion!", Outcome::Serialization),
            (10, "Catalog write-write conflict on alter with \"t\"", Outcome::Serialization),
            (10, "Failed to commit: PRIMARY KEY or UNIQUE constraint violation", Outcome::Constraint),
            (10, "Current transaction is aborted (please ROLLBACK)", Outcome::Server),
            (18, "Constraint Error: Duplicate key \"id: 1\"", Outcome::Constraint),
            (29, "INTERRUPT Error: Interrupted!", Outcome::Timeout),
            (33, "Out of Memory Error: failed to pin block", Outcome::Unavailable),
            (2, "Conversion Error: a conflict of types", Outcome::Server),
        ] {
            assert_eq!(outcome(class, words.as_bytes()), expected, "{words}");
        }
    }

    #[test]
    fn words_are_one_line_and_no_longer_than_their_room() {
        let mut words = Words { bytes: Vec::new() };
        words.set(b"Parser Error: x\n\nLINE 1: y");
        assert_eq!(words.get().as_deref(), Some("Parser Error: x"));
        words.set(&[b'x'; 2 * WORDS_BYTES]);
        assert_eq!(words.get().map(|text| text.len()), Some(WORDS_BYTES));
    }
}
