//! What a recording says of itself besides its samples.

use units::{Instant, Nanos, PerSecond};

/// How requests came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadModel {
    /// Arrivals free of completions.
    Open,
    /// Users arrive freely, do several requests with think time, leave (Schroeder et al., NSDI 2006).
    PartlyOpen,
    /// Each session's next request follows its last completion.
    Closed,
    /// Closed, with a schedule per session that it tries to keep (YCSB's `target`).
    ThrottledClosed,
    /// Users who wait for their answer, think, key in and ask again, on any number of sessions (TPC-C's terminals). When one
    /// asks is when his request is intended, so that there is a response time; but who waits does not ask, so that a slow
    /// database is asked less.
    Terminals,
}

impl LoadModel {
    /// All models.
    pub const ALL: [LoadModel; 5] = [
        LoadModel::Open,
        LoadModel::PartlyOpen,
        LoadModel::Closed,
        LoadModel::ThrottledClosed,
        LoadModel::Terminals,
    ];

    /// Only loads whose requests have an intended start have response times: open, partly open, of terminals.
    pub fn has_response_time(self) -> bool {
        matches!(self, LoadModel::Open | LoadModel::PartlyOpen | LoadModel::Terminals)
    }

    /// The name in text and recordings.
    pub fn name(self) -> &'static str {
        match self {
            LoadModel::Open => "open loop",
            LoadModel::PartlyOpen => "partly open loop",
            LoadModel::Closed => "closed loop",
            LoadModel::ThrottledClosed => "throttled closed loop",
            LoadModel::Terminals => "terminals",
        }
    }
}

/// Where the samples come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Provenance {
    /// Measured by truetail on a live clock.
    Live,
    /// Made on the simulated clock.
    Simulated,
    /// Another tool's result; what its format can't tell is absent.
    Imported {
        /// The tool or format.
        tool: String,
    },
}

/// Whether a phase counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhaseKind {
    /// Recorded and marked, not mixed into results.
    WarmUp,
    /// Counts.
    Measured,
}

/// One phase of the load.
#[derive(Clone, PartialEq, Debug)]
pub struct PhaseFacts {
    /// `warm-up`, or the phase's own text such as `30s@1000/s`.
    pub name: String,
    /// Whether it counts.
    pub kind: PhaseKind,
    /// When it began.
    pub begin: Instant,
    /// When it was to end.
    pub end: Instant,
    /// Offered load at begin and end (different in a ramp); `None` in a closed loop.
    pub offered: Option<(PerSecond, PerSecond)>,
    /// Sessions that took part.
    pub sessions: u32,
    /// The mix: weight for each operation.
    pub mix: Vec<f64>,
}

/// A prepared statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatementFacts {
    /// What tables call it: `SELECT customer`. Unique in a run.
    pub name: String,
    /// As the database was given it.
    pub text: String,
}

/// How the load was made.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadFacts {
    /// The model.
    pub model: LoadModel,
    /// The arrival process or think time in words, e.g. `poisson`, `think exp:100ms`.
    pub arrivals: String,
    /// Sessions at most.
    pub sessions: u32,
    /// Worker threads (for blocking targets one for each session).
    pub workers: u32,
    /// Time limit of a request; `None` is no limit.
    pub timeout: Option<Nanos>,
    /// How the schedule was kept: `sleep then spin`, `sleep`, `spin`.
    pub pacing: String,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// What is known of the measuring host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HostFacts {
    /// Host name.
    pub name: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs that the process may use.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Distribution.
    pub system: String,
    /// `none`, or the hypervisor's name.
    pub virtualisation: String,
    /// Further facts: (name, value).
    pub more: Vec<(String, String)>,
}

/// All that `run.toml` holds besides verdict and totals, which are known only at the end.
#[derive(Clone, PartialEq, Debug)]
pub struct RunHeader {
    /// Version of truetail that wrote it.
    pub tool_version: String,
    /// The command line, without secrets.
    pub command: String,
    /// Which load machine this is, from 0.
    pub client: u16,
    /// Wall time of the epoch, ns since 1970.
    pub epoch_wall_ns: u64,
    /// Where the samples come from.
    pub provenance: Provenance,
    /// How the load was made.
    pub load: LoadFacts,
    /// Phases in order; a sample's `phase` is an index.
    pub phases: Vec<PhaseFacts>,
    /// Names of the operations; a sample's `op` is an index.
    pub operations: Vec<String>,
    /// The prepared statements, where the run timed the exchanges inside of requests; a [`crate::Statement`]'s `label` is an
    /// index. `None` where it did not.
    pub statements: Option<Vec<StatementFacts>>,
    /// The workload's name.
    pub workload: String,
    /// Facts on the workload: (name, value).
    pub workload_facts: Vec<(String, String)>,
    /// The target's URL without secrets.
    pub target: String,
    /// Facts on the target: (name, value), such as product, version, transport, durability settings.
    pub target_facts: Vec<(String, String)>,
    /// The host.
    pub host: HostFacts,
    /// Facts on the clock: (name, value), such as kind, cost, frequency, skew.
    pub clock_facts: Vec<(String, String)>,
    /// What was asked of the system and what was granted: (asked, read back).
    pub capabilities: Vec<(String, String)>,
    /// The effective configuration as TOML text, without secrets.
    pub config: String,
}

/// What happened besides requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A phase began.
    Phase,
    /// A session was lost.
    ConnectionLost,
    /// A session was replaced; the interval is the outage of that session.
    Reconnected,
    /// No session was left: an outage of the target.
    Outage,
    /// The wall clock jumped.
    ClockStep,
    /// First occurrence of an error, with the server's words.
    FirstError,
    /// A fault that somebody injected on purpose.
    Fault,
    /// The recorder itself was in trouble (drops, disk).
    Recorder,
    /// A pause of a JVM.
    JvmPause,
    /// Anything else; the detail says what.
    Other,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [EventKind; 10] = [
        EventKind::Phase,
        EventKind::ConnectionLost,
        EventKind::Reconnected,
        EventKind::Outage,
        EventKind::ClockStep,
        EventKind::FirstError,
        EventKind::Fault,
        EventKind::Recorder,
        EventKind::JvmPause,
        EventKind::Other,
    ];

    /// The name in recordings.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Phase => "phase",
            EventKind::ConnectionLost => "connection-lost",
            EventKind::Reconnected => "reconnected",
            EventKind::Outage => "outage",
            EventKind::ClockStep => "clock-step",
            EventKind::FirstError => "first-error",
            EventKind::Fault => "fault",
            EventKind::Recorder => "recorder",
            EventKind::JvmPause => "jvm-pause",
            EventKind::Other => "other",
        }
    }
}

/// Something that happened, as an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// From when.
    pub begin: Instant,
    /// Until when; the same as `begin` for a moment.
    pub end: Instant,
    /// Of what, e.g. `session 3`; may be empty.
    pub subject: String,
    /// In words.
    pub detail: String,
}

/// What a noise source says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoiseSourceFacts {
    /// Unique name, e.g. `steal`, `client-cpu`.
    pub name: String,
    /// Unit of its values, e.g. `ns`, `share`.
    pub unit: String,
    /// `Ok` with its measured cost per reading in ns, or why it is not available.
    pub available: Result<u64, String>,
}

/// One reading of a noise source: a value over [begin, end].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NoiseObservation {
    /// Index into the recording's noise sources.
    pub source: u16,
    /// The value, in the source's unit.
    pub value: f64,
    /// From when.
    pub begin: Instant,
    /// Until when.
    pub end: Instant,
}
