//! The page of a comparison.

use super::paint::{Paint, wrap};
use super::table::Table;
use super::{
    TextOptions, estimate_point, estimate_ratio, estimate_squared, estimate_time, ratio as plain_ratio,
    squared,
};
use analysis::{ComparedRow, Comparison, Unit};
use record::Measure;
use units::Estimate;

/// Two sides, row by row, and what they show.
pub fn comparison_page(comparison: &Comparison, options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut text = String::new();
    let mut say = |line: &str| {
        for line in wrap("", "  ", line, options.width) {
            text += line.trim_end();
            text.push('\n');
        }
    };
    let decided = comparison.rows.iter().find(|r| r.name == comparison.decided_by);
    let ratio = decided.and_then(|r| r.ratio.as_ref());
    let ratio = ratio.map_or_else(String::new, |r| {
        let unsure = if r.interval.is_none() { ", no interval" } else { "" };
        format!(": {} times the base{unsure}", estimate_ratio(r))
    });
    let equivalent = decided.and_then(|r| r.equivalent) == Some(true);
    say(&format!(
        "{} by {} of the {}{ratio}{}",
        comparison.difference.name(),
        comparison.decided_by,
        comparison.measure.name(),
        if equivalent { ", equivalent within the margin" } else { "" },
    ));
    let sides = [("base", &comparison.base, comparison.runs.0), ("new", &comparison.new, comparison.runs.1)];
    for (side, (names, state), count) in sides {
        say(&format!("{side}: {} ({}, {})", names.join(", "), runs(count, names.len()), paint.state(*state)));
    }
    for warning in &comparison.warnings {
        say(&format!("note: {warning}"));
    }
    say("");
    let asked = comparison.rows.iter().any(|r| r.equivalent.is_some());
    let measures = std::iter::once((comparison.measure, &comparison.rows));
    let measures = measures.chain(comparison.others.iter().map(|o| (o.measure, &o.rows)));
    let tables = measures
        .map(|(measure, rows)| table(measure, rows, asked, options.width).render(&paint, options.width));
    text + &tables.collect::<Vec<_>>().join("\n")
}

/// With the sides' intervals where the page is wide enough; the ratio, which decides, always has its own.
fn table(measure: Measure, rows: &[ComparedRow], asked: bool, width: usize) -> Table {
    let make = |intervals: bool| {
        let mut head = vec![measure.name().to_owned()];
        head.extend(["base", "new", "new/base", "difference"].map(str::to_owned));
        if asked {
            head.push("equivalent".to_owned());
        }
        let mut table = Table::new(head);
        rows.iter().for_each(|row| table.row(cells(row, asked, intervals)));
        table
    };
    let wide = make(true);
    if wide.fits(width) { wide } else { make(false) }
}

fn runs(count: usize, recordings: usize) -> String {
    let runs = if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    if recordings > count { format!("{runs} of {recordings} recordings") } else { runs }
}

fn cells(row: &ComparedRow, asked: bool, intervals: bool) -> Vec<String> {
    let value = |e: &Estimate| match (row.unit, intervals) {
        (Unit::Nanos, true) => estimate_time(e),
        (Unit::Nanos, false) => estimate_point(e),
        (Unit::SquaredNanos, true) => estimate_squared(e),
        (Unit::SquaredNanos, false) => squared(e.point),
        (Unit::Ratio, true) => estimate_ratio(e),
        (Unit::Ratio, false) => plain_ratio(e.point),
    };
    let ratio = row.ratio.as_ref().map_or_else(|| "–".to_owned(), estimate_ratio);
    let mut cells =
        vec![row.name.clone(), value(&row.base), value(&row.new), ratio, row.difference.name().to_owned()];
    if asked {
        cells.push(match row.equivalent {
            Some(true) => "yes".to_owned(),
            Some(false) => "not shown".to_owned(),
            None => "unknown".to_owned(),
        });
    }
    cells
}
