//! Requests per second of each cell, its rounds as dots.

use super::super::axis::{Axis, linear_ticks, plain};
use super::super::canvas::{Anchor, Canvas, Key, WIDTH};
use super::super::palette::{BLUE, GREY, INK, SKY};
use super::{members, row_name, row_why};
use crate::tell_tale::group_name;
use analysis::tell_tale::{CellFigures, TellTale};

const LEFT: f64 = 190.0;
/// Right of the plot is room for the numbers.
const RIGHT: f64 = WIDTH - 250.0;
const ROW: f64 = 26.0;
/// From this ratio of the largest to the least on, the axis is logarithmic.
const LOG_FROM: f64 = 10.0;

pub(super) fn figure(tell_tale: &TellTale) -> Option<String> {
    let ran = || tell_tale.cells.iter().filter_map(|cell| cell.figures.as_ref().ok());
    let points = || ran().flat_map(ends).filter(|v| v.is_finite() && *v > 0.0);
    let (least, most) = (points().fold(f64::INFINITY, f64::min), points().fold(0.0, f64::max));
    if most <= 0.0 {
        return None;
    }
    let is_log = most > LOG_FROM * least;
    let caption = "Requests that completed per second of the measured time. Dots are rounds, the bar is their geometric mean with \
                   Student's interval between rounds at 95 %; at the right the median round, and the least and the most.";
    let mut canvas = Canvas::of("tell-tale: all cells, all rounds", "Throughput", caption);
    canvas.legend(&[(Key::Dot, BLUE, "a round"), (Key::Area, SKY, "interval of the mean")]);
    let groups =
        || tell_tale.groups.iter().filter(|group| crate::tell_tale::ran(tell_tale, group).next().is_some());
    let rows: usize = groups().map(|group| group.cells.len() + 1).sum();
    let (top, bottom) = (canvas.top + 8.0, canvas.top + 8.0 + ROW * rows as f64);
    let x = match is_log {
        true => Axis::log(points(), LEFT, RIGHT),
        false => Axis::linear(0.0, most * 1.02, LEFT, RIGHT),
    };
    let ticks = if is_log { x.ticks() } else { linear_ticks(0.0, most, 6) };
    let ticks: Vec<(f64, String)> = ticks.into_iter().map(|tick| (tick, plain(tick))).collect();
    x.draw_below(&mut canvas, (top, bottom), &ticks);
    let mut y = top + ROW / 2.0;
    for group in groups() {
        canvas.text((24.0, y + 5.0), Anchor::Start, GREY, &group_name(group));
        y += ROW;
        for (cell, name) in members(tell_tale, group) {
            row_name(&mut canvas, (LEFT - 14.0, y), &name);
            match &tell_tale.cells[cell].figures {
                Ok(figures) => row(&mut canvas, figures, &x, y),
                Err(why) => row_why(&mut canvas, (LEFT + 6.0, y), WIDTH - LEFT - 30.0, why),
            }
            y += ROW;
        }
    }
    let words = if is_log { "requests per second (logarithmic)" } else { "requests per second" };
    canvas.text(((LEFT + RIGHT) / 2.0, bottom + 38.0), Anchor::Middle, GREY, words);
    Some(canvas.finish(bottom + 54.0))
}

fn interval(figures: &CellFigures) -> Option<(f64, f64)> {
    figures.throughput.across.interval.filter(|_| figures.throughput.points.len() > 1)
}

/// What the axis must hold.
fn ends(figures: &CellFigures) -> Vec<f64> {
    let interval = interval(figures).into_iter().flat_map(|(low, high)| [low, high]);
    figures.throughput.points.iter().copied().chain(interval).collect()
}

fn row(canvas: &mut Canvas, figures: &CellFigures, x: &Axis, y: f64) {
    let spread = &figures.throughput;
    if let Some((low, high)) = interval(figures) {
        let (low, high) = (x.place(low), x.place(high));
        canvas.rect((low, y - 3.0), ((high - low).max(1.0), 6.0), SKY);
        let mean = x.place(spread.across.point);
        canvas.line((mean, y - 7.0), (mean, y + 7.0), INK, 1.6);
    }
    for point in &spread.points {
        canvas.dot((x.place(*point), y), 3.4, BLUE);
    }
    let number = |value: f64| plain(if value < 100.0 { value } else { value.round() });
    let (least, most) = (number(spread.least), number(spread.most));
    canvas.text(
        (RIGHT + 16.0, y + 4.0),
        Anchor::Start,
        INK,
        &format!("{} [{least}, {most}]", number(spread.median)),
    );
}
