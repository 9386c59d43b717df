//! From a configuration to a session that is logged in.

use crate::client::{Client, Failure};
use crate::codec::{self, Garbage};
use crate::config::{Config, Host};
use crate::login;
use driver::ConnectError;
use socket::tls::{self, TlsMode};
use socket::{Deadline, Link, Readiness, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};

/// Connects and logs in, within the configuration's limit.
pub(crate) fn connect(config: &Config) -> Result<Client, ConnectError> {
    let deadline = Deadline::after(config.connect_timeout);
    let socket = reach(config, &deadline)?;
    let mut client = Client::new(Link::plain(socket), deadline);
    if let Host::Tcp(host) = &config.host
        && config.tls != TlsMode::Disable
    {
        client = negotiate_tls(client, config, host).map_err(|failure| failed(config, "TLS: ", &failure))?;
    }
    login::log_in(&mut client, config).map_err(|failure| failed(config, "", &failure))?;
    Ok(client)
}

/// An error about this target: one line.
pub(crate) fn failed(config: &Config, what: &str, failure: &Failure) -> ConnectError {
    let message = format!("{}: {what}{failure}", config.address);
    ConnectError { message, transient: failure.is_transient() }
}

/// A socket at the server.
pub(crate) fn reach(config: &Config, deadline: &Deadline) -> Result<Socket, ConnectError> {
    match &config.host {
        Host::Unix(directory) => {
            let path = Config::socket_path(directory, config.port);
            Socket::unix(&path).map_err(|error| {
                let problem = unreachable(&error, &path.display().to_string());
                unreached(config, &error, problem)
            })
        }
        Host::Tcp(host) => reach_any(config, host, deadline),
    }
}

/// Tries all addresses of a host, one after the other.
fn reach_any(config: &Config, host: &str, deadline: &Deadline) -> Result<Socket, ConnectError> {
    let addresses: Vec<SocketAddr> = (host, config.port)
        .to_socket_addrs()
        .map_err(|error| {
            ConnectError::permanent(format!("{}: host `{host}` not found: {error}", config.address))
        })?
        .collect();
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in &addresses {
        match Socket::tcp(*address, deadline) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    let tried: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    let problem = unreachable(&last, &tried.join(" and "));
    Err(unreached(config, &last, problem))
}

fn unreachable(error: &io::Error, place: &str) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => format!("connection refused at {place}; is the server running?"),
        ErrorKind::NotFound => format!("no socket at {place}; is the server running?"),
        ErrorKind::TimedOut => format!("no answer from {place} within the time limit"),
        _ => format!("{place}: {error}"),
    }
}

fn unreached(config: &Config, error: &io::Error, problem: String) -> ConnectError {
    // A path that can't be used or entered stays so; everything else may change.
    let transient = !matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput);
    ConnectError { message: format!("{}: {problem}", config.address), transient }
}

fn negotiate_tls(mut client: Client, config: &Config, host: &str) -> Result<Client, Failure> {
    client.out.extend_from_slice(&codec::TLS_REQUEST);
    client.send()?;
    client.receive()?;
    match client.buffer.unparsed() {
        b"S" => {}
        b"N" if config.tls == TlsMode::Prefer => {
            client.buffer.start += 1;
            return Ok(client);
        }
        b"N" => {
            let advice = "the server has no TLS; use sslmode=disable, or switch `ssl` on at the server";
            return Err(Failure::Unfit(advice.to_owned()));
        }
        // More than the one byte would be plain text that somebody has slipped in before the encryption.
        [b'S' | b'N', ..] => return Err(Failure::Unfit("bytes before the handshake; refused".to_owned())),
        // A server that could not start a backend says so before it speaks TLS.
        [b'E', ..] => {
            return client.until_ready(|tag, _| Err(Garbage::Unexpected(tag).into())).map(|()| client);
        }
        bytes => {
            let tag = bytes.first().copied().unwrap_or(0);
            return Err(Garbage::Unexpected(tag).into());
        }
    }
    client.buffer.start += 1;
    let connection = tls::connection(config.tls, config.root_certificate.as_deref(), host);
    client.link.begin_tls(connection.map_err(Failure::Unfit)?);
    while let Err(error) = client.link.handshake() {
        let writes = client.link.tls().is_some_and(|tls| tls.wants_write());
        let readiness = if writes { Readiness::Writable } else { Readiness::Readable };
        client.wait_if_blocked(error, readiness)?;
    }
    Ok(client)
}
