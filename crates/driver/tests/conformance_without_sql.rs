//! The suite also fits a target without SQL; and what it asks of one is enforced.

use driver::conformance::{self, Fixture};
use driver::{
    Administration, Command, ConnectError, Dialect, Execution, Isolation, KernelStamp, OpError, Reply,
    Session, StatementSpec, Target, ValueRef,
};
use driver_null::{NullSession, NullTarget};
use std::os::fd::RawFd;
use std::task::Poll;

/// The null target, whose session keeps a refusal to itself if it is careless.
struct Nothing {
    careless: bool,
}

struct NothingSession {
    inner: NullSession,
    careless: bool,
}

impl Session for NothingSession {
    fn descriptor(&self) -> Option<RawFd> {
        self.inner.descriptor()
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        let staged = self.inner.stage(command);
        if self.careless { Ok(()) } else { staged }
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        self.inner.poll_reply()
    }

    fn reply(&self, command: usize) -> Reply {
        self.inner.reply(command)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        self.inner.value(command, row, column)
    }

    fn arrived(&self) -> Option<KernelStamp> {
        self.inner.arrived()
    }

    fn last_error(&self) -> Option<String> {
        self.inner.last_error()
    }
}

impl Target for Nothing {
    type Session = NothingSession;

    fn execution(&self) -> Execution {
        Execution::Blocking
    }

    fn dialect(&self) -> Dialect {
        NullTarget.dialect()
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<NothingSession, ConnectError> {
        let inner = NullTarget.connect(statements, isolation)?;
        Ok(NothingSession { inner, careless: self.careless })
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        NullTarget.administer()
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
