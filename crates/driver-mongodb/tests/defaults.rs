//! What client libraries do unasked, and this driver doesn't, since each would falsify a tail: connect again, ask again, ask
//! something else beside.

use driver::{Command, Direct, Fields, KeyValue, OpError, Session, Target, TargetUrl};
use driver_mongodb::{MongoSession, MongoTarget};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::task::Poll;
use std::thread::JoinHandle;
use units::Outcome;

const READ: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::All });
const WRITE: Command<'_> =
    Command::KeyValue(KeyValue::Update { table: "usertable", key: "k", fields: &[("f", "v")] });

/// The number of a message that came in, and its bytes.
fn request(stream: &mut TcpStream) -> (u32, Vec<u8>) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut message = vec![0; u32::from_le_bytes(length) as usize - 4];
    stream.read_exact(&mut message).unwrap();
    (u32::from_le_bytes(message[..4].try_into().unwrap()), message)
}

/// The answer of these elements to a request.
fn answer(stream: &mut TcpStream, to: u32, elements: &[u8]) {
    let mut out = (elements.len() as u32 + 26).to_le_bytes().to_vec();
    for word in [9, to, 2013, 0_u32] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.push(0);
    out.extend_from_slice(&(elements.len() as u32 + 5).to_le_bytes());
    out.extend_from_slice(elements);
    out.push(0);
    stream.write_all(&out).unwrap();
}

const OK: &[u8] = b"\x10ok\0\x01\0\0\0";

/// A server that lets one client in and then does as it is told; it gives its listener back.
fn fake(work: impl FnOnce(TcpStream) + Send + 'static) -> (MongoSession, JoinHandle<TcpListener>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let (number, hello) = request(&mut stream);
        assert!(hello.windows(6).any(|part| part == b"hello\0"));
        answer(&mut stream, number, OK);
        work(stream);
        listener
    });
    let url = TargetUrl::parse(&format!("mongodb://127.0.0.1:{port}/d")).unwrap();
    (MongoTarget::from_url(&url).unwrap().connect(&[], None).unwrap(), server)
}

fn nobody_else_came(server: JoinHandle<TcpListener>) {
    let listener = server.join().unwrap();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_lost_connection_is_not_made_again() {
    let (mut session, server) = fake(|mut stream| drop(request(&mut stream)));
    assert_eq!(Direct::new(&mut session).ask(READ), Err(OpError::lost(Outcome::ConnectionLost)));
    for _ in 0..100 {
        assert_eq!(session.stage(READ), Err(OpError::lost(Outcome::ConnectionLost)));
        assert_eq!(session.poll_reply(), Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))));
    }
    nobody_else_came(server);
}

/// Of these errors MongoDB's libraries ask once more, unless told otherwise.
#[test]
fn a_refused_request_is_not_sent_again() {
    const REFUSALS: [(i32, Outcome); 6] = [
        (91, Outcome::Unavailable),
        (189, Outcome::Unavailable),
        (11600, Outcome::Unavailable),
        (10107, Outcome::Redirected),
        (13435, Outcome::Redirected),
        (112, Outcome::Serialization),
    ];
    let (mut session, server) = fake(|mut stream| {
        for (code, _) in REFUSALS {
            let (number, _) = request(&mut stream);
            let elements = [b"\x10ok\0\0\0\0\0\x10code\0", &code.to_le_bytes()[..]].concat();
            answer(&mut stream, number, &elements);
        }
        let (number, last) = request(&mut stream);
        assert!(last.windows(5).any(|part| part == b"ping\0"), "one request each, and nothing beside");
        answer(&mut stream, number, OK);
        let mut more = Vec::new();
        stream.read_to_end(&mut more).unwrap();
        assert!(more.is_empty());
    });
    for (at, (_, outcome)) in REFUSALS.into_iter().enumerate() {
        let command = if at % 2 == 0 { READ } else { WRITE };
        assert_eq!(Direct::new(&mut session).ask(command), Err(OpError::refused(outcome)));
        assert!(session.last_error().is_some());
    }
    assert!(Direct::new(&mut session).ask(Command::Ping).is_ok());
    drop(session);
    nobody_else_came(server);
}

/// An answer to another request ends the session: taken for this one's, its time would be false.
#[test]
fn a_foreign_answer_is_not_taken_for_ours() {
    let (mut session, server) = fake(|mut stream| {
        let (number, _) = request(&mut stream);
        answer(&mut stream, number.wrapping_add(1), OK);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert_eq!(Direct::new(&mut session).ask(Command::Ping), Err(OpError::lost(Outcome::Protocol)));
    assert!(session.last_error().unwrap().contains("not the one in flight"));
    drop(session);
    nobody_else_came(server);
}

#[test]
fn another_server_is_told_from_this_kind() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.write_all(b"-ERR unknown command\r\n").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let target = MongoTarget::from_url(&TargetUrl::parse(&format!("mongodb://127.0.0.1:{port}/d")).unwrap());
    let error = target.unwrap().connect(&[], None).err().unwrap();
    assert!(!error.transient && error.message.contains("MongoDB's protocol"), "{error}");
    server.join().unwrap();
}
