//! What happens inside of a request: which commands each exchange carries, and when.

use driver::{Command, KernelStamp, KeyValue};
use record::{
    KEY_DELETE, KEY_INSERT, KEY_READ, KEY_SCAN, KEY_UPDATE, NO_STATEMENT, PING, RawStatement, with,
};
use units::{Outcome, Ticks};

/// The exchange of a request that is being staged or is in flight. Looked at only where statements are timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inside {
    seq: u64,
    /// When it was sent.
    sent: Ticks,
    /// Of the first command that neither begins nor ends a transaction.
    label: u16,
    commands: u16,
    /// Exchanges of the request before it.
    position: u16,
    op: u8,
    attempt: u8,
    with: u8,
    /// The request's phase; `None` where the moment in which it is sent decides.
    phase: Option<u8>,
}

impl Inside {
    pub(crate) fn new(seq: u64, op: u8, phase: Option<u8>) -> Inside {
        Inside {
            seq,
            sent: Ticks::NONE,
            label: NO_STATEMENT,
            commands: 0,
            position: 0,
            op,
            attempt: 0,
            with: 0,
            phase,
        }
    }

    /// A command was staged behind the others.
    #[inline]
    pub(crate) fn note(&mut self, command: &Command<'_>) {
        self.commands = self.commands.saturating_add(1);
        let label = match command {
            Command::Begin => return self.with |= with::BEGIN,
            Command::Commit => return self.with |= with::COMMIT,
            Command::Rollback => return self.with |= with::ROLLBACK,
            Command::Ping => PING,
            Command::Statement { index, .. } => u16::try_from(*index).unwrap_or(NO_STATEMENT),
            Command::KeyValue(KeyValue::Read { .. }) => KEY_READ,
            Command::KeyValue(KeyValue::Update { .. }) => KEY_UPDATE,
            Command::KeyValue(KeyValue::Insert { .. }) => KEY_INSERT,
            Command::KeyValue(KeyValue::Delete { .. }) => KEY_DELETE,
            Command::KeyValue(KeyValue::Scan { .. }) => KEY_SCAN,
        };
        if self.label == NO_STATEMENT {
            self.label = label;
        }
    }

    /// What is staged leaves now.
    #[inline]
    pub(crate) fn leaves(&mut self, sent: Ticks) {
        self.sent = sent;
    }

    /// It was answered, or given up: its row, unless nothing was staged. What comes next is another exchange.
    #[inline]
    pub(crate) fn over(
        &mut self,
        completed: Ticks,
        stamp: Option<KernelStamp>,
        outcome: Outcome,
        phase_now: impl FnOnce() -> u8,
    ) -> Option<RawStatement> {
        let row = RawStatement {
            sent: self.sent,
            completed,
            arrived_realtime_ns: stamp.map_or(u64::MAX, |stamp| stamp.realtime_ns),
            seq: self.seq,
            label: self.label,
            commands: self.commands,
            position: self.position,
            op: self.op,
            attempt: self.attempt,
            with: self.with,
            outcome: outcome.code(),
            phase: self.phase.unwrap_or_else(phase_now),
            reserved: [0; 5],
        };
        let is_any = self.commands > 0;
        self.position = self.position.saturating_add(u16::from(is_any));
        self.forget();
        is_any.then_some(row)
    }

    /// The request is tried once more, from its first command.
    pub(crate) fn again(&mut self) {
        self.attempt = self.attempt.saturating_add(1);
        self.forget();
    }

    /// Nothing is staged any more.
    pub(crate) fn forget(&mut self) {
        (self.label, self.commands, self.with) = (NO_STATEMENT, 0, 0);
    }
}
