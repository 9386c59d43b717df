//! What goes wrong, against servers that do what a test tells them to: each failure has its words and the right advice on
//! whether to try again, and nothing is done unasked. These stand for `truetail prove --driver-traps`, whose store does not
//! speak this protocol.

use driver::{Command, Direct, OpError, Session, Target, TargetUrl};
use driver_echo::{EchoTarget, HEADER, Lengths};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use units::Outcome;

/// Serves connections one after the other on a free port; the target, and how many there were.
fn fake(count: usize, serve: impl Fn(TcpStream) + Send + 'static) -> (EchoTarget, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("echo://{}?request=3&answer=3", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        (0..count).for_each(|_| serve(listener.accept().unwrap().0));
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "a connection that nobody asked for");
    });
    (EchoTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap(), thread)
}

/// Takes one request and sends it back; it.
fn echo(stream: &mut TcpStream) -> Vec<u8> {
    let mut request = vec![0; HEADER];
    stream.read_exact(&mut request).unwrap();
    let length = Lengths::read(&request).unwrap().payload as usize;
    request.resize(HEADER + length, 0);
    stream.read_exact(&mut request[HEADER..]).unwrap();
    stream.write_all(&request).unwrap();
    request
}

/// The same without sending it back.
fn hear(stream: &mut TcpStream) {
    stream.read_exact(&mut [0; HEADER + 3]).unwrap();
}

/// The error of connecting, and whether it is transient.
fn refusal(target: &EchoTarget) -> (String, bool) {
    let Err(error) = target.connect(&[], None) else { panic!("connected") };
    assert!(!error.message.contains('\n'), "{error}");
    (error.message, error.transient)
}

#[test]
fn what_is_no_echo_server_is_told_from_one() {
    for (says, named) in [
        (
            &b"-ERR unknown command\r\n"[..],
            "no echo server is there: it answers `-ERR unknown command\\r\\n`",
        ),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it answers `HTTP/1.1 400"),
        (b"\xff\xff\xff\xff\0\0\0\x04full", "it answers `full`"),
        (b"", "it hangs up"),
    ] {
        let (target, thread) = fake(1, move |mut stream| {
            stream.read_exact(&mut [0; HEADER]).unwrap();
            stream.write_all(says).unwrap();
        });
        let (message, _) = refusal(&target);
        assert!(message.contains(named) && message.contains("`truetail echo` printed"), "{message}");
        thread.join().unwrap();
    }
}

#[test]
fn where_nobody_listens_it_says_what_to_start() {
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let target = |url: &str| EchoTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap();
    let (message, transient) = refusal(&target(&format!("echo://127.0.0.1:{port}")));
    assert!(
        message.ends_with(&format!("start `truetail echo --listen 127.0.0.1:{port}` there")),
        "{message}"
    );
    assert!(transient);
    let (message, _) = refusal(&target("echo:///?socket=/nowhere/echo"));
    assert!(message.contains("start `truetail echo --unix /nowhere/echo`"), "{message}");
    let (message, transient) = refusal(&target("echo://host.invalid:1"));
    assert!(message.contains("host `host.invalid` not found") && !transient, "{message}");
}

fn after_greeting(answer: &'static [u8], pings: usize) -> (Result<(), OpError>, Option<String>) {
    let (target, thread) = fake(1, move |mut stream| {
        echo(&mut stream); // the greeting
        (1..pings).for_each(|_| drop(echo(&mut stream)));
        hear(&mut stream);
        stream.write_all(answer).unwrap();
    });
    let mut session = target.connect(&[], None).unwrap();
    for _ in 1..pings {
        Direct::new(&mut session).ask(Command::Ping).unwrap();
    }
    let result = Direct::new(&mut session).ask(Command::Ping).map(drop);
    thread.join().unwrap();
    let words = session.last_error();
    // Once broken, always broken: nothing is sent over a connection of its own.
    if result.is_err() {
        assert_eq!(session.stage(Command::Ping), Err(OpError::lost(Outcome::ConnectionLost)));
    }
    (result, words)
}

#[test]
fn whatever_else_comes_back_loses_the_session() {
    for (answer, outcome, named) in [
        (&b"\0\0\0\x03\0\0\0\x03abX"[..], Outcome::Protocol, "other bytes"),
        (b"\0\0\0\x04\0\0\0\x03abc", Outcome::Protocol, "other bytes"),
        (b"\0\0\0\x03\0\0\0\x03abc!", Outcome::Protocol, "more came back"),
        (b"\xff\xff\xff\xff\0\0\0\x05enoug", Outcome::Protocol, "the server refuses: enoug"),
        (b"\0\0\0\x03\0", Outcome::ConnectionLost, "closed"),
        (b"", Outcome::ConnectionLost, "closed"),
    ] {
        let (result, words) = after_greeting(answer, 3);
        assert_eq!(result, Err(OpError::lost(outcome)), "{}", answer.escape_ascii());
        assert!(words.as_deref().is_some_and(|words| words.contains(named)), "{words:?}");
    }
    assert_eq!(after_greeting(b"\0\0\0\x03\0\0\0\x03abc", 3), (Ok(()), None));
}

/// An answer that is late is waited for: neither the kernel nor the session gives it up.
#[test]
fn a_late_answer_is_waited_for_and_asked_for_once() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let (target, thread) = fake(1, move |mut stream| {
        echo(&mut stream);
        hear(&mut stream);
        wait.lock().unwrap().recv().unwrap();
        stream.write_all(b"\0\0\0\x03\0\0\0\x03abc").unwrap();
        let mut more = Vec::new();
        stream.read_to_end(&mut more).unwrap();
        assert_eq!(more, b"", "more requests than were made");
    });
    let mut session = target.connect(&[], None).unwrap();
    session.stage(Command::Ping).unwrap();
    for _ in 0..1000 {
        assert!(session.poll_reply().is_pending());
    }
    go.send(()).unwrap();
    let finish = |session: &mut driver_echo::EchoSession| {
        let mut direct = Direct::new(session);
        driver::Direct::<driver_echo::EchoSession>::run(driver::Conversation::exchange(&mut direct))
    };
    assert_eq!(finish(&mut session), Ok(()));
    drop(session);
    thread.join().unwrap();
}
