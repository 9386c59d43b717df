//! The only syscalls of a request are `send`, `recv` and the caller's own wait.

use driver::{Command, Direct, StatementSpec, Target, TargetUrl, Value, ValueType};
use driver_mysql::MySqlTarget;
use testkit::mariadb::{Options, server};
use testkit::syscalls::{Violation, only_syscalls};

#[test]
fn a_request_sends_receives_and_nothing_else() {
    let Some(server) = server(&Options::default()) else { return };
    let int = ValueType::Int;
    let statements = [StatementSpec::kept("SELECT CAST(? AS SIGNED)", &[int], &[int])];
    for (url, receive) in [(server.unix_url(), libc::SYS_recvfrom), (server.tcp_url(), libc::SYS_recvmsg)] {
        let url = TargetUrl::parse(&url).unwrap();
        let target = MySqlTarget::from_url(&url).unwrap();
        let mut session = target.connect(&statements, None).unwrap();
        let mut requests = || {
            for number in 0..1000 {
                let arguments = [Value::Int(number)];
                let mut direct = Direct::new(&mut session);
                let reply = direct.ask(Command::Statement { index: 0, arguments: &arguments });
                assert!(reply.is_ok_and(|reply| reply.rows == 1));
            }
        };
        requests();
        // `poll` is the test's own wait.
        assert_eq!(only_syscalls(&[libc::SYS_sendto, receive, libc::SYS_poll], &mut requests), Ok(()));
        let canary = only_syscalls(&[libc::SYS_sendto, libc::SYS_poll], &mut requests);
        assert_eq!(canary, Err(Violation::Syscall(receive)));
    }
}
