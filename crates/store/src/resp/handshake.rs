//! AUTH, HELLO, SELECT, RESET, QUIT.

use super::call::{Call, Outcome, is, number};
use super::connection::Connection;
use super::instance::VERSION;
use super::parse::{Trust, integer};
use super::refusal::{Refusal, SYNTAX, WRONG_PASSWORD};
use super::reply::Version;

const NO_PASSWORD_SET: Refusal = Refusal::new(
    "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
);
const HELLO_FIRST: Refusal = Refusal::new(
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time",
);

pub(super) fn auth(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let open = call.connection.instance.settings().password.is_none();
    match words[1..] {
        [_] if open => return Err(NO_PASSWORD_SET),
        [password] => prove(call.connection, b"default", password)?,
        [user, password] => prove(call.connection, user, password)?,
        _ => return Err(SYNTAX),
    }
    call.reply.simple("OK");
    Ok(())
}

/// There is one user, `default`; without a password set, any will do.
fn prove(connection: &mut Connection, user: &[u8], password: &[u8]) -> Outcome {
    let expected = connection.instance.settings().password.as_deref();
    let right = expected.is_none_or(|expected| expected.as_bytes() == password);
    if user != b"default" || !right {
        return Err(WRONG_PASSWORD);
    }
    connection.trust = Trust::Known;
    Ok(())
}

pub(super) fn hello(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let version = words.get(1).map(|word| version(word)).transpose()?;
    let mut options = words.get(2..).unwrap_or_default();
    while let [option, rest @ ..] = options {
        options = match rest {
            [user, password, rest @ ..] if is(option, "auth") => {
                prove(call.connection, user, password)?;
                rest
            }
            [name, rest @ ..] if is(option, "setname") => {
                rename(call.connection, name)?;
                rest
            }
            _ => {
                let option = String::from_utf8_lossy(option);
                return Err(Refusal::quoting(format!("ERR Syntax error in HELLO option '{option}'")));
            }
        };
    }
    if call.connection.trust == Trust::Stranger {
        return Err(HELLO_FIRST);
    }
    if let Some(version) = version {
        call.connection.version = version;
        call.reply.switch(version);
    }
    introduce(call);
    Ok(())
}

fn version(word: &[u8]) -> Result<Version, Refusal> {
    match integer(word) {
        Some(2) => Ok(Version::Two),
        Some(3) => Ok(Version::Three),
        Some(_) => Err(Refusal::new("NOPROTO unsupported protocol version")),
        None => Err(Refusal::new("ERR Protocol version is not an integer or out of range")),
    }
}

fn introduce(call: &mut Call<'_>) {
    let reply = &mut call.reply;
    reply.map(7);
    for (name, value) in [("server", "redis"), ("version", VERSION)] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(if reply.version() == Version::Three { 3 } else { 2 });
    reply.bulk(b"id");
    reply.integer(i64::try_from(call.connection.id).unwrap_or(i64::MAX));
    for (name, value) in [("mode", "standalone"), ("role", "master")] {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"modules");
    reply.array(0);
}

/// Gives the connection a name.
pub(super) fn rename(connection: &mut Connection, name: &[u8]) -> Outcome {
    if name.iter().any(|byte| !(b'!'..=b'~').contains(byte)) {
        return Err(Refusal::new("ERR Client names cannot contain spaces, newlines or special characters."));
    }
    connection.name = name.to_vec();
    Ok(())
}

pub(super) fn select(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    if number(words[1])? != 0 {
        return Err(Refusal::new("ERR DB index is out of range"));
    }
    call.reply.simple("OK");
    Ok(())
}

pub(super) fn reset(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    call.connection.reset();
    call.reply.switch(Version::Two);
    call.reply.simple("RESET");
    Ok(())
}

pub(super) fn quit(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    call.connection.closing = true;
    call.reply.simple("OK");
    Ok(())
}
