//! A server that does what a test tells it to.

use driver::TargetUrl;
use driver_redis::RedisTarget;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

pub(crate) const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";
pub(crate) const PONG: &[u8] = b"+PONG\r\n";

/// A target, and whoever serves its one connection.
pub(crate) struct Fake {
    pub(crate) target: RedisTarget,
    pub(crate) thread: JoinHandle<()>,
}

/// Serves one connection on a free port.
pub(crate) fn fake(options: &str, serve: impl FnOnce(TcpStream) + Send + 'static) -> Fake {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let target = target(listener.local_addr().unwrap().port(), options);
    let thread = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    Fake { target, thread }
}

pub(crate) fn target(port: u16, options: &str) -> RedisTarget {
    let url = format!("redis://127.0.0.1:{port}/?{options}");
    RedisTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap()
}

/// Reads as many bytes as `request` has, which must be those.
pub(crate) fn expect(stream: &mut TcpStream, request: &[u8]) {
    let mut found = vec![0; request.len()];
    stream.read_exact(&mut found).unwrap();
    assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(request));
}

/// What connecting asks, and its answer.
pub(crate) fn let_in(stream: &mut TcpStream) {
    expect(stream, PING);
    stream.write_all(PONG).unwrap();
}
