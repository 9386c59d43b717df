//! A node that joins: p95 of each second, and when it is stable.

use super::axis::{Axis, clock_ticks, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH, n};
use super::palette::{BLUE, EVENT, GREY, INK, PALE_BLUE, VERMILION};
use crate::text::capital;
use crate::text::prove::{elasticity_words, settled_words};
use crate::truth::{join_detail, joined};
use analysis::Analysis;
use prove::elasticity::ElasticityResult;
use stats::{Recovery, Settled};
use std::fmt::Write as _;
use units::Nanos;

const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 24.0;
const PLOT_HEIGHT: f64 = 320.0;

const TITLE: &str = "A second node joins";

/// What is drawn.
struct Joined<'a> {
    /// Whose name the axis has: `response time`.
    measure: &'a str,
    streaming: Nanos,
    measured: &'a Recovery,
    /// By the store's own times, where there is both.
    truth: Option<&'a Recovery>,
}

/// Of the experiment.
pub(super) fn figure(result: &ElasticityResult) -> Option<String> {
    let (says, detail) = (capital(&settled_words(result)), capital(&elasticity_words(result)));
    let (streaming, measured) = (result.elasticity.streaming, &result.recovery);
    let joined = Joined { measure: "response time", streaming, measured, truth: None };
    joined.draw(Canvas::of(&says, TITLE, &detail))
}

/// Of a run over which a store's truth is laid.
pub(super) fn of_run(analysis: &Analysis) -> Option<String> {
    let join = analysis.overlay.as_ref()?.join.as_ref()?;
    let caption = format!("{}. {}.", capital(&joined(join)), capital(&join_detail(join)));
    let (streaming, measured) = (join.streaming, &join.measured);
    let joined = Joined { measure: join.measure.name(), streaming, measured, truth: Some(&join.truth) };
    joined.draw(Canvas::new(analysis, TITLE, &caption))
}

impl Joined<'_> {
    /// `None` where it was too short to tell a level.
    fn draw(&self, mut canvas: Canvas) -> Option<String> {
        let (first, last) = (self.measured.windows.first()?, self.measured.windows.last()?);
        let level = self.measured.level?;
        let mut legend = vec![(Key::Line, BLUE, "p95 of each second")];
        if self.truth.is_some() {
            legend.push((Key::Dashed, VERMILION, "true, by the store"));
        }
        legend.push((Key::Area, EVENT, "data is streamed to the new node"));
        legend.push((Key::Area, PALE_BLUE, "stable: within 20 % of the final level"));
        canvas.legend(&legend);
        let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + PLOT_HEIGHT);
        let width = self.measured.windows.get(1).map_or(1e9, |w| (w.begin.0 - first.begin.0) as f64);
        let (begin, end) = (first.begin.0 as f64, last.begin.0 as f64 + width);
        let x = Axis::linear(begin, end, LEFT, RIGHT);
        let both = [Some(self.measured), self.truth];
        let values =
            both.into_iter().flatten().flat_map(|recovery| &recovery.windows).filter_map(|w| w.value);
        let y = Axis::log(values.chain([level / 2.0]), bottom, top);
        let streaming = (begin + self.streaming.0 as f64).min(end);
        canvas.rect((x.place(begin), top), (x.place(streaming) - x.place(begin), bottom - top), EVENT);
        if let Settled::After(after) = self.measured.settled {
            let stable = begin + after.0 as f64;
            canvas.rect((x.place(stable), top), (x.place(end) - x.place(stable), bottom - top), PALE_BLUE);
            canvas.dashed((x.place(stable), top), (x.place(stable), bottom), INK, 1.2);
            canvas.text(
                (x.place(stable) + 6.0, top + 16.0),
                Anchor::Start,
                INK,
                &format!("stable from {:.0} s on", stable / 1e9),
            );
        }
        y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
        x.draw_below(&mut canvas, (top, bottom), &clock_ticks(begin, end));
        canvas.text(
            ((LEFT + RIGHT) / 2.0, bottom + 38.0),
            Anchor::Middle,
            GREY,
            "time since the start of the load",
        );
        let title = format!("p95 {} (logarithmic)", self.measure);
        canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, &title);
        let path = steps(self.measured, width, (&x, &y));
        canvas.path(&path, &format!(r#"fill="none" stroke="{BLUE}" stroke-width="2""#));
        if let Some(truth) = self.truth {
            let path = steps(truth, width, (&x, &y));
            let how =
                format!(r#"fill="none" stroke="{VERMILION}" stroke-width="1.2" stroke-dasharray="5 4""#);
            canvas.path(&path, &how);
        }
        Some(canvas.finish(bottom + 54.0))
    }
}

/// A step for each window with values.
fn steps(recovery: &Recovery, width: f64, (x, y): (&Axis, &Axis)) -> String {
    let mut d = String::new();
    for window in &recovery.windows {
        let Some(value) = window.value else { continue };
        let (from, to) = (x.place(window.begin.0 as f64), x.place(window.begin.0 as f64 + width));
        let _ =
            write!(d, "{}{} {}H{}", if d.is_empty() { 'M' } else { 'L' }, n(from), n(y.place(value)), n(to));
    }
    d
}
