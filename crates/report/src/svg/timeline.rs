//! The time axis that series, heat map and load share: phases and events shaded behind.

use super::axis::{Axis, clock_ticks};
use super::canvas::{Anchor, Canvas, WIDTH, n, text_width};
use super::palette::{BLACK, EVENT, GREY, SHADE};
use analysis::Analysis;
use record::{EventKind, PhaseKind};
use std::fmt::Write as _;

/// Left and right end of all plots over time.
pub(super) const LEFT: f64 = 96.0;
pub(super) const RIGHT: f64 = WIDTH - 24.0;
/// Most events that are shaded: more would hide the plot.
const MOST_SHADED: usize = 200;

/// A pause is at least this wide.
const LEAST_WIDTH: f64 = 0.8;
/// The solid part of a pause, at the top of the plot.
const MARK_HEIGHT: f64 = 7.0;

/// A plot over time between two heights.
pub(super) struct Timeline {
    pub(super) x: Axis,
    pub(super) top: f64,
    pub(super) bottom: f64,
    span: (f64, f64),
}

impl Timeline {
    /// From the first phase's begin to the end of all phases, of the measured time and of the data.
    pub(super) fn new(analysis: &Analysis, data_end: f64, top: f64, bottom: f64) -> Timeline {
        let phases = || analysis.recordings.iter().flat_map(|r| &r.header.phases);
        let begins = phases().map(|p| p.begin).chain([analysis.measured.0]).filter(|t| t.is_some());
        let ends = phases().map(|p| p.end).chain([analysis.measured.1]).filter(|t| t.is_some());
        let begin = begins.min().map_or(0.0, |t| t.0 as f64);
        let end = ends.max().map_or(0.0, |t| t.0 as f64).max(data_end);
        let span = (begin, if end > begin { end } else { begin + 1e9 });
        Timeline { x: Axis::linear(span.0, span.1, LEFT, RIGHT), top, bottom, span }
    }

    /// Shades, grid and labels; to be drawn before the data.
    pub(super) fn draw(&self, canvas: &mut Canvas, analysis: &Analysis) {
        self.shade_events(canvas, analysis);
        self.shade_phases(canvas, analysis);
        self.mark_pauses(canvas, analysis);
        self.x.draw_below(canvas, (self.top, self.bottom), &clock_ticks(self.span.0, self.span.1));
        let middle = (LEFT + RIGHT) / 2.0;
        canvas.text((middle, self.bottom + 38.0), Anchor::Middle, GREY, "time since the start line");
    }

    fn shade_phases(&self, canvas: &mut Canvas, analysis: &Analysis) {
        let Some(recording) = analysis.recordings.first() else { return };
        for phase in &recording.header.phases {
            let end = if phase.end.is_some() { phase.end.0 as f64 } else { self.span.1 };
            let (from, to) = (self.x.place(phase.begin.0 as f64), self.x.place(end));
            if phase.kind == PhaseKind::WarmUp {
                canvas.rect((from, self.top), (to - from, self.bottom - self.top), SHADE);
            }
            if phase.begin.0 as f64 > self.span.0 {
                canvas.dashed((from, self.top - 16.0), (from, self.bottom), GREY, 0.8);
            }
            self.label(canvas, (from, to), self.top - 6.0, &phase.name);
        }
    }

    /// Events are at least a hair wide; labelled inside, where one does not run into the last.
    fn shade_events(&self, canvas: &mut Canvas, analysis: &Analysis) {
        let shaded = crate::jvm::other_events(analysis).take(MOST_SHADED);
        let mut free_from = LEFT;
        for event in shaded.filter(|e| e.begin.is_some()) {
            let end = if event.end.is_some() { event.end.0 } else { event.begin.0 };
            let (from, to) = (self.x.place(event.begin.0 as f64), self.x.place(end as f64));
            canvas.rect((from, self.top), ((to - from).max(1.5), self.bottom - self.top), EVENT);
            let name = event.kind.name();
            let width = text_width(name, 12.0);
            if from >= free_from && from + width + 4.0 < RIGHT {
                canvas.text((from + 4.0, self.bottom - 6.0), Anchor::Start, "#7A5A00", name);
                free_from = from + width + 10.0;
            }
        }
    }

    /// Pauses of JVMs in black: a mark at the top of each, and a shade down to the axis. Those that would lie on each other are
    /// drawn once, so that thousands are no more than the figure is wide.
    fn mark_pauses(&self, canvas: &mut Canvas, analysis: &Analysis) {
        let (mut marks, mut shades) = (String::new(), String::new());
        let mut drawn_to = f64::NEG_INFINITY;
        for pause in analysis.events.iter().filter(|e| e.kind == EventKind::JvmPause && e.begin.is_some()) {
            let end = pause.end.get().unwrap_or(pause.begin);
            let from = self.x.place(pause.begin.0 as f64).clamp(LEFT, RIGHT);
            let to = self.x.place(end.0 as f64).clamp(LEFT, RIGHT).max(from + LEAST_WIDTH);
            if to <= drawn_to {
                continue;
            }
            drawn_to = to;
            for (into, top, height) in
                [(&mut marks, self.top, MARK_HEIGHT), (&mut shades, self.top, self.bottom - self.top)]
            {
                let _ = write!(into, "M{} {}H{}v{}H{}z", n(from), n(top), n(to), n(height), n(from));
            }
        }
        canvas.path(&shades, &format!(r#"fill="{BLACK}" fill-opacity="0.14""#));
        canvas.path(&marks, &format!(r#"fill="{BLACK}""#));
    }

    /// A phase's name above it, where there is room.
    fn label(&self, canvas: &mut Canvas, (from, to): (f64, f64), y: f64, name: &str) {
        if text_width(name, 12.0) + 8.0 < to - from {
            canvas.text((from + 4.0, y), Anchor::Start, GREY, name);
        }
    }
}
