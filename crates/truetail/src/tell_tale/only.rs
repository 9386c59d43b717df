//! `--only`: which cells are wanted.

use analysis::tell_tale::Cell;
use anyhow::bail;

/// What `--only` names.
const KEYS: [&str; 5] = ["workload", "target", "harness", "load", "log"];

/// Conditions that must all hold, each with names of which one must fit.
type Conditions = Vec<(String, Vec<String>)>;

/// Cells of which any of the flags holds; all, without a flag.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Only(Vec<Conditions>);

impl Only {
    /// From the flags' texts.
    ///
    /// # Errors
    /// One line: the condition that is none, and the keys that there are.
    pub(super) fn parse(flags: &[String]) -> anyhow::Result<Only> {
        flags.iter().map(|flag| conditions(flag)).collect::<anyhow::Result<_>>().map(Only)
    }

    /// Whether a cell is wanted.
    pub(super) fn fits(&self, cell: &Cell) -> bool {
        let holds =
            |(key, names): &(String, Vec<String>)| names.iter().any(|name| is_called(cell, key, name));
        self.0.is_empty() || self.0.iter().any(|conditions| conditions.iter().all(holds))
    }
}

fn conditions(flag: &str) -> anyhow::Result<Conditions> {
    let one = |text: &str| match text.split_once('=') {
        Some((key, names)) if KEYS.contains(&key.trim()) => {
            Ok((key.trim().to_owned(), names.split('|').map(plain).collect()))
        }
        _ => bail!("--only {flag}: `{text}` is no condition; write KEY=NAME with one of {}", KEYS.join(", ")),
    };
    flag.split(',').map(one).collect()
}

/// Letters and digits alone, in lower case: `no-op store` is `noopstore`.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether the beginning of a cell's name is this; a harness is its tool, its JVM or both.
fn is_called(cell: &Cell, key: &str, name: &str) -> bool {
    let begins = |text: &str| !name.is_empty() && plain(text).starts_with(name);
    match key {
        "workload" => begins(&cell.workload),
        "target" => begins(&cell.target),
        "load" => begins(cell.load.name()),
        "log" => begins(match cell.jvm_log {
            Some(true) => "on",
            Some(false) => "off",
            None => "none",
        }),
        _ => begins(&cell.harness) || cell.harness.split(',').any(begins),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::LoadModel;

    fn cell(harness: &str) -> Cell {
        Cell {
            workload: "NoOp".to_owned(),
            target: "no-op store".to_owned(),
            harness: harness.to_owned(),
            load: LoadModel::Open,
            jvm_log: Some(true),
        }
    }

    fn fits(flags: &[&str], harness: &str) -> bool {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        Only::parse(&flags).expect("conditions").fits(&cell(harness))
    }

    #[test]
    fn all_conditions_of_one_flag_must_hold_and_one_flag_must() {
        assert!(fits(&[], "YCSB, G1"));
        assert!(fits(&["workload=noop,target=no-op,harness=ycsb,load=open,log=on"], "YCSB, G1"));
        assert!(fits(&["harness=zgc|g1"], "YCSB, G1") && fits(&["harness=YCSB G1"], "YCSB, G1"));
        assert!(!fits(&["harness=g1,load=closed"], "YCSB, G1"));
        assert!(fits(&["load=closed", "harness=truetail"], "truetail"));
        assert!(!fits(&["harness="], "truetail"));
    }

    #[test]
    fn what_is_no_condition_is_named() {
        let wrong = |flag: &str| Only::parse(&[flag.to_owned()]).expect_err("no condition").to_string();
        let keys = "write KEY=NAME with one of workload, target, harness, load, log";
        assert_eq!(wrong("gc=g1"), format!("--only gc=g1: `gc=g1` is no condition; {keys}"));
        assert_eq!(wrong("load=open,x"), format!("--only load=open,x: `x` is no condition; {keys}"));
    }
}
