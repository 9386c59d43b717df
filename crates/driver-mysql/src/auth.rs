//! What is sent in place of a password.

use crate::codec::Inside;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

/// The random bytes of the server that a login is tied to.
pub(crate) const NONCE: usize = 20;

/// A way to log in that this driver knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    /// Both servers', by SHA-1.
    Native,
    /// MySQL's, by SHA-256, with a cache at the server: where that does not know the user, the password itself is needed.
    CachingSha2,
    /// MySQL's older one: always the password itself.
    Sha256,
    /// The password itself, for servers that ask elsewhere (PAM, LDAP).
    Clear,
}

const METHODS: [(&str, Method); 4] = [
    ("mysql_native_password", Method::Native),
    ("caching_sha2_password", Method::CachingSha2),
    ("sha256_password", Method::Sha256),
    ("mysql_clear_password", Method::Clear),
];

impl Method {
    /// The method of this name.
    ///
    /// # Errors
    /// What to do about one that is not known.
    pub(crate) fn from_name(name: &str) -> Result<Method, String> {
        METHODS.into_iter().find(|(known, _)| *known == name).map(|(_, method)| method).ok_or_else(|| {
            let known = METHODS.map(|(name, _)| name).join(", ");
            let advice = match name {
                "client_ed25519" => "; let the server know this user by mysql_native_password instead: ALTER USER … IDENTIFIED VIA mysql_native_password USING PASSWORD('…')",
                _ => "",
            };
            format!("the server asks for authentication by `{name}`; known are {known}{advice}")
        })
    }

    pub(crate) fn name(self) -> &'static str {
        METHODS.into_iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 20];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password))); nothing for no password.
pub(crate) fn native(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = sha1(&[password.as_bytes()]);
    let mask = sha1(&[nonce, &sha1(&[&once])]);
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce); nothing for no password.
pub(crate) fn caching_sha2(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = sha256(&[password.as_bytes()]);
    let mask = sha256(&[&sha256(&[&once]), nonce]);
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// The wish for another method: its name and a new nonce.
pub(crate) fn switch(body: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut inside = Inside(body.get(1..)?);
    let name = String::from_utf8_lossy(inside.text()?).into_owned();
    Some((name, inside.0.get(..NONCE.min(inside.0.len()))?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn passwords_are_hidden_as_the_servers_expect() {
        // As go-sql-driver/mysql has them in its tests.
        let nonce = [10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21];
        assert_eq!(
            hex(&caching_sha2("secret", &nonce)),
            "f490e76f66d9d86665ce54d98c78d0acfe2fb0b08b423da807144873d30b312c"
        );
        assert_eq!(
            hex(&caching_sha2("secret2", &nonce)),
            "abc3934a012cf342e876071c8ee202de51785b430258a7a0138bc79c4d800bc6"
        );
        assert_eq!(native("", &nonce), [0; 0]);
        assert_eq!(caching_sha2("", &nonce), [0; 0]);
        // The server keeps SHA1(SHA1(password)) and checks that what it gets, unmasked, hashes to it.
        let kept = sha1(&[&sha1(&[b"secret"])]);
        let sent = native("secret", &nonce);
        let mask = sha1(&[&nonce, &kept]);
        let once: Vec<u8> = sent.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        assert_eq!(sha1(&[&once]), kept);
    }

    #[test]
    fn unknown_methods_are_refused_by_name() {
        assert_eq!(Method::from_name("caching_sha2_password"), Ok(Method::CachingSha2));
        let refusal = Method::from_name("client_ed25519").unwrap_err();
        assert!(
            refusal.contains("`client_ed25519`") && refusal.contains("mysql_native_password"),
            "{refusal}"
        );
        assert!(Method::from_name("dialog").unwrap_err().contains("`dialog`; known are"));
    }

    #[test]
    fn a_switch_is_read() {
        let body = [b"\xFEmysql_native_password\0", &[7; 20][..], b"\0"].concat();
        assert_eq!(switch(&body), Some(("mysql_native_password".to_owned(), vec![7; 20])));
        assert_eq!(switch(b"\xFEname\0"), Some(("name".to_owned(), vec![])));
        assert_eq!(switch(b"\xFEname"), None);
    }
}
