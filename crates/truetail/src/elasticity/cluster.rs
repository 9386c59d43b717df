//! The cluster of a run: one node, and a second one that is started in the middle.

use super::document::PhaseEntry;
use anyhow::{Context, anyhow, bail};
use driver::{Administration, Target, TargetUrl};
use driver_cql::CqlTarget;
use servers::cassandra::{Node, Options};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use units::Nanos;

/// How often the first node is asked what the second one does.
const LOOK: Nanos = Nanos::from_millis(250);

/// Where a run is made.
pub(super) enum Cluster {
    /// Two nodes of our own, of which the second is not started yet.
    Own { first: Node, second: Node },
    /// Somebody's.
    Given { url: TargetUrl, join: String },
}

/// The second node, as long as the run needs it.
enum Joining<'a> {
    Own(&'a Node),
    Given(Child),
}

impl Drop for Joining<'_> {
    fn drop(&mut self) {
        // Nothing is left to be told of a failure: a command that has ended can't be ended.
        let _ = match self {
            Joining::Own(node) => node.stop().is_ok(),
            Joining::Given(child) => child.kill().and_then(|()| child.wait()).is_ok(),
        };
    }
}

impl Cluster {
    /// A new Cassandra: a quarter of a minute or more.
    pub(super) fn own() -> anyhow::Result<Cluster> {
        let options = Options::default();
        let failed = |why: String| anyhow!("no Cassandra: {why}");
        let first = Node::start(&options).map_err(failed)?;
        let second = first.neighbour(2, &options).map_err(failed)?;
        Ok(Cluster::Own { first, second })
    }

    /// The URL of the first node.
    pub(super) fn url(&self) -> anyhow::Result<TargetUrl> {
        match self {
            Cluster::Own { first, .. } => {
                let url = format!("{}?replication=1&consistency=one", first.url("ycsb"));
                Ok(TargetUrl::parse(&url)?)
            }
            Cluster::Given { url, .. } => Ok(url.clone()),
        }
    }

    fn begin(&self) -> anyhow::Result<Joining<'_>> {
        match self {
            Cluster::Own { second, .. } => {
                second.begin().map_err(|why| anyhow!("the second Cassandra: {why}"))?;
                Ok(Joining::Own(second))
            }
            Cluster::Given { join, .. } => {
                Ok(Joining::Given(shell(join).spawn().context("`sh` could not be run")?))
            }
        }
    }

    /// Waits until it is time, starts the second node, and looks what becomes of it until `over`.
    pub(super) fn grow(&self, join_at: Nanos, over: &AtomicBool) -> anyhow::Result<Vec<PhaseEntry>> {
        let mut watcher = CqlTarget::from_url(&self.url()?)?.administer()?;
        let known = states(&mut *watcher)?.len();
        let begin = clock::wall_time_ns();
        while clock::wall_time_ns().saturating_sub(begin) < join_at.0 {
            if over.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            clock::pause(Nanos::from_millis(5));
        }
        let mut phases = vec![seen("starting")];
        let _second = self.begin()?;
        // The flag stands alone: nothing is handed over with it.
        while !over.load(Ordering::Relaxed) {
            // A node that is too busy to tell is asked again.
            let states = states(&mut *watcher).unwrap_or_default();
            let name = phase(&states, known, || streams(&mut *watcher));
            if let Some(name) = name
                && order(name) > phases.last().map_or(0, |last| order(&last.name))
            {
                phases.push(seen(name));
            }
            clock::pause(LOOK);
        }
        Ok(phases)
    }
}

/// Runs a command of the user's to its end.
pub(super) fn carry_out(command: &str) -> anyhow::Result<()> {
    let status = shell(command).status().context("`sh` could not be run")?;
    if !status.success() {
        bail!("`{command}` ended with {status}");
    }
    Ok(())
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell
}

fn seen(name: &str) -> PhaseEntry {
    PhaseEntry { name: name.to_owned(), wall_ns: clock::wall_time_ns() }
}

const ORDER: [&str; 4] = ["starting", "joining", "streaming", "normal"];

fn order(name: &str) -> usize {
    ORDER.iter().position(|one| *one == name).unwrap_or(0)
}

/// What each node's gossip says of it, such as `BOOT` or `NORMAL`.
fn states(watcher: &mut dyn Administration) -> anyhow::Result<Vec<String>> {
    let rows = watcher.query("SELECT status_with_port FROM system_views.gossip_info")?;
    let word = |row: Vec<Option<String>>| {
        let text = row.into_iter().next().flatten().unwrap_or_default();
        text.split(',').next().unwrap_or_default().to_owned()
    };
    Ok(rows.into_iter().map(word).filter(|state| !state.is_empty()).collect())
}

/// Whether a node sends its records to another.
fn streams(watcher: &mut dyn Administration) -> bool {
    let rows = watcher.query("SELECT toJson(status) FROM system_views.streaming").unwrap_or_default();
    rows.iter().flatten().flatten().any(|status| !status.to_lowercase().contains("success"))
}

/// What the cluster's states say of the node that was not among the `known`.
fn phase(states: &[String], known: usize, streams: impl FnOnce() -> bool) -> Option<&'static str> {
    let normal = states.iter().filter(|state| *state == "NORMAL").count();
    if normal > known {
        return Some("normal");
    }
    if states.len() <= known {
        return None;
    }
    Some(if streams() { "streaming" } else { "joining" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_told_from_what_gossip_says() {
        let states = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(phase(&states(&["NORMAL"]), 1, || true), None);
        assert_eq!(phase(&states(&["NORMAL", "BOOT"]), 1, || false), Some("joining"));
        assert_eq!(phase(&states(&["NORMAL", "BOOT"]), 1, || true), Some("streaming"));
        assert_eq!(phase(&states(&["NORMAL", "NORMAL"]), 1, || true), Some("normal"));
        assert!(ORDER.map(order).is_sorted());
    }
}
