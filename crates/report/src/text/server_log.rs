//! Logs of database servers.

use super::Page;
use crate::server_log::{clauses, origin};

impl Page<'_> {
    /// The section; nothing without a server's log. What happened is among the events.
    pub(super) fn server_log(&mut self) {
        let analysis = self.analysis;
        if analysis.server_logs.is_empty() {
            return;
        }
        self.line(&self.paint.head("the server's log"));
        for log in &analysis.server_logs {
            self.wrapped("", "  ", &clauses(log).join("; "));
            self.wrapped("  ", "    ", &origin(log));
            if let Some(trouble) = &log.trouble {
                self.wrapped("  ", "    ", &format!("trouble: {trouble}"));
            }
        }
        self.line("");
    }
}
