//! The figures of the tell-tale experiment: throughput, boxes, and cells over time.
//!
//! After Fruth et al. (TPCTC 2021), who drew one round; here each has what its rounds differ by.

mod boxes;
mod panel;
mod series;
mod throughput;

use super::canvas::Canvas;
use super::palette::{GREY, INK};
use crate::tell_tale::label;
use analysis::tell_tale::{Group, TellTale};

/// All figures: (name, SVG text). The name is fit for a file or an anchor.
///
/// In this order: `throughput`; for each group, counted from 0, `boxes-0`, `operations-0` where there are several,
/// `series-0`; for each cell of several rounds, counted from 0, `rounds-0`. A cell over time takes at most 60 KB, however long
/// it ran: of more than 1,000 extremes columns are drawn, from which none is missing.
pub fn tell_tale_figures(tell_tale: &TellTale) -> Vec<(String, String)> {
    let mut figures = vec![("throughput".to_owned(), throughput::figure(tell_tale))];
    for (index, group) in tell_tale.groups.iter().enumerate() {
        figures.push((format!("boxes-{index}"), boxes::of_all(tell_tale, group)));
        figures.push((format!("operations-{index}"), boxes::of_operations(tell_tale, group)));
        figures.push((format!("series-{index}"), series::of_group(tell_tale, group)));
    }
    for index in 0..tell_tale.cells.len() {
        figures.push((format!("rounds-{index}"), series::of_rounds(tell_tale, index)));
    }
    figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// The name of a cell at the left of its row.
fn row_name(canvas: &mut Canvas, (right, y): (f64, f64), name: &str) {
    let name = super::boxes::cut_to(name, right - 30.0);
    canvas.text((right, y + 4.0), super::canvas::Anchor::End, INK, &name);
}

/// What stands in a row whose cell was not run.
fn row_why(canvas: &mut Canvas, (left, y): (f64, f64), room: f64, why: &str) {
    let why = super::boxes::cut_to(&format!("not run: {why}"), room);
    canvas.text((left, y + 4.0), super::canvas::Anchor::Start, GREY, &why);
}

/// The cells of a group with their names in it.
fn members<'a>(tell_tale: &'a TellTale, group: &'a Group) -> impl Iterator<Item = (usize, String)> + 'a {
    group.cells.iter().map(move |cell| (*cell, label(tell_tale, group, *cell)))
}
