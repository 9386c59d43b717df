//! What an overlay holds.

use record::Measure;
use stats::Recovery;
use units::{Instant, Nanos, Outcome, Quantile};

/// A store's truth and a client's measurement of the same requests.
///
/// All values are of the very requests that were paired: they carry no uncertainty of sampling, only that of the
/// clocks ([`Overlay::tolerance`] bounds it). Above 2²⁰ requests quantiles are those of a histogram's buckets, 2⁻¹² of a value
/// wide, as those of the difference and of the lateness always are; mean and maximum are exact.
#[derive(Clone, PartialEq, Debug)]
pub struct Overlay {
    /// The store.
    pub store: OverlayStore,
    /// How far the two clocks were allowed to disagree.
    pub tolerance: Nanos,
    /// What became of the client's requests.
    pub requests: OverlayCounts,
    /// What became of the store's rows.
    pub rows: OverlayRowCounts,
    /// Response time (where the load model has one) and service time, of the requests compared.
    pub measures: Vec<OverlayMeasure>,
    /// Measured minus true service time, ns: the network, and the delays of both sides' hosts. Negative where the
    /// clocks disagree, or where the store was held up between writing an answer and reading its clock.
    pub difference: Vec<(OverlayStatistic, f64)>,
    /// The store's own lateness: answer written − due, over all rows in the recording's time that were answered and whose
    /// client took the answer.
    pub lateness: Vec<(OverlayStatistic, Nanos)>,
    /// On how many of the matched requests each rule acted, in the log's order.
    pub rules: Vec<(String, u64)>,
    /// The requests whose measurement differs most from the truth, the largest difference first.
    pub largest: Vec<OverlayDifference>,
    /// How stale reads were; `None` where the log has no reads of records.
    pub staleness: Option<OverlayStaleness>,
    /// Probes of the read-after-write lag, graded; `None` where the run had none.
    pub lag: Option<OverlayLag>,
    /// What followed when a node joined; `None` where none did in the recording's time.
    pub join: Option<OverlayJoin>,
    /// The requests around the one that truly took longest; `None` where nothing was compared.
    pub moment: Option<OverlayMoment>,
}

/// What the log says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverlayStore {
    /// The log's directory as the user named it.
    pub name: String,
    /// The store's command line.
    pub command: String,
    /// Its version.
    pub tool_version: String,
    /// Its settings: (name, value).
    pub settings: Vec<(String, String)>,
    /// Whether the log was closed in an orderly way.
    pub complete: bool,
    /// Rows that found the ring full or that the disk did not take.
    pub lost: u64,
    /// Part files that could not be read: (file, why).
    pub unreadable: Vec<(String, String)>,
}

/// What became of the client's requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OverlayCounts {
    /// Samples whose request was sent.
    pub sent: u64,
    /// Samples whose request never was; there is no truth about them.
    pub never_sent: u64,
    /// Of those sent, paired with at least one row.
    pub matched: u64,
    /// Of those sent, paired with none.
    pub unmatched: u64,
    /// Of those matched, left out of all times, since the client gave them up.
    pub given_up: u64,
    /// Of those matched, left out of all times, since the store did not answer them.
    pub unanswered: u64,
    /// Of those matched, left out of all times, since they belong to a warm-up.
    pub warm_up: u64,
    /// The rest of those matched: what all times are of.
    pub compared: u64,
}

/// What became of the store's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OverlayRowCounts {
    /// Rows in the log.
    pub logged: u64,
    /// Of those, rows that arrived in the recording's time: from the first request sent to the last one completed.
    pub in_time: u64,
    /// Of those in time, paired with a sample.
    pub matched: u64,
    /// Of those in time, rows of connections that several sessions could have had: left out rather than guessed.
    pub ambiguous: u64,
    /// The rest of those in time: set-up of connections, or other clients.
    pub outside: u64,
}

/// Which number of a distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OverlayStatistic {
    /// The smallest value.
    Min,
    /// The mean.
    Mean,
    /// A quantile.
    Quantile(Quantile),
    /// The largest value.
    Max,
}

/// One measure, true and measured.
#[derive(Clone, PartialEq, Debug)]
pub struct OverlayMeasure {
    /// Response or service time.
    pub measure: Measure,
    /// Requests; those without an intended start have no response time.
    pub n: u64,
    /// Mean, p50, p95, p99, p99.9, maximum.
    pub values: Vec<OverlayValue>,
}

/// One number, true and measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OverlayValue {
    /// Which number.
    pub statistic: OverlayStatistic,
    /// By the store, ns. Service time: answer written − arrived; response time: answer written − intended.
    pub truth: f64,
    /// By the client, ns.
    pub measured: f64,
}

impl OverlayValue {
    /// measured − truth, ns.
    pub fn error(&self) -> f64 {
        self.measured - self.truth
    }

    /// The error as a share of the truth; `None` where that is zero.
    pub fn relative_error(&self) -> Option<f64> {
        (self.truth > 0.0).then(|| self.error() / self.truth)
    }
}

impl OverlayMeasure {
    /// The number named.
    pub fn value(&self, statistic: OverlayStatistic) -> Option<&OverlayValue> {
        self.values.iter().find(|value| value.statistic == statistic)
    }
}

/// A node joined: how long until times were stable again.
#[derive(Clone, PartialEq, Debug)]
pub struct OverlayJoin {
    /// When it began to join, on the axis of the analysis.
    pub begin: Instant,
    /// How long data was streamed to it.
    pub streaming: Nanos,
    /// What the store was told to do, as its flag `--join` takes it.
    pub detail: String,
    /// Of which times: response times where the load model has them.
    pub measure: Measure,
    /// By the store's own times.
    pub truth: Recovery,
    /// By the client's.
    pub measured: Recovery,
}

/// One request, true and measured.
#[derive(Clone, PartialEq, Debug)]
pub struct OverlayDifference {
    /// When it was intended, or sent where there is no such time, on the axis of the analysis.
    pub at: Instant,
    /// Number of the request in its recording.
    pub seq: u64,
    /// The client that made it.
    pub client: u16,
    /// Its session.
    pub session: u16,
    /// Name of the client's operation.
    pub operation: String,
    /// How it ended for the client.
    pub outcome: Outcome,
    /// True service time.
    pub truth: Nanos,
    /// Measured service time.
    pub measured: Nanos,
    /// Names of the rules that acted on its rows.
    pub rules: Vec<String>,
}

/// How stale reads were, of several records at most, over all rows in the recording's time.
#[derive(Clone, PartialEq, Debug)]
pub struct OverlayStaleness {
    /// Reads of records.
    pub reads: u64,
    /// Of those, reads that missed at least one newer version.
    pub stale: u64,
    /// The most versions that a read missed.
    pub versions_max: u32,
    /// How long the oldest version that was missed had existed, over the stale reads: p50, p95, p99, p99.9, maximum.
    /// Empty without any.
    pub time: Vec<(OverlayStatistic, Nanos)>,
}

/// Probes of the read-after-write lag against what the store knows of their writes and reads.
///
/// Quantiles are those of a histogram's buckets, 2⁻¹² of a value wide; of the probes whose true lag the log tells.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OverlayLag {
    /// Probes of the whole run, warm-up included.
    pub probes: u64,
    /// Of those, probes whose write and reads are in the log.
    pub graded: u64,
    /// Of those graded, probes whose true lag the log tells: the others are graded by their reads alone.
    pub exact: u64,
    /// Of those graded, probes that are right within the tolerance: the interval contains the true lag, and the log
    /// agrees which reads were stale. All of them, if both the probe and the store are right.
    pub contained: u64,
    /// Mean width of the graded intervals, ns; of those that have an upper end. `None` without any.
    pub width_mean: Option<f64>,
    /// The true lag: p50, p95, p99, maximum.
    pub truth: Vec<(OverlayStatistic, Nanos)>,
    /// The lower bounds of the same probes.
    pub at_least: Vec<(OverlayStatistic, Nanos)>,
    /// Their upper bounds.
    pub at_most: Vec<(OverlayStatistic, Nanos)>,
}

/// Requests in order of time around the worst one.
#[derive(Clone, PartialEq, Debug)]
pub struct OverlayMoment {
    /// Response time, or service time in a closed loop.
    pub measure: Measure,
    /// When the worst one was intended (or sent), on the axis of the analysis.
    pub worst: Instant,
    /// Requests, at most 2,000: every one, or each `thinned`-th, and the worst in any case.
    pub points: Vec<OverlayPoint>,
    /// 1: all requests of the span are there.
    pub thinned: u64,
}

/// One request in a figure over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverlayPoint {
    /// When it was intended, or sent where there is no such time.
    pub at: Instant,
    /// True.
    pub truth: Nanos,
    /// Measured.
    pub measured: Nanos,
}
