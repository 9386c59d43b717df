//! Pauses of JVMs.

use super::Page;
use crate::jvm::{clauses, longest, origin};
use units::format_nanos;

/// Pauses that are listed.
const LISTED: usize = 3;

impl Page<'_> {
    /// The section; nothing without a JVM's log.
    pub(super) fn jvm(&mut self) {
        let analysis = self.analysis;
        if analysis.jvm_logs.is_empty() {
            return;
        }
        self.line(&self.paint.head("pauses of JVMs"));
        for log in &analysis.jvm_logs {
            self.wrapped("", "  ", &format!("{}: {}", log.subject, clauses(log).join("; ")));
            self.wrapped("  ", "    ", &origin(log));
            if let Some(trouble) = &log.trouble {
                self.wrapped("  ", "    ", &format!("trouble: {trouble}"));
            }
        }
        for pause in longest(analysis, LISTED) {
            let length = format_nanos(pause.end - pause.begin);
            let at = pause.begin.0 as f64 / 1e9;
            self.wrapped(
                "  ",
                "    ",
                &format!("{at:.3} s for {length}  {}  {}", pause.subject, pause.detail),
            );
        }
        self.line("");
    }
}
