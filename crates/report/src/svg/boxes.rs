//! A box plot for each operation.

use super::axis::{Axis, plain, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH, text_width};
use super::palette::{BLUE, GREY, INK, PALE_BLUE, VERMILION};
use super::{censored_note, main_measure, measured};
use analysis::{Analysis, BoxPlot, MeasureSummary, Scope};

const LEFT: f64 = 200.0;
const RIGHT: f64 = WIDTH - 40.0;
const ROW: f64 = 40.0;
/// Rows at most; the rarest operations are left out, and the caption says so.
const MOST_ROWS: usize = 30;

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let main = main_measure(analysis)?;
    let of_operation = |s: &&analysis::ScopeSummary| matches!(s.scope, Scope::Operation(_));
    let mut rows: Vec<(&str, &MeasureSummary)> = analysis
        .scopes
        .iter()
        .filter(of_operation)
        .filter_map(|s| Some((s.name.as_str(), measured(s, main.measure)?)))
        .collect();
    rows.sort_by_key(|(_, summary)| std::cmp::Reverse(summary.n));
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    if rows.len() != 1 {
        rows.insert(0, ("all", main));
    }
    let name = main.measure.name();
    let caption = format!(
        "The {name} of each operation. Boxes span the quartiles with the median inside, whiskers reach 1.5 \
         interquartile ranges. Marks where the sample count carries them: the 95th and 99th percentile.{}{}",
        if left_out > 0 { format!(" {left_out} rarer operations are left out.") } else { String::new() },
        censored_note(main),
    );
    let mut canvas = Canvas::new(analysis, &format!("Operations: {name}"), &caption);
    canvas.legend(&[
        (Key::Area, PALE_BLUE, "25th to 75th percentile"),
        (Key::Ring, BLUE, "95th"),
        (Key::Dot, BLUE, "99th"),
        (Key::Up, INK, "smallest"),
        (Key::Down, VERMILION, "largest"),
    ]);
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + ROW * rows.len() as f64);
    let ends = rows.iter().flat_map(|(_, s)| [s.box_plot.min.max(1.0), s.box_plot.max]);
    let x = Axis::log(ends, LEFT, RIGHT);
    let ticks: Vec<(f64, String)> = x.ticks().into_iter().map(|t| (t, time_label(t))).collect();
    x.draw_below(&mut canvas, (top, bottom), &ticks);
    for (index, (name, summary)) in rows.iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        canvas.text((LEFT - 14.0, y - 1.0), Anchor::End, INK, &fitting(name));
        canvas.text((LEFT - 14.0, y + 13.0), Anchor::End, GREY, &format!("n = {}", plain(summary.n as f64)));
        plot(&mut canvas, summary, &x, y);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    canvas.text((middle, bottom + 38.0), Anchor::Middle, GREY, &format!("{name} (logarithmic)"));
    Some(canvas.finish(bottom + 54.0))
}

/// Cut to the room at the left.
fn fitting(name: &str) -> String {
    cut_to(name, LEFT - 30.0)
}

/// Cut to a width.
pub(super) fn cut_to(name: &str, room: f64) -> String {
    if text_width(name, 12.0) <= room {
        return name.to_owned();
    }
    let letters = (room / text_width("x", 12.0)) as usize;
    name.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

fn plot(canvas: &mut Canvas, summary: &MeasureSummary, x: &Axis, y: f64) {
    let carried = |q: f64| summary.quantiles.iter().any(|(p, _)| (p.get() - q).abs() < 1e-9);
    draw(canvas, &summary.box_plot, (carried(0.95), carried(0.99)), x, y);
}

/// One box around a height, with its marks; those of the 95th and the 99th where they are carried.
pub(super) fn draw(canvas: &mut Canvas, plot: &BoxPlot, carried: (bool, bool), x: &Axis, y: f64) {
    let at = |value: f64| x.place(value.max(1.0));
    let (low, high) = (at(plot.whisker_low), at(plot.whisker_high));
    canvas.line((low, y), (high, y), INK, 1.2);
    for end in [low, high] {
        canvas.line((end, y - 6.0), (end, y + 6.0), INK, 1.2);
    }
    let (q1, q3) = (at(plot.q1), at(plot.q3));
    canvas.rect((q1, y - 10.0), ((q3 - q1).max(1.0), 20.0), PALE_BLUE);
    let outline = format!(r#"fill="none" stroke="{BLUE}" stroke-width="1.2""#);
    let wide = (q3 - q1).max(1.0);
    canvas.path(
        &format!("M{} {}h{wide:.1}v20h-{wide:.1}z", super::canvas::n(q1), super::canvas::n(y - 10.0)),
        &outline,
    );
    let median = at(plot.median);
    canvas.line((median, y - 10.0), (median, y + 10.0), INK, 2.4);
    if carried.0 {
        canvas.ring((at(plot.p95), y), BLUE);
    }
    if carried.1 {
        canvas.dot((at(plot.p99), y), 4.2, BLUE);
    }
    canvas.triangle((at(plot.min), y + 4.0), true, INK);
    canvas.triangle((at(plot.max), y - 4.0), false, VERMILION);
}
