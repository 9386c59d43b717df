//! From the first byte to the first ReadyForQuery.

use super::messages::{self, Body, Frame};
use super::scram::{self, Exchange, Refused};
use super::{End, Turn, replies, violation};
use crate::sql::{Session, SqlError, state};
use crate::{Arrival, Ending};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

const VERSION_3: u32 = 3;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

/// A client may ask for encryption so often; it is refused each time.
const ENCRYPTION_REQUESTS_MAX: u8 = 4;
/// Numbers above all that Linux gives to processes: who looks for the process behind a connection finds none.
const FIRST_BACKEND: u32 = 1 << 30;

/// A login that is under way.
#[derive(Debug)]
pub(super) enum Login {
    /// Nothing but refused encryption so far.
    Start { refused: u8 },
    /// The name of a mechanism is awaited.
    Mechanism(Session),
    /// The proof is awaited.
    Proof(Session, Exchange),
    /// Went on, or will never.
    Over,
}

impl Default for Login {
    fn default() -> Login {
        Login::Start { refused: 0 }
    }
}

impl Login {
    /// Bytes of memory, about.
    pub(super) fn holds(&self) -> usize {
        size_of::<Login>()
            + match self {
                Login::Mechanism(session) | Login::Proof(session, _) => session.holds(),
                Login::Start { .. } | Login::Over => 0,
            }
    }

    /// The first message has no tag.
    pub(super) fn frame<'a>(&self, input: &'a [u8], limit: usize) -> Frame<'a> {
        match self {
            Login::Start { .. } => messages::first_frame(input, limit),
            _ => messages::frame(input, limit),
        }
    }

    /// Deals with a message; gives the session once the client is in.
    pub(super) fn message(
        &mut self,
        tag: u8,
        body: &[u8],
        turn: &mut Turn<'_>,
    ) -> Result<Option<Session>, End> {
        match std::mem::replace(self, Login::Over) {
            Login::Start { refused } => self.start(refused, body, turn),
            _ if tag == b'X' => Err(End::Quiet),
            Login::Mechanism(session) if tag == b'p' => self.mechanism(session, body, turn),
            Login::Proof(session, exchange) if tag == b'p' => {
                conclude(session, &exchange, body, turn).map(Some)
            }
            _ => Err(violation("expected a password message")),
        }
    }

    fn start(&mut self, refused: u8, body: &[u8], turn: &mut Turn<'_>) -> Result<Option<Session>, End> {
        let mut body = Body(body);
        let code = body.u32().ok_or_else(|| violation("a start-up packet without a version"))?;
        match code {
            CANCEL => Err(End::Quiet), // nothing runs that could be ended
            TLS | GSS if refused < ENCRYPTION_REQUESTS_MAX => {
                turn.answers.at_once(Ending::Open, |out| out.push(b'N'));
                *self = Login::Start { refused: refused + 1 };
                Ok(None)
            }
            TLS | GSS => Err(violation("the store has said that it does not encrypt")),
            _ if code >> 16 == VERSION_3 => {
                let parameters = Parameters::read(body)?;
                if code & 0xffff != 0 || !parameters.protocol_options.is_empty() {
                    replies::negotiate_version(turn.outbox.bytes(), &parameters.protocol_options);
                }
                let session = parameters.session(turn)?;
                self.identify(session, turn)
            }
            _ => {
                let (major, minor) = (code >> 16, code & 0xffff);
                let message = format!("unsupported frontend protocol {major}.{minor}: the store speaks 3.0");
                Err(End::Fatal(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)))
            }
        }
    }

    fn identify(&mut self, session: Session, turn: &mut Turn<'_>) -> Result<Option<Session>, End> {
        if turn.library.verifier.is_none() {
            welcome(&session, turn);
            return Ok(Some(session));
        }
        let mechanisms = format!("{}\0\0", scram::MECHANISM);
        replies::authentication(turn.outbox.bytes(), 10, mechanisms.as_bytes());
        turn.outbox.flush(turn.answers);
        *self = Login::Mechanism(session);
        Ok(None)
    }

    fn mechanism(
        &mut self,
        session: Session,
        body: &[u8],
        turn: &mut Turn<'_>,
    ) -> Result<Option<Session>, End> {
        let mut body = Body(body);
        let malformed = || violation("malformed SASL response");
        let name = body.text().ok_or_else(malformed)?;
        if name != scram::MECHANISM.as_bytes() {
            let name = name.escape_ascii();
            return Err(violation(format!("no mechanism `{name}`: the store has {}", scram::MECHANISM)));
        }
        let first = body.value().flatten().filter(|_| body.is_empty()).ok_or_else(malformed)?;
        let nonce = nonce(turn);
        let Some(verifier) = &turn.library.verifier else { return Err(malformed()) };
        let exchange = verifier.challenge(first, &nonce).map_err(|why| denied(why, &session))?;
        replies::authentication(turn.outbox.bytes(), 11, exchange.server_first.as_bytes());
        turn.outbox.flush(turn.answers);
        *self = Login::Proof(session, exchange);
        Ok(None)
    }
}

fn conclude(session: Session, exchange: &Exchange, body: &[u8], turn: &mut Turn<'_>) -> Result<Session, End> {
    let Some(verifier) = &turn.library.verifier else { return Err(violation("no password is wanted")) };
    let last = verifier.conclude(exchange, body).map_err(|why| denied(why, &session))?;
    replies::authentication(turn.outbox.bytes(), 12, last.as_bytes());
    welcome(&session, turn);
    Ok(session)
}

fn denied(why: Refused, session: &Session) -> End {
    match why {
        Refused::Malformed(what) => violation(format!("malformed SCRAM message: {what}")),
        Refused::Denied => End::Fatal(SqlError::new(
            state::INVALID_PASSWORD,
            format!("password authentication failed for user \"{}\"", session.user),
        )),
    }
}

/// 18 bytes of the connection's stream, printable.
fn nonce(turn: &Turn<'_>) -> String {
    let mut stream = turn.library.seed.derive("postgres/nonce").at(u64::from(turn.arrival.connection));
    let bytes: Vec<u8> = (0..3).flat_map(|_| stream.next_u64().to_be_bytes()).take(18).collect();
    BASE64.encode(bytes)
}

fn secret(turn: &Turn<'_>) -> u32 {
    let mut stream = turn.library.seed.derive("postgres/cancel").at(u64::from(turn.arrival.connection));
    (stream.next_u64() >> 32) as u32 // the upper half
}

/// All that comes between the password and the first query.
fn welcome(session: &Session, turn: &mut Turn<'_>) {
    let secret = secret(turn);
    let out = turn.outbox.bytes();
    replies::authentication(out, 0, &[]);
    for (name, value) in session.settings.reported() {
        replies::parameter_status(out, name, value);
    }
    replies::backend_key(out, session.backend, secret);
    replies::ready(out, session.status());
    turn.outbox.flush(turn.answers);
}

/// What a client says of itself in its first message.
struct Parameters {
    user: String,
    database: Option<String>,
    settings: Vec<(String, String)>,
    protocol_options: Vec<String>,
}

impl Parameters {
    fn read(mut body: Body<'_>) -> Result<Parameters, End> {
        let malformed = || violation("malformed start-up packet");
        let mut text = || -> Result<String, End> {
            let bytes = body.text().ok_or_else(malformed)?;
            String::from_utf8(bytes.to_vec()).map_err(|_| violation("start-up packet: not UTF-8"))
        };
        let (mut user, mut database) = (None, None);
        let (mut settings, mut protocol_options) = (Vec::new(), Vec::new());
        loop {
            let name = text()?;
            if name.is_empty() {
                break;
            }
            let value = text()?;
            match name.as_str() {
                "user" => user = Some(value),
                "database" => database = Some(value).filter(|name| !name.is_empty()),
                "options" => settings.extend(options(&value)?),
                "replication" if matches!(value.as_str(), "" | "0" | "off" | "false" | "no") => {}
                "replication" => return Err(End::Fatal(SqlError::unsupported("replication connections"))),
                _ if name.starts_with("_pq_.") => protocol_options.push(name),
                _ => settings.push((name, value)),
            }
        }
        if !body.is_empty() {
            return Err(malformed());
        }
        let user = user.filter(|user| !user.is_empty()).ok_or_else(|| {
            let message = "no PostgreSQL user name specified in startup packet";
            End::Fatal(SqlError::new(state::INVALID_AUTHORIZATION, message))
        })?;
        Ok(Parameters { user, database, settings, protocol_options })
    }

    fn session(self, turn: &Turn<'_>) -> Result<Session, End> {
        let Arrival { connection, .. } = turn.arrival;
        let backend = FIRST_BACKEND | (connection & (FIRST_BACKEND - 1));
        let database = self.database.unwrap_or_else(|| self.user.clone());
        let mut session = Session::new(self.user, database, backend, turn.library.epoch_wall_ns);
        for (name, value) in self.settings {
            session.settings.set(&name, Some(&value), false).map_err(End::Fatal)?;
        }
        Ok(session)
    }
}

/// `-c name=value` and `--name=value`, with backslashes before blanks that belong to a value.
fn options(text: &str) -> Result<Vec<(String, String)>, End> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.extend(characters.next()),
            c if c.is_ascii_whitespace() => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("--") {
            Some(setting) => setting.to_owned(),
            None if word == "-c" => words.next().unwrap_or_default(),
            None => word.strip_prefix("-c").unwrap_or_default().to_owned(),
        };
        let Some((name, value)) = setting.split_once('=') else {
            let message = format!("options: `{word}` is neither `-c name=value` nor `--name=value`");
            return Err(End::Fatal(SqlError::new(state::SYNTAX, message)));
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_start_up_packet() {
        let found = options(r"-c geqo=off  --jit=on -cwork_mem=1MB -c application_name=a\ b\\c").unwrap();
        let expected = [("geqo", "off"), ("jit", "on"), ("work_mem", "1MB"), ("application_name", "a b\\c")];
        assert_eq!(found, expected.map(|(n, v)| (n.to_owned(), v.to_owned())));
        assert!(options("").unwrap().is_empty());
        assert!(options("-x").is_err() && options("-c").is_err());
    }
}
