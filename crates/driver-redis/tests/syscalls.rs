//! The only syscalls of a request are `send`, `recv` and the caller's own wait.

use driver::{Command, Conversation, Direct, Fields, KeyValue, Target, TargetUrl};
use driver_redis::{RedisSession, RedisTarget};
use testkit::redis::{Options, server};
use testkit::syscalls::{Violation, only_syscalls};

#[test]
fn a_request_sends_receives_and_nothing_else() {
    let Some(server) = server(&Options::default()) else { return };
    for (url, receive) in [(server.unix_url(), libc::SYS_recvfrom), (server.tcp_url(), libc::SYS_recvmsg)] {
        let target = RedisTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        let mut session = target.connect(&[], None).unwrap();
        let mut requests = || (0..1000).for_each(|_| all_kinds(&mut session));
        requests();
        // `poll` is the test's own wait.
        assert_eq!(only_syscalls(&[libc::SYS_sendto, receive, libc::SYS_poll], &mut requests), Ok(()));
        let canary = only_syscalls(&[libc::SYS_sendto, libc::SYS_poll], &mut requests);
        assert_eq!(canary, Err(Violation::Syscall(receive)));
    }
}

/// Each kind of request by itself, then all in one batch.
fn all_kinds(session: &mut RedisSession) {
    let (key, fields) = ("a key", [("name", "value"), ("other", "another value")]);
    let requests = [
        Command::Ping,
        Command::KeyValue(KeyValue::Insert { table: "usertable", key, fields: &fields }),
        Command::KeyValue(KeyValue::Read { table: "usertable", key, fields: Fields::All }),
        Command::KeyValue(KeyValue::Read { table: "usertable", key, fields: Fields::One("name") }),
        Command::KeyValue(KeyValue::Update { table: "usertable", key, fields: &fields[..1] }),
        Command::KeyValue(KeyValue::Delete { table: "usertable", key }),
    ];
    let mut direct = Direct::new(session);
    for request in requests {
        assert!(direct.ask(request).is_ok_and(|reply| reply.touched() || request == Command::Ping));
    }
    requests.iter().for_each(|request| assert!(direct.stage(*request).is_ok()));
    assert!(Direct::<RedisSession>::run(direct.exchange()).is_ok());
}
