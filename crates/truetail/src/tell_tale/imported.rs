//! From what a load tool wrote to a recording, with the pauses of its JVM as events.

use super::lines::Run;
use super::preset::SESSIONS;
use crate::import::{self, Request};
use ::import::Format;
use ::import::jvm::JvmRole;
use anyhow::bail;
use std::path::{Path, PathBuf};

/// What a load tool left behind.
pub(super) struct Output<'a> {
    pub(super) format: Format,
    pub(super) printed: String,
    /// Its single requests.
    pub(super) rows: PathBuf,
    /// Its JVM's log, where it writes one.
    pub(super) log: Option<&'a Path>,
    /// Without secrets.
    pub(super) command: &'a [String],
}

/// Makes the recording.
///
/// # Errors
/// What can't be read, or that every request failed.
pub(super) fn into_recording(run: &Run<'_>, output: &Output<'_>, directory: &Path) -> anyhow::Result<()> {
    // BenchBase leaves its warm-up out of its rows by itself.
    let warm_up = Some(run.length.warmup).filter(|time| output.format == Format::Ycsb && time.0 > 0);
    let imported = import::into_recording(&Request {
        format: output.format,
        printed: Some(output.printed.clone()),
        files: vec![output.rows.clone()],
        jvm_logs: output.log.map(|log| (JvmRole::Harness, log.to_owned())).into_iter().collect(),
        warm_up,
        target: run.url.map_or_else(|| "no-op store".to_owned(), ToString::to_string),
        workload: run.row.workload.name().to_owned(),
        command: output.command.join(" "),
        sessions: Some(SESSIONS),
        directory: directory.to_owned(),
    })?;
    if imported.samples == 0 {
        bail!("no single request is in {}", output.rows.display());
    }
    if imported.failed == imported.samples {
        bail!(
            "all of its {} requests failed; stderr.txt beside the recording has the first words",
            imported.failed
        );
    }
    Ok(())
}
