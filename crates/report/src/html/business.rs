//! What a workload asks of its own run.

use super::markup::{Column, Table, text};
use crate::business::{counts, rate, rule};
use analysis::Business;

/// What the section holds.
pub(super) fn content(business: &Business) -> String {
    let paragraph = |words: &str| format!("<p>{}.</p>\n", text(words));
    let mut markup: String = business.rates.iter().map(|one| paragraph(&rate(one))).collect();
    if !business.rules.is_empty() {
        let head =
            [(Column::Words, ""), (Column::Words, "asked"), (Column::Number, "found"), (Column::Words, "")];
        let mut table = Table::new("What the workload asks of each operation", &head);
        for one in &business.rules {
            table.row(&rule(one).map(|cell| text(&cell)));
        }
        markup += &table.finish();
    }
    let counts = counts(business);
    if !counts.is_empty() {
        markup += &paragraph(&counts);
    }
    markup
}
