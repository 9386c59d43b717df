//! By what factor the tools are off.

use super::axis::{Axis, plain};
use super::canvas::{Anchor, Canvas, Key, WIDTH};
use super::palette::{BLUE, GREY, INK, VERMILION};
use prove::verdict::{Place, Placed};
use prove::{Statistic, ToolResult};

const LEFT: f64 = 270.0;
const RIGHT: f64 = WIDTH - 236.0;
const ROW: f64 = 34.0;

/// One row for each tool, one mark for each scenario that can tell.
pub(super) fn figure(tools: &[ToolResult]) -> Option<String> {
    let factors = |tool: &ToolResult, statistic: Statistic| -> Vec<f64> {
        let placed = tool.scenarios.iter().flat_map(|s| &s.judgement.placed);
        let told = placed.filter(|p| p.statistic == statistic && p.place != Place::CannotTell);
        told.filter_map(Placed::factor).collect()
    };
    let shown = [Statistic::P99, Statistic::P999];
    let all: Vec<f64> = tools.iter().flat_map(|t| shown.iter().flat_map(|s| factors(t, *s))).collect();
    if all.is_empty() {
        return None;
    }
    let mut canvas = Canvas::of(
        "Each mark is one scenario in which response and service times differ",
        "How far the tools' tails are from what users wait",
        "What a tool states, divided by the true response time at the offered rate. 1 is right; 0.01 says that the tail is a \
         hundred times shorter than it is.",
    );
    canvas.legend(&[(Key::Dot, BLUE, "p99"), (Key::Ring, VERMILION, "p99.9"), (Key::Line, INK, "the truth")]);
    let top = canvas.top + 22.0;
    let bottom = top + ROW * tools.len() as f64;
    let x = Axis::log(all.into_iter().chain([0.5, 2.0]), LEFT, RIGHT);
    let ticks: Vec<(f64, String)> = x.ticks().into_iter().map(|t| (t, format!("{}×", plain(t)))).collect();
    x.draw_below(&mut canvas, (top, bottom), &ticks);
    canvas.line((x.place(1.0), top), (x.place(1.0), bottom), INK, 2.0);
    canvas.text((x.place(1.0), top - 8.0), Anchor::Middle, INK, "right");
    canvas.text((LEFT, top - 8.0), Anchor::Start, GREY, "← too short");
    let middle = (LEFT + RIGHT) / 2.0;
    canvas.text((middle, bottom + 38.0), Anchor::Middle, GREY, "stated / true response time (logarithmic)");
    for (index, tool) in tools.iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        canvas.text((LEFT - 12.0, y + 4.0), Anchor::End, INK, &tool.tool);
        canvas.text((RIGHT + 12.0, y + 4.0), Anchor::Start, GREY, tool.verdict().name());
        for factor in factors(tool, Statistic::P999) {
            canvas.ring((x.place(factor), y + 5.0), VERMILION);
        }
        for factor in factors(tool, Statistic::P99) {
            canvas.dot((x.place(factor), y - 5.0), 3.6, BLUE);
        }
    }
    Some(canvas.finish(bottom + 54.0))
}
