//! The page of the predictability experiment.

use super::sheet::Sheet;
use super::table::Table;
use super::times::with_interval;
use super::{TextOptions, estimate_ratio};
use crate::predictability::{
    METHOD, PUBLISHED, PUBLISHED_NOTE, cell_name, found, product, ratios, runs_words, sentences,
};
use analysis::{PREDICTABILITY_QUANTITIES, Predictability, PredictabilityCell};

/// Cells down, quantities across; then what is left of the spreads, and what was published.
pub fn predictability_page(experiment: &Predictability, options: &TextOptions) -> String {
    let mut sheet = Sheet::new(options);
    sheet.say("", "  ", "how predictably each database answers the same work at one rate");
    sentences(experiment).iter().for_each(|said| sheet.say("", "  ", said));
    for quantities in [&PREDICTABILITY_QUANTITIES[..3], &PREDICTABILITY_QUANTITIES[3..]] {
        sheet.table(&times(experiment, quantities));
    }
    sheet.heading("alike / standard");
    let left = removals(experiment);
    match experiment.removals.is_empty() {
        true => sheet.say("", "  ", "no server has runs of both kinds"),
        false => sheet.indented(&left),
    }
    sheet.heading("runs");
    let mut runs = Table::new(["cell", "server", "offered", "runs"].map(str::to_owned).to_vec());
    experiment.cells.iter().for_each(|cell| runs.row(run_cells(cell)));
    sheet.indented(&runs);
    sheet.blank();
    sheet.faint(&format!("{PUBLISHED_NOTE}. {METHOD}."));
    sheet.text
}

fn times(experiment: &Predictability, quantities: &[&str]) -> Table {
    let mut head = vec!["response times".to_owned()];
    head.extend(quantities.iter().map(|name| (*name).to_owned()));
    let mut table = Table::new(head);
    for cell in &experiment.cells {
        let value = |name: &&str| {
            found(cell, name).map_or_else(
                || "–".to_owned(),
                |e| if is_ratio(name) { estimate_ratio(e) } else { with_interval(e) },
            )
        };
        table.row(std::iter::once(cell_name(cell)).chain(quantities.iter().map(value)).collect());
    }
    if quantities.iter().all(|name| is_ratio(name)) {
        for (server, spread, tail) in PUBLISHED {
            table.row(vec![format!("{server}, published"), spread.to_string(), tail.to_string()]);
        }
    }
    table
}

/// Whether a quantity is a ratio of two times.
fn is_ratio(name: &str) -> bool {
    matches!(name, "coefficient of variation" | "p99/mean")
}

fn removals(experiment: &Predictability) -> Table {
    let mut table = Table::new(["server", "quantity", "ratio"].map(str::to_owned).to_vec());
    for removal in &experiment.removals {
        for (row, ratio) in ratios(removal) {
            table.row(vec![removal.server.clone(), row.name.clone(), estimate_ratio(ratio)]);
        }
    }
    table
}

fn run_cells(cell: &PredictabilityCell) -> Vec<String> {
    let rate = cell.rates.map_or_else(|| "–".to_owned(), |(offered, _)| format!("{offered:.0}/s"));
    vec![cell_name(cell), product(cell), rate, runs_words(cell)]
}
