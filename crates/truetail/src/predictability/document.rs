//! `experiment.toml`: what was asked, what was run and where it lies.

use super::server::Kind;
use super::size::Size;
use analysis::Work;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the file; one of another version is refused.
const SCHEMA: &str = "truetail.predictability-runs/1";
const FILE: &str = "experiment.toml";

/// The whole file.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) schema: String,
    pub(super) tool_version: String,
    /// UTC, `YYYYMMDD-HHMMSS`.
    pub(super) started: String,
    /// Whether all rounds were run; false while they are, and after an interruption.
    pub(super) complete: bool,
    pub(super) preset: String,
    pub(super) rounds: u32,
    pub(super) rate: String,
    pub(super) warmup_ns: u64,
    pub(super) time_ns: u64,
    pub(super) warehouses: u32,
    pub(super) sessions: u32,
    pub(super) seed: u64,
    /// What is to be known of the host: name and value.
    pub(super) facts: Vec<(String, String)>,
    #[serde(default, rename = "cell", skip_serializing_if = "Vec::is_empty")]
    pub(super) cells: Vec<CellEntry>,
}

/// A cell, and what came of it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct CellEntry {
    pub(super) server: String,
    pub(super) work: String,
    /// Why it can't be run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) can_not: Option<String>,
    #[serde(default, rename = "round", skip_serializing_if = "Vec::is_empty")]
    pub(super) rounds: Vec<RoundEntry>,
}

/// A round of a cell.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RoundEntry {
    pub(super) number: u32,
    /// Its recording, below the experiment's directory; absent where the round failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) recording: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
}

impl CellEntry {
    pub(super) fn new(kind: Kind, work: Work) -> CellEntry {
        CellEntry {
            server: kind.name().to_owned(),
            work: work.name().to_owned(),
            can_not: None,
            rounds: Vec::new(),
        }
    }
}

impl Document {
    pub(super) fn new(size: &Size, facts: Vec<(String, String)>, cells: Vec<CellEntry>) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            tool_version: crate::VERSION.to_owned(),
            started: crate::run::timestamp(clock::wall_time_ns()),
            complete: false,
            preset: size.preset.to_owned(),
            rounds: size.rounds,
            rate: size.rate.clone(),
            warmup_ns: size.warmup.0,
            time_ns: size.time.0,
            warehouses: size.warehouses,
            sessions: size.sessions,
            seed: size.seed.0,
            facts,
            cells,
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
        let schema = toml::from_str::<toml::Table>(&text)
            .ok()
            .and_then(|table| table.get("schema").and_then(|schema| schema.as_str().map(str::to_owned)));
        if let Some(schema) = schema.filter(|schema| schema != SCHEMA) {
            bail!("{}: it has schema {schema}, and this truetail reads {SCHEMA}", path.display());
        }
        toml::from_str(&text).map_err(|error| {
            let line = error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
            anyhow::anyhow!("{}: {line}", path.display())
        })
    }
}
