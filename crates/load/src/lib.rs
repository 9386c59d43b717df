//! Load generation: arrivals, pacing and the worker loop. The hot path lives here.
//!
//! ```text
//!  Sequencer ──fill──► Schedule (ring) ──claim──► session loop ──push──► record::Ring
//!  arrivals, mix,      intended, op,              plan, wait for the
//!  tickets: pure       ticket                     due time, exchange
//! ```
//!
//! - One schedule for the whole load: a pure function of configuration and seed, written ahead of time by
//!   one thread. Any free session claims the next arrival; so nothing changes with the number of workers,
//!   and no arrival waits while a session is free.
//! - A session loop is ordinary `async` code, one future per session, polled by its worker. There is no
//!   runtime: a worker knows which futures wait for a descriptor and which for a time.
//! - A worker drives many polled sessions; a blocking session is a worker of its own.
//! - The same session loop runs on the simulated clock in tests ([`simulate`]).
//!
//! Between intended and completed there is no allocation, lock, log or syscall of ours; `hot_path_tests.rs` says
//! how that is shown, and of what.
#![deny(missing_docs)]

// The doubles in `tests/` call this crate by its name, from within as from outside.
#[cfg(test)]
extern crate self as load;

mod agenda;
pub mod arrivals;
mod connector;
#[cfg(test)]
#[path = "../tests/doubles/mod.rs"]
mod doubles;
mod engine;
#[cfg(test)]
mod engine_tests;
mod first_words;
mod host;
#[cfg(test)]
mod hot_path_tests;
mod inside;
mod local;
mod never_sent;
mod own_schedule;
mod phases;
mod readiness;
mod retry;
mod rings;
mod schedule;
mod sequencer;
mod session;
pub mod simulate;
mod spec;
mod stamped;
mod supervisor;
mod terminals;
mod threads;
mod timers;
#[cfg(test)]
mod unit_doubles;
mod worker;

pub use connector::{ConnectFailure, connect_all};
pub use engine::{EngineError, Journal, LEAD_IN, LoadTotals, Subject, WORKER_SLICE, rings_needed, run};
pub use host::{OffWorkers, available_cpus, parse_cpu_list, pin_to_set, show_cpu_list, spare_cpus};
pub use phases::{ParsePhasesError, Phase, parse_mix, parse_phases, sessions_to_connect};
pub use retry::{Classes, Pause, Retry};
pub use rings::Rings;
pub use sequencer::{Planned, Sequencer};
pub use spec::{LoadSpec, Model, Pacing, SpecError, Think, UserVisit, mix_weights};
