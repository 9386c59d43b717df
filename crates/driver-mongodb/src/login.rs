//! Logging in by SCRAM-SHA-256 (RFC 5802 and 7677) in `saslStart` and `saslContinue`.
//!
//! A password of letters beyond ASCII goes as it is, where SASLprep might change it.

use crate::bson::{Item, binary, boolean, embedded, int, text};
use crate::client::{Answer, Client};
use crate::config::Config;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use driver::ConnectError;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use socket::Deadline;
use std::io::Read;

type Hash = [u8; 32];

/// Fewer than the least that servers use would let a false server learn the password at little cost.
const ITERATIONS: std::ops::RangeInclusive<u32> = 4_096..=1_000_000;

/// Logs in.
///
/// # Errors
/// The server's refusal, for good; or a server that can't prove that it knows the password.
pub(crate) fn log_in(client: &mut Client, config: &Config, deadline: &Deadline) -> Result<(), ConnectError> {
    let nonce = nonce().map_err(|error| client.unfit(&format!("/dev/urandom: {error}")))?;
    let exchange = Exchange::new(&config.user, &nonce);
    let database = config.user_database.as_str();
    let first = client.ask_until(
        database,
        &|out| {
            int(out, "saslStart", 1);
            text(out, "mechanism", "SCRAM-SHA-256");
            binary(out, "payload", exchange.first().as_bytes());
            embedded(out, "options", |out| boolean(out, "skipEmptyExchange", true));
        },
        deadline,
    )?;
    let id = first.find("conversationId").and_then(Item::whole).unwrap_or(1);
    let Proof { message, signature } = exchange
        .answer(&config.password, &payload(&first))
        .map_err(|problem| client.unfit(&format!("SCRAM-SHA-256: {problem}")))?;
    let go_on = |payload: &str, out: &mut Vec<u8>| {
        int(out, "saslContinue", 1);
        int(out, "conversationId", id as i32);
        binary(out, "payload", payload.as_bytes());
    };
    let last = client.ask_until(database, &|out| go_on(&message, out), deadline)?;
    let verified = payload(&last).strip_prefix("v=").and_then(|text| BASE64.decode(text).ok());
    if verified.as_deref() != Some(&signature[..]) {
        return Err(client.unfit("SCRAM-SHA-256: the server does not know the password itself; not trusted"));
    }
    if last.find("done").and_then(Item::number) != Some(1.0) {
        client.ask_until(database, &|out| go_on("", out), deadline)?;
    }
    Ok(())
}

fn payload(answer: &Answer) -> String {
    let bytes = answer.find("payload").and_then(Item::bytes).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// Nobody else's, and decides nothing that is measured.
fn nonce() -> std::io::Result<String> {
    let mut bytes = [0; 24];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(BASE64.encode(bytes))
}

/// One login.
struct Exchange {
    nonce: String,
    /// The client's first message without its head.
    bare: String,
}

/// The client's last message, and what the server must answer.
struct Proof {
    message: String,
    signature: Hash,
}

impl Exchange {
    fn new(user: &str, nonce: &str) -> Exchange {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        Exchange { nonce: nonce.to_owned(), bare: format!("n={user},r={nonce}") }
    }

    fn first(&self) -> String {
        format!("n,,{}", self.bare)
    }

    fn answer(&self, password: &str, server: &str) -> Result<Proof, String> {
        let part = |name: &str| server.split(',').find_map(|part| part.strip_prefix(name)).unwrap_or("");
        let (nonce, salt, count) = (part("r="), BASE64.decode(part("s=")), part("i=").parse::<u32>());
        let (Ok(salt), Ok(count)) = (salt, count) else {
            return Err("the server's first message has no salt or no count".to_owned());
        };
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the server's nonce does not go on with ours".to_owned());
        }
        if !ITERATIONS.contains(&count) {
            return Err(format!("{count} iterations: not in {}..{}", ITERATIONS.start(), ITERATIONS.end()));
        }
        let salted = salted(password.as_bytes(), &salt, count);
        let client_key = keyed(&salted, b"Client Key");
        let stored_key: Hash = Sha256::digest(client_key).into();
        let without_proof = format!("c=biws,r={nonce}");
        let all = format!("{},{server},{without_proof}", self.bare);
        let mut proof = keyed(&stored_key, all.as_bytes());
        proof.iter_mut().zip(client_key).for_each(|(byte, key)| *byte ^= key);
        Ok(Proof {
            message: format!("{without_proof},p={}", BASE64.encode(proof)),
            signature: keyed(&keyed(&salted, b"Server Key"), all.as_bytes()),
        })
    }
}

fn keyed(key: &[u8], message: &[u8]) -> Hash {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of all lengths");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// PBKDF2 of one block (RFC 8018, 5.2).
fn salted(password: &[u8], salt: &[u8], count: u32) -> Hash {
    let mut last = keyed(password, &[salt, &1_u32.to_be_bytes()].concat());
    let mut sum = last;
    for _ in 1..count {
        last = keyed(password, &last);
        sum.iter_mut().zip(last).for_each(|(byte, next)| *byte ^= next);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_standard() {
        let exchange = Exchange::new("user", "rOprNGfwEbeRWgbNEkqO");
        assert_eq!(exchange.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let proof = exchange.answer("pencil", server).unwrap();
        assert_eq!(
            proof.message,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(BASE64.encode(proof.signature), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn a_server_that_does_not_fit_is_not_answered() {
        let exchange = Exchange::new("a=b,c", "abc");
        assert_eq!(exchange.first(), "n,,n=a=3Db=2Cc,r=abc");
        for (server, named) in [
            ("r=abcd,s=AAAA,i=1", "1 iterations"),
            ("r=abcd,s=AAAA,i=4000000000", "iterations"),
            ("r=abc,s=AAAA,i=4096", "nonce"),
            ("r=xbcd,s=AAAA,i=4096", "nonce"),
            ("r=abcd,s=?,i=4096", "no salt"),
            ("", "no salt"),
        ] {
            let problem = exchange.answer("pencil", server).err().unwrap();
            assert!(problem.contains(named), "{server}: {problem}");
        }
    }
}
