//! A session's beginning: the bridge lets it in, makes an object of the class and calls its `init`.

use crate::codec::{self, Ended, Garbage, Reader};
use crate::config::{Config, Transport};
use crate::jvm::Jvm;
use driver::ConnectError;
use socket::{Deadline, Readiness, Socket};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};

/// A connection behind which an object of the class is ready.
///
/// # Errors
/// One line, without secrets. What `init` refuses may pass: the database may not be there yet.
pub(crate) fn connect(config: &Config, jvm: &Jvm) -> Result<Socket, ConnectError> {
    let deadline = Deadline::after(config.limit);
    let begun = reach(config, jvm, &deadline).and_then(|socket| {
        greet(&socket, config, jvm, &deadline)?;
        Ok(socket)
    });
    begun.map_err(|error| {
        let problem = match error.kind() {
            ErrorKind::TimedOut => format!(
                "no session within {}: the binding's `init` takes longer; give it more by ?init_timeout=SECONDS",
                config.limit
            ),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => jvm.last_words(),
            _ => error.to_string(),
        };
        let shown = config.secrets.hidden_in(&problem);
        ConnectError::transient(format!("{}: {shown}", config.address))
    })
}

fn reach(config: &Config, jvm: &Jvm, deadline: &Deadline) -> io::Result<Socket> {
    match config.transport {
        Transport::Unix => Socket::unix(&jvm.socket()),
        Transport::Tcp => Socket::tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, jvm.port())), deadline),
    }
}

fn greet(socket: &Socket, config: &Config, jvm: &Jvm, deadline: &Deadline) -> io::Result<()> {
    let mut hello = Vec::new();
    codec::hello(&mut hello, jvm.token());
    send(socket, &hello, deadline)?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut room = [0; 4096];
    loop {
        if let Some(answer) = Reader::whole(&bytes, 0).map_err(garbage)? {
            return let_in(answer, config).map_err(garbage)?.map_err(io::Error::other);
        }
        match socket.receive(&mut room) {
            Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok((count, _)) => bytes.extend(&room[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                socket.wait(Readiness::Readable, deadline)?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// What `init` came to.
fn let_in(mut answer: Reader<'_>, config: &Config) -> Result<Result<(), String>, Garbage> {
    if answer.head()?.ended != Ended::Failed {
        return Ok(Ok(()));
    }
    let status = String::from_utf8_lossy(answer.text()?);
    let words = String::from_utf8_lossy(answer.text()?);
    let class = &config.class;
    Ok(Err(match status.as_ref() {
        "init" => {
            format!("`init` of {class} refuses: {words}; see the properties that it needs, ?p.NAME=VALUE")
        }
        _ => format!("{class} can't begin a session: {words}"),
    }))
}

fn garbage(garbage: Garbage) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, garbage.to_string())
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
