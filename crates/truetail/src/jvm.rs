//! `--jvm-log`: logs of JVMs as events of a recording.

use crate::logs;
use analysis::LaidOver;
use anyhow::{Context, bail};
use import::RunClocks;
use import::jvm::{self, JvmError, JvmRole, JvmStart};
use record::{Event, EventSink, JvmLogFacts, Recording};
use std::path::{Path, PathBuf};

/// Logs and whose they are, as flags name them.
#[derive(Debug)]
pub(crate) struct JvmLogs {
    logs: Vec<Named>,
    start: Option<JvmStart>,
}

/// A log as a flag names it.
#[derive(Debug)]
struct Named {
    role: JvmRole,
    /// Of a harness's: the number of the client that it is of, where the flag says so.
    client: Option<u16>,
    path: PathBuf,
}

impl Named {
    /// `gc.log`, `server:gc.log`, `harness:gc.log`, and `harness@1:gc.log` of client 1.
    fn of(flag: &str) -> anyhow::Result<Named> {
        let numbered = flag.strip_prefix("harness@").and_then(|rest| rest.split_once(':'));
        let (role, client, path) = match numbered {
            Some((number, path)) => {
                let client = number.parse().with_context(|| {
                    format!("--jvm-log {flag}: `{number}` is no client's number, such as harness@1:gc.log")
                })?;
                (JvmRole::Harness, Some(client), Path::new(path))
            }
            // truetail has no JVM but a driver's, whose log nobody names: what is not said to be a harness's is the server's.
            None => {
                let (role, path) = JvmRole::of(flag, JvmRole::Server);
                (role, None, path)
            }
        };
        if path.as_os_str().is_empty() {
            bail!("--jvm-log {flag}: name a file, such as `--jvm-log server:gc.log`");
        }
        Ok(Named { role, client, path: path.to_owned() })
    }

    /// The recordings whose requests it concerns, by index: a server's those of all clients.
    fn concerns(&self, recordings: &[Recording]) -> anyhow::Result<Vec<usize>> {
        let clients = || recordings.iter().map(|recording| recording.header().client);
        let list = || clients().map(|client| client.to_string()).collect::<Vec<_>>().join(", ");
        match (self.role, self.client) {
            (JvmRole::Server, _) => Ok((0..recordings.len()).collect()),
            (JvmRole::Harness, Some(number)) => match clients().position(|client| client == number) {
                Some(index) => Ok(vec![index]),
                None => bail!(
                    "--jvm-log harness@{number}:{}: there is no recording of client {number}, but of {}",
                    self.path.display(),
                    list()
                ),
            },
            (JvmRole::Harness, None) if recordings.len() == 1 => Ok(vec![0]),
            (JvmRole::Harness, None) => bail!(
                "--jvm-log harness:{}: of which client's harness? say `harness@N:{}` with N of {}",
                self.path.display(),
                self.path.display(),
                list()
            ),
        }
    }
}

impl JvmLogs {
    /// From the flags' texts.
    ///
    /// # Errors
    /// For an empty name, and a start that is no moment.
    pub(crate) fn new(flags: &[String], start: Option<&str>) -> anyhow::Result<JvmLogs> {
        let logs = flags.iter().map(|flag| Named::of(flag)).collect::<Result<Vec<_>, _>>()?;
        if logs.is_empty() && start.is_some() {
            bail!("--jvm-start says when the JVM of a log started: name the log with --jvm-log FILE");
        }
        Ok(JvmLogs { logs, start: start.map(JvmStart::parse).transpose()? })
    }

    /// Of logs whose roles are known.
    pub(crate) fn of(logs: Vec<(JvmRole, PathBuf)>, start: Option<JvmStart>) -> JvmLogs {
        let named = |(role, path)| Named { role, client: None, path };
        JvmLogs { logs: logs.into_iter().map(named).collect(), start }
    }

    /// And that of the JVM which the run's own driver started: it makes the load, too, and is no part of the database.
    pub(crate) fn and_drivers(mut self, log: Option<&Path>) -> JvmLogs {
        let named = |path: &Path| Named { role: JvmRole::Harness, client: None, path: path.to_owned() };
        self.logs.extend(log.map(named));
        self
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }

    /// That the files are there: a mistyped name should not be found out after a run.
    ///
    /// # Errors
    /// For one that can't be opened.
    pub(crate) fn require(&self) -> anyhow::Result<()> {
        for Named { path, client, .. } in &self.logs {
            if let Some(client) = client {
                bail!(
                    "--jvm-log harness@{client}:{}: a run is of one client: leave `@{client}` out",
                    path.display()
                );
            }
            std::fs::File::open(path).with_context(|| {
                format!(
                    "--jvm-log {}: can't be read; start the JVM before the run, or check the path",
                    path.display()
                )
            })?;
        }
        Ok(())
    }

    /// Reads a log and lays it over a run. The second log of a role gets a number, those that are in the recording
    /// counted in.
    fn lay_over(&self, index: usize, clocks: &RunClocks, known: &[JvmLogFacts]) -> Laid<'_> {
        let Named { role, client, path } = &self.logs[index];
        let name = role.subject(1);
        let before = known.iter().filter(|log| log.subject.starts_with(&name) && !is_failed(log)).count();
        let is_alike = |other: &&Named| (other.role, other.client) == (*role, *client);
        let subject = role.subject(before + self.logs[..=index].iter().filter(is_alike).count());
        let file = path.display().to_string();
        let laid = jvm::read(path).and_then(|log| jvm::lay_over(&log, clocks, &subject, &file, self.start));
        Laid { subject, path, laid }
    }

    /// Puts the pauses of all logs into a recording that is about to end; gives what is to stand in its end. See [`logs::keep`].
    pub(crate) fn record(&self, clocks: &RunClocks, events: &EventSink) -> Vec<JvmLogFacts> {
        let one = |index: usize| {
            let Laid { subject, path, laid } = self.lay_over(index, clocks, &[]);
            let file = path.display().to_string();
            logs::keep(laid, events, &format!("--jvm-log {file}"), |error| {
                jvm::failed(&subject, &file, error)
            })
        };
        (0..self.logs.len()).map(one).collect()
    }

    /// For recordings that are there already: their events besides, and the facts. A server's pauses are placed by the clocks
    /// of each recording, and shown with the first.
    ///
    /// # Errors
    /// For a log that can't be read or leads nowhere, that a recording has already, or that nobody knows whose it is.
    pub(crate) fn over(&self, recordings: &[Recording]) -> anyhow::Result<Vec<LaidOver>> {
        let mut all = Vec::new();
        for (index, log) in self.logs.iter().enumerate() {
            for (nth, recording) in log.concerns(recordings)?.into_iter().enumerate() {
                all.push(self.over_one(index, nth == 0, (recording, &recordings[recording]))?);
            }
        }
        Ok(all)
    }

    /// Events and facts of all logs, of a run that becomes a recording only now.
    ///
    /// # Errors
    /// For a log that can't be read or leads nowhere.
    pub(crate) fn all(&self, clocks: &RunClocks) -> anyhow::Result<(Vec<Event>, Vec<JvmLogFacts>)> {
        let (mut events, mut facts) = (Vec::new(), Vec::new());
        for Laid { path, laid, .. } in (0..self.logs.len()).map(|index| self.lay_over(index, clocks, &[])) {
            let laid = laid.with_context(|| format!("--jvm-log {}", path.display()))?;
            events.extend(laid.events);
            facts.push(laid.facts);
        }
        Ok((events, facts))
    }

    fn over_one(
        &self,
        index: usize,
        is_shown: bool,
        (number, recording): (usize, &Recording),
    ) -> anyhow::Result<LaidOver> {
        let known = recording.end().map_or(&[][..], |end| &end.jvm_logs);
        let Laid { path, laid, .. } = self.lay_over(index, &RunClocks::of(recording)?, known);
        if known.iter().any(|log| !is_failed(log) && Path::new(&log.file) == path) {
            bail!("--jvm-log {}: {} has its pauses already", path.display(), recording.path().display());
        }
        let laid = laid.with_context(|| format!("--jvm-log {}", path.display()))?;
        Ok(logs::over_recording(number, is_shown, laid, |over, facts| over.jvm_logs.push(facts)))
    }
}

/// Logs and whose they are, from the flags' texts.
///
/// # Errors
/// For an empty name.
pub(crate) fn logs_of(flags: &[String], default: JvmRole) -> anyhow::Result<Vec<(JvmRole, PathBuf)>> {
    let one = |flag: &String| {
        let (role, path) = JvmRole::of(flag, default);
        if path.as_os_str().is_empty() {
            bail!("--jvm-log {flag}: name a file, such as `--jvm-log {}:gc.log`", role.name());
        }
        Ok((role, path.to_owned()))
    };
    flags.iter().map(one).collect()
}

/// A log, and what came of it.
struct Laid<'a> {
    subject: String,
    path: &'a Path,
    laid: Result<jvm::LaidOver, JvmError>,
}

/// Whether a log told nothing of the run.
fn is_failed(log: &JvmLogFacts) -> bool {
    let is_silent = log.pauses + log.stalls + log.summaries == 0;
    log.trouble.is_some() && (is_silent || log.aligned_by.is_empty())
}
