//! Results and requests that are larger than every buffer on their way.

use driver::{Command, Conversation, Direct, Session, StatementSpec, Target, TargetUrl, Value, ValueType};
use driver_mysql::{MySqlSession, MySqlTarget};
use testkit::alloc::{CountingAlloc, counted};
use testkit::mariadb::{Options, Server, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

fn connect(url: &str, statements: &[StatementSpec]) -> MySqlSession {
    let url = TargetUrl::parse(url).unwrap();
    MySqlTarget::from_url(&url).unwrap().connect(statements, None).unwrap()
}

fn urls(server: &Server) -> [String; 3] {
    [server.unix_url(), server.tcp_url(), server.tls_url("require")]
}

fn tls_server() -> Option<Server> {
    server(&Options { tls: true, ..Options::default() })
}

#[test]
fn results_of_ten_megabytes_are_counted_in_place_and_kept_whole() {
    let Some(server) = tls_server() else { return };
    let sql = "SELECT seq, repeat('x', 1000) FROM seq_1_to_10000";
    let statements = [
        StatementSpec::counted(sql, &[]),
        StatementSpec::kept(sql, &[], &[ValueType::Int, ValueType::Text]),
        StatementSpec::counted("SELECT repeat('y', 10000000)", &[]),
    ];
    for url in urls(&server) {
        let mut session = connect(&url, &statements);
        let ask = |session: &mut MySqlSession, index| {
            Direct::new(session).ask(Command::Statement { index, arguments: &[] }).unwrap().rows
        };
        ask(&mut session, 0);
        if !url.contains("sslmode=require") && !url.contains("sslmode=verify") {
            // Also one row of 10 MB passes through a buffer of 16 KiB.
            let ((rows, one), counts) = counted(|| (ask(&mut session, 0), ask(&mut session, 2)));
            assert_eq!((rows, one, counts.total()), (10_000, 1, 0), "{url}");
        }
        assert_eq!(ask(&mut session, 1), 10_000);
        for row in [0, 1, 4_999, 9_999] {
            let number = i64::try_from(row).unwrap() + 1;
            assert_eq!(session.value(0, row, 0), Some(Value::Int(number)), "{url}");
            let Some(Value::Text(text)) = session.value(0, row, 1) else { panic!("no text") };
            assert!(text.len() == 1000 && text.bytes().all(|b| b == b'x'));
        }
        assert_eq!(session.value(0, 10_000, 0), None);
    }
}

#[test]
fn batches_that_both_sides_must_read_while_they_write() {
    let Some(server) = tls_server() else { return };
    let statements = [StatementSpec::kept("SELECT CAST(? AS CHAR)", &[ValueType::Text], &[ValueType::Text])];
    let text = "grow ".repeat(200_000);
    for url in urls(&server) {
        let mut session = connect(&url, &statements);
        for _ in 0..2 {
            let mut direct = Direct::new(&mut session);
            for _ in 0..8 {
                direct.stage(Command::Statement { index: 0, arguments: &[Value::Text(&text)] }).unwrap();
            }
            Direct::<MySqlSession>::run(direct.exchange()).unwrap();
            for command in 0..8 {
                assert!(session.value(command, 0, 0) == Some(Value::Text(&text)), "{url}: command {command}");
            }
        }
    }
}
