//! What text and page say of a database server's log, in the same words.

use crate::logs::{lacking, several};
use record::ServerLogFacts;
use units::format_nanos;

/// What a log told: what happened first, what it lacks last; one clause each.
pub(crate) fn clauses(log: &ServerLogFacts) -> Vec<String> {
    let mut clauses = Vec::new();
    if !log.format.is_empty() && log.checkpoints_in_all == 0 {
        clauses.push("no checkpoint in the whole log (log_checkpoints may be off)".to_owned());
    } else if !log.format.is_empty() {
        let longest = log.longest_checkpoint.map(|time| format!(", the longest {}", format_nanos(time)));
        let checkpoints = several(log.checkpoints, "checkpoint", "checkpoints");
        clauses.push(checkpoints + &longest.unwrap_or_default());
    }
    let counted = [
        (log.vacuums, "automatic vacuum or analyze", "automatic vacuums and analyzes"),
        (log.lock_waits, "wait for a lock", "waits for locks"),
        (log.outside, "outside of the run, left out", "outside of the run, left out"),
        (
            log.durations,
            "entry on a statement's duration left alone",
            "entries on statements' durations left alone",
        ),
        (log.others, "other entry left alone", "other entries left alone"),
    ];
    clauses
        .extend(counted.iter().filter(|one| one.0 > 0).map(|(count, one, many)| several(*count, one, many)));
    lacking(log.not_understood, &log.examples, &mut clauses);
    clauses
}

/// Where it comes from, and how its lines were placed.
pub(crate) fn origin(log: &ServerLogFacts) -> String {
    crate::logs::origin(&log.file, &log.format, &log.aligned_by)
}
