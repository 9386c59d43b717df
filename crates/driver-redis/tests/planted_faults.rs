//! One fault at a time is planted in the driver, and the check of the conformance suite that is meant to notice must
//! fail. The faults of a store's answers are in `driver`'s own tests; here are those of a native driver over a network,
//! and those that bring a real server's answers out of order.

use driver::conformance::{self, Fixture};
use driver::{
    Administration, Command, ConnectError, Dialect, Execution, Fields, Isolation, KernelStamp, KeyValue,
    OpError, Reply, Session, StatementSpec, Target, TargetUrl, Value, ValueRef,
};
use driver_redis::{RedisSession, RedisTarget};
use std::os::fd::RawFd;
use std::task::Poll;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::redis::{Options, Server, server};
use units::Outcome;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// A lie or a slip of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    ReadsOneFieldOnly,
    UpdatesNothing,
    DeletesNothing,
    SwapsReplies,
    SwapsValues,
    CutsText,
    CountsOneRowMore,
    KeepsOldReplies,
    ValuesPastTheEnd,
    SwallowsErrors,
    WrongErrorClass,
    SessionLostOnError,
    NoWordsForErrors,
    PreparesStatements,
    AcceptsStatements,
    AcceptsTransactions,
    ReadsForScans,
    ScansOneLess,
    IgnoresIsolation,
    KeepsRefusedBatch,
    AllocatesOnReads,
    AllocatesOnErrors,
    NoStamp,
    OldStamp,
    FailsOnEmptyExchange,
    HidesDescriptor,
}

struct FaultySession {
    inner: RedisSession,
    fault: Fault,
    staged: usize,
    read: bool,
    answered: bool,
    previous: Reply,
}

struct FaultyTarget {
    inner: RedisTarget,
    fault: Fault,
}

impl Target for FaultyTarget {
    type Session = FaultySession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    fn dialect(&self) -> Dialect {
        Dialect::KeyValue
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<FaultySession, ConnectError> {
        let isolation = isolation.filter(|_| self.fault != Fault::IgnoresIsolation);
        let statements = if self.fault == Fault::PreparesStatements { &[] } else { statements };
        Ok(FaultySession {
            inner: self.inner.connect(statements, isolation)?,
            fault: self.fault,
            staged: 0,
            read: false,
            answered: false,
            previous: Reply::default(),
        })
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        self.inner.administer()
    }
}

impl FaultySession {
    fn distorted(&self, result: Result<(), OpError>) -> Result<(), OpError> {
        match (self.fault, result) {
            (Fault::SwallowsErrors, Err(_)) => Ok(()),
            (Fault::WrongErrorClass, Err(_)) => Err(OpError::refused(Outcome::Busy)),
            (Fault::SessionLostOnError, Err(error)) => Err(OpError::lost(error.outcome)),
            (_, result) => result,
        }
    }

    /// The command of a batch that stands in for another.
    fn other(&self, command: usize) -> usize {
        if self.staged > 1 { self.staged - 1 - command.min(self.staged - 1) } else { command }
    }
}

/// What the fault asks for instead.
fn distorted(fault: Fault, command: Command<'_>) -> Command<'_> {
    let Command::KeyValue(operation) = command else {
        let accepted = match command {
            Command::Statement { .. } => fault == Fault::AcceptsStatements,
            Command::Begin | Command::Commit | Command::Rollback => fault == Fault::AcceptsTransactions,
            _ => false,
        };
        return if accepted { Command::Ping } else { command };
    };
    Command::KeyValue(match (fault, operation) {
        (Fault::ReadsOneFieldOnly, KeyValue::Read { table, key, fields: Fields::All }) => {
            KeyValue::Read { table, key, fields: Fields::One("words") }
        }
        (Fault::UpdatesNothing, KeyValue::Update { table, key, .. }) => {
            KeyValue::Update { table, key, fields: &[("elsewhere", "")] }
        }
        (Fault::DeletesNothing, KeyValue::Delete { table, .. }) => {
            KeyValue::Delete { table, key: "elsewhere" }
        }
        (Fault::ReadsForScans, KeyValue::Scan { table, key, fields, .. }) => {
            KeyValue::Read { table, key, fields }
        }
        (Fault::ScansOneLess, KeyValue::Scan { table, key, count, fields }) => {
            KeyValue::Scan { table, key, count: count - 1, fields }
        }
        (_, operation) => operation,
    })
}

impl Session for FaultySession {
    fn descriptor(&self) -> Option<RawFd> {
        self.inner.descriptor().filter(|_| self.fault != Fault::HidesDescriptor)
    }

    fn waits_to_send(&self) -> bool {
        self.inner.waits_to_send()
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if self.answered {
            self.previous = self.inner.reply(0);
            (self.staged, self.read, self.answered) = (0, false, false);
        }
        self.staged += 1;
        self.read |= matches!(command, Command::KeyValue(KeyValue::Read { .. }));
        let staged = self.inner.stage(distorted(self.fault, command));
        if staged.is_err() && self.fault == Fault::KeepsRefusedBatch {
            // What the suite stages before the command that is refused, and then the suite's own ping.
            let _ = self.inner.stage(Command::KeyValue(KeyValue::Read {
                table: "usertable",
                key: "spoilt",
                fields: Fields::All,
            }));
        }
        staged
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        if self.fault == Fault::FailsOnEmptyExchange && self.staged == 0 {
            return Poll::Ready(Err(OpError::refused(Outcome::Protocol)));
        }
        let result = self.inner.poll_reply();
        self.answered = result.is_ready();
        let failed = matches!(result, Poll::Ready(Err(_)));
        if (self.fault == Fault::AllocatesOnReads && self.read && !failed)
            || (self.fault == Fault::AllocatesOnErrors && failed)
        {
            drop(std::hint::black_box(Box::new(0_u8)));
        }
        result.map(|result| self.distorted(result))
    }

    fn reply(&self, command: usize) -> Reply {
        let reply = match self.fault {
            Fault::SwapsReplies => self.inner.reply(self.other(command)),
            Fault::KeepsOldReplies if self.inner.reply(command) == Reply::default() => self.previous,
            _ => self.inner.reply(command),
        };
        match self.fault {
            Fault::CountsOneRowMore if reply.rows > 0 => Reply { rows: reply.rows + 1, ..reply },
            _ => reply,
        }
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let command = if self.fault == Fault::SwapsValues { self.other(command) } else { command };
        match (self.fault, self.inner.value(command, row, column)) {
            (Fault::CutsText, Some(Value::Text(text))) => {
                Some(Value::Text(text.get(..text.len().min(10_000)).unwrap_or("")))
            }
            (Fault::ValuesPastTheEnd, None) if column < 3 => Some(Value::Null),
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

struct Planted<'a> {
    target: FaultyTarget,
    server: &'a Server,
}

impl Fixture for Planted<'_> {
    type Target = FaultyTarget;

    fn target(&self) -> &FaultyTarget {
        &self.target
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn spoil(&self, key: &str) -> Result<(), String> {
        self.server.ask(&["SET", key, "not a hash"]).map(drop)
    }
}

/// Each fault and the check that must notice it; others may, too.
const MUST_FAIL: [(Fault, &str); 26] = [
    (Fault::ReadsOneFieldOnly, "values of every type come back"),
    (Fault::UpdatesNothing, "values of every type come back"),
    (Fault::DeletesNothing, "rows and changes are counted"),
    (Fault::SwapsReplies, "a pipelined batch answers in order"),
    (Fault::SwapsValues, "a pipelined batch answers in order"),
    (Fault::CutsText, "long text comes back"),
    (Fault::CountsOneRowMore, "rows and changes are counted"),
    (Fault::KeepsOldReplies, "a miss touches nothing"),
    (Fault::ValuesPastTheEnd, "values end where the rows end"),
    (Fault::SwallowsErrors, "an error in a batch leaves the session usable"),
    (Fault::WrongErrorClass, "an error in a batch leaves the session usable"),
    (Fault::SessionLostOnError, "an error in a batch leaves the session usable"),
    (Fault::NoWordsForErrors, "an error in a batch leaves the session usable"),
    (Fault::PreparesStatements, "a bad statement fails to connect"),
    (Fault::AcceptsStatements, "an unknown statement is refused"),
    (Fault::AcceptsTransactions, "what the target lacks is refused"),
    (Fault::ReadsForScans, "a scan keeps its limit"),
    (Fault::ScansOneLess, "a scan keeps its limit"),
    (Fault::IgnoresIsolation, "what the target lacks is refused"),
    (Fault::KeepsRefusedBatch, "what the target lacks is refused"),
    (Fault::AllocatesOnReads, "no allocation in steady state"),
    (Fault::AllocatesOnErrors, "no allocation in steady state"),
    (Fault::NoStamp, "kernel stamps are there and plausible"),
    (Fault::OldStamp, "kernel stamps are there and plausible"),
    (Fault::FailsOnEmptyExchange, "an exchange of nothing succeeds"),
    (Fault::HidesDescriptor, "facts are stated"),
];

#[test]
fn every_planted_fault_is_found() {
    let Some(server) = server(&Options::default()) else { return };
    let url = TargetUrl::parse(&server.tcp_url()).unwrap();
    server.ask(&["SET", "spoilt", "not a hash"]).unwrap();
    let planted = |fault| {
        let inner = RedisTarget::from_url(&url).unwrap();
        Planted { target: FaultyTarget { inner, fault }, server: &server }
    };
    assert_eq!(conformance::failures(&planted(Fault::None)), []);
    for (fault, check) in MUST_FAIL {
        let result = conformance::run_one(&planted(fault), check);
        assert!(matches!(result, Some(Err(_))), "{fault:?} passed `{check}`: {result:?}");
    }
}
