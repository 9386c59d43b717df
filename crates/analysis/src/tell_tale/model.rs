//! What is said of the cells.

use super::{Cell, RoundSeries};
use crate::{BoxPlot, VerdictState};
use record::{LoadModel, Measure};
use stats::{Meetings, RankCorrelation, RoundsRatio};
use units::{Estimate, Instant, Nanos, PerSecond, Quantile};

/// All that is said of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct TellTale {
    /// Cell by cell, in the order given.
    pub cells: Vec<CellResult>,
    /// Cells of one workload, target and load.
    pub groups: Vec<Group>,
    /// Whether the JVM's log disturbs, for each pair of cells that differ in it alone.
    pub log_effects: Vec<LogEffect>,
    /// What counts as equivalent: a ratio between 1/(1 + this) and 1 + this.
    pub margin: f64,
    /// Level of the intervals of ratios between cells: 0.9, which are two one-sided tests at 5 %.
    pub level: f64,
    /// The fewest rounds of any cell that has some.
    pub rounds: usize,
    /// By how much that many rounds may scatter, as a standard deviation of the logarithm, for equality to be shown;
    /// `None` with fewer than two.
    pub carried_scatter: Option<f64>,
}

/// One cell and what came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct CellResult {
    /// What was run.
    pub cell: Cell,
    /// Its figures, or why there are none.
    pub figures: Result<CellFigures, String>,
}

/// What a cell's rounds show.
#[derive(Clone, PartialEq, Debug)]
pub struct CellFigures {
    /// Response time, or service time in a closed loop.
    pub measure: Measure,
    /// What the schedule was to ask in the first round; `None` in a closed loop.
    pub offered: Option<PerSecond>,
    /// Round by round.
    pub rounds: Vec<RoundFigures>,
    /// Rounds that could not be used, and why.
    pub lost: Vec<String>,
    /// Requests completed per second.
    pub throughput: Spread,
    /// Of p50, p99 and p99.9 those that each round carries, ns.
    pub quantiles: Vec<(Quantile, Spread)>,
    /// The longest of each round, ns.
    pub max: Spread,
    /// What is known of the pauses of the harness's JVM.
    pub pauses: Pauses,
    /// How many of the slowest requests overlap a pause; empty where no round has pauses.
    pub slowest: Vec<SlowestRow>,
    /// Whether the longest response rises with the longest pause from round to round; `None` where there are too few rounds.
    pub correlation: Option<RankCorrelation>,
    /// Whose its tail is.
    pub whose: Whose,
    /// The round that is drawn large: the one whose longest response is the median of all.
    pub shown: usize,
}

impl CellFigures {
    /// A quantile's spread, where each round carries it.
    pub fn quantile(&self, quantile: Quantile) -> Option<&Spread> {
        self.quantiles.iter().find(|(other, _)| *other == quantile).map(|(_, spread)| spread)
    }

    /// The finest step of times that the tool tells; zero where they are exact. What is below it is not known to be zero.
    pub fn finest(&self) -> Nanos {
        self.rounds.iter().map(|round| round.length_resolution).max().unwrap_or(Nanos::ZERO)
    }

    /// One of the two rows on the slowest requests.
    pub fn slowest(&self, which: Slowest) -> Option<&SlowestRow> {
        self.slowest.iter().find(|row| row.which == which)
    }
}

/// One quantity over the rounds.
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    /// Each round's, in their order.
    pub points: Vec<f64>,
    /// The median round's; of an even number the lower one.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Of all rounds: geometric mean, with Student's interval between rounds.
    pub across: Estimate,
    /// Each round's estimate.
    pub estimates: Vec<Estimate>,
}

/// One round.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundFigures {
    /// Its recording.
    pub name: String,
    /// Whether to believe it.
    pub verdict: VerdictState,
    /// Why not, where it is invalid.
    pub invalid: Option<String>,
    /// Measured requests.
    pub requests: u64,
    /// The longest request.
    pub max: Nanos,
    /// When it began, since the begin of the measured time.
    pub max_at: Instant,
    /// Share of the longest request's time in which the harness's JVM paused; `None` where that is not known.
    pub max_paused: Option<f64>,
    /// To what the moments of requests are rounded, by a tool whose samples were imported; zero where they are exact.
    pub resolution: Nanos,
    /// To what their lengths are rounded, likewise.
    pub length_resolution: Nanos,
    /// Its JVM's pauses within the measured time; `None` where no log tells.
    pub pauses: Option<RoundPauses>,
    /// `all`, and then each operation: (name, requests, box plot).
    pub boxes: Vec<(String, u64, BoxPlot)>,
    /// What a figure over time draws.
    pub series: RoundSeries,
    /// How many of its slowest requests overlap a pause; `None` where nothing could.
    pub slowest: Vec<(Slowest, Option<Meetings>)>,
}

/// Pauses of a round's JVM within the measured time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoundPauses {
    /// Of all threads, in order.
    pub whole: Vec<StopInterval>,
    /// Stalls of single threads, in order.
    pub stalls: Vec<StopInterval>,
    /// Told in sum and not one by one.
    pub summaries: u64,
}

/// When something stopped, since the begin of the measured time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StopInterval {
    /// From when.
    pub begin: Instant,
    /// Until when.
    pub end: Instant,
    /// How long threads took to stop, of that; `None` where the log does not tell.
    pub to_safepoint: Option<Nanos>,
}

impl StopInterval {
    /// How long.
    pub fn length(&self) -> Nanos {
        self.end - self.begin
    }
}

/// What is known of a harness's pauses.
#[derive(Clone, PartialEq, Debug)]
pub enum Pauses {
    /// The harness has no JVM.
    NoJvm,
    /// Its JVM wrote no log.
    NoLog,
    /// It should have, and what came of it.
    Trouble(String),
    /// It did, and tells of none in the measured time of any round.
    NoPause(PauseTotals),
    /// It did.
    Seen(PauseTotals),
}

/// Pauses over all rounds that have a log.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PauseTotals {
    /// Rounds that have a log.
    pub rounds: usize,
    /// Pauses of all threads.
    pub pauses: u64,
    /// Their sum.
    pub total: Nanos,
    /// The longest of them.
    pub longest: Option<Nanos>,
    /// The longest time to safepoint.
    pub longest_to_safepoint: Option<Nanos>,
    /// Stalls of single threads.
    pub stalls: u64,
    /// The longest of them.
    pub longest_stall: Option<Nanos>,
    /// Told in sum and not one by one.
    pub summaries: u64,
}

/// Which requests count as slowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slowest {
    /// The slowest 100 of each round.
    Hundred,
    /// The slowest thousandth of each round, at least one.
    Thousandth,
}

impl Slowest {
    /// Both.
    pub const ALL: [Slowest; 2] = [Slowest::Hundred, Slowest::Thousandth];

    /// Of so many requests.
    pub fn count(self, requests: u64) -> u64 {
        match self {
            Slowest::Hundred => requests.min(100),
            Slowest::Thousandth => requests.div_ceil(1_000),
        }
    }

    /// In words, and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Slowest::Hundred => "slowest 100",
            Slowest::Thousandth => "slowest thousandth",
        }
    }
}

/// How many of the slowest requests of all rounds overlap a pause.
#[derive(Clone, PartialEq, Debug)]
pub struct SlowestRow {
    /// Which requests.
    pub which: Slowest,
    /// All rounds together: each shifted apart from the others.
    pub all: Meetings,
    /// The p-value, corrected for the number of cells that were tested (Holm); 1 until that is known.
    pub p_corrected: f64,
    /// The same with stalls of single threads counted as pauses; `None` where there are none.
    pub with_stalls: Option<Meetings>,
}

/// Whose a cell's tail is, as far as was tested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// The harness has no JVM that could pause.
    NoJvm,
    /// Without a log nobody can tell.
    NoLog,
    /// The log exists, and does not tell.
    Trouble,
    /// Its JVM did not pause in the measured time.
    NoPause,
    /// At least half of the slowest 100 overlap a pause, more than by chance, and most rounds' longest response was spent in one.
    Harness,
    /// More of the slowest 100 than by chance overlap a pause, but fewer than half of them, and most rounds' longest response was
    /// spent in one: the maximum is the harness's, and most of the tail is not.
    Maximum,
    /// More of the slowest 100 than by chance overlap a pause, and that is all.
    Partly,
    /// No more of them than by chance.
    NotShown,
    /// Why the test can't tell.
    CannotTell(String),
}

impl Whose {
    /// The name in JSON; stable.
    pub fn key(&self) -> &'static str {
        match self {
            Whose::NoJvm => "no-jvm",
            Whose::NoLog => "no-log",
            Whose::Trouble => "log-trouble",
            Whose::NoPause => "no-pause",
            Whose::Harness => "harness",
            Whose::Maximum => "maximum",
            Whose::Partly => "partly",
            Whose::NotShown => "not-shown",
            Whose::CannotTell(_) => "cannot-tell",
        }
    }
}

/// Cells of one workload, target and load.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The workload.
    pub workload: String,
    /// What answers.
    pub target: String,
    /// How the load is made.
    pub load: LoadModel,
    /// Its cells, as indexes.
    pub cells: Vec<usize>,
    /// Each cell against the one under Epsilon.
    pub against: Vec<AgainstBase>,
    /// Whether the longest response rises with the longest pause, over all rounds of all cells that have pauses.
    pub correlation: Option<RankCorrelation>,
    /// What the group says of the paper's claim.
    pub claim: Claim,
}

/// One cell against the same load under Epsilon.
#[derive(Clone, PartialEq, Debug)]
pub struct AgainstBase {
    /// Which cell.
    pub cell: usize,
    /// Against which.
    pub base: usize,
    /// Why the two can't be compared.
    pub refused: Option<String>,
    /// p50, p99, p99.9 and max; empty where refused.
    pub rows: Vec<TestedRow>,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Quantity {
    /// Requests completed per second.
    Throughput,
    /// A quantile of the response time (service time in a closed loop).
    Quantile(Quantile),
    /// The longest.
    Max,
}

impl Quantity {
    /// `throughput`, `p99`, `max`.
    pub fn name(self) -> String {
        match self {
            Quantity::Throughput => "throughput".to_owned(),
            Quantity::Quantile(quantile) => quantile.name(),
            Quantity::Max => "max".to_owned(),
        }
    }
}

/// One quantity of two cells.
#[derive(Clone, PartialEq, Debug)]
pub struct TestedRow {
    /// Which.
    pub quantity: Quantity,
    /// The cell / the base; `None` where it can't be made.
    pub tested: Option<RoundsRatio>,
    /// The p-value of a difference, corrected for all that is tested of this quantity in the group (Holm).
    pub p_corrected: Option<f64>,
    /// What follows.
    pub finding: Finding,
}

/// What a ratio of two cells says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Within the margin.
    Equivalent,
    /// Different: more than the base.
    Higher,
    /// Different: less than the base.
    Lower,
    /// Neither is shown with these rounds, and why.
    CannotTell(String),
}

impl Finding {
    /// The name in JSON; stable.
    pub fn key(&self) -> &'static str {
        match self {
            Finding::Equivalent => "equivalent",
            Finding::Higher => "higher",
            Finding::Lower => "lower",
            Finding::CannotTell(_) => "cannot-tell",
        }
    }
}

/// The paper's claim: collectors do not move quantiles, and do move maxima.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// All collectors' p50, p99 and p99.9 are equivalent to Epsilon's.
    pub quantiles: Half,
    /// The quantiles that are equivalent under all collectors.
    pub equivalent: Vec<Quantile>,
    /// By how much p99.9 moves at most between any collector and Epsilon: all their intervals lie between 1/(1 + this)
    /// and 1 + this. `None` where one has none.
    pub bound: Option<f64>,
    /// The maximum differs under at least one collector.
    pub maxima: Half,
}

/// One half of the claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Half {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// Not with these rounds.
    CannotTell,
    /// There is nothing to hold it to, and why.
    NotTested(String),
}

impl Half {
    /// The name in JSON; stable.
    pub fn key(&self) -> &'static str {
        match self {
            Half::Holds => "holds",
            Half::Fails => "fails",
            Half::CannotTell => "cannot-tell",
            Half::NotTested(_) => "not-tested",
        }
    }
}

/// One cell with and without its JVM's log.
#[derive(Clone, PartialEq, Debug)]
pub struct LogEffect {
    /// The cell with.
    pub with: usize,
    /// The cell without.
    pub without: usize,
    /// Throughput, p50, p99, p99.9 and max, with / without; empty where refused.
    pub rows: Vec<TestedRow>,
    /// Why the two can't be compared.
    pub refused: Option<String>,
}
