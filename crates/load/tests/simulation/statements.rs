//! What is inside of requests: each exchange with what it carried, when, and how it ended.

use crate::doubles::{numbered_requests, plain};
use driver::{Command, Conversation, OpError};
use load::arrivals::Process;
use load::simulate::{Answer, Server, Simulated, simulate_statements};
use load::{LoadSpec, Model, Retry};
use record::{KEY_READ, NO_STATEMENT, RawStatement, with};
use units::{Nanos, Outcome};
use workload::Workload;

/// Three exchanges: begin and a read; two updates and a read; commit.
struct Transfer;

impl Workload for Transfer {
    numbered_requests!("Transfer");
    async fn run<C: Conversation>(&self, _plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        let statement = |index| Command::Statement { index, arguments: &[] };
        conversation.stage(Command::Begin)?;
        conversation.stage(statement(4))?;
        conversation.exchange().await?;
        for index in [1, 1, 2] {
            conversation.stage(statement(index))?;
        }
        conversation.exchange().await?;
        conversation.stage(Command::Commit)?;
        conversation.exchange().await?;
        Ok(Outcome::Ok)
    }
}

/// Answers the n-th exchange after the n-th of these times, in ns, and so on; and then without any delay.
struct Told(Vec<(u64, Result<(), OpError>)>);

impl Server for Told {
    fn serve(&mut self, now: Nanos, _session: u16) -> Answer {
        let (after, result) = if self.0.is_empty() { (0, Ok(())) } else { self.0.remove(0) };
        Answer { at: now + Nanos(after), result }
    }
}

fn asked(retry: &str) -> LoadSpec {
    LoadSpec {
        operations: vec!["Transfer".into()],
        requests: Some(2),
        timeout: Some(Nanos::from_millis(10)),
        retry: Retry::parse(retry).unwrap(),
        ..plain(Model::Open { process: Process::Constant }, "10s@10/s")
    }
}

fn done(spec: &LoadSpec, told: &[(u64, Result<(), OpError>)]) -> Simulated {
    simulate_statements(spec, &Transfer, Box::new(Told(told.to_vec()))).unwrap()
}

/// What it is, without when: (number, position, attempt, label, commands, with).
fn kind(row: &RawStatement) -> (u64, u16, u8, u16, u16, u8) {
    (row.seq, row.position, row.attempt, row.label, row.commands, row.with)
}

fn took(row: &RawStatement) -> u64 {
    row.completed.0 - row.sent.0
}

#[test]
fn each_exchange_has_its_own_time() {
    let run = done(&asked("none"), &[(5, Ok(())), (7_000, Ok(())), (11, Ok(()))]);
    let rows = &run.statements;
    assert_eq!(
        rows.iter().map(kind).collect::<Vec<_>>(),
        [
            (0, 0, 0, 4, 2, with::BEGIN),
            (0, 1, 0, 1, 3, 0),
            (0, 2, 0, NO_STATEMENT, 1, with::COMMIT),
            (1, 0, 0, 4, 2, with::BEGIN),
            (1, 1, 0, 1, 3, 0),
            (1, 2, 0, NO_STATEMENT, 1, with::COMMIT),
        ]
    );
    assert_eq!(rows.iter().map(took).collect::<Vec<_>>(), [5, 7_000, 11, 0, 0, 0]);
    // No time is between two exchanges of this workload: all of the request's service time is in them.
    for sample in &run.samples {
        let own = rows.iter().filter(|row| row.seq == sample.seq);
        assert_eq!(sample.completed.0 - sample.sent.0, own.map(took).sum::<u64>());
    }
    assert_eq!((rows[0].sent, rows[2].completed), (run.samples[0].sent, run.samples[0].completed));
}

#[test]
fn all_attempts_are_there_with_how_they_ended() {
    let deadlock = Err(OpError::refused(Outcome::Deadlock));
    let run =
        done(&asked("conflicts:1"), &[(5, Ok(())), (40, deadlock), (6, Ok(())), (9, Ok(())), (2, Ok(()))]);
    let of_first: Vec<_> = run.statements.iter().filter(|row| row.seq == 0).collect();
    let told: Vec<_> =
        of_first.iter().map(|row| (row.position, row.attempt, row.label, row.outcome)).collect();
    let (ok, deadlock) = (Outcome::Ok.code(), Outcome::Deadlock.code());
    assert_eq!(
        told,
        [(0, 0, 4, ok), (1, 0, 1, deadlock), (2, 1, 4, ok), (3, 1, 1, ok), (4, 1, NO_STATEMENT, ok)]
    );
    assert_eq!((run.samples[0].retries, run.samples[0].outcome), (1, ok));
}

#[test]
fn one_that_is_given_up_ends_there() {
    let run = done(&asked("none"), &[(5, Ok(())), (1_000_000_000, Ok(()))]);
    let last = run.statements.iter().rfind(|row| row.seq == 0).unwrap();
    assert_eq!((last.position, last.outcome), (1, Outcome::Timeout.code()));
    assert_eq!(took(last), 9_999_995, "all that the time limit left to it");
    assert_eq!(last.completed, run.samples[0].completed);
}

/// Asks a store without statements.
struct Read;

impl Workload for Read {
    numbered_requests!("Read");
    async fn run<C: Conversation>(&self, _plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        let read = driver::KeyValue::Read { table: "usertable", key: "user1", fields: driver::Fields::All };
        conversation.stage(Command::KeyValue(read))?;
        conversation.exchange().await?;
        Ok(Outcome::Ok)
    }
}

#[test]
fn key_value_operations_have_names_of_their_own() {
    let spec = LoadSpec { operations: vec!["Read".into()], ..asked("none") };
    let run = simulate_statements(&spec, &Read, Box::new(Told(vec![]))).unwrap();
    assert_eq!(run.statements.iter().map(|row| row.label).collect::<Vec<_>>(), [KEY_READ, KEY_READ]);
}
