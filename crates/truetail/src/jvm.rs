//! `--jvm-log`: logs of JVMs as events of a recording.

use anyhow::{Context, bail};
use import::jvm::{self, JvmError, JvmRole, JvmStart, LaidOver, RunClocks};
use record::{Event, EventSink, JvmLogFacts, Recorder, Recording};
use std::path::{Path, PathBuf};
use units::Instant;

/// Logs and whose they are, as flags name them.
#[derive(Debug)]
pub(crate) struct JvmLogs {
    logs: Vec<(JvmRole, PathBuf)>,
    start: Option<JvmStart>,
}

impl JvmLogs {
    /// From the flags' texts.
    ///
    /// # Errors
    /// For an empty name, and a start that is no moment.
    pub(crate) fn new(flags: &[String], start: Option<&str>) -> anyhow::Result<JvmLogs> {
        let mut logs = Vec::new();
        for flag in flags {
            // truetail itself has no JVM: what is not said to be a harness's is the server's.
            let (role, path) = JvmRole::of(flag, JvmRole::Server);
            if path.as_os_str().is_empty() {
                bail!("--jvm-log {flag}: name a file, such as `--jvm-log server:gc.log`");
            }
            logs.push((role, path.to_owned()));
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

    /// Reads all logs and lays them over a run. The second log of a role gets a number, those that are in the recording
    /// counted in.
    fn lay_over(&self, clocks: &RunClocks, known: &[JvmLogFacts]) -> Vec<Laid<'_>> {
        let before = |role: JvmRole| {
            let name = role.subject(1);
            known.iter().filter(|log| log.subject.starts_with(&name) && !is_failed(log)).count()
        };
        let one = |(index, (role, path)): (usize, &'_ (JvmRole, PathBuf))| {
            let number = self.logs[..=index].iter().filter(|(other, _)| other == role).count();
            let subject = role.subject(before(*role) + number);
            let file = path.display().to_string();
            let laid =
                jvm::read(path).and_then(|log| jvm::lay_over(&log, clocks, &subject, &file, self.start));
            (subject, laid)
        };
        let all = self.logs.iter().enumerate().map(|log| (log.1.1.as_path(), one(log)));
        all.map(|(path, (subject, laid))| Laid { subject, path, laid }).collect()
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
        self.lay_over(&clocks, &[]).into_iter().map(|laid| facts(&events, laid)).collect()
    }

    /// For a recording that is there already: its events besides, and the facts.
    ///
    /// # Errors
    /// For a log that can't be read or leads nowhere, or that the recording has already.
    pub(crate) fn over(&self, recording: &Recording) -> anyhow::Result<(Vec<Event>, Vec<JvmLogFacts>)> {
        let (mut events, mut facts) = (Vec::new(), Vec::new());
        if self.logs.is_empty() {
            return Ok((events, facts));
        }
        let clocks = RunClocks::of(recording)?;
        let known = recording.end().map_or(&[][..], |end| &end.jvm_logs);
        let is_known = |path: &Path| known.iter().any(|log| !is_failed(log) && Path::new(&log.file) == path);
        for Laid { path, laid, .. } in self.lay_over(&clocks, known) {
            if is_known(path) {
                bail!("--jvm-log {}: {} has its pauses already", path.display(), recording.path().display());
            }
            let laid = laid.with_context(|| format!("--jvm-log {}", path.display()))?;
            events.extend(laid.events);
            facts.push(laid.facts);
        }
        Ok((events, facts))
    }
}

/// A log, and what came of it.
struct Laid<'a> {
    subject: String,
    path: &'a Path,
    laid: Result<LaidOver, JvmError>,
}

/// Whether nothing of a log could be placed.
fn is_failed(log: &JvmLogFacts) -> bool {
    log.trouble.is_some() && log.aligned_by.is_empty()
}

fn facts(events: &EventSink, Laid { subject, path, laid }: Laid<'_>) -> JvmLogFacts {
    match laid {
        Ok(laid) => {
            laid.events.into_iter().for_each(|event| events.happened(event));
            laid.facts
        }
        Err(error) => {
            crate::output::note(&format!("--jvm-log {}: {error}", path.display()));
            jvm::failed(&subject, &path.display().to_string(), &error)
        }
    }
}
