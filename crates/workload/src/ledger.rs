//! What a run's transactions have added up to, as far as it is known.
//!
//! A data set whose totals change with every request can be verified all the same: the total before the run and what was
//! committed must give the total after it. A commit whose answer never came (a lost connection, a timeout) may have
//! happened or not: then the total is only known to lie between two bounds.

use crate::dataset::CheckResult;
use driver::OpError;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

// Relaxed throughout: these are sums that are read when the threads that add to them have ended.
const RELAXED: Ordering = Ordering::Relaxed;

/// Sums of what was committed, and of what may have been.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    added: AtomicU64,
    taken: AtomicU64,
    /// Commits of which nobody knows whether they happened.
    unknown: AtomicU64,
    /// What those may have taken in all, not above 0.
    unknown_low: AtomicI64,
    /// What those may have added in all, not below 0.
    unknown_high: AtomicI64,
}

/// An amount whose commit is under way. Dropped before its end is known, it stays unknown.
#[derive(Debug)]
pub(crate) struct Moving<'a> {
    ledger: &'a Ledger,
    amount: i64,
    known: bool,
}

impl Ledger {
    /// A commit that moves `amount` is about to be sent.
    pub(crate) fn moving(&self, amount: i64) -> Moving<'_> {
        Moving { ledger: self, amount, known: false }
    }

    /// What was added, and what was taken away.
    pub(crate) fn moved(&self) -> (u64, u64) {
        (self.added.load(RELAXED), self.taken.load(RELAXED))
    }

    /// How many commits there were of which nobody knows whether they happened.
    pub(crate) fn unknown(&self) -> u64 {
        self.unknown.load(RELAXED)
    }

    /// A check that `found` is what there was at the start and what was moved; `show` makes a total readable.
    pub(crate) fn judge(&self, name: &str, start: i64, found: i64, show: fn(i64) -> String) -> CheckResult {
        let (added, taken) = self.moved();
        let expected = start.saturating_add_unsigned(added).saturating_sub_unsigned(taken);
        let (low, high) = (self.unknown_low.load(RELAXED), self.unknown_high.load(RELAXED));
        let passed = (expected.saturating_add(low)..=expected.saturating_add(high)).contains(&found);
        let change = |amount: i64| format!("{}{}", if amount < 0 { "" } else { "+" }, show(amount));
        let mut detail = format!("{} before the run, {} by it", show(start), change(expected - start));
        match self.unknown() {
            0 => {}
            n => detail += &format!(", {} … {} by {n} whose commit is not known", change(low), change(high)),
        }
        detail += &match passed {
            true => format!(", {} after it", show(found)),
            false => format!(
                "; after it there are {}, {} too much: writes were lost or doubled, or somebody else wrote meanwhile",
                show(found),
                show(found - expected)
            ),
        };
        CheckResult { name: name.to_owned(), passed, detail }
    }
}

impl Moving<'_> {
    /// The exchange that held the commit ended so, and what moves the amount found its row. An error that left its session
    /// usable was the server's word that it did not commit; of a session that was lost in it nobody knows.
    pub(crate) fn ended(mut self, exchange: &Result<(), OpError>, found: bool) {
        self.known = match exchange {
            Ok(()) => true,
            Err(error) => error.session_usable,
        };
        if exchange.is_ok() && found {
            let ledger = self.ledger;
            let sum = if self.amount < 0 { &ledger.taken } else { &ledger.added };
            sum.fetch_add(self.amount.unsigned_abs(), RELAXED);
        }
    }
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        if self.known || self.amount == 0 {
            return;
        }
        self.ledger.unknown.fetch_add(1, RELAXED);
        let bound = if self.amount < 0 { &self.ledger.unknown_low } else { &self.ledger.unknown_high };
        bound.fetch_add(self.amount, RELAXED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Outcome;

    fn passes(ledger: &Ledger, found: i64) -> bool {
        ledger.judge("sum", 100, found, |n| n.to_string()).passed
    }

    #[test]
    fn what_was_committed_is_expected_exactly() {
        let ledger = Ledger::default();
        ledger.moving(7).ended(&Ok(()), true);
        ledger.moving(-3).ended(&Ok(()), true);
        ledger.moving(9).ended(&Ok(()), false);
        ledger.moving(50).ended(&Err(OpError::refused(Outcome::Serialization)), true);
        assert_eq!((ledger.moved(), ledger.unknown()), ((7, 3), 0));
        assert_eq!([103, 104, 105].map(|found| passes(&ledger, found)), [false, true, false]);
        let detail = ledger.judge("sum", 100, 104, |n| n.to_string()).detail;
        assert_eq!(detail, "100 before the run, +4 by it, 104 after it");
    }

    #[test]
    fn what_nobody_knows_makes_a_bound() {
        let ledger = Ledger::default();
        ledger.moving(-20).ended(&Err(OpError::lost(Outcome::Timeout)), true);
        ledger.moving(5).ended(&Err(OpError::lost(Outcome::ConnectionLost)), true);
        // The load ended, and nobody waits any more.
        drop(ledger.moving(-1));
        ledger.moving(0).ended(&Err(OpError::lost(Outcome::ConnectionLost)), true);
        assert_eq!(ledger.unknown(), 3, "what moves nothing leaves no doubt");
        let expected = [78, 79, 100, 105, 106].map(|found| passes(&ledger, found));
        assert_eq!(expected, [false, true, true, true, false]);
        let detail = ledger.judge("sum", 100, 110, |n| n.to_string()).detail;
        assert!(detail.contains("-21 … +5 by 3 whose commit is not known"), "{detail}");
        assert!(detail.contains("there are 110, 10 too much"), "{detail}");
    }
}
