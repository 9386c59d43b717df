//! The figures of the paper's experiment: means over the capacity, and the run around the hiccup.

use super::axis::{Axis, clock_ticks, plain, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH, n, text_width};
use super::palette::{BLUE, EVENT, GREY, INK, LIGHT_GREY, ORANGE, PURPLE, VERMILION};
use crate::text::nosqlmark::rate;
use prove::nosqlmark::{CapacityRow, HICCUP, HICCUP_AT, NosqlmarkResult, RATE, SHOWN, open_mean, plain_mean};
use prove::{Figures, Statistic, Timeline};
use std::fmt::Write as _;

const LEFT: f64 = 96.0;
/// Right of the plot is room for the lines' names.
const RIGHT: f64 = WIDTH - 176.0;
const PLOT_HEIGHT: f64 = 380.0;
/// The thread counts whose closed forms are drawn.
const DRAWN: [u32; 4] = [1, 16, 64, 256];
/// The one whose corrections are drawn.
const CORRECTED: u32 = 64;

fn mean_of(figures: &Figures) -> f64 {
    figures.get(Statistic::Mean).unwrap_or(f64::NAN)
}

/// Mean over the load that a capacity means: equal steps of load, since capacities crowd near the rate.
pub(super) fn means(result: &NosqlmarkResult) -> Option<String> {
    let (most, least) = (result.rows.first()?, result.rows.last()?);
    let mut canvas = Canvas::of(
        "90,000 operations at 1,000/s; the store stands still for 1 s",
        "One hiccup, one truth, and what each way of measuring makes of it",
        "Mean time of all operations. Lines are closed forms, marks are measured on the simulated clock. What users wait for \
         is the blue line; a closed loop leaves out most of it, and HdrHistogram's correction puts back only what it is told \
         to expect.",
    );
    canvas.legend(&[
        (Key::Dot, BLUE, "open load"),
        (Key::Ring, INK, "closed, from the intended start"),
        (Key::Dot, VERMILION, "closed, plain"),
    ]);
    canvas.legend(&[
        (Key::Up, PURPLE, "64 threads, corrected with the interval of a thread, 64 ms"),
        (Key::Down, ORANGE, "64 threads, corrected with 1 ms"),
    ]);
    let (top, bottom) = (canvas.top + 10.0, canvas.top + 10.0 + PLOT_HEIGHT);
    let load = |capacity: f64| RATE as f64 / capacity;
    let (low, high) =
        (load(least.capacity).min(load(most.capacity)), load(most.capacity).max(load(least.capacity)));
    let x = Axis::linear(low - 0.02, high + 0.02, LEFT, RIGHT);
    let lowest = plain_mean(least.capacity.max(most.capacity), DRAWN[0]);
    let drawn = result.rows.iter().flat_map(|r| &r.closed).filter(|c| c.threads == CORRECTED);
    let highest = drawn.map(|c| mean_of(&c.corrected_1ms)).fold(1.0, f64::max);
    let y = Axis::log([lowest, highest, open_mean(most.capacity)].into_iter(), bottom, top);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    let ticks: Vec<(f64, String)> =
        result.rows.iter().map(|r| (load(r.capacity), plain(r.capacity.round()))).collect();
    x.draw_below(&mut canvas, (top, bottom), &spaced(&ticks, &x));
    for row in &result.rows {
        let percent = format!("{:.0} %", 100.0 * load(row.capacity));
        canvas.text((x.place(load(row.capacity)), bottom + 34.0), Anchor::Middle, GREY, &percent);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    canvas.text(
        (middle, bottom + 54.0),
        Anchor::Middle,
        GREY,
        "capacity of the store per second, and how much of it the load takes",
    );
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, "mean time of an operation (logarithmic)");
    let plot = Plot { x, y, span: (low, high) };
    plot.form(&mut canvas, BLUE, 2.4, open_mean, "the truth: open load");
    for threads in DRAWN {
        let name = format!("closed, {threads} thread{}", if threads == 1 { "" } else { "s" });
        plot.form(&mut canvas, VERMILION, 1.4, |capacity| plain_mean(capacity, threads), &name);
    }
    result.rows.iter().for_each(|row| plot.marks(&mut canvas, row));
    Some(canvas.finish(bottom + 68.0))
}

/// Labels that would touch the one before are left out; the lines stay.
fn spaced(ticks: &[(f64, String)], x: &Axis) -> Vec<(f64, String)> {
    let mut free_from = f64::NEG_INFINITY;
    let mut ascending = ticks.to_vec();
    ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, label) in &mut ascending {
        let half = text_width(label, 12.0) / 2.0;
        if x.place(*at) - half < free_from {
            label.clear();
        } else {
            free_from = x.place(*at) + half + 4.0;
        }
    }
    ascending
}

struct Plot {
    x: Axis,
    y: Axis,
    /// Least and largest load.
    span: (f64, f64),
}

impl Plot {
    /// A closed form as a curve, with its name at its right end.
    fn form(&self, canvas: &mut Canvas, colour: &str, width: f64, form: impl Fn(f64) -> f64, name: &str) {
        const STEPS: u32 = 120;
        let mut d = String::new();
        for step in 0..=STEPS {
            let load = self.span.0 + (self.span.1 - self.span.0) * f64::from(step) / f64::from(STEPS);
            let (x, y) = (self.x.place(load), self.y.place(form(RATE as f64 / load)));
            let _ = write!(d, "{}{} {}", if step == 0 { 'M' } else { 'L' }, n(x), n(y));
        }
        canvas.path(&d, &format!(r#"fill="none" stroke="{colour}" stroke-width="{width}""#));
        let end = self.y.place(form(RATE as f64 / self.span.1));
        canvas.text((RIGHT + 8.0, end + 4.0), Anchor::Start, colour, name);
    }

    fn marks(&self, canvas: &mut Canvas, row: &CapacityRow) {
        let x = self.x.place(RATE as f64 / row.capacity);
        let at = |figures: &Figures| (x, self.y.place(mean_of(figures)));
        for closed in row.closed.iter().filter(|c| DRAWN.contains(&c.threads)) {
            canvas.ring(at(&closed.intended), INK);
            canvas.dot(at(&closed.plain), 3.2, VERMILION);
        }
        canvas.dot(at(&row.open), 2.8, BLUE);
        if let Some(closed) = row.closed.iter().find(|c| c.threads == CORRECTED) {
            let (corrected, wrong) = (at(&closed.corrected), at(&closed.corrected_1ms));
            canvas.triangle((corrected.0, corrected.1 - 4.5), true, PURPLE);
            canvas.triangle((wrong.0, wrong.1 + 4.5), false, ORANGE);
        }
    }
}

/// How long before the hiccup and after the recovery the second figure shows.
const AROUND: f64 = 1.5e9;

/// Response times around the hiccup: what users of an open load wait, and what a closed loop says.
pub(super) fn around_the_hiccup(result: &NosqlmarkResult) -> Option<String> {
    let [(_, open), (closed_name, closed)] = &result.timelines[..] else { return None };
    let (hiccup_at, hiccup) = (HICCUP_AT.0 as f64, HICCUP.0 as f64);
    let recovered = hiccup_at + hiccup / (1.0 - RATE as f64 / SHOWN.0);
    let mut canvas = Canvas::of(
        &format!("1,000/s against a capacity of {}; the store stands still for 1 s at 30 s", rate(SHOWN.0)),
        "Around the hiccup",
        &format!(
            "Operations by the time at which they were to start, a quarter of a second at a time. The queue that the stall \
             leaves behind takes {} s to drain; {closed_name} wait outside of the store and do not report it.",
            plain((recovered - hiccup_at - hiccup) / 1e9)
        ),
    );
    canvas.legend(&[
        (Key::Line, INK, "response time in closed form"),
        (Key::Dot, BLUE, "open load, mean"),
        (Key::Dot, VERMILION, &format!("{closed_name}, longest service time")),
        (Key::Area, EVENT, "store stands still"),
    ]);
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + PLOT_HEIGHT);
    let (begin, end) = (hiccup_at - AROUND, recovered + AROUND);
    let right = WIDTH - 24.0;
    let (x, y) = (Axis::linear(begin, end, LEFT, right), Axis::linear(0.0, 1.05e9, bottom, top));
    canvas.rect(
        (x.place(hiccup_at), top),
        (x.place(hiccup_at + hiccup) - x.place(hiccup_at), bottom - top),
        EVENT,
    );
    y.draw_left(&mut canvas, (LEFT, right), |ns| if ns == 0.0 { "0".to_owned() } else { time_label(ns) });
    x.draw_below(&mut canvas, (top, bottom), &clock_ticks(begin, end));
    canvas.text(
        ((LEFT + right) / 2.0, bottom + 38.0),
        Anchor::Middle,
        GREY,
        "time at which the operation was to start",
    );
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, "time of an operation");
    let form = [(begin, 0.0), (hiccup_at, 0.0), (hiccup_at, hiccup), (recovered, 0.0), (end, 0.0)];
    for pair in form.windows(2) {
        let place = |(at, value): (f64, f64)| (x.place(at), y.place(value));
        canvas.line(place(pair[0]), place(pair[1]), INK, 1.6);
    }
    let visible = |timeline: &Timeline, value: fn(&prove::Bucket) -> Option<f64>| {
        let width = timeline.width.0 as f64;
        let middle = move |index: usize| (index as f64 + 0.5) * width;
        let points = timeline.buckets.iter().enumerate().filter_map(|(i, b)| Some((middle(i), value(b)?)));
        points.filter(|(at, _)| (begin..=end).contains(at)).collect::<Vec<(f64, f64)>>()
    };
    for (at, value) in visible(closed, |b| b.longest_service) {
        canvas.dot((x.place(at), y.place(value)), 3.4, VERMILION);
    }
    for (at, value) in visible(open, |b| b.mean_response) {
        canvas.dot((x.place(at), y.place(value)), 3.4, BLUE);
    }
    annotate(&mut canvas, &x, &y);
    Some(canvas.finish(bottom + 54.0))
}

/// What to look at, beside it.
fn annotate(canvas: &mut Canvas, x: &Axis, y: &Axis) {
    let at = |seconds: f64, millis: f64| (x.place(seconds * 1e9), y.place(millis * 1e6));
    canvas.text(at(32.7, 520.0), Anchor::Start, BLUE, "what users wait");
    canvas.text(at(32.7, 90.0), Anchor::Start, VERMILION, "what the closed loop reports");
    let (from, to) = (at(30.12, 1_000.0), at(30.4, 1_000.0));
    canvas.line(from, to, LIGHT_GREY, 1.0);
    canvas.text((to.0 + 4.0, to.1 + 4.0), Anchor::Start, GREY, "one operation of each thread met the stall");
}
