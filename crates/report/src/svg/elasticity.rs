//! Three ways of measuring over the time of a join: means above, p99 below, and above both what the node was doing.

use super::axis::{Axis, clock_ticks, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH, n, text_width};
use super::palette::{BLUE, EVENT, GREY, INK, ORANGE, PURPLE, SHADE, SKY, VERMILION};
use crate::elasticity::{curve_words, run_name};
use analysis::{Elasticity, ElasticityPoint, Reported};
use std::fmt::Write as _;

const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 24.0;
const PLOT_HEIGHT: f64 = 230.0;
/// Of a run's phases, above the plots.
const STRIP: f64 = 18.0;

/// What of a window is drawn.
type Quantity = fn(&ElasticityPoint) -> f64;

fn colour(reported: Reported) -> &'static str {
    match reported {
        Reported::Plain => VERMILION,
        Reported::Intended => ORANGE,
        Reported::Open => BLUE,
    }
}

fn phase_colour(name: &str) -> &'static str {
    match name {
        "starting" => SHADE,
        "joining" => EVENT,
        "streaming" => PURPLE,
        _ => SKY,
    }
}

/// `None` without a curve.
pub fn elasticity_figure(found: &Elasticity) -> Option<String> {
    let points = || found.curves.iter().flat_map(|curve| &curve.points);
    let begin = points().map(|point| point.at.0).min()? as f64;
    let end = points().map(|point| point.at.0).max()? as f64 + found.width.0 as f64;
    let origin = found.joins.first().map_or_else(String::new, |join| {
        format!("{} on {}; one run of each loop", join.header.workload, join.header.target)
    });
    let caption = format!(
        "Requests by the time at which they began, {} at a time. The strips say what the joining node was doing in each of the \
         runs, which had a cluster each.",
        time_label(found.width.0 as f64)
    );
    let mut canvas =
        Canvas::of(&origin, "A node joins, and what three ways of measuring say of it", &caption);
    for curve in &found.curves {
        canvas.legend(&[(Key::Line, colour(curve.reported), curve_words(curve.reported))]);
    }
    let x = Axis::linear(begin, end, LEFT, RIGHT);
    let mut top = strips(&mut canvas, found, &x, end);
    let panels: [(&str, Quantity); 2] = [("mean", |p| p.mean), ("p99", |p| p.p99)];
    for (name, value) in panels {
        let (from, to) = (top + 14.0, top + 14.0 + PLOT_HEIGHT);
        panel(&mut canvas, found, &x, (from, to), value);
        canvas.turned_text((22.0, (from + to) / 2.0), GREY, &format!("{name} of a window (logarithmic)"));
        x.draw_below(&mut canvas, (from, to), &clock_ticks(begin, end));
        top = to + 24.0;
    }
    canvas.text(((LEFT + RIGHT) / 2.0, top + 14.0), Anchor::Middle, GREY, "time since the start line");
    Some(canvas.finish(top + 30.0))
}

/// A strip for each run; gives where it ends.
fn strips(canvas: &mut Canvas, found: &Elasticity, x: &Axis, end: f64) -> f64 {
    let mut top = canvas.top + 6.0;
    for join in &found.joins {
        canvas.text((LEFT - 6.0, top + 13.0), Anchor::End, INK, short(&run_name(join)));
        for phase in &join.phases {
            let to = phase.end.get().map_or(end, |at| at.0 as f64).min(end);
            let (from, to) = (x.place(phase.begin.0 as f64), x.place(to));
            canvas.rect((from, top), ((to - from).max(1.0), STRIP), phase_colour(&phase.name));
            canvas.line((from, top), (from, top + STRIP), GREY, 0.8);
            if text_width(&phase.name, 12.0) + 6.0 < to - from {
                canvas.text((from + 4.0, top + 13.0), Anchor::Start, INK, &phase.name);
            }
        }
        top += STRIP + 4.0;
    }
    top
}

fn short(name: &str) -> &str {
    if name.starts_with("open") { "open" } else { "closed" }
}

fn panel(canvas: &mut Canvas, found: &Elasticity, x: &Axis, (top, bottom): (f64, f64), value: Quantity) {
    let values = found.curves.iter().flat_map(|curve| &curve.points).map(value);
    let y = Axis::log(values, bottom, top);
    y.draw_left(canvas, (LEFT, RIGHT), time_label);
    for curve in &found.curves {
        let mut d = String::new();
        for point in &curve.points {
            let middle = point.at.0 as f64 + found.width.0 as f64 / 2.0;
            let command = if d.is_empty() { 'M' } else { 'L' };
            let _ = write!(d, "{command}{} {}", n(x.place(middle)), n(y.place(value(point))));
        }
        let colour = colour(curve.reported);
        canvas.path(
            &d,
            &format!(r#"fill="none" stroke="{colour}" stroke-width="1.6" stroke-linejoin="round""#),
        );
    }
}
