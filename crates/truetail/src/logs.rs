//! Logs of other programs that are laid over a run: those of JVMs and of a database server.

use crate::jvm::JvmLogs;
use crate::server_log::ServerLogs;
use analysis::LaidOver;
use clap::Args;
use import::RunClocks;
use record::{EndOfRun, EventSink, Recorder, Recording};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use units::Instant;

/// The flags of commands that show recordings.
#[derive(Args, Debug)]
pub(crate) struct LogArguments {
    /// Lay the pauses of a JVM over the run, from its log; `harness:` before the file if it is not the server's, with
    /// several recordings `harness@N:` for that of client N; may be repeated
    #[arg(long, value_name = "[harness:|server:]FILE")]
    jvm_log: Vec<String>,

    /// When that JVM started, such as 2026-11-21T06:35:37.116Z; for logs whose lines have an uptime alone
    #[arg(long, value_name = "TIME")]
    jvm_start: Option<String>,

    /// Lay checkpoints, vacuums and waits for locks over the run, from PostgreSQL's own log; may be repeated
    #[arg(long, value_name = "FILE")]
    server_log: Vec<PathBuf>,

    /// What that log's times are in where it names a zone such as CET: `+01:00`, or `host` for this host's zone
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    server_log_zone: Option<String>,
}

impl LogArguments {
    /// What of the logs is to be laid over the recordings.
    ///
    /// # Errors
    /// Those of [`JvmLogs::over`] and [`ServerLogs::over`].
    pub(crate) fn over(&self, recordings: &[Recording]) -> anyhow::Result<Vec<LaidOver>> {
        let jvm = JvmLogs::new(&self.jvm_log, self.jvm_start.as_deref())?;
        let server = ServerLogs::new(&self.server_log, self.server_log_zone.as_deref())?;
        Ok([jvm.over(recordings)?, server.over(recordings)?].concat())
    }
}

/// The logs of a run that is made.
#[derive(Debug)]
pub(crate) struct Logs {
    pub(crate) jvm: JvmLogs,
    pub(crate) server: ServerLogs,
}

impl Logs {
    /// That the files are there.
    ///
    /// # Errors
    /// For one that is not.
    pub(crate) fn require(&self) -> anyhow::Result<()> {
        self.jvm.require()?;
        self.server.require()
    }

    /// And the log of a JVM that the driver started.
    pub(crate) fn and_drivers(self, log: Option<&Path>) -> Logs {
        Logs { jvm: self.jvm.and_drivers(log), ..self }
    }

    /// Puts what the logs tell of the time until `ended`, when the load was over, into a recording that is about to end.
    pub(crate) fn record(&self, recorder: &Recorder, ended: Instant, end: &mut EndOfRun) {
        let anchors = recorder.anchors();
        let epoch_wall_ns =
            anchors.first().map_or(0, |first| first.realtime_ns.saturating_sub(first.ticks.0));
        let clocks = RunClocks::new(&anchors, epoch_wall_ns, ended);
        let events = recorder.events();
        end.jvm_logs = self.jvm.record(&clocks, &events);
        end.server_logs = self.server.record(&clocks, &events);
    }
}

/// Puts what a log tells into a recording that is about to end; gives the facts that are to stand in its end. A log that leads
/// nowhere does not spoil the run: its facts say why, and so does a line for whoever waits. `name` is the log as its flag names it.
pub(crate) fn keep<F, E: Display>(
    laid: Result<import::LaidOver<F>, E>,
    events: &EventSink,
    name: &str,
    failed: impl FnOnce(&E) -> F,
) -> F {
    match laid {
        Ok(laid) => {
            laid.events.into_iter().for_each(|event| events.happened(event));
            laid.facts
        }
        Err(error) => {
            crate::output::note(&format!("{name}: {error}"));
            failed(&error)
        }
    }
}

/// What a log tells of the recording with this number. Where another recording shows it already, it is for attribution alone.
pub(crate) fn over_recording<F>(
    recording: usize,
    is_shown: bool,
    laid: import::LaidOver<F>,
    add_facts: impl FnOnce(&mut LaidOver, F),
) -> LaidOver {
    let mut over = LaidOver { recording, ..LaidOver::default() };
    if is_shown {
        over.events = laid.events;
        add_facts(&mut over, laid.facts);
    } else {
        over.repeated = laid.events;
    }
    over
}
