//! How predictably databases answer the same work at the same rate: mean, standard deviation, p99, and the two ratios by
//! which Huang et al. (SIGMOD 2017, sect. 2.1, fig. 6, app. C.1) compare them, standard deviation / mean and p99 / mean.
//!
//! What varies with the work itself is not the database's doing. So the same is measured once more with requests that all
//! ask for the same amount of work, and the ratio between the two says what of the variance was inherent.
//!
//! Where we deviate: times are response times of an open loop, from the intended start (theirs begin when a client is free);
//! each figure is the median-like combination of several runs with the interval between them ([`crate::across_repeats`]);
//! and a run whose verdict is invalid counts for nothing.

use crate::compared::{ComparedRow, rows};
use crate::repeats::{RepeatedMeasure, across_repeats};
use crate::{Analysis, MeasureSummary, VerdictState};
use record::{Measure, RunHeader};

/// What requests ask for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Work {
    /// TPC-C's five transactions in their shares, with five to fifteen order lines.
    Standard,
    /// New-Order alone, all with the same number of order lines: what is left of the variance is not inherent in the work.
    Alike,
}

impl Work {
    /// Both.
    pub const ALL: [Work; 2] = [Work::Standard, Work::Alike];

    /// The name in flags and documents.
    pub fn name(self) -> &'static str {
        match self {
            Work::Standard => "standard",
            Work::Alike => "alike",
        }
    }
}

/// The runs of one server with one kind of work, as they were read.
pub struct PredictabilityRuns {
    /// The server's name: `PostgreSQL`.
    pub server: String,
    /// What was asked.
    pub work: Work,
    /// Its runs, in their order.
    pub runs: Vec<Analysis>,
    /// Why others of its runs have no recording, or why it was not run at all.
    pub missing: Vec<String>,
}

/// What one server shows with one kind of work.
#[derive(Clone, PartialEq, Debug)]
pub struct PredictabilityCell {
    /// The server's name.
    pub server: String,
    /// What its first recording says of itself.
    pub header: Option<RunHeader>,
    /// What was asked.
    pub work: Work,
    /// The verdicts of its runs, in their order.
    pub verdicts: Vec<VerdictState>,
    /// Of the runs that are not invalid: offered and achieved requests/s, of the first.
    pub rates: Option<(f64, f64)>,
    /// Response times across the runs that are not invalid.
    pub times: Option<RepeatedMeasure>,
    /// Why there are fewer runs than there should be.
    pub missing: Vec<String>,
}

/// What changes for one server when all requests ask for the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Removal {
    /// The server's name.
    pub server: String,
    /// Alike / standard, of those quantities that both have.
    pub rows: Vec<ComparedRow>,
}

/// The whole experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Predictability {
    /// In the order in which they were given.
    pub cells: Vec<PredictabilityCell>,
    /// For each server with both kinds of work.
    pub removals: Vec<Removal>,
}

/// The quantities of the experiment, by their names in [`RepeatedMeasure::rows`] and [`ComparedRow::name`].
pub const QUANTITIES: [&str; 5] =
    ["mean", "standard deviation", "p99", "coefficient of variation", "p99/mean"];

/// Looks at all runs. Cost ≈ 10 µs for each.
pub fn predictability(runs: &[PredictabilityRuns]) -> Predictability {
    let cells = runs.iter().map(cell).collect();
    let standard = runs.iter().filter(|runs| runs.work == Work::Standard);
    let removals = standard.filter_map(|base| {
        let alike = |other: &&PredictabilityRuns| other.server == base.server && other.work == Work::Alike;
        removal(base, runs.iter().find(alike)?)
    });
    Predictability { cells, removals: removals.collect() }
}

/// The runs that count.
fn counting(runs: &PredictabilityRuns) -> Vec<&Analysis> {
    runs.runs.iter().filter(|run| run.verdict.state != VerdictState::Invalid).collect()
}

fn cell(runs: &PredictabilityRuns) -> PredictabilityCell {
    let counting = counting(runs);
    let times = across_repeats(&counting).into_iter().find(|times| times.measure == Measure::Response);
    let rates = counting.first().and_then(|run| Some((run.offered?.get(), run.achieved.get())));
    let first = runs.runs.first().and_then(|run| run.recordings.first());
    PredictabilityCell {
        server: runs.server.clone(),
        header: first.map(|recording| recording.header.clone()),
        work: runs.work,
        verdicts: runs.runs.iter().map(|run| run.verdict.state).collect(),
        rates,
        times: times.map(|times| RepeatedMeasure {
            rows: times.rows.into_iter().filter(|row| QUANTITIES.contains(&row.name.as_str())).collect(),
            ..times
        }),
        missing: runs.missing.clone(),
    }
}

fn removal(base: &PredictabilityRuns, alike: &PredictabilityRuns) -> Option<Removal> {
    let summaries = |runs: &PredictabilityRuns| -> Option<Vec<MeasureSummary>> {
        let all = counting(runs).into_iter().map(|run| run.total.measure(Measure::Response).cloned());
        all.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
    };
    let (base_times, new_times) = (summaries(base)?, summaries(alike)?);
    let (base_times, new_times): (Vec<_>, Vec<_>) = (base_times.iter().collect(), new_times.iter().collect());
    let all = rows(&base_times, &new_times, None);
    let rows: Vec<ComparedRow> =
        all.into_iter().filter(|row| QUANTITIES.contains(&row.name.as_str())).collect();
    (!rows.is_empty()).then(|| Removal { server: base.server.clone(), rows })
}
