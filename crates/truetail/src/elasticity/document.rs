//! `experiment.toml`: what was asked, what was run and where it lies.

use super::size::Size;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the file; one of another version is refused.
const SCHEMA: &str = "truetail.elasticity-runs/1";
const FILE: &str = "experiment.toml";

/// The whole file.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) schema: String,
    pub(super) tool_version: String,
    /// UTC, `YYYYMMDD-HHMMSS`.
    pub(super) started: String,
    pub(super) preset: String,
    pub(super) records: u64,
    pub(super) rate: String,
    pub(super) time_ns: u64,
    pub(super) join_at_ns: u64,
    pub(super) sessions: u32,
    pub(super) workload: String,
    pub(super) seed: u64,
    #[serde(default, rename = "run", skip_serializing_if = "Vec::is_empty")]
    pub(super) runs: Vec<RunEntry>,
}

/// A run, and the join in it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RunEntry {
    /// `open` or `closed`.
    pub(super) driven: String,
    /// Its recording, below the experiment's directory.
    pub(super) recording: String,
    #[serde(default, rename = "phase", skip_serializing_if = "Vec::is_empty")]
    pub(super) phases: Vec<PhaseEntry>,
}

/// A phase of the join: when it was first seen, wall time in nanoseconds since 1970.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct PhaseEntry {
    pub(super) name: String,
    pub(super) wall_ns: u64,
}

impl Document {
    pub(super) fn new(size: &Size) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            tool_version: crate::VERSION.to_owned(),
            started: crate::run::timestamp(clock::wall_time_ns()),
            preset: size.preset.to_owned(),
            records: size.records,
            rate: size.rate.clone(),
            time_ns: size.time.0,
            join_at_ns: size.join_at.0,
            sessions: size.sessions,
            workload: size.workload.clone(),
            seed: size.seed.0,
            runs: Vec::new(),
        }
    }

    pub(super) fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let path = directory.join(FILE);
        let text = toml::to_string(self).context("the experiment's document can't be written as TOML")?;
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    }

    pub(super) fn open(directory: &Path) -> anyhow::Result<Document> {
        let path = directory.join(FILE);
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!("{}: no experiment; give the directory that one was written to", path.display())
        })?;
        let document: Document = toml::from_str(&text).map_err(|error| {
            let line = error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
            anyhow::anyhow!("{}: {line}", path.display())
        })?;
        if document.schema != SCHEMA {
            bail!("{}: it has schema {}, and this truetail reads {SCHEMA}", path.display(), document.schema);
        }
        Ok(document)
    }
}
