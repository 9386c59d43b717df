//! The read-after-write lag, as probes saw it.

use super::Page;
use super::table::Table;
use super::times::with_interval;
use super::{count, estimate_point};
use crate::staleness::{bounds, probes, quantile, quantiles};
use analysis::Staleness;

impl Page<'_> {
    /// The section; nothing where none probed.
    pub(super) fn staleness(&mut self) {
        let analysis = self.analysis;
        let Some(staleness) = &analysis.staleness else { return };
        self.line(&self.paint.head("read-after-write lag"));
        self.wrapped("", "  ", &probes(staleness));
        if staleness.probes > 0 {
            self.text.push_str(&table(staleness).render(&self.paint, self.width));
        }
        self.line("");
    }
}

/// Quantiles down, bounds across.
fn table(staleness: &Staleness) -> Table {
    let bounds = bounds(staleness);
    let mut head = vec![String::new()];
    head.extend(bounds.iter().map(|(name, _)| (*name).to_owned()));
    let mut table = Table::new(head);
    for q in quantiles(staleness) {
        let cell = |estimate| match estimate {
            Some(estimate) => with_interval(estimate),
            None => format!("– (needs {} probes)", count(q.samples_needed())),
        };
        let cells = bounds.iter().map(|(_, bound)| cell(quantile(bound, q)));
        table.row(std::iter::once(q.name()).chain(cells).collect());
    }
    let max = bounds.iter().map(|(_, bound)| format!("{} observed", estimate_point(&bound.max)));
    table.row(std::iter::once("max".to_owned()).chain(max).collect());
    table
}
