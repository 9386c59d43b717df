//! Logging in: trust, clear text, MD5, SCRAM-SHA-256 with and without channel binding.

use crate::cancel::CancelKey;
use crate::channel_binding;
use crate::client::{Client, Failure};
use crate::codec::{self, Garbage, Inside};
use crate::config::{Config, Host, Secret};
use crate::server_error::ServerError;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};

/// What the server asks for, copied out of its message.
enum Demand {
    /// Nothing more: logged in.
    Nothing,
    Cleartext,
    Md5([u8; 4]),
    Scram(Vec<String>),
    ScramContinue(Vec<u8>),
    ScramFinal(Vec<u8>),
}

/// Opens the session, answers what the server asks, and waits until it is ready.
pub(crate) fn log_in(client: &mut Client, config: &Config) -> Result<(), Failure> {
    let mut parameters = vec![
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("application_name", config.application_name.as_str()),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO"),
    ];
    if let Some(options) = &config.options {
        parameters.push(("options", options));
    }
    codec::start_up(&mut client.out, &parameters);
    client.send()?;
    loop {
        match next_demand(client)? {
            Demand::Nothing => break,
            Demand::Cleartext => send_cleartext(client, config)?,
            Demand::Md5(salt) => {
                let hash = md5_hash(config.user.as_bytes(), password(config)?.0.as_bytes(), salt);
                send_password(client, &hash)?;
            }
            Demand::Scram(mechanisms) => {
                scram(client, password(config)?, &mechanisms)?;
            }
            Demand::ScramContinue(_) | Demand::ScramFinal(_) => return Err(Garbage::Unexpected(b'R').into()),
        }
    }
    let mut key = None;
    client.until_ready(|tag, body| match (tag, body.first_chunk()) {
        (b'K', Some(first)) => {
            key = Some(CancelKey(*first));
            Ok(())
        }
        _ => Err(Garbage::Unexpected(tag).into()),
    })?;
    client.key = key;
    Ok(())
}

fn next_demand(client: &mut Client) -> Result<Demand, Failure> {
    client.next(|tag, body| match tag {
        b'R' => demand(body),
        b'E' => Err(Failure::refused(ServerError::parse(body))),
        b'v' => Err(Failure::Unfit("the server speaks an older protocol than 3.0".to_owned())),
        _ => Err(Garbage::Unexpected(tag).into()),
    })
}

fn demand(body: &[u8]) -> Result<Demand, Failure> {
    let mut inside = Inside(body);
    let malformed = || Failure::Garbage(Garbage::Malformed(b'R'));
    Ok(match inside.u32().ok_or_else(malformed)? {
        0 => Demand::Nothing,
        3 => Demand::Cleartext,
        5 => Demand::Md5(*inside.0.first_chunk().ok_or_else(malformed)?),
        10 => {
            let mut mechanisms = Vec::new();
            while let Some(name) = inside.text().filter(|name| !name.is_empty()) {
                mechanisms.push(String::from_utf8_lossy(name).into_owned());
            }
            Demand::Scram(mechanisms)
        }
        11 => Demand::ScramContinue(inside.0.to_vec()),
        12 => Demand::ScramFinal(inside.0.to_vec()),
        kind => {
            let known = "trust, password, md5 and scram-sha-256 are known";
            return Err(Failure::Unfit(format!(
                "the server asks for authentication of kind {kind} (GSSAPI, SSPI, …); {known}"
            )));
        }
    })
}

fn password(config: &Config) -> Result<&Secret, Failure> {
    config.password.as_ref().ok_or_else(|| {
        let ignored = config.password_file_ignored.as_ref().map_or_else(String::new, |path| {
            format!(" ({} is ignored: others may read it; chmod 600)", path.display())
        });
        Failure::Unfit(format!(
            "the server asks for a password of `{}` and none is given; set PGPASSWORD or ~/.pgpass{ignored}",
            config.user
        ))
    })
}

fn send_password(client: &mut Client, text: &str) -> Result<(), Failure> {
    codec::message(&mut client.out, b'p', |out| codec::push_text(out, text));
    client.send()
}

fn send_cleartext(client: &mut Client, config: &Config) -> Result<(), Failure> {
    let private = client.link.tls().is_some() || matches!(config.host, Host::Unix(_));
    if !private {
        return Err(Failure::Unfit(
            "the server asks for the password in clear text on a connection that others can read; use \
             sslmode=require, or scram-sha-256 at the server"
                .to_owned(),
        ));
    }
    send_password(client, &password(config)?.0.clone())
}

fn scram(client: &mut Client, password: &Secret, mechanisms: &[String]) -> Result<(), Failure> {
    let offers = |name: &str| mechanisms.iter().any(|offered| offered == name);
    let end_point = client.link.tls().and_then(channel_binding::server_end_point);
    let (mechanism, binding) = match end_point {
        Some(hash) if offers(SCRAM_SHA_256_PLUS) => {
            (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash))
        }
        // "The server could have bound the channel and did not offer it": a downgrade shows.
        Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
        None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
    };
    if !offers(mechanism) {
        return Err(Failure::Unfit(format!("the server offers {}, not {mechanism}", mechanisms.join(", "))));
    }
    let mut exchange = ScramSha256::new(password.0.as_bytes(), binding);
    let first = exchange.message().to_vec();
    codec::message(&mut client.out, b'p', |out| {
        codec::push_text(out, mechanism);
        out.extend_from_slice(&(first.len() as u32).to_be_bytes()); // some 50 bytes
        out.extend_from_slice(&first);
    });
    client.send()?;
    let Demand::ScramContinue(challenge) = next_demand(client)? else {
        return Err(Garbage::Unexpected(b'R').into());
    };
    let scram_failed = |error: std::io::Error| Failure::Unfit(format!("SCRAM: {error}"));
    exchange.update(&challenge).map_err(scram_failed)?;
    codec::message(&mut client.out, b'p', |out| out.extend_from_slice(exchange.message()));
    client.send()?;
    // Nothing but the server's proof may follow: without it anybody could pose as the server.
    let Demand::ScramFinal(proof) = next_demand(client)? else {
        return Err(Garbage::Unexpected(b'R').into());
    };
    exchange.finish(&proof).map_err(scram_failed)
}
