//! The requests of a run, and BenchBase's files of them.
//!
//! A latency of BenchBase's counts from when a terminal began with a transaction to its end, retries and all: our service time. How
//! long a request waited for a terminal is in none of its columns; it stands in columns and keys of our own, all of which come last
//! and begin with `truetail`, so that readers of BenchBase's files find theirs where they were.

mod csv;
mod distribution;
mod ends;
mod histogram;
mod summary;

pub use distribution::Distribution;
pub use ends::End;
pub use summary::Described;

use crate::TransactionType;
use units::Outcome;

/// One request that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// When it was handed over, in ns since 1970.
    pub sent_ns: u64,
    /// From then to its end, retries included; of one that was given up, the time until then.
    pub service_ns: u64,
    /// When the schedule had it, in ns since 1970; `None` without a schedule.
    pub intended_ns: Option<u64>,
    /// Index into the transaction types.
    pub transaction: u8,
    /// Index of its work, from 0.
    pub work: u8,
    /// The terminal.
    pub session: u16,
    /// How it ended.
    pub outcome: Outcome,
}

impl Row {
    /// When it ended, in ns since 1970.
    pub fn ended_ns(&self) -> u64 {
        self.sent_ns.saturating_add(self.service_ns)
    }

    /// From the schedule's time to its end.
    pub fn response_ns(&self) -> Option<u64> {
        self.intended_ns.map(|intended| self.ended_ns().saturating_sub(intended))
    }
}

/// A time that is measured: a work without its warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// ns since 1970.
    pub begin_ns: u64,
    /// ns since 1970.
    pub end_ns: u64,
}

/// All requests of the measured works.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// In the order in which they were sent.
    rows: Vec<Row>,
    /// In order.
    windows: Vec<Window>,
    transactions: Vec<TransactionType>,
    never_sent: u64,
}

/// Counts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Answered within the measured time, whatever the answer.
    pub measured: u64,
    /// Of those, what did as it was meant to, or touched no row.
    pub good: u64,
    /// Answered after it.
    pub late: u64,
    /// Given up, or without an answer at the end.
    pub unanswered: u64,
    /// Due in the measured time, and never sent.
    pub never_sent: u64,
    /// The measured time in ns.
    pub elapsed_ns: u64,
}

impl Totals {
    /// Answers a second of the measured time.
    pub fn throughput(&self) -> f64 {
        per_second(self.measured, self.elapsed_ns)
    }

    /// Good answers a second of the measured time.
    pub fn goodput(&self) -> f64 {
        per_second(self.good, self.elapsed_ns)
    }
}

fn per_second(count: u64, time_ns: u64) -> f64 {
    if time_ns == 0 { 0.0 } else { count as f64 * 1e9 / time_ns as f64 }
}

impl Results {
    /// Of requests in any order.
    pub fn new(
        mut rows: Vec<Row>,
        mut windows: Vec<Window>,
        transactions: Vec<TransactionType>,
        never_sent: u64,
    ) -> Results {
        rows.retain(|row| usize::from(row.transaction) < transactions.len());
        // Those of one terminal can't begin at one time, so that the order is always the same.
        rows.sort_by_key(|row| (row.sent_ns, row.session));
        windows.sort_by_key(|window| window.begin_ns);
        Results { rows, windows, transactions, never_sent }
    }

    /// The requests, in the order in which they were sent.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What came of the requests. Only what was answered while it was measured counts for a rate.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals { never_sent: self.never_sent, ..Totals::default() };
        totals.elapsed_ns =
            self.windows.iter().map(|window| window.end_ns.saturating_sub(window.begin_ns)).sum();
        for row in &self.rows {
            if row.outcome.is_censored() {
                totals.unanswered += 1;
            } else if self.is_measured(row.ended_ns()) {
                totals.measured += 1;
                totals.good += u64::from(End::of(row.outcome) == End::Completed);
            } else {
                totals.late += 1;
            }
        }
        totals
    }

    /// Whether a moment is within the measured time.
    fn is_measured(&self, at_ns: u64) -> bool {
        let after = self.windows.partition_point(|window| window.begin_ns <= at_ns);
        after.checked_sub(1).is_some_and(|index| at_ns <= self.windows[index].end_ns)
    }

    /// When the measured time began, in ns since 1970.
    fn begin_ns(&self) -> u64 {
        let first_sent = self.rows.first().map_or(0, |row| row.sent_ns);
        self.windows.first().map_or(first_sent, |window| window.begin_ns)
    }

    fn end_ns(&self) -> u64 {
        self.windows.last().map_or(0, |window| window.end_ns)
    }
}
