//! Contenders for the same load: truetail, pgbench, sysbench.

use super::builds::{Builds, Scratch};
use super::child::{self, Cost};
use anyhow::{Context, anyhow};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::postgres::{Options, Server};

/// What truetail calls the threads that send requests.
const WORKERS: &str = "load-";

/// How the server is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Unix,
    Tcp,
}

impl Transport {
    pub(crate) const ALL: [Transport; 2] = [Transport::Unix, Transport::Tcp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Transport::Unix => "unix",
            Transport::Tcp => "tcp",
        }
    }
}

/// A server, and what its clients need.
pub(crate) struct Ground<'a> {
    builds: &'a Builds,
    server: Server,
    scratch: Scratch,
    script: PathBuf,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(builds: &'a Builds) -> anyhow::Result<Ground<'a>> {
        let scratch = builds.scratch()?;
        let script = scratch.path().join("select1.sql");
        std::fs::write(&script, "SELECT 1;\n").with_context(|| format!("{}", script.display()))?;
        let server = Server::start(&Options::default()).map_err(|reason| anyhow!(reason))?;
        Ok(Ground { builds, server, scratch, script })
    }

    /// A place for what a client writes.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// `truetail run` of `SELECT 1`: its cost and its document. A verdict that is not valid is a fact about this
    /// machine, not a failure of the bench.
    pub(crate) fn truetail(&self, transport: Transport, words: &[&str]) -> anyhow::Result<(Cost, Value)> {
        let url = match transport {
            Transport::Unix => self.server.unix_url(),
            Transport::Tcp => self.server.tcp_url(),
        };
        let mut command = self.builds.truetail(&["run", &url, "-w", "noop", "-p", "mode=select1", "--json"]);
        command.args(words).arg("--out").arg(self.scratch.free("recording"));
        let cost = child::run_watching(&mut command, &[0, 3], Some(WORKERS))?;
        let document = serde_json::from_str(&cost.stdout).context("truetail's JSON document")?;
        Ok((cost, document))
    }

    /// `pgbench` with a prepared `SELECT 1`.
    pub(crate) fn pgbench(&self, transport: Transport, words: &[&str]) -> anyhow::Result<Cost> {
        let mut command = Command::new("pgbench");
        command.args(["-n", "-M", "prepared", "-j", "1", "-f"]).arg(&self.script).args(words);
        command.arg("-h").arg(self.host(transport)).args(["-p", &self.server.port().to_string()]);
        command.args(["-U", self.server.user(), "postgres"]);
        // With `-j 1` its only thread is the process itself.
        child::run_watching(&mut command, &[0], Some("pgbench"))
    }

    /// `sysbench` with a prepared `SELECT 1`; `None` where it is not installed.
    pub(crate) fn sysbench(
        &self,
        transport: Transport,
        sessions: u32,
        seconds: u32,
    ) -> anyhow::Result<Option<Cost>> {
        if Command::new("sysbench").arg("--version").output().is_err() {
            return Ok(None);
        }
        let lua = std::path::absolute(Path::new("xtask/assets/select1.lua"))?;
        let mut command = Command::new("sysbench");
        command.arg("--db-driver=pgsql").arg(format!("--pgsql-host={}", self.host(transport)));
        command.arg(format!("--pgsql-port={}", self.server.port()));
        command.arg(format!("--pgsql-user={}", self.server.user())).arg("--pgsql-db=postgres");
        // sysbench has threads, each with one session.
        command.arg(format!("--threads={sessions}")).arg(format!("--time={seconds}"));
        command.args(["--events=0", "--percentile=99"]).arg(lua).arg("run");
        child::run(&mut command, &[0]).map(Some)
    }

    fn host(&self, transport: Transport) -> String {
        match transport {
            Transport::Unix => self.server.socket_directory().display().to_string(),
            Transport::Tcp => "127.0.0.1".to_owned(),
        }
    }
}

/// The number behind `name` in a program's words.
pub(crate) fn number_after(text: &str, name: &str) -> anyhow::Result<f64> {
    let rest = text.split_once(name).with_context(|| format!("no `{name}` in: {text}"))?.1;
    let word = rest.trim_start().split(|c: char| !(c.is_ascii_digit() || c == '.')).next().unwrap_or("");
    word.parse().with_context(|| format!("no number behind `{name}`: {text}"))
}

/// A number in a JSON document, by its path.
pub(crate) fn number_at(document: &Value, path: &str) -> anyhow::Result<f64> {
    document
        .pointer(path)
        .and_then(Value::as_f64)
        .with_context(|| format!("truetail's document has no `{path}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found() {
        let text = "number of transactions actually processed: 1234\ntps = 56.5 (without)\n";
        assert_eq!(number_after(text, "actually processed:").unwrap(), 1234.0);
        assert_eq!(number_after(text, "tps =").unwrap(), 56.5);
        assert!(number_after(text, "latency").is_err());
        assert!(number_after("tps = none", "tps =").is_err());
        let document = serde_json::json!({"a": {"b": 2}});
        assert_eq!(number_at(&document, "/a/b").unwrap(), 2.0);
        assert!(number_at(&document, "/a/c").unwrap_err().to_string().contains("/a/c"));
    }
}
