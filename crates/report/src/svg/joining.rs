//! A node that joins: p95 of each second, and when it is stable.

use super::axis::{Axis, clock_ticks, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH, n};
use super::palette::{BLUE, EVENT, GREY, INK, PALE_BLUE};
use crate::text::prove::{elasticity_words, settled_words};
use prove::elasticity::ElasticityResult;
use stats::Settled;
use std::fmt::Write as _;

const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 24.0;
const PLOT_HEIGHT: f64 = 320.0;

pub(super) fn figure(result: &ElasticityResult) -> Option<String> {
    let (recovery, event) = (&result.recovery, &result.elasticity);
    let (first, last) = (recovery.windows.first()?, recovery.windows.last()?);
    let level = recovery.level?;
    let mut canvas = Canvas::of(
        &capital(&settled_words(result)),
        "A second node joins",
        &capital(&elasticity_words(result)),
    );
    canvas.legend(&[
        (Key::Line, BLUE, "p95 of the response times of each second"),
        (Key::Area, EVENT, "data is streamed to the new node"),
        (Key::Area, PALE_BLUE, "stable: within 20 % of the final level"),
    ]);
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + PLOT_HEIGHT);
    let width = recovery.windows.get(1).map_or(1e9, |w| (w.begin.0 - first.begin.0) as f64);
    let (begin, end) = (first.begin.0 as f64, last.begin.0 as f64 + width);
    let x = Axis::linear(begin, end, LEFT, RIGHT);
    let values = recovery.windows.iter().filter_map(|w| w.value);
    let y = Axis::log(values.chain([level / 2.0]), bottom, top);
    let streaming = begin + event.streaming.0 as f64;
    canvas.rect((x.place(begin), top), (x.place(streaming) - x.place(begin), bottom - top), EVENT);
    if let Settled::After(after) = recovery.settled {
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
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, "p95 response time (logarithmic)");
    let mut d = String::new();
    for window in &recovery.windows {
        let Some(value) = window.value else { continue };
        let (from, to) = (x.place(window.begin.0 as f64), x.place(window.begin.0 as f64 + width));
        let _ =
            write!(d, "{}{} {}H{}", if d.is_empty() { 'M' } else { 'L' }, n(from), n(y.place(value)), n(to));
    }
    canvas.path(&d, &format!(r#"fill="none" stroke="{BLUE}" stroke-width="2""#));
    Some(canvas.finish(bottom + 54.0))
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
