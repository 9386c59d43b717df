//! The suite on a key-value store of a page: it passes when it is sound, and each fault that is planted in it is found
//! by the check that is meant to. What only a real driver can get wrong is planted in `driver-redis`'s tests.

mod store;

use driver::conformance::{self, Fixture};
use driver::{
    Administration, BulkRows, Command, ConnectError, Dialect, Execution, Isolation, KernelStamp, KeyValue,
    OpError, Records, Reply, Session, StatementSpec, Target, TargetFacts, Value, ValueRef,
};
use std::os::fd::RawFd;
use std::task::Poll;
use store::{Answer, Operation, Shared};
use units::Outcome;

/// A lie or a slip of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// No fault either, and scans are not refused.
    NoneAndScans,
    ForgetsOneField,
    SwapsReplies,
    CutsText,
    TrimsText,
    MissesAreRows,
    NilIsAValue,
    CountsFields,
    CountsEveryDelete,
    KeepsOldReplies,
    ValuesPastTheEnd,
    UpdatesWholeRecord,
    StopsAtAnError,
    SwallowsErrors,
    SessionLostOnError,
    NoWordsForErrors,
    AcceptsStatements,
    PreparesStatements,
    AcceptsTransactions,
    IgnoresIsolation,
    KeepsRefusedBatch,
    OwnDataPerSession,
    ScansPastItsLimit,
    RunsScripts,
    DropsNothing,
}

#[derive(Clone)]
struct Memory {
    fault: Fault,
    store: Shared,
}

impl Memory {
    fn new(fault: Fault) -> Memory {
        let store = Shared::default();
        store.lock().drops_nothing = fault == Fault::DropsNothing;
        Memory { fault, store }
    }
}

struct MemorySession {
    memory: Memory,
    staged: Vec<Operation>,
    answers: Vec<Answer>,
    previous: Vec<Answer>,
    words: Option<String>,
}

impl MemorySession {
    fn refuse(&mut self, words: &str) -> Result<(), OpError> {
        if self.memory.fault != Fault::KeepsRefusedBatch {
            self.staged.clear();
        }
        self.words = Some(words.to_owned());
        Err(OpError::refused(Outcome::Protocol))
    }

    /// What the fault makes of an operation.
    fn distort(&self, operation: Operation) -> Operation {
        match (self.memory.fault, operation) {
            (Fault::TrimsText, Operation::Write { key, fields, .. }) => {
                let fields =
                    fields.into_iter().map(|(name, value)| (name, value.trim().to_owned())).collect();
                Operation::Write { key, fields, replaces: false }
            }
            (Fault::UpdatesWholeRecord, Operation::Write { key, fields, .. }) => {
                Operation::Write { key, fields, replaces: true }
            }
            (_, operation) => operation,
        }
    }

    /// What the fault makes of an answer.
    fn bend(&self, operation: &Operation, mut answer: Answer) -> Answer {
        let read = matches!(operation, Operation::Read { .. });
        match self.memory.fault {
            Fault::ForgetsOneField if answer.rows.first().is_some_and(|row| row.len() > 1) => {
                answer.rows[0].pop();
            }
            Fault::CutsText => {
                answer.rows.iter_mut().flatten().flatten().for_each(|text| text.truncate(10_000));
            }
            Fault::MissesAreRows if read && answer.reply.rows == 0 => answer.reply.rows = 1,
            Fault::NilIsAValue if read && answer.rows.is_empty() => {
                answer.rows = vec![vec![Some(String::new())]]
            }
            Fault::CountsFields => {
                if let Operation::Write { fields, .. } = operation {
                    answer.reply.affected = fields.len() as u64;
                }
            }
            Fault::CountsEveryDelete if matches!(operation, Operation::Delete(_)) => {
                answer.reply.affected = 1
            }
            _ => {}
        }
        answer
    }
}

impl Session for MemorySession {
    fn descriptor(&self) -> Option<RawFd> {
        None
    }

    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        if !self.answers.is_empty() {
            self.previous = std::mem::take(&mut self.answers);
        }
        self.words = None;
        let fault = self.memory.fault;
        let operation = match command {
            Command::Ping => Operation::Nothing,
            Command::KeyValue(KeyValue::Scan { .. }) if fault == Fault::None => {
                return self.refuse("no scans here");
            }
            Command::KeyValue(operation) => Operation::from(operation),
            Command::Statement { .. } if fault == Fault::AcceptsStatements => Operation::Nothing,
            Command::Statement { .. } => return self.refuse("no statements here"),
            Command::Begin | Command::Commit | Command::Rollback if fault == Fault::AcceptsTransactions => {
                Operation::Nothing
            }
            Command::Begin | Command::Commit | Command::Rollback => {
                return self.refuse("no transactions here");
            }
        };
        let operation = match (fault, operation) {
            (Fault::ScansPastItsLimit, Operation::Scan { key, count, fields }) => {
                Operation::Scan { key, count: count + 1, fields }
            }
            (_, operation) => self.distort(operation),
        };
        self.staged.push(operation);
        Ok(())
    }

    fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
        let mut failed = false;
        let staged = std::mem::take(&mut self.staged);
        for operation in &staged {
            if failed && self.memory.fault == Fault::StopsAtAnError {
                self.answers.push(Answer::default());
                continue;
            }
            let mut store = self.memory.store.lock();
            match store.carry_out(operation) {
                Ok(answer) => self.answers.push(self.bend(operation, answer)),
                Err(words) => {
                    (failed, self.words) = (true, Some(words));
                    self.answers.push(Answer::default());
                }
            }
        }
        let fault = self.memory.fault;
        if fault == Fault::NoWordsForErrors {
            self.words = None;
        }
        Poll::Ready(match fault {
            _ if !failed => Ok(()),
            Fault::SwallowsErrors => Ok(()),
            Fault::SessionLostOnError => Err(OpError::lost(Outcome::Server)),
            _ => Err(OpError::refused(Outcome::Server)),
        })
    }

    fn reply(&self, command: usize) -> Reply {
        let last = self.answers.len();
        let command = match self.memory.fault {
            Fault::SwapsReplies if command < last => last - 1 - command,
            _ => command,
        };
        let reply = self.answers.get(command).map(|answer| answer.reply).unwrap_or_default();
        if self.memory.fault == Fault::KeepsOldReplies && reply == Reply::default() {
            return self.previous.get(command).map(|answer| answer.reply).unwrap_or_default();
        }
        reply
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        let text = self.answers.get(command).and_then(|answer| answer.rows.get(row)?.get(column));
        match (text, self.memory.fault) {
            (None, Fault::ValuesPastTheEnd) if column < 3 => Some(Value::Null),
            (text, _) => text.map(|text| text.as_deref().map_or(Value::Null, Value::Text)),
        }
    }

    fn arrived(&self) -> Option<KernelStamp> {
        None
    }

    fn last_error(&self) -> Option<String> {
        self.words.clone()
    }
}

impl Target for Memory {
    type Session = MemorySession;

    fn execution(&self) -> Execution {
        Execution::Blocking
    }

    fn dialect(&self) -> Dialect {
        Dialect::KeyValue
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<MemorySession, ConnectError> {
        if let Some(first) = statements.first().filter(|_| self.fault != Fault::PreparesStatements) {
            return Err(ConnectError::permanent(format!("memory: no statements, and so not {}", first.sql)));
        }
        if isolation.is_some() && self.fault != Fault::IgnoresIsolation {
            return Err(ConnectError::permanent("memory: no isolation levels"));
        }
        let memory = match self.fault {
            Fault::OwnDataPerSession => Memory::new(self.fault),
            _ => self.clone(),
        };
        Ok(MemorySession { memory, staged: vec![], answers: vec![], previous: vec![], words: None })
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(self.clone()))
    }
}

impl Memory {
    fn without_sql<T>(&self, otherwise: T) -> Result<T, ConnectError> {
        match self.fault {
            Fault::RunsScripts => Ok(otherwise),
            _ => Err(ConnectError::permanent("memory: no SQL")),
        }
    }
}

impl Administration for Memory {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        Ok(TargetFacts {
            product: "memory".to_owned(),
            version: "0".to_owned(),
            address: "memory:".to_owned(),
            transport: "in-process".to_owned(),
            settings: Vec::new(),
            native: false,
            kernel_stamps: false,
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        self.without_sql(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        self.without_sql(Vec::new())
    }

    fn table_exists(&mut self, _table: &str) -> Result<bool, ConnectError> {
        Ok(self.store.count("")? > 0)
    }

    fn bulk(&mut self, _: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        let mut count = 0;
        while rows(&mut |values| {
            let texts: Vec<String> = values
                .iter()
                .map(|value| if let Value::Text(text) = value { (*text).to_owned() } else { String::new() })
                .collect();
            let fields = columns.iter().map(|name| (*name).to_owned()).zip(texts.iter().cloned());
            let (key, fields) = (texts[0].clone(), fields.skip(1).collect());
            let written = self.store.lock().carry_out(&Operation::Write { key, fields, replaces: true });
            count += u64::from(written.is_ok());
        }) {}
        Ok(count)
    }

    fn records(&mut self) -> Option<&mut dyn Records> {
        Some(&mut self.store)
    }
}

impl Fixture for Memory {
    type Target = Memory;

    fn target(&self) -> &Memory {
        self
    }

    fn spoil(&self, key: &str) -> Result<(), String> {
        self.store.lock().spoil(key);
        Ok(())
    }
}

driver::conformance!(a_sound_store_passes, Memory::new(Fault::None));
driver::conformance!(a_sound_store_with_scans_passes, Memory::new(Fault::NoneAndScans));

/// Each fault and the check that must notice it; others may, too.
const MUST_FAIL: [(Fault, &str); 24] = [
    (Fault::ForgetsOneField, "values of every type come back"),
    (Fault::SwapsReplies, "a pipelined batch answers in order"),
    (Fault::CutsText, "long text comes back"),
    (Fault::TrimsText, "values of every type come back"),
    (Fault::MissesAreRows, "a miss touches nothing"),
    (Fault::NilIsAValue, "NULL comes back"),
    (Fault::CountsFields, "rows and changes are counted"),
    (Fault::CountsEveryDelete, "rows and changes are counted"),
    (Fault::KeepsOldReplies, "a miss touches nothing"),
    (Fault::ValuesPastTheEnd, "values end where the rows end"),
    (Fault::UpdatesWholeRecord, "values of every type come back"),
    (Fault::StopsAtAnError, "an error in a batch leaves the session usable"),
    (Fault::SwallowsErrors, "an error in a batch leaves the session usable"),
    (Fault::SessionLostOnError, "an error in a batch leaves the session usable"),
    (Fault::NoWordsForErrors, "an error in a batch leaves the session usable"),
    (Fault::AcceptsStatements, "an unknown statement is refused"),
    (Fault::PreparesStatements, "a bad statement fails to connect"),
    (Fault::AcceptsTransactions, "what the target lacks is refused"),
    (Fault::IgnoresIsolation, "what the target lacks is refused"),
    (Fault::KeepsRefusedBatch, "what the target lacks is refused"),
    (Fault::OwnDataPerSession, "two sessions work side by side"),
    (Fault::ScansPastItsLimit, "a scan keeps its limit"),
    (Fault::RunsScripts, "administration scripts, queries and loads"),
    (Fault::DropsNothing, "records are set up, listed and dropped"),
];

#[test]
fn every_planted_fault_is_found() {
    for (fault, check) in MUST_FAIL {
        let result = conformance::run_one(&Memory::new(fault), check);
        assert!(matches!(result, Some(Err(_))), "{fault:?} passed `{check}`: {result:?}");
    }
}

/// Nothing else is wrong with the fixture than that it can't spoil a record.
#[test]
fn a_fixture_that_can_not_plant_an_error_is_told_so() {
    struct Helpless(Memory);
    impl Fixture for Helpless {
        type Target = Memory;
        fn target(&self) -> &Memory {
            &self.0
        }
    }
    let failures = conformance::failures(&Helpless(Memory::new(Fault::None)));
    let checks: Vec<&str> = failures.iter().map(|failure| failure.check).collect();
    assert_eq!(checks, ["an error in a batch leaves the session usable"]);
    assert!(failures[0].problem.contains("spoil a record"), "{failures:?}");
}
