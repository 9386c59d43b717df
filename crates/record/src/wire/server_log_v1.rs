//! Logs of database servers in format 1 of `run.toml`.

use super::whole::Whole;
use crate::ServerLogFacts;
use serde::{Deserialize, Serialize};
use units::Nanos;

#[derive(Serialize, Deserialize)]
pub(super) struct ServerLog {
    file: String,
    #[serde(default)]
    format: String,
    #[serde(default)]
    aligned_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    #[serde(default)]
    checkpoints: Whole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    longest_checkpoint_ns: Option<Whole>,
    #[serde(default)]
    checkpoints_in_all: Whole,
    #[serde(default)]
    vacuums: Whole,
    #[serde(default)]
    lock_waits: Whole,
    #[serde(default)]
    durations: Whole,
    #[serde(default)]
    others: Whole,
    #[serde(default)]
    outside: Whole,
    #[serde(default)]
    not_understood: Whole,
    #[serde(default)]
    examples: Vec<String>,
}

impl ServerLog {
    pub(super) fn from_domain(facts: &ServerLogFacts) -> ServerLog {
        ServerLog {
            file: facts.file.clone(),
            format: facts.format.clone(),
            aligned_by: facts.aligned_by.clone(),
            trouble: facts.trouble.clone(),
            checkpoints: Whole(facts.checkpoints),
            longest_checkpoint_ns: facts.longest_checkpoint.map(|time| Whole(time.0)),
            checkpoints_in_all: Whole(facts.checkpoints_in_all),
            vacuums: Whole(facts.vacuums),
            lock_waits: Whole(facts.lock_waits),
            durations: Whole(facts.durations),
            others: Whole(facts.others),
            outside: Whole(facts.outside),
            not_understood: Whole(facts.not_understood),
            examples: facts.examples.clone(),
        }
    }

    pub(super) fn into_domain(self) -> ServerLogFacts {
        ServerLogFacts {
            file: self.file,
            format: self.format,
            aligned_by: self.aligned_by,
            trouble: self.trouble,
            checkpoints: self.checkpoints.0,
            longest_checkpoint: self.longest_checkpoint_ns.map(|time| Nanos(time.0)),
            checkpoints_in_all: self.checkpoints_in_all.0,
            vacuums: self.vacuums.0,
            lock_waits: self.lock_waits.0,
            durations: self.durations.0,
            others: self.others.0,
            outside: self.outside.0,
            not_understood: self.not_understood.0,
            examples: self.examples,
        }
    }
}
