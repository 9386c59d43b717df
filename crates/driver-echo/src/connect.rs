//! Connecting, and making sure that what answers is an echo server.

use crate::config::{Config, Host};
use crate::frame::{self, HEADER, Lengths, REFUSAL};
use driver::ConnectError;
use socket::{Deadline, Readiness, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use units::Nanos;

/// As long as a target may take to give up.
const LIMIT: Nanos = Nanos::from_secs(10);

/// What is asked first: no other protocol answers with the same bytes.
const HELLO: &[u8] = b"truetail echo?\r\n\r\n";

/// A connection whose other end has shown that it echoes.
pub(crate) fn connect(config: &Config) -> Result<Socket, ConnectError> {
    let deadline = Deadline::after(LIMIT);
    let socket = reach(config, &deadline)?;
    greet(&socket, &deadline).map_err(|error| unlike(config, &error))?;
    Ok(socket)
}

fn reach(config: &Config, deadline: &Deadline) -> Result<Socket, ConnectError> {
    let Host::Tcp(host, port) = &config.host else { return reach_unix(config) };
    let addresses: Vec<SocketAddr> = (host.as_str(), *port)
        .to_socket_addrs()
        .map_err(|error| {
            ConnectError::permanent(format!("{}: host `{host}` not found: {error}", config.address))
        })?
        .collect();
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in addresses {
        match Socket::tcp(address, deadline) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    let problem = match last.kind() {
        ErrorKind::ConnectionRefused => {
            format!("connection refused at {host}:{port}; start `truetail echo --listen {host}:{port}` there")
        }
        ErrorKind::TimedOut => format!("no answer from {host}:{port} within {LIMIT}"),
        _ => format!("{host}:{port}: {last}"),
    };
    Err(unreached(config, &last, problem))
}

fn reach_unix(config: &Config) -> Result<Socket, ConnectError> {
    let Host::Unix(path) = &config.host else {
        return Err(ConnectError::permanent(format!("{}: not a unix socket", config.address)));
    };
    Socket::unix(path).map_err(|error| {
        let path = path.display();
        let problem = format!("no connection at {path}: {error}; start `truetail echo --unix {path}`");
        unreached(config, &error, problem)
    })
}

fn unreached(config: &Config, error: &io::Error, problem: String) -> ConnectError {
    // A path that can't be used or entered stays so; everything else may change.
    let transient = !matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput);
    ConnectError { message: format!("{}: {problem}", config.address), transient }
}

/// Somebody is there who does not echo.
fn unlike(config: &Config, error: &io::Error) -> ConnectError {
    let (said, transient) = match error.kind() {
        ErrorKind::TimedOut => (format!("it says nothing within {LIMIT}"), false),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            ("it hangs up".to_owned(), true)
        }
        _ => (error.to_string(), false),
    };
    let hint = "name the address that `truetail echo` printed";
    ConnectError {
        message: format!("{}: no echo server is there: {said}; {hint}", config.address),
        transient,
    }
}

fn greet(socket: &Socket, deadline: &Deadline) -> io::Result<()> {
    let mut hello = Vec::new();
    frame::request(HELLO, HELLO.len() as u32, &mut hello);
    send(socket, &hello, deadline)?;
    let mut answer = vec![0; hello.len()];
    let mut filled = 0;
    while filled < answer.len() {
        match socket.receive(&mut answer[filled..]) {
            Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok((received, _)) => filled += received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                socket.wait(Readiness::Readable, deadline)?;
            }
            Err(error) => return Err(error),
        }
        // What is different already will not become the same.
        if answer[..filled] != hello[..filled] {
            return Err(other(&answer[..filled]));
        }
    }
    Ok(())
}

fn send(socket: &Socket, bytes: &[u8], deadline: &Deadline) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        match socket.send(&bytes[sent..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                socket.wait(Readiness::Writable, deadline)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What was said instead of the greeting.
fn other(answer: &[u8]) -> io::Error {
    let refused = Lengths::read(answer).is_some_and(|lengths| lengths.payload == REFUSAL);
    let shown = if refused { &answer[HEADER..] } else { answer };
    io::Error::new(ErrorKind::InvalidData, format!("it answers `{}`", shown.escape_ascii()))
}
