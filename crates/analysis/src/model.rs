//! What an analysis holds.

use record::{Event, JvmLogFacts, Measure, NoiseSourceFacts, RunHeader, ServerLogFacts, Stated};
use units::{Estimate, Instant, Nanos, Outcome, PerSecond, Quantile};

/// Everything that is said of one recording, or of several that were made at the same time.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// The recordings, in the order given; headers, totals.
    pub recordings: Vec<RecordingInfo>,
    /// Whether to believe the numbers.
    pub verdict: Verdict,
    /// The measured time: from the first measured phase's begin to the last one's end.
    pub measured: (Instant, Instant),
    /// What the schedule asked in the measured time, as counted; of another tool, the rate that it was asked for, where that is
    /// known. `None` in a closed loop.
    pub offered: Option<PerSecond>,
    /// Requests that completed within the measured time (any outcome but unfinished), per second of it, whenever they were
    /// intended: under overload these are requests of the warm-up for long.
    pub achieved: PerSecond,
    /// Those of them with outcome ok.
    pub goodput: PerSecond,
    /// All measured phases, all operations together. `scopes` has the finer ones.
    pub total: ScopeSummary,
    /// Per operation, per phase (warm-up too), per client where there are several.
    pub scopes: Vec<ScopeSummary>,
    /// Stacked pool wait, lag, service, pick-up at each quantile of the response time (service time in a
    /// closed loop).
    pub anatomy: Anatomy,
    /// Response-time (where it exists) and service-time series over the whole recording, warm-up included.
    pub series: Vec<Series>,
    /// Time × duration heat maps, for the same measures as `series`.
    pub heat_maps: Vec<HeatMap>,
    /// Offered and achieved load and errors, second by second (or coarser, at most 2,000 points).
    pub load: Vec<LoadPoint>,
    /// What happened besides requests; clipped to the first 10,000.
    pub events: Vec<Event>,
    /// Logs of JVMs whose pauses are among the events.
    pub jvm_logs: Vec<JvmLogFacts>,
    /// Logs of database servers whose checkpoints and the like are among the events.
    pub server_logs: Vec<ServerLogFacts>,
    /// What another tool stated of its run, in its order: its claims, without the requests behind them.
    pub stated: Vec<Stated>,
    /// The noise sources of all recordings, available or not; without those of probes, which are no noise.
    pub noise_sources: Vec<NoiseSourceFacts>,
    /// What watched the hosts, and what that cost.
    pub observers: Observers,
    /// Totals per client.
    pub clients: Vec<ClientTotals>,
    /// Whose the slow requests' time is; `None` without requests.
    pub attribution: Option<crate::Attribution>,
    /// How long writes took to be read; `None` where no probe asked.
    pub staleness: Option<crate::Staleness>,
    /// What the workload asks of its own run; `None` where it asks nothing.
    pub business: Option<crate::Business>,
    /// What is inside of the requests; `None` where the run did not time it.
    pub statements: Option<crate::Statements>,
    /// A store's truth laid over it, where there is a log of it: set by whoever has one, with [`crate::overlay()`].
    pub overlay: Option<crate::Overlay>,
    /// What the measuring side itself costs, where that was measured: set by whoever has it, with [`crate::Floor::under`].
    pub floor: Option<crate::RunFloor>,
}

/// What watched the measuring hosts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Observers {
    /// Noise sources that could be read, of all recordings.
    pub sources: usize,
    /// Those that could not.
    pub unavailable: usize,
    /// CPU time of all observers over the time that they watched, as a share of one core: that of the client where it
    /// was most. `None` where no recording tells.
    pub core_share: Option<f64>,
    /// Whether a recording was made with observers switched off.
    pub off: bool,
}

/// One recording's header and how it ended.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordingInfo {
    /// The directory as the user named it.
    pub name: String,
    /// The header.
    pub header: RunHeader,
    /// Whether the run ended in an orderly way.
    pub complete: bool,
    /// Part files that could not be read: (file, why).
    pub unreadable: Vec<(String, String)>,
    /// Samples that found their buffer full.
    pub dropped: u64,
}

/// Whether to believe the numbers, computed from evidence in the recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// The worst severity of any reason.
    pub state: VerdictState,
    /// Worst first; empty when valid.
    pub reasons: Vec<Reason>,
    /// The highest printed quantile up to which the number is the database's; `None`: not even the median.
    /// Never above the highest quantile whose interval the samples carry; the maximum (1.0) only when they carry
    /// all that were asked, and nothing else speaks against it.
    pub believable_to: Option<Quantile>,
    /// What decides above the bound, in words, and what nothing watched: `above it the host's own stalls
    /// decide; pick-up was not measured`.
    pub bound_reason: String,
}

/// The three states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum VerdictState {
    /// Nothing speaks against the numbers up to the bound.
    Valid,
    /// Something does.
    Suspect,
    /// They must not be used; the exit code says so, too.
    Invalid,
}

impl VerdictState {
    /// The name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            VerdictState::Valid => "valid",
            VerdictState::Suspect => "suspect",
            VerdictState::Invalid => "invalid",
        }
    }
}

/// How much a reason weighs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing; does not change the state.
    Note,
    /// Makes the verdict suspect.
    Suspect,
    /// Makes the verdict invalid.
    Invalid,
}

/// One reason with its evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// How much it weighs.
    pub severity: Severity,
    /// What kind; its name is stable, for JSON.
    pub kind: ReasonKind,
    /// One sentence with the numbers: what, how much, the limit.
    pub text: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

/// The kinds of evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReasonKind {
    /// The offered rate was not reached.
    RateNotReached,
    /// lag + pick-up exceed 5 % of a printed quantile.
    HarnessShare,
    /// Samples were dropped.
    SamplesDropped,
    /// The clock stepped, or CPUs' counters disagree.
    Clock,
    /// The client's cores were saturated.
    ClientSaturated,
    /// The hypervisor took time away, or a cgroup was throttled.
    Steal,
    /// Misses exceed their limit.
    Misses,
    /// Aborts exceed their limit.
    Aborts,
    /// Errors exceed their limit.
    Errors,
    /// Timeouts and unfinished requests censor a printed quantile.
    Censored,
    /// The data set's invariants fail after the run.
    Invariants,
    /// Too few samples for a quantile that was asked.
    TooFewSamples,
    /// No session was connected for a while.
    Outage,
    /// The recording is cut short or partly unreadable.
    Incomplete,
    /// The response time still drifts: the run is not stationary.
    NotStationary,
    /// What a foreign format could not tell.
    ImportGap,
    /// Stamps that may be later than the arrival: pick-up is a lower bound.
    PickUpBound,
    /// The server did not run on the CPUs that were stated for it.
    ServerCpus,
    /// Nothing was to watch the host.
    NotWatched,
}

impl ReasonKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ReasonKind::RateNotReached => "rate-not-reached",
            ReasonKind::HarnessShare => "harness-share",
            ReasonKind::SamplesDropped => "samples-dropped",
            ReasonKind::Clock => "clock",
            ReasonKind::ClientSaturated => "client-saturated",
            ReasonKind::Steal => "steal",
            ReasonKind::Misses => "misses",
            ReasonKind::Aborts => "aborts",
            ReasonKind::Errors => "errors",
            ReasonKind::Censored => "censored",
            ReasonKind::Invariants => "invariants",
            ReasonKind::TooFewSamples => "too-few-samples",
            ReasonKind::Outage => "outage",
            ReasonKind::Incomplete => "incomplete",
            ReasonKind::NotStationary => "not-stationary",
            ReasonKind::ImportGap => "import-gap",
            ReasonKind::PickUpBound => "pick-up-bound",
            ReasonKind::ServerCpus => "server-cpus",
            ReasonKind::NotWatched => "not-watched",
        }
    }
}

/// Which samples a summary is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All measured phases and operations.
    Total,
    /// One operation in all measured phases; index into the header's operations.
    Operation(u8),
    /// One phase (warm-up too); index into the header's phases.
    Phase(u8),
    /// One client in all measured phases.
    Client(u16),
}

/// Everything said of one set of samples.
#[derive(Clone, PartialEq, Debug)]
pub struct ScopeSummary {
    /// Which samples.
    pub scope: Scope,
    /// In words: `all`, `ReadRecord`, `30s@1000/s`.
    pub name: String,
    /// How they ended.
    pub counts: Counts,
    /// One for each measure that exists here, in the order of `Measure::ALL`.
    pub measures: Vec<MeasureSummary>,
}

/// How requests ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// All samples.
    pub total: u64,
    /// (outcome, count) for each outcome seen.
    pub outcomes: Vec<(Outcome, u64)>,
    /// Sum of retries.
    pub retries: u64,
    /// Requests that were tried again at least once.
    pub retried: u64,
    /// Of those, the ones that failed all the same.
    pub gave_up: u64,
}

/// What is known of one measure: nanoseconds throughout.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasureSummary {
    /// Which one.
    pub measure: Measure,
    /// Samples that have it (censored ones included).
    pub n: u64,
    /// Of those, how many are censored (of pick-up: have a stamp that may be later than the arrival).
    pub censored: u64,
    /// The smallest.
    pub min: Nanos,
    /// The largest, exact.
    pub max: Nanos,
    /// The printed quantiles that the sample count carries, ascending.
    pub quantiles: Vec<(Quantile, Estimate)>,
    /// Printed quantiles that it does not carry.
    pub withheld: Vec<Quantile>,
    /// Mean.
    pub mean: Estimate,
    /// Standard deviation.
    pub sd: Estimate,
    /// Variance, in ns².
    pub variance: Estimate,
    /// Ratios.
    pub spreads: Spreads,
    /// Samples above 1, 2, 5, 10, 20, 50 … ms: (limit, count), from the first limit above p99 on.
    pub above: Vec<(Nanos, u64)>,
    /// The percentile spectrum.
    pub spectrum: Vec<SpectrumPoint>,
    /// Quartiles, whiskers, marks.
    pub box_plot: BoxPlot,
}

/// Dimensionless spreads; `None` where a time of zero would divide: the clock can't tell how long it was.
#[derive(Clone, PartialEq, Debug)]
pub struct Spreads {
    /// Standard deviation / mean.
    pub coefficient_of_variation: Option<Estimate>,
    /// p99 / mean; `None` when p99 is withheld, too.
    pub p99_over_mean: Option<Estimate>,
    /// max / median.
    pub max_over_median: Option<Estimate>,
    /// median / min.
    pub median_over_min: Option<Estimate>,
}

/// One point of the percentile spectrum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpectrumPoint {
    /// Where in the distribution.
    pub quantile: Quantile,
    /// The value in nanoseconds.
    pub value_ns: f64,
}

/// A box plot with the marks that the Tell-Tale paper uses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoxPlot {
    /// 0th: the minimum, ns.
    pub min: f64,
    /// Lower whisker: smallest value ≥ q1 − 1.5 IQR.
    pub whisker_low: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Upper whisker: largest value ≤ q3 + 1.5 IQR.
    pub whisker_high: f64,
    /// 95th; NaN-free: the maximum where withheld.
    pub p95: f64,
    /// 99th; the maximum where withheld.
    pub p99: f64,
    /// 100th: the maximum.
    pub max: f64,
}

/// Where the time goes, quantile by quantile.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Anatomy {
    /// One row for each printed quantile, and the maximum.
    pub rows: Vec<AnatomyRow>,
}

/// Mean composition of the requests around one quantile (those within ± 0.5 % of ranks, at least 20).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AnatomyRow {
    /// Which quantile of the whole (response time, or service time in a closed loop).
    pub quantile: Quantile,
    /// The quantile's value, ns.
    pub whole_ns: f64,
    /// Mean pool wait, ns; 0 in a closed loop.
    pub pool_wait_ns: f64,
    /// Mean lag, ns.
    pub lag_ns: f64,
    /// Mean of completed − sent less `pick_up_ns`, ns: those without a stamp are taken to have been picked up
    /// like the others; where none has one, pick-up is in here.
    pub service_ns: f64,
    /// Mean pick-up of the stamped requests alone, ns; `None` where there are none: unknown, not zero.
    pub pick_up_ns: Option<f64>,
    /// Requests averaged.
    pub requests: u64,
    /// Of those, how many have a kernel stamp and so a pick-up.
    pub stamped: u64,
}

impl AnatomyRow {
    /// Mean lag and pick-up, ns; only lag where pick-up was not measured.
    pub fn harness_ns(&self) -> f64 {
        self.lag_ns + self.pick_up_ns.unwrap_or(0.0)
    }
}

/// A measure over time, at every zoom, with no extreme lost.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Which measure.
    pub measure: Measure,
    /// M4 pyramid (Jugel et al., VLDB 2014): per time bucket first, last, min and max.
    pub pyramid: Pyramid,
    /// A uniform sample of points that are not extremes, at most 5,000.
    pub sampled: Vec<SampledPoint>,
    /// Share of points sampled, in (0, 1].
    pub sampled_share: f64,
    /// Centred sliding mean over 1,000 requests in order of their start, one point per ~1/2,000 of the time.
    pub sliding_mean: Vec<(Instant, f64)>,
    /// Limits of the extremes: (0.025 %, 99.975 %) quantiles, ns.
    pub extreme_limits: (f64, f64),
    /// The extremes: all of them up to 5,000, else the 5,000 that lie farthest out.
    pub extremes: Vec<Extreme>,
    /// How many extremes there are in all.
    pub extremes_total: u64,
}

/// M4 aggregates at several resolutions, finest first; each level has a quarter of the buckets of the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Pyramid {
    /// Start of the time axis.
    pub begin: Instant,
    /// The levels.
    pub levels: Vec<PyramidLevel>,
}

/// One resolution: bucket i covers [begin + i·width, begin + (i+1)·width).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PyramidLevel {
    /// Width of a bucket.
    pub width: Nanos,
    /// Value of the bucket's first request, ns; `u64::MAX` for an empty bucket.
    pub first: Vec<u64>,
    /// Of its last.
    pub last: Vec<u64>,
    /// Its smallest.
    pub min: Vec<u64>,
    /// Its largest.
    pub max: Vec<u64>,
}

/// A point of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampledPoint {
    /// When the request was intended (sent, in a closed loop).
    pub at: Instant,
    /// The measure.
    pub value: Nanos,
}

/// An extreme request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extreme {
    /// When it was intended (sent, in a closed loop).
    pub at: Instant,
    /// The measure.
    pub value: Nanos,
    /// Its number.
    pub seq: u64,
    /// Its client.
    pub client: u16,
    /// Its operation.
    pub op: u8,
    /// How it ended.
    pub outcome: Outcome,
}

/// Counts over time × logarithm of a measure.
#[derive(Clone, PartialEq, Debug)]
pub struct HeatMap {
    /// Which measure.
    pub measure: Measure,
    /// Start of the time axis.
    pub begin: Instant,
    /// Width of a column.
    pub column_width: Nanos,
    /// Lower limits of the rows, ns, ascending, evenly spaced in the logarithm; one more than rows.
    pub row_limits: Vec<f64>,
    /// Columns, each with a count for each row.
    pub columns: Vec<Vec<u32>>,
}

/// One step of the load over time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadPoint {
    /// When the step begins. The last one is as long as the run still lasted; a tenth of a second at least.
    pub at: Instant,
    /// Requests intended in it per second; of another tool, those that it was asked for, where that is known. `None` in a closed
    /// loop.
    pub offered: Option<f64>,
    /// Requests completed in it per second, any outcome but unfinished.
    pub achieved: f64,
    /// Errors, timeouts and unfinished ones per second.
    pub failed: f64,
}

/// Totals of one client.
#[derive(Clone, PartialEq, Debug)]
pub struct ClientTotals {
    /// Which.
    pub client: u16,
    /// Its host.
    pub host: String,
    /// How its requests ended.
    pub counts: Counts,
}
