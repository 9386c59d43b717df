//! What client libraries do unasked, and this driver doesn't, since each would falsify a tail: wait to fill a packet,
//! connect again, ask again, give an answer up.

mod fake;

use driver::{Command, Direct, OpError, Session, Target, TargetUrl};
use driver_redis::{RedisSession, RedisTarget};
use fake::{PING, PONG, expect, fake, let_in};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::fd::RawFd;
use std::task::Poll;
use testkit::redis::{Options, server};
use units::Outcome;

fn option(fd: RawFd, level: libc::c_int, name: libc::c_int) -> libc::c_int {
    let mut value: libc::c_int = -1;
    let mut length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the option is an int, for which there is room.
    let result = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut length) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    value
}

/// Seconds and microseconds of a time limit that the kernel keeps.
fn time_option(fd: RawFd, name: libc::c_int) -> (i64, i64) {
    let mut value = libc::timeval { tv_sec: -1, tv_usec: -1 };
    let mut length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the option is a timeval, for which there is room.
    let result =
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut length) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    (value.tv_sec, value.tv_usec)
}

#[test]
fn small_packets_go_out_at_once() {
    let Some(server) = server(&Options::default()) else { return };
    let target = RedisTarget::from_url(&TargetUrl::parse(&server.tcp_url()).unwrap()).unwrap();
    let session = target.connect(&[], None).unwrap();
    let fd = session.descriptor().unwrap();
    assert_eq!(option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY), 1);
    // The canary: a socket that nobody has asked.
    let plain = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    assert_eq!(option(std::os::fd::AsRawFd::as_raw_fd(&plain), libc::IPPROTO_TCP, libc::TCP_NODELAY), 0);
}

/// Neither the kernel nor the session gives an answer up: not after the time that connecting may take, nor ever.
#[test]
fn an_answer_may_take_as_long_as_it_likes() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [
        format!("{}/?connect_timeout=1", server.tcp_url()),
        format!("{}&connect_timeout=1", server.unix_url()),
    ] {
        let target = RedisTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        let mut session = target.connect(&[], None).unwrap();
        let fd = session.descriptor().unwrap();
        assert_eq!([libc::SO_RCVTIMEO, libc::SO_SNDTIMEO].map(|name| time_option(fd, name)), [(0, 0); 2]);
        server.freeze().unwrap();
        session.stage(Command::Ping).unwrap();
        assert!(session.poll_reply().is_pending());
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        assert_eq!(unsafe { libc::poll(&mut poll, 1, 1_100) }, 0, "a frozen server answered");
        assert!(session.poll_reply().is_pending());
        server.thaw().unwrap();
        assert_eq!(
            Direct::<RedisSession>::run(driver::Conversation::exchange(&mut Direct::new(&mut session))),
            Ok(())
        );
    }
}

#[test]
fn a_lost_connection_is_not_made_again() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let target = fake::target(listener.local_addr().unwrap().port(), "");
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let_in(&mut stream);
        expect(&mut stream, PING);
        drop(stream);
        listener
    });
    let mut session = target.connect(&[], None).unwrap();
    assert_eq!(Direct::new(&mut session).ask(Command::Ping), Err(OpError::lost(Outcome::ConnectionLost)));
    for _ in 0..100 {
        assert_eq!(session.stage(Command::Ping), Err(OpError::lost(Outcome::ConnectionLost)));
        assert_eq!(session.poll_reply(), Poll::Ready(Err(OpError::lost(Outcome::ConnectionLost))));
    }
    let listener = server.join().unwrap();
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

/// Each request is sent once, whatever the server says: also where it asks to be asked again, or elsewhere.
#[test]
fn a_refused_request_is_not_sent_again() {
    const REFUSALS: [(&[u8], Outcome); 6] = [
        (b"-LOADING Redis is loading the dataset in memory\r\n", Outcome::Unavailable),
        (b"-BUSY Redis is busy running a script.\r\n", Outcome::Busy),
        (b"-TRYAGAIN Multiple keys request during rehashing of slot\r\n", Outcome::Busy),
        (b"-CLUSTERDOWN The cluster is down\r\n", Outcome::Unavailable),
        (b"-MOVED 1 127.0.0.1:1\r\n", Outcome::Redirected),
        (b"-ASK 1 127.0.0.1:1\r\n", Outcome::Redirected),
    ];
    let fake = fake("", |mut stream| {
        let_in(&mut stream);
        for answer in REFUSALS.map(|(answer, _)| answer).into_iter().chain([PONG]) {
            expect(&mut stream, PING);
            stream.write_all(answer).unwrap();
        }
        let mut more = Vec::new();
        stream.read_to_end(&mut more).unwrap();
        assert_eq!(more, b"", "more requests than were made");
    });
    let mut session = fake.target.connect(&[], None).unwrap();
    for (answer, outcome) in REFUSALS {
        let reply = Direct::new(&mut session).ask(Command::Ping);
        assert_eq!(reply, Err(OpError::refused(outcome)), "{}", answer.escape_ascii());
    }
    Direct::new(&mut session).ask(Command::Ping).unwrap();
    drop(session);
    fake.thread.join().unwrap();
}
