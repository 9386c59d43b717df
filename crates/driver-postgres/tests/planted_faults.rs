//! The proof of the conformance suite: one fault at a time is planted in a driver that works, and the check that
//! is meant to notice must fail.

mod against;

use against::{LONG, WRONG_PASSWORD, conflict, with_wrong_password};
use driver::conformance::{self, Conflict, Encrypted, Fixture, LongStatement};
use driver::{
    Administration, Command, ConnectError, Dialect, Execution, Isolation, KernelStamp, OpError, Reply,
    Session, StatementSpec, Target, Value, ValueRef,
};
use driver_postgres::{PostgresSession, PostgresTarget};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::task::Poll;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::postgres::{Authentication, Options, Server, server};
use units::Outcome;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// A lie or a slip of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    CountsOneRowMore,
    ForgetsChanges,
    KeepsOldReplies,
    SwapsReplies,
    NullIsZero,
    CutsText,
    WrongTimestampEpoch,
    ValuesPastTheEnd,
    SwallowsErrors,
    WrongErrorClass,
    SessionLostOnError,
    NoWordsForErrors,
    PreparesLater,
    AcceptsUnknownStatements,
    KeepsRefusedBatch,
    IgnoresIsolation,
    CommitsNothing,
    RollsBackNothing,
    Allocates,
    NoStamp,
    OldStamp,
    FailsOnEmptyExchange,
    HidesDescriptor,
    ShowsPassword,
    WrongPasswordMayPass,
    DoesNotEncrypt,
    TrustsAnybody,
    RetriesInSecret,
    ConnectsInSecret,
    LeavesStatementsRunning,
    LossIsServerError,
    RefusesForGood,
}

struct FaultyTarget {
    inner: PostgresTarget,
    url: String,
    server: Arc<Server>,
    fault: Fault,
}

impl FaultyTarget {
    fn at(&self, url: String) -> FaultyTarget {
        FaultyTarget { inner: against::target(&url), url, server: self.server.clone(), fault: self.fault }
    }

    fn distorted(&self, mut error: ConnectError) -> ConnectError {
        match self.fault {
            Fault::ShowsPassword => error.message.push_str(&self.url),
            Fault::WrongPasswordMayPass => error.transient = true,
            Fault::RefusesForGood => error.transient = false,
            _ => {}
        }
        error
    }

    /// The target to connect to; one that knows nothing of sessions before it, if that is the fault.
    fn connecting(&self) -> PostgresTarget {
        match self.fault {
            Fault::LeavesStatementsRunning => against::target(&self.url),
            _ => self.inner.clone(),
        }
    }
}

struct FaultySession {
    inner: PostgresSession,
    fault: Fault,
    staged: usize,
    answered: bool,
    previous: Reply,
    target: PostgresTarget,
    /// The last argument that was staged.
    argument: i64,
}

impl Target for FaultyTarget {
    type Session = FaultySession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<FaultySession, ConnectError> {
        let isolation = isolation.filter(|_| self.fault != Fault::IgnoresIsolation);
        let connected = self.connecting().connect(statements, isolation);
        let inner = match (connected, self.fault) {
            (Err(_), Fault::PreparesLater) => self.inner.connect(&[], isolation)?,
            (connected, _) => connected.map_err(|error| self.distorted(error))?,
        };
        let previous = Reply::default();
        Ok(FaultySession {
            inner,
            fault: self.fault,
            staged: 0,
            answered: false,
            previous,
            target: self.inner.clone(),
            argument: 0,
        })
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        self.connecting().administer().map_err(|error| self.distorted(error))
    }
}

impl FaultySession {
    /// Asks again what was refused, or on a new connection what was lost.
    fn asks_again(&mut self, error: OpError) -> bool {
        match (self.fault, error.outcome) {
            (Fault::RetriesInSecret, Outcome::Deadlock) => {
                let _ = self.inner.stage(Command::Rollback);
                let _ = driver::Direct::<PostgresSession>::run(driver::Conversation::exchange(
                    &mut driver::Direct::new(&mut self.inner),
                ));
                let arguments = [Value::Int(self.argument)];
                self.inner.stage(Command::Statement { index: 1, arguments: &arguments }).is_ok()
            }
            (Fault::ConnectsInSecret, Outcome::ConnectionLost) => {
                let Ok(new) = self.target.connect(&[], None) else { return false };
                self.inner = new;
                self.inner.stage(Command::Ping).is_ok()
            }
            _ => false,
        }
    }

    fn distorted(&self, result: Result<(), OpError>) -> Result<(), OpError> {
        match (self.fault, result) {
            (Fault::LossIsServerError, Err(error)) if !error.session_usable => {
                Err(OpError::lost(Outcome::Server))
            }
            (Fault::SwallowsErrors, Err(_)) => Ok(()),
            (Fault::WrongErrorClass, Err(_)) => Err(OpError::refused(Outcome::Server)),
            (Fault::SessionLostOnError, Err(error)) => Err(OpError::lost(error.outcome)),
            (_, result) => result,
        }
    }
}

impl Session for FaultySession {
    fn descriptor(&self) -> Option<RawFd> {
        self.inner.descriptor().filter(|_| self.fault != Fault::HidesDescriptor)
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if self.answered {
            self.previous = self.inner.reply(0);
            (self.staged, self.answered) = (0, false);
        }
        self.staged += 1;
        if let Command::Statement { arguments: [.., Value::Int(argument)], .. } = command {
            self.argument = *argument;
        }
        let command = match (self.fault, command) {
            (Fault::CommitsNothing, Command::Commit) => Command::Rollback,
            (Fault::RollsBackNothing, Command::Rollback) => Command::Commit,
            (_, command) => command,
        };
        match (self.inner.stage(command), self.fault) {
            (Err(_), Fault::AcceptsUnknownStatements) => Ok(()),
            (Err(error), Fault::KeepsRefusedBatch) => {
                // What the suite stages before the command that is refused.
                let insert = "INSERT INTO truetail_conformance VALUES (50) ON CONFLICT DO NOTHING";
                // Other checks have no such table.
                let _ = self.target.administer().and_then(|mut direct| direct.script(insert));
                Err(error)
            }
            (result, _) => result,
        }
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        if self.fault == Fault::FailsOnEmptyExchange && self.staged == 0 {
            return Poll::Ready(Err(OpError::refused(Outcome::Protocol)));
        }
        if self.fault == Fault::Allocates {
            drop(std::hint::black_box(Box::new(0_u8)));
        }
        let mut result = self.inner.poll_reply();
        if let Poll::Ready(Err(error)) = result
            && self.asks_again(error)
        {
            result = self.inner.poll_reply();
        }
        self.answered = result.is_ready();
        result.map(|result| self.distorted(result))
    }

    fn reply(&self, command: usize) -> Reply {
        let reply = match self.fault {
            Fault::SwapsReplies if self.staged > 1 => {
                self.inner.reply(self.staged - 1 - command.min(self.staged - 1))
            }
            Fault::KeepsOldReplies if self.inner.reply(command) == Reply::default() => self.previous,
            _ => self.inner.reply(command),
        };
        match self.fault {
            Fault::CountsOneRowMore if reply.rows > 0 => Reply { rows: reply.rows + 1, ..reply },
            Fault::ForgetsChanges => Reply { affected: 0, ..reply },
            _ => reply,
        }
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        match (self.fault, self.inner.value(command, row, column)) {
            (Fault::NullIsZero, Some(Value::Null)) => Some(Value::Int(0)),
            (Fault::CutsText, Some(Value::Text(text))) => {
                Some(Value::Text(text.get(..text.len().min(10_000)).unwrap_or("")))
            }
            (Fault::WrongTimestampEpoch, Some(Value::Timestamp(v))) => Some(Value::Timestamp(v - 1)),
            (Fault::ValuesPastTheEnd, None) => Some(Value::Null),
            (_, value) => value,
        }
    }

    fn arrived(&self) -> Option<KernelStamp> {
        let stamp = self.inner.arrived()?;
        match self.fault {
            Fault::NoStamp => None,
            Fault::OldStamp => Some(KernelStamp { realtime_ns: stamp.realtime_ns - 10_000_000_000, ..stamp }),
            _ => Some(stamp),
        }
    }

    fn last_error(&self) -> Option<String> {
        self.inner.last_error().filter(|_| self.fault != Fault::NoWordsForErrors)
    }
}

impl Fixture for FaultyTarget {
    type Target = FaultyTarget;

    fn target(&self) -> &FaultyTarget {
        self
    }

    fn with_wrong_password(&self) -> Option<(FaultyTarget, &'static str)> {
        Some((self.at(with_wrong_password(&self.server, &self.url)?), WRONG_PASSWORD))
    }

    fn over_tls(&self) -> Option<Encrypted<FaultyTarget>> {
        let mode = if self.fault == Fault::DoesNotEncrypt { "disable" } else { "verify-full" };
        let trusting = self.server.tls_url(mode);
        let mode = if self.fault == Fault::TrustsAnybody { "require" } else { "verify-full" };
        let doubting = self.server.tls_url(mode).replace("@localhost:", "@127.0.0.1:");
        // A file of authorities would turn `require` into `verify-ca`.
        let doubting = match mode {
            "require" => doubting.replace("&sslrootcert=", "&application_name="),
            _ => doubting,
        };
        Some(Encrypted { trusting: self.at(trusting), doubting: self.at(doubting) })
    }

    fn deadlock(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Deadlock, &["SET deadlock_timeout = '10ms'"]))
    }

    fn locked(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Busy, &["SET lock_timeout = '20ms'"]))
    }

    fn overtaken(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Serialization, &[]))
    }

    fn long_statement(&self) -> Option<LongStatement> {
        Some(LongStatement { patience: 100, ..LONG })
    }

    fn stop(&self) -> Option<Result<(), String>> {
        Some(self.server.stop())
    }

    fn launch(&self) -> Result<(), String> {
        self.server.launch()
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }
}

/// Each fault and the check that must notice it; others may, too.
const MUST_FAIL: [(Fault, &str); 38] = [
    (Fault::CountsOneRowMore, "rows and changes are counted"),
    (Fault::ForgetsChanges, "rows and changes are counted"),
    (Fault::KeepsOldReplies, "a miss touches nothing"),
    (Fault::SwapsReplies, "a pipelined batch answers in order"),
    (Fault::NullIsZero, "NULL comes back"),
    (Fault::CutsText, "long text comes back"),
    (Fault::WrongTimestampEpoch, "values of every type come back"),
    (Fault::ValuesPastTheEnd, "values end where the rows end"),
    (Fault::SwallowsErrors, "an error in a batch leaves the session usable"),
    (Fault::WrongErrorClass, "a violated constraint has its class"),
    (Fault::SessionLostOnError, "a failed transaction can be rolled back"),
    (Fault::NoWordsForErrors, "a violated constraint has its class"),
    (Fault::PreparesLater, "a bad statement fails to connect"),
    (Fault::AcceptsUnknownStatements, "an unknown statement is refused"),
    (Fault::KeepsRefusedBatch, "a wrong argument count is refused"),
    (Fault::IgnoresIsolation, "each isolation level is set"),
    (Fault::CommitsNothing, "a commit is seen by others"),
    (Fault::RollsBackNothing, "a rollback leaves no trace"),
    (Fault::Allocates, "no allocation in steady state"),
    (Fault::NoStamp, "kernel stamps are there and plausible"),
    (Fault::OldStamp, "kernel stamps are there and plausible"),
    (Fault::FailsOnEmptyExchange, "an exchange of nothing succeeds"),
    (Fault::HidesDescriptor, "facts are stated"),
    (Fault::IgnoresIsolation, "an isolation level shows what it should"),
    (Fault::WrongErrorClass, "a deadlock has its class"),
    (Fault::SwallowsErrors, "a deadlock has its class"),
    (Fault::RetriesInSecret, "a deadlock has its class"),
    (Fault::WrongErrorClass, "a lock that is not to be had has its class"),
    (Fault::WrongErrorClass, "a change of what is out of date has its class"),
    (Fault::IgnoresIsolation, "a change of what is out of date has its class"),
    (Fault::ShowsPassword, "a wrong password is refused for good"),
    (Fault::WrongPasswordMayPass, "a wrong password is refused for good"),
    (Fault::DoesNotEncrypt, "TLS encrypts, and knows whom to trust"),
    (Fault::TrustsAnybody, "TLS encrypts, and knows whom to trust"),
    (Fault::LeavesStatementsRunning, "what is given up does not run on"),
    (Fault::ConnectsInSecret, "a restart loses sessions and no more"),
    (Fault::LossIsServerError, "a restart loses sessions and no more"),
    (Fault::RefusesForGood, "a restart loses sessions and no more"),
];

#[test]
fn every_planted_fault_is_found() {
    let authentication = Authentication::Scram("right".to_owned());
    let Some(server) = server(&Options { authentication, tls: true, ..Options::default() }) else { return };
    let server = Arc::new(server);
    let faulty = |fault| {
        let url = server.tcp_url();
        FaultyTarget { inner: against::target(&url), url, server: server.clone(), fault }
    };
    assert_eq!(conformance::failures(&faulty(Fault::None)), []);
    for (fault, check) in MUST_FAIL {
        let result = conformance::run_one(&faulty(fault), check);
        assert!(matches!(result, Some(Err(_))), "{fault:?} passed `{check}`: {result:?}");
    }
}
