//! Servers that lie, break off, dawdle, or do not speak RESP at all.

mod fake;

use driver::{Command, Conversation, Direct, Fields, KeyValue, OpError, Reply, Session, Target, Value};
use driver_redis::RedisSession;
use fake::{PING, PONG, expect, fake, let_in};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::task::Poll;
use std::thread::JoinHandle;
use units::Outcome;

const READ: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::All });
const READ_ONE: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::One("f") });
const WRITE: Command<'_> =
    Command::KeyValue(KeyValue::Insert { table: "usertable", key: "k", fields: &[("f", "v")] });
const DELETE: Command<'_> = Command::KeyValue(KeyValue::Delete { table: "usertable", key: "k" });

/// As RESP has them.
fn bytes_of(command: Command<'_>) -> &'static [u8] {
    match command {
        READ => b"*2\r\n$7\r\nHGETALL\r\n$1\r\nk\r\n",
        READ_ONE => b"*3\r\n$5\r\nHMGET\r\n$1\r\nk\r\n$1\r\nf\r\n",
        WRITE => b"*4\r\n$4\r\nHSET\r\n$1\r\nk\r\n$1\r\nf\r\n$1\r\nv\r\n*4\r\n$4\r\nZADD\r\n$8\r\n_indices\r\n$3\r\n107\r\n$1\r\nk\r\n",
        DELETE => b"*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n*3\r\n$4\r\nZREM\r\n$8\r\n_indices\r\n$1\r\nk\r\n",
        _ => PING,
    }
}

type Exchange = (Command<'static>, &'static [u8]);

/// A session whose server is asked these commands and answers each so, then closes.
fn session_with(exchanges: &'static [Exchange]) -> (RedisSession, JoinHandle<()>) {
    let fake = fake("", move |mut stream| {
        let_in(&mut stream);
        for (command, answer) in exchanges {
            expect(&mut stream, bytes_of(*command));
            stream.write_all(answer).unwrap();
        }
        let _ = stream.shutdown(Shutdown::Write);
        // Wait for the client to go, so that nothing it sends is answered by a reset.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    (fake.target.connect(&[], None).unwrap(), fake.thread)
}

fn refusal(options: &str, serve: impl FnOnce(TcpStream) + Send + 'static) -> (String, bool) {
    let fake = fake(options, serve);
    let error = fake.target.connect(&[], None).err().unwrap();
    fake.thread.join().unwrap();
    (error.message, error.transient)
}

#[test]
fn nonsense_loses_the_session_with_a_reason() {
    let cases: [(&'static [Exchange], &str); 16] = [
        (&[(Command::Ping, b"HTTP/1.1 400 Bad Request\r\n\r\n")], "unknown type 0x48"),
        (&[(Command::Ping, b"%1\r\n")], "unknown type 0x25"),
        (&[(Command::Ping, b":1\r\n")], "type `:` that answers nothing"),
        (&[(Command::Ping, b"$4\r\nPONG\r\n")], "type `$` that answers nothing"),
        (&[(Command::Ping, b"+PONG\n")], "a line without its end"),
        (&[(READ, b"+OK\r\n")], "type `+` that answers nothing"),
        (&[(READ, b"*3\r\n")], "type `*` that answers nothing"),
        (&[(READ, b"*2\r\n$1\r\nf\r\n:1\r\n")], "type `:` that answers nothing"),
        (&[(READ, b"*2\r\n$-1\r\n")], "type `$` that answers nothing"),
        (&[(READ, b"*2\r\n*2\r\n")], "type `*` that answers nothing"),
        (&[(READ, b"*x\r\n")], "a length that is none"),
        (&[(READ, b"*2\r\n$1\r\nff\r\n")], "a line without its end"),
        (&[(READ, b"*2\r\n$536870913\r\n")], "more than 536870912 bytes"),
        (&[(READ_ONE, b"*2\r\n")], "type `*` that answers nothing"),
        (&[(WRITE, b"+OK\r\n")], "type `+` that answers nothing"),
        (&[(DELETE, b"*-1\r\n")], "type `$` that answers nothing"),
    ];
    for (exchanges, words) in cases {
        let (mut session, thread) = session_with(exchanges);
        let reply = Direct::new(&mut session).ask(exchanges[0].0);
        assert_eq!(reply, Err(OpError::lost(Outcome::Protocol)), "{exchanges:?}");
        let said = session.last_error().unwrap();
        assert!(said.contains(words), "`{said}` lacks `{words}`: {exchanges:?}");
        assert_eq!(session.stage(Command::Ping), Err(OpError::lost(Outcome::ConnectionLost)));
        drop(session);
        thread.join().unwrap();
    }
}

#[test]
fn what_nobody_asked_for_is_not_taken_for_the_next_answer() {
    for surplus in [&b"+PONG\r\n+PONG\r\n"[..], b"+PONG\r\n+PO", b"+PONG\r\n-ERR max"] {
        let fake = fake("", move |mut stream| {
            let_in(&mut stream);
            expect(&mut stream, PING);
            stream.write_all(surplus).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let mut session = fake.target.connect(&[], None).unwrap();
        let reply = Direct::new(&mut session).ask(Command::Ping);
        assert_eq!(reply, Err(OpError::lost(Outcome::Protocol)));
        assert_eq!(session.last_error().unwrap(), "the server sent more than it was asked for");
        drop(session);
        fake.thread.join().unwrap();
    }
    let (message, transient) = refusal("", |mut stream| {
        expect(&mut stream, PING);
        stream.write_all(b"+PONG\r\n+PONG\r\n").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("more than it was asked for") && !transient, "{message}");
}

/// The answer to what is only half sent can't be its answer, and the rest must not be left out.
#[test]
fn an_answer_before_its_request_is_sent_loses_the_session() {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let fake = fake("", move |mut stream| {
        let_in(&mut stream);
        stream.read_exact(&mut [0; 1000]).unwrap();
        stream.write_all(b":1\r\n").unwrap();
        // It reads nothing more, and stays until the test has seen enough.
        let _ = wait.recv();
    });
    let mut session = fake.target.connect(&[], None).unwrap();
    let long = "x".repeat(64 << 20);
    let write = KeyValue::Update { table: "usertable", key: "k", fields: &[("f", &long)] };
    let reply = Direct::new(&mut session).ask(Command::KeyValue(write));
    assert_eq!(reply, Err(OpError::lost(Outcome::Protocol)), "{:?}", session.last_error());
    drop((session, done));
    fake.thread.join().unwrap();
}

#[test]
fn a_server_that_goes_away_loses_the_session() {
    // Before its answer, in the middle of it, and after it.
    let cases: [&'static [Exchange]; 4] = [
        &[(Command::Ping, b"")],
        &[(Command::Ping, b"+PO")],
        &[(READ, b"*2\r\n$1\r\nf\r\n$10\r\nhalf")],
        &[(READ, b"*2\r\n$1\r\nf\r\n$1\r\nv\r\n"), (READ, b"")],
    ];
    for exchanges in cases {
        let (mut session, thread) = session_with(exchanges);
        for (command, _) in &exchanges[..exchanges.len() - 1] {
            Direct::new(&mut session).ask(*command).unwrap();
        }
        let reply = Direct::new(&mut session).ask(exchanges[exchanges.len() - 1].0);
        assert_eq!(reply, Err(OpError::lost(Outcome::ConnectionLost)), "{exchanges:?}");
        assert_eq!(session.last_error().unwrap(), "the server closed the connection");
        assert_eq!((session.reply(0), session.value(0, 0, 0)), (Reply::default(), None));
        drop(session);
        thread.join().unwrap();
    }
}

#[test]
fn an_end_that_comes_with_the_data_is_noticed_by_the_same_edge() {
    let (mut session, thread) = session_with(&[(Command::Ping, PONG), (Command::Ping, b"+PO")]);
    Direct::new(&mut session).ask(Command::Ping).unwrap();
    session.stage(Command::Ping).unwrap();
    assert!(session.poll_reply().is_pending());
    // Half an answer and the end of the stream are there before the session looks: no second edge will come.
    let mut poll = libc::pollfd { fd: session.descriptor().unwrap(), events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one valid pollfd.
    assert_eq!(unsafe { libc::poll(&mut poll, 1, 10_000) }, 1);
    assert_eq!(session.poll_reply(), Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))));
    drop(session);
    thread.join().unwrap();
}

#[test]
fn the_words_before_a_server_hangs_up_are_kept() {
    let (mut session, thread) = session_with(&[(READ, b"-ERR Protocol error: too big\r\n")]);
    let mut direct = Direct::new(&mut session);
    direct.stage(READ).unwrap();
    direct.stage(Command::Ping).unwrap();
    let result = Direct::<RedisSession>::run(direct.exchange());
    assert_eq!(result, Err(OpError::lost(Outcome::ConnectionLost)));
    assert_eq!(session.last_error().unwrap(), "ERR Protocol error: too big");
    drop(session);
    thread.join().unwrap();
}

/// A batch of all kinds of answers, in pieces of one byte, each of which the session has seen before the next is sent.
#[test]
fn answers_that_come_byte_by_byte_are_the_same() {
    const ANSWER: &[u8] = b"+PONG\r\n*4\r\n$1\r\nf\r\n$2\r\n\r\n\r\n$1\r\ng\r\n$0\r\n\r\n-WRONGTYPE no\r\n*1\r\n$5\r\nvalue\r\n*1\r\n$-1\r\n:1\r\n:1\r\n:0\r\n:0\r\n*0\r\n";
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let target = fake::target(listener.local_addr().unwrap().port(), "");
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.set_nodelay(true).unwrap();
        let_in(&mut stream);
        stream
    });
    let mut session = target.connect(&[], None).unwrap();
    let mut server = server.join().unwrap();
    for command in [Command::Ping, READ, READ, READ_ONE, READ_ONE, WRITE, DELETE, READ] {
        session.stage(command).unwrap();
    }
    assert!(session.poll_reply().is_pending());
    let mut result = Poll::Pending;
    for (at, byte) in ANSWER.iter().enumerate() {
        server.write_all(&[*byte]).unwrap();
        let mut poll = libc::pollfd { fd: session.descriptor().unwrap(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        assert_eq!(unsafe { libc::poll(&mut poll, 1, 10_000) }, 1);
        result = session.poll_reply();
        assert_eq!(result.is_ready(), at + 1 == ANSWER.len(), "byte {at}: {result:?}");
    }
    assert_eq!(result, Poll::Ready(Err(OpError::refused(Outcome::Server))));
    assert_eq!(session.last_error().unwrap(), "WRONGTYPE no");
    let (row, changed, none) =
        (Reply { rows: 1, affected: 0 }, Reply { rows: 0, affected: 1 }, Reply::default());
    let replies: Vec<Reply> = (0..9).map(|command| session.reply(command)).collect();
    assert_eq!(replies, [none, row, none, row, none, changed, none, none, none]);
    let texts: Vec<_> = [(1, 0), (1, 1), (3, 0)].map(|(c, column)| session.value(c, 0, column)).into();
    assert_eq!(texts, ["\r\n", "", "value"].map(|text| Some(Value::Text(text))));
    for (command, column) in [(0, 0), (1, 2), (2, 0), (3, 1), (4, 0), (5, 0), (7, 0), (8, 0)] {
        assert_eq!(session.value(command, 0, column), None, "command {command}, column {column}");
    }
    assert!(session.arrived().is_some_and(|stamp| !stamp.upper_bound), "{:?}", session.arrived());
}

#[test]
fn a_value_that_is_not_text_is_counted_and_not_shown() {
    let (mut session, thread) = session_with(&[(READ_ONE, b"*1\r\n$2\r\n\xFF\xFE\r\n")]);
    assert_eq!(Direct::new(&mut session).ask(READ_ONE), Ok(Reply { rows: 1, affected: 0 }));
    assert_eq!(session.value(0, 0, 0), None);
    drop(session);
    thread.join().unwrap();
}

#[test]
fn nothing_can_be_staged_while_a_batch_is_in_flight() {
    let (mut session, thread) = session_with(&[(Command::Ping, PONG)]);
    session.stage(Command::Ping).unwrap();
    assert!(session.poll_reply().is_pending());
    assert_eq!(session.stage(READ), Err(OpError::refused(Outcome::Protocol)));
    assert!(session.last_error().unwrap().contains("in flight"), "{:?}", session.last_error());
    assert_eq!(Direct::<RedisSession>::run(Direct::new(&mut session).exchange()), Ok(()));
    drop(session);
    thread.join().unwrap();
}

#[test]
fn a_server_that_is_not_ready_or_not_redis_is_told_apart() {
    let answering = |answer: &'static [u8]| {
        refusal("", move |mut stream| {
            expect(&mut stream, PING);
            stream.write_all(answer).unwrap();
        })
    };
    for (answer, words, may_pass) in [
        (&b"-LOADING Redis is loading the dataset in memory\r\n"[..], "PING: LOADING Redis is", true),
        (b"-BUSY Redis is busy running a script.\r\n", "PING: BUSY", true),
        (b"-ERR max number of clients reached\r\n", "PING: ERR max number of clients reached", true),
        (b"-DENIED Redis is running in protected mode\r\n", "PING: DENIED", false),
        (b"-ERR unknown command 'PING'\r\n", "PING: ERR unknown command", false),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is this a server that speaks RESP?", false),
        (b"E\0\0\0\x0cSFATAL\0\0", "is this a server that speaks RESP?", false),
        (b"", "the server closed the connection", true),
        (b"+PO", "the server closed the connection", true),
    ] {
        let (message, transient) = answering(answer);
        assert!(message.contains(words) && message.starts_with("redis://127.0.0.1:"), "{message}");
        assert_eq!(transient, may_pass, "{message}");
    }
}

/// The kernel accepts, and nobody answers: neither the first request nor a later one.
#[test]
fn a_silent_server_costs_no_more_than_the_limit() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let target = fake::target(listener.local_addr().unwrap().port(), "connect_timeout=1");
    let error = target.connect(&[], None).err().unwrap();
    assert!(error.message.contains("no answer within the time limit") && error.transient, "{error}");
    drop(listener);
    let (message, transient) = refusal("connect_timeout=1", |mut stream| {
        stream.write_all(b"+PO").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("no answer within the time limit") && transient, "{message}");
}

/// Of two that wait for the same silent server the one with the shorter limit gives up first, though it began last.
#[test]
fn the_limit_is_the_one_that_was_asked_for() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let patient = std::thread::spawn(move || fake::target(port, "").connect(&[], None).err().unwrap());
    let waiting = listener.accept().unwrap();
    let error = fake::target(port, "connect_timeout=1").connect(&[], None).err().unwrap();
    assert!(error.message.contains("no answer within the time limit"), "{error}");
    assert!(!patient.is_finished(), "the limit was not kept");
    drop(waiting);
    let error = patient.join().unwrap();
    assert!(error.message.contains("closed the connection") || error.message.contains("reset"), "{error}");
}
