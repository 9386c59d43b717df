//! `experiment.toml`: what was asked, what was found, what was run and where it lies.

use super::matrix::Planned;
use analysis::tell_tale::{Cell, Round, Rounds};
use anyhow::{Context, bail};
use record::LoadModel;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the file; one of another version is refused.
const SCHEMA: &str = "truetail.tell-tale-rounds/1";
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
    pub(super) seed: u64,
    pub(super) sessions: u32,
    pub(super) warmup_ns: u64,
    pub(super) time_ns: u64,
    /// The same of a closed loop on the no-op store.
    pub(super) unhindered_warmup_ns: u64,
    pub(super) unhindered_time_ns: u64,
    pub(super) records: u64,
    pub(super) longest_scan: u32,
    /// What is to be known of the host and the servers: name and value.
    pub(super) facts: Vec<(String, String)>,
    #[serde(default, rename = "jvm", skip_serializing_if = "Vec::is_empty")]
    pub(super) jvms: Vec<JvmEntry>,
    #[serde(default, rename = "rate", skip_serializing_if = "Vec::is_empty")]
    pub(super) rates: Vec<RateEntry>,
    #[serde(default, rename = "cell", skip_serializing_if = "Vec::is_empty")]
    pub(super) cells: Vec<CellEntry>,
}

/// A JVM.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct JvmEntry {
    pub(super) name: String,
    pub(super) java: String,
    pub(super) version: String,
    pub(super) flags: Vec<String>,
}

/// The rate of the open loops of a row, and where it comes from.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RateEntry {
    pub(super) workload: String,
    pub(super) target: String,
    pub(super) per_second: u64,
    pub(super) from: String,
}

/// A cell, and what came of it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct CellEntry {
    pub(super) workload: String,
    pub(super) target: String,
    pub(super) harness: String,
    /// As recordings call it.
    pub(super) load: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jvm_log: Option<bool>,
    /// Why it can't be run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) can_not: Option<String>,
    #[serde(default, rename = "round", skip_serializing_if = "Vec::is_empty")]
    pub(super) rounds: Vec<RoundEntry>,
}

/// One run of a cell.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RoundEntry {
    pub(super) number: u32,
    /// The recording, from the experiment's directory; none where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) recording: Option<PathBuf>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
    /// Program and arguments, without secrets.
    pub(super) command: Vec<String>,
}

impl Document {
    /// The first reason, where there is not one recording.
    pub(super) fn nothing_was_run(&self) -> Option<String> {
        let mut rounds = self.cells.iter().flat_map(|cell| &cell.rounds);
        if rounds.any(|round| round.recording.is_some()) {
            return None;
        }
        let why = |cell: &CellEntry| {
            let failed = cell.rounds.iter().find_map(|round| round.failed.clone());
            failed.or_else(|| cell.can_not.clone())
        };
        Some(self.cells.iter().find_map(why).unwrap_or_default())
    }
}

impl CellEntry {
    /// Before it was run.
    pub(super) fn new(planned: &Planned) -> CellEntry {
        let cell = &planned.cell;
        CellEntry {
            workload: cell.workload.clone(),
            target: cell.target.clone(),
            harness: cell.harness.clone(),
            load: cell.load.name().to_owned(),
            jvm_log: cell.jvm_log,
            can_not: planned.how.as_ref().err().cloned(),
            rounds: Vec::new(),
        }
    }

    /// For the looking half.
    fn read(&self, directory: &Path) -> anyhow::Result<(Cell, Rounds)> {
        let load = LoadModel::ALL.into_iter().find(|load| load.name() == self.load);
        let cell = Cell {
            workload: self.workload.clone(),
            target: self.target.clone(),
            harness: self.harness.clone(),
            load: load.with_context(|| format!("{FILE}: there is no load `{}`", self.load))?,
            jvm_log: self.jvm_log,
        };
        let mut rounds: Vec<&RoundEntry> = self.rounds.iter().collect();
        rounds.sort_by_key(|round| round.number);
        let round = |entry: &&RoundEntry| Round {
            number: entry.number as usize,
            recording: match (&entry.recording, &entry.failed) {
                (Some(recording), _) => Ok(directory.join(recording)),
                (None, why) => Err(why.clone().unwrap_or_else(|| "it was not run".to_owned())),
            },
        };
        let rounds = match &self.can_not {
            Some(why) => Rounds::CanNot(why.clone()),
            None if rounds.is_empty() => Rounds::CanNot("it was not run".to_owned()),
            None => Rounds::Ran(rounds.iter().map(round).collect()),
        };
        Ok((cell, rounds))
    }
}

impl Document {
    /// The schema of files that are written now.
    pub(super) fn schema() -> String {
        SCHEMA.to_owned()
    }

    /// Writes it in one step: whoever reads it meanwhile sees the old one or the new one.
    pub(super) fn write(&self, directory: &Path) -> anyhow::Result<()> {
        let (path, new) = (directory.join(FILE), directory.join("experiment.toml.new"));
        let text = toml::to_string(self).context("experiment.toml")?;
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &path))
            .with_context(|| format!("can't write {}", path.display()))
    }

    /// Reads that of a directory.
    ///
    /// # Errors
    /// One line: there is none, it is of another version, it is damaged.
    pub(super) fn open(directory: &Path) -> anyhow::Result<Document> {
        #[derive(Deserialize)]
        struct Version {
            schema: Option<String>,
        }
        let path = directory.join(FILE);
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!("--again {}: no experiment lies there ({FILE} can't be read)", directory.display())
        })?;
        let said = |error: toml::de::Error| {
            anyhow::anyhow!("{}: {}", path.display(), error.message().lines().next().unwrap_or_default())
        };
        let version: Version = toml::from_str(&text).map_err(said)?;
        match version.schema.as_deref() {
            Some(SCHEMA) => toml::from_str(&text).map_err(said),
            other => bail!(
                "{}: schema `{}`, and this version reads `{SCHEMA}`",
                path.display(),
                other.unwrap_or("none")
            ),
        }
    }

    /// All cells with their rounds, in the order of tables.
    ///
    /// # Errors
    /// A cell that makes no sense.
    pub(super) fn cells(&self, directory: &Path) -> anyhow::Result<Vec<(Cell, Rounds)>> {
        self.cells.iter().map(|cell| cell.read(directory)).collect()
    }
}

#[cfg(test)]
pub(super) fn made() -> Document {
    use super::found;
    use super::matrix;
    use super::only::Only;
    let planned =
        matrix::cells(&found::made(), &Only::parse(&["workload=noop,target=no-op".to_owned()]).expect("all"));
    let mut cells: Vec<CellEntry> = planned.expect("cells").iter().map(CellEntry::new).collect();
    let round = |number: u32, name: &str| RoundEntry {
        number,
        recording: Some(PathBuf::from(name)).filter(|_| !name.is_empty()),
        failed: name.is_empty().then(|| "it ended with exit status: 3".to_owned()),
        command: vec!["java".to_owned()],
    };
    cells[0].rounds = vec![round(2, "b"), round(1, "a"), round(3, "")];
    cells[1].rounds = vec![round(1, "")];
    Document {
        schema: Document::schema(),
        tool_version: "0".to_owned(),
        started: "20261122-070000".to_owned(),
        complete: true,
        preset: "quick".to_owned(),
        rounds: 3,
        seed: 1,
        sessions: 10,
        warmup_ns: 1,
        time_ns: 2,
        unhindered_warmup_ns: 1,
        unhindered_time_ns: 2,
        records: 1,
        longest_scan: 1,
        facts: vec![("cpu".to_owned(), "x".to_owned())],
        jvms: Vec::new(),
        rates: Vec::new(),
        cells,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_in_their_order_and_a_cell_without_any_has_its_reason() {
        let cells = made().cells(Path::new("/d")).expect("cells");
        let failed = || Err("it ended with exit status: 3".to_owned());
        let round = |number, recording| Round { number, recording };
        let first = [round(1, Ok("/d/a".into())), round(2, Ok("/d/b".into())), round(3, failed())];
        assert_eq!(cells[0].1, Rounds::Ran(first.to_vec()));
        assert_eq!(cells[1].1, Rounds::Ran(vec![round(1, failed())]));
        assert_eq!(cells[2].1, Rounds::CanNot("it was not run".to_owned()));
        assert_eq!((cells[1].0.harness.as_str(), cells[1].0.jvm_log), ("YCSB, G1", Some(true)));
    }

    #[test]
    fn what_is_written_is_read_back_and_other_versions_are_refused() {
        let directory = std::env::temp_dir().join(format!("truetail-experiment-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let document = made();
        document.write(&directory).expect("written");
        assert_eq!(Document::open(&directory).expect("read"), document);
        let path = directory.join(FILE);
        let text = std::fs::read_to_string(&path).expect("text").replace("rounds/1", "rounds/2");
        std::fs::write(&path, text).expect("written");
        let refused = Document::open(&directory).expect_err("another version").to_string();
        assert!(refused.ends_with(
            "schema `truetail.tell-tale-rounds/2`, and this version reads `truetail.tell-tale-rounds/1`"
        ));
        std::fs::remove_dir_all(&directory).expect("removed");
        let missing = Document::open(&directory).expect_err("gone").to_string();
        assert!(missing.starts_with("--again ") && missing.contains("no experiment lies there"), "{missing}");
    }

    #[test]
    fn fuzz_documents() {
        let whole = toml::to_string(&made()).expect("text");
        testkit::fuzz::Fuzz::new("tell-tale").from([whole]).words(["[[cell]]", "load = ", "'", "{"]).run(
            2_000,
            |bytes| {
                let Ok(text) = std::str::from_utf8(bytes) else { return };
                if let Ok(document) = toml::from_str::<Document>(text) {
                    let _ = document.cells(Path::new("/d"));
                }
            },
        );
    }
}
