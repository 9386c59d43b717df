//! Offered and achieved load, and what failed.

use super::axis::{Axis, plain};
use super::canvas::{Canvas, Key, n};
use super::palette::{BLUE, GREY, INK, VERMILION};
use super::timeline::{LEFT, RIGHT, Timeline};
use crate::text::time;
use analysis::{Analysis, LoadPoint};
use std::fmt::Write as _;

const PLOT_HEIGHT: f64 = 280.0;

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let points = &analysis.load;
    let last = points.last()?;
    let step = match points.as_slice() {
        [a, b, ..] => (b.at - a.at).0.max(1) as f64,
        _ => 1e9,
    };
    let open = points.iter().any(|p| p.offered.is_some());
    let caption = format!(
        "Requests per second, {} at a time.{} Failed are errors, timeouts and unfinished requests; ▲ above a step that failed beyond the axis.",
        time(step),
        if open {
            " Offered is what the schedule asked: where achieved falls short of it, requests wait."
        } else {
            " A closed loop has no schedule: when the server is slow, less is asked of it."
        },
    );
    let mut canvas = Canvas::new(analysis, "Load over the run", &caption);
    let mut keys = vec![(Key::Line, BLUE, "achieved"), (Key::Area, VERMILION, "failed")];
    if open {
        keys.insert(0, (Key::Dashed, INK, "offered"));
    }
    canvas.legend(&keys);
    let (top, bottom) = (canvas.top + 26.0, canvas.top + 26.0 + PLOT_HEIGHT);
    // The last step is cut where the run ended: nothing is known of what would have come.
    let end = last.at.0 as f64 + step;
    let end = run_end(analysis).filter(|run| *run > last.at.0 as f64).map_or(end, |run| run.min(end));
    let timeline = Timeline::new(analysis, end, top, bottom);
    let y = Axis::linear(0.0, 1.08 * highest(points), bottom, top);
    timeline.draw(&mut canvas, analysis);
    y.draw_left(&mut canvas, (LEFT, RIGHT), |v| format!("{}/s", plain(v)));
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, "requests per second");
    let steps = Steps { points, step, end, x: &timeline.x, y: &y };
    for point in points.iter().filter(|p| p.failed > 0.0 && p.failed.is_finite()) {
        let at = point.at.0 as f64;
        let (left, right) = (timeline.x.place(at), timeline.x.place((at + step).min(end)));
        // One failure in a million requests must be seen, too.
        let high = y.place(point.failed).min(bottom - 2.5);
        canvas.rect((left, high), (right - left, bottom - high), VERMILION);
        if high <= top {
            canvas.triangle(((left + right) / 2.0, top - 12.0), true, VERMILION);
        }
    }
    let achieved = steps.line(|p| Some(p.achieved));
    canvas.path(&achieved, &format!(r#"fill="none" stroke="{BLUE}" stroke-width="2""#));
    let offered = steps.line(|p| p.offered);
    canvas
        .path(&offered, &format!(r#"fill="none" stroke="{INK}" stroke-width="1.4" stroke-dasharray="5 4""#));
    Some(canvas.finish(bottom + 54.0))
}

/// The end of the last phase or of the measured time, ns; `None` where neither is known.
fn run_end(analysis: &Analysis) -> Option<f64> {
    let phases = analysis.recordings.iter().flat_map(|r| &r.header.phases).map(|p| p.end);
    phases.chain([analysis.measured.1]).filter(|t| t.is_some()).max().map(|t| t.0 as f64)
}

/// Of the loads. Failures do not stretch the axis: those given up when the run ends do so all at once.
fn highest(points: &[LoadPoint]) -> f64 {
    let most =
        |of: fn(&LoadPoint) -> f64| points.iter().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let loads = most(|p| p.offered.unwrap_or(0.0)).max(most(|p| p.achieved));
    if loads > 0.0 { loads } else { most(|p| p.failed) }
}

struct Steps<'a> {
    points: &'a [LoadPoint],
    step: f64,
    /// Where the last step ends.
    end: f64,
    x: &'a Axis,
    y: &'a Axis,
}

impl Steps<'_> {
    fn line(&self, value: impl Fn(&LoadPoint) -> Option<f64>) -> String {
        let mut d = String::new();
        for point in self.points {
            let Some(value) = value(point).filter(|v| v.is_finite()) else { continue };
            let at = point.at.0 as f64;
            let right = self.x.place((at + self.step).min(self.end));
            let (left, y) = (self.x.place(at), n(self.y.place(value)));
            if d.is_empty() {
                let _ = write!(d, "M{} {y}", n(left));
            }
            let _ = write!(d, "V{y}H{}", n(right));
        }
        d
    }
}
