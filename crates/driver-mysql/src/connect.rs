//! From a configuration to a connection that is logged in.

use crate::client::{Client, Failure};
use crate::config::{Config, Host};
use crate::login::{self, Purpose};
use driver::ConnectError;
use socket::{Deadline, Link, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};

/// Connects and logs in, within the configuration's limit.
pub(crate) fn connect(config: &Config, purpose: Purpose) -> Result<Client, ConnectError> {
    let deadline = Deadline::after(config.connect_timeout);
    let socket = reach(config, &deadline)?;
    let mut client = Client::new(Link::plain(socket), deadline);
    login::log_in(&mut client, config, purpose).map_err(|failure| failed(config, "", &failure))?;
    Ok(client)
}

/// An error about this target: one line.
pub(crate) fn failed(config: &Config, what: &str, failure: &Failure) -> ConnectError {
    let message = format!("{}: {what}{failure}", config.address);
    ConnectError { message, transient: failure.is_transient() }
}

/// A socket at the server.
fn reach(config: &Config, deadline: &Deadline) -> Result<Socket, ConnectError> {
    match &config.host {
        Host::Unix(path) => Socket::unix(path).map_err(|error| {
            let problem = unreachable(&error, &path.display().to_string());
            unreached(config, &error, problem)
        }),
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
