//! The suite that every driver must pass, over both kinds of socket, and what a request calls.

mod serving;

use driver::conformance::{self, Fixture};
use driver::{Command, Conversation, Direct, KeyValue, Session, StatementSpec, Target, Value, ValueType};
use driver_echo::{EchoSession, EchoTarget};
use serving::Serving;
use testkit::alloc::{CountingAlloc, Counts, counted};
use testkit::syscalls::{Violation, only_syscalls};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

struct Echo(EchoTarget);

impl Fixture for Echo {
    type Target = EchoTarget;

    fn target(&self) -> &EchoTarget {
        &self.0
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }
}

#[test]
fn it_conforms_over_tcp_and_unix_with_payloads_of_any_size() {
    let serving = Serving::start();
    let _stamped = first_stamped(&serving.tcp_url(""));
    for options in ["", "request=0&answer=0", "request=3&answer=65536", "request=65536&answer=1"] {
        for url in [serving.tcp_url(options), serving.unix_url(options)] {
            println!("{url}");
            conformance::run_all(&Echo(serving::target(&url)));
        }
    }
}

/// A session whose answers are stamped: the kernel begins to stamp a moment after the first socket of the host has asked for
/// it, and goes on as long as there is one.
fn first_stamped(url: &str) -> EchoSession {
    let mut session = session(url);
    while session.arrived().is_none() {
        Direct::new(&mut session).ask(Command::Ping).unwrap();
    }
    session
}

#[test]
fn stamps_are_promised_on_tcp_alone() {
    let serving = Serving::start();
    let facts = |url: &str| serving::target(url).administer().unwrap().facts().unwrap();
    let (tcp, unix) = (facts(&serving.tcp_url("")), facts(&serving.unix_url("")));
    assert_eq!((tcp.transport.as_str(), tcp.kernel_stamps), ("tcp", true));
    assert_eq!((unix.transport.as_str(), unix.kernel_stamps), ("unix", false));
}

fn session(url: &str) -> EchoSession {
    let types = [ValueType::Int, ValueType::Text];
    let statements = [StatementSpec::kept("SELECT 1", &types, &types)];
    serving::target(url).connect(&statements, None).unwrap()
}

/// All kinds of commands, each by itself, then all in one batch.
fn all_kinds(session: &mut EchoSession) {
    let arguments = [Value::Int(1), Value::Text("some text")];
    let commands = [
        Command::Ping,
        Command::Begin,
        Command::Statement { index: 0, arguments: &arguments },
        Command::KeyValue(KeyValue::Delete { table: "usertable", key: "a" }),
        Command::Commit,
    ];
    let mut direct = Direct::new(session);
    for command in commands {
        let touches = matches!(command, Command::Statement { .. } | Command::KeyValue(_));
        assert!(direct.ask(command).is_ok_and(|reply| reply.touched() == touches));
    }
    commands.iter().for_each(|command| assert!(direct.stage(*command).is_ok()));
    assert!(Direct::<EchoSession>::run(direct.exchange()).is_ok());
    assert_eq!(direct.value(2, 0, 1), Some(Value::Text("")));
}

#[test]
fn a_request_sends_receives_and_nothing_else() {
    let serving = Serving::start();
    let options = "request=100&answer=900";
    for (url, receive) in
        [(serving.unix_url(options), libc::SYS_recvfrom), (serving.tcp_url(options), libc::SYS_recvmsg)]
    {
        let mut session = session(&url);
        let mut requests = || (0..300).for_each(|_| all_kinds(&mut session));
        requests();
        let ((), counts) = counted(&mut requests);
        assert_eq!(counts.total(), 0);
        // `poll` is the test's own wait.
        assert_eq!(only_syscalls(&[libc::SYS_sendto, receive, libc::SYS_poll], &mut requests), Ok(()));
        let canary = only_syscalls(&[libc::SYS_sendto, libc::SYS_poll], &mut requests);
        assert_eq!(canary, Err(Violation::Syscall(receive)));
    }
}
