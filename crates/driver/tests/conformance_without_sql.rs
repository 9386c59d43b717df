//! The suite also fits a target without SQL; and what it asks of one is enforced.

use driver::conformance::{self, Fixture};
use driver::{
    Administration, BulkRows, Command, ConnectError, Dialect, Execution, Isolation, KernelStamp, OpError,
    Reply, Session, StatementSpec, Target, TargetFacts, ValueRef,
};
use std::os::fd::RawFd;
use std::task::Poll;
use units::Outcome;

/// Does nothing; refuses what it should, unless it is careless.
#[derive(Clone, Copy)]
struct Nothing {
    careless: bool,
}

struct NothingSession {
    parameters: Vec<usize>,
    careless: bool,
    refused: bool,
}

impl Session for NothingSession {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        let fits = match command {
            Command::Statement { index, arguments } => self.parameters.get(index) == Some(&arguments.len()),
            _ => true,
        };
        self.refused = !fits;
        if fits || self.careless { Ok(()) } else { Err(OpError::refused(Outcome::Protocol)) }
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        Poll::Ready(Ok(()))
    }

    fn reply(&self, _command: usize) -> Reply {
        Reply::default()
    }

    fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<ValueRef<'_>> {
        None
    }

    fn arrived(&self) -> Option<KernelStamp> {
        None
    }

    fn last_error(&self) -> Option<String> {
        self.refused.then(|| "it does not fit".to_owned())
    }
}

impl Target for Nothing {
    type Session = NothingSession;

    fn execution(&self) -> Execution {
        Execution::Blocking
    }

    fn dialect(&self) -> Dialect {
        Dialect::Null
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        _isolation: Option<Isolation>,
    ) -> Result<NothingSession, ConnectError> {
        let parameters = statements.iter().map(|statement| statement.parameters.len()).collect();
        Ok(NothingSession { parameters, careless: self.careless, refused: false })
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(*self))
    }
}

impl Administration for Nothing {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        Ok(TargetFacts {
            product: "nothing".to_owned(),
            version: "0".to_owned(),
            address: "nothing:".to_owned(),
            transport: "in-process".to_owned(),
            settings: Vec::new(),
            native: false,
            kernel_stamps: false,
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        Ok(Vec::new())
    }

    fn table_exists(&mut self, _table: &str) -> Result<bool, ConnectError> {
        Ok(false)
    }

    fn bulk(&mut self, _: &str, _: &[&str], _: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        Ok(0)
    }
}

impl Fixture for Nothing {
    type Target = Nothing;

    fn target(&self) -> &Nothing {
        self
    }
}

driver::conformance!(a_target_without_sql_passes, Nothing { careless: false });

#[test]
fn a_careless_one_does_not() {
    let failed: Vec<&str> =
        conformance::failures(&Nothing { careless: true }).into_iter().map(|failure| failure.check).collect();
    assert_eq!(failed, ["an unknown statement is refused", "a wrong argument count is refused"]);
    assert_eq!(conformance::run_one(&Nothing { careless: true }, "no such check"), None);
}
