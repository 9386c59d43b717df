//! One set of runs against another.

use crate::compared::{ComparedRow, rows};
use crate::{Analysis, MeasureSummary, RecordingInfo, VerdictState, facts, limits, planned};
use record::{LoadModel, Measure, Provenance, RunHeader};
use stats::Difference;
use std::collections::BTreeSet;
use units::{Quantile, format_count, format_counted};

/// How to compare.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareOptions {
    /// Two sides whose ratio certainly lies within 1 ± this are called equivalent; `None` does not ask.
    pub margin: Option<f64>,
    /// The quantile that decides.
    pub headline: Quantile,
    /// Compares different load models or offered rates all the same.
    pub allow_different_loads: bool,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions { margin: None, headline: limits::headline(), allow_different_loads: false }
    }
}

/// Why runs can't be compared. One line each.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CompareError {
    /// A side has no run.
    #[error("nothing to compare on the {side} side: name at least one recording")]
    Nothing {
        /// `base` or `new`.
        side: &'static str,
    },
    /// A run has no samples.
    #[error("{name} has no measured request: repeat the run")]
    NoSamples {
        /// The recording.
        name: String,
    },
    /// The load models differ.
    #[error(
        "{first}: {first_model}, {second}: {second_model}: their times are not of the same kind; \
         compare runs of one load model, or compare their service times with --force"
    )]
    Models {
        /// A recording.
        first: String,
        /// Its model.
        first_model: &'static str,
        /// Another.
        second: String,
        /// Its model.
        second_model: &'static str,
    },
    /// The offered rates differ.
    #[error(
        "{first} was offered {first_rate:.1}/s and {second} {second_rate:.1}/s: response times depend on the \
         rate; repeat one of them at the other's rate, or compare them with --force"
    )]
    Rates {
        /// A recording.
        first: String,
        /// Its rate.
        first_rate: f64,
        /// Another.
        second: String,
        /// Its rate.
        second_rate: f64,
    },
}

/// Two sides, quantity by quantity.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Which time decides: response time, or service time for closed loops and different models.
    pub measure: Measure,
    /// Names of the base's recordings, and its worst verdict.
    pub base: (Vec<String>, VerdictState),
    /// The same of the new side.
    pub new: (Vec<String>, VerdictState),
    /// Runs of the base and of the new side; a run has as many recordings as it had clients.
    pub runs: (usize, usize),
    /// Of that time: quantiles ascending, maximum, mean; then the spreads: variance, standard deviation,
    /// coefficient of variation, p99/mean, max/median, median/min. A row that a side lacks is left out.
    pub rows: Vec<ComparedRow>,
    /// The same of the times that don't decide: the service time beside the response time; empty when the
    /// service time is the one that decides.
    pub others: Vec<ComparedMeasure>,
    /// The difference in the quantity that decides.
    pub difference: Difference,
    /// Which that is: the headline quantile, or the highest one below that both sides carry.
    pub decided_by: String,
    /// What the reader must know: different loads, few runs, verdicts that are not valid.
    pub warnings: Vec<String>,
}

/// One time on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedMeasure {
    /// Which time.
    pub measure: Measure,
    /// In the order of [`Comparison::rows`].
    pub rows: Vec<ComparedRow>,
}

/// Compares runs of a base with runs of something new; several runs on a side are repeats of it.
///
/// Intervals are those of the analyses' level, row by row: of twenty rows without any difference, one will
/// show one at 95 %. That is why one row, named beforehand, decides. With three or more runs on a side the
/// spread between them makes its interval (`stats::across_runs`).
///
/// # Errors
/// When a side is empty or without samples, or the loads differ and that was not allowed.
pub fn compare(
    base: &[&Analysis],
    new: &[&Analysis],
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    for (side, name) in [(base, "base"), (new, "new")] {
        if side.is_empty() {
            return Err(CompareError::Nothing { side: name });
        }
    }
    let all: Vec<&Analysis> = base.iter().chain(new).copied().collect();
    let mut warnings = Vec::new();
    for other in &all[1..] {
        match (same_load(all[0], other), options.allow_different_loads) {
            (Err(error), false) => return Err(error),
            (Err(error), true) => warnings.push(format!("the loads differ: {error}")),
            (Ok(()), _) => {}
        }
    }
    let has_response = all.iter().all(|a| model(a).has_response_time());
    let measure = if has_response { Measure::Response } else { Measure::Service };
    let sides = (summaries(base, measure)?, summaries(new, measure)?);
    let rows = rows(&sides.0, &sides.1, options.margin);
    let headline = headline(&rows, &sides.0, options);
    let service = (measure != Measure::Service).then(|| service(base, new, options)).flatten();
    warnings.extend(unlike(base, new));
    warnings.extend(unequal(&sides.0, &sides.1));
    warnings.extend(cautions(&all, base.len(), new.len()));
    Ok(Comparison {
        measure,
        base: side(base),
        new: side(new),
        runs: (base.len(), new.len()),
        difference: headline.map_or(Difference::NotShown, |row| row.difference),
        decided_by: headline.map_or_else(|| "mean".to_owned(), |row| row.name.clone()),
        rows,
        others: service.into_iter().collect(),
        warnings,
    })
}

fn first(analysis: &Analysis) -> Option<&RecordingInfo> {
    analysis.recordings.first()
}

fn name(analysis: &Analysis) -> String {
    first(analysis).map_or_else(String::new, |r| r.name.clone())
}

fn model(analysis: &Analysis) -> LoadModel {
    first(analysis).map_or(LoadModel::Closed, |r| r.header.load.model)
}

/// The rate that was asked for: the mean over the measured phases, all clients together. The count would
/// differ by chance between runs of one random process.
fn asked_rate(analysis: &Analysis) -> Option<f64> {
    analysis.recordings.iter().map(|info| planned::rate(&info.header)).sum()
}

fn same_load(a: &Analysis, b: &Analysis) -> Result<(), CompareError> {
    let (first, second) = (name(a), name(b));
    if model(a) != model(b) {
        let (first_model, second_model) = (model(a).name(), model(b).name());
        return Err(CompareError::Models { first, first_model, second, second_model });
    }
    match (asked_rate(a), asked_rate(b)) {
        (Some(first_rate), Some(second_rate))
            if (first_rate - second_rate).abs() > limits::SAME_RATE * first_rate.max(second_rate) =>
        {
            Err(CompareError::Rates { first, first_rate, second, second_rate })
        }
        _ => Ok(()),
    }
}

fn summaries<'a>(side: &[&'a Analysis], measure: Measure) -> Result<Vec<&'a MeasureSummary>, CompareError> {
    let of =
        |a: &&'a Analysis| a.total.measure(measure).ok_or_else(|| CompareError::NoSamples { name: name(a) });
    side.iter().map(of).collect()
}

fn side(runs: &[&Analysis]) -> (Vec<String>, VerdictState) {
    let names = runs.iter().flat_map(|a| a.recordings.iter().map(|r| r.name.clone())).collect();
    (names, runs.iter().map(|a| a.verdict.state).max().unwrap_or(VerdictState::Invalid))
}

/// The service time, where each run has one.
fn service(base: &[&Analysis], new: &[&Analysis], options: &CompareOptions) -> Option<ComparedMeasure> {
    let measure = Measure::Service;
    let (base, new) = (summaries(base, measure).ok()?, summaries(new, measure).ok()?);
    Some(ComparedMeasure { measure, rows: rows(&base, &new, options.margin) })
}

/// The row of the headline quantile, or of the highest below it that both sides carry; else the mean's.
fn headline<'a>(
    rows: &'a [ComparedRow],
    base: &[&MeasureSummary],
    options: &CompareOptions,
) -> Option<&'a ComparedRow> {
    let carried = base[0].quantiles.iter().map(|(q, _)| *q).filter(|q| *q <= options.headline);
    let mut names: Vec<String> = carried.map(|q| q.name()).collect();
    names.reverse();
    names.push("mean".to_owned());
    names.iter().find_map(|name| rows.iter().find(|r| r.name == *name))
}

/// In what the sides are not alike, so that the difference is of it, too.
fn unlike(base: &[&Analysis], new: &[&Analysis]) -> Vec<String> {
    let tool = |header: &RunHeader| match &header.provenance {
        Provenance::Imported { tool } => tool.clone(),
        Provenance::Live | Provenance::Simulated => "truetail".to_owned(),
    };
    let workload = |header: &RunHeader| header.workload.clone();
    let target = |header: &RunHeader| header.target.clone();
    [
        differ("tools", base, new, tool)
            .map(|text| text + ": what each of them adds is part of the difference"),
        differ("workloads", base, new, workload)
            .map(|text| text + ": so does what was asked of the database"),
        differ("targets", base, new, target),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What one side has and the other has not; nothing where a side does not tell.
fn differ(
    what: &str,
    base: &[&Analysis],
    new: &[&Analysis],
    of: impl Fn(&RunHeader) -> String,
) -> Option<String> {
    let names = |side: &[&Analysis]| -> BTreeSet<String> {
        side.iter().flat_map(|run| run.recordings.iter().map(|info| of(&info.header))).collect()
    };
    let (base, new) = (names(base), names(new));
    let is_told = |name: &String| !["", facts::NO_WORKLOAD, facts::NO_TARGET].contains(&name.as_str());
    let told = base.iter().chain(&new).all(is_told);
    let listed = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
    (told && base != new).then(|| format!("the {what} differ, {} and {}", listed(base), listed(new)))
}

/// Runs of different lengths: what lies farthest out lies farther out in the longer ones, and nothing has changed.
fn unequal(base: &[&MeasureSummary], new: &[&MeasureSummary]) -> Option<String> {
    let mean = |side: &[&MeasureSummary]| side.iter().map(|m| m.n).sum::<u64>() / side.len().max(1) as u64;
    let (base, new) = (mean(base), mean(new));
    let apart = base.abs_diff(new) as f64 > limits::SAME_LENGTH * base.max(new) as f64;
    apart.then(|| {
        format!(
            "{} in a base run against {} in a new one: max, max/median and median/min grow with their number",
            format_counted(base, "request", "requests"),
            format_count(new)
        )
    })
}

fn cautions(all: &[&Analysis], base: usize, new: usize) -> Vec<String> {
    let mut found = Vec::new();
    if base.min(new) < 3 {
        found.push(format!(
            "{} against {}: the intervals hold for these runs; with three or more on each side they would hold \
             for the next ones, too",
            format_counted(base as u64, "run", "runs"),
            format_count(new as u64)
        ));
    }
    for analysis in all.iter().filter(|a| a.verdict.state != VerdictState::Valid) {
        let why = analysis.verdict.reasons.first().map_or("", |r| r.text.as_str());
        found.push(format!("{} is {}: {why}", name(analysis), analysis.verdict.state.name()));
    }
    found
}
