//! Requests that ask for nothing: what the way to the database and back costs.
//!
//! "NoOp" alone does not say how often that way is gone. BenchBase's costs two or three exchanges, because its
//! transactions are bounded explicitly; so the mode is a parameter, and part of what a recording states.
//!
//! | mode | what is sent | exchanges on PostgreSQL |
//! |---|---|---|
//! | `ping` | the cheapest round trip of the protocol | 1 |
//! | `empty` | a prepared empty statement | 1 |
//! | `select1` | a prepared `SELECT 1` | 1 |
//! | `empty+commit` | begin and the empty statement, pipelined; then commit | 2 |
//!
//! Where an empty statement can't be prepared, what does least takes its place: `DO 0`, which returns no rows, in MariaDB and
//! MySQL, `SELECT 1` in SQLite.

use crate::dataset::DataSet;
use crate::transaction::settled;
use crate::{NoTickets, OpId, Operation, Request, Tickets, Workload, WorkloadFacts, names};
use driver::{Administration, Command, Conversation, Dialect, OpError, StatementSpec};
use units::Outcome;

/// How much a NoOp asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// The cheapest round trip of the protocol.
    Ping,
    /// A prepared empty statement.
    #[default]
    Empty,
    /// A prepared `SELECT 1`.
    Select1,
    /// Begin, an empty statement, commit: two exchanges.
    EmptyCommit,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::Ping, Mode::Empty, Mode::Select1, Mode::EmptyCommit];

    /// The name in flags and recordings.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Ping => "ping",
            Mode::Empty => "empty",
            Mode::Select1 => "select1",
            Mode::EmptyCommit => "empty+commit",
        }
    }

    /// Exchanges with a server for each request.
    pub fn exchanges(self) -> u32 {
        if self == Mode::EmptyCommit { 2 } else { 1 }
    }

    /// The mode of this name.
    ///
    /// # Errors
    /// One line with the nearest valid name.
    pub fn from_name(name: &str) -> Result<Mode, String> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
            let valid = Mode::ALL.map(Mode::name);
            format!("noop: unknown mode `{name}`{}", names::suggestion(name, &valid))
        })
    }
}

/// The workload `noop`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOp {
    mode: Mode,
}

impl NoOp {
    /// A NoOp of this mode.
    pub fn new(mode: Mode) -> NoOp {
        NoOp { mode }
    }

    /// From `mode=…` pairs.
    ///
    /// # Errors
    /// One line that names the unknown property or mode.
    pub fn from_overrides(overrides: &[(String, String)]) -> Result<NoOp, String> {
        let mut mode = Mode::default();
        for (name, value) in overrides {
            if name != "mode" {
                return Err(format!("noop: unknown property `{name}`; valid is `mode`"));
            }
            mode = Mode::from_name(value)?;
        }
        Ok(NoOp { mode })
    }
}

const STATEMENT: Command<'static> = Command::Statement { index: 0, arguments: &[] };

impl Workload for NoOp {
    type Plan = ();

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: "noop".to_owned(),
            scale: 1.0,
            parameters: vec![
                ("mode".to_owned(), self.mode.name().to_owned()),
                ("exchanges".to_owned(), self.mode.exchanges().to_string()),
            ],
        }
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "NoOp", weight: 100.0 }]
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        let sql = match self.mode {
            Mode::Ping => return Ok(Vec::new()),
            _ if dialect == Dialect::KeyValue => {
                return Err(format!("noop: mode `{}` needs SQL; use mode=ping", self.mode.name()));
            }
            Mode::Empty | Mode::EmptyCommit if dialect.has_empty_statement() => ";",
            Mode::Empty | Mode::EmptyCommit if dialect == Dialect::MySql => "DO 0",
            _ => "SELECT 1",
        };
        Ok(vec![StatementSpec::counted(sql, &[])])
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) {}

    fn plan(&self, request: Request, _plan: &mut ()) {
        debug_assert_eq!(request.op, OpId(0));
    }

    async fn run<C: Conversation>(&self, _plan: &(), conversation: &mut C) -> Result<Outcome, OpError> {
        match self.mode {
            Mode::Ping => conversation.stage(Command::Ping)?,
            Mode::Empty | Mode::Select1 => conversation.stage(STATEMENT)?,
            Mode::EmptyCommit => {
                let steps = empty_transaction(conversation).await;
                return settled(conversation, steps).await;
            }
        }
        conversation.exchange().await?;
        Ok(Outcome::Ok)
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        None
    }

    fn observe(&mut self, _administration: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}

async fn empty_transaction<C: Conversation>(conversation: &mut C) -> Result<Outcome, OpError> {
    conversation.stage(Command::Begin)?;
    conversation.stage(STATEMENT)?;
    conversation.exchange().await?;
    conversation.stage(Command::Commit)?;
    conversation.exchange().await?;
    Ok(Outcome::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_and_stated() {
        for mode in Mode::ALL {
            let overrides = [("mode".to_owned(), mode.name().to_owned())];
            let facts = NoOp::from_overrides(&overrides).unwrap().facts();
            assert_eq!(facts.parameters[0].1, mode.name());
        }
        let fail = |name: &str, value: &str| {
            NoOp::from_overrides(&[(name.to_owned(), value.to_owned())]).unwrap_err()
        };
        assert_eq!(fail("mode", "emtpy"), "noop: unknown mode `emtpy`; did you mean `empty`?");
        assert_eq!(fail("rows", "1"), "noop: unknown property `rows`; valid is `mode`");
    }

    #[test]
    fn statements_fit_the_dialect() {
        let sql = |mode, dialect| NoOp::new(mode).statements(dialect).map(|s| s[0].sql.clone());
        assert_eq!(sql(Mode::Empty, Dialect::Postgres).unwrap(), ";");
        assert_eq!(sql(Mode::EmptyCommit, Dialect::Sqlite).unwrap(), "SELECT 1");
        assert_eq!(sql(Mode::Empty, Dialect::MySql).unwrap(), "DO 0");
        assert_eq!(sql(Mode::Select1, Dialect::MySql).unwrap(), "SELECT 1");
        assert_eq!(sql(Mode::Select1, Dialect::Postgres).unwrap(), "SELECT 1");
        assert!(sql(Mode::Empty, Dialect::KeyValue).unwrap_err().contains("mode=ping"));
        assert!(NoOp::new(Mode::Ping).statements(Dialect::KeyValue).unwrap().is_empty());
    }
}
