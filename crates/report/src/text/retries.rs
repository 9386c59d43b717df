//! What was tried again, in all and by operation.

use super::{Page, count};
use crate::words::retries;
use analysis::{Scope, ScopeSummary};

/// Operations that are named, those with the most retries first; the report has all of them.
const MOST: usize = 4;

impl Page<'_> {
    /// One sentence; nothing where nothing was tried again.
    pub(super) fn retries(&mut self) {
        let counts = &self.analysis.total.counts;
        if counts.retried == 0 {
            return;
        }
        let is_retried = |s: &&ScopeSummary| matches!(s.scope, Scope::Operation(_)) && s.counts.retried > 0;
        let mut operations: Vec<&ScopeSummary> = self.analysis.scopes.iter().filter(is_retried).collect();
        operations.sort_by_key(|s| std::cmp::Reverse(s.counts.retried));
        let named: Vec<String> = operations
            .iter()
            .take(MOST)
            .map(|s| match s.counts.gave_up {
                0 => format!("{} {}", s.name, count(s.counts.retried)),
                n => format!("{} {} ({} in vain)", s.name, count(s.counts.retried), count(n)),
            })
            .collect();
        let by_operation = match (operations.len(), named.join(", ")) {
            (0, _) => String::new(),
            (n, names) if n > MOST => format!(": {names} …"),
            (_, names) => format!(": {names}"),
        };
        self.wrapped("", "  ", &format!("tried again: {}{by_operation}", retries(counts)));
    }
}
