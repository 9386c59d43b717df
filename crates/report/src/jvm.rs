//! What text and page say of JVMs' logs, in the same words.

use crate::logs::{lacking, several};
use analysis::Analysis;
use record::{Event, EventKind, JvmLogFacts};
use units::format_nanos;

/// What a log told: its pauses first, what it lacks last; one clause each.
pub(crate) fn clauses(log: &JvmLogFacts) -> Vec<String> {
    let mut clauses = Vec::new();
    if log.trouble.is_none() || log.pauses > 0 {
        let mut pauses = several(log.pauses, "pause of all threads", "pauses of all threads");
        if let Some(longest) = log.longest {
            let total = format_nanos(log.total);
            pauses += &format!(", {total} in all, the longest {}", format_nanos(longest));
        }
        clauses.push(pauses);
    }
    if let Some(stopping) = log.longest_time_to_safepoint {
        clauses.push(format!("longest time to safepoint {}", format_nanos(stopping)));
    }
    if let Some(longest) = log.longest_stall {
        let stalls = several(log.stalls, "stall of a single thread", "stalls of single threads");
        let total = format_nanos(log.stalled);
        clauses.push(format!("{stalls}, {total} in all, the longest {}", format_nanos(longest)));
    }
    if log.summaries > 0 {
        let summaries = several(log.summaries, "summary", "summaries");
        clauses.push(format!("{summaries} of stops whose moments the log does not tell"));
    }
    if log.outside > 0 {
        clauses.push(several(log.outside, "outside of the run, left out", "outside of the run, left out"));
    }
    lacking(log.not_understood, &log.examples, &mut clauses);
    clauses
}

/// Where it comes from, and how its lines were placed.
pub(crate) fn origin(log: &JvmLogFacts) -> String {
    crate::logs::origin(&log.file, &log.format, &log.aligned_by)
}

/// Events besides phases and pauses of JVMs, which are shown for themselves.
pub(crate) fn other_events(analysis: &Analysis) -> impl Iterator<Item = &Event> {
    analysis.events.iter().filter(|e| !matches!(e.kind, EventKind::Phase | EventKind::JvmPause))
}

/// The longest pauses first.
pub(crate) fn longest(analysis: &Analysis, most: usize) -> Vec<&Event> {
    let mut pauses: Vec<&Event> =
        analysis.events.iter().filter(|e| e.kind == EventKind::JvmPause && e.begin.is_some()).collect();
    pauses.sort_by_key(|e| std::cmp::Reverse(e.end - e.begin));
    pauses.truncate(most);
    pauses
}
