//! The server is real: it answers, freezes, goes on, comes back, and leaves nothing behind.

use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::redis::{Options, server};

fn ping(port: u16) -> std::io::Result<[u8; 5]> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(std::time::Duration::from_millis(300)))?;
    stream.write_all(b"*1\r\n$4\r\nPING\r\n")?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

#[test]
fn a_server_lives_freezes_restarts_and_is_removed() {
    let options = Options { password: Some("pa ss".to_owned()), ..Options::default() };
    let Some(server) = server(&options) else { return };
    assert_eq!(ping(server.port()).unwrap(), *b"-NOAU");
    assert_eq!(server.ask(&["SET", "key", "a value"]).unwrap(), "+OK\r\n");
    server.freeze().unwrap();
    assert!(ping(server.port()).is_err(), "a frozen server answered");
    server.thaw().unwrap();
    assert_eq!(server.ask(&["GET", "key"]).unwrap(), "$7\r\na value\r\n");
    let before = server.pid().unwrap();
    server.stop().unwrap();
    assert!(server.pid().is_err() && ping(server.port()).is_err());
    server.launch().unwrap();
    assert_ne!(server.pid().unwrap(), before);
    assert_eq!(server.ask(&["GET", "key"]).unwrap(), "$-1\r\n");
    let (socket, port) = (server.socket(), server.port());
    server.freeze().unwrap();
    drop(server);
    assert!(!socket.parent().unwrap().exists() && ping(port).is_err());
}

#[test]
fn a_server_that_can_not_start_says_why() {
    let settings = vec![("no-such-setting".to_owned(), "1".to_owned())];
    if server(&Options::default()).is_none() {
        return;
    }
    let reason = testkit::redis::Server::start(&Options { settings, ..Options::default() }).unwrap_err();
    assert!(reason.contains("the Redis server ended") && reason.contains("Bad directive"), "{reason}");
}
