//! The suite that every driver must pass, and the null driver's own promise: nothing happens.

use driver::conformance::Fixture;
use driver::{Command, KeyValue, Session, StatementSpec, Target, Value, ValueType};
use driver_null::NullTarget;
use testkit::alloc::{CountingAlloc, Counts, counted};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

struct Null(NullTarget);

impl Fixture for Null {
    type Target = NullTarget;

    fn target(&self) -> &NullTarget {
        &self.0
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }
}

driver::conformance!(null_conforms, Null(NullTarget::new()));

fn request(session: &mut driver_null::NullSession, number: i64) -> u64 {
    let arguments = [Value::Int(number), Value::Text("some text")];
    for command in [
        Command::Begin,
        Command::Statement { index: 0, arguments: &arguments },
        Command::KeyValue(KeyValue::Delete { table: "usertable", key: "a" }),
        Command::Commit,
    ] {
        session.stage(command).unwrap();
    }
    assert!(session.poll_reply().is_ready());
    session.reply(1).affected + u64::from(session.value(1, 0, 0).is_some())
}

fn session() -> driver_null::NullSession {
    let types = [ValueType::Int, ValueType::Text];
    NullTarget::new().connect(&[StatementSpec::kept("SELECT 1", &types, &types)], None).unwrap()
}

#[test]
fn requests_allocate_nothing_from_the_first_one_on() {
    let mut session = session();
    let (touched, counts) = counted(|| (0..1_000).map(|n| request(&mut session, n)).sum::<u64>());
    assert_eq!((touched, counts.total()), (2_000, 0));
}

#[test]
#[cfg(target_os = "linux")]
fn requests_make_no_system_call() {
    let mut session = session();
    let ended = testkit::syscalls::no_syscalls(|| {
        for number in 0..1_000 {
            request(&mut session, number);
        }
    });
    assert_eq!(ended, Ok(()));
}
