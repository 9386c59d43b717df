//! What a group's cells say of the paper's claim: collectors do not move quantiles, and do move maxima.

use super::against::quantiles;
use super::cells::QUANTILES;
use super::{AgainstBase, BASE, CellResult, Claim, Finding, Half, Quantity, TestedRow};
use units::Quantile;

/// What the group's collectors say of the paper's claim.
pub(super) fn claim(cells: &[CellResult], members: &[usize], against: &[AgainstBase]) -> Claim {
    let collectors: Vec<&AgainstBase> = against
        .iter()
        .filter(|one| cells[one.cell].cell.collector().is_some() && !one.rows.is_empty())
        .filter(|one| {
            cells[one.cell].cell.jvm_log != Some(false) || cells[one.base].cell.jvm_log == Some(false)
        })
        .collect();
    if collectors.is_empty() {
        let has_jvm = members.iter().any(|cell| cells[*cell].cell.collector().is_some());
        let why = match has_jvm {
            false => "no harness of the group has a JVM".to_owned(),
            true => format!("there are no two collectors to compare, of which one is {BASE}"),
        };
        return Claim {
            quantiles: Half::NotTested(why.clone()),
            equivalent: Vec::new(),
            bound: None,
            maxima: Half::NotTested(why),
        };
    }
    let rows = |quantity: Quantity| -> Vec<&TestedRow> {
        collectors.iter().filter_map(|one| one.rows.iter().find(|row| row.quantity == quantity)).collect()
    };
    let all_equivalent =
        |quantity: Quantity| rows(quantity).iter().all(|row| row.finding == Finding::Equivalent);
    let any_different = |quantity: Quantity| {
        rows(quantity).iter().any(|row| matches!(row.finding, Finding::Higher | Finding::Lower))
    };
    let equivalent: Vec<Quantile> = quantiles().filter(|q| all_equivalent(Quantity::Quantile(*q))).collect();
    let half = |holds: bool, fails: bool| match (holds, fails) {
        (true, _) => Half::Holds,
        (_, true) => Half::Fails,
        _ => Half::CannotTell,
    };
    Claim {
        quantiles: half(
            equivalent.len() == QUANTILES.len(),
            quantiles().any(|q| any_different(Quantity::Quantile(q))),
        ),
        bound: quantiles().last().and_then(|q| bound(&rows(Quantity::Quantile(q)))),
        equivalent,
        maxima: half(any_different(Quantity::Max), all_equivalent(Quantity::Max)),
    }
}

/// The smallest margin at which all would be equivalent.
fn bound(rows: &[&TestedRow]) -> Option<f64> {
    let margin = |row: &&TestedRow| {
        let (low, high) = row.tested.as_ref()?.bounds()?;
        Some((1.0 / low).max(high) - 1.0)
    };
    let margins: Option<Vec<f64>> = rows.iter().map(margin).collect();
    margins?.into_iter().reduce(f64::max).filter(|bound| bound.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell_tale::Cell;
    use crate::tell_tale::against::{LEVEL, conclude_groups};
    use stats::{holm, ratio_of_rounds};
    use units::{Estimate, Rng, Seed};

    const ROUNDS: usize = 5;
    /// By how much rounds scatter, as a standard deviation of the logarithm.
    const SCATTER: f64 = 0.2;

    fn quantities() -> Vec<Quantity> {
        quantiles().map(Quantity::Quantile).chain([Quantity::Max]).collect()
    }

    fn rounds(rng: &mut Rng, centre: f64) -> Vec<Estimate> {
        let round = |_| {
            let point = centre * (SCATTER * rng.normal()).exp();
            let interval = Some((0.99 * point, 1.01 * point));
            Estimate { interval, level: 0.95, ..Estimate::exact(point, 1_000) }
        };
        (0..ROUNDS).map(round).collect()
    }

    /// Epsilon and five collectors; `factor` says how many times Epsilon's a quantity of one of them is.
    fn group(rng: &mut Rng, factor: impl Fn(usize, Quantity) -> f64) -> (Claim, Vec<AgainstBase>) {
        let names = [BASE, "G1", "ZGC", "Shenandoah", "Parallel", "Serial"];
        let cell = |name: &str| CellResult {
            cell: Cell {
                workload: "NoOp".to_owned(),
                target: "no-op store".to_owned(),
                harness: format!("YCSB, {name}"),
                load: record::LoadModel::Open,
                jvm_log: Some(true),
            },
            figures: Err("made".to_owned()),
        };
        let cells = names.map(cell);
        let base: Vec<Vec<Estimate>> = quantities().iter().map(|_| rounds(rng, 1e6)).collect();
        let mut row = |cell: usize, quantity: Quantity, base: &[Estimate]| {
            let new = rounds(rng, 1e6 * factor(cell, quantity));
            let tested = ratio_of_rounds(base, &new, quantity.points(), LEVEL);
            TestedRow { quantity, tested, p_corrected: None, finding: Finding::CannotTell(String::new()) }
        };
        let mut against: Vec<AgainstBase> = (1..names.len())
            .map(|cell| AgainstBase {
                cell,
                base: 0,
                refused: None,
                rows: quantities().into_iter().zip(&base).map(|(q, base)| row(cell, q, base)).collect(),
            })
            .collect();
        conclude_groups(&mut against, |_| true, 0.25);
        (claim(&cells, &[0, 1, 2, 3, 4, 5], &against), against)
    }

    /// Where all collectors are alike, one group of twenty may be said to have some that are not; not one of ten because there
    /// are three quantiles.
    #[test]
    fn collectors_that_are_alike_are_seldom_said_to_differ() {
        let mut rng = Seed(23).rng();
        let (mut quantiles_move, mut maxima_move, mut each_by_itself) = (0, 0, 0);
        for _ in 0..2_000 {
            let (claim, against) = group(&mut rng, |_, _| 1.0);
            quantiles_move += usize::from(claim.quantiles == Half::Fails);
            maxima_move += usize::from(claim.maxima == Half::Holds);
            let differs = |quantity: Quantity| {
                let of_cell =
                    |one: &AgainstBase| one.rows.iter().find(|row| row.quantity == quantity)?.tested.clone();
                let p: Vec<f64> = against.iter().filter_map(of_cell).map(|tested| tested.p_value).collect();
                holm(&p).iter().any(|p| *p <= 0.05)
            };
            each_by_itself += usize::from(quantiles().any(|q| differs(Quantity::Quantile(q))));
        }
        // 100 of 2,000 at most, and three standard deviations of 9.7.
        assert!(quantiles_move <= 129 && maxima_move <= 129, "{quantiles_move} {maxima_move}");
        assert!(each_by_itself > 129, "corrected quantile by quantile it shows: {each_by_itself}");
    }

    #[test]
    fn one_collector_that_moves_one_quantile_is_found() {
        let mut rng = Seed(29).rng();
        let p99 = quantities()[1];
        let moved = |cell: usize, quantity: Quantity| if (cell, quantity) == (3, p99) { 4.0 } else { 1.0 };
        let found = (0..200).filter(|_| {
            let (claim, against) = group(&mut rng, moved);
            claim.quantiles == Half::Fails && against[2].rows[1].finding == Finding::Higher
        });
        assert!(found.count() > 190);
    }
}
