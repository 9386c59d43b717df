//! Connecting, and blocking requests for set-up.

use crate::codec::{self, Item, MESSAGE_LIMIT};
use crate::config::{Config, Host};
use driver::ConnectError;
use socket::{Buffer, Deadline, Readiness, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use units::Nanos;

/// How long connecting, or one request of set-up, may take.
const LIMIT: Nanos = Nanos::from_secs(10);

/// A connection that is logged in.
pub(crate) struct Client {
    pub(crate) socket: Socket,
    buffer: Buffer,
    address: String,
    pub(crate) limit: Nanos,
}

/// A whole reply.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    Text(String),
    Error(String),
    Integer(i64),
    Nil,
    /// The items of an array, arrays in it one after the other.
    Items(Vec<Answer>),
}

/// Connects, authenticates, and selects the database.
pub(crate) fn connect(config: &Config) -> Result<Client, ConnectError> {
    let deadline = Deadline::after(LIMIT);
    let socket = reach(config, &deadline)?;
    let mut client =
        Client { socket, buffer: Buffer::new(MESSAGE_LIMIT), address: config.address.clone(), limit: LIMIT };
    if let Some(password) = &config.password {
        let user_and_password: &[&str] = &["AUTH", &config.user, password];
        let password_only: &[&str] = &["AUTH", password];
        client.succeed(if config.user.is_empty() { password_only } else { user_and_password }, "AUTH")?;
    }
    if config.database != 0 {
        client.succeed(&["SELECT", &config.database.to_string()], "SELECT")?;
    }
    // Tells at once whether a password is missing, and a server that is still loading.
    client.succeed(&["PING"], "PING")?;
    Ok(client)
}

fn reach(config: &Config, deadline: &Deadline) -> Result<Socket, ConnectError> {
    match &config.host {
        Host::Unix(path) => Socket::unix(path).map_err(|error| {
            unreached(
                config,
                &error,
                format!("no connection at {}: {error}; is the server running?", path.display()),
            )
        }),
        Host::Tcp(host) => {
            let addresses: Vec<SocketAddr> = (host.as_str(), config.port)
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
            let place = format!("{host}:{}", config.port);
            let problem = match last.kind() {
                ErrorKind::ConnectionRefused => {
                    format!("connection refused at {place}; is the server running?")
                }
                ErrorKind::TimedOut => format!("no answer from {place} within the time limit"),
                _ => format!("{place}: {last}"),
            };
            Err(unreached(config, &last, problem))
        }
    }
}

fn unreached(config: &Config, error: &io::Error, problem: String) -> ConnectError {
    // A path that can't be used or entered stays so; everything else may change.
    let transient = !matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidInput);
    ConnectError { message: format!("{}: {problem}", config.address), transient }
}

impl Client {
    /// A request that must not be answered by an error; `shown` stands for it in messages, without secrets.
    fn succeed(&mut self, parts: &[&str], shown: &str) -> Result<Answer, ConnectError> {
        match self.ask(parts)? {
            Answer::Error(words) => {
                let transient = words.starts_with("LOADING");
                Err(ConnectError { message: format!("{}: {shown}: {words}", self.address), transient })
            }
            answer => Ok(answer),
        }
    }

    /// One request and its whole answer.
    pub(crate) fn ask(&mut self, parts: &[&str]) -> Result<Answer, ConnectError> {
        let mut out = Vec::new();
        codec::command(&mut out, parts.len());
        parts.iter().for_each(|part| codec::part(&mut out, part.as_bytes()));
        let deadline = Deadline::after(self.limit);
        self.send(&out, &deadline).and_then(|()| self.receive(&deadline)).map_err(|error| {
            let problem = match error.kind() {
                ErrorKind::TimedOut => "no answer within the time limit".to_owned(),
                ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
                _ => error.to_string(),
            };
            ConnectError::transient(format!("{}: {problem}", self.address))
        })
    }

    fn send(&mut self, bytes: &[u8], deadline: &Deadline) -> io::Result<()> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.socket.send(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.socket.wait(Readiness::Writable, deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, deadline: &Deadline) -> io::Result<Answer> {
        loop {
            let start = self.buffer.start;
            if let Some((answer, next)) = answer(self.buffer.received(), start)? {
                self.buffer.start = next;
                self.buffer.forget_parsed();
                return Ok(answer);
            }
            let Some(room) = self.buffer.room(true) else { return Err(ErrorKind::OutOfMemory.into()) };
            match self.socket.receive(room) {
                Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((received, _)) => self.buffer.end += received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.socket.wait(Readiness::Readable, deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The whole reply at `at` and where the next begins; nested arrays are flattened.
fn answer(bytes: &[u8], at: usize) -> io::Result<Option<(Answer, usize)>> {
    let (mut at, mut pending) = (at, 1_usize);
    let mut items: Option<Vec<Answer>> = None;
    loop {
        let found =
            codec::item(bytes, at).map_err(|g| io::Error::new(ErrorKind::InvalidData, g.to_string()))?;
        let Some((item, next)) = found else { return Ok(None) };
        at = next;
        pending -= 1;
        let text = |begin: usize, end: usize| String::from_utf8_lossy(&bytes[begin..end]).into_owned();
        let one = match item {
            Item::Array(count) => {
                pending += count;
                items.get_or_insert_default();
                None
            }
            Item::Simple { begin, end } | Item::Bulk { begin, end } => Some(Answer::Text(text(begin, end))),
            Item::Error { begin, end } => Some(Answer::Error(text(begin, end))),
            Item::Integer(number) => Some(Answer::Integer(number)),
            Item::Nil => Some(Answer::Nil),
        };
        match (&mut items, one) {
            (Some(items), Some(one)) => items.push(one),
            (None, Some(one)) => return Ok(Some((one, at))),
            _ => {}
        }
        if pending == 0 {
            return Ok(Some((Answer::Items(items.unwrap_or_default()), at)));
        }
    }
}
