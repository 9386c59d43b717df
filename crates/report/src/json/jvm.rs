//! Pauses of JVMs.

use record::JvmLogFacts;
use serde_json::{Value, json};

/// The field `jvm_logs`.
pub(super) fn logs(logs: &[JvmLogFacts]) -> Value {
    logs.iter().map(log).collect()
}

fn log(log: &JvmLogFacts) -> Value {
    let known = |words: &str| (!words.is_empty()).then(|| words.to_owned());
    json!({
        "subject": log.subject,
        "file": log.file,
        "format": known(&log.format),
        "aligned_by": known(&log.aligned_by),
        "trouble": log.trouble,
        "pauses": log.pauses,
        "paused": log.total.0,
        "longest": log.longest.map(|time| time.0),
        "longest_time_to_safepoint": log.longest_time_to_safepoint.map(|time| time.0),
        "stalls": log.stalls,
        "stalled": log.stalled.0,
        "longest_stall": log.longest_stall.map(|time| time.0),
        "summaries": log.summaries,
        "outside": log.outside,
        "not_understood": log.not_understood,
        "examples": log.examples,
    })
}
