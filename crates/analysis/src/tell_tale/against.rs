//! Cells against each other: collectors against Epsilon, and with the log against without.

use super::cells::{QUANTILES, correlation};
use super::claim::claim;
use super::{
    AgainstBase, CellFigures, CellResult, Finding, Group, LogEffect, LookOptions, Quantity, Spread, TestedRow,
};
use crate::limits::SAME_RATE;
use stats::{RoundsRatio, holm, ratio_of_rounds};
use units::{Bound, Quantile, format_counted, format_nanos};

/// Level of the ratios' intervals: two one-sided tests at 5 % each.
pub(super) const LEVEL: f64 = 0.9;
/// Corrected probability up to which a difference is shown.
const P_DIFFERENT: f64 = 0.05;

/// All groups, in the order of their first cells.
pub(super) fn groups(cells: &[CellResult], options: &LookOptions) -> Vec<Group> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, result) in cells.iter().enumerate() {
        match groups.iter_mut().find(|group| cells[group[0]].cell.same_load(&result.cell)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups.into_iter().map(|members| group(cells, members, options)).collect()
}

fn group(cells: &[CellResult], members: Vec<usize>, options: &LookOptions) -> Group {
    let first = &cells[members[0]].cell;
    let mut against: Vec<AgainstBase> = members
        .iter()
        .flat_map(|&cell| bases(cells, &members, cell).into_iter().map(move |base| (cell, base)))
        .map(|(cell, base)| {
            let (rows, refused) = rows(cells, (cell, base), &compared(), options.margin);
            AgainstBase { cell, base, refused, rows }
        })
        .collect();
    let is_collector = |one: &AgainstBase| cells[one.cell].cell.collector().is_some();
    conclude_groups(&mut against, is_collector, options.margin);
    let figures = |index: &usize| cells[*index].figures.as_ref().ok();
    let rounds: Vec<&[super::RoundFigures]> =
        members.iter().filter_map(figures).map(|figures| figures.rounds.as_slice()).collect();
    Group {
        workload: first.workload.clone(),
        target: first.target.clone(),
        load: first.load,
        claim: claim(cells, &members, &against),
        correlation: correlation(&rounds, options),
        against,
        cells: members,
    }
}

/// The cells that one is held against: of a collector, the same tool's under Epsilon with the log as it has it, or else
/// any; of a harness without a JVM, each tool's.
fn bases(cells: &[CellResult], members: &[usize], cell: usize) -> Vec<usize> {
    let own = &cells[cell].cell;
    if own.is_base() {
        return Vec::new();
    }
    let candidates: Vec<usize> =
        members.iter().copied().filter(|other| cells[*other].cell.is_base()).collect();
    let best_of = |tool: &str, jvm_log: Option<bool>| {
        let of_tool = || candidates.iter().copied().filter(|other| cells[*other].cell.tool() == tool);
        let ran = |other: &usize| cells[*other].figures.is_ok();
        let alike = |other: &usize| cells[*other].cell.jvm_log == jvm_log;
        of_tool().find(|o| ran(o) && alike(o)).or_else(|| of_tool().find(ran)).or_else(|| of_tool().next())
    };
    if own.collector().is_some() {
        return best_of(own.tool(), own.jvm_log).into_iter().collect();
    }
    let mut tools: Vec<&str> = candidates.iter().map(|other| cells[*other].cell.tool()).collect();
    tools.dedup();
    tools.into_iter().filter_map(|tool| best_of(tool, Some(true))).collect()
}

pub(super) fn quantiles() -> impl Iterator<Item = Quantile> {
    QUANTILES.into_iter().filter_map(Quantile::new)
}

fn compared() -> Vec<Quantity> {
    quantiles().map(Quantity::Quantile).chain([Quantity::Max]).collect()
}

/// One row for each quantity of a cell and its base, not yet concluded; or why there is none.
fn rows(
    cells: &[CellResult],
    (cell, base): (usize, usize),
    quantities: &[Quantity],
    margin: f64,
) -> (Vec<TestedRow>, Option<String>) {
    let sides = match (&cells[base].figures, &cells[cell].figures) {
        (Ok(base), Ok(new)) => (base, new),
        (Err(_), _) => return (Vec::new(), Some(format!("{} was not run", cells[base].cell.harness))),
        (_, Err(why)) => return (Vec::new(), Some(why.clone())),
    };
    if let Some(why) = different_loads(sides) {
        return (Vec::new(), Some(why));
    }
    let row = |quantity: &Quantity| {
        let spreads = of(sides.0, *quantity).zip(of(sides.1, *quantity));
        let points = quantity.points();
        let tested =
            spreads.and_then(|(base, new)| ratio_of_rounds(&base.estimates, &new.estimates, points, LEVEL));
        let finding = Finding::CannotTell(why_none(sides, *quantity, tested.as_ref(), margin));
        TestedRow { quantity: *quantity, tested, p_corrected: None, finding }
    };
    (quantities.iter().map(row).collect(), None)
}

fn of(figures: &CellFigures, quantity: Quantity) -> Option<&Spread> {
    match quantity {
        Quantity::Throughput => Some(&figures.throughput),
        Quantity::Quantile(quantile) => figures.quantile(quantile),
        Quantity::Max => Some(&figures.max),
    }
}

/// Times depend on the rate.
fn different_loads((base, new): (&CellFigures, &CellFigures)) -> Option<String> {
    if base.measure != new.measure {
        return Some(format!("{} against {}: not the same time", new.measure.name(), base.measure.name()));
    }
    let (a, b) = (base.offered?.get(), new.offered?.get());
    ((a / b - 1.0).abs() > SAME_RATE)
        .then(|| format!("offered {b:.0}/s against {a:.0}/s: times depend on the rate"))
}

fn why_none(
    (base, new): (&CellFigures, &CellFigures),
    quantity: Quantity,
    tested: Option<&RoundsRatio>,
    margin: f64,
) -> String {
    let fewest = base.rounds.len().min(new.rounds.len());
    let carried = [base, new].into_iter().all(|side| of(side, quantity).is_some());
    let finest = base.finest().max(new.finest());
    let is_below = |side: &CellFigures| of(side, quantity).is_some_and(|s| s.most < finest.0 as f64);
    let is_hidden = |side: &CellFigures| {
        of(side, quantity).is_some_and(|s| s.estimates.iter().any(|one| one.bound == Bound::AtLeast))
    };
    match (carried, fewest) {
        _ if is_below(base) && is_below(new) => {
            format!("both are below {}, the finest step that the tool tells", format_nanos(finest))
        }
        (false, _) => format!("the rounds have too few requests for a {}", quantity.name()),
        (_, 0 | 1) => "one round tells nothing of the next: two at least, better five".to_owned(),
        _ if is_hidden(base) && is_hidden(new) => {
            "timeouts hide how long requests of both would have taken".to_owned()
        }
        _ if is_hidden(base) || is_hidden(new) => {
            "timeouts hide how long requests of one would have taken, and nothing else is shown".to_owned()
        }
        _ if tested.is_some_and(|tested| !tested.knows_within) => {
            "not different, and too much alike within the rounds for an interval, without which no equality is shown"
                .to_owned()
        }
        (_, rounds) => {
            let rounds = format_counted(rounds as u64, "round", "rounds");
            format!("neither equal within ±{:.0} % nor different: {rounds} scatter too much", 100.0 * margin)
        }
    }
}

/// Two questions: do collectors differ, and does a harness without any? And each of quantiles and of maxima: one sentence is said
/// of all quantiles, and a single one that differs by chance would make it false. Each is corrected for by itself.
pub(super) fn conclude_groups(
    against: &mut [AgainstBase],
    is_collector: impl Fn(&AgainstBase) -> bool,
    margin: f64,
) {
    for (asks, of_max) in [(true, false), (true, true), (false, false), (false, true)] {
        let of_question = against.iter_mut().filter(|one| is_collector(one) == asks);
        let rows = of_question.flat_map(|one| &mut one.rows);
        conclude(rows.filter(|row| (row.quantity == Quantity::Max) == of_max).collect(), margin);
    }
}

/// Fills in what follows from the ratios of one family: corrected p-values, and findings.
fn conclude(family: Vec<&mut TestedRow>, margin: f64) {
    let mut tested: Vec<(&mut TestedRow, RoundsRatio)> =
        family.into_iter().filter_map(|row| row.tested.clone().map(|tested| (row, tested))).collect();
    let corrected = holm(&tested.iter().map(|(_, tested)| tested.p_value).collect::<Vec<f64>>());
    for ((row, tested), p_corrected) in tested.iter_mut().zip(corrected) {
        row.p_corrected = Some(p_corrected);
        let differs = p_corrected <= P_DIFFERENT;
        row.finding = match tested.is_within(margin) {
            true => Finding::Equivalent,
            false if differs && tested.may_be_higher() => Finding::Higher,
            false if differs && tested.may_be_lower() => Finding::Lower,
            false => row.finding.clone(),
        };
    }
}

/// Each cell with a log against the same one without.
pub(super) fn log_effects(cells: &[CellResult], options: &LookOptions) -> Vec<LogEffect> {
    let has = |jvm_log: bool| {
        let wanted = move |index: &usize| cells[*index].cell.jvm_log == Some(jvm_log);
        (0..cells.len()).filter(wanted)
    };
    let quantities: Vec<Quantity> = [Quantity::Throughput].into_iter().chain(compared()).collect();
    let mut found = Vec::new();
    for without in has(false) {
        let own = &cells[without].cell;
        let same =
            |with: &usize| cells[*with].cell.same_load(own) && cells[*with].cell.harness == own.harness;
        let Some(with) = has(true).find(same) else { continue };
        let (rows, refused) = rows(cells, (with, without), &quantities, options.margin);
        found.push(LogEffect { with, without, rows, refused });
    }
    conclude(found.iter_mut().flat_map(|effect| &mut effect.rows).collect(), options.margin);
    found
}
