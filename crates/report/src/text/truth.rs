//! A store's truth beside the measurement.

use super::Page;
use super::table::Table;
use super::time;
use crate::truth::{doubts, error, name, pairing, statements, statistics};
use analysis::Overlay;

impl Page<'_> {
    /// The section; nothing where there is no truth.
    pub(super) fn truth(&mut self) {
        let analysis = self.analysis;
        let Some(overlay) = &analysis.overlay else { return };
        self.line(&self.paint.head("against the store's truth"));
        self.wrapped("", "  ", &pairing(overlay));
        for doubt in doubts(overlay) {
            self.wrapped("  note: ", "    ", &doubt);
        }
        if !overlay.measures.is_empty() {
            self.text.push_str(&table(overlay).render(&self.paint, self.width));
        }
        for (label, text) in statements(overlay) {
            self.wrapped(&format!("{label:<18}"), "                  ", &text);
        }
        self.line("");
    }
}

/// Statistics down, measures across: true, measured, error.
fn table(overlay: &Overlay) -> Table {
    let mut head = vec![String::new()];
    for measure in &overlay.measures {
        head.extend([format!("true {}", measure.measure.name()), "measured".to_owned(), "error".to_owned()]);
    }
    let mut table = Table::new(head);
    for statistic in statistics(&overlay.measures) {
        let mut row = vec![name(statistic)];
        for measure in &overlay.measures {
            match measure.value(statistic) {
                Some(value) => row.extend([time(value.truth), time(value.measured), error(value)]),
                None => row.extend(["–", "–", "–"].map(str::to_owned)),
            }
        }
        table.row(row);
    }
    table
}
