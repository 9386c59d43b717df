//! What text, page, document and figure say of the predictability experiment, in the same words.

use analysis::{ComparedRow, Predictability, PredictabilityCell, Removal, VerdictState, Work};
use stats::Difference;
use units::Estimate;

pub use crate::html::predictability_page as html;
pub use crate::json::predictability as json;
pub use crate::svg::predictability_figure as figure;
pub use crate::text::predictability_page as text;

/// What the paper found (sect. 2.1 and fig. 6): server, standard deviation / mean, p99 / mean.
pub(crate) const PUBLISHED: [(&str, f64, f64); 3] =
    [("MySQL 5.6", 1.7, 7.5), ("PostgreSQL 9.6", 1.9, 11.0), ("VoltDB", 3.3, 6.1)];

pub(crate) const PUBLISHED_NOTE: &str = "published: Huang et al., SIGMOD 2017, TPC-C with 128 and 32 warehouses at 500 \
    transactions/s on servers of their time, of which the ratios can be set beside these and the times can't";

pub(crate) const METHOD: &str = "TPC-C at one constant rate, an open loop: response times count from the intended start. \
    Each run works on data that was made for it; the runs of all cells were made in turn, in an order that the seed decides. \
    “standard” is the mix of the specification; “alike” is New-Order alone with the same number of order lines in each, so \
    that the work itself no longer varies. Intervals are between runs; runs with an invalid verdict are left out";

/// `PostgreSQL, standard mix`.
pub(crate) fn cell_name(cell: &PredictabilityCell) -> String {
    format!("{}, {}", cell.server, work_words(cell.work))
}

pub(crate) fn work_words(work: Work) -> &'static str {
    match work {
        Work::Standard => "standard mix",
        Work::Alike => "alike",
    }
}

/// What the server calls itself, and where it was asked.
pub(crate) fn product(cell: &PredictabilityCell) -> String {
    cell.header.as_ref().map_or_else(|| "–".to_owned(), crate::words::product)
}

/// What a cell shows of a quantity.
pub(crate) fn found<'a>(cell: &'a PredictabilityCell, quantity: &str) -> Option<&'a Estimate> {
    cell.times.as_ref()?.rows.iter().find(|row| row.name == quantity).map(|row| &row.across)
}

/// `3 valid`, or `2 valid, 1 invalid`; then why runs are missing.
pub(crate) fn runs_words(cell: &PredictabilityCell) -> String {
    let count = |state: VerdictState| cell.verdicts.iter().filter(|found| **found == state).count();
    let states = [VerdictState::Valid, VerdictState::Suspect, VerdictState::Invalid];
    let counted = states.map(|state| (count(state), state.name()));
    let counted: Vec<String> =
        counted.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    let mut said = if counted.is_empty() { Vec::new() } else { vec![counted.join(", ")] };
    said.extend(cell.missing.iter().map(|why| format!("not run: {why}")));
    if said.is_empty() { "none".to_owned() } else { said.join("; ") }
}

/// One sentence for each server: what is left of its spread when all requests ask for the same.
pub(crate) fn sentences(found: &Predictability) -> Vec<String> {
    let of = |removal: &Removal| {
        let row = removal.rows.iter().find(|row| row.name == "coefficient of variation")?;
        let ratio = row.ratio.as_ref()?;
        let (low, high) = ratio.interval?;
        let said = match row.difference {
            Difference::Steadier | Difference::Faster => "part of its spread is inherent in the work",
            Difference::LessSteady | Difference::Slower => "its spread is larger when all requests are alike",
            Difference::NotShown => "that the work’s own variance matters is not shown",
        };
        Some(format!(
            "{}: {said}: with requests alike, standard deviation / mean is {:.2} [{low:.2}, {high:.2}] times that of the standard mix",
            removal.server, ratio.point
        ))
    };
    found.removals.iter().filter_map(of).collect()
}

/// The rows of a removal that are ratios of spreads.
pub(crate) fn ratios(removal: &Removal) -> impl Iterator<Item = (&ComparedRow, &Estimate)> {
    removal.rows.iter().filter_map(|row| Some((row, row.ratio.as_ref()?)))
}
