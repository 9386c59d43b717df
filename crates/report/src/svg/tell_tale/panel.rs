//! One round over time, in a part of a figure.

use super::super::axis::{Axis, clock_ticks, time_label};
use super::super::canvas::{Anchor, Canvas, Key, n, text_width};
use super::super::palette::{BLACK, BLUE, GREY, GRID, INK, LIGHT_GREY, ORANGE, PALE_BLUE, RED, VERMILION};
use analysis::tell_tale::{RoundFigures, RoundSeries, StopInterval};
use std::fmt::Write as _;
use units::{Instant, Nanos};

const NOTHING: u64 = u64::MAX;
/// A pause is at least this wide.
const LEAST_WIDTH: f64 = 2.0;
/// Places of the sliding mean, of which each shows its least and its most.
const MEAN_PLACES: f64 = 300.0;

/// Columns of a small panel, at most.
const SMALL_COLUMNS: usize = 180;

/// What all panels show.
pub(super) const KEYS: [(Key, &str, &str); 8] = [
    (Key::Area, PALE_BLUE, "smallest to largest"),
    (Key::Dot, LIGHT_GREY, "sampled"),
    (Key::Dot, INK, "extremes"),
    (Key::Line, RED, "sliding mean"),
    (Key::Area, BLACK, "pause of the JVM"),
    (Key::Area, ORANGE, "its time to safepoint"),
    (Key::Down, VERMILION, "longest"),
    (Key::Up, BLUE, "shortest"),
];

/// Labels that would touch the one before are left out; the lines stay.
pub(super) fn apart(ticks: &[(f64, String)], x: &Axis) -> Vec<(f64, String)> {
    let mut free_from = f64::NEG_INFINITY;
    let spaced = |(at, label): &(f64, String)| {
        let (place, half) = (x.place(*at), text_width(label, 12.0) / 2.0);
        let fits = place - half >= free_from;
        if fits {
            free_from = place + half + 6.0;
        }
        (*at, if fits { label.clone() } else { String::new() })
    };
    ticks.iter().map(spaced).collect()
}

/// A place in a figure with its scales.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// Left and right.
    pub(super) sides: (f64, f64),
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// What a tool tells no finer than this, ns, is drawn here: it is not known to be less.
    pub(super) finest: f64,
}

impl Panel {
    /// Frame, lines across and lines down; labels at the left and below where they are wanted.
    pub(super) fn frame(&self, canvas: &mut Canvas, length: f64, labels: (bool, bool)) {
        let all = self.y.ticks();
        let room = (self.bottom - self.top) / all.len().max(1) as f64;
        let is_decade = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
        let decades = all.iter().filter(|tick| is_decade(tick)).count();
        let ticks = all.into_iter().filter(|tick| room >= 15.0 || decades < 2 || is_decade(tick));
        let (left, right) = self.sides;
        for tick in ticks {
            let y = self.y.place(tick);
            canvas.line((left, y), (right, y), GRID, 1.0);
            if labels.0 {
                canvas.text((left - 8.0, y + 4.0), Anchor::End, GREY, &time_label(tick));
            }
        }
        let ticks: Vec<(f64, String)> = apart(&clock_ticks(0.0, length), &self.x);
        for (tick, label) in ticks {
            let x = self.x.place(tick);
            canvas.line((x, self.top), (x, self.bottom), GRID, 1.0);
            if labels.1 {
                canvas.text((x, self.bottom + 18.0), Anchor::Middle, GREY, &label);
            }
        }
        canvas.line((left, self.bottom), (right, self.bottom), GREY, 0.8);
    }

    /// The round; without sampled points where it is small.
    pub(super) fn draw(&self, canvas: &mut Canvas, round: &RoundFigures, is_small: bool) {
        let series = &round.series;
        let group = if is_small { series.columns.max.len().div_ceil(SMALL_COLUMNS) } else { 1 };
        canvas.path(&self.band(series, group), &format!(r#"fill="{PALE_BLUE}""#));
        let place = |(at, value): &(Instant, Nanos)| (self.x.place(at.0 as f64), self.height(value.0 as f64));
        if !is_small {
            canvas.dots(series.sampled.iter().map(place), 2.0, LIGHT_GREY, 0.7);
        }
        match &series.extremes {
            Some(extremes) => canvas.dots(extremes.iter().map(place), 2.4, INK, 0.9),
            None => canvas
                .path(&self.beyond(series), &format!(r#"fill="none" stroke="{INK}" stroke-width="1.2""#)),
        }
        let mean = self.mean(series);
        canvas.path(
            &mean,
            &format!(r#"fill="none" stroke="{RED}" stroke-width="1.5" stroke-linejoin="round""#),
        );
        if let Some(pauses) = &round.pauses {
            self.pauses(canvas, &pauses.whole);
        }
        let (long, short) = (place(&series.longest), place(&series.shortest));
        canvas.triangle((long.0, long.1 - 2.0), false, VERMILION);
        canvas.triangle((short.0, short.1 + 2.0), true, BLUE);
    }

    fn height(&self, ns: f64) -> f64 {
        self.y.place(ns.max(self.finest))
    }

    /// From the smallest to the largest request of each column, or of several together.
    fn band(&self, series: &RoundSeries, group: usize) -> String {
        let level = &series.columns;
        let (mut upper, mut lower, mut d) = (String::new(), Vec::new(), String::new());
        let starts: Vec<usize> = (0..level.max.len()).step_by(group).collect();
        for start in starts {
            let columns = start..(start + group).min(level.max.len());
            let held = |i: &usize| level.max[*i] != NOTHING && level.min[*i] != NOTHING;
            let max = columns.clone().filter(held).map(|i| level.max[i]).max();
            let min = columns.clone().filter(held).map(|i| level.min[i]).min();
            let (Some(max), Some(min)) = (max, min) else {
                close(&mut d, &mut upper, &mut lower);
                continue;
            };
            let edge = |i: usize| self.x.place(i as f64 * level.width.0 as f64);
            let (from, to) = (edge(columns.start), edge(columns.end));
            let (high, low) = (self.height(max as f64), self.height(min as f64));
            let _ = match upper.is_empty() {
                true => write!(upper, "M{} {}H{}", n(from), n(high), n(to)),
                false => write!(upper, "V{}H{}", n(high), n(to)),
            };
            lower.push((to, from, low));
        }
        close(&mut d, &mut upper, &mut lower);
        d
    }

    /// Of too many extremes: in each column, from the limit to the one farthest out.
    fn beyond(&self, series: &RoundSeries) -> String {
        let level = &series.columns;
        let mut d = String::new();
        for i in (0..level.max.len()).filter(|i| level.max[*i] != NOTHING) {
            let x = self.x.place((i as f64 + 0.5) * level.width.0 as f64);
            let mut line = |from: f64, to: f64| {
                let _ = write!(d, "M{} {}V{}", n(x), n(self.height(from)), n(self.height(to)));
            };
            if level.max[i] as f64 >= series.limits.1 {
                line(series.limits.1, level.max[i] as f64);
            }
            if (level.min[i] as f64) < series.limits.0 {
                line(series.limits.0, level.min[i] as f64);
            }
        }
        d
    }

    /// The least and the most of the mean at each place, in order of time.
    fn mean(&self, series: &RoundSeries) -> String {
        let (left, right) = self.sides;
        let place_of =
            |at: &Instant| ((self.x.place(at.0 as f64) - left) / (right - left) * MEAN_PLACES) as usize;
        let mut d = String::new();
        for points in series.sliding_mean.chunk_by(|a, b| place_of(&a.0) == place_of(&b.0)) {
            let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            let most = points.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let mut both: Vec<&(Instant, f64)> = [least, most].into_iter().flatten().collect();
            both.sort_by_key(|point| point.0);
            both.dedup();
            for (at, mean) in both {
                let to = if d.is_empty() { 'M' } else { 'L' };
                let _ = write!(d, "{to}{} {}", n(self.x.place(at.0 as f64)), n(self.height(*mean)));
            }
        }
        d
    }

    /// Each pause as the interval that it is, at the height of its length, over a shade; its time to safepoint at a height of its
    /// own. Of those that would lie on each other the longest is drawn.
    fn pauses(&self, canvas: &mut Canvas, pauses: &[StopInterval]) {
        let (mut marks, mut shades, mut stopping) = (String::new(), String::new(), String::new());
        let place = |stop: &StopInterval| self.x.place(stop.begin.0 as f64);
        let together = |a: &StopInterval, b: &StopInterval| {
            (place(a) / LEAST_WIDTH) as i64 == (place(b) / LEAST_WIDTH) as i64
        };
        for near in pauses.chunk_by(together) {
            let Some(stop) = near.iter().max_by_key(|stop| stop.length()) else { continue };
            let from = place(stop);
            let to = self
                .x
                .place(stop.end.0 as f64)
                .max(from + LEAST_WIDTH)
                .min(self.sides.1.max(from + LEAST_WIDTH));
            let bar = |d: &mut String, y: f64, height: f64| {
                let _ = write!(d, "M{} {}H{}v{}H{}z", n(from), n(y), n(to), n(height), n(from));
            };
            bar(&mut shades, self.top, self.bottom - self.top);
            bar(&mut marks, self.y.place(stop.length().0 as f64) - 2.0, 4.0);
            let longest_stop = near.iter().filter_map(|stop| stop.to_safepoint).max();
            if let Some(time) = longest_stop.filter(|time| time.0 > 0) {
                bar(&mut stopping, self.y.place(time.0 as f64) - 1.5, 3.0);
            }
        }
        canvas.path(&shades, &format!(r#"fill="{BLACK}" fill-opacity="0.1""#));
        canvas.path(&stopping, &format!(r#"fill="{ORANGE}""#));
        canvas.path(&marks, &format!(r#"fill="{BLACK}""#));
    }
}

/// Ends a part of the band: back along its lower side.
fn close(d: &mut String, upper: &mut String, lower: &mut Vec<(f64, f64, f64)>) {
    if !upper.is_empty() {
        d.push_str(upper);
        for (to, from, low) in lower.drain(..).rev() {
            let _ = write!(d, "V{}H{}", n(low), n(from));
            let _ = to;
        }
        d.push('z');
    }
    upper.clear();
    lower.clear();
}
