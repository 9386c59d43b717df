//! A simulated store: it speaks real protocols, and its latencies are known.
//!
//! A measuring tool must itself be measured. SickStore (Friedrich et al., BTW 2017) is a store on one machine that
//! pretends to be many nodes, with staleness, hiccups and a maximum throughput that are known exactly. This crate is the
//! same idea behind two standard protocols, so that any client can be pointed at it. What follows from that:
//! SickStore tells its own client how long to sleep; a standard protocol has no place for that, so the waiting is done
//! here, as a real database would, by a thread that watches the cycle counter and writes each answer when it is due.
//!
//! ```text
//!  bytes ─► Protocol ──admit──► Engine ──► Decision: begun, due, which rules act
//!           resp, postgres       timing, faults
//!              │ ◄──view──────► Data: versions, what each replica has seen
//!              ▼
//!           Answers ─► server: spins, writes when due ─► truth log
//! ```
//!
//! Everything but the `server` module is free of I/O and of clocks: it sees times as numbers, and the same settings, seed
//! and arrivals give the same answers. So the very model that a live store keeps also runs on the simulated clock.
#![deny(missing_docs)]

mod answers;
mod data;
mod distribution;
mod engine;
mod fault;
mod model;
pub mod postgres;
mod protocol;
mod replication;
mod request;
pub mod resp;
pub mod server;
mod simulated;
mod sorted_set;
mod sql;
mod text;
mod timing;

pub use answers::{Answer, Answers, Ending};
pub use data::{Change, Data, Key, Staleness, Value, View};
pub use distribution::Draw;
pub use engine::{Engine, Settings, StoreEvent};
pub use fault::{ConnectionFault, Fault, FaultKind, When};
pub use model::{Hiccup, Join, Model, Service, SlowKey};
pub use protocol::{Protocol, Received};
pub use replication::{
    Acknowledgement, DelayRule, Delays, NODES_MAX, ReadPreference, Replication, ReplicationSettings, Tag,
    TagCount,
};
pub use request::{Access, Arrival, Decision, ErrorClass, Injection, NodeId, Operation, Rules};
pub use simulated::SimulatedServer;
pub use sorted_set::SortedSet;
pub use text::TextError;
pub use timing::{Timed, Timing};
