//! What goes wrong, against a real server: every failure has its class, its words, and the right advice on
//! whether to try again.

use driver::{Command, Conversation, Direct, Fields, KeyValue, OpError, Session, Target, TargetUrl};
use driver_redis::{RedisSession, RedisTarget};
use testkit::redis::{Options, server};
use units::Outcome;

fn target(url: &str) -> RedisTarget {
    RedisTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// The error of connecting, and whether it is transient; the same for sessions and administration.
fn refusal(url: &str) -> (String, bool) {
    let target = target(url);
    let (Err(error), Err(other)) = (target.connect(&[], None), target.administer()) else {
        panic!("{url}: connected");
    };
    assert_eq!(error, other);
    assert!(!error.message.contains('\n'), "{error}");
    (error.message, error.transient)
}

/// Collects the replies of what is already sent or staged.
fn finish(session: &mut RedisSession) -> Result<(), OpError> {
    Direct::<RedisSession>::run(Direct::new(session).exchange())
}

#[test]
fn refused_connections_say_why() {
    let settings = vec![("user".to_owned(), "ann on >right ~* +@all".to_owned())];
    let password = Some("right".to_owned());
    let Some(server) = server(&Options { password, settings }) else { return };
    let url =
        |credentials: &str, rest: &str| format!("redis://{credentials}127.0.0.1:{}{rest}", server.port());
    for (credentials, rest, words) in [
        (":wrong-secret@", "", "AUTH: WRONGPASS"),
        ("ann:wrong-secret@", "", "AUTH: WRONGPASS"),
        ("nobody:secret@", "", "AUTH: WRONGPASS"),
        ("", "", "PING: NOAUTH Authentication required. Write redis://:PASSWORD@…, or set REDISCLI_AUTH"),
        (":right@", "/99", "SELECT 99: ERR DB index is out of range"),
    ] {
        let (message, transient) = refusal(&url(credentials, rest));
        assert!(message.contains(words) && !transient, "{message}");
        assert!(!message.contains("secret") && !message.contains("right@"), "{message}");
    }
    for credentials in [":right@", "ann:right@"] {
        assert!(target(&url(credentials, "/15")).connect(&[], None).is_ok());
    }

    let (tcp, unix) = (url(":right@", ""), server.unix_url());
    server.stop().unwrap();
    let (message, transient) = refusal(&tcp);
    let place = format!("connection refused at 127.0.0.1:{}; is the server running?", server.port());
    assert!(message.starts_with("redis://127.0.0.1:") && message.ends_with(&place), "{message}");
    assert!(transient);
    let (message, transient) = refusal(&unix);
    assert!(message.contains("is the server running?") && transient, "{message}");
    for url in [tcp, unix] {
        let debug = format!("{:?}", target(&url));
        assert!(!debug.contains("right"), "{debug}");
    }
}

#[test]
fn a_password_nobody_asked_for_is_refused() {
    let Some(server) = server(&Options::default()) else { return };
    let (message, transient) = refusal(&format!("redis://:secret@127.0.0.1:{}", server.port()));
    assert!(message.contains("AUTH: ERR") && !message.contains("secret") && !transient, "{message}");
}

#[test]
fn too_many_connections_may_pass() {
    let settings = vec![("maxclients".to_owned(), "5".to_owned())];
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
    assert!(refusal.transient, "{refusal}");
}

#[test]
fn a_lost_server_is_noticed_and_comes_back() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        let target = target(&url);
        let (mut busy, mut idle) = (target.connect(&[], None).unwrap(), target.connect(&[], None).unwrap());
        server.freeze().unwrap();
        busy.stage(Command::Ping).unwrap();
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
        let mut again = target.connect(&[], None).unwrap();
        Direct::new(&mut again).ask(Command::Ping).unwrap();
    }
}

#[test]
fn a_session_that_the_server_ends_while_it_is_idle_is_lost() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        let mut session = target(&url).connect(&[], None).unwrap();
        Direct::new(&mut session).ask(Command::Ping).unwrap();
        let killed = server.ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).unwrap();
        assert_eq!(killed, ":1\r\n");
        let reply = Direct::new(&mut session).ask(Command::Ping);
        assert_eq!(reply, Err(OpError::lost(Outcome::ConnectionLost)), "{:?}", session.last_error());
    }
}

#[test]
fn errors_have_their_classes_and_leave_the_session_usable() {
    let Some(server) = server(&Options::default()) else { return };
    let mut session = target(&server.tcp_url()).connect(&[], None).unwrap();
    let fields = [("name", "value")];
    let write = Command::KeyValue(KeyValue::Insert { table: "usertable", key: "key", fields: &fields });
    let read =
        Command::KeyValue(KeyValue::Read { table: "usertable", key: "text", fields: Fields::One("name") });
    let nothing = Command::KeyValue(KeyValue::Update { table: "usertable", key: "key", fields: &[] });

    server.ask(&["SET", "text", "no hash"]).unwrap();
    server.ask(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    for (command, outcome, words) in [
        (read, Outcome::Server, "WRONGTYPE"),
        (nothing, Outcome::Server, "wrong number of arguments for 'hset'"),
        (write, Outcome::Unavailable, "OOM command not allowed"),
    ] {
        let reply = Direct::new(&mut session).ask(command);
        assert_eq!(reply, Err(OpError::refused(outcome)), "{words}");
        assert!(session.last_error().is_some_and(|said| said.contains(words)), "{:?}", session.last_error());
        Direct::new(&mut session).ask(Command::Ping).unwrap();
        assert_eq!(session.last_error(), None);
    }

    server.ask(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();
    Direct::new(&mut session).ask(write).unwrap();
    server.ask(&["CONFIG", "SET", "requirepass", "late"]).unwrap();
    // A password counts from the next connection on.
    Direct::new(&mut session).ask(write).unwrap();
}

#[test]
fn facts_are_the_servers_own() {
    let password = Some("a-secret".to_owned());
    let Some(server) = server(&Options { password, ..Options::default() }) else { return };
    for (url, transport) in [(server.unix_url(), "unix"), (server.tcp_url(), "tcp")] {
        let facts = target(&url).administer().unwrap().facts().unwrap();
        assert_eq!((facts.product.as_str(), facts.transport.as_str()), ("Redis", transport));
        assert!(facts.version.starts_with(|c: char| c.is_ascii_digit()), "{}", facts.version);
        for (name, value) in [("appendonly", "no"), ("save", ""), ("maxmemory", "0")] {
            assert!(facts.settings.contains(&(name.to_owned(), value.to_owned())), "{:?}", facts.settings);
        }
        assert_eq!(facts.settings.len(), 8, "{:?}", facts.settings);
        assert_eq!(facts.server_pids, [server.pid().unwrap()]);
        assert_eq!((facts.native, facts.kernel_stamps), (true, transport == "tcp"));
        assert!(!format!("{facts:?}").contains("a-secret"), "{facts:?}");
    }
}

#[test]
fn facts_of_a_server_that_tells_little_are_few() {
    let settings = vec![("user".to_owned(), "ann on >s3cret ~* +@all -config -info".to_owned())];
    let Some(server) = server(&Options { settings, ..Options::default() }) else { return };
    let url = format!("redis://ann:s3cret@127.0.0.1:{}", server.port());
    let facts = target(&url).administer().unwrap().facts().unwrap();
    assert_eq!((facts.product.as_str(), facts.version.as_str()), ("RESP store", "unknown"));
    assert!(facts.settings.is_empty() && facts.server_pids.is_empty(), "{facts:?}");
}
