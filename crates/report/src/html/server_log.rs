//! Logs of database servers.

use super::markup::text;
use crate::server_log::{clauses, origin};
use analysis::Analysis;

/// What the section holds; what happened is in the table of events.
pub(super) fn content(analysis: &Analysis) -> String {
    let mut markup = String::new();
    for log in &analysis.server_logs {
        markup += &format!("<p>{}.</p>\n", text(&clauses(log).join("; ")));
        markup += &format!("<p class=\"note\">{}.</p>\n", text(&origin(log)));
        if let Some(trouble) = &log.trouble {
            markup += &format!("<p class=\"note\">Trouble: {}.</p>\n", text(trouble));
        }
        for example in log.examples.iter().skip(1) {
            markup += &format!("<p class=\"note\">Not understood, too: <code>{}</code></p>\n", text(example));
        }
    }
    markup
}
