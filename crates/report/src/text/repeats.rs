//! The page of repeats of one run.

use super::paint::Paint;
use super::table::Table;
use super::{TextOptions, estimate_ratio, estimate_squared, estimate_time, ratio, squared, time};
use crate::words::load;
use analysis::{Analysis, MeasureSummary, RepeatedMeasure, RepeatedRow, Unit};
use units::{Estimate, Quantile};

/// Median, p99 and p99.9: what of the printed ones tells most in a line.
const SHOWN: [usize; 3] = [0, 4, 5];

/// Each run with its own intervals, then all of them with the interval between runs.
pub fn repeats_page(runs: &[&Analysis], across: &[RepeatedMeasure], options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut tables = vec![each(runs, &paint)];
    tables.extend(across.iter().map(|measure| together(measure, runs.len())));
    let mut text = String::new();
    if let Some(first) = runs.first() {
        for line in
            super::paint::wrap("", "  ", &format!("{} ({})", load(first), count(runs.len())), options.width)
        {
            text += &line;
            text.push('\n');
        }
        text.push('\n');
    }
    for table in &tables {
        text += &table.render(&paint, options.width);
        text.push('\n');
    }
    let level = across.first().and_then(|m| m.rows.first()).map_or(0.95, |r| r.across.level);
    let note = format!(
        "[low, high]: {:.0} % intervals, within each run above and between the runs below; most/least is the \
         spread between the runs, which grows with their number",
        level * 100.0
    );
    for line in super::paint::wrap("", "  ", &note, options.width) {
        text += &paint.faint(&line);
        text.push('\n');
    }
    text
}

fn main_measure(analysis: &Analysis) -> Option<&MeasureSummary> {
    analysis.total.whole()
}

fn each(runs: &[&Analysis], paint: &Paint) -> Table {
    let measure = runs.iter().find_map(|a| main_measure(a)).map_or("", |m| m.measure.name());
    let shown = SHOWN.map(|i| Quantile::PRINTED[i]);
    let mut head = vec!["run".to_owned(), "verdict".to_owned()];
    head.extend(shown.iter().map(|q| format!("{q} {measure}")));
    let mut table = Table::new(head);
    for (index, analysis) in runs.iter().enumerate() {
        let mut row = vec![(index + 1).to_string(), paint.state(analysis.verdict.state)];
        if let Some(summary) = main_measure(analysis) {
            row.extend(shown.iter().map(|q| summary.quantile(*q).map_or_else(absent, with_interval)));
        }
        table.row(row);
    }
    table
}

fn count(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

fn absent() -> String {
    "–".to_owned()
}

fn with_interval(e: &Estimate) -> String {
    let none = if e.interval.is_none() { " [no interval]" } else { "" };
    format!("{}{none}", estimate_time(e))
}

fn together(measure: &RepeatedMeasure, runs: usize) -> Table {
    let head =
        [&format!("{} across {}", measure.measure.name(), count(runs)), "", "least", "most", "most/least"];
    let mut table = Table::new(head.iter().map(|h| (*h).to_owned()).collect());
    measure.rows.iter().for_each(|row| table.row(cells(row)));
    table
}

fn cells(row: &RepeatedRow) -> Vec<String> {
    let (across, point): (String, fn(f64) -> String) = match row.unit {
        Unit::Nanos => (estimate_time(&row.across), time),
        Unit::SquaredNanos => (estimate_squared(&row.across), squared),
        Unit::Ratio => (estimate_ratio(&row.across), ratio),
    };
    let across = if row.across.interval.is_none() { format!("{across} [no interval]") } else { across };
    let spread = row.most_over_least.map_or_else(absent, ratio);
    vec![row.name.clone(), across, point(row.least), point(row.most), spread]
}
