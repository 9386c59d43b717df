//! One exchange inside of a request: statements that were sent together, and when their last answer was there.

use crate::ring::{Consumer, Producer, ring_of};
use units::{Instant, Nanos, Outcome, Ticks};

/// What an exchange did besides its statement: bits of [`Statement::with`].
pub mod with {
    /// It began the transaction.
    pub const BEGIN: u8 = 1;
    /// It committed.
    pub const COMMIT: u8 = 2;
    /// It rolled back.
    pub const ROLLBACK: u8 = 4;
}

/// Names of what is no prepared statement: [`Statement::label`] counts them down from `u16::MAX`.
const UNPREPARED: [&str; 7] = ["", "ping", "read", "update", "insert", "delete", "scan"];

/// The label of an exchange that began or ended a transaction and did nothing else.
pub const NO_STATEMENT: u16 = u16::MAX;
/// The label of a ping.
pub const PING: u16 = u16::MAX - 1;
/// The label of a key-value read.
pub const KEY_READ: u16 = u16::MAX - 2;
/// The label of a key-value update.
pub const KEY_UPDATE: u16 = u16::MAX - 3;
/// The label of a key-value insert.
pub const KEY_INSERT: u16 = u16::MAX - 4;
/// The label of a key-value delete.
pub const KEY_DELETE: u16 = u16::MAX - 5;
/// The label of a key-value scan.
pub const KEY_SCAN: u16 = u16::MAX - 6;

/// What an exchange is called: `BEGIN, SELECT customer`, where `names` are those of the header's statements.
pub fn statement_name(names: &[String], label: u16, with: u8) -> String {
    let index = usize::from(label);
    let own = match names.get(index) {
        Some(name) => name.clone(),
        None => match UNPREPARED.get(usize::from(u16::MAX - label)) {
            Some(name) => (*name).to_owned(),
            None => format!("statement {index}"),
        },
    };
    let named = |bit: u8, word: &'static str| (with & bit != 0).then_some(word);
    let before = named(with::BEGIN, "BEGIN");
    let after = [named(with::COMMIT, "COMMIT"), named(with::ROLLBACK, "ROLLBACK")];
    let own = (!own.is_empty()).then_some(own.as_str());
    let words: Vec<&str> = before.into_iter().chain(own).chain(after.into_iter().flatten()).collect();
    words.join(", ")
}

/// One exchange as the hot path stores it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RawStatement {
    /// Just before its first byte was handed over.
    pub sent: Ticks,
    /// When the harness saw its last answer, or gave up.
    pub completed: Ticks,
    /// The kernel's receive stamp, CLOCK_REALTIME in ns since 1970; `u64::MAX` where there is none.
    pub arrived_realtime_ns: u64,
    /// Number of the request in the run.
    pub seq: u64,
    /// The first statement of it: its index among the prepared ones, or one of the labels of this module.
    pub label: u16,
    /// Commands that were sent together.
    pub commands: u16,
    /// Its place among the request's exchanges, all attempts counted, from 0.
    pub position: u16,
    /// Index into the header's operations.
    pub op: u8,
    /// Which attempt, from 0.
    pub attempt: u8,
    /// See [`with`].
    pub with: u8,
    /// `units::Outcome::code`.
    pub outcome: u8,
    /// Index into the header's phases: that of its request.
    pub phase: u8,
    /// Always zero; makes the layout explicit.
    pub reserved: [u8; 5],
}

const _: () = assert!(size_of::<RawStatement>() == 48);

const EMPTY: RawStatement = RawStatement {
    sent: Ticks(0),
    completed: Ticks(0),
    arrived_realtime_ns: 0,
    seq: 0,
    label: 0,
    commands: 0,
    position: 0,
    op: 0,
    attempt: 0,
    with: 0,
    outcome: 0,
    phase: 0,
    reserved: [0; 5],
};

/// A ring of at least `capacity` exchanges (rounded up to a power of two); 48 bytes each, all of them touched here.
pub fn statement_ring(capacity: usize) -> (Producer<RawStatement>, Consumer<RawStatement>) {
    ring_of(capacity, EMPTY)
}

/// One exchange of a request in instants; what the disk and every analysis see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Just before its first byte was handed over.
    pub sent: Instant,
    /// The kernel's receive stamp; NONE where there is no socket.
    pub arrived: Instant,
    /// When the harness saw its last answer, or gave up.
    pub completed: Instant,
    /// Number of the request in the run.
    pub seq: u64,
    /// Which load machine.
    pub client: u16,
    /// The first statement of it: its index among the header's, or one of [`PING`], [`KEY_READ`] and the like.
    pub label: u16,
    /// Commands that were sent together.
    pub commands: u16,
    /// Its place among the request's exchanges, all attempts counted, from 0.
    pub position: u16,
    /// Index into the header's operations.
    pub op: u8,
    /// Which attempt, from 0.
    pub attempt: u8,
    /// See [`with`].
    pub with: u8,
    /// Index into the header's phases: that of its request.
    pub phase: u8,
    /// How it ended; `ok` unless it failed.
    pub outcome: Outcome,
}

impl Statement {
    /// completed − sent.
    pub fn service(&self) -> Option<Nanos> {
        self.completed.since(self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_called_by_what_it_did() {
        let names = ["SELECT stock".to_owned(), "UPDATE stock".to_owned()];
        for (label, bits, name) in [
            (0, 0, "SELECT stock"),
            (0, with::BEGIN, "BEGIN, SELECT stock"),
            (1, with::COMMIT, "UPDATE stock, COMMIT"),
            (1, with::BEGIN | with::COMMIT, "BEGIN, UPDATE stock, COMMIT"),
            (NO_STATEMENT, with::COMMIT, "COMMIT"),
            (NO_STATEMENT, with::ROLLBACK, "ROLLBACK"),
            (PING, 0, "ping"),
            (KEY_SCAN, 0, "scan"),
            (7, 0, "statement 7"),
        ] {
            assert_eq!(statement_name(&names, label, bits), name);
        }
    }
}
