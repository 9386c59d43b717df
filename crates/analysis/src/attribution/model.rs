//! What an attribution holds.

use record::{EventKind, Measure};
use stats::Association;
use units::{Instant, Nanos, Outcome};

/// What a part of a request's time is put down to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// A CPU of the load's workers stood still.
    ClientStall,
    /// A CPU of the server stood still, on the same host.
    ServerStall,
    /// A CPU of the host stood still that both use, or of which it is not known who does.
    HostStall,
    /// A pause of the load tool's own JVM.
    HarnessJvm,
    /// A pause of the database's JVM.
    ServerJvm,
    /// No session was left.
    Outage,
    /// A fault that somebody injected.
    Fault,
    /// A thread of a JVM waited, such as for memory, while others went on.
    JvmThread,
    /// A checkpoint of the database.
    Checkpoint,
    /// The request waited while a session was being replaced.
    Reconnect,
    /// Another event of the recording that has a length.
    OtherEvent,
    /// Ready − intended: no session was free.
    PoolWait,
    /// Sent − ready: the harness's own delay before.
    Lag,
    /// Sent − intended of an import: whether no session was free or the tool was late, it does not tell.
    BeforeSending,
    /// Completed − arrived: the harness's own delay after.
    PickUp,
    /// The rest: the database, its host and the network.
    Database,
}

impl Cause {
    /// All of them; of those that cover a moment, the first one explains it.
    pub const ALL: [Cause; 16] = [
        Cause::ClientStall,
        Cause::ServerStall,
        Cause::HostStall,
        Cause::HarnessJvm,
        Cause::ServerJvm,
        Cause::Outage,
        Cause::Fault,
        Cause::JvmThread,
        Cause::Checkpoint,
        Cause::Reconnect,
        Cause::OtherEvent,
        Cause::PoolWait,
        Cause::Lag,
        Cause::BeforeSending,
        Cause::PickUp,
        Cause::Database,
    ];

    /// In words, as the subject of a table's row.
    pub fn name(self) -> &'static str {
        match self {
            Cause::ClientStall => "stall of the client's CPUs",
            Cause::ServerStall => "stall of the server's CPUs",
            Cause::HostStall => "stall of the host",
            Cause::HarnessJvm => "pause of the harness JVM",
            Cause::ServerJvm => "pause of the server JVM",
            Cause::Outage => "outage",
            Cause::Fault => "fault",
            Cause::JvmThread => "stall of a JVM's thread",
            Cause::Checkpoint => "checkpoint",
            Cause::Reconnect => "reconnect",
            Cause::OtherEvent => "other event",
            Cause::PoolWait => "pool wait",
            Cause::Lag => "lag",
            Cause::BeforeSending => "before sending",
            Cause::PickUp => "pick-up",
            Cause::Database => "database",
        }
    }

    /// The name in JSON; stable.
    pub fn key(self) -> &'static str {
        match self {
            Cause::ClientStall => "client-stall",
            Cause::ServerStall => "server-stall",
            Cause::HostStall => "host-stall",
            Cause::HarnessJvm => "harness-jvm",
            Cause::ServerJvm => "server-jvm",
            Cause::Outage => "outage",
            Cause::Fault => "fault",
            Cause::JvmThread => "jvm-thread",
            Cause::Checkpoint => "checkpoint",
            Cause::Reconnect => "reconnect",
            Cause::OtherEvent => "other-event",
            Cause::PoolWait => "pool-wait",
            Cause::Lag => "lag",
            Cause::BeforeSending => "before-sending",
            Cause::PickUp => "pick-up",
            Cause::Database => "database",
        }
    }

    /// Whether it has intervals of its own, besides those of requests.
    pub fn is_observed(self) -> bool {
        !matches!(self, Cause::PoolWait | Cause::Lag | Cause::BeforeSending | Cause::PickUp | Cause::Database)
    }

    /// Whether what it concerns stands still, so that a backlog forms behind it. A checkpoint only slows; a session that
    /// is replaced, or a thread that waits, is one of several.
    pub fn blocks(self) -> bool {
        matches!(
            self,
            Cause::ClientStall
                | Cause::ServerStall
                | Cause::HostStall
                | Cause::HarnessJvm
                | Cause::ServerJvm
                | Cause::Outage
                | Cause::Fault
        )
    }

    /// Whether a CPU stands still, as the threads see that wake on it.
    pub(crate) fn is_stall(self) -> bool {
        matches!(self, Cause::ClientStall | Cause::ServerStall | Cause::HostStall)
    }

    /// Its place in [`Cause::ALL`].
    pub(crate) fn index(self) -> usize {
        Cause::ALL.iter().position(|other| *other == self).unwrap_or(0)
    }
}

/// Above what a request is slow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Threshold {
    /// The p99.9 of its operation: the slowest thousandth of each, and at least one.
    ByOperation,
    /// A time for all.
    Above(Nanos),
}

/// From when on requests of an operation are slow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlowLimit {
    /// The operation.
    pub operation: String,
    /// Requests that take this long or longer.
    pub limit: Nanos,
    /// How many there are.
    pub requests: u64,
}

/// Whether something was looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Watched {
    /// It was.
    Yes,
    /// It was not, and why: what it cost is unknown, not zero.
    No(String),
}

/// One cause, over all slow requests.
#[derive(Clone, PartialEq, Debug)]
pub struct CauseRow {
    /// Which.
    pub cause: Cause,
    /// Whether it was looked for.
    pub watched: Watched,
    /// Its intervals in the time looked at, those that touch counted as one; 0 for what is told by stamps.
    pub intervals: u64,
    /// How it goes together with the slow requests; `None` where it has no intervals there.
    pub association: Option<Association>,
    /// Whether they meet more often than by chance. What is told by stamps is always shown, and so is an outage.
    pub is_shown: bool,
    /// Share of the slow requests' time that it explains, in [0, 1].
    pub share: f64,
    /// That time.
    pub time: Nanos,
    /// Of it, what was spent behind the cause, after it was over.
    pub behind: Nanos,
    /// Requests of which it explains the largest part.
    pub largest: u64,
    /// Requests that it touches: that overlap it, or have some of their time explained by it.
    pub touched: u64,
    /// Who had the CPUs during its intervals; `None` where it is no stall, or nobody watched that.
    pub ran: Option<Ran>,
}

/// Who had the CPUs while they stood still for us.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// The stalls' time, CPU by CPU: those of two CPUs at once count twice.
    pub stalled: Nanos,
    /// Those that ran longest first.
    pub runners: Vec<Runner>,
    /// The time in which nobody on this host kept us off: the host below it had the CPU, or the kernel ran with its
    /// interrupts off.
    pub nobody: Nanos,
    /// Whether all was told; else `nobody` may be somebody.
    pub is_whole: bool,
}

/// A task, an interrupt, or several tasks of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Runner {
    /// As the recording has it, such as `postgres (pid 77)`; or `postgres (3 processes)`.
    pub name: String,
    /// How long it ran meanwhile.
    pub time: Nanos,
}

/// Who had the CPUs for the largest part of a stall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// Somebody with this name.
    By(String),
    /// Nobody on this host.
    ByNobody,
}

/// A part of a request's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Its cause.
    pub cause: Cause,
    /// From when.
    pub begin: Instant,
    /// How long; above zero.
    pub length: Nanos,
    /// Whether it was spent behind the cause, after that was over.
    pub is_behind: bool,
}

/// How long threads of the load wanted to run and had no CPU around a request, by the scheduler's own account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// All threads together; zero was read, too.
    pub wait: Nanos,
    /// From where on the windows reach that were read and overlap the request.
    pub begin: Instant,
    /// And to where.
    pub end: Instant,
    /// Whether they cover the request; else it may have been more.
    pub is_whole: bool,
}

/// Something that happened while the request was under way, at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// When.
    pub at: Instant,
    /// What.
    pub kind: EventKind,
    /// Of what.
    pub subject: String,
}

/// A slow request and where its time went.
#[derive(Clone, PartialEq, Debug)]
pub struct SlowRequest {
    /// When it was intended (sent, in a closed loop).
    pub at: Instant,
    /// Its response time, or service time in a closed loop: the sum of its pieces.
    pub whole: Nanos,
    /// Its number.
    pub seq: u64,
    /// Its client.
    pub client: u16,
    /// Its session; [`record::NO_SESSION`] if none.
    pub session: u16,
    /// Its operation.
    pub operation: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The cause of the largest part.
    pub largest: Cause,
    /// In order, without gaps.
    pub pieces: Vec<Piece>,
    /// For each piece who had the CPUs; `None` where it is no stall's, is behind one, or nobody watched that.
    pub held: Vec<Option<Held>>,
    /// What the load's threads waited for a CPU meanwhile; `None` where nobody read that.
    pub queued: Option<Queued>,
    /// Moments within it, in order, at most 20: a phase that began, a session that was lost.
    pub marks: Vec<Mark>,
}

/// A slow request as a figure draws it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowPoint {
    /// When it was intended (sent, in a closed loop).
    pub at: Instant,
    /// How long it took.
    pub whole: Nanos,
    /// The cause of the largest part.
    pub largest: Cause,
}

/// When a cause was there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CauseInterval {
    /// Which.
    pub cause: Cause,
    /// From when.
    pub begin: Instant,
    /// Until when.
    pub end: Instant,
}

/// Whose the slow requests' time is.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribution {
    /// Response time, or service time in a closed loop.
    pub measure: Measure,
    /// What counts as slow.
    pub threshold: Threshold,
    /// The limit of each operation that has requests.
    pub limits: Vec<SlowLimit>,
    /// Requests above their limit.
    pub slow: u64,
    /// Of those, the slowest that were looked at; fewer than `slow` only where there are more than a million.
    pub examined: u64,
    /// Their time, together.
    pub time: Nanos,
    /// Every cause that was seen, looked for, or should have been: those that explain most first.
    pub causes: Vec<CauseRow>,
    /// What the reader must know of how it was made: CPUs that are not known, observers that were not there.
    pub notes: Vec<String>,
    /// The slowest, slowest first.
    pub worst: Vec<SlowRequest>,
    /// All that were looked at, at most 5,000 of the slowest, in order of time.
    pub points: Vec<SlowPoint>,
    /// When the causes were there that the slow requests meet more often than by chance: of each the 500 longest intervals,
    /// in order of time.
    pub intervals: Vec<CauseInterval>,
}

impl Attribution {
    /// One cause's row; `None` where it was neither seen nor to be expected.
    pub fn row(&self, cause: Cause) -> Option<&CauseRow> {
        self.causes.iter().find(|row| row.cause == cause)
    }
}
