//! `--server-log`: PostgreSQL's own log as events of a recording.

use crate::logs;
use analysis::LaidOver;
use anyhow::{Context, bail};
use import::RunClocks;
use import::server_log::{self, LogZone, ServerLog, ServerLogError};
use record::{Event, EventSink, Recording, ServerLogFacts};
use std::path::{Path, PathBuf};

/// Logs, as flags name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerLogs {
    paths: Vec<PathBuf>,
    zone: Option<LogZone>,
}

impl ServerLogs {
    /// From the flags' texts.
    ///
    /// # Errors
    /// For a zone that is none, or that is of no log.
    pub(crate) fn new(paths: &[PathBuf], zone: Option<&str>) -> anyhow::Result<ServerLogs> {
        if paths.is_empty() && zone.is_some() {
            bail!(
                "--server-log-zone says what the times of a log are in: name the log with --server-log FILE"
            );
        }
        Ok(ServerLogs { paths: paths.to_vec(), zone: zone.map(LogZone::parse).transpose()? })
    }

    /// The first of them, if there is any.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.paths.first().map(PathBuf::as_path)
    }

    /// That the files are there: a mistyped name should not be found out after a run.
    ///
    /// # Errors
    /// For one that can't be opened.
    pub(crate) fn require(&self) -> anyhow::Result<()> {
        for path in &self.paths {
            std::fs::File::open(path).with_context(|| {
                format!("--server-log {}: can't be read; check the path and who may read it", path.display())
            })?;
        }
        Ok(())
    }

    /// Puts what all logs tell into a recording that is about to end; gives what is to stand in its end. See [`logs::keep`].
    pub(crate) fn record(&self, clocks: &RunClocks, events: &EventSink) -> Vec<ServerLogFacts> {
        let one = |path: &PathBuf| {
            let file = path.display().to_string();
            let laid =
                server_log::read(path).and_then(|log| server_log::lay_over(&log, clocks, &file, self.zone));
            let failed = |error: &ServerLogError| server_log::failed(&file, error);
            logs::keep(laid, events, &format!("--server-log {file}"), failed)
        };
        self.paths.iter().map(one).collect()
    }

    /// For recordings that are there already: their events besides, and the facts. What the server did is placed by the
    /// clocks of each recording, and shown with the first.
    ///
    /// # Errors
    /// For a log that can't be read or whose zone means nothing, or that a recording has already.
    pub(crate) fn over(&self, recordings: &[Recording]) -> anyhow::Result<Vec<LaidOver>> {
        let mut all = Vec::new();
        for path in &self.paths {
            let log = server_log::read(path)?;
            for (number, recording) in recordings.iter().enumerate() {
                all.push(self.over_one(path, &log, (number, recording))?);
            }
        }
        Ok(all)
    }

    /// Events and facts of all logs, of a run that becomes a recording only now.
    ///
    /// # Errors
    /// For a log that can't be read or whose zone means nothing.
    pub(crate) fn all(&self, clocks: &RunClocks) -> anyhow::Result<(Vec<Event>, Vec<ServerLogFacts>)> {
        let (mut events, mut facts) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let file = path.display().to_string();
            let log = server_log::read(path)?;
            let laid = server_log::lay_over(&log, clocks, &file, self.zone);
            let laid = laid.with_context(|| format!("--server-log {file}"))?;
            events.extend(laid.events);
            facts.push(laid.facts);
        }
        Ok((events, facts))
    }

    fn over_one(
        &self,
        path: &Path,
        log: &ServerLog,
        (number, recording): (usize, &Recording),
    ) -> anyhow::Result<LaidOver> {
        let file = path.display().to_string();
        let known = recording.end().map_or(&[][..], |end| &end.server_logs);
        let told = |log: &ServerLogFacts| log.checkpoints + log.vacuums + log.lock_waits > 0;
        if known.iter().any(|log| (log.trouble.is_none() || told(log)) && log.file == file) {
            bail!("--server-log {file}: {} has its events already", recording.path().display());
        }
        let laid = server_log::lay_over(log, &RunClocks::of(recording)?, &file, self.zone);
        let laid = laid.with_context(|| format!("--server-log {file}"))?;
        Ok(logs::over_recording(number, number == 0, laid, |over, facts| over.server_logs.push(facts)))
    }
}
