//! The page of the elasticity experiment.

use super::TextOptions;
use super::sheet::Sheet;
use super::table::Table;
use super::times::with_interval;
use crate::elasticity::{METHOD, curve_words, phase_words, run_name, sentences};
use analysis::Elasticity;
use units::Estimate;

/// Curves and spans down, quantities across; then the runs.
pub fn elasticity_page(found: &Elasticity, options: &TextOptions) -> String {
    let mut sheet = Sheet::new(options);
    sheet.say("", "  ", "what three ways of measuring say of a cluster that a node joins");
    sentences(found).iter().for_each(|said| sheet.say("", "  ", said));
    let head = ["times", "join", "mean", "p99", "longest", "requests", "failed"];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    let shown = |e: &Option<Estimate>| e.as_ref().map_or_else(|| "–".to_owned(), with_interval);
    for curve in &found.curves {
        for span in &curve.spans {
            let longest = span.longest.as_ref().map_or_else(|| "–".to_owned(), |e| super::time(e.point));
            table.row(vec![
                curve.reported.name().to_owned(),
                span.name.to_owned(),
                shown(&span.mean),
                shown(&span.p99),
                longest,
                span.requests.to_string(),
                span.failed.to_string(),
            ]);
        }
    }
    sheet.table(&table);
    sheet.heading("runs");
    for join in &found.joins {
        let said = format!("{}: {}; verdict {}", run_name(join), phase_words(&join.phases), join.verdict);
        sheet.say("  ", "    ", &said);
    }
    sheet.blank();
    let curves: Vec<&str> = found.curves.iter().map(|curve| curve_words(curve.reported)).collect();
    sheet.faint(&format!("{}. {METHOD}.", curves.join("; ")));
    sheet.text
}
