//! The percentile spectrum: how long the slowest 1 in N requests took at least.

use super::axis::{Axis, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH, n};
use super::palette::{BLUE, GREY, VERMILION};
use super::{censored_note, floor, main_measure, measured};
use analysis::{Analysis, MeasureSummary};
use record::Measure;
use std::fmt::Write as _;
use units::Quantile;

const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 40.0;
pub(super) const PLOT_HEIGHT: f64 = 340.0;

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let main = main_measure(analysis)?;
    let curves: Vec<(&MeasureSummary, &str)> = [(Measure::Response, VERMILION), (Measure::Service, BLUE)]
        .into_iter()
        .filter_map(|(m, colour)| Some((measured(&analysis.total, m)?, colour)))
        .collect();
    let level = main.mean.level * 100.0;
    let caption = format!(
        "Each step to the right is ten times rarer: at p99, one request in 100 took that long or longer. \
         Vertical bars are {level:.0} % intervals. Dotted, where fewer than ten requests lie beyond: what \
         happened, not what to expect.{}{}",
        censored_note(main),
        match &analysis.floor {
            Some(_) => " Thin: the floor, what was measured right before the run where nothing was asked.",
            None => "",
        },
    );
    let mut canvas = Canvas::new(analysis, "Percentile spectrum", &caption);
    let floors = analysis.floor.as_ref().map_or_else(Vec::new, floor::beside);
    let entries: Vec<(Key, &str, String)> = curves
        .iter()
        .map(|(s, c)| (Key::Line, *c, s.measure.name().to_owned()))
        .chain(floors.iter().map(floor::Beside::entry))
        .collect();
    let keys: Vec<(Key, &str, &str)> = entries.iter().map(|(k, c, text)| (*k, *c, text.as_str())).collect();
    canvas.legend(&keys);
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + PLOT_HEIGHT);
    let most = curves.iter().map(|(s, _)| s.n).max().unwrap_or(1).max(2) as f64;
    let x = Axis::log_exact(1.0, most, LEFT, RIGHT);
    let drawn = curves.iter().map(|(summary, _)| *summary).chain(floors.iter().map(|floor| floor.times));
    let values = drawn.flat_map(|s| s.spectrum.iter().map(|p| p.value_ns.max(1.0)));
    let y = Axis::log(values, bottom, top);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    x.draw_below(&mut canvas, (top, bottom), &ticks(main));
    floors.iter().for_each(|floor| floor.draw(&mut canvas, &x, &y));
    for (summary, colour) in &curves {
        curve(&mut canvas, summary, colour, &x, &y);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    canvas.text((middle, bottom + 38.0), Anchor::Middle, GREY, "quantile (logarithm of 1/(1 − q))");
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, "time (logarithmic)");
    Some(canvas.finish(bottom + 54.0))
}

fn rarity(quantile: Quantile) -> f64 {
    1.0 / (1.0 - quantile.get())
}

/// The quantiles that the sample count carries, and the maximum at the end.
pub(super) fn ticks(summary: &MeasureSummary) -> Vec<(f64, String)> {
    let near_end = summary.n.max(2) as f64 / 1.6;
    let carried = |q: f64| Quantile::new(q).filter(|q| summary.n >= q.samples_needed());
    let nines = (1..12).map(|k| 1.0 - 10f64.powi(-k)).filter_map(carried);
    let mut ticks: Vec<(f64, String)> = vec![(1.0, "min".to_owned())];
    ticks.extend(carried(0.5).into_iter().chain(nines).map(|q| (rarity(q), q.name())));
    ticks.retain(|(at, _)| *at < near_end);
    ticks.push((summary.n.max(2) as f64, "max".to_owned()));
    ticks
}

/// The curve as one path, up to the last quantile that the sample count carries.
pub(super) fn outline(summary: &MeasureSummary, x: &Axis, y: &Axis) -> String {
    let carried = |q: Quantile| q.get() < 0.5 || summary.n >= q.samples_needed();
    let points =
        summary.spectrum.iter().take_while(|p| carried(p.quantile)).filter(|p| p.value_ns.is_finite());
    points.fold(String::new(), |mut path, point| {
        let (at, level) = (x.place(rarity(point.quantile)), y.place(point.value_ns.max(1.0)));
        let _ = write!(path, "{}{} {}", if path.is_empty() { 'M' } else { 'L' }, n(at), n(level));
        path
    })
}

pub(super) fn curve(canvas: &mut Canvas, summary: &MeasureSummary, colour: &str, x: &Axis, y: &Axis) {
    let (mut solid, mut dotted) = (String::new(), String::new());
    let mut last = None;
    for point in summary.spectrum.iter().filter(|p| p.value_ns.is_finite()) {
        let at = rarity(point.quantile).min(summary.n.max(2) as f64);
        let place = (n(x.place(at)), n(y.place(point.value_ns.max(1.0))));
        let carried = point.quantile.get() < 0.5 || summary.n >= point.quantile.samples_needed();
        let d = if carried { &mut solid } else { &mut dotted };
        if d.is_empty() {
            let (from_x, from_y) = last.clone().unwrap_or_else(|| place.clone());
            let _ = write!(d, "M{from_x} {from_y}");
        }
        let _ = write!(d, "L{} {}", place.0, place.1);
        last = Some(place);
    }
    canvas.path(&solid, &format!(r#"fill="none" stroke="{colour}" stroke-width="2.2""#));
    canvas.path(
        &dotted,
        &format!(r#"fill="none" stroke="{colour}" stroke-width="1.8" stroke-dasharray="2 4""#),
    );
    for (quantile, estimate) in summary.quantiles.iter().filter(|(q, _)| q.get() < 1.0) {
        let Some((low, high)) = estimate.interval else { continue };
        let at = x.place(rarity(*quantile));
        let (low, high) = (y.place(low.max(1.0)), y.place(high));
        canvas.line((at, low), (at, high), colour, 1.4);
        canvas.line((at - 4.0, low), (at + 4.0, low), colour, 1.4);
        canvas.line((at - 4.0, high), (at + 4.0, high), colour, 1.4);
    }
}
