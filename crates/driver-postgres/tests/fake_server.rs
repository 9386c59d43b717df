//! Servers that lie, break off, or are not PostgreSQL at all.

use driver::{Command, Direct, OpError, Session, Target, TargetUrl};
use driver_postgres::{PostgresSession, PostgresTarget};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::task::Poll;
use std::thread::JoinHandle;
use units::Outcome;

const LOGGED_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";
/// A ping's whole answer.
const PONG: &[u8] = b"2\0\0\0\x04I\0\0\0\x04Z\0\0\0\x05I";
/// Parsed; no parameters; no columns.
const DESCRIBED: &[u8] = b"1\0\0\0\x04t\0\0\0\x06\0\0n\0\0\0\x04Z\0\0\0\x05I";
/// A session without statements of a workload prepares its own four.
const OWN_STATEMENTS: usize = 4;

struct Fake {
    target: PostgresTarget,
    thread: JoinHandle<()>,
}

/// Serves one connection on a free port.
fn fake(options: &str, serve: impl FnOnce(TcpStream) + Send + 'static) -> Fake {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://me:pw@127.0.0.1:{port}/db?{options}");
    let target = PostgresTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
    let thread = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    Fake { target, thread }
}

/// Reads one message of the start-up, which has no tag.
fn read_untagged(stream: &mut TcpStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body).unwrap();
}

/// Reads up to the end of a batch; false when the client has gone.
fn read_batch(stream: &mut TcpStream) -> bool {
    loop {
        let mut header = [0; 5];
        if stream.read_exact(&mut header).is_err() {
            return false;
        }
        let mut body = vec![0; u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize - 4];
        stream.read_exact(&mut body).unwrap();
        if header[0] == b'S' {
            return true;
        }
    }
}

fn log_in(stream: &mut TcpStream) {
    read_untagged(stream);
    stream.write_all(&[LOGGED_IN, READY].concat()).unwrap();
    for _ in 0..OWN_STATEMENTS {
        assert!(read_batch(stream));
        stream.write_all(DESCRIBED).unwrap();
    }
}

/// A session whose server answers its n-th batch with the n-th of `answers`, then closes.
fn session_with(answers: &'static [&'static [u8]]) -> (PostgresSession, JoinHandle<()>) {
    let fake = fake("sslmode=disable", move |mut stream| {
        log_in(&mut stream);
        for answer in answers {
            assert!(read_batch(&mut stream));
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
    let cases: [(&'static [&'static [u8]], &str); 6] = [
        (&[b"HTTP/1.1 400 Bad Request\r\n\r\n"], "1414811695 bytes"),
        (&[b"2\0\0\0\x03"], "3 bytes"),
        (&[b"2\0\0\0\x04I\0\0\0\x04D\x7F\xFF\xFF\xFF"], "2147483647 bytes"),
        (&[b"I\0\0\0\x04I\0\0\0\x04"], "message `I` out of turn"),
        (&[b"Z\0\0\0\x05I"], "answered fewer commands"),
        (&[b"2\0\0\0\x04G\0\0\0\x07\0\0\0"], "COPY"),
    ];
    for (answers, words) in cases {
        let (mut session, thread) = session_with(answers);
        let reply = Direct::new(&mut session).ask(Command::Ping);
        assert_eq!(reply, Err(OpError::lost(Outcome::Protocol)), "{words}");
        let said = session.last_error().unwrap();
        assert!(said.contains(words), "`{said}` lacks `{words}`");
        drop(session);
        thread.join().unwrap();
    }
}

#[test]
fn an_end_that_comes_with_the_data_is_noticed_by_the_same_edge() {
    let (mut session, thread) = session_with(&[PONG, b"2\0\0\0\x04"]);
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
fn what_follows_an_answer_makes_its_stamp_an_upper_bound() {
    // A whole message that nobody asked for, and half of another, whose rest comes before the next answer.
    let (mut session, thread) = session_with(&[
        PONG,
        b"2\0\0\0\x04I\0\0\0\x04Z\0\0\0\x05IS\0\0\0\x0DTime\0UTC\0S\0\0\0\x0DTime",
        b"\0UTC\x002\0\0\0\x04I\0\0\0\x04Z\0\0\0\x05I",
    ]);
    Direct::new(&mut session).ask(Command::Ping).unwrap();
    assert!(session.arrived().is_some_and(|stamp| !stamp.upper_bound), "{:?}", session.arrived());
    Direct::new(&mut session).ask(Command::Ping).unwrap();
    assert!(session.arrived().is_some_and(|stamp| stamp.upper_bound), "{:?}", session.arrived());
    Direct::new(&mut session).ask(Command::Ping).unwrap();
    drop(session);
    thread.join().unwrap();
}

#[test]
fn what_is_not_postgresql_is_told_apart() {
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        read_untagged(&mut stream);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    assert!(message.contains("is this a PostgreSQL server?") && !transient, "{message}");
    let (message, transient) = refusal("sslmode=disable", |mut stream| read_untagged(&mut stream));
    assert!(message.contains("closed the connection") && transient, "{message}");
}

#[test]
fn bytes_slipped_in_before_the_encryption_are_refused() {
    let (message, _) = refusal("sslmode=require", |mut stream| {
        read_untagged(&mut stream);
        stream.write_all(&[b"S", LOGGED_IN, READY].concat()).unwrap();
    });
    assert!(message.contains("bytes before the handshake"), "{message}");
}

#[test]
fn a_server_without_proof_of_the_password_is_refused() {
    let (message, _) = refusal("sslmode=disable", |mut stream| {
        read_untagged(&mut stream);
        stream.write_all(b"R\0\0\0\x17\0\0\0\x0ASCRAM-SHA-256\0\0").unwrap();
        // It is content with anything and lets everybody in.
        stream.read_exact(&mut [0; 20]).unwrap();
        stream.write_all(&[LOGGED_IN, READY].concat()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("message `R` out of turn"), "{message}");
}

#[test]
fn a_password_is_not_sent_in_clear_text() {
    let (message, _) = refusal("sslmode=disable", |mut stream| {
        read_untagged(&mut stream);
        stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"");
    });
    assert!(message.contains("clear text"), "{message}");
}

#[test]
fn a_silent_server_costs_no_more_than_the_limit() {
    let (message, transient) = refusal("sslmode=disable&connect_timeout=1", |mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("no answer within the time limit") && transient, "{message}");
}
