//! What goes wrong, against a real server: every failure has its class, its words, and the right advice on
//! whether to try again.

use driver::{
    Administration, Command, Direct, Isolation, OpError, Session, StatementSpec, Target, TargetUrl, Value,
    ValueType,
};
use driver_postgres::{PostgresSession, PostgresTarget};
use testkit::postgres::{Authentication, Options, Server, server};
use units::Outcome;

fn target(url: &str) -> PostgresTarget {
    PostgresTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// The error of connecting, and whether it is transient.
fn refusal(url: &str) -> (String, bool) {
    match target(url).connect(&[], None) {
        Ok(_) => panic!("{url}: connected"),
        Err(error) => (error.message, error.transient),
    }
}

fn ask(session: &mut PostgresSession, index: usize, arguments: &[Value<'_>]) -> Result<(), OpError> {
    Direct::new(session).ask(Command::Statement { index, arguments }).map(drop)
}

fn script(server: &Server, sql: &str) -> Box<dyn Administration> {
    let mut administration = target(&server.unix_url()).administer().unwrap();
    administration.script(sql).unwrap();
    administration
}

#[test]
fn refused_connections_say_why() {
    let authentication = Authentication::Scram("right".to_owned());
    let Some(server) = server(&Options { authentication, ..Options::default() }) else { return };
    let url = |credentials: &str, database: &str| {
        format!("postgres://{credentials}@127.0.0.1:{}/{database}?passfile=/nonexistent", server.port())
    };
    let (message, transient) = refusal(&url("postgres:wrong-secret", "postgres"));
    assert!(message.contains("password authentication failed") && message.contains("28P01"), "{message}");
    assert!(!message.contains("secret") && !transient, "{message}");
    let (message, transient) = refusal(&url("postgres", "postgres"));
    assert!(message.contains("none is given; set PGPASSWORD") && !transient, "{message}");
    let (message, transient) = refusal(&url("postgres:right", "nowhere"));
    assert!(message.contains("database \"nowhere\" does not exist") && !transient, "{message}");
    let (message, transient) = refusal(&format!("{}&sslmode=require", url("postgres:right", "postgres")));
    assert!(message.contains("the server has no TLS; use sslmode=disable") && !transient, "{message}");
    assert!(target(&url("postgres:right", "postgres")).connect(&[], None).is_ok(), "prefer without TLS");

    let (tcp, unix) = (url("postgres:right", "postgres"), server.unix_url());
    server.stop().unwrap();
    let (message, transient) = refusal(&tcp);
    let place = format!("connection refused at 127.0.0.1:{}; is the server running?", server.port());
    assert!(message.starts_with("postgres://postgres@127.0.0.1:") && message.ends_with(&place), "{message}");
    assert!(transient);
    let (message, transient) = refusal(&unix);
    assert!(message.contains("is the server running?") && transient, "{message}");
    for message in [tcp, unix] {
        let debug = format!("{:?}", target(&message));
        assert!(!debug.contains("right"), "{debug}");
    }
}

#[test]
fn older_ways_to_log_in_work() {
    for (authentication, tcp_works) in
        [(Authentication::Md5("pa ss".to_owned()), true), (Authentication::Cleartext("pw".to_owned()), false)]
    {
        let password = if tcp_works { "pa%20ss" } else { "pw" };
        let Some(server) = server(&Options { authentication, tls: true, ..Options::default() }) else {
            return;
        };
        let url = |mode: &str| {
            format!("postgres://postgres:{password}@localhost:{}/postgres?sslmode={mode}", server.port())
        };
        let mut session = target(&url("require")).connect(&[], None).unwrap();
        Direct::new(&mut session).ask(Command::Ping).unwrap();
        if tcp_works {
            target(&url("disable")).connect(&[], None).unwrap();
        } else {
            let (message, transient) = refusal(&url("disable"));
            assert!(message.contains("clear text") && !transient, "{message}");
        }
    }
}

#[test]
fn tls_trusts_whom_it_should() {
    let Some(server) = server(&Options { tls: true, ..Options::default() }) else { return };
    let on = |host: &str, options: &str| {
        target(&format!("postgres://postgres@{host}:{}/postgres?{options}", server.port()))
    };
    let root = format!("sslrootcert={}", server.authority().display());
    for (host, options) in [
        ("localhost", "sslmode=prefer".to_owned()),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("localhost", format!("sslmode=verify-full&{root}")),
        ("127.0.0.1", format!("sslmode=verify-ca&{root}")),
    ] {
        let mut administration = on(host, &options).administer().unwrap();
        let facts = administration.facts().unwrap();
        assert_eq!((facts.transport.as_str(), facts.native), ("tcp+tls", false), "{options}");
        let own = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        assert_eq!(administration.query(own).unwrap(), [[Some("true".to_owned())]]);
    }
    // The certificate is for `localhost`, and the system's authorities have not signed it.
    let wrong_name =
        on("127.0.0.1", &format!("sslmode=verify-full&{root}")).connect(&[], None).err().unwrap();
    assert!(!wrong_name.transient && wrong_name.message.contains("certificate"), "{wrong_name}");
    let other = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("other.crt");
    std::fs::copy(server.authority(), &other).unwrap();
    let stranger = testkit::postgres::server(&Options { tls: true, ..Options::default() }).unwrap();
    let url = format!(
        "postgres://postgres@localhost:{}/postgres?sslmode=verify-ca&sslrootcert={}",
        stranger.port(),
        other.display()
    );
    let (message, transient) = refusal(&url);
    assert!(!transient && message.contains("TLS"), "{message}");
    let (message, _) = refusal(&url.replace("other.crt", "missing.crt"));
    assert!(message.contains("missing.crt"), "{message}");
}

#[test]
fn a_lost_server_is_noticed_and_comes_back() {
    let Some(server) = server(&Options::default()) else { return };
    let sleep = [StatementSpec::counted("SELECT pg_sleep(60)", &[])];
    let statement = Command::Statement { index: 0, arguments: &[] };
    for url in [server.unix_url(), server.tcp_url()] {
        let target = target(&url);
        let (mut busy, mut idle) =
            (target.connect(&sleep, None).unwrap(), target.connect(&sleep, None).unwrap());
        Direct::new(&mut idle).ask(Command::Ping).unwrap();
        busy.stage(statement).unwrap();
        assert!(busy.poll_reply().is_pending());
        server.stop().unwrap();
        idle.stage(Command::Ping).unwrap(); // it has not noticed yet
        for session in [&mut busy, &mut idle] {
            let error = finish(session).unwrap_err();
            assert_eq!(error, OpError::lost(Outcome::ConnectionLost), "{:?}", session.last_error());
            assert_eq!(session.stage(Command::Ping), Err(OpError::lost(Outcome::ConnectionLost)));
            assert!(session.last_error().is_some_and(|words| !words.is_empty()));
        }
        server.launch().unwrap();
        let mut again = target.connect(&sleep, None).unwrap();
        Direct::new(&mut again).ask(Command::Ping).unwrap();
    }
}

#[test]
fn an_orderly_shutdown_is_unavailability() {
    let Some(server) = server(&Options::default()) else { return };
    let sleep = [StatementSpec::counted("SELECT pg_sleep(60)", &[])];
    let mut session = target(&server.unix_url()).connect(&sleep, None).unwrap();
    session.stage(Command::Statement { index: 0, arguments: &[] }).unwrap();
    assert!(session.poll_reply().is_pending());
    server.shut_down().unwrap();
    assert_eq!(finish(&mut session), Err(OpError::lost(Outcome::Unavailable)));
    assert!(session.last_error().unwrap().contains("57P01"));
}

/// Collects the replies of what is already sent or staged.
fn finish(session: &mut PostgresSession) -> Result<(), OpError> {
    Direct::<PostgresSession>::run(driver::Conversation::exchange(&mut Direct::new(session)))
}

#[test]
fn errors_have_their_classes_and_leave_the_session_usable() {
    let Some(server) = server(&Options::default()) else { return };
    let _administration =
        script(&server, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)");
    let int = ValueType::Int;
    let statements = [
        StatementSpec::counted("SELECT 1 / $1::int", &[int]),
        StatementSpec::counted("SELECT * FROM t WHERE id = $1 FOR UPDATE NOWAIT", &[int]),
        StatementSpec::counted("UPDATE t SET n = n + 1 WHERE id = $1", &[int]),
        StatementSpec::counted("SELECT n FROM t", &[]),
        StatementSpec::counted("SET statement_timeout = 1", &[]),
        StatementSpec::counted("SELECT pg_sleep(60)", &[]),
        StatementSpec::counted("SELECT $1::smallint", &[int]),
    ];
    let target = target(&server.unix_url());
    let connect = || target.connect(&statements, Some(Isolation::RepeatableRead)).unwrap();
    let (mut first, mut second) = (connect(), connect());

    let zero = ask(&mut first, 0, &[Value::Int(0)]);
    assert_eq!(zero, Err(OpError::refused(Outcome::Server)));
    assert_eq!(first.last_error().as_deref(), Some("ERROR: division by zero (SQLSTATE 22012)"));
    ask(&mut first, 0, &[Value::Int(1)]).unwrap();
    assert_eq!(first.last_error(), None);

    assert_eq!(ask(&mut first, 6, &[Value::Int(40_000)]), Err(OpError::refused(Outcome::Protocol)));
    assert!(first.last_error().unwrap().contains("argument 1 does not fit"), "{:?}", first.last_error());

    Direct::new(&mut first).ask(Command::Begin).unwrap();
    ask(&mut first, 2, &[Value::Int(1)]).unwrap();
    assert_eq!(ask(&mut second, 1, &[Value::Int(1)]), Err(OpError::refused(Outcome::Busy)));

    Direct::new(&mut second).ask(Command::Begin).unwrap();
    ask(&mut second, 3, &[]).unwrap(); // takes the snapshot
    Direct::new(&mut first).ask(Command::Commit).unwrap();
    assert_eq!(ask(&mut second, 2, &[Value::Int(1)]), Err(OpError::refused(Outcome::Serialization)));
    // The transaction has failed: a commit must not pass for one.
    let commit = Direct::new(&mut second).ask(Command::Commit);
    assert_eq!(commit, Err(OpError::refused(Outcome::Server)));
    assert!(second.last_error().unwrap().contains("COMMIT was answered by ROLLBACK"));
    ask(&mut second, 2, &[Value::Int(1)]).unwrap();

    ask(&mut first, 4, &[]).unwrap();
    assert_eq!(ask(&mut first, 5, &[]), Err(OpError::refused(Outcome::Server))); // 57014
    assert!(first.last_error().unwrap().contains("57014"));
}

#[test]
fn too_many_connections_may_pass() {
    let settings = vec![("max_connections".to_owned(), "5".to_owned())];
    let Some(server) = server(&Options { settings, ..Options::default() }) else { return };
    let target = target(&server.tcp_url());
    let mut sessions = Vec::new();
    let refusal = loop {
        match target.connect(&[], None) {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
        assert!(sessions.len() < 10);
    };
    assert!(refusal.transient && refusal.message.contains("53300"), "{refusal}");
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
    assert!(message.contains("statement 0 (`SELECT nothing FROM nowhere`): ERROR: relation"), "{message}");
    let message = problem(StatementSpec::kept("SELECT sum(2::bigint) AS s", &[], &[ValueType::Int]));
    assert!(message.contains("column `s` is numeric at the server"), "{message}");
    let message = problem(StatementSpec::counted("SELECT now() > $1", &[ValueType::Int]));
    assert!(message.contains("$1 is timestamptz"), "{message}");
    let message = problem(StatementSpec::counted("SELECT $1::int", &[]));
    assert!(message.contains("it has 1 parameters, the workload gives 0"), "{message}");
}

#[test]
fn facts_are_the_servers_own() {
    let Some(server) = server(&Options::default()) else { return };
    for (url, transport) in [(server.unix_url(), "unix"), (server.tcp_url(), "tcp")] {
        let facts = target(&url).administer().unwrap().facts().unwrap();
        assert_eq!((facts.product.as_str(), facts.transport.as_str()), ("PostgreSQL", transport));
        assert!(facts.version.starts_with("PostgreSQL "), "{}", facts.version);
        assert!(facts.settings.contains(&("fsync".to_owned(), "off".to_owned())), "{:?}", facts.settings);
        assert_eq!(facts.settings.len(), 15, "{:?}", facts.settings);
        assert_eq!(facts.server_pids.first(), Some(&u32::try_from(server.pid().unwrap()).unwrap()));
        assert_eq!((facts.native, facts.kernel_stamps), (true, transport == "tcp"));
    }
}

/// What is running in the server on behalf of others, and matches.
fn running(administration: &mut dyn Administration, like: &str) -> usize {
    let sql = format!(
        "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '{like}'"
    );
    administration.query(&sql).unwrap().len()
}

#[test]
fn a_session_dropped_in_flight_does_not_leave_its_query_running() {
    for tls in [false, true] {
        let Some(server) = server(&Options { tls, ..Options::default() }) else { return };
        let mode = if tls { "require" } else { "disable" };
        let url = format!("postgres://postgres@localhost:{}/postgres?sslmode={mode}", server.port());
        for url in [url, server.unix_url()] {
            let target = target(&url);
            let mut watcher = script(&server, "SELECT 1");
            let sleep = [StatementSpec::counted("SELECT pg_sleep(60)", &[])];
            let mut session = target.connect(&sleep, None).unwrap();
            session.stage(Command::Statement { index: 0, arguments: &[] }).unwrap();
            assert!(session.poll_reply().is_pending());
            while running(watcher.as_mut(), "SELECT pg_sleep(60)") == 0 {}
            // As after a timeout: it is dropped, and replaced.
            drop(session);
            let mut replaced = target.connect(&sleep, None).unwrap();
            // The server has a minute in which the query would end by itself, and this has half of that.
            let patience = clock::wall_time_ns() + 30_000_000_000;
            while running(watcher.as_mut(), "SELECT pg_sleep(60)") > 0 {
                assert!(clock::wall_time_ns() < patience, "{url}: the query runs on");
            }
            Direct::new(&mut replaced).ask(Command::Ping).unwrap();
        }
    }
}

#[test]
fn what_is_in_flight_at_the_end_is_cancelled_by_the_check_after_it() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.unix_url());
    let sleep = [StatementSpec::counted("SELECT pg_sleep(61)", &[])];
    let mut session = target.connect(&sleep, None).unwrap();
    let mut watcher = script(&server, "SELECT 1");
    session.stage(Command::Statement { index: 0, arguments: &[] }).unwrap();
    assert!(session.poll_reply().is_pending());
    while running(watcher.as_mut(), "SELECT pg_sleep(61)") == 0 {}
    drop(session);
    drop(target.administer().unwrap());
    let patience = clock::wall_time_ns() + 30_000_000_000;
    while running(watcher.as_mut(), "SELECT pg_sleep(61)") > 0 {
        assert!(clock::wall_time_ns() < patience, "the query runs on");
    }
}
