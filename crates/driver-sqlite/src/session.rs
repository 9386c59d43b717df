//! A session: staged commands, run when the reply is asked for.

use crate::arguments::Arena;
use crate::database::{Database, failure};
use crate::options::Options;
use crate::rows::{Rows, receive};
use crate::statement::{Statement, Step};
use driver::{
    Canceller, Command, ConnectError, KernelStamp, OpError, Reply, Results, Session, StatementSpec, Value,
    ValueRef, ValueType,
};
use rusqlite::ffi;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use units::Outcome;

/// Room that is taken when connecting; larger batches grow it once.
const COMMANDS: usize = 64;
const ARGUMENTS: usize = 1 << 10;
const TEXT_BYTES: usize = 1 << 16;

/// A connection with its prepared statements.
pub struct SqliteSession {
    // Statements first: they must be finalized before the connection closes.
    statements: Vec<Prepared>,
    bounds: Bounds,
    database: Database,
    staged: Vec<Staged>,
    arguments: Arena,
    replies: Vec<Reply>,
    rows: Rows,
    answered: bool,
    cancelled: Arc<AtomicBool>,
    words: Words,
}

/// A statement of the workload.
struct Prepared {
    statement: Statement,
    parameters: usize,
    columns: usize,
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
    fn new() -> Words {
        Words { bytes: Vec::with_capacity(WORDS_BYTES) }
    }

    /// Keeps a copy, cut at the room there is.
    fn set(&mut self, words: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&words[..words.len().min(WORDS_BYTES)]);
    }

    fn get(&self) -> Option<String> {
        (!self.bytes.is_empty()).then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

impl SqliteSession {
    pub(crate) fn open(options: &Options, specs: &[StatementSpec]) -> Result<SqliteSession, ConnectError> {
        let database = Database::open(options)?;
        let bounds = Bounds {
            // There is no round trip; this is the cheapest call that enters the engine.
            ping: prepare(&database, options, "SELECT 1")?,
            begin: prepare(&database, options, options.begin_sql())?,
            commit: prepare(&database, options, "COMMIT")?,
            rollback: prepare(&database, options, "ROLLBACK")?,
        };
        let statements =
            specs.iter().map(|spec| prepare_spec(&database, options, spec)).collect::<Result<_, _>>()?;
        Ok(SqliteSession {
            statements,
            bounds,
            database,
            staged: Vec::with_capacity(COMMANDS),
            arguments: Arena::new(ARGUMENTS, TEXT_BYTES),
            replies: Vec::with_capacity(COMMANDS),
            rows: Rows::new(),
            answered: false,
            cancelled: Arc::new(AtomicBool::new(false)),
            words: Words::new(),
        })
    }

    fn stage_statement(&mut self, index: usize, arguments: &[Value<'_>]) -> Result<Staged, OpError> {
        let Some(prepared) = self.statements.get(index) else {
            return Err(self.refuse("there is no statement with this index"));
        };
        if prepared.parameters != arguments.len() {
            return Err(self.refuse("not as many arguments as the statement has parameters"));
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
            // An interrupt between two statements would be lost on SQLite. Relaxed: nothing else is passed along.
            if self.cancelled.load(Ordering::Relaxed) {
                self.words.set(b"interrupted");
                return Err(OpError::refused(Outcome::Timeout));
            }
            let reply = match self.staged[command] {
                Staged::Ping => self.bound(|bounds| &mut bounds.ping),
                Staged::Begin => self.bound(|bounds| &mut bounds.begin),
                Staged::Commit => self.bound(|bounds| &mut bounds.commit),
                Staged::Rollback => self.roll_back(),
                Staged::Statement { index, first } => self.run_statement(command, index, first),
            }?;
            self.replies.push(reply);
        }
        Ok(())
    }

    fn bound(&mut self, choose: fn(&mut Bounds) -> &mut Statement) -> Result<Reply, OpError> {
        let statement = choose(&mut self.bounds);
        let ended = loop {
            match statement.step() {
                Step::Row => {}
                Step::Done => break None,
                Step::Failed(code) => break Some(code),
            }
        };
        if let Some(code) = ended {
            return Err(self.failed(code, |session| choose(&mut session.bounds).reset()));
        }
        statement.reset();
        Ok(Reply::default())
    }

    /// Outside of a transaction, or after SQLite rolled back by itself, there is nothing to do.
    fn roll_back(&mut self) -> Result<Reply, OpError> {
        // SAFETY: the connection is open.
        if unsafe { ffi::sqlite3_get_autocommit(self.database.raw()) } != 0 {
            return Ok(Reply::default());
        }
        self.bound(|bounds| &mut bounds.rollback)
    }

    fn run_statement(&mut self, command: usize, index: usize, first: usize) -> Result<Reply, OpError> {
        let raw = self.database.raw();
        let prepared = &mut self.statements[index];
        for parameter in 0..prepared.parameters {
            let Some(value) = self.arguments.get(first + parameter) else { break };
            // SAFETY: the arena isn't touched again before the reset below; each later run binds all anew.
            let code = unsafe { prepared.statement.bind(parameter, value) };
            if code != ffi::SQLITE_OK {
                return Err(self.failed(code, |_| ()));
            }
        }
        if prepared.kept.is_some() {
            self.rows.start(command, prepared.columns);
        }
        // SAFETY: the connection is open.
        let before = unsafe { ffi::sqlite3_total_changes64(raw) };
        let mut reply = Reply::default();
        loop {
            match prepared.statement.step() {
                Step::Done => break,
                Step::Failed(code) => {
                    return Err(self.failed(code, |session| session.statements[index].statement.reset()));
                }
                Step::Row => {
                    reply.rows += 1;
                    let kept = match &prepared.kept {
                        None => {
                            receive(&prepared.statement, prepared.columns);
                            Ok(())
                        }
                        Some(types) => self.rows.keep(&prepared.statement, types),
                    };
                    if kept.is_err() {
                        prepared.statement.reset();
                        return Err(self.refuse("a stored value is not of its column's declared type"));
                    }
                }
            }
        }
        prepared.statement.reset();
        if !prepared.statement.reads_only() {
            // `changes` keeps its value through statements that change no row, so the total decides.
            // SAFETY: the connection is open.
            let (after, changed) =
                unsafe { (ffi::sqlite3_total_changes64(raw), ffi::sqlite3_changes64(raw)) };
            reply.affected = if after == before { 0 } else { changed as u64 };
        }
        Ok(reply)
    }

    /// Keeps the words of an error, then `clean`s up, which would overwrite them.
    fn failed(&mut self, code: std::ffi::c_int, clean: impl FnOnce(&mut Self)) -> OpError {
        self.words.set(self.database.words());
        clean(self);
        OpError::refused(self.database.outcome(code))
    }
}

impl Session for SqliteSession {
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
            Command::KeyValue(_) => Err(self.refuse("SQLite has no key-value commands")),
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
        let (interrupter, cancelled) = (self.database.interrupter(), self.cancelled.clone());
        Some(Box::new(move || {
            cancelled.store(true, Ordering::Relaxed);
            interrupter.interrupt();
        }))
    }
}

fn prepare(database: &Database, options: &Options, sql: &str) -> Result<Statement, ConnectError> {
    let problem = |words: &str| failure(&options.path, &format!("{words} in `{sql}`"));
    // SAFETY: the session drops its statements before the connection.
    match unsafe { Statement::prepare(database.raw(), sql) } {
        Err(_) => Err(problem(&database.words_text())),
        Ok((None, _)) => Err(problem("no statement")),
        Ok((Some(_), taken)) if !sql[taken..].trim().is_empty() => Err(problem("more than one statement")),
        Ok((Some(statement), _)) => Ok(statement),
    }
}

fn prepare_spec(
    database: &Database,
    options: &Options,
    spec: &StatementSpec,
) -> Result<Prepared, ConnectError> {
    let statement = prepare(database, options, &spec.sql)?;
    let differ = |what: &str, found: usize, stated: usize| {
        failure(&options.path, &format!("{found} {what}, {stated} stated, in `{}`", spec.sql))
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
    Ok(Prepared { statement, parameters, columns, kept })
}
