//! SCRAM-SHA-256, the server's side (RFC 5802 and 7677), without channel binding.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::digest::CtOutput;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The mechanism that is offered.
pub(super) const MECHANISM: &str = "SCRAM-SHA-256";

type Hash = [u8; 32];

/// What the server keeps of a password: enough to check it, not enough to pose as the client.
#[derive(Clone)]
pub(super) struct Verifier {
    /// In base64, as it goes over the wire.
    salt: String,
    iterations: u32,
    stored_key: Hash,
    server_key: Hash,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier")
    }
}

/// Why a login does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// What the client said is no SCRAM message.
    Malformed(&'static str),
    /// The password is another one.
    Denied,
}

impl Verifier {
    /// Derives the keys, with 4096 iterations: some milliseconds.
    pub(super) fn new(password: &str) -> Verifier {
        let made = postgres_protocol::password::scram_sha_256(password.as_bytes());
        Verifier::parse(&made).expect("the form in which PostgreSQL stores verifiers")
    }

    /// `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`
    fn parse(made: &str) -> Option<Verifier> {
        let mut parts = made.split('$').skip(1);
        let (iterations, salt) = parts.next()?.split_once(':')?;
        let (stored_key, server_key) = parts.next()?.split_once(':')?;
        let key = |text: &str| BASE64.decode(text).ok()?.try_into().ok();
        Some(Verifier {
            salt: salt.to_owned(),
            iterations: iterations.parse().ok()?,
            stored_key: key(stored_key)?,
            server_key: key(server_key)?,
        })
    }

    /// Answers the client's first message. `own_nonce` is printable and has no comma.
    pub(super) fn challenge(&self, client_first: &[u8], own_nonce: &str) -> Result<Exchange, Refused> {
        let text = std::str::from_utf8(client_first).map_err(|_| Refused::Malformed("not UTF-8"))?;
        // gs2-header: "n,," or "y,,"; the client knows no channel binding, or believes that the server does not.
        let (header, bare) = split_header(text)?;
        let mut attributes = bare.split(',');
        let name = attributes.next().unwrap_or_default();
        if !name.starts_with("n=") {
            return Err(Refused::Malformed("no user name, or an extension that must be understood"));
        }
        let nonce = attributes.next().and_then(|attribute| attribute.strip_prefix("r="));
        let nonce = nonce.filter(|nonce| !nonce.is_empty()).ok_or(Refused::Malformed("no nonce"))?;
        let nonce = format!("{nonce}{own_nonce}");
        let server_first = format!("r={nonce},s={},i={}", self.salt, self.iterations);
        Ok(Exchange { header: BASE64.encode(header), bare: bare.to_owned(), nonce, server_first })
    }

    /// Checks the client's proof, and gives the server's.
    pub(super) fn conclude(&self, exchange: &Exchange, client_final: &[u8]) -> Result<String, Refused> {
        let text = std::str::from_utf8(client_final).map_err(|_| Refused::Malformed("not UTF-8"))?;
        let (without_proof, proof) = text.rsplit_once(",p=").ok_or(Refused::Malformed("no proof"))?;
        let mut attributes = without_proof.split(',');
        if attributes.next().and_then(|a| a.strip_prefix("c=")) != Some(exchange.header.as_str()) {
            return Err(Refused::Malformed("channel binding differs from the first message"));
        }
        if attributes.next().and_then(|a| a.strip_prefix("r=")) != Some(exchange.nonce.as_str()) {
            return Err(Refused::Malformed("the nonce is another one"));
        }
        let proof: Hash = BASE64
            .decode(proof)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(Refused::Malformed("the proof has no 32 bytes"))?;
        let signed = format!("{},{},{without_proof}", exchange.bare, exchange.server_first);
        let signature = mac(&self.stored_key, signed.as_bytes()).into_bytes();
        // ClientProof = ClientKey XOR ClientSignature, StoredKey = H(ClientKey)
        let client_key: Vec<u8> = proof.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        let found = CtOutput::<Hmac<Sha256>>::new(Sha256::digest(client_key));
        let known = CtOutput::<Hmac<Sha256>>::new(self.stored_key.into());
        // This type compares in constant time.
        if found != known {
            return Err(Refused::Denied);
        }
        let own = mac(&self.server_key, signed.as_bytes()).into_bytes();
        Ok(format!("v={}", BASE64.encode(own)))
    }
}

/// One login.
#[derive(Debug)]
pub(super) struct Exchange {
    header: String,
    bare: String,
    nonce: String,
    /// What the client is to be sent.
    pub(super) server_first: String,
}

fn split_header(text: &str) -> Result<(&str, &str), Refused> {
    let bad = Refused::Malformed("no channel binding flag");
    match text.split_once(',').map(|(flag, rest)| (flag, rest.split_once(','))) {
        Some(("n" | "y", Some((_, bare)))) => Ok((&text[..text.len() - bare.len()], bare)),
        Some((flag, _)) if flag.starts_with("p=") => {
            Err(Refused::Malformed("channel binding needs TLS, which the store does not speak"))
        }
        _ => Err(bad),
    }
}

fn mac(key: &Hash, content: &[u8]) -> CtOutput<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(content);
    mac.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};

    fn log_in(password: &str) -> Result<(), String> {
        let verifier = Verifier::new("corr3ct-h0rse");
        let mut client = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        let exchange = verifier.challenge(client.message(), "3rfcNHYJY1ZVvWVs7j").unwrap();
        client.update(exchange.server_first.as_bytes()).unwrap();
        let last =
            verifier.conclude(&exchange, client.message()).map_err(|refused| format!("{refused:?}"))?;
        client.finish(last.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_right_password_and_no_other() {
        assert_eq!(log_in("corr3ct-h0rse"), Ok(()));
        assert_eq!(log_in("corr3ct-h0rsf"), Err("Denied".to_owned()));
    }

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_published_example() {
        let mut salted = Hmac::<Sha256>::new_from_slice(b"pencil").unwrap();
        let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        salted.update(&salt);
        salted.update(&[0, 0, 0, 1]);
        let mut block: Hash = salted.finalize().into_bytes().into();
        let mut sum = block;
        for _ in 1..4096 {
            let mut next = Hmac::<Sha256>::new_from_slice(b"pencil").unwrap();
            next.update(&block);
            block = next.finalize().into_bytes().into();
            sum.iter_mut().zip(block).for_each(|(a, b)| *a ^= b);
        }
        let verifier = Verifier {
            salt: "W22ZaJ0SNY7soEsUEjb6gQ==".to_owned(),
            iterations: 4096,
            stored_key: Sha256::digest(mac(&sum, b"Client Key").into_bytes()).into(),
            server_key: mac(&sum, b"Server Key").into_bytes().into(),
        };
        let exchange = verifier
            .challenge(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
            .unwrap();
        assert_eq!(
            exchange.server_first,
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        );
        let last = verifier.conclude(
            &exchange,
            b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        );
        assert_eq!(last.as_deref(), Ok("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
    }

    #[test]
    fn what_is_no_scram_is_refused() {
        let verifier = Verifier::new("x");
        for first in
            [&b""[..], b"n", b"n,,", b"n,,r=abc", b"n,,n=,r=", b"n,,m=x,n=,r=a", b"p=tls,,n=,r=a", b"\xff,,"]
        {
            let refused = verifier.challenge(first, "nonce").unwrap_err();
            assert!(matches!(refused, Refused::Malformed(_)), "{}", first.escape_ascii());
        }
        let exchange = verifier.challenge(b"n,,n=,r=abc", "def").unwrap();
        for last in [
            &b""[..],
            b"c=biws,r=abcdef",
            b"c=biws,r=abc,p=AA==",
            b"c=eSws,r=abcdef,p=AA==",
            b"c=biws,r=abcdef,p=AA==",
        ] {
            let refused = verifier.conclude(&exchange, last).unwrap_err();
            assert!(matches!(refused, Refused::Malformed(_)), "{}", last.escape_ascii());
        }
        let zeros = format!("c=biws,r=abcdef,p={}", BASE64.encode([0; 32]));
        assert_eq!(verifier.conclude(&exchange, zeros.as_bytes()), Err(Refused::Denied));
    }
}
