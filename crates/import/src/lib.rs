//! Reads what other load tools print and write.
//!
//! A foreign tool's report is kept as the tool made it: quantiles that it printed stay quantiles, samples that it logged
//! stay samples, and what it did not say is absent. Nothing is interpolated, and nothing is turned into a response time
//! that the tool did not measure as one.
#![deny(missing_docs)]

use units::{Nanos, PerSecond, Quantile};

/// What a tool says of one operation, or of all together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reported {
    /// The operation's name as the tool prints it; empty for all operations together.
    pub operation: String,
    /// The tool's own name for what it measured, such as `Intended-READ` or `latency`.
    pub measure: String,
    /// How many were measured.
    pub count: Option<u64>,
    /// Mean.
    pub mean: Option<Nanos>,
    /// Smallest.
    pub min: Option<Nanos>,
    /// Largest.
    pub max: Option<Nanos>,
    /// Quantiles that the tool printed, ascending.
    pub quantiles: Vec<(Quantile, Nanos)>,
    /// The finest step that the printed figures can show.
    pub resolution: Option<Nanos>,
    /// Single requests, where the tool logs them, in the order of the log.
    pub samples: Vec<ForeignSample>,
}

/// One request as a foreign tool logged it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignSample {
    /// Wall time at which it ended, ns since 1970; `None` where the log has no times.
    pub completed_wall_ns: Option<u64>,
    /// What the tool calls its latency.
    pub elapsed: Nanos,
    /// How much later than scheduled it was sent, where the tool says so; part of `elapsed` or not as the format has it.
    pub schedule_lag: Option<Nanos>,
    /// The tool's session or thread.
    pub session: Option<u32>,
    /// Whether it failed or was skipped by the tool.
    pub failed: bool,
}

/// All that a tool reported of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolReport {
    /// The tool and, where it prints it, its version.
    pub tool: String,
    /// Completed requests per second as the tool prints it.
    pub achieved: Option<PerSecond>,
    /// Errors that it counted.
    pub errors: Option<u64>,
    /// One for each operation and measure, in the tool's order.
    pub rows: Vec<Reported>,
}
