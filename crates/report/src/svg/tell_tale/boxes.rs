//! A box for each cell of a group, and for each of its operations.

use super::super::axis::{Axis, time_label};
use super::super::boxes::draw;
use super::super::canvas::{Anchor, Canvas, Key, WIDTH};
use super::super::palette::{BLUE, GREY, INK, PALE_BLUE, VERMILION};
use super::{members, row_name, row_why};
use crate::tell_tale::{group_name, measure_name};
use crate::text::time;
use analysis::BoxPlot;
use analysis::tell_tale::{CellFigures, Group, TellTale};
use units::{Quantile, format_nanos};

const LEFT: f64 = 190.0;
/// Right of the plot is room for the largest's label.
const RIGHT: f64 = WIDTH - 96.0;
const ROW: f64 = 36.0;
const HEADING: f64 = 26.0;

/// One figure of a box.
type Of = fn(&BoxPlot) -> f64;

/// What stands in the figure from top to bottom.
enum Row {
    Heading(String),
    Box { name: String, boxes: Vec<(u64, BoxPlot)> },
    Why { name: String, why: String },
}

pub(super) fn of_all(tell_tale: &TellTale, group: &Group) -> Option<String> {
    let rows = rows(tell_tale, group, "all");
    figure(tell_tale, group, "Cells", &rows)
}

/// `None` where there is one operation: then its box is that of all.
pub(super) fn of_operations(tell_tale: &TellTale, group: &Group) -> Option<String> {
    let figures = |cell: &usize| tell_tale.cells[*cell].figures.as_ref().ok();
    let boxes = group
        .cells
        .iter()
        .filter_map(figures)
        .flat_map(|figures| &figures.rounds)
        .flat_map(|round| &round.boxes);
    let mut operations: Vec<&str> = Vec::new();
    for (name, ..) in boxes {
        if name != "all" && !operations.contains(&name.as_str()) {
            operations.push(name);
        }
    }
    let all: Vec<Row> = operations
        .iter()
        .flat_map(|name| {
            let ran = rows(tell_tale, group, name).into_iter().filter(|row| matches!(row, Row::Box { .. }));
            std::iter::once(Row::Heading((*name).to_owned())).chain(ran)
        })
        .collect();
    figure(tell_tale, group, "Transaction types", &all)
}

fn rows(tell_tale: &TellTale, group: &Group, operation: &str) -> Vec<Row> {
    let row = |(cell, name): (usize, String)| match &tell_tale.cells[cell].figures {
        Err(why) => Some(Row::Why { name, why: why.clone() }),
        Ok(figures) => {
            let boxes = boxes(figures, operation);
            (!boxes.is_empty()).then_some(Row::Box { name, boxes })
        }
    };
    members(tell_tale, group).filter_map(row).collect()
}

/// One operation's box in each round that has it.
fn boxes(figures: &CellFigures, operation: &str) -> Vec<(u64, BoxPlot)> {
    let of_round = |round: &analysis::tell_tale::RoundFigures| {
        let of_operation = round.boxes.iter().find(|(name, ..)| name == operation);
        of_operation.map(|(_, n, plot)| (*n, no_finer(plot, round.length_resolution.0 as f64)))
    };
    figures.rounds.iter().filter_map(of_round).collect()
}

/// What is below the finest step that the tool tells is drawn at that step.
fn no_finer(plot: &BoxPlot, finest: f64) -> BoxPlot {
    BoxPlot {
        min: plot.min.max(finest),
        whisker_low: plot.whisker_low.max(finest),
        q1: plot.q1.max(finest),
        median: plot.median.max(finest),
        q3: plot.q3.max(finest),
        whisker_high: plot.whisker_high.max(finest),
        p95: plot.p95.max(finest),
        p99: plot.p99.max(finest),
        max: plot.max.max(finest),
    }
}

/// Where times that a tool does not tell any finer are drawn; empty where all are exact.
pub(super) fn coarse_words(tell_tale: &TellTale, group: &Group) -> String {
    let ran = group.cells.iter().filter_map(|cell| tell_tale.cells[*cell].figures.as_ref().ok());
    let finest = ran.map(|figures| figures.finest()).max().filter(|finest| finest.0 > 0);
    finest.map_or(String::new(), |finest| {
        format!(" What a tool tells no finer than {} stands there.", format_nanos(finest))
    })
}

fn figure(tell_tale: &TellTale, group: &Group, title: &str, rows: &[Row]) -> Option<String> {
    let plots =
        || rows.iter().flat_map(|row| if let Row::Box { boxes, .. } = row { boxes.as_slice() } else { &[] });
    plots().next()?;
    let measure = measure_name(tell_tale, group);
    let coarse = coarse_words(tell_tale, group);
    let caption = format!(
        "The {measure}. Each box is the median over the rounds: quartiles with the median inside, whiskers to 1.5 interquartile \
         ranges, and marks at 0, 95, 99 and 100 %. A thin line through a mark goes from the least to the most of the rounds; each round's \
         largest is a triangle, and the largest of all has its number.{coarse}"
    );
    let mut canvas = Canvas::of(&group_name(group), &format!("{title}: {measure}"), &caption);
    canvas.legend(&[
        (Key::Area, PALE_BLUE, "25th to 75th percentile"),
        (Key::Ring, BLUE, "95th"),
        (Key::Dot, BLUE, "99th"),
        (Key::Up, INK, "smallest"),
        (Key::Down, VERMILION, "largest"),
    ]);
    let height = |row: &Row| if matches!(row, Row::Heading(_)) { HEADING } else { ROW };
    let (top, tall) = (canvas.top + 10.0, rows.iter().map(height).sum::<f64>());
    let bottom = top + tall;
    let x = Axis::log(plots().flat_map(|(_, plot)| [plot.min.max(1.0), plot.max]), LEFT, RIGHT);
    let ticks: Vec<(f64, String)> = x.ticks().into_iter().map(|tick| (tick, time_label(tick))).collect();
    x.draw_below(&mut canvas, (top, bottom), &super::panel::apart(&ticks, &x));
    let mut y = top;
    for row in rows {
        let middle = y + height(row) / 2.0;
        match row {
            Row::Heading(name) => canvas.text((24.0, middle + 6.0), Anchor::Start, GREY, name),
            Row::Why { name, why } => {
                row_name(&mut canvas, (LEFT - 14.0, middle), name);
                row_why(&mut canvas, (LEFT + 6.0, middle), WIDTH - LEFT - 30.0, why);
            }
            Row::Box { name, boxes } => {
                row_name(&mut canvas, (LEFT - 14.0, middle), name);
                one(&mut canvas, boxes, &x, middle);
            }
        }
        y += height(row);
    }
    canvas.text(
        ((LEFT + RIGHT) / 2.0, bottom + 38.0),
        Anchor::Middle,
        GREY,
        &format!("{measure} (logarithmic)"),
    );
    Some(canvas.finish(bottom + 54.0))
}

/// The median round's box by each of its figures, what the rounds differ by, and the largest of all with its number.
fn one(canvas: &mut Canvas, boxes: &[(u64, BoxPlot)], x: &Axis, y: f64) {
    let sorted = |of: Of| {
        let mut values: Vec<f64> = boxes.iter().map(|(_, plot)| of(plot)).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let median = |of: Of| {
        let values = sorted(of);
        values[(values.len() - 1) / 2]
    };
    let plot = BoxPlot {
        min: median(|plot| plot.min),
        whisker_low: median(|plot| plot.whisker_low),
        q1: median(|plot| plot.q1),
        median: median(|plot| plot.median),
        q3: median(|plot| plot.q3),
        whisker_high: median(|plot| plot.whisker_high),
        p95: median(|plot| plot.p95),
        p99: median(|plot| plot.p99),
        max: median(|plot| plot.max),
    };
    let fewest = boxes.iter().map(|(n, _)| *n).min().unwrap_or(0);
    let carried = |q: f64| Quantile::new(q).is_some_and(|q| fewest >= q.samples_needed());
    let (p95, p99) = (carried(0.95), carried(0.99));
    let spans: [(bool, Of, &str); 3] =
        [(p95, |plot| plot.p95, BLUE), (p99, |plot| plot.p99, BLUE), (true, |plot| plot.max, VERMILION)];
    for (_, of, colour) in spans.into_iter().filter(|(is_carried, ..)| *is_carried) {
        let values = sorted(of);
        canvas.line((x.place(values[0]), y), (x.place(values[values.len() - 1]), y), colour, 1.6);
    }
    let maxima = sorted(|plot| plot.max);
    for max in &maxima {
        canvas.triangle((x.place(*max), y - 4.0), false, VERMILION);
    }
    draw(canvas, &plot, (p95, p99), x, y);
    let largest = maxima[maxima.len() - 1];
    canvas.text((x.place(largest) + 10.0, y + 4.0), Anchor::Start, INK, &time(largest));
}
