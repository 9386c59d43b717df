//! A mean request and a mean slow one, operation by operation, as bars of their exchanges.

use super::canvas::{Anchor, Canvas, Key, text_width};
use super::palette::{BLUE, GREEN, GREY, GRID, INK, LIGHT_GREY, ORANGE, PURPLE, SKY, VERMILION};
use crate::statements::{BETWEEN, share};
use crate::text::time;
use analysis::{Analysis, OperationStatements, Part};

const LEFT: f64 = 212.0;
const RIGHT: f64 = 890.0;
const BAR: f64 = 24.0;

/// Operations, those with the most time first; the report's tables have all.
const MOST_OPERATIONS: usize = 8;
/// Parts that have a colour of their own; the others are one.
const COLOURS: [&str; 6] = [BLUE, VERMILION, ORANGE, GREEN, PURPLE, SKY];
/// Letters of a name in the legend.
const LONGEST_NAME: usize = 26;

/// A part of an operation's requests, to be drawn.
struct Piece {
    name: String,
    part: Part,
    colour: &'static str,
}

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let statements = analysis.statements.as_ref()?;
    let mut operations: Vec<&OperationStatements> =
        statements.operations.iter().filter(|one| !one.exchanges.is_empty() && one.mean_ns > 0.0).collect();
    operations.sort_by(|a, b| time_of(b).total_cmp(&time_of(a)));
    operations.truncate(MOST_OPERATIONS);
    operations.first()?;
    let caption = "What the service time of a request is made of: above that of the mean request, below that of the mean of its \
                   operation's slowest hundredth. Each bar is as long as all of it; how long that was stands behind it. \
                   A part that is wider below than above makes the tail.";
    let mut canvas = Canvas::new(analysis, "What requests spend their time on", caption);
    canvas.top += 8.0;
    for operation in operations {
        draw(&mut canvas, operation);
    }
    let bottom = canvas.top;
    Some(canvas.finish(bottom))
}

fn time_of(operation: &OperationStatements) -> f64 {
    operation.mean_ns * operation.requests as f64
}

fn draw(canvas: &mut Canvas, operation: &OperationStatements) {
    let pieces = pieces(operation);
    canvas.line((24.0, canvas.top), (976.0, canvas.top), GRID, 1.0);
    canvas.text((24.0, canvas.top + 24.5), Anchor::Start, INK, &operation.operation);
    let mean = |part: &Part| Some(part.mean_ns);
    bar(canvas, "mean request", operation.mean_ns, &pieces, mean);
    if let Some(slowest) = operation.slowest {
        bar(canvas, "slowest 1 %", slowest.mean_ns, &pieces, |part| part.slow_mean_ns);
    }
    canvas.top += 8.0;
    let keys: Vec<(Key, &str, &str)> =
        pieces.iter().map(|piece| (Key::Area, piece.colour, piece.name.as_str())).collect();
    let mut row = Vec::new();
    let mut width = 0.0;
    for key in keys {
        let wide = 44.0 + text_width(key.2, 13.0);
        if width + wide > 950.0 {
            canvas.legend(&row);
            (row, width) = (Vec::new(), 0.0);
        }
        width += wide;
        row.push(key);
    }
    canvas.legend(&row);
    canvas.top += 10.0;
}

/// The largest first, each with a colour; what is small together; what lies between them last.
fn pieces(operation: &OperationStatements) -> Vec<Piece> {
    let weight = |part: &Part| {
        let slow =
            operation.slowest.map_or(0.0, |slowest| part.slow_mean_ns.unwrap_or(0.0) / slowest.mean_ns);
        slow.max(part.mean_ns / operation.mean_ns)
    };
    let mut all: Vec<(String, Part)> =
        operation.exchanges.iter().map(|one| (one.name.clone(), one.part)).collect();
    all.sort_by(|a, b| weight(&b.1).total_cmp(&weight(&a.1)));
    let rest = all.split_off(all.len().min(COLOURS.len()));
    let mut pieces: Vec<Piece> = all
        .into_iter()
        .zip(COLOURS)
        .map(|((name, part), colour)| Piece { name: shortened(&name), part, colour })
        .collect();
    if !rest.is_empty() {
        let part = rest.iter().fold(Part { mean_ns: 0.0, slow_mean_ns: Some(0.0) }, |sum, (_, part)| Part {
            mean_ns: sum.mean_ns + part.mean_ns,
            slow_mean_ns: sum.slow_mean_ns.zip(part.slow_mean_ns).map(|(a, b)| a + b),
        });
        pieces.push(Piece { name: format!("{} others", rest.len()), part, colour: LIGHT_GREY });
    }
    pieces.push(Piece { name: BETWEEN.to_owned(), part: operation.between, colour: INK });
    pieces
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

fn bar(canvas: &mut Canvas, label: &str, whole_ns: f64, pieces: &[Piece], of: impl Fn(&Part) -> Option<f64>) {
    let top = canvas.top + 8.0;
    canvas.text((LEFT - 10.0, top + 16.5), Anchor::End, GREY, label);
    let mut x = LEFT;
    for piece in pieces {
        let part = of(&piece.part).unwrap_or(0.0).max(0.0) / whole_ns;
        let width = (part * (RIGHT - LEFT)).min(RIGHT - x);
        canvas.rect((x, top), (width, BAR), piece.colour);
        let words = share(part);
        if text_width(&words, 12.0) + 8.0 < width {
            let ink = if [BLUE, INK, LIGHT_GREY, GREEN, VERMILION].contains(&piece.colour) {
                "#ffffff"
            } else {
                "#000000"
            };
            canvas.text((x + width / 2.0, top + 16.5), Anchor::Middle, ink, &words);
        }
        x += width;
    }
    canvas.text((RIGHT + 10.0, top + 16.5), Anchor::Start, INK, &time(whole_ns));
    canvas.top += BAR + 6.0;
}
