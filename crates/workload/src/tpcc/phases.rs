//! A transaction as a row of phases: commands that do not need each other's answers.
//!
//! A phase is one exchange where round trips are batched, and as many as it has commands where they are single. The
//! transactions are written once for both.

use super::config::Roundtrips;
use driver::{Command, Conversation, Decimal, OpError, Value};
use units::Outcome;

/// Commands that can go out together.
pub(crate) trait Phase {
    /// How many.
    fn count(&self) -> usize;

    /// Stages the n-th, from 0.
    fn stage<C: Conversation>(&self, n: usize, conversation: &mut C) -> Result<(), OpError>;

    /// Takes what the n-th gave, the command at `at` of the exchange. False where a row is missing that must be there.
    fn take<C: Conversation>(&mut self, n: usize, conversation: &C, at: usize) -> bool;
}

/// Carries a phase out. False where a row was missing; what comes after it was not sent where round trips are single.
pub(crate) async fn carry_out<P: Phase, C: Conversation>(
    roundtrips: Roundtrips,
    phase: &mut P,
    conversation: &mut C,
) -> Result<bool, OpError> {
    let mut is_complete = true;
    match roundtrips {
        Roundtrips::Batched => {
            for n in 0..phase.count() {
                phase.stage(n, conversation)?;
            }
            conversation.exchange().await?;
            for n in 0..phase.count() {
                is_complete &= phase.take(n, conversation, n);
            }
        }
        Roundtrips::Single => {
            for n in 0..phase.count() {
                phase.stage(n, conversation)?;
                conversation.exchange().await?;
                if !phase.take(n, conversation, 0) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(is_complete)
}

/// Ends a transaction that found a row missing.
pub(crate) async fn give_up<C: Conversation>(conversation: &mut C) -> Result<Outcome, OpError> {
    conversation.stage(Command::Rollback)?;
    conversation.exchange().await?;
    Ok(Outcome::Miss)
}

/// Stages a statement.
pub(crate) fn ask<C: Conversation>(
    conversation: &mut C,
    index: usize,
    arguments: &[Value<'_>],
) -> Result<(), OpError> {
    conversation.stage(Command::Statement { index, arguments })
}

/// Cents as an argument.
pub(crate) fn money(cents: i64) -> Value<'static> {
    Value::Decimal(Decimal { unscaled: cents, scale: 2 })
}

/// A kept whole number; `None` where it is null or there is no such row.
pub(crate) fn whole<C: Conversation>(conversation: &C, at: usize, row: usize, column: usize) -> Option<i64> {
    match conversation.value(at, row, column)? {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

/// A kept decimal, in units of its last digit.
pub(crate) fn unscaled<C: Conversation>(conversation: &C, at: usize, column: usize) -> Option<i64> {
    match conversation.value(at, 0, column)? {
        Value::Decimal(number) => Some(number.unscaled),
        _ => None,
    }
}

/// A kept text; empty where it is null or there is no such row.
pub(crate) fn text<C: Conversation>(conversation: &C, at: usize, row: usize, column: usize) -> &str {
    match conversation.value(at, row, column) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

/// The row in the middle of those of a last name, rounded up (2.5.2.2, 2.6.2.2), as an index.
pub(crate) fn middle(rows: u64) -> usize {
    (rows.div_ceil(2).max(1) - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_rounded_up() {
        let shown: Vec<usize> = (0..=6).map(middle).collect();
        assert_eq!(shown, [0, 0, 0, 1, 1, 2, 2]);
    }
}
