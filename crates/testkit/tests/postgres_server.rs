//! The server is real: it answers, freezes, goes on, comes back, and leaves nothing behind.

use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::postgres::{Authentication, Options, server};

/// Asks whether TLS is spoken: the shortest exchange that PostgreSQL has before logging in.
fn asks_for_tls(port: u16) -> std::io::Result<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(std::time::Duration::from_millis(300)))?;
    stream.write_all(&[0, 0, 0, 8, 4, 210, 22, 47])?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    Ok(answer[0])
}

#[test]
fn a_server_lives_freezes_restarts_and_is_removed() {
    let options = Options {
        authentication: Authentication::Scram("pa'ss".to_owned()),
        tls: true,
        ..Options::default()
    };
    let Some(server) = server(&options) else { return };
    assert_eq!(asks_for_tls(server.port()).unwrap(), b'S');
    server.freeze().unwrap();
    assert!(asks_for_tls(server.port()).is_err(), "a frozen server answered");
    server.thaw().unwrap();
    assert_eq!(asks_for_tls(server.port()).unwrap(), b'S');
    let before = server.pid().unwrap();
    server.restart().unwrap();
    assert_ne!(server.pid().unwrap(), before);
    assert!(server.authority().exists());
    let directory = server.socket_directory().to_owned();
    let port = server.port();
    server.freeze().unwrap();
    drop(server);
    assert!(!directory.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
