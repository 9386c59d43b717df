//! Whose a cell's tail is.

use super::{CellFigures, CellResult, Pauses, Slowest, Whose};
use crate::limits::ASSOCIATION_P;
use stats::holm;
use units::format_counted;

/// Judges all cells that have pauses; p-values are corrected for their number.
pub(super) fn judge(cells: &mut [CellResult]) {
    for which in Slowest::ALL {
        let mut tested: Vec<&mut CellFigures> =
            cells.iter_mut().filter_map(|cell| cell.figures.as_mut().ok()).collect();
        let row = |figures: &CellFigures| figures.slowest.iter().position(|row| row.which == which);
        tested.retain(|figures| row(figures).is_some());
        let p_values: Vec<f64> =
            tested.iter().filter_map(|figures| Some(figures.slowest(which)?.all.p_value)).collect();
        for (figures, p_corrected) in tested.into_iter().zip(holm(&p_values)) {
            for row in figures.slowest.iter_mut().filter(|row| row.which == which) {
                row.p_corrected = p_corrected;
            }
        }
    }
    let seen = cells.iter_mut().filter_map(|cell| cell.figures.as_mut().ok());
    for figures in seen.filter(|figures| matches!(figures.pauses, Pauses::Seen(_))) {
        figures.whose = of_pauses(figures);
    }
}

/// The slowest 100 decide.
fn of_pauses(figures: &CellFigures) -> Whose {
    let Some(row) = figures.slowest(Slowest::Hundred) else {
        return Whose::CannotTell("no round has both pauses and requests".to_owned());
    };
    let all = &row.all;
    let shown = row.p_corrected <= ASSOCIATION_P;
    let (spent_paused, _) = figures.maxima_in_pauses();
    let is_maximum = 2 * spent_paused > figures.rounds.len();
    match shown {
        true if 2 * all.met >= all.of && is_maximum => Whose::Harness,
        true if is_maximum => Whose::Maximum,
        true => Whose::Partly,
        false if 2.0 * all.by_chance > all.of as f64 => {
            let by_chance = all.by_chance.round() as u64;
            Whose::CannotTell(format!(
                "pauses are there so often that {by_chance} of the {} would overlap one by chance",
                all.of
            ))
        }
        false if all.p_value <= ASSOCIATION_P => Whose::CannotTell(format!(
            "p = {:.3} of one test becomes {:.2} among those of all cells",
            all.p_value, row.p_corrected
        )),
        false if is_maximum => Whose::CannotTell(format!(
            "{} of {} had the longest response in a pause, but p = {:.2}",
            spent_paused,
            format_counted(figures.rounds.len() as u64, "round", "rounds"),
            all.p_value
        )),
        false => Whose::NotShown,
    }
}
