//! The handshake: the server's greeting, what both sides can, TLS, and the password.

use crate::auth::{self, Method, NONCE};
use crate::cancel::ConnectionId;
use crate::client::{Client, Failure, Server};
use crate::codec::{self, Garbage, Inside};
use crate::config::{Config, Host};
use socket::Readiness;
use socket::tls::{self, TlsMode};

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Session,
    Administration,
}

/// What a client can do, as both sides number it.
pub(crate) mod can {
    /// To MySQL: long passwords. MariaDB takes a client without it for one that knows the bits above 32.
    pub(crate) const MYSQL: u64 = 1;
    /// An UPDATE counts the rows that it found, also those that had the value already.
    pub(crate) const FOUND_ROWS: u64 = 1 << 1;
    pub(crate) const LONG_FLAG: u64 = 1 << 2;
    pub(crate) const CONNECT_WITH_DB: u64 = 1 << 3;
    pub(crate) const LOCAL_FILES: u64 = 1 << 7;
    pub(crate) const PROTOCOL_41: u64 = 1 << 9;
    pub(crate) const TLS: u64 = 1 << 11;
    pub(crate) const TRANSACTIONS: u64 = 1 << 13;
    pub(crate) const SECURE_CONNECTION: u64 = 1 << 15;
    pub(crate) const MULTI_STATEMENTS: u64 = 1 << 16;
    pub(crate) const MULTI_RESULTS: u64 = 1 << 17;
    pub(crate) const PLUGIN_AUTH: u64 = 1 << 19;
    pub(crate) const CONNECT_ATTRS: u64 = 1 << 20;
    pub(crate) const LENGTHY_AUTH: u64 = 1 << 21;
    /// Rows end in an OK, and definitions of columns in nothing.
    pub(crate) const NO_EOF: u64 = 1 << 24;
    /// MariaDB from 10.6: columns that are as before are not defined again.
    pub(crate) const CACHED_COLUMNS: u64 = 1 << 36;
}

/// What this driver can't do without.
const NEEDED: u64 = can::PROTOCOL_41
    | can::TRANSACTIONS
    | can::SECURE_CONNECTION
    | can::PLUGIN_AUTH
    | can::LENGTHY_AUTH
    | can::NO_EOF;

/// What it takes where the server has it.
fn wanted(purpose: Purpose) -> u64 {
    let common = NEEDED | can::FOUND_ROWS | can::LONG_FLAG | can::CONNECT_ATTRS;
    match purpose {
        Purpose::Session => common | can::CACHED_COLUMNS,
        Purpose::Administration => common | can::MULTI_STATEMENTS | can::MULTI_RESULTS | can::LOCAL_FILES,
    }
}

/// utf8mb4 in its oldest order, which both servers know.
const CHARACTER_SET: u8 = 45;

/// The server's greeting.
#[derive(PartialEq, Eq, Debug)]
struct Greeting {
    version: String,
    id: ConnectionId,
    nonce: Vec<u8>,
    can: u64,
    method: String,
}

impl Greeting {
    fn parse(body: &[u8]) -> Option<Greeting> {
        let mut inside = Inside(body.get(1..)?);
        let version = String::from_utf8_lossy(inside.text()?).into_owned();
        let id = ConnectionId(inside.u32()?);
        let mut nonce = inside.take(8)?.to_vec();
        inside.byte()?;
        let low = inside.u16()?;
        inside.take(3)?; // character set, status
        let high = inside.u16()?;
        inside.byte()?; // the nonce's length, which is always the same
        inside.take(6)?;
        let more = inside.u32()?;
        let mut can = u64::from(low) | u64::from(high) << 16;
        // In MySQL these bytes mean nothing.
        if can & can::MYSQL == 0 {
            can |= u64::from(more) << 32;
        }
        nonce.extend_from_slice(inside.take(NONCE - 8)?);
        inside.byte()?;
        // Some servers leave out the last zero byte.
        let method = String::from_utf8_lossy(inside.text().unwrap_or(inside.0)).into_owned();
        Some(Greeting { version, id, nonce, can, method })
    }
}

/// Opens the session: greets, encrypts, proves who it is.
pub(crate) fn log_in(client: &mut Client, config: &Config, purpose: Purpose) -> Result<(), Failure> {
    let body = client.accepted()?;
    if body[0] != 10 {
        return Err(Garbage::Unexpected(body[0]).into());
    }
    let greeting = Greeting::parse(&body).ok_or(Garbage::Malformed("greeting"))?;
    if greeting.can & NEEDED != NEEDED {
        return Err(Failure::Unfit(format!(
            "the server (version {}) is too old; MariaDB 10.2, MySQL 5.7.5 or later are needed",
            greeting.version
        )));
    }
    let mut agreed = wanted(purpose) & greeting.can;
    // MariaDB of 10.2 or later leaves the bit out.
    let is_mariadb = greeting.can & can::MYSQL == 0 || greeting.version.contains("MariaDB");
    if greeting.can & can::MYSQL != 0 {
        agreed |= can::MYSQL;
    }
    if !config.database.is_empty() {
        agreed |= can::CONNECT_WITH_DB;
    }
    if let Host::Tcp(host) = &config.host
        && config.tls != TlsMode::Disable
    {
        match (greeting.can & can::TLS != 0, config.tls) {
            (true, _) => {
                agreed |= can::TLS;
                encrypt(client, config, host, agreed)?;
            }
            (false, TlsMode::Prefer) => {}
            (false, _) => {
                return Err(Failure::Unfit(
                    "TLS: the server has no TLS; use sslmode=disable, or give the server a certificate (ssl_cert, ssl_key)"
                        .to_owned(),
                ));
            }
        }
    }
    client.server = Server { id: greeting.id, is_mariadb, agreed };
    authenticate(client, config, greeting)
}

fn encrypt(client: &mut Client, config: &Config, host: &str, agreed: u64) -> Result<(), Failure> {
    // More than the greeting would be plain text that somebody has slipped in before the encryption.
    if !client.buffer.unparsed().is_empty() {
        return Err(Failure::Unfit("TLS: bytes before the handshake; refused".to_owned()));
    }
    let number = client.number.wrapping_add(1);
    codec::packet_of(&mut client.out, number, |out| push_abilities(out, agreed));
    client.send()?;
    client.number = number;
    let about = |problem: String| Failure::Unfit(format!("TLS: {problem}"));
    let connection = tls::connection(config.tls, config.root_certificate.as_deref(), host).map_err(about)?;
    client.link.begin_tls(connection);
    while let Err(error) = client.link.handshake() {
        if error.kind() == std::io::ErrorKind::InvalidData {
            return Err(about(error.to_string()));
        }
        let writes = client.link.tls().is_some_and(|tls| tls.wants_write());
        let readiness = if writes { Readiness::Writable } else { Readiness::Readable };
        client.wait_if_blocked(error, readiness)?;
    }
    Ok(())
}

/// What a client's answer and its wish for TLS begin with.
fn push_abilities(out: &mut Vec<u8>, agreed: u64) {
    out.extend_from_slice(&(agreed as u32).to_le_bytes());
    out.extend_from_slice(&(codec::KEPT_LIMIT as u32).to_le_bytes()); // the longest packet that is accepted
    out.push(CHARACTER_SET);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&((agreed >> 32) as u32).to_le_bytes());
}

fn authenticate(client: &mut Client, config: &Config, greeting: Greeting) -> Result<(), Failure> {
    let password = config.password.as_ref().map_or("", |secret| secret.0.as_str());
    // The server's usual method need not be this user's; if not, it says so.
    let mut method = Method::from_name(&greeting.method).unwrap_or(Method::Native);
    let mut nonce = greeting.nonce;
    // The password itself is not sent before the server asks for it.
    if matches!(method, Method::Sha256 | Method::Clear) {
        method = Method::Native;
    }
    let proof = proof(client, config, method, &nonce)?;
    answer(client, config, method, &proof);
    client.send()?;
    loop {
        let body = client.packet()?;
        match (body[0], &body[1..]) {
            (codec::OK, _) => return Ok(()),
            (codec::ERROR, _) => return Err(refused(config, &body)),
            (codec::END, _) => {
                let (name, new) = auth::switch(&body).ok_or(Garbage::Malformed("wish for another login"))?;
                (method, nonce) = (Method::from_name(&name).map_err(Failure::Unfit)?, new);
                let proof = self::proof(client, config, method, &nonce)?;
                reply(client, &proof)?;
            }
            (codec::MORE, [3]) if method == Method::CachingSha2 => {} // known; an OK follows
            (codec::MORE, [4]) if method == Method::CachingSha2 => {
                if !is_private(client, config) {
                    return Err(Failure::Unfit(
                        "the server does not have this user's password in its cache (caching_sha2_password) and asks for \
                         it on a connection that others can read; use sslmode=require or ?socket=PATH"
                            .to_owned(),
                    ));
                }
                reply(client, &[password.as_bytes(), &[0]].concat())?;
            }
            (first, _) => return Err(Garbage::Unexpected(first).into()),
        }
    }
}

/// A server's refusal; where no password was given, with the advice to give one.
fn refused(config: &Config, body: &[u8]) -> Failure {
    match Failure::refused(body) {
        Failure::Refused { words, transient }
            if config.password.is_none() && words.contains("ERROR 1045") =>
        {
            Failure::Refused { words: format!("{words}; no password is given; set MYSQL_PWD"), transient }
        }
        failure => failure,
    }
}

/// What stands for the password, or where the method wants it, the password.
fn proof(client: &Client, config: &Config, method: Method, nonce: &[u8]) -> Result<Vec<u8>, Failure> {
    let password = config.password.as_ref().map_or("", |secret| secret.0.as_str());
    match method {
        Method::Native => Ok(auth::native(password, nonce)),
        Method::CachingSha2 => Ok(auth::caching_sha2(password, nonce)),
        Method::Sha256 | Method::Clear if is_private(client, config) || password.is_empty() => {
            Ok([password.as_bytes(), &[0]].concat())
        }
        Method::Sha256 | Method::Clear => Err(Failure::Unfit(format!(
            "the server asks for the password itself ({}) on a connection that others can read; use sslmode=require or \
             ?socket=PATH",
            method.name()
        ))),
    }
}

fn is_private(client: &Client, config: &Config) -> bool {
    client.link.tls().is_some() || matches!(config.host, Host::Unix(_))
}

/// The answer to the greeting.
fn answer(client: &mut Client, config: &Config, method: Method, proof: &[u8]) {
    let agreed = client.server.agreed;
    let number = client.number.wrapping_add(1);
    codec::packet_of(&mut client.out, number, |out| {
        push_abilities(out, agreed);
        codec::push_text(out, &config.user);
        codec::push_counted(out, proof);
        if agreed & can::CONNECT_WITH_DB != 0 {
            codec::push_text(out, &config.database);
        }
        codec::push_text(out, method.name());
        if agreed & can::CONNECT_ATTRS != 0 {
            let mut attributes = Vec::new();
            for text in ["_client_name", "truetail", "program_name", "truetail"] {
                codec::push_counted(&mut attributes, text.as_bytes());
            }
            codec::push_counted(out, &attributes);
        }
    });
}

fn reply(client: &mut Client, proof: &[u8]) -> Result<(), Failure> {
    let number = client.number.wrapping_add(1);
    codec::packet_of(&mut client.out, number, |out| out.extend_from_slice(proof));
    client.send()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn greeting(can: u64, more: u32) -> Vec<u8> {
        let mut body = vec![10];
        body.extend_from_slice(b"10.11.19-MariaDB\0");
        body.extend_from_slice(&7_u32.to_le_bytes());
        body.extend_from_slice(&[1; 8]);
        body.push(0);
        body.extend_from_slice(&(can as u16).to_le_bytes());
        body.extend_from_slice(&[45, 2, 0]);
        body.extend_from_slice(&((can >> 16) as u16).to_le_bytes());
        body.push(21);
        body.extend_from_slice(&[0; 6]);
        body.extend_from_slice(&more.to_le_bytes());
        body.extend_from_slice(&[2; 12]);
        body.extend_from_slice(b"\0mysql_native_password\0");
        body
    }

    #[test]
    fn a_greeting_is_read() {
        let read = Greeting::parse(&greeting(NEEDED, 0x10)).unwrap();
        assert_eq!((read.version.as_str(), read.id), ("10.11.19-MariaDB", ConnectionId(7)));
        assert_eq!(
            read.nonce,
            [[1; 10], [2; 10]].concat()[..8].iter().copied().chain([2; 12]).collect::<Vec<_>>()
        );
        assert_eq!((read.can, read.method.as_str()), (NEEDED | can::CACHED_COLUMNS, "mysql_native_password"));
        let mysql = Greeting::parse(&greeting(NEEDED | can::MYSQL, 0x10)).unwrap();
        assert_eq!(mysql.can, NEEDED | can::MYSQL, "MySQL's reserved bytes mean nothing");
    }

    proptest! {
        #[test]
        fn any_greeting_is_read_or_not(cut in 0_usize..90, bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
            Greeting::parse(&bytes);
            auth::switch(&bytes);
            let whole = greeting(NEEDED, 0);
            Greeting::parse(&whole[..cut.min(whole.len())]);
        }
    }
}
