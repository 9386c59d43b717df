//! PostgreSQL's protocol 3.0, the server's side.
//!
//! Each statement of a Query, and each Execute, is one request: it is admitted when its last byte has come, and its
//! messages are due when the engine says. ReadyForQuery goes with the last of them. Parse, Bind, Describe, Close and Sync
//! are no requests: their answers go with the next timed answer of the batch, or at once where there is none, so that
//! preparing a statement takes no simulated time. COPY is one request, made by the end of its data.
//!
//! Writes wait in their transaction until COMMIT, and are then written at the moment at which the COMMIT is served. Outside
//! of BEGIN and COMMIT, all of a Query, or all up to a Sync, is one transaction, as in PostgreSQL.

mod copying;
mod established;
mod extended;
mod messages;
mod named;
mod outbox;
mod replies;
mod scram;
mod simple;
mod startup;

use crate::sql::{Catalog, PlanCache, SqlError, state};
use crate::{Answers, Arrival, Ending, Engine, Protocol, Received};
use established::Established;
use messages::Frame;
use outbox::Outbox;
use replies::Severity;
use scram::Verifier;
use startup::Login as LoggingIn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Seed;

/// The body of a message may have so many bytes: a value as large as any, or a chunk of a COPY.
const MESSAGE_MAX: usize = 16 << 20;
/// The same before somebody has logged in; PostgreSQL has 10,000 for the first message, too.
const STARTUP_MAX: usize = 10_000;

/// How clients prove who they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Login {
    /// Everyone is believed.
    #[default]
    Trust,
    /// SCRAM-SHA-256 with this password, whatever the user's name.
    Password(String),
}

/// What all connections have in common from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How clients prove who they are.
    pub login: Login,
    /// Start of the streams behind nonces and cancel keys. They can be guessed by who knows it: this is no place for
    /// secrets.
    pub seed: Seed,
    /// Wall time of the store's epoch, in ns since 1970: what `now()` counts from.
    pub epoch_wall_ns: u64,
}

/// What all connections of a store share: tables, plans, the password's verifier. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service(Arc<Mutex<Library>>);

#[derive(Debug)]
struct Library {
    catalog: Catalog,
    plans: PlanCache,
    verifier: Option<Verifier>,
    seed: Seed,
    epoch_wall_ns: u64,
}

impl Service {
    /// An empty catalog. With a password it derives the keys, once for all logins: some milliseconds.
    pub fn new(options: Options) -> Service {
        let Options { login, seed, epoch_wall_ns } = options;
        let verifier = match login {
            Login::Trust => None,
            Login::Password(password) => Some(Verifier::new(&password)),
        };
        let (catalog, plans) = (Catalog::new(), PlanCache::default());
        Service(Arc::new(Mutex::new(Library { catalog, plans, verifier, seed, epoch_wall_ns })))
    }

    /// The state machine of a new connection.
    pub fn connection(&self) -> Postgres {
        Postgres { service: self.clone(), phase: Phase::Login(Box::default()), outbox: Outbox::default() }
    }

    /// One thread has all connections, so that nobody waits here. A connection whose thread panicked has left nothing
    /// half-done that others could see.
    fn library(&self) -> MutexGuard<'_, Library> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection.
#[derive(Debug)]
pub struct Postgres {
    service: Service,
    phase: Phase,
    outbox: Outbox,
}

#[derive(Debug)]
enum Phase {
    Login(Box<LoggingIn>),
    Established(Box<Established>),
    Closed,
}

/// What a message is dealt with, besides the connection's own state.
struct Turn<'a> {
    arrival: Arrival,
    library: &'a mut Library,
    engine: &'a mut Engine,
    outbox: &'a mut Outbox,
    answers: &'a mut Answers,
}

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// The client wants it so.
    Quiet,
    /// It is told why.
    Fatal(SqlError),
}

/// A message that is not what the protocol has.
fn violation(message: impl Into<String>) -> End {
    End::Fatal(SqlError::new(state::PROTOCOL_VIOLATION, message))
}

impl Protocol for Postgres {
    fn receive(
        &mut self,
        input: &[u8],
        arrival: Arrival,
        engine: &mut Engine,
        answers: &mut Answers,
    ) -> Received {
        let service = self.service.clone();
        let mut library = service.library();
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let frame = match self.phase {
                Phase::Login(ref login) => login.frame(rest, STARTUP_MAX),
                Phase::Established(_) => messages::frame(rest, MESSAGE_MAX),
                Phase::Closed => return Received::Broken,
            };
            let mut turn = Turn { arrival, library: &mut library, engine, outbox: &mut self.outbox, answers };
            let (done, size) = match frame {
                Frame::Unfinished => {
                    turn.outbox.hand_over(turn.answers);
                    return Received::Consumed(consumed);
                }
                Frame::BadLength { tag, length } => {
                    let tag = tag.escape_ascii();
                    (Err(violation(format!("a message of type `{tag}` can't be {length} bytes long"))), 0)
                }
                Frame::Whole { tag, body, size } => (self.phase.message(tag, body, &mut turn), size),
            };
            if let Err(end) = done {
                let over = matches!(end, End::Quiet);
                self.close(end, answers);
                return if over { Received::Over } else { Received::Broken };
            }
            consumed += size;
        }
    }

    fn holds(&self) -> usize {
        let state = match &self.phase {
            Phase::Login(login) => login.holds(),
            Phase::Established(established) => established.holds(),
            Phase::Closed => 0,
        };
        state + self.outbox.holds()
    }

    fn is_established(&self) -> bool {
        matches!(self.phase, Phase::Established(_))
    }

    fn message_limit(&self) -> usize {
        // The tag and the length come on top.
        5 + match self.phase {
            Phase::Login(_) => STARTUP_MAX,
            Phase::Established(_) | Phase::Closed => MESSAGE_MAX,
        }
    }
}

impl Postgres {
    fn close(&mut self, end: End, answers: &mut Answers) {
        self.phase = Phase::Closed;
        self.outbox.flush(answers);
        answers.at_once(Ending::Close, |out| {
            if let End::Fatal(error) = end {
                replies::error(out, Severity::Fatal, &error);
            }
        });
    }
}

impl Phase {
    fn message(&mut self, tag: u8, body: &[u8], turn: &mut Turn<'_>) -> Result<(), End> {
        match self {
            Phase::Login(login) => {
                if let Some(session) = login.message(tag, body, turn)? {
                    *self = Phase::Established(Box::new(Established::new(session)));
                }
                Ok(())
            }
            Phase::Established(established) => established.message(tag, body, turn),
            Phase::Closed => Err(End::Quiet),
        }
    }
}
