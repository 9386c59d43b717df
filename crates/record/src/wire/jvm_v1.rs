//! Logs of JVMs in format 1 of `run.toml`.

use super::whole::Whole;
use crate::JvmLogFacts;
use serde::{Deserialize, Serialize};
use units::Nanos;

#[derive(Serialize, Deserialize)]
pub(super) struct JvmLog {
    subject: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    format: String,
    #[serde(default)]
    aligned_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    #[serde(default)]
    pauses: Whole,
    #[serde(default)]
    total_ns: Whole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    longest_ns: Option<Whole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    longest_time_to_safepoint_ns: Option<Whole>,
    #[serde(default)]
    stalls: Whole,
    #[serde(default)]
    stalled_ns: Whole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    longest_stall_ns: Option<Whole>,
    #[serde(default)]
    summaries: Whole,
    #[serde(default)]
    outside: Whole,
    #[serde(default)]
    not_understood: Whole,
    #[serde(default)]
    examples: Vec<String>,
}

fn whole(time: Option<Nanos>) -> Option<Whole> {
    time.map(|time| Whole(time.0))
}

fn nanos(time: Option<Whole>) -> Option<Nanos> {
    time.map(|time| Nanos(time.0))
}

impl JvmLog {
    pub(super) fn from_domain(facts: &JvmLogFacts) -> JvmLog {
        JvmLog {
            subject: facts.subject.clone(),
            file: facts.file.clone(),
            format: facts.format.clone(),
            aligned_by: facts.aligned_by.clone(),
            trouble: facts.trouble.clone(),
            pauses: Whole(facts.pauses),
            total_ns: Whole(facts.total.0),
            longest_ns: whole(facts.longest),
            longest_time_to_safepoint_ns: whole(facts.longest_time_to_safepoint),
            stalls: Whole(facts.stalls),
            stalled_ns: Whole(facts.stalled.0),
            longest_stall_ns: whole(facts.longest_stall),
            summaries: Whole(facts.summaries),
            outside: Whole(facts.outside),
            not_understood: Whole(facts.not_understood),
            examples: facts.examples.clone(),
        }
    }

    pub(super) fn into_domain(self) -> JvmLogFacts {
        JvmLogFacts {
            subject: self.subject,
            file: self.file,
            format: self.format,
            aligned_by: self.aligned_by,
            trouble: self.trouble,
            pauses: self.pauses.0,
            total: Nanos(self.total_ns.0),
            longest: nanos(self.longest_ns),
            longest_time_to_safepoint: nanos(self.longest_time_to_safepoint_ns),
            stalls: self.stalls.0,
            stalled: Nanos(self.stalled_ns.0),
            longest_stall: nanos(self.longest_stall_ns),
            summaries: self.summaries.0,
            outside: self.outside.0,
            not_understood: self.not_understood.0,
            examples: self.examples,
        }
    }
}
