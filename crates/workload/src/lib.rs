//! What is asked of a database.
//!
//! A [`Workload`] is written once for all targets. It splits each request in two:
//!
//! - [`Workload::plan`], ahead of time and off the clock: request *n* (its keys and values) is a pure function
//!   of (seed, n, operation, ticket), so that a run can be replayed and split over any number of workers;
//! - [`Workload::run`], on the clock: ordinary sequential code over a [`driver::Conversation`], also for a
//!   transaction of many statements.
//!
//! Workloads of one's own are written against it, too: `examples/own-workload` is a whole one, with a data set, a check and
//! a program that records a load of it; `docs/own-workloads.md` explains it. Those that are written in a file
//! (`docs/custom-workloads.md`) are the crate `workload-file`.
//!
//! What depends on all earlier requests (the next key to insert, the oldest key to delete) can't be a
//! function of n alone: [`Tickets`] is that state, advanced in request order by the one thread that writes
//! the schedule.
#![deny(missing_docs)]

pub mod dataset;
mod digits;
pub mod distribution;
pub mod epinions;
mod foreign_keys;
mod ledger;
mod letters;
#[cfg(test)]
mod model;
pub mod names;
pub mod noop;
pub mod seats;
pub mod smallbank;
pub mod staleness;
mod talk;
pub mod tatp;
pub mod tpcc;
pub mod transaction;
pub mod users;
pub mod ycsb;

use driver::{Conversation, Dialect, Isolation, OpError, StatementSpec};
use std::future::Future;
use units::Outcome;

/// A text for as long as the program runs, for names that parameters decide: made once for each workload.
pub(crate) fn kept_text(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Index of an operation in [`Workload::operations`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpId(pub u8);

/// A kind of request, with its default share.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// The name in `--mix`, pages and recordings, e.g. `ReadRecord`.
    pub name: &'static str,
    /// Default weight in the mix; relative, at least 0.
    pub weight: f64,
}

/// Request *n*, as the schedule hands it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its number in the run, from 0.
    pub seq: u64,
    /// What to do.
    pub op: OpId,
    /// What [`Tickets::next`] gave for it.
    pub ticket: u64,
    /// The user who asks, of a load of [`users::Users`]; [`users::NOBODY`] in other loads.
    pub user: u32,
}

/// The sequential state of a workload, advanced in request order.
pub trait Tickets: Send {
    /// The ticket of the next request, of kind `op` and number `seq`.
    fn next(&mut self, seq: u64, op: OpId) -> u64;
}

/// Tickets of a workload without sequential state.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTickets;

impl Tickets for NoTickets {
    fn next(&mut self, _seq: u64, _op: OpId) -> u64 {
        0
    }
}

/// What a workload says of itself; stored in every recording.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkloadFacts {
    /// The name in `--workload`.
    pub name: String,
    /// Scale factor of the data set.
    pub scale: f64,
    /// Parameters that shape the requests: (name, value).
    pub parameters: Vec<(String, String)>,
}

/// A family of requests and the data set that they need.
pub trait Workload: Send + Sync + 'static {
    /// A request made concrete; reused for the session's next one, so that planning allocates nothing.
    type Plan: Send;

    /// What it says of itself.
    fn facts(&self) -> WorkloadFacts;

    /// Its kinds of requests, at most 250; [`OpId`] is the index.
    fn operations(&self) -> Vec<Operation>;

    /// The statements that its requests use, in the order of their indexes.
    ///
    /// # Errors
    /// A one-line reason why this workload can't run in this dialect.
    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String>;

    /// The sequential state at the run's start.
    fn tickets(&self) -> Box<dyn Tickets>;

    /// An empty plan with all of its memory allocated and touched.
    fn new_plan(&self) -> Self::Plan;

    /// Makes request `request` concrete in `plan`. Pure; no allocation.
    fn plan(&self, request: Request, plan: &mut Self::Plan);

    /// Carries a plan out. `Ok` with a verdict of its own ([`Outcome::Ok`], [`Outcome::Miss`],
    /// [`Outcome::Abort`]) or the error of the exchange that failed. Retries are the caller's.
    fn run<C: Conversation>(
        &self,
        plan: &Self::Plan,
        conversation: &mut C,
    ) -> impl Future<Output = Result<Outcome, OpError>>;

    /// The isolation level that its transactions need where nobody asks for another; `None` is the database's own default.
    fn isolation(&self, _dialect: Dialect) -> Option<Isolation> {
        None
    }

    /// Its users with times of their own, for loads that want them; `None` where it has none.
    fn users(&self) -> Option<Box<dyn users::Users>> {
        None
    }

    /// What its requests have counted besides their outcomes since they began: (name, count).
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Texts that define it, where a user wrote them: (file name, text). A recording keeps them, so that the load can be
    /// made again.
    fn files(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The data set; `None` when it needs none.
    fn dataset(&self) -> Option<&dyn dataset::DataSet>;

    /// Adapts to the data set as found (e.g. its highest key); called once before the run.
    ///
    /// # Errors
    /// One line that names what is missing.
    fn observe(&mut self, administration: &mut dyn driver::Administration) -> Result<(), String>;
}
