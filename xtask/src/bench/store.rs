//! The simulated store: how late its answers are, and how many it can give.

use super::Effort;
use super::builds::{Builds, Scratch};
use super::child;
use super::figures::Figures;
use super::peers::number_at;
use anyhow::{Context, bail};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Offered load at which lateness is of interest.
const RATE: &str = "5000/s";

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let scratch = builds.scratch()?;
    for _ in 0..effort.rounds {
        for (protocol, mode) in [("resp", "mode=ping"), ("postgres", "mode=select1")] {
            lateness(builds, &scratch, (protocol, mode), effort, figures)?;
        }
        let count = u64::from(effort.seconds) * 60_000;
        throughput(builds, figures, "resp, redis-benchmark", &|port| {
            let mut command = Command::new("redis-benchmark");
            command.args(["-p", port, "-t", "get", "-c", "50", "-q", "-n", &count.to_string()]);
            command
        })?;
        let script = scratch.free("select1");
        std::fs::write(&script, "SELECT 1;\n").with_context(|| format!("{}", script.display()))?;
        throughput(builds, figures, "postgres, pgbench -M prepared", &|port| {
            let mut command = Command::new("pgbench");
            command.args(["-n", "-M", "prepared", "-c", "50", "-h", "127.0.0.1", "-U", "store", "-p", port]);
            command.arg("-T").arg(effort.seconds.to_string()).arg("-f").arg(&script).arg("store");
            command
        })?;
    }
    for protocol in ["resp", "postgres"] {
        figures.at_most(&format!("{protocol} {RATE}  own lateness p99.9"), 100.0);
    }
    for who in ["resp, redis-benchmark", "postgres, pgbench -M prepared"] {
        figures.at_least(&format!("{who}  requests"), 30_000.0);
    }
    figures.note("own lateness: answer written − due, by the store itself; it has one thread, and the client the other CPU");
    Ok(())
}

fn lateness(
    builds: &Builds,
    scratch: &Scratch,
    (protocol, mode): (&str, &str),
    effort: &Effort,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let truth = scratch.free("truth");
    let store = Store::start(builds, protocol, &["--service", "200us", "--truth", &truth.to_string_lossy()])?;
    let out = scratch.free("run");
    let seconds = format!("{}s", effort.seconds.max(6));
    let mut run = builds.truetail(&[
        "run", &store.url, "-w", "noop", "-p", mode, "-r", RATE, "-c", "16", "--warmup", "0s", "--json",
    ]);
    run.args(["-d", &seconds]).arg("--out").arg(&out);
    child::run(&mut run, &[0, 3])?;
    let ended = store.end()?;
    for (name, path) in
        [("p50", "quantiles/p50"), ("p99", "quantiles/p99"), ("p99.9", "quantiles/p99.9"), ("max", "max")]
    {
        let nanos = number_at(&ended, &format!("/own_lateness/{path}"))?;
        figures.add(&format!("{protocol} {RATE}  own lateness {name}"), "µs", nanos / 1e3);
    }
    Ok(())
}

fn throughput(
    builds: &Builds,
    figures: &mut Figures,
    who: &str,
    client: &dyn Fn(&str) -> Command,
) -> anyhow::Result<()> {
    let protocol = who.split(',').next().unwrap_or(who);
    let store = Store::start(builds, protocol, &[])?;
    let cost = child::run(&mut client(&store.port), &[0])?;
    let ended = store.end()?;
    let answered = number_at(&ended, "/requests/answered")?;
    figures.add(&format!("{who}  requests"), "/s", answered / cost.wall_s);
    Ok(())
}

/// A store as a child.
pub(super) struct Store {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Where it listens, as a target.
    pub(super) url: String,
    port: String,
}

impl Store {
    /// With its port chosen by the system.
    pub(super) fn start(builds: &Builds, protocol: &str, words: &[&str]) -> anyhow::Result<Store> {
        let other = if protocol == "resp" { "--postgres" } else { "--resp" };
        let mut child = builds
            .truetail(&["store", "--json", &format!("--{protocol}"), "0", other, "none"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("truetail store")?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is a pipe")?);
        let started = line(&mut stdout)?;
        let address = started.pointer(&format!("/{protocol}/0")).and_then(Value::as_str);
        let Some(address) = address else { bail!("the store says no address: {started}") };
        let port = address.rsplit(':').next().unwrap_or_default().to_owned();
        let url = match protocol {
            "resp" => format!("redis://{address}"),
            _ => format!("postgres://store@{address}/store?sslmode=disable"),
        };
        Ok(Store { child, stdout, url, port })
    }

    /// Ends it and gives its last document.
    pub(super) fn end(mut self) -> anyhow::Result<Value> {
        let pid = libc::pid_t::try_from(self.child.id()).context("a process id")?;
        // SAFETY: the child has not been waited for, so the number is still its own.
        unsafe { libc::kill(pid, libc::SIGTERM) };
        let ended = line(&mut self.stdout);
        self.child.wait().context("truetail store")?;
        ended
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // After `end` it is gone, and this does nothing.
        let _ = self.child.kill();
    }
}

/// The next document, which is one line.
fn line(stdout: &mut impl BufRead) -> anyhow::Result<Value> {
    let mut text = String::new();
    stdout.read_line(&mut text).context("the store's output")?;
    serde_json::from_str(&text).with_context(|| format!("the store printed `{}`", text.trim()))
}
