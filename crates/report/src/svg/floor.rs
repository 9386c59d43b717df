//! The quantile curves of a floor, and beside those of a run.

use super::axis::{Axis, time_label};
use super::canvas::{Anchor, Canvas, Key, WIDTH};
use super::palette::{BLUE, GREY, INK, LIGHT_GREY, ORANGE, PURPLE, VERMILION};
use super::spectrum::{PLOT_HEIGHT, curve, outline, ticks};
use crate::floor::sentence;
use crate::text::capital;
use analysis::{Floor, FloorKind, FloorPart, MeasureSummary, RunFloor};

const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 40.0;
/// Of the modes of a request that asks for nothing, in their order.
const NOOP_COLOURS: [&str; 4] = [VERMILION, ORANGE, PURPLE, INK];

/// The figure of a floor as an SVG file; `None` where no part of it has times.
pub fn floor_figure(floor: &Floor) -> Option<String> {
    let curves = coloured(floor);
    let longest = curves.iter().map(|(_, times, _)| *times).max_by_key(|times| times.n)?;
    let name = longest.measure.name();
    let caption = format!(
        "{}. Each curve adds to the one before: the harness alone, the kernel and a process that answers at once, the \
         database's protocol front end. Vertical bars are {:.0} % intervals; dotted where fewer than ten requests lie beyond.",
        sentence(floor),
        longest.mean.level * 100.0
    );
    let mut canvas =
        Canvas::of(&origin(floor), &format!("Floor: {name} where nothing is asked"), &capital(&caption));
    let keys: Vec<(Key, &str, &str)> =
        curves.iter().map(|(part, _, colour)| (Key::Line, *colour, part.name.as_str())).collect();
    canvas.legend(&keys);
    let (top, bottom) = (canvas.top + 12.0, canvas.top + 12.0 + PLOT_HEIGHT);
    let x = Axis::log_exact(1.0, longest.n.max(2) as f64, LEFT, RIGHT);
    let values = curves.iter().flat_map(|(_, times, _)| times.spectrum.iter().map(|p| p.value_ns.max(1.0)));
    let y = Axis::log(values, bottom, top);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    x.draw_below(&mut canvas, (top, bottom), &ticks(longest));
    for (_, times, colour) in &curves {
        curve(&mut canvas, times, colour, &x, &y);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    canvas.text((middle, bottom + 38.0), Anchor::Middle, GREY, "quantile (logarithm of 1/(1 − q))");
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, &format!("{name} (logarithmic)"));
    Some(canvas.finish(bottom + 54.0))
}

/// The parts that have times, each with its colour.
fn coloured(floor: &Floor) -> Vec<(&FloorPart, &MeasureSummary, &'static str)> {
    let mut noops = NOOP_COLOURS.iter().cycle();
    let colour = |part: &FloorPart| match part.kind {
        FloorKind::Null => LIGHT_GREY,
        FloorKind::Echo => BLUE,
        FloorKind::NoOp => noops.next().copied().unwrap_or(INK),
    };
    let colours: Vec<&'static str> = floor.parts.iter().map(colour).collect();
    floor.parts.iter().zip(colours).filter_map(|(part, colour)| Some((part, part.times()?, colour))).collect()
}

/// What the figure is of.
fn origin(floor: &Floor) -> String {
    floor.parts.first().map_or_else(String::new, |part| {
        let load = &part.info.header.load;
        let offered = part.offered.map_or(String::new(), |rate| format!(", {rate} offered"));
        format!(
            "{}: {}{offered}, {} sessions on {}",
            load.model.name(),
            load.arrivals,
            load.sessions,
            part.info.header.host.name
        )
    })
}

/// How a part is drawn beside a run: thin, and never in the colours of a result.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub(super) name: &'a str,
    pub(super) times: &'a MeasureSummary,
    colour: &'static str,
    key: Key,
}

/// The harness alone in grey dots, the echo server in black dashes; the target, asked for nothing, in two colours of two
/// kinds of line.
const STYLES: [(&str, Key); 4] =
    [(ORANGE, Key::Dotted), (ORANGE, Key::Dashed), (PURPLE, Key::Dotted), (PURPLE, Key::Dashed)];

/// What is drawn of a floor beside a run.
pub(super) fn beside(run: &RunFloor) -> Vec<Beside<'_>> {
    let mut styles = STYLES.iter().cycle();
    let mut style = |part: &FloorPart| match part.kind {
        FloorKind::Null => (LIGHT_GREY, Key::Dotted),
        FloorKind::Echo => (INK, Key::Dashed),
        FloorKind::NoOp => styles.next().copied().unwrap_or((ORANGE, Key::Dotted)),
    };
    let parts = run.floor.parts.iter().filter_map(|part| {
        let (colour, key) = style(part);
        Some(Beside { name: &part.name, times: part.times()?, colour, key })
    });
    parts.collect()
}

impl Beside<'_> {
    /// Its entry in the legend.
    pub(super) fn entry(&self) -> (Key, &'static str, String) {
        (self.key, self.colour, self.name.to_owned())
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, x: &Axis, y: &Axis) {
        let dashes = if matches!(self.key, Key::Dotted) { "1.5 3" } else { "6 4" };
        let colour = self.colour;
        let style =
            format!(r#"fill="none" stroke="{colour}" stroke-width="1.4" stroke-dasharray="{dashes}""#);
        canvas.path(&outline(self.times, x, y), &style);
    }
}
