//! What is said of cells together: each against Epsilon, the paper's claim, and the log's effect.

use record::LoadModel;
use stats::{Points, RankCorrelation, RoundsRatio};
use units::Quantile;

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
    /// What the rounds' values of it are.
    pub fn points(self) -> Points {
        match self {
            Quantity::Throughput | Quantity::Max => Points::Observed,
            Quantity::Quantile(_) => Points::Estimated,
        }
    }

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
    /// The p-value of a difference, corrected for all that the same sentence is said of (Holm): all quantiles of all cells of the
    /// group, or all their maxima; of a log's effects, all quantities.
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
