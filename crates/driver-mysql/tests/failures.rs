//! What goes wrong, against a real server: every failure has its class, its words, and the right advice on whether to try
//! again.

use driver::{
    Administration, Command, Conversation, Direct, Isolation, OpError, Session, StatementSpec, Target,
    TargetUrl, Value, ValueType,
};
use driver_mysql::{MySqlSession, MySqlTarget};
use testkit::mariadb::{Options, Server, server};
use units::Outcome;

fn target(url: &str) -> MySqlTarget {
    MySqlTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// The error of connecting, and whether it is transient.
fn refusal(url: &str) -> (String, bool) {
    match target(url).connect(&[], None) {
        Ok(_) => panic!("{url}: connected"),
        Err(error) => (error.message, error.transient),
    }
}

fn ask(session: &mut MySqlSession, index: usize, arguments: &[Value<'_>]) -> Result<(), OpError> {
    Direct::new(session).ask(Command::Statement { index, arguments }).map(drop)
}

/// Stages all commands, then exchanges once.
fn exchange(session: &mut MySqlSession, commands: &[Command<'_>]) -> Result<(), OpError> {
    let mut direct = Direct::new(session);
    for command in commands {
        direct.stage(*command)?;
    }
    Direct::<MySqlSession>::run(direct.exchange())
}

fn script(server: &Server, sql: &str) -> Box<dyn Administration> {
    let mut administration = target(&server.unix_url()).administer().unwrap();
    administration.script(sql).unwrap();
    administration
}

fn one(administration: &mut dyn Administration, sql: &str) -> String {
    administration.query(sql).unwrap()[0][0].clone().unwrap()
}

#[test]
fn refused_connections_say_why() {
    let password = Some("right".to_owned());
    let Some(server) = server(&Options { password, ..Options::default() }) else { return };
    let url =
        |credentials: &str, rest: &str| format!("mysql://{credentials}@127.0.0.1:{}/{rest}", server.port());
    let (message, transient) = refusal(&url("truetail:wrong-secret", "truetail"));
    assert!(message.contains("ERROR 1045 (28000): Access denied") && !transient, "{message}");
    assert!(!message.contains("secret"), "{message}");
    let (message, transient) = refusal(&url("truetail", "truetail"));
    assert!(message.contains("no password is given; set MYSQL_PWD") && !transient, "{message}");
    let (message, transient) = refusal(&url("truetail:right", "nowhere"));
    assert!(message.contains("ERROR 1049 (42000): Unknown database 'nowhere'") && !transient, "{message}");
    let (message, transient) = refusal(&url("truetail:right", "truetail?sslmode=require"));
    assert!(message.contains("the server has no TLS; use sslmode=disable") && !transient, "{message}");
    assert!(target(&url("truetail:right", "truetail")).connect(&[], None).is_ok(), "prefer without TLS");
    assert!(target(&url("truetail:right", "")).connect(&[], None).is_ok(), "without a database");

    let (tcp, unix) = (url("truetail:right", "truetail"), server.unix_url());
    server.stop().unwrap();
    let (message, transient) = refusal(&tcp);
    let place = format!("connection refused at 127.0.0.1:{}; is the server running?", server.port());
    assert!(message.starts_with("mysql://truetail@127.0.0.1:") && message.ends_with(&place), "{message}");
    assert!(transient);
    let (message, transient) = refusal(&unix);
    assert!(message.contains("is the server running?") && transient, "{message}");
    for message in [tcp, unix] {
        let debug = format!("{:?}", target(&message));
        assert!(!debug.contains("right"), "{debug}");
    }
}

#[test]
fn who_logs_in_in_another_way_is_let_in_or_told() {
    let Some(server) = server(&Options { tls: true, ..Options::default() }) else { return };
    let _administration = script(
        &server,
        "INSTALL SONAME 'auth_ed25519'; CREATE USER eddy@'%' IDENTIFIED VIA ed25519 USING PASSWORD('pw'); \
         CREATE USER ann@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('p ä ss')",
    );
    let url = |credentials: &str, mode: &str| {
        format!("mysql://{credentials}@localhost:{}/?sslmode={mode}", server.port())
    };
    let (message, transient) = refusal(&url("eddy:pw", "require"));
    assert!(message.contains("authentication by `client_ed25519`; known are") && !transient, "{message}");
    for mode in ["disable", "require"] {
        let mut session = target(&url("ann:p%20%C3%A4%20ss", mode)).connect(&[], None).unwrap();
        Direct::new(&mut session).ask(Command::Ping).unwrap();
    }
}

#[test]
fn tls_trusts_whom_it_should() {
    let Some(server) = server(&Options { tls: true, ..Options::default() }) else { return };
    let on = |host: &str, options: &str| {
        target(&format!("mysql://truetail@{host}:{}/truetail?{options}", server.port()))
    };
    let root = format!("ssl-ca={}", server.authority().display());
    for (host, options) in [
        ("localhost", "sslmode=prefer".to_owned()),
        ("127.0.0.1", "ssl-mode=REQUIRED".to_owned()),
        ("localhost", format!("ssl-mode=VERIFY_IDENTITY&{root}")),
        ("127.0.0.1", format!("sslmode=verify-ca&{root}")),
    ] {
        let mut administration = on(host, &options).administer().unwrap();
        let facts = administration.facts().unwrap();
        assert_eq!((facts.transport.as_str(), facts.native), ("tcp+tls", false), "{options}");
        let cipher = administration.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'").unwrap();
        assert!(!cipher[0][1].as_deref().unwrap().is_empty(), "{cipher:?}");
    }
    let wrong_name =
        on("127.0.0.1", &format!("sslmode=verify-full&{root}")).connect(&[], None).err().unwrap();
    assert!(!wrong_name.transient && wrong_name.message.contains("certificate"), "{wrong_name}");
    let missing =
        on("localhost", "sslmode=verify-ca&ssl-ca=/nonexistent.crt").connect(&[], None).err().unwrap();
    assert!(missing.message.contains("/nonexistent.crt"), "{missing}");
}

#[test]
fn an_orderly_shutdown_is_told_from_a_crash_as_far_as_the_server_does() {
    let Some(server) = server(&Options::default()) else { return };
    let sleep = [StatementSpec::counted("SELECT SLEEP(60)", &[])];
    let mut session = target(&server.unix_url()).connect(&sleep, None).unwrap();
    session.stage(Command::Statement { index: 0, arguments: &[] }).unwrap();
    assert!(session.poll_reply().is_pending());
    server.shut_down().unwrap();
    let error = exchange(&mut session, &[]).unwrap_err();
    assert!(!error.session_usable, "{error:?}");
    let told = [Outcome::Unavailable, Outcome::ConnectionLost];
    assert!(told.contains(&error.outcome), "{error:?}: {:?}", session.last_error());
}

#[test]
fn a_killed_session_is_lost_with_the_servers_words() {
    let Some(server) = server(&Options::default()) else { return };
    let mut administration = script(&server, "SELECT 1");
    let id = [StatementSpec::kept("SELECT CONNECTION_ID()", &[], &[ValueType::Int])];
    let mut session = target(&server.tcp_url()).connect(&id, None).unwrap();
    ask(&mut session, 0, &[]).unwrap();
    let Some(Value::Int(id)) = session.value(0, 0, 0) else { panic!("no number") };
    administration.script(&format!("KILL {id}")).unwrap();
    // The server may need a moment to notice.
    let error = loop {
        if let Err(error) = Direct::new(&mut session).ask(Command::Ping) {
            break error;
        }
    };
    assert_eq!(error, OpError::lost(Outcome::ConnectionLost), "{:?}", session.last_error());
    assert!(session.last_error().is_some_and(|words| !words.is_empty()));
}

#[test]
fn what_follows_a_failed_command_changes_nothing() {
    let Some(server) = server(&Options::default()) else { return };
    let mut administration =
        script(&server, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0)");
    let int = ValueType::Int;
    let statements = [
        StatementSpec::counted("INSERT INTO t VALUES (?, 0)", &[int]),
        StatementSpec::counted("UPDATE t SET n = n + 1 WHERE id = ?", &[int]),
        StatementSpec::kept("SELECT n FROM t WHERE id = ?", &[int], &[int]),
    ];
    let mut session = target(&server.unix_url()).connect(&statements, None).unwrap();
    let command = |index, arguments| Command::Statement { index, arguments };
    let (one_, two, three) = ([Value::Int(1)], [Value::Int(2)], [Value::Int(3)]);
    // A COMMIT after a failure would make half a transaction last.
    let half = [Command::Begin, command(1, &two), command(0, &one_), command(1, &one_), Command::Commit];
    assert_eq!(exchange(&mut session, &half), Err(OpError::refused(Outcome::Constraint)));
    assert_eq!(session.reply(1).affected, 1);
    assert_eq!((session.reply(3).affected, session.reply(4)), (0, driver::Reply::default()));
    Direct::new(&mut session).ask(Command::Rollback).unwrap();
    assert_eq!(one(&mut *administration, "SELECT SUM(n) FROM t"), "0");
    // Outside of a transaction as well; reads that travel along are answered.
    let batch =
        [command(2, &one_), command(2, &two), command(0, &one_), command(2, &two), command(0, &three)];
    assert_eq!(exchange(&mut session, &batch), Err(OpError::refused(Outcome::Constraint)));
    assert_eq!((session.value(1, 0, 0), session.value(3, 0, 0)), (Some(Value::Int(0)), Some(Value::Int(0))));
    assert_eq!(one(&mut *administration, "SELECT COUNT(*) FROM t"), "2");
    // And all of it happens where nothing fails.
    let whole = [Command::Begin, command(1, &two), command(0, &three), command(1, &one_), Command::Commit];
    exchange(&mut session, &whole).unwrap();
    assert_eq!(one(&mut *administration, "SELECT SUM(n) FROM t"), "2");
    assert_eq!(one(&mut *administration, "SELECT COUNT(*) FROM t"), "3");
}

#[test]
fn a_deadlocks_victim_does_not_go_on_outside_of_its_transaction() {
    let Some(server) = server(&Options::default()) else { return };
    let mut administration = script(
        &server,
        "CREATE TABLE d (id int PRIMARY KEY, n int); INSERT INTO d VALUES (1, 0), (2, 0), (3, 0)",
    );
    let int = ValueType::Int;
    let statements = [StatementSpec::counted("UPDATE d SET n = n + 1 WHERE id = ?", &[int])];
    let target = target(&server.unix_url());
    let connect = || target.connect(&statements, None).unwrap();
    let (mut first, mut second) = (connect(), connect());
    let rows = [[Value::Int(1)], [Value::Int(2)], [Value::Int(3)]];
    let update = |row: usize| Command::Statement { index: 0, arguments: &rows[row] };
    // The one that has changed more is not the victim.
    exchange(&mut first, &[Command::Begin, update(0), update(0), update(0)]).unwrap();
    exchange(&mut second, &[Command::Begin, update(1)]).unwrap();
    first.stage(update(1)).unwrap();
    assert!(first.poll_reply().is_pending());
    let ends = [exchange(&mut second, &[update(0), update(2), Command::Commit]), exchange(&mut first, &[])];
    assert!(ends.contains(&Err(OpError::refused(Outcome::Deadlock))), "{ends:?}");
    for session in [&mut first, &mut second] {
        Direct::new(session).ask(Command::Rollback).unwrap();
    }
    let changed = one(&mut *administration, "SELECT SUM(n) FROM d");
    assert!(ends[0].is_ok() || changed == "0", "the victim's next command was carried out: {changed}");
}

#[test]
fn errors_have_their_classes_and_leave_the_session_usable() {
    let Some(server) = server(&Options::default()) else { return };
    let _administration = script(
        &server,
        "CREATE TABLE p (id int PRIMARY KEY, n smallint NOT NULL, CHECK (n < 100)); INSERT INTO p VALUES (1, 0); \
         CREATE TABLE c (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES p (id)); INSERT INTO c VALUES (1, 1)",
    );
    let int = ValueType::Int;
    let statements = [
        StatementSpec::counted("INSERT INTO p VALUES (?, ?)", &[int, int]),
        StatementSpec::counted("INSERT INTO c VALUES (?, ?)", &[int, int]),
        StatementSpec::counted("DELETE FROM p WHERE id = ?", &[int]),
        StatementSpec::counted("SET max_statement_time = 0.01", &[]),
        StatementSpec::counted(
            "SELECT COUNT(*) FROM p, c, information_schema.columns a, information_schema.columns b",
            &[],
        ),
        StatementSpec::counted("UPDATE p SET n = ? WHERE id = 1", &[int]),
    ];
    let mut session =
        target(&server.unix_url()).connect(&statements, Some(Isolation::ReadCommitted)).unwrap();
    let constraint = Err(OpError::refused(Outcome::Constraint));
    let (i, null) = (Value::Int, Value::Null);
    assert_eq!(ask(&mut session, 0, &[i(1), i(1)]), constraint);
    assert!(session.last_error().unwrap().starts_with("ERROR 1062 (23000): Duplicate entry '1'"));
    assert_eq!(ask(&mut session, 0, &[i(2), null]), constraint);
    assert_eq!(ask(&mut session, 0, &[i(2), i(100)]), constraint, "CHECK");
    assert_eq!(ask(&mut session, 1, &[i(2), i(77)]), constraint, "no parent");
    assert_eq!(ask(&mut session, 2, &[i(1)]), constraint, "has a child");
    // What does not fit a column is refused, not cut.
    assert_eq!(ask(&mut session, 5, &[i(40_000)]), Err(OpError::refused(Outcome::Server)));
    assert!(session.last_error().unwrap().contains("1264"), "{:?}", session.last_error());
    ask(&mut session, 3, &[]).unwrap();
    assert_eq!(ask(&mut session, 4, &[]), Err(OpError::refused(Outcome::Server)));
    assert!(session.last_error().unwrap().contains("1969"), "{:?}", session.last_error());
    // An update that changes nothing has found its row.
    for _ in 0..2 {
        let reply = Direct::new(&mut session).ask(Command::Statement { index: 5, arguments: &[i(5)] });
        assert_eq!(reply.unwrap().affected, 1);
    }
    assert_eq!(session.last_error(), None);
}

#[test]
fn too_many_connections_may_pass() {
    let settings = vec![("max_connections".to_owned(), "10".to_owned())];
    let Some(server) = server(&Options { settings, ..Options::default() }) else { return };
    let target = target(&server.tcp_url());
    let mut sessions = Vec::new();
    let refusal = loop {
        match target.connect(&[], None) {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
        assert!(sessions.len() < 20);
    };
    assert!(refusal.transient && refusal.message.contains("1040"), "{refusal}");
}

#[test]
fn statements_that_do_not_fit_are_refused_before_the_run() {
    let Some(server) = server(&Options::default()) else { return };
    let problem = |spec: StatementSpec| {
        let error = target(&server.unix_url()).connect(&[spec], None).err().unwrap();
        assert!(!error.transient);
        error.message
    };
    let message = problem(StatementSpec::counted("SELECT\n  nothing FROM nowhere", &[]));
    assert!(message.contains("statement 0 (`SELECT nothing FROM nowhere`): ERROR 1146 (42S02)"), "{message}");
    let message = problem(StatementSpec::kept("SELECT 1.5e0 AS s", &[], &[ValueType::Int]));
    assert!(message.contains("column `s` is double at the server"), "{message}");
    let message = problem(StatementSpec::counted("SELECT ?", &[]));
    assert!(message.contains("it has 1 parameters, the workload gives 0"), "{message}");
    let message = problem(StatementSpec::kept("SELECT 1", &[], &[ValueType::Int, ValueType::Int]));
    assert!(message.contains("it returns 1 columns, the workload reads 2"), "{message}");
    let message = problem(StatementSpec::counted(";", &[]));
    assert!(message.contains("statement 0"), "{message}");
    let message = problem(StatementSpec::counted("SELECT 1; DROP TABLE mysql.user", &[]));
    assert!(message.contains("1064"), "{message}");
}

#[test]
fn a_session_sends_no_files_and_takes_one_result() {
    let Some(server) = server(&Options::default()) else { return };
    let _administration =
        script(&server, "CREATE TABLE f (a text); CREATE PROCEDURE two() BEGIN SELECT 1; SELECT 2; END");
    let url = server.unix_url();
    let statements = [
        StatementSpec::counted("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE f", &[]),
        StatementSpec::counted("CALL two()", &[]),
    ];
    let mut session = target(&url).connect(&statements, None).unwrap();
    for (index, number) in [(0, "4166"), (1, "1312")] {
        assert_eq!(ask(&mut session, index, &[]), Err(OpError::refused(Outcome::Server)));
        assert!(session.last_error().unwrap().contains(number), "{:?}", session.last_error());
    }
}

#[test]
fn a_table_that_changes_under_a_session_is_read_as_it_is() {
    let Some(server) = server(&Options::default()) else { return };
    let mut administration = script(&server, "CREATE TABLE a (id int, n int); INSERT INTO a VALUES (1, 5)");
    let int = ValueType::Int;
    let statements = [StatementSpec::kept("SELECT id, n FROM a", &[], &[int, int])];
    let mut session = target(&server.unix_url()).connect(&statements, None).unwrap();
    for (change, expected) in [
        ("SELECT 1", 5),
        ("ALTER TABLE a MODIFY n bigint", 5),
        ("UPDATE a SET n = 1 << 40", 1 << 40),
        ("ALTER TABLE a MODIFY n bigint unsigned", 1 << 40),
        ("UPDATE a SET n = 200; ALTER TABLE a MODIFY n tinyint unsigned", 200),
        ("UPDATE a SET n = 7; ALTER TABLE a MODIFY n decimal(20,0)", 7),
    ] {
        administration.script(change).unwrap();
        for _ in 0..2 {
            ask(&mut session, 0, &[]).unwrap();
            assert_eq!(session.value(0, 0, 1), Some(Value::Int(expected)), "{change}");
        }
    }
    administration.script("ALTER TABLE a MODIFY n varchar(20)").unwrap();
    assert_eq!(ask(&mut session, 0, &[]), Err(OpError::lost(Outcome::Protocol)));
    assert!(session.last_error().unwrap().contains("column 2 of the result"), "{:?}", session.last_error());
}

#[test]
fn facts_are_the_servers_own() {
    let Some(server) = server(&Options::default()) else { return };
    for (url, transport) in [(server.unix_url(), "unix"), (server.tcp_url(), "tcp")] {
        let facts = target(&url).administer().unwrap().facts().unwrap();
        assert_eq!((facts.product.as_str(), facts.transport.as_str()), ("MariaDB", transport));
        assert!(facts.version.contains("MariaDB"), "{}", facts.version);
        let setting = |name: &str| {
            facts.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(setting("innodb_flush_log_at_trx_commit"), Some("0"));
        assert_eq!(setting("sync_binlog"), Some("0"));
        assert!(setting("sql_mode").unwrap().contains("STRICT_ALL_TABLES"), "{:?}", facts.settings);
        assert_eq!(facts.server_pids, [server.pid().unwrap().unsigned_abs()]);
        assert_eq!((facts.native, facts.kernel_stamps), (true, transport == "tcp"));
    }
}

#[test]
fn numbers_of_an_earlier_server_are_not_killed_at_the_next() {
    let Some(server) = server(&Options::default()) else { return };
    let sleep = [StatementSpec::counted("SELECT SLEEP(60)", &[])];
    let target = target(&server.unix_url());
    // The highest number of all by far.
    let early: Vec<_> = (0..20).map(|_| target.connect(&[], None).unwrap()).collect();
    let mut busy = target.connect(&sleep, None).unwrap();
    drop(early);
    busy.stage(Command::Statement { index: 0, arguments: &[] }).unwrap();
    assert!(busy.poll_reply().is_pending());
    server.restart().unwrap();
    drop(busy);
    // Each of these would be the one, sooner or later.
    let mut sessions: Vec<_> = (0..20).map(|_| target.connect(&[], None).unwrap()).collect();
    for session in &mut sessions {
        Direct::new(session).ask(Command::Ping).unwrap();
    }
}
