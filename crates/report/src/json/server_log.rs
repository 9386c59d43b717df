//! Logs of database servers.

use record::ServerLogFacts;
use serde_json::{Value, json};

/// The field `server_logs`.
pub(super) fn logs(logs: &[ServerLogFacts]) -> Value {
    logs.iter().map(log).collect()
}

fn log(log: &ServerLogFacts) -> Value {
    let known = |words: &str| (!words.is_empty()).then(|| words.to_owned());
    json!({
        "file": log.file,
        "format": known(&log.format),
        "aligned_by": known(&log.aligned_by),
        "trouble": log.trouble,
        "checkpoints": log.checkpoints,
        "longest_checkpoint": log.longest_checkpoint.map(|time| time.0),
        "checkpoints_in_all": log.checkpoints_in_all,
        "vacuums": log.vacuums,
        "lock_waits": log.lock_waits,
        "durations": log.durations,
        "others": log.others,
        "outside": log.outside,
        "not_understood": log.not_understood,
        "examples": log.examples,
    })
}
