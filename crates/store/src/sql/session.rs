//! One client's session: its settings, its transaction, and what a statement does to them.

use super::catalog::Catalog;
use super::copy::CopyIn;
use super::datum::Datum;
use super::error::{SqlError, state};
use super::execute::{self, Source};
use super::expression::{Context, Row, Typed};
use super::modify::Target;
use super::moment;
use super::plan::{Plan, Prepared};
use super::rows::RowBuffer;
use super::schema;
use super::settings::{self, Settings};
use super::syntax::Modes;
use super::transaction::Transaction;
use super::types::Type;
use crate::{Decision, Engine, Operation, Staleness};
use std::io::Write;
use units::Nanos;

/// Something a client is told besides the answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Notice {
    pub(crate) severity: &'static str,
    pub(crate) state: &'static str,
    pub(crate) message: String,
}

impl Notice {
    pub(crate) fn new(state: &'static str, message: impl Into<String>) -> Notice {
        Notice { severity: "NOTICE", state, message: message.into() }
    }

    fn warning(state: &'static str, message: &str) -> Notice {
        Notice { severity: "WARNING", state, message: message.to_owned() }
    }
}

/// The tag of a CommandComplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    Insert(u64),
    /// A word and the number of rows.
    Counted(&'static str, u64),
    Plain(&'static str),
}

impl Tag {
    /// The number of rows; 0 where it says none.
    fn rows(self) -> u64 {
        match self {
            Tag::Insert(rows) | Tag::Counted(_, rows) => rows,
            Tag::Plain(_) => 0,
        }
    }

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        // Writing into a Vec cannot fail.
        let _ = match self {
            Tag::Insert(rows) => write!(out, "INSERT 0 {rows}"),
            Tag::Counted(word, rows) => write!(out, "{word} {rows}"),
            Tag::Plain(words) => write!(out, "{words}"),
        };
    }
}

/// What became of a statement.
#[derive(Debug)]
pub(crate) struct Completion {
    pub(crate) tag: Tag,
    /// Of a read.
    pub(crate) staleness: Option<Staleness>,
    /// Whether it wrote what the end of its request commits.
    pub(crate) writes: bool,
    pub(crate) notices: Vec<Notice>,
    /// Settings that the client is to be told of.
    pub(crate) reported: Option<(&'static str, String)>,
}

impl Completion {
    fn new(tag: Tag) -> Completion {
        Completion { tag, staleness: None, writes: false, notices: Vec::new(), reported: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Block {
    /// No BEGIN: a transaction ends with its request.
    None,
    Open,
    Failed,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) user: String,
    pub(crate) database: String,
    /// What stands for a process number.
    pub(crate) backend: u32,
    pub(crate) settings: Settings,
    /// Wall time of the store's epoch, in ns since 1970.
    pub(crate) epoch_wall_ns: u64,
    block: Block,
    transaction: Transaction,
}

/// What a statement is executed with.
pub(crate) struct Call<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) parameters: &'a [Datum<'static>],
    pub(crate) decision: &'a Decision,
}

/// The expressions' view of a session, without its transaction: that one is written to meanwhile.
macro_rules! context {
    ($session:expr, $catalog:expr, $parameters:expr, $at:expr) => {
        Context {
            parameters: $parameters,
            now: moment::from_wall_ns($session.epoch_wall_ns.saturating_add($at.0)),
            settings: &$session.settings,
            catalog: $catalog,
            user: &$session.user,
            database: &$session.database,
            backend: $session.backend,
        }
    };
}

impl Session {
    pub(crate) fn new(user: String, database: String, backend: u32, epoch_wall_ns: u64) -> Session {
        let mut settings = Settings::default();
        settings.set_fixed("session_authorization", &user);
        let (block, transaction) = (Block::None, Transaction::default());
        Session { user, database, backend, settings, epoch_wall_ns, block, transaction }
    }

    /// Bytes of memory: what is written and not committed, settings, names.
    pub(crate) fn holds(&self) -> usize {
        self.transaction.bytes() + self.settings.holds() + self.user.len() + self.database.len()
    }

    /// The state of the transaction, as ReadyForQuery says it.
    pub(crate) fn status(&self) -> u8 {
        match self.block {
            Block::None => b'I',
            Block::Open => b'T',
            Block::Failed => b'E',
        }
    }

    /// Whether a transaction is between its BEGIN and its end.
    pub(crate) fn in_block(&self) -> bool {
        self.block != Block::None
    }

    /// Refuses a COPY that could not be begun by a statement.
    pub(crate) fn check_may_copy(&self, plan: &Plan) -> Result<(), SqlError> {
        self.check_not_failed(plan)?;
        self.check_may_write(plan)
    }

    /// Refuses what can't be done in a transaction that has failed.
    pub(crate) fn check_not_failed(&self, plan: &Plan) -> Result<(), SqlError> {
        if self.block == Block::Failed && !matches!(plan, Plan::Commit | Plan::Rollback) {
            return Err(SqlError::new(
                state::FAILED_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        Ok(())
    }

    /// A statement could not be done: what the transaction wrote is lost.
    pub(crate) fn fail(&mut self) {
        self.transaction.roll_back();
        match self.block {
            Block::Open => self.block = Block::Failed,
            Block::None => self.settings.end_transaction(),
            Block::Failed => {}
        }
    }

    /// The end of a request outside of BEGIN and COMMIT: what it wrote is there for all from `at` on. `made` is told the
    /// numbers of the requests that wrote it.
    pub(crate) fn end_request(&mut self, engine: &mut Engine, at: Nanos, made: impl FnMut(u64)) {
        if self.block == Block::None {
            self.transaction.commit(engine.data_mut(), at, made);
            self.settings.end_transaction();
        }
    }

    /// What the timing model needs to know of a statement.
    pub(crate) fn route(
        &self,
        prepared: &Prepared,
        parameters: &[Datum<'static>],
        catalog: &Catalog,
    ) -> (Operation, Vec<u8>) {
        let context = context!(self, catalog, parameters, Nanos(0));
        (prepared.plan.operation(), prepared.plan.key(&context))
    }

    /// The text of a command to the store.
    pub(crate) fn command(
        &self,
        command: &Typed,
        parameters: &[Datum<'static>],
        catalog: &Catalog,
        at: Nanos,
    ) -> Result<String, SqlError> {
        let context = context!(self, catalog, parameters, at);
        Ok(command.value(Row::NONE, &context)?.to_text(command.kind.kind))
    }

    /// Executes a statement; its rows go to `rows`.
    ///
    /// # Errors
    /// The caller then calls [`Session::fail`].
    pub(crate) fn run(
        &mut self,
        call: &Call<'_>,
        catalog: &mut Catalog,
        engine: &mut Engine,
        rows: &mut RowBuffer<'_>,
    ) -> Result<Completion, SqlError> {
        let plan = &call.prepared.plan;
        self.check_not_failed(plan)?;
        self.check_may_write(plan)?;
        match plan {
            Plan::Select(_) | Plan::Insert(_) | Plan::Update(_) | Plan::Delete(_) => {
                self.run_on_rows(call, catalog, engine, rows)
            }
            Plan::CreateTable { .. } | Plan::DropTables { .. } | Plan::Truncate(_) | Plan::CreateIndex => {
                self.run_on_tables(plan, catalog, engine)
            }
            Plan::Begin { .. } | Plan::Commit | Plan::Rollback | Plan::SetTransaction { .. } => {
                self.run_transaction(call, engine)
            }
            Plan::Set { .. } | Plan::ResetAll | Plan::Show(_) | Plan::ShowAll => {
                self.run_on_settings(plan, rows)
            }
            Plan::Maintenance("VACUUM") if self.in_block() => {
                let message = "VACUUM cannot run inside a transaction block";
                Err(SqlError::new(state::ACTIVE_TRANSACTION, message))
            }
            Plan::Maintenance(tag) => Ok(Completion::new(Tag::Plain(tag))),
            Plan::CopyIn { .. } | Plan::Control(_) => {
                Err(SqlError::unsupported("COPY and truetail() here; send them as simple queries"))
            }
        }
    }

    fn check_may_write(&self, plan: &Plan) -> Result<(), SqlError> {
        match plan.writes() {
            Some(what) if self.settings.get("transaction_read_only") == Some("on") => {
                let message = format!("cannot execute {what} in a read-only transaction");
                Err(SqlError::new(state::READ_ONLY, message))
            }
            _ => Ok(()),
        }
    }

    fn run_on_rows(
        &mut self,
        call: &Call<'_>,
        catalog: &Catalog,
        engine: &Engine,
        rows: &mut RowBuffer<'_>,
    ) -> Result<Completion, SqlError> {
        let view = Engine::view(call.decision);
        let context = context!(self, catalog, call.parameters, view.at);
        let data = engine.data();
        let plan = &call.prepared.plan;
        if let Plan::Select(select) = plan {
            let source = Source { data, transaction: &self.transaction, view };
            let staleness = execute::select(select, source, &context, rows)?;
            let tag = Tag::Counted("SELECT", rows.count());
            return Ok(Completion { staleness, ..Completion::new(tag) });
        }
        let mut target = Target { data, transaction: &mut self.transaction, view };
        let tag = match plan {
            Plan::Insert(insert) => Tag::Insert(insert.run(&mut target, &context)?),
            Plan::Update(update) => Tag::Counted("UPDATE", update.run(&mut target, &context)?),
            Plan::Delete(delete) => Tag::Counted("DELETE", delete.run(&mut target, &context)?),
            _ => return Err(SqlError::new(state::INTERNAL, "not a statement about rows")),
        };
        // Of a write in a transaction, COMMIT decides when it is there.
        let writes = !self.in_block() && tag.rows() > 0;
        Ok(Completion { writes, ..Completion::new(tag) })
    }

    fn run_on_tables(
        &mut self,
        plan: &Plan,
        catalog: &mut Catalog,
        engine: &mut Engine,
    ) -> Result<Completion, SqlError> {
        let mut notices = Vec::new();
        let tag = match plan {
            Plan::CreateTable { name, if_not_exists, columns, key } => {
                schema::create(name, *if_not_exists, columns, *key, catalog, &mut notices)?;
                Tag::Plain("CREATE TABLE")
            }
            Plan::DropTables { names, if_exists } => {
                let data = engine.data_mut();
                schema::drop_tables(names, *if_exists, catalog, data, &mut self.transaction, &mut notices)?;
                Tag::Plain("DROP TABLE")
            }
            Plan::Truncate(tables) => {
                for table in tables {
                    schema::empty(&table.name, engine.data_mut(), &mut self.transaction);
                }
                Tag::Plain("TRUNCATE TABLE")
            }
            _ => {
                let message = "the simulated store keeps no indexes but primary keys: nothing was made";
                notices.push(Notice::new("00000", message));
                Tag::Plain("CREATE INDEX")
            }
        };
        Ok(Completion { notices, ..Completion::new(tag) })
    }

    fn run_transaction(&mut self, call: &Call<'_>, engine: &mut Engine) -> Result<Completion, SqlError> {
        let mut completion = Completion::new(Tag::Plain("SET"));
        match &call.prepared.plan {
            Plan::Begin { start, modes } => {
                completion.tag = Tag::Plain(if *start { "START TRANSACTION" } else { "BEGIN" });
                if self.block == Block::Open {
                    let message = "there is already a transaction in progress";
                    completion.notices.push(Notice::warning(state::ACTIVE_TRANSACTION, message));
                }
                self.set_modes(*modes, "transaction", true)?;
                self.block = Block::Open;
            }
            Plan::SetTransaction { session: true, modes } => {
                self.set_modes(*modes, "default_transaction", false)?;
            }
            Plan::SetTransaction { modes, .. } => {
                if self.block == Block::None {
                    let message = "SET TRANSACTION can only be used in transaction blocks";
                    completion.notices.push(Notice::warning(state::NO_ACTIVE_TRANSACTION, message));
                }
                self.set_modes(*modes, "transaction", true)?;
            }
            end => {
                if self.block == Block::None {
                    let message = "there is no transaction in progress";
                    completion.notices.push(Notice::warning(state::NO_ACTIVE_TRANSACTION, message));
                }
                let commits = matches!(end, Plan::Commit) && self.block != Block::Failed;
                if commits {
                    self.transaction.commit(engine.data_mut(), call.decision.begun, |_| {});
                } else {
                    self.transaction.roll_back();
                }
                completion.tag = Tag::Plain(if commits { "COMMIT" } else { "ROLLBACK" });
                self.block = Block::None;
                self.settings.end_transaction();
            }
        }
        Ok(completion)
    }

    fn set_modes(&mut self, modes: Modes, prefix: &str, local: bool) -> Result<(), SqlError> {
        if let Some(isolation) = modes.isolation {
            self.settings.set(&format!("{prefix}_isolation"), Some(isolation), local)?;
        }
        if let Some(read_only) = modes.read_only {
            let value = if read_only { "on" } else { "off" };
            self.settings.set(&format!("{prefix}_read_only"), Some(value), local)?;
        }
        Ok(())
    }

    fn run_on_settings(&mut self, plan: &Plan, rows: &mut RowBuffer<'_>) -> Result<Completion, SqlError> {
        let text = |text: &str| (Datum::Text(text.to_owned().into()), Type::Text);
        Ok(match plan {
            Plan::Set { name, value, local, tag } => {
                let before = self.settings.get(name).map(str::to_owned);
                self.settings.set(name, value.as_deref(), *local)?;
                let after = self.settings.get(name).unwrap_or_default();
                let reported = settings::reported_name(name)
                    .filter(|_| before.as_deref() != Some(after))
                    .map(|name| (name, after.to_owned()));
                Completion { reported, ..Completion::new(Tag::Plain(tag)) }
            }
            Plan::ResetAll => {
                self.settings.reset();
                Completion::new(Tag::Plain("RESET"))
            }
            Plan::Show(name) => {
                let value = self.settings.get(name).ok_or_else(|| settings::unrecognized(name))?;
                rows.push_data(&[text(value)])?;
                Completion::new(Tag::Plain("SHOW"))
            }
            _ => {
                for (name, value) in self.settings.all() {
                    rows.push_data(&[text(name), text(value), text("")])?;
                }
                Completion::new(Tag::Plain("SHOW"))
            }
        })
    }

    /// Writes the rows of a COPY whose data has ended.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub(crate) fn end_copy(
        &mut self,
        copy: &mut CopyIn,
        decision: &Decision,
        catalog: &Catalog,
        engine: &Engine,
    ) -> Result<Completion, SqlError> {
        let view = Engine::view(decision);
        let context = context!(self, catalog, &[], view.at);
        let mut target = Target { data: engine.data(), transaction: &mut self.transaction, view };
        let rows = copy.finish(&mut target, &context)?;
        Ok(Completion::new(Tag::Counted("COPY", rows)))
    }
}
