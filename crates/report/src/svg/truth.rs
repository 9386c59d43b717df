//! A store's truth and the measurement around the worst moment, and below how far they are apart.

use super::axis::{Axis, clock_ticks, time_label};
use super::canvas::{Anchor, Canvas, Key, n};
use super::palette::{BLUE, GREY, INK, VERMILION};
use super::timeline::{LEFT, RIGHT};
use crate::truth::signed;
use analysis::Analysis;
use analysis::overlay::{OverlayMoment, OverlayPoint};
use std::fmt::Write as _;

const PLOT_HEIGHT: f64 = 300.0;
const GAP: f64 = 26.0;
const DIFFERENCE_HEIGHT: f64 = 110.0;

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let moment = analysis.overlay.as_ref()?.moment.as_ref()?;
    let (first, last) = (moment.points.first()?, moment.points.last()?);
    let name = moment.measure.name();
    let caption = format!(
        "The {name} of {} requests around the one that truly took longest, at {:.3} s, as the store's log has it \
         and as the client measured it; below, measured − true: the way back and the delays of both hosts.",
        match moment.thinned {
            1 => "all".to_owned(),
            thinned => format!("one in {thinned}"),
        },
        moment.worst.0 as f64 / 1e9,
    );
    let mut canvas = Canvas::new(analysis, "Truth and measurement around the worst moment", &caption);
    canvas.legend(&[
        (Key::Line, BLUE, "true, by the store"),
        (Key::Dot, VERMILION, "measured, by the client"),
        (Key::Dot, INK, "measured − true"),
    ]);
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + PLOT_HEIGHT);
    let (below, lowest) = (bottom + GAP, bottom + GAP + DIFFERENCE_HEIGHT);
    let x = Axis::linear(first.at.0 as f64, last.at.0 as f64, LEFT, RIGHT);
    let values = moment.points.iter().flat_map(|p| [p.truth.0, p.measured.0]).map(|ns| (ns as f64).max(1.0));
    let y = Axis::log(values, bottom, top);
    let ticks = clock_ticks(first.at.0 as f64, last.at.0 as f64);
    let bare: Vec<(f64, String)> = ticks.iter().map(|(at, _)| (*at, String::new())).collect();
    x.draw_below(&mut canvas, (top, bottom), &bare);
    x.draw_below(&mut canvas, (below, lowest), &ticks);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, &format!("{name} (logarithmic)"));
    canvas.turned_text((22.0, (below + lowest) / 2.0), GREY, "measured − true");
    let middle = (LEFT + RIGHT) / 2.0;
    canvas.text((middle, lowest + 38.0), Anchor::Middle, GREY, "time since the start line");
    draw_times(&mut canvas, moment, &x, &y);
    draw_difference(&mut canvas, moment, &x, (lowest, below));
    Some(canvas.finish(lowest + 54.0))
}

/// The line on top: where both agree, it lies in the middle of the points.
fn draw_times(canvas: &mut Canvas, moment: &OverlayMoment, x: &Axis, y: &Axis) {
    let measured = moment.points.iter().map(|p| (x.place(p.at.0 as f64), y.place(p.measured.0 as f64)));
    canvas.dots(measured, 4.0, VERMILION, 0.8);
    let mut line = String::new();
    for point in &moment.points {
        let command = if line.is_empty() { 'M' } else { 'L' };
        let (at, truth) = (x.place(point.at.0 as f64), y.place(point.truth.0 as f64));
        let _ = write!(line, "{command}{} {}", n(at), n(truth));
    }
    canvas.path(&line, &format!(r#"fill="none" stroke="{BLUE}" stroke-width="1.2" stroke-linejoin="round""#));
}

fn difference(point: &OverlayPoint) -> f64 {
    point.measured.0 as f64 - point.truth.0 as f64
}

fn draw_difference(canvas: &mut Canvas, moment: &OverlayMoment, x: &Axis, (low, high): (f64, f64)) {
    let differences = || moment.points.iter().map(difference);
    let (least, most) = (differences().fold(0.0, f64::min), differences().fold(1.0, f64::max));
    let room = 0.06 * (most - least);
    let y = Axis::linear(least - room, most + room, low, high);
    for tick in super::axis::linear_ticks(least - room, most + room, 4) {
        let at = y.place(tick);
        canvas.line((LEFT, at), (RIGHT, at), super::palette::GRID, 1.0);
        let label = if tick == 0.0 { "0".to_owned() } else { signed(tick) };
        canvas.text((LEFT - 8.0, at + 4.0), Anchor::End, GREY, &label);
    }
    let dots = moment.points.iter().map(|p| (x.place(p.at.0 as f64), y.place(difference(p))));
    canvas.dots(dots, 2.4, INK, 0.6);
}
