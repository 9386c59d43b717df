//! The read-after-write lag, as probes saw it.

use super::head::{count, time_cell};
use super::markup::{Column, Table, text};
use crate::staleness::{bounds, probes, quantile, quantiles};
use crate::text::time;
use analysis::Staleness;
use units::Bound;

/// What the section holds.
pub(super) fn content(staleness: &Staleness) -> String {
    let mut markup = format!("<p>{}.</p>\n", text(&probes(staleness)));
    if staleness.probes > 0 {
        markup += &table(staleness);
    }
    markup
        + "<p class=\"note\">How long it takes until a write that was acknowledged is read: no shorter than until \
           the last stale read was sent, and no longer than until the first fresh read was answered.</p>\n"
}

fn table(staleness: &Staleness) -> String {
    let bounds = bounds(staleness);
    let mut head = vec![(Column::Words, "")];
    head.extend(bounds.iter().map(|(name, _)| (Column::Number, *name)));
    let mut table = Table::new("Bounds of the read-after-write lag, over all probes", &head);
    for q in quantiles(staleness) {
        let needs = || format!("<small>needs {} probes</small>", count(q.samples_needed()));
        let cells = bounds.iter().map(|(_, bound)| quantile(bound, q).map_or_else(needs, time_cell));
        table.row(&std::iter::once(text(&q.name())).chain(cells).collect::<Vec<_>>());
    }
    let max = bounds.iter().map(|(_, bound)| {
        let least = if bound.max.bound == Bound::AtLeast { "≥ " } else { "" };
        format!("{least}{} <small>observed</small>", time(bound.max.point))
    });
    table.row(&std::iter::once("max".to_owned()).chain(max).collect::<Vec<_>>());
    table.finish()
}
