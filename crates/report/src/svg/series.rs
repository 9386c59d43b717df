//! A measure over the time of the run, no extreme lost.
//!
//! After Fruth et al. (TPCTC 2021): sampled points grey, extremes all of them and darker, a sliding mean in
//! red, triangles at the global minimum and maximum. The band behind is the smallest and largest request of
//! each bucket (M4, Jugel et al., VLDB 2014), so that what was not sampled is seen, too.

use super::axis::{Axis, plain, time_label};
use super::canvas::{Canvas, Key, n};
use super::palette::{BLACK, BLUE, INK, LIGHT_GREY, PALE_BLUE, RED, VERMILION};
use super::timeline::{LEFT, RIGHT, Timeline};
use super::{censored_note, measured};
use crate::text::{capital, time};
use analysis::{Analysis, PyramidLevel, Series};
use record::{EventKind, Measure};
use std::fmt::Write as _;

const MOST_BUCKETS: usize = 2_000;
const PLOT_HEIGHT: f64 = 360.0;
const NOTHING: u64 = u64::MAX;

pub(super) fn figure(analysis: &Analysis, measure: Measure) -> Option<String> {
    let series = analysis.series.iter().find(|s| s.measure == measure)?;
    let drawn = Drawn::new(series)?;
    let name = measure.name();
    let note = measured(&analysis.total, measure).map_or(String::new(), censored_note);
    let mut canvas =
        Canvas::new(analysis, &format!("{} over the run", capital(name)), &caption(&drawn, &note));
    let mut keys = vec![
        (Key::Area, PALE_BLUE, "smallest to largest"),
        (Key::Dot, LIGHT_GREY, "sampled requests"),
        (Key::Line, RED, "sliding mean"),
        (Key::Dot, INK, "extremes"),
        (Key::Down, VERMILION, "longest"),
        (Key::Up, BLUE, "shortest"),
    ];
    if analysis.events.iter().any(|e| e.kind == EventKind::JvmPause) {
        keys.push((Key::Area, BLACK, "pauses of JVMs"));
    }
    canvas.legend(&keys);
    let (top, bottom) = (canvas.top + 26.0, canvas.top + 26.0 + PLOT_HEIGHT);
    let timeline = Timeline::new(analysis, drawn.end, top, bottom);
    let y = Axis::log(drawn.values(), bottom, top);
    timeline.draw(&mut canvas, analysis);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    canvas.turned_text((22.0, (top + bottom) / 2.0), super::palette::GREY, &format!("{name} (logarithmic)"));
    drawn.draw(&mut canvas, &timeline.x, &y);
    Some(canvas.finish(bottom + 54.0))
}

fn caption(drawn: &Drawn<'_>, note: &str) -> String {
    let series = drawn.series;
    let by = if series.measure == Measure::Response { "intended start" } else { "start" };
    let ((longest_at, longest), (shortest_at, shortest)) = (drawn.longest, drawn.shortest);
    format!(
        "Each request at its {by}. The band covers all requests, {} at a time; {} % of them are drawn as \
         points; the mean slides over up to 1,000 requests; the {} extremes lie outside {} to {} (0.025 % and \
         99.975 %). Longest: {} at {}; shortest: {} at {}.{note}",
        time(drawn.level.width.0 as f64),
        plain((1e3 * series.sampled_share.clamp(0.0, 1.0)).round() / 10.0),
        plain(series.extremes_total as f64),
        time(series.extreme_limits.0),
        time(series.extreme_limits.1),
        time(longest),
        time(longest_at),
        time(shortest),
        time(shortest_at),
    )
}

/// A series at the resolution of the figure.
struct Drawn<'a> {
    series: &'a Series,
    level: &'a PyramidLevel,
    begin: f64,
    end: f64,
    /// (when, value), ns.
    longest: (f64, f64),
    shortest: (f64, f64),
}

impl<'a> Drawn<'a> {
    /// `None` for a series without requests.
    fn new(series: &'a Series) -> Option<Drawn<'a>> {
        let fits = |l: &&PyramidLevel| l.max.len() <= MOST_BUCKETS;
        let level = series.pyramid.levels.iter().find(fits).or(series.pyramid.levels.last())?;
        let held = || (0..level.max.len()).filter(|i| level.max[*i] != NOTHING && level.min[*i] != NOTHING);
        let begin = series.pyramid.begin.0 as f64;
        let bucket_begin = |i: usize| begin + i as f64 * level.width.0 as f64;
        let longest = held().max_by_key(|i| level.max[*i])?;
        let shortest = held().min_by_key(|i| level.min[*i])?;
        let exact = |value: u64, i: usize| {
            let known = series.extremes.iter().find(|e| e.value.0 == value);
            (known.map_or(bucket_begin(i), |e| e.at.0 as f64), value as f64)
        };
        Some(Drawn {
            series,
            level,
            begin,
            end: bucket_begin(held().next_back()?),
            longest: exact(level.max[longest], longest),
            shortest: exact(level.min[shortest], shortest),
        })
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        [self.shortest.1.max(1.0), self.longest.1].into_iter()
    }

    fn draw(&self, canvas: &mut Canvas, x: &Axis, y: &Axis) {
        let band = self.band(x, y);
        let style = format!(r##"fill="{PALE_BLUE}" stroke="#9CC3DD" stroke-width="0.6""##);
        canvas.path(&band, &style);
        let sampled = self.series.sampled.iter().map(|p| (x.place(p.at.0 as f64), y.place(p.value.0 as f64)));
        // A few points would not be seen at the size that many need.
        let size = if self.series.sampled.len() > 500 { 2.0 } else { 3.4 };
        canvas.dots(sampled, size, LIGHT_GREY, 0.5);
        let extremes =
            self.series.extremes.iter().map(|p| (x.place(p.at.0 as f64), y.place(p.value.0 as f64)));
        canvas.dots(extremes, 3.4, INK, 0.85);
        let mut mean = String::new();
        for (at, value) in self.series.sliding_mean.iter().filter(|(_, v)| v.is_finite()) {
            let command = if mean.is_empty() { 'M' } else { 'L' };
            let _ = write!(mean, "{command}{} {}", n(x.place(at.0 as f64)), n(y.place(*value)));
        }
        canvas.path(&mean, &format!(r#"fill="none" stroke="{RED}" stroke-width="1.8""#));
        // Apart from the dot that they mark, towards the inside of the plot.
        let at = |(at, value): (f64, f64)| (x.place(at), y.place(value));
        let (longest, shortest) = (at(self.longest), at(self.shortest));
        canvas.triangle((longest.0, longest.1 - 3.0), false, VERMILION);
        canvas.triangle((shortest.0, shortest.1 + 3.0), true, BLUE);
    }

    /// One closed outline for each run of buckets that hold something.
    fn band(&self, x: &Axis, y: &Axis) -> String {
        let mut d = String::new();
        let place = |i: usize| n(x.place(self.begin + i as f64 * self.level.width.0 as f64));
        let held = |i: usize| self.level.max[i] != NOTHING && self.level.min[i] != NOTHING;
        let mut from = 0;
        while from < self.level.max.len() {
            if !held(from) {
                from += 1;
                continue;
            }
            let to = (from..self.level.max.len()).find(|i| !held(*i)).unwrap_or(self.level.max.len());
            let _ = write!(d, "M{} {}", place(from), n(y.place(self.level.max[from] as f64)));
            for i in from..to {
                let _ = write!(d, "V{}H{}", n(y.place(self.level.max[i] as f64)), place(i + 1));
            }
            for i in (from..to).rev() {
                let _ = write!(d, "V{}H{}", n(y.place(self.level.min[i] as f64)), place(i));
            }
            d.push('z');
            from = to;
        }
        d
    }
}
