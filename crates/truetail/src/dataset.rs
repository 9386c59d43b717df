//! `load`, `check`, `cleanup`, and what `run` does of them by itself.

use crate::cli::DataSetArguments;
use crate::output::{self, Progress};
use crate::registry::{self, Action};
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
    if is_file && verb != Verb::Load && !Path::new(&url.path).exists() {
        bail!("target `{url}`: there is no such file; `truetail load {url}` makes it");
    }
    let target = registry::open_target(&url)?;
    let workload = registry::make_workload(&options.workload_choice()?)?;
    workload.notes().iter().for_each(|note| output::note(note));
    registry::with(&target, workload, DataSetAction { verb, options: &options, url: &url, json })
}

struct DataSetAction<'a> {
    verb: Verb,
    options: &'a RunOptions,
    url: &'a TargetUrl,
    json: bool,
}

impl Action for DataSetAction<'_> {
    type Output = Ended;

    fn with<T: Target, W: Workload>(self, target: &T, workload: W) -> anyhow::Result<Ended> {
        let name = workload.facts().name;
        // Before anything is written: what the workload can't ask for, nobody needs.
        workload
            .statements(target.dialect())
            .map_err(|reason| anyhow!("--workload {name} on `{}`: {reason}", self.url))?;
        let Some(data) = workload.dataset().filter(|_| target.dialect() != Dialect::Null) else {
            output::note(&format!("{name} needs no data set here"));
            return self.done("none", &[]);
        };
        match self.verb {
            Verb::Load => {
                let loading = Loading { connections: self.options.loaders()?, url: self.url };
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
                dataset::drop_dataset(administration.as_mut(), data)?;
                self.done("dropped", &[])
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
}

/// What is in a data set's place is another one: what it is, and the command that drops it.
pub(crate) fn other(status: &Status, data: &dyn DataSet, loading: &Loading<'_>) -> anyhow::Error {
    let (found, url) = (status.describe(data), loading.url);
    match status {
        Status::OtherScale { found: marker }
        | Status::OtherVersion { found: marker }
        | Status::OtherWorkload { found: marker } => {
            anyhow!("{found}; `truetail cleanup {url} {}` drops it", marker.flags())
        }
        _ => anyhow!("{found}; drop it yourself, or use another database"),
    }
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
        Status::Incomplete => bail!("{}: run `truetail load`", Status::Incomplete.describe(data)),
        other => return Err(self::other(&other, data, loading)),
    }
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
