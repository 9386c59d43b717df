//! Whose tail is it: what each slow request spent its time on, cause by cause.
//!
//! ```text
//!  first scan ─► limits (p99.9 by operation) ─► second scan ─► slow requests ─┐
//!  noise, events ─► intervals of each cause ──► association test ─► lanes ────┴─► pieces ─► table, ranked list
//! ```
//!
//! **Pieces.** A request's interval, from when it was intended (sent, in a closed loop) to when it was completed, is cut
//! into pieces that do not overlap and sum to its time. Each piece has one cause. Where several would do, the one that
//! explains the other wins, in the order of [`Cause::ALL`]: a CPU that stands still makes a JVM's pause longer, a pause makes
//! lag, lag makes no CPU stand still. What nothing explains is pool wait, lag or pick-up by the request's stamps, and what
//! is left is the database's.
//!
//! **Backlog.** What waits behind a stall waits because of it, although the stall is over. A stall of length L delays no
//! request by more than L: a system that had it can do all that the same system does without it, L later. So a request
//! that begins within a stall, or while its backlog lasts, owes it up to that part of L that it has not itself
//! overlapped. This debt takes the time that nothing else covers, but for the service time that the request's operation
//! takes anyway (its median). The backlog lasts until the first request that begins after the stall, is answered and takes no
//! longer than was usual before the stall, and at most 25 times L.
//!
//! **Seen late.** A thread that wakes each period sees of a stall what lies after it was due. Lag or pick-up that runs into a
//! stall is the stall's, up to a period before it is seen.
//!
//! **Chance.** Something that is often there is often there when a request is slow. A cause may explain time only if the slow
//! requests meet it more often than by chance ([`stats::association()`]); else its overlap is shown and explains nothing. Only
//! an outage needs no test: that no session was left is known.
//!
//! **Who ran.** Where somebody watched who had the CPUs, the stalls of each cause are put down to those that ran, and what is left
//! to nobody on this host ([`Ran`]). That explains stalls, not requests: it changes no piece. So it is with the time that the load's
//! own threads waited for a CPU around a request ([`Queued`]).
//!
//! `docs/attribution.md` says this in plain words, and when it misleads.

mod causes;
mod collect;
mod cpus;
mod cut;
mod lanes;
mod model;
mod queued;
mod ran;
mod table;
mod usual;

pub use model::{
    Attribution, Cause, CauseInterval, CauseRow, Held, Mark, Piece, Queued, Ran, Runner, SlowLimit,
    SlowPoint, SlowRequest, Threshold, Watched,
};

pub(crate) use collect::{Collected, Hunt};
pub(crate) use cpus::{Users, cpus, unseen};
pub(crate) use ran::is_of_runners;
pub(crate) use table::attribute;

/// Names that sources and events have in recordings, so that attribution finds them.
pub mod names {
    /// Noise source: this, and then the number of a CPU. An observation is a time in which the CPU did not run a thread
    /// that was due: its value, ns, ends where the observation ends.
    pub const HICCUP_CPU: &str = "hiccup cpu ";
    /// Noise source that says whether somebody watched who ran; its values are how many events were lost or left out.
    pub const WHO: &str = "who";
    /// Noise source of somebody who ran: this, the number of a CPU, [`RAN_NAME`], and the name. An observation is a time in
    /// which it had the CPU that a thread of ours wanted: its value, ns, is how long of it.
    pub const RAN: &str = "ran cpu ";
    /// Between the CPU and the name.
    pub const RAN_NAME: &str = ": ";
    /// Noise source: how long threads of the load wanted to run and had no CPU, all together, ns.
    pub const RUN_QUEUE_WAIT: &str = "run-queue-wait";
    /// Noise source that says whether the server's checkpoints were asked for; they are events themselves.
    pub const CHECKPOINTS: &str = "checkpoints";
    /// How the subject of a pause of the load tool's own JVM begins.
    pub const HARNESS_JVM: &str = "harness JVM";
    /// How the subject of a pause of the database's JVM begins.
    pub const SERVER_JVM: &str = "server JVM";
    /// Capability: this, and then the list of CPUs that the workers were to run on.
    pub const WORKER_CPUS: &str = "workers on CPUs ";
}
