//! The slow requests over time, each with the cause of the largest part of its time, and the causes' intervals below.

use super::axis::{Axis, time_label};
use super::canvas::{Anchor, Canvas, Key, n};
use super::palette::{BLUE, GREEN, GREY, GRID, INK, LIGHT_GREY, ORANGE, PURPLE, SKY, VERMILION};
use super::timeline::{LEFT, RIGHT, Timeline};
use crate::attribution::sentence;
use crate::text::count;
use analysis::attribution::CauseInterval;
use analysis::{Analysis, Attribution, Cause};
use std::fmt::Write as _;

const PLOT_HEIGHT: f64 = 320.0;
const LANE: f64 = 22.0;
/// Entries of the legend in one row: their names are long.
const IN_A_ROW: usize = 4;

/// The colour of a cause. Stages have those that they have in the anatomy.
pub(crate) fn colour(cause: Cause) -> &'static str {
    match cause {
        Cause::ClientStall | Cause::HostStall => INK,
        Cause::ServerStall => LIGHT_GREY,
        Cause::HarnessJvm | Cause::ServerJvm | Cause::JvmThread => GREEN,
        Cause::Outage | Cause::Fault | Cause::Checkpoint | Cause::Reconnect | Cause::OtherEvent => SKY,
        Cause::PoolWait => ORANGE,
        Cause::Lag | Cause::BeforeSending => VERMILION,
        Cause::PickUp => PURPLE,
        Cause::Database => BLUE,
    }
}

const DOWN: &str = "m0 4l4-7h-8z";
const UP: &str = "m0-4l4 7h-8z";
const DIAMOND: &str = "m0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z";
const SQUARE: &str = "m-3-3h6v6h-6z";
const CROSS: &str = "m-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z";

/// The shape of its marks, around the place: with the colour it is one of a kind. Stages are dots.
fn shape(cause: Cause) -> Option<&'static str> {
    let shape = match cause {
        Cause::ClientStall | Cause::Reconnect => DOWN,
        Cause::ServerStall | Cause::Checkpoint | Cause::JvmThread => UP,
        Cause::HostStall | Cause::ServerJvm | Cause::Fault => DIAMOND,
        Cause::HarnessJvm | Cause::Outage => SQUARE,
        Cause::OtherEvent => CROSS,
        Cause::PoolWait | Cause::Lag | Cause::BeforeSending | Cause::PickUp | Cause::Database => return None,
    };
    Some(shape)
}

fn key(cause: Cause) -> (Key, &'static str, &'static str) {
    (shape(cause).map_or(Key::Dot, Key::Path), colour(cause), cause.name())
}

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let attribution = analysis.attribution.as_ref()?;
    let end = attribution.points.iter().map(|p| p.at.0 + p.whole.0).max()? as f64;
    let name = attribution.measure.name();
    let caption = caption(attribution);
    let mut canvas = Canvas::new(analysis, &format!("The slowest {name}s and their causes"), &caption);
    let seen: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|cause| attribution.points.iter().any(|point| point.largest == *cause))
        .collect();
    for causes in seen.chunks(IN_A_ROW) {
        canvas.legend(&causes.iter().map(|cause| key(*cause)).collect::<Vec<_>>());
    }
    let (top, bottom) = (canvas.top + 26.0, canvas.top + 26.0 + PLOT_HEIGHT);
    let timeline = Timeline::new(analysis, end, top, bottom);
    let y = Axis::log(attribution.points.iter().map(|p| p.whole.0.max(1) as f64), bottom, top);
    timeline.draw(&mut canvas, analysis);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, &format!("{name} (logarithmic)"));
    for cause in seen {
        marks(&mut canvas, attribution, cause, |at, value| (timeline.x.place(at), y.place(value)));
    }
    let lowest = lanes(&mut canvas, attribution, &timeline.x, bottom + 54.0);
    Some(canvas.finish(lowest))
}

/// All requests of one cause, in one element.
fn marks(
    canvas: &mut Canvas,
    attribution: &Attribution,
    cause: Cause,
    place: impl Fn(f64, f64) -> (f64, f64),
) {
    let points = attribution.points.iter().filter(|point| point.largest == cause);
    let places = points.map(|point| place(point.at.0 as f64, point.whole.0 as f64));
    let Some(shape) = shape(cause) else { return canvas.dots(places, 5.0, colour(cause), 0.75) };
    let d = places.fold(String::new(), |mut d, (x, y)| {
        let _ = write!(d, "M{} {}{shape}", n(x), n(y));
        d
    });
    canvas.path(&d, &format!(r#"fill="{}" fill-opacity="0.75""#, colour(cause)));
}

fn caption(attribution: &Attribution) -> String {
    let drawn = match attribution.points.len() as u64 {
        all if all == attribution.slow => String::new(),
        n => format!(" The slowest {} are drawn.", count(n)),
    };
    let lanes = match attribution.intervals.is_empty() {
        true => "",
        false => " Below, when the causes were there that they meet more often than by chance.",
    };
    let sentence = sentence(attribution);
    format!(
        "Each slow request when it was to begin; its mark says what the largest part of its time was: {sentence}.\
         {drawn}{lanes}"
    )
}

/// One lane for each cause that is shown, its intervals in black; gives where they end.
fn lanes(canvas: &mut Canvas, attribution: &Attribution, x: &Axis, top: f64) -> f64 {
    let mut y = top;
    for intervals in attribution.intervals.chunk_by(|a, b| a.cause == b.cause) {
        let Some(cause) = intervals.first().map(|interval| interval.cause) else { continue };
        canvas.text((LEFT, y + 9.0), Anchor::Start, GREY, cause.name());
        y += 14.0;
        canvas.line((LEFT, y + LANE / 2.0), (RIGHT, y + LANE / 2.0), GRID, 1.0);
        canvas.path(&bars(intervals, x, (y, y + LANE)), &format!(r#"fill="{INK}""#));
        y += LANE + 8.0;
    }
    y + 8.0
}

/// Intervals are at least a hair wide.
fn bars(intervals: &[CauseInterval], x: &Axis, (top, bottom): (f64, f64)) -> String {
    intervals.iter().fold(String::new(), |mut d, interval| {
        let (from, to) = (x.place(interval.begin.0 as f64), x.place(interval.end.0 as f64));
        let to = to.max(from + 0.8).min(RIGHT);
        let _ = write!(d, "M{} {}H{}V{}H{}z", n(from), n(top), n(to), n(bottom), n(from));
        d
    })
}
