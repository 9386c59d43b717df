//! What a workload asks of its own run.

use super::Page;
use super::table::Table;
use crate::business::{TITLE, counts, rate, rule};
use analysis::Business;

impl Page<'_> {
    /// The section; nothing where the workload asks nothing.
    pub(super) fn business(&mut self) {
        let analysis = self.analysis;
        let Some(business) = &analysis.business else { return };
        self.line(&self.paint.head(&TITLE.to_lowercase()));
        for one in &business.rates {
            self.wrapped("", "  ", &rate(one));
        }
        if !business.rules.is_empty() {
            self.text.push_str(&table(business).render(&self.paint, self.width));
        }
        let counts = counts(business);
        if !counts.is_empty() {
            self.wrapped("", "  ", &counts);
        }
        self.line("");
    }
}

fn table(business: &Business) -> Table {
    let head = ["", "asked", "found", ""];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    for one in &business.rules {
        table.row(rule(one).to_vec());
    }
    table
}
