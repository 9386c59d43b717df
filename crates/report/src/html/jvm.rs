//! Pauses of JVMs.

use super::markup::{Column, Table, text};
use crate::jvm::{clauses, longest, origin};
use analysis::Analysis;
use units::format_nanos;

/// Pauses that are listed.
const LISTED: usize = 20;

/// What the section holds.
pub(super) fn content(analysis: &Analysis) -> String {
    let mut markup = String::new();
    for log in &analysis.jvm_logs {
        let words = clauses(log).join("; ");
        markup += &format!("<p><strong>{}</strong>: {}.</p>\n", text(&log.subject), text(&words));
        markup += &format!("<p class=\"note\">{}.</p>\n", text(&origin(log)));
        if let Some(trouble) = &log.trouble {
            markup += &format!("<p class=\"note\">Trouble: {}.</p>\n", text(trouble));
        }
        for example in log.examples.iter().skip(1) {
            markup += &format!("<p class=\"note\">Not understood, too: <code>{}</code></p>\n", text(example));
        }
    }
    let longest = longest(analysis, LISTED);
    if longest.is_empty() {
        return markup;
    }
    let head =
        [(Column::Number, "at"), (Column::Number, "for"), (Column::Words, "of"), (Column::Words, "in words")];
    let mut table = Table::new("The longest pauses", &head);
    for pause in longest {
        let at = format!("{:.3} s", pause.begin.0 as f64 / 1e9);
        let length = format_nanos(pause.end - pause.begin);
        table.row(&[at, length, text(&pause.subject), text(&pause.detail)]);
    }
    markup + &table.finish()
}
