//! `--jvm-log`: logs of JVMs as events of a recording.

use anyhow::{Context, bail};
use import::jvm::{self, JvmError, JvmRole, JvmStart, LaidOver, RunClocks};
use record::{Event, EventSink, JvmLogFacts, Recorder, Recording};
use std::path::{Path, PathBuf};
use units::Instant;

/// Logs and whose they are, as flags name them.
#[derive(Debug)]
pub(crate) struct JvmLogs {
    logs: Vec<(String, PathBuf)>,
    start: Option<JvmStart>,
}

impl JvmLogs {
    /// The second log of a role gets a number.
    ///
    /// # Errors
    /// For an empty name, and a start that is no moment.
    pub(crate) fn new(flags: &[String], start: Option<&str>) -> anyhow::Result<JvmLogs> {
        let mut logs = Vec::new();
        let mut seen = Vec::new();
        for flag in flags {
            // truetail itself has no JVM: what is not said to be a harness's is the server's.
            let (role, path) = JvmRole::of(flag, JvmRole::Server);
            if path.as_os_str().is_empty() {
                bail!("--jvm-log {flag}: name a file, such as `--jvm-log server:gc.log`");
            }
            seen.push(role);
            let number = seen.iter().filter(|other| **other == role).count();
            logs.push((role.subject(number), path.to_owned()));
        }
        if logs.is_empty() && start.is_some() {
            bail!("--jvm-start says when the JVM of a log started: name the log with --jvm-log FILE");
        }
        Ok(JvmLogs { logs, start: start.map(JvmStart::parse).transpose()? })
    }

    /// That the files are there: a mistyped name should not be found out after a run.
    ///
    /// # Errors
    /// For one that can't be opened.
    pub(crate) fn require(&self) -> anyhow::Result<()> {
        for (_, path) in &self.logs {
            std::fs::File::open(path).with_context(|| {
                format!(
                    "--jvm-log {}: can't be read; start the JVM before the run, or check the path",
                    path.display()
                )
            })?;
        }
        Ok(())
    }

    /// Reads all logs and lays them over a run.
    fn lay_over(&self, clocks: &RunClocks) -> Vec<(&str, &Path, Result<LaidOver, JvmError>)> {
        let one = |(subject, path): &(String, PathBuf)| {
            let log = jvm::read(path)?;
            jvm::lay_over(&log, clocks, subject, &path.display().to_string(), self.start)
        };
        self.logs.iter().map(|log| (log.0.as_str(), log.1.as_path(), one(log))).collect()
    }

    /// Puts the pauses of all logs into a recording that is about to end; gives what is to stand in its end. A log that leads
    /// nowhere does not spoil the run: its facts say why, and so does a line for whoever waits.
    pub(crate) fn record(&self, recorder: &Recorder) -> Vec<JvmLogFacts> {
        if self.logs.is_empty() {
            return Vec::new();
        }
        let anchors = recorder.anchors();
        let end = anchors.last().map_or(Instant::EPOCH, |anchor| Instant(anchor.ticks.0));
        let epoch_wall_ns =
            anchors.first().map_or(0, |first| first.realtime_ns.saturating_sub(first.ticks.0));
        let clocks = RunClocks::new(&anchors, epoch_wall_ns, end);
        let events = recorder.events();
        self.lay_over(&clocks)
            .into_iter()
            .map(|(subject, path, laid)| facts(&events, subject, path, laid))
            .collect()
    }

    /// For a recording that is there already: its events besides, and the facts.
    ///
    /// # Errors
    /// For a log that can't be read or leads nowhere.
    pub(crate) fn over(&self, recording: &Recording) -> anyhow::Result<(Vec<Event>, Vec<JvmLogFacts>)> {
        let (mut events, mut facts) = (Vec::new(), Vec::new());
        if self.logs.is_empty() {
            return Ok((events, facts));
        }
        let clocks = RunClocks::of(recording)?;
        for (_, path, laid) in self.lay_over(&clocks) {
            let laid = laid.with_context(|| format!("--jvm-log {}", path.display()))?;
            events.extend(laid.events);
            facts.push(laid.facts);
        }
        Ok((events, facts))
    }
}

fn facts(events: &EventSink, subject: &str, path: &Path, laid: Result<LaidOver, JvmError>) -> JvmLogFacts {
    match laid {
        Ok(laid) => {
            laid.events.into_iter().for_each(|event| events.happened(event));
            laid.facts
        }
        Err(error) => {
            crate::output::note(&format!("--jvm-log {}: {error}", path.display()));
            jvm::failed(subject, &path.display().to_string(), &error)
        }
    }
}
