//! `load`, `check`, `cleanup`, and what `run` does of them by itself.

use crate::cli::DataSetArguments;
use crate::output::{self, Progress};
use crate::registry::{self, Action, WorkloadChoice, shell_word};
use crate::settings::{DEFAULT_TARGET, RunOptions};
use crate::{Ended, commands};
use anyhow::{anyhow, bail};
use driver::{Dialect, Target, TargetUrl};
use serde_json::json;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use workload::Workload;
use workload::dataset::{self, CheckResult, DataSet, Loader, Status};

/// Which of the three commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Load,
    Check,
    Cleanup,
}

pub(crate) fn run(verb: Verb, arguments: DataSetArguments, json: bool) -> anyhow::Result<Ended> {
    let options = commands::with_file(arguments.options, arguments.config.as_deref())?;
    options.check()?;
    let text = options.target.clone().unwrap_or_else(|| DEFAULT_TARGET.to_owned());
    let url = TargetUrl::parse(&text)?;
    let is_file = registry::driver_of(&url)?.file;
    if is_file && url.path.is_empty() {
        bail!(
            "target `{url}`: name the file, such as `{}:data.db`; only `run` makes one in its recording",
            url.scheme
        );
    }
    let choice = options.workload_choice()?;
    if is_file && verb != Verb::Load && !Path::new(&url.path).exists() {
        if verb == Verb::Cleanup {
            bail!("target `{url}`: there is no such file, and so nothing to drop");
        }
        let loading = Loading { connections: 1, url: &url, choice: &choice };
        bail!(
            "target `{url}`: there is no such file; `{}` makes it",
            loading.command(Verb::Load, choice.scale)
        );
    }
    let target = registry::open_target(&url)?;
    let workload = registry::make_workload(&choice)?;
    workload.notes(&choice).iter().for_each(|note| output::note(note));
    let action = DataSetAction { verb, options: &options, choice: &choice, url: &url, json };
    registry::with(&target, workload, action)
}

struct DataSetAction<'a> {
    verb: Verb,
    options: &'a RunOptions,
    choice: &'a WorkloadChoice,
    url: &'a TargetUrl,
    json: bool,
}

impl Action for DataSetAction<'_> {
    type Output = Ended;

    fn with<T: Target, W: Workload>(self, target: &T, workload: W) -> anyhow::Result<Ended> {
        let name = workload.facts().name;
        // Before anything is written: what the workload can't ask for, nobody needs.
        registry::statements(&workload, target.dialect(), self.url)?;
        let Some(data) = workload.dataset().filter(|_| target.dialect() != Dialect::Null) else {
            output::note(&format!("{name} needs no data set here"));
            return self.done("none", &[]);
        };
        match self.verb {
            Verb::Load => {
                let connections = self.options.loaders()?;
                let loading = Loading { connections, url: self.url, choice: self.choice };
                let loaded = ensure(target, data, OnIncomplete::LoadAgain, &loading)?;
                self.done(if loaded { "loaded" } else { "already there" }, &[])
            }
            Verb::Check => {
                let mut administration = target.administer()?;
                let results = dataset::check_dataset(administration.as_mut(), data, target.dialect())?;
                self.done("checked", &results)
            }
            Verb::Cleanup => {
                let mut administration = target.administer()?;
                let was_there = dataset::drop_dataset(administration.as_mut(), data)?;
                self.done(if was_there { "dropped" } else { "nothing was there" }, &[])
            }
        }
    }
}

impl DataSetAction<'_> {
    fn done(&self, state: &str, results: &[CheckResult]) -> anyhow::Result<Ended> {
        let passed = results.iter().all(|r| r.passed);
        if self.json {
            let checks: Vec<_> = results
                .iter()
                .map(|r| json!({"name": r.name, "passed": r.passed, "detail": r.detail}))
                .collect();
            output::json(&json!({
                "schema": "truetail.dataset/1",
                "workload": self.options.workload.as_deref().unwrap_or(self.options.default_workload()),
                "state": state,
                "passed": passed,
                "checks": checks,
            }))?;
        } else {
            let mut text = format!("data set: {state}\n");
            for r in results {
                text +=
                    &format!("  {}  {}: {}\n", if r.passed { "holds " } else { "BROKEN" }, r.name, r.detail);
            }
            output::result(&text)?;
        }
        Ok(if passed { Ended::Well } else { Ended::LimitBroken })
    }
}

/// What to do with a data set whose loading was cut short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnIncomplete {
    LoadAgain,
    Refuse,
}

/// How a data set is loaded, and where.
pub(crate) struct Loading<'a> {
    /// Connections that fill it side by side.
    pub(crate) connections: usize,
    /// The target, without a password.
    pub(crate) url: &'a TargetUrl,
    /// What was asked for.
    pub(crate) choice: &'a WorkloadChoice,
}

impl Loading<'_> {
    /// A command about the data set that was asked for, at some scale.
    fn command(&self, verb: Verb, scale: f64) -> String {
        self.command_with(verb, &self.choice.data_flags(scale))
    }

    fn command_with(&self, verb: Verb, flags: &str) -> String {
        let verb = match verb {
            Verb::Load => "load",
            Verb::Check => "check",
            Verb::Cleanup => "cleanup",
        };
        format!("truetail {verb} {} {flags}", shell_word(&self.url.to_string()))
    }
}

/// What is in a data set's place is another one, or less than that: what it is, and the commands that help.
pub(crate) fn other(status: &Status, data: &dyn DataSet, loading: &Loading<'_>) -> anyhow::Error {
    let found = status.describe(data);
    let (wanted, found) = (data.marker().scale, found.strip_suffix("; load it again").unwrap_or(&found));
    let load = loading.command(Verb::Load, wanted);
    let cleanup = |scale| loading.command(Verb::Cleanup, scale);
    match status {
        Status::OtherScale { found: marker } => {
            let (is, cleanup) = (marker.scale, cleanup(marker.scale));
            anyhow!("{found}; use it with `--scale {is}`, or replace it: `{cleanup} && {load}`")
        }
        Status::OtherVersion { .. } => anyhow!("{found}; replace it: `{} && {load}`", cleanup(wanted)),
        Status::Incomplete => anyhow!("{found}; `{load}` goes on with it, `{}` drops it", cleanup(wanted)),
        Status::OtherWorkload { found: marker } if is_own(&marker.workload) => {
            anyhow!("{found}; `{}` drops it", loading.command_with(Verb::Cleanup, &marker.flags()))
        }
        Status::OtherWorkload { found: marker } => {
            let flags = format!("-w FILE.toml --scale {}", marker.scale);
            let command = loading.command_with(Verb::Cleanup, &flags);
            anyhow!("{found}; `{command}` drops it, with the file that it was made by")
        }
        Status::Missing => anyhow!("{found}: `{load}`"),
        Status::Matching { .. } | Status::Foreign { .. } => {
            anyhow!("{found}; drop it yourself, or use another database")
        }
    }
}

/// Whether a data set is one of truetail's own workloads', by what its marker says.
fn is_own(workload: &str) -> bool {
    let name = workload.split(' ').next().unwrap_or_default();
    registry::WORKLOADS.iter().any(|entry| entry.names.contains(&name))
}

/// Loads the data set over so many connections when it is missing. True when it was loaded now.
///
/// # Errors
/// When there is one of another scale, layout or workload; nothing is changed then.
pub(crate) fn ensure<T: Target>(
    target: &T,
    data: &dyn DataSet,
    on_incomplete: OnIncomplete,
    loading: &Loading<'_>,
) -> anyhow::Result<bool> {
    let mut administration = target.administer()?;
    match dataset::status(administration.as_mut(), data)? {
        Status::Matching { .. } => return Ok(false),
        Status::Missing => {}
        Status::Incomplete if on_incomplete == OnIncomplete::LoadAgain => {}
        other => return Err(self::other(&other, data, loading)),
    }
    registry::require_understood(&loading.choice.name, &administration.facts()?, loading.url)?;
    let marker = data.marker();
    let rows = data.rows();
    drop(administration);
    let what = format!("{} (scale {})", marker.workload, marker.scale);
    let progress = Mutex::new(Progress::new(format!("loading {what}"), rows)?.with_rate("rows"));
    let loader = Loader {
        connect: &|| target.administer(),
        dialect: target.dialect(),
        connections: loading.connections,
        progress: &|done| progress.lock().unwrap_or_else(PoisonError::into_inner).at(done),
    };
    let loaded = loader.load(data)?;
    let kept = match loaded.found {
        0 => String::new(),
        found => format!(", {found} of them there from a load that was cut short"),
    };
    let progress = progress.into_inner().unwrap_or_else(PoisonError::into_inner);
    progress.end(&format!("loaded {what}: {} rows{kept}", loaded.found + loaded.written));
    Ok(true)
}
