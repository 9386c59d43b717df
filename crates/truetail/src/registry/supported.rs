//! What a target can be asked for, and the answer to whoever asks it for something else.

use super::{WORKLOADS, WorkloadChoice, make_workload};
use crate::settings::ClientNumber;
use anyhow::{anyhow, bail};
use driver::{Dialect, StatementSpec, TargetFacts, TargetUrl};
use workload::Workload;

/// The workload's statements for a target of this dialect.
///
/// # Errors
/// Why it can't be asked of such a target, and the names of those that can.
pub(crate) fn statements(
    workload: &impl Workload,
    dialect: Dialect,
    url: &TargetUrl,
) -> anyhow::Result<Vec<StatementSpec>> {
    workload.statements(dialect).map_err(|reason| {
        let name = workload.facts().name;
        let reason = reason.strip_prefix(&format!("{name}: ")).unwrap_or(&reason);
        let (can, all) = (supported_by(dialect), WORKLOADS.iter().flat_map(|entry| entry.names));
        // It is not the target's fault where all others can be asked of it.
        let instead = if can.len() == all.count() { String::new() } else { instead(&can) };
        anyhow!("--workload {name} on `{url}`: {reason}{instead}")
    })
}

fn instead(can: &[&str]) -> String {
    format!("; this target can be asked for {}", can.join(", "))
}

/// Whether a server that turns out to be the simulated store understands a workload's SQL, of those that have a line in the
/// table; before it is asked to make tables.
///
/// # Errors
/// The names of those that it understands.
pub(crate) fn require_understood(name: &str, facts: &TargetFacts, url: &TargetUrl) -> anyhow::Result<()> {
    let entry = WORKLOADS.iter().find(|entry| entry.names.contains(&name));
    if entry.is_none_or(|entry| entry.is_plain) || !facts.version.contains(SIMULATED) {
        return Ok(());
    }
    let can = WORKLOADS.iter().filter(|entry| entry.is_plain).flat_map(|entry| entry.names);
    let can: Vec<&str> = can.copied().collect();
    bail!("--workload {name} on `{url}`: the simulated store knows too little SQL for it{}", instead(&can))
}

/// In what the simulated store says of its version.
const SIMULATED: &str = "simulated store";

/// A workload as it is asked for where nothing but its name is said.
fn usual(name: &str, dialect: Dialect) -> WorkloadChoice {
    let pings = name == "noop" && dialect == Dialect::KeyValue;
    WorkloadChoice {
        name: name.to_owned(),
        scale: 1.0,
        seed: units::Seed(1),
        parameters: pings.then(|| ("mode".to_owned(), "ping".to_owned())).into_iter().collect(),
        mix: None,
        client: ClientNumber::default(),
    }
}

/// The names of all workloads that targets of a dialect can be asked for.
fn supported_by(dialect: Dialect) -> Vec<&'static str> {
    let is_supported = |name: &str| {
        make_workload(&usual(name, dialect)).is_ok_and(|workload| workload.statements(dialect).is_ok())
    };
    WORKLOADS.iter().flat_map(|entry| entry.names).copied().filter(|name| is_supported(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores without SQL say which workloads they can be asked for, and what they say is so.
    #[test]
    fn a_workload_that_a_target_can_not_be_asked_for_names_those_that_it_can() {
        let url = TargetUrl::parse("redis:").expect("a URL");
        let workload = |name: &str| make_workload(&usual(name, Dialect::KeyValue)).expect(name);
        let can = supported_by(Dialect::KeyValue);
        assert!(can.contains(&"ycsb-a") && can.contains(&"noop") && !can.contains(&"tpcc"), "{can:?}");
        for name in WORKLOADS.iter().flat_map(|entry| entry.names) {
            match statements(&workload(name), Dialect::KeyValue, &url) {
                Ok(_) => assert!(can.contains(name), "{name}"),
                Err(error) => {
                    assert!(!can.contains(name), "{name}");
                    let error = error.to_string();
                    assert!(error.ends_with(&can.join(", ")) && error.contains(name), "{error}");
                }
            }
        }
        let all: Vec<&str> = WORKLOADS.iter().flat_map(|entry| entry.names).copied().collect();
        for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::Null] {
            assert_eq!(supported_by(dialect), all, "{dialect:?}");
        }
        let select = vec![("mode".to_owned(), "select1".to_owned())];
        let noop = WorkloadChoice { parameters: select, ..usual("noop", Dialect::KeyValue) };
        let noop = make_workload(&noop).expect("noop");
        let error = statements(&noop, Dialect::KeyValue, &url).expect_err("no SQL");
        assert!(error.to_string().contains("mode=ping"), "{error}");
    }

    /// The simulated store says so itself, before it is asked to make tables.
    #[test]
    fn the_simulated_store_is_not_asked_for_what_it_does_not_understand() {
        let url = TargetUrl::parse("postgres:").expect("a URL");
        let facts = |version: &str| TargetFacts {
            product: "PostgreSQL".to_owned(),
            version: version.to_owned(),
            address: String::new(),
            transport: String::new(),
            settings: Vec::new(),
            native: true,
            kernel_stamps: true,
            server_pids: Vec::new(),
        };
        let store = facts("PostgreSQL 15.0 (truetail's simulated store)");
        let error = require_understood("tpcc", &store, &url).expect_err("too little SQL").to_string();
        assert!(error.contains("ycsb-a") && !error.contains("seats"), "{error}");
        require_understood("ycsb-a", &store, &url).expect("plain enough");
        // Of a file nobody knows before.
        require_understood("shop", &store, &url).expect("may be");
        require_understood("tpcc", &facts("PostgreSQL 15.18"), &url).expect("the real one");
    }
}
