//! Servers that lie, break off, log in as MySQL does, or are no such servers at all.

use driver::{Command, Direct, OpError, Session, Target, TargetUrl};
use driver_mysql::{MySqlSession, MySqlTarget};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::task::Poll;
use std::thread::JoinHandle;
use units::Outcome;

/// Bits of what both sides can, as MySQL 8 has them: not MariaDB's.
const ABILITIES: u32 = 0x81FF_F7FF;
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// A ping's whole answer.
const PONG: &[u8] = b"\x07\0\0\x01\0\0\0\x02\0\0\0";
const NONCE: &[u8; 20] = b"12345678901234567890";

fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..3], &[number], body].concat()
}

/// The greeting of a server with this usual way to log in.
fn greeting(method: &str, abilities: u32) -> Vec<u8> {
    let mut body = b"\x0A8.4.0\0\x07\0\0\0".to_vec();
    body.extend_from_slice(&NONCE[..8]);
    body.push(0);
    body.extend_from_slice(&abilities.to_le_bytes()[..2]);
    body.extend_from_slice(&[45, 2, 0]);
    body.extend_from_slice(&abilities.to_le_bytes()[2..]);
    body.push(21);
    body.extend_from_slice(&[0; 10]);
    body.extend_from_slice(&NONCE[8..]);
    body.push(0);
    body.extend_from_slice(method.as_bytes());
    body.push(0);
    packet(0, &body)
}

/// Reads one packet; `None` when the client has gone.
fn read(stream: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).ok()?;
    let mut body = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut body).ok()?;
    Some((header[3], body))
}

struct Fake {
    target: MySqlTarget,
    thread: JoinHandle<()>,
}

/// Serves one connection on a free port.
fn fake(options: &str, serve: impl FnOnce(TcpStream) + Send + 'static) -> Fake {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("mysql://me:secret@127.0.0.1:{port}/db?{options}");
    let target = MySqlTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
    let thread = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    Fake { target, thread }
}

/// Lets anybody in, and says yes to a session's settings.
fn log_in(stream: &mut (impl Read + Write)) {
    stream.write_all(&greeting("mysql_native_password", ABILITIES & !0x800)).unwrap();
    let (number, _) = read(stream).unwrap();
    stream.write_all(&packet(number + 1, OK)).unwrap();
    set_up(stream);
}

fn set_up(stream: &mut (impl Read + Write)) {
    let (_, settings) = read(stream).unwrap();
    assert!(settings.starts_with(b"\x03SET NAMES"), "{}", settings.escape_ascii());
    stream.write_all(&packet(1, OK)).unwrap();
}

/// A session whose server answers its n-th command with the n-th of `answers`, then closes.
fn session_with(answers: &'static [&'static [u8]]) -> (MySqlSession, JoinHandle<()>) {
    let fake = fake("sslmode=disable", move |mut stream| {
        log_in(&mut stream);
        for answer in answers {
            read(&mut stream).unwrap();
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
    assert!(!error.message.contains("secret") && !error.message.contains('\n'), "{error}");
    (error.message, error.transient)
}

#[test]
fn nonsense_loses_the_session_with_a_reason() {
    let cases: [(&'static [&'static [u8]], &str); 5] = [
        (&[b"\x01\0\0\x01\x07"], "begins with 0x07 out of turn"),
        (&[b"\x01\0\0\x05\0"], "packet 5 in place of packet 1"),
        (&[b"\x01\0\0\x01\0"], "malformed OK"),
        (&[b"\0\0\0\x01"], "packet without a body"),
        (&[b"\x0C\0\0\x01\xFB/etc/passwd"], "asks for a file"),
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
    let (mut session, thread) = session_with(&[PONG, b"\x07\0\0\x01\0"]);
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
fn a_good_bye_to_an_idle_session_is_read_as_one() {
    // As MySQL says it to those who were idle for too long: unasked, before the next command is answered.
    let (mut session, thread) =
        session_with(&[b"\x07\0\0\x01\0\0\0\x02\0\0\0\x12\0\0\0\xFF\xBF\x0F#HY000idle long", b""]);
    Direct::new(&mut session).ask(Command::Ping).unwrap();
    let reply = Direct::new(&mut session).ask(Command::Ping);
    assert_eq!(reply, Err(OpError::lost(Outcome::ConnectionLost)));
    assert!(session.last_error().unwrap().contains("idle long"), "{:?}", session.last_error());
    drop(session);
    thread.join().unwrap();
}

#[test]
fn what_is_no_such_server_is_told_apart() {
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    assert!(!transient || message.contains("closed the connection"), "{message}");
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        stream.write_all(&packet(0, b"+OK")).unwrap();
    });
    assert!(message.contains("is this a MariaDB or MySQL server?") && !transient, "{message}");
    let (message, transient) = refusal("sslmode=disable", drop);
    assert!(message.contains("closed the connection") && transient, "{message}");
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        stream.write_all(&packet(0, b"\xFF\x10\x04Too many connections")).unwrap();
    });
    assert!(message.contains("ERROR 1040: Too many connections") && transient, "{message}");
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        stream.write_all(&greeting("mysql_native_password", ABILITIES & !(1 << 24))).unwrap();
    });
    assert!(message.contains("too old; MariaDB 10.2, MySQL 5.7.5 or later") && !transient, "{message}");
}

#[test]
fn a_silent_server_costs_no_more_than_the_limit() {
    let (message, transient) = refusal("sslmode=disable&connect_timeout=1", |mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("no answer within the time limit") && transient, "{message}");
}

#[test]
fn bytes_slipped_in_before_the_encryption_are_refused() {
    let (message, _) = refusal("sslmode=require", |mut stream| {
        let greeting = greeting("mysql_native_password", ABILITIES | 0x800);
        stream.write_all(&[&greeting[..], &packet(2, OK)].concat()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("bytes before the handshake"), "{message}");
}

/// What MySQL's own method sends, and the answer that says that the server knows the user.
const FAST: &[u8] = &[1, 3];
/// The same, that it does not.
const FULL: &[u8] = &[1, 4];

/// The proof in the answer to the greeting: behind the user's name.
fn proof(answer: &[u8]) -> Vec<u8> {
    let behind = 32 + b"me\0".len();
    let length = usize::from(answer[behind]);
    answer[behind + 1..][..length].to_vec()
}

#[test]
fn a_password_that_mysql_has_in_its_cache_is_not_sent() {
    let fake = fake("sslmode=disable", |mut stream| {
        stream.write_all(&greeting("caching_sha2_password", ABILITIES & !0x800)).unwrap();
        let (number, answer) = read(&mut stream).unwrap();
        assert_eq!(proof(&answer).len(), 32);
        stream.write_all(&[packet(number + 1, FAST), packet(number + 2, OK)].concat()).unwrap();
        set_up(&mut stream);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    drop(fake.target.connect(&[], None).unwrap());
    fake.thread.join().unwrap();
}

#[test]
fn a_password_is_not_sent_where_others_can_read_it() {
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        stream.write_all(&greeting("caching_sha2_password", ABILITIES & !0x800)).unwrap();
        let (number, _) = read(&mut stream).unwrap();
        stream.write_all(&packet(number + 1, FULL)).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"");
    });
    assert!(
        message.contains("caching_sha2_password") && message.contains("use sslmode=require"),
        "{message}"
    );
    assert!(!transient);
    for method in ["sha256_password", "mysql_clear_password"] {
        let (message, _) = refusal("sslmode=disable", move |mut stream| {
            // Also as the server's usual method nothing is sent unasked.
            stream.write_all(&greeting(method, ABILITIES & !0x800)).unwrap();
            let (number, answer) = read(&mut stream).unwrap();
            assert!(!answer.windows(6).any(|bytes| bytes == b"secret"));
            let wish = [b"\xFE", method.as_bytes(), b"\0", NONCE, b"\0"].concat();
            stream.write_all(&packet(number + 1, &wish)).unwrap();
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"");
        });
        assert!(message.contains(method) && message.contains("use sslmode=require"), "{message}");
    }
}

#[test]
fn a_method_that_nobody_knows_is_refused_by_name() {
    let (message, transient) = refusal("sslmode=disable", |mut stream| {
        stream.write_all(&greeting("dialog", ABILITIES & !0x800)).unwrap();
        let (number, _) = read(&mut stream).unwrap();
        stream.write_all(&packet(number + 1, b"\xFEdialog\0")).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(message.contains("authentication by `dialog`") && !transient, "{message}");
}

/// A unix socket in a directory of its own; removed at the end.
struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn over_a_unix_socket_the_password_itself_may_go() {
    for (method, ask) in [("caching_sha2_password", FULL.to_vec()), ("sha256_password", vec![])] {
        let path = std::env::temp_dir().join(format!("truetail-{}-{method}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let socket = Socket(path);
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&greeting(method, ABILITIES)).unwrap();
            let (number, _) = read(&mut stream).unwrap();
            let wish = [b"\xFE", method.as_bytes(), b"\0", NONCE, b"\0"].concat();
            stream.write_all(&packet(number + 1, if ask.is_empty() { &wish } else { &ask })).unwrap();
            let (number, password) = read(&mut stream).unwrap();
            assert_eq!(password, b"secret\0");
            stream.write_all(&packet(number + 1, OK)).unwrap();
            set_up(&mut stream);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let url = format!("mysql://me:secret@/db?socket={}", socket.0.display());
        let target = MySqlTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        drop(target.connect(&[], None).unwrap());
        thread.join().unwrap();
    }
}
