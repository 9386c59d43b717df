//! One cell: its rounds together.

use super::read::{Read, read};
use super::{
    Cell, CellFigures, CellResult, LookOptions, Pauses, Round, Rounds, Slowest, SlowestRow, Spread, Whose,
    pauses,
};
use crate::compared::combined;
use stats::{Meetings, meetings, rank_correlation};
use units::{Estimate, Quantile};

/// The quantiles that are compared.
pub(super) const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

/// Everything that is said of one cell by itself.
pub(super) fn result(cell: &Cell, rounds: &Rounds, options: &LookOptions) -> CellResult {
    let figures = match rounds {
        Rounds::CanNot(why) => Err(why.clone()),
        Rounds::Ran(rounds) if rounds.is_empty() => Err("no round of it was recorded".to_owned()),
        Rounds::Ran(rounds) => {
            let of_round = |Round { number, recording }: &Round| {
                let path = recording.as_ref().map_err(Clone::clone);
                let read = path.and_then(|path| read(*number, path, &cell.workload, &options.analysis));
                read.map_err(|why| Lost { number: *number, why })
            };
            figures(cell, rounds.iter().map(of_round).collect(), options)
        }
    };
    CellResult { cell: cell.clone(), figures }
}

/// A round that has no figures.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("round {number}: {why}")]
struct Lost {
    number: usize,
    why: String,
}

/// Why not one round has any: each reason, and one of all rounds once.
fn why_none(lost: &[Lost]) -> String {
    match lost {
        [first, others @ ..] if others.iter().all(|other| other.why == first.why) => first.why.clone(),
        _ => lost.iter().map(Lost::to_string).collect::<Vec<_>>().join("; "),
    }
}

fn figures(cell: &Cell, read: Vec<Result<Read, Lost>>, options: &LookOptions) -> Result<CellFigures, String> {
    let (mut rounds, mut lost): (Vec<Read>, Vec<Lost>) = (Vec::new(), Vec::new());
    for one in read {
        match one {
            Ok(read) => rounds.push(read),
            Err(why) => lost.push(why),
        }
    }
    let Some(first) = rounds.first() else { return Err(why_none(&lost)) };
    let (measure, offered) = (first.measure, first.offered);
    if rounds.iter().any(|round| round.measure != measure) {
        return Err("its rounds are of different load models: they can't be laid together".to_owned());
    }
    let spread = |of: &dyn Fn(&Read) -> Option<Estimate>| {
        Spread::of(rounds.iter().map(of).collect::<Option<Vec<_>>>()?)
    };
    let throughput = spread(&|round| Some(round.throughput.clone())).ok_or("no round of it was recorded")?;
    let max = spread(&|round| Some(round.summary.maximum())).ok_or("no round of it was recorded")?;
    let quantiles = QUANTILES.into_iter().filter_map(Quantile::new);
    let quantiles =
        quantiles.filter_map(|q| Some((q, spread(&|round| round.summary.quantile(q).cloned())?))).collect();
    let slowest = slowest(&mut rounds, options);
    let told: Vec<_> = rounds.iter().map(|round| &round.told).collect();
    let pauses = pauses::of_cell(cell.jvm_log, &told);
    let untold = untold(cell, &rounds);
    let shown = max.points.iter().position(|point| *point == max.median).unwrap_or(0);
    let rounds: Vec<super::RoundFigures> = rounds.into_iter().map(|round| round.figures).collect();
    Ok(CellFigures {
        measure,
        offered,
        correlation: correlation(&[&rounds], options),
        rounds,
        lost: lost.iter().map(Lost::to_string).collect(),
        untold,
        throughput,
        quantiles,
        max,
        whose: unjudged(&pauses),
        pauses,
        slowest,
        shown,
    })
}

/// Rounds of a JVM that was to write a log of which none tells.
fn untold(cell: &Cell, rounds: &[Read]) -> Vec<String> {
    let of_log = rounds.iter().filter(|_| cell.jvm_log == Some(true));
    let why = |round: &Read| Some(format!("round {}: {}", round.figures.number, round.told.why_not()?));
    of_log.filter_map(why).collect()
}

/// Before the tests are looked at.
fn unjudged(pauses: &Pauses) -> Whose {
    match pauses {
        Pauses::NoJvm => Whose::NoJvm,
        Pauses::NoLog => Whose::NoLog,
        Pauses::Trouble(_) => Whose::Trouble,
        Pauses::NoPause(_) => Whose::NoPause,
        Pauses::Seen(_) => Whose::CannotTell("nothing of it could be tested".to_owned()),
    }
}

/// Tests whether the slowest requests overlap pauses, round by round and all together.
fn slowest(rounds: &mut [Read], options: &LookOptions) -> Vec<SlowestRow> {
    let mut rows = Vec::new();
    for which in Slowest::ALL {
        let (each, all) = met(rounds, which, false, options);
        for (round, met) in rounds.iter_mut().zip(each) {
            round.figures.slowest.push((which, met));
        }
        let has_stalls =
            rounds.iter().filter_map(|round| round.told.pauses()).any(|pauses| !pauses.stalls.is_empty());
        let with_stalls = if has_stalls { met(rounds, which, true, options).1 } else { None };
        rows.extend(all.map(|all| SlowestRow { which, all, p_corrected: 1.0, with_stalls }));
    }
    rows
}

fn met(
    rounds: &[Read],
    which: Slowest,
    with_stalls: bool,
    options: &LookOptions,
) -> (Vec<Option<Meetings>>, Option<Meetings>) {
    let requests: Vec<Vec<(u64, u64)>> = rounds.iter().map(|round| round.slowest(which)).collect();
    let stops: Vec<Vec<(u64, u64)>> = rounds
        .iter()
        .map(|round| {
            let pauses = round.told.pauses();
            let whole = pauses.into_iter().flat_map(|pauses| &pauses.whole);
            let stalls = pauses.into_iter().flat_map(|pauses| &pauses.stalls).filter(|_| with_stalls);
            whole.chain(stalls).map(|stop| (stop.begin.0, stop.end.0)).collect()
        })
        .collect();
    let series: Vec<stats::Round<'_>> = (rounds.iter().zip(requests.iter().zip(&stops)))
        .map(|(round, (first, second))| stats::Round { first, second, span: round.span })
        .collect();
    let seed = options.analysis.seed.derive(which.name());
    meetings(&series, options.analysis.level, seed)
}

/// Of the longest response with the longest pause, over rounds of one cell or of several.
pub(super) fn correlation(
    cells: &[&[super::RoundFigures]],
    options: &LookOptions,
) -> Option<stats::RankCorrelation> {
    let pair = |round: &super::RoundFigures| {
        let longest = round.pauses.as_ref()?.longest()?;
        Some((round.max.0 as f64, longest.0 as f64))
    };
    let pairs: Vec<(f64, f64)> = cells.iter().flat_map(|rounds| rounds.iter()).filter_map(pair).collect();
    rank_correlation(&pairs, options.analysis.seed)
}

impl Spread {
    /// `None` without rounds.
    pub(super) fn of(estimates: Vec<Estimate>) -> Option<Spread> {
        let points: Vec<f64> = estimates.iter().map(|estimate| estimate.point).collect();
        let mut sorted = points.clone();
        sorted.sort_by(f64::total_cmp);
        Some(Spread {
            median: *sorted.get(sorted.len().saturating_sub(1) / 2)?,
            least: *sorted.first()?,
            most: *sorted.last()?,
            across: combined(&estimates)?,
            points,
            estimates,
        })
    }
}
