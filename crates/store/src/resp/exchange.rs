//! From words to answers: which command it is, whether it may run, when it runs, and what is answered.

use super::call::{Call, Store};
use super::connection::Connection;
use super::parse::{Parser, Step, Trust};
use super::refusal::{NO_AUTHENTICATION, NOT_IN_TRANSACTION, Refusal};
use super::reply::Reply;
use super::table::{self, Command, InTransaction};
use super::{ANSWER_MAX, ANSWER_TIGHT, ANSWERS_MAX, Instance};
use crate::{Access, Answers, Arrival, Decision, Ending, Engine, Injection, Operation, Received, View};
use std::sync::Arc;

/// A connection and what has been read of it.
#[derive(Debug)]
pub(super) struct Exchange {
    parser: Parser,
    connection: Connection,
    instance: Arc<Instance>,
    /// A whole request has come.
    asked: bool,
}

impl Exchange {
    pub(super) fn new(instance: &Arc<Instance>) -> Exchange {
        Exchange {
            parser: Parser::default(),
            connection: Connection::new(instance),
            instance: instance.clone(),
            asked: false,
        }
    }

    /// See [`crate::Protocol::holds`].
    pub(super) fn holds(&self) -> usize {
        self.parser.holds() + self.connection.holds()
    }

    /// See [`crate::Protocol::is_established`].
    pub(super) fn is_established(&self) -> bool {
        self.asked
    }

    pub(super) fn receive(
        &mut self,
        input: &[u8],
        arrival: Arrival,
        engine: &mut Engine,
        answers: &mut Answers,
    ) -> Received {
        let mut used = 0;
        let mut turn = Turn { arrival, engine, answers, instance: &self.instance, bytes: Vec::new() };
        while !self.connection.closing {
            let rest = &input[used..];
            match self.parser.step(rest, self.connection.trust) {
                Step::Request(length) => {
                    self.asked = true;
                    turn.serve(&self.parser.words(rest), &mut self.connection);
                    used += length;
                }
                Step::Nothing(length) => used += length,
                Step::Unfinished => return Received::Consumed(used),
                Step::Malformed(wrong) => {
                    self.connection.closing = true;
                    turn.protest(&wrong);
                    return Received::Broken;
                }
            }
            self.parser.next();
        }
        Received::Consumed(input.len())
    }
}

/// What one call of `receive` works with.
struct Turn<'a> {
    arrival: Arrival,
    engine: &'a mut Engine,
    answers: &'a mut Answers,
    instance: &'a Instance,
    /// The answer in the making; kept for its memory.
    bytes: Vec<u8>,
}

/// What becomes of a request.
enum Plan {
    Run(&'static Command),
    Queue,
    Refuse(Refusal),
    /// The same, and the transaction goes.
    Abort(Refusal),
}

impl Turn<'_> {
    fn serve(&mut self, words: &[&[u8]], connection: &mut Connection) {
        self.instance.count_command();
        self.bytes.clear();
        match plan(words, connection) {
            Plan::Run(command) => match command.operation(words) {
                Some(operation) => self.run_when_due(command, operation, words, connection),
                None => self.run_at_once(command, words, connection),
            },
            Plan::Queue => self.queue(words, connection),
            Plan::Refuse(refusal) => self.refuse(&refusal, connection),
            Plan::Abort(refusal) => {
                connection.abort();
                self.refuse(&refusal, connection);
            }
        }
    }

    fn run_at_once(&mut self, command: &Command, words: &[&[u8]], connection: &mut Connection) {
        // Such commands look at no record.
        let view = View { at: self.arrival.at, node: self.arrival.node, number: 0 };
        let mut call = self.call(view, connection);
        call.run(command, words);
        call.reply.finish();
        let ending = if connection.closing { Ending::Close } else { Ending::Open };
        self.answers.at_once(ending, |out| out.extend_from_slice(&self.bytes));
    }

    fn run_when_due(
        &mut self,
        command: &Command,
        operation: Operation,
        words: &[&[u8]],
        connection: &mut Connection,
    ) {
        let key = command.key(words);
        let decision = self.engine.admit(self.arrival, operation, key);
        let mut staleness = None;
        if is_executed(&decision) {
            let mut call = self.call(Engine::view(&decision), connection);
            call.run(command, words);
            let (seen, has_written) = (call.store.seen(), call.store.has_written());
            call.reply.finish();
            staleness = match operation.access() {
                Access::Write => has_written.then(|| self.engine.spread(&decision, decision.begun)),
                Access::Read | Access::None => seen,
            };
        } else if command.in_transaction() == InTransaction::Executes {
            // What was to be committed is lost, as with a real failure.
            connection.abort();
        }
        self.answer(decision, staleness, connection);
    }

    /// A request inside of a transaction.
    fn queue(&mut self, words: &[&[u8]], connection: &mut Connection) {
        let decision = self.engine.admit(self.arrival, Operation::Transaction, b"");
        let pushed = match &mut connection.queue {
            Some(queue) if is_executed(&decision) => queue.push(words),
            _ => Err(Refusal::new("")),
        };
        if pushed.is_err()
            && let Some(queue) = &mut connection.queue
        {
            queue.spoil();
        }
        let mut reply = Reply::new(&mut self.bytes, connection.version, ANSWER_TIGHT);
        match pushed {
            Ok(()) => reply.simple("QUEUED"),
            Err(refusal) => reply.error(&refusal),
        }
        self.answer(decision, None, connection);
    }

    /// A wrong request takes its time like any other, but from strangers.
    fn refuse(&mut self, refusal: &Refusal, connection: &mut Connection) {
        if let Some(queue) = &mut connection.queue {
            queue.spoil();
        }
        let mut reply = Reply::new(&mut self.bytes, connection.version, ANSWER_MAX);
        reply.error(refusal);
        if connection.trust == Trust::Stranger {
            self.answers.at_once(Ending::Open, |out| out.extend_from_slice(&self.bytes));
            return;
        }
        let decision = self.engine.admit(self.arrival, Operation::Other, b"");
        self.answer(decision, None, connection);
    }

    /// Hands over what was made, or the error that was injected in its place.
    fn answer(&mut self, decision: Decision, staleness: Option<crate::Staleness>, connection: &Connection) {
        match decision.injection {
            Some(Injection::Error(class)) => {
                self.bytes.clear();
                Reply::new(&mut self.bytes, connection.version, ANSWER_MAX).error(&Refusal::injected(class));
            }
            Some(Injection::DropBefore) => self.bytes.clear(),
            _ => {}
        }
        self.answers.when_due(decision, staleness, |out| out.extend_from_slice(&self.bytes));
    }

    /// The bytes are no request: they are answered with the reason, and nothing follows.
    fn protest(&mut self, wrong: &str) {
        self.answers.at_once(Ending::Close, |out| {
            out.extend_from_slice(format!("-ERR Protocol error: {wrong}\r\n").as_bytes());
        });
    }

    fn call<'a>(&'a mut self, view: View, connection: &'a mut Connection) -> Call<'a> {
        let room = ANSWERS_MAX.saturating_sub(self.answers.bytes().len());
        let limit = room.clamp(ANSWER_TIGHT, ANSWER_MAX);
        let reply = Reply::new(&mut self.bytes, connection.version, limit);
        let store = Store::new(self.engine, self.instance, view);
        Call { connection, store, reply }
    }
}

fn is_executed(decision: &Decision) -> bool {
    decision.injection.is_none_or(Injection::executes)
}

/// In the order in which Redis looks: is there such a command, are the words enough, who asks, inside of what.
fn plan(words: &[&[u8]], connection: &Connection) -> Plan {
    let Some(command) = words.first().and_then(|name| table::find(name)) else {
        return Plan::Refuse(Refusal::unknown_command(words));
    };
    let refused = if !command.takes(words.len()) {
        Some(Refusal::arity(command.name))
    } else if connection.trust == Trust::Stranger && !command.is_for_strangers() {
        Some(NO_AUTHENTICATION)
    } else {
        None
    };
    if let Some(refusal) = refused {
        return match command.in_transaction() {
            InTransaction::Executes => Plan::Abort(refusal.abortion()),
            _ => Plan::Refuse(refusal),
        };
    }
    match (&connection.queue, command.in_transaction()) {
        (None, _) | (Some(_), InTransaction::Runs | InTransaction::Executes) => Plan::Run(command),
        (Some(_), InTransaction::Queued) => Plan::Queue,
        (Some(_), InTransaction::Refused) => Plan::Refuse(NOT_IN_TRANSACTION),
    }
}
