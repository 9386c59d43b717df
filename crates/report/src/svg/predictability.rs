//! The two ratios of each cell, with the published ones below.

use super::axis::{Axis, linear_ticks, plain};
use super::canvas::{Anchor, Canvas, Key, WIDTH};
use super::palette::{BLUE, GREY, INK, LIGHT_GREY, VERMILION};
use crate::predictability::{PUBLISHED, cell_name, found};
use analysis::{Predictability, PredictabilityCell, Work};
use units::Estimate;

const LEFT: f64 = 200.0;
const MIDDLE: f64 = 590.0;
const RIGHT: f64 = WIDTH - 40.0;
const ROW: f64 = 34.0;
/// The two panels: quantity, words below, from, to.
const PANELS: [(&str, &str, f64, f64); 2] = [
    ("coefficient of variation", "standard deviation / mean", LEFT, MIDDLE - 30.0),
    ("p99/mean", "p99 / mean", MIDDLE + 30.0, RIGHT),
];

/// The figure as an SVG file; `None` where no cell has times.
pub fn predictability_figure(experiment: &Predictability) -> Option<String> {
    let cells: Vec<&PredictabilityCell> =
        experiment.cells.iter().filter(|cell| cell.times.is_some()).collect();
    if cells.is_empty() {
        return None;
    }
    let caption = "How far response times spread around their mean, and how far their tail reaches beyond it, at one \
                   constant rate. Lines are intervals between runs. Further left is more predictable.";
    let mut canvas = Canvas::of("TPC-C at one rate", "Spread and tail, as shares of the mean", caption);
    canvas.legend(&[
        (Key::Dot, BLUE, "standard mix"),
        (Key::Dot, VERMILION, "requests that all ask for the same"),
        (Key::Ring, LIGHT_GREY, "published"),
    ]);
    let rows = cells.len() + PUBLISHED.len();
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + ROW * rows as f64);
    for (quantity, words, from, to) in PANELS {
        let published =
            |(_, spread, tail): (&str, f64, f64)| if quantity == "p99/mean" { tail } else { spread };
        let most = cells.iter().filter_map(|cell| found(cell, quantity)).map(upper);
        let most = most.chain(PUBLISHED.map(published)).fold(1.0, f64::max) * 1.05;
        let x = Axis::linear(0.0, most, from, to);
        let ticks: Vec<(f64, String)> =
            linear_ticks(0.0, most, 5).into_iter().map(|tick| (tick, plain(tick))).collect();
        x.draw_below(&mut canvas, (top, bottom), &ticks);
        for (row, cell) in cells.iter().enumerate() {
            if let Some(estimate) = found(cell, quantity) {
                mark(&mut canvas, estimate, colour(cell.work), &x, height(top, row));
            }
        }
        for (row, one) in PUBLISHED.into_iter().enumerate() {
            canvas.ring((x.place(published(one)), height(top, cells.len() + row)), LIGHT_GREY);
        }
        canvas.text(((from + to) / 2.0, bottom + 38.0), Anchor::Middle, GREY, words);
    }
    let names = cells.iter().map(|cell| (cell_name(cell), INK));
    let names = names.chain(PUBLISHED.map(|(server, ..)| (format!("{server}, published"), GREY)));
    for (row, (name, colour)) in names.enumerate() {
        canvas.text((LEFT - 14.0, height(top, row) + 4.0), Anchor::End, colour, &name);
    }
    Some(canvas.finish(bottom + 54.0))
}

fn height(top: f64, row: usize) -> f64 {
    top + ROW * (row as f64 + 0.5)
}

fn colour(work: Work) -> &'static str {
    match work {
        Work::Standard => BLUE,
        Work::Alike => VERMILION,
    }
}

fn upper(estimate: &Estimate) -> f64 {
    estimate.interval.map_or(estimate.point, |(_, high)| high)
}

fn mark(canvas: &mut Canvas, estimate: &Estimate, colour: &str, x: &Axis, y: f64) {
    if let Some((low, high)) = estimate.interval {
        let (low, high) = (x.place(low.max(0.0)), x.place(high));
        canvas.line((low, y), (high, y), colour, 1.6);
        for end in [low, high] {
            canvas.line((end, y - 5.0), (end, y + 5.0), colour, 1.6);
        }
    }
    canvas.dot((x.place(estimate.point), y), 4.5, colour);
}
