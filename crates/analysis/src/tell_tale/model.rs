//! What is said of an experiment, and of each cell by itself.

use super::{Cell, Group, LogEffect, RoundSeries};
use crate::{BoxPlot, VerdictState};
use record::Measure;
use stats::{Meetings, RankCorrelation};
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
    /// Rounds of which no log tells although one should, and why; empty where nobody wrote one.
    pub untold: Vec<String>,
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

    /// In how many rounds the longest request spent at least half of its time in a pause, and of how many that is known.
    pub fn maxima_in_pauses(&self) -> (usize, usize) {
        let known = || self.rounds.iter().filter_map(|round| round.max_paused);
        (known().filter(|share| *share >= 0.5).count(), known().count())
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
    /// Which of the cell's recordings it is, from 1 on.
    pub number: usize,
    /// Its recording.
    pub name: String,
    /// Whether to believe it.
    pub verdict: VerdictState,
    /// Why not, where it is invalid: the offered rate was not reached. What is invalid for another reason is lost.
    pub invalid: Option<String>,
    /// Measured requests.
    pub requests: u64,
    /// The longest request.
    pub max: Nanos,
    /// When it began, since the begin of the measured time.
    pub max_at: Instant,
    /// Share of the longest request's time in which the harness's JVM paused; `None` where no log tells, and where the request is no
    /// longer than the step to which its place is known.
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
    /// The log of each round tells of none in the measured time.
    NoPause(PauseTotals),
    /// It did; not of each round, where some are untold.
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
