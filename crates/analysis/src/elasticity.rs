//! The elasticity experiment of Friedrich et al. (BTW 2017): what three ways of measuring say of a cluster that a node joins.
//!
//! Two runs, each on a cluster of its own: an open loop, whose response times count from the intended start, and a closed loop of
//! sessions that each keep a rate, as YCSB's threads do. The second one gives two curves: *plain*, from when the request was
//! sent, which is what such a harness reports unless told otherwise, and *intended*, from when the session's own schedule said.
//!
//! ```text
//!  recording of each run ──scan──► windows of each curve (drawn), spans of each curve (estimates)
//!  join's phases of each run ────► where the spans begin and end
//! ```

use crate::input::Options;
use record::{LoadModel, PhaseKind, RecordError, Recording, RunHeader, SampleBatch};
use stats::Distribution;
use units::{Estimate, Instant, Nanos, Outcome, OutcomeClass, Quantile};

/// What is counted from when.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reported {
    /// A closed loop's requests, from when they were sent.
    Plain,
    /// The same requests, from when their session's schedule said.
    Intended,
    /// An open loop's, from the intended start.
    Open,
}

impl Reported {
    /// All three, as they are shown.
    pub const ALL: [Reported; 3] = [Reported::Plain, Reported::Intended, Reported::Open];

    /// The name in tables and documents.
    pub fn name(self) -> &'static str {
        match self {
            Reported::Plain => "plain",
            Reported::Intended => "intended",
            Reported::Open => "open",
        }
    }

    fn is_of(self, model: LoadModel) -> bool {
        match self {
            Reported::Plain | Reported::Intended => model == LoadModel::ThrottledClosed,
            Reported::Open => model == LoadModel::Open,
        }
    }
}

/// A phase of a join, on its run's axis.
#[derive(Clone, PartialEq, Debug)]
pub struct JoinPhase {
    /// `starting`, `joining`, `streaming`, `normal`.
    pub name: String,
    /// Its first moment.
    pub begin: Instant,
    /// The next one's; none for the last.
    pub end: Instant,
}

/// A run, and what was seen of the join in it.
pub struct ElasticityRun {
    /// The recording.
    pub recording: Recording,
    /// In their order.
    pub phases: Vec<JoinPhase>,
}

/// What a run was, beside its times.
#[derive(Clone, PartialEq, Debug)]
pub struct ElasticityJoin {
    /// Its recording's header.
    pub header: RunHeader,
    /// `valid`, `suspect` or `invalid`, as the recording says; empty where it has no verdict.
    pub verdict: String,
    /// The join's phases.
    pub phases: Vec<JoinPhase>,
}

/// A window of a curve, to be drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ElasticityPoint {
    /// Its first moment.
    pub at: Instant,
    /// Requests that began in it.
    pub requests: u64,
    /// Mean, ns.
    pub mean: f64,
    /// The value that 99 % of the window's requests do not exceed, ns.
    pub p99: f64,
    /// The largest, ns.
    pub longest: f64,
}

/// A part of a run: before, during and after the join.
#[derive(Clone, PartialEq, Debug)]
pub struct ElasticitySpan {
    /// `before`, `during`, `after`.
    pub name: &'static str,
    /// Requests that began in it.
    pub requests: u64,
    /// Of those, requests that failed or were given up.
    pub failed: u64,
    /// Mean, ns.
    pub mean: Option<Estimate>,
    /// ns; `None` where there are too few requests for it.
    pub p99: Option<Estimate>,
    /// ns.
    pub longest: Option<Estimate>,
}

/// One of the three.
#[derive(Clone, PartialEq, Debug)]
pub struct ElasticityCurve {
    /// Which.
    pub reported: Reported,
    /// Its windows, those without requests left out.
    pub points: Vec<ElasticityPoint>,
    /// Before, during and after the join, as far as there were such.
    pub spans: Vec<ElasticitySpan>,
}

/// The whole experiment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Elasticity {
    /// The runs.
    pub joins: Vec<ElasticityJoin>,
    /// The curves of which there is a run.
    pub curves: Vec<ElasticityCurve>,
    /// Width of the windows.
    pub width: Nanos,
}

/// As many windows are drawn, about.
const WINDOWS: u64 = 240;

/// One request of a curve.
struct Timed {
    at: u64,
    value: u64,
    outcome: Outcome,
}

/// Looks at the runs.
///
/// # Errors
/// A recording that can't be read.
pub fn elasticity(runs: &[ElasticityRun], options: &Options) -> Result<Elasticity, RecordError> {
    let longest = runs.iter().map(|run| measured(run.recording.header()).1.0).max().unwrap_or(0);
    // Whole tenths of a second, so that windows of all runs are the same.
    let width = Nanos((longest / WINDOWS / 100_000_000).max(1) * 100_000_000);
    let mut found = Elasticity { width, ..Elasticity::default() };
    for run in runs {
        let header = run.recording.header();
        found.joins.push(ElasticityJoin {
            header: header.clone(),
            verdict: run.recording.verdict().map(|verdict| verdict.state.clone()).unwrap_or_default(),
            phases: run.phases.clone(),
        });
        for reported in Reported::ALL.into_iter().filter(|one| one.is_of(header.load.model)) {
            let requests = requests(&run.recording, reported)?;
            found.curves.push(ElasticityCurve {
                reported,
                points: points(&requests, width),
                spans: spans(&requests, run, options),
            });
        }
    }
    found.curves.sort_by_key(|curve| Reported::ALL.iter().position(|one| *one == curve.reported));
    Ok(found)
}

/// From the end of the warm-up to the end of the load.
fn measured(header: &RunHeader) -> (Instant, Instant) {
    let warm = header.phases.iter().filter(|phase| phase.kind == PhaseKind::WarmUp).map(|phase| phase.end);
    let begin = warm.filter(|end| end.is_some()).max().unwrap_or(Instant::EPOCH);
    let ends = header.phases.iter().map(|phase| phase.end).filter(|end| end.is_some());
    (begin, ends.max().unwrap_or(begin))
}

/// All of the measured time, by their begin.
fn requests(recording: &Recording, reported: Reported) -> Result<Vec<Timed>, RecordError> {
    let (begin, end) = measured(recording.header());
    let take = |all: &mut Vec<Timed>, batch: &SampleBatch| {
        for at in 0..batch.len() {
            let Some(sample) = batch.get(at) else { continue };
            let from = if reported == Reported::Plain { sample.sent } else { sample.intended };
            let Some(value) = sample.completed.since(from).filter(|_| begin <= from && from < end) else {
                continue;
            };
            all.push(Timed { at: from.0, value: value.0, outcome: sample.outcome });
        }
    };
    let parts = recording.scan(1, Vec::new, take)?;
    let mut all: Vec<Timed> = parts.into_iter().flatten().collect();
    all.sort_by_key(|one| one.at);
    Ok(all)
}

fn points(requests: &[Timed], width: Nanos) -> Vec<ElasticityPoint> {
    requests
        .chunk_by(|a, b| a.at / width.0 == b.at / width.0)
        .map(|window| {
            let mut values: Vec<u64> = window.iter().map(|one| one.value).collect();
            values.sort_unstable();
            let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
            // The smallest value that is no smaller than 99 % of them.
            let rank = (values.len() * 99).div_ceil(100).max(1) - 1;
            ElasticityPoint {
                at: Instant(window[0].at / width.0 * width.0),
                requests: values.len() as u64,
                mean: sum as f64 / values.len() as f64,
                p99: values[rank] as f64,
                longest: values[values.len() - 1] as f64,
            }
        })
        .collect()
}

/// Where the join begins and, where it was over in time, ends.
fn bounds(phases: &[JoinPhase]) -> (Option<Instant>, Option<Instant>) {
    let over = phases.iter().find(|phase| phase.name == NORMAL).map(|phase| phase.begin);
    (phases.first().map(|phase| phase.begin), over)
}

/// The phase of a node that has joined.
const NORMAL: &str = "normal";

fn spans(requests: &[Timed], run: &ElasticityRun, options: &Options) -> Vec<ElasticitySpan> {
    let (begin, over) = bounds(&run.phases);
    let begin = begin.map_or(u64::MAX, |at| at.0);
    let over = over.map_or(u64::MAX, |at| at.0);
    let cut = |at: u64| requests.partition_point(|one| one.at < at);
    let (first, second) = (cut(begin), cut(over).max(cut(begin)));
    let parts = [
        ("before", &requests[..first]),
        ("during", &requests[first..second]),
        ("after", &requests[second..]),
    ];
    parts
        .into_iter()
        .filter(|(_, part)| !part.is_empty())
        .map(|(name, part)| span(name, part, options))
        .collect()
}

fn span(name: &'static str, requests: &[Timed], options: &Options) -> ElasticitySpan {
    let mut all = Distribution::new(Instant(requests.first().map_or(0, |one| one.at)));
    let mut failed = 0;
    for one in requests {
        let (at, value) = (Instant(one.at), Nanos(one.value));
        if one.outcome.is_censored() {
            all.record_censored(at, value)
        } else {
            all.record(at, value)
        }
        failed += u64::from(!matches!(
            one.outcome.class(),
            OutcomeClass::Ok | OutcomeClass::Miss | OutcomeClass::Abort
        ));
    }
    let view = all.view();
    let p99 = Quantile::new(0.99);
    ElasticitySpan {
        name,
        requests: all.count(),
        failed,
        mean: view.moments(options.level, options.seed.derive(name)).map(|moments| moments.mean),
        p99: p99.and_then(|q| view.quantile(q, options.level)),
        longest: view.maximum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(requests: &[(u64, u64)]) -> Vec<Timed> {
        requests.iter().map(|&(at, value)| Timed { at, value, outcome: Outcome::Ok }).collect()
    }

    #[test]
    fn windows_hold_what_began_in_them() {
        let requests: Vec<(u64, u64)> = (0..300).map(|n| (n * 10_000_000, n % 100 + 1)).collect();
        let points = points(&timed(&requests), Nanos(1_000_000_000));
        assert_eq!(points.len(), 3);
        for (second, point) in (0..).zip(&points) {
            assert_eq!((point.at, point.requests), (Instant(second * 1_000_000_000), 100));
            assert_eq!((point.mean, point.p99, point.longest), (50.5, 99.0, 100.0));
        }
    }

    #[test]
    fn a_join_that_is_not_over_has_no_end() {
        let phase = |name: &str, begin| JoinPhase {
            name: name.to_owned(),
            begin: Instant(begin),
            end: Instant::NONE,
        };
        assert_eq!(bounds(&[]), (None, None));
        assert_eq!(bounds(&[phase("starting", 3), phase("joining", 4)]), (Some(Instant(3)), None));
        let all = [phase("starting", 3), phase("joining", 4), phase("normal", 9)];
        assert_eq!(bounds(&all), (Some(Instant(3)), Some(Instant(9))));
    }
}
