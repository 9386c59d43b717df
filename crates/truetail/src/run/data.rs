//! The data set of a run: made where it is missing, expected to be there, or filled by the run's own requests.

use crate::dataset::{self, OnIncomplete};
use crate::output;
use anyhow::{anyhow, bail};
use driver::{Administration, Dialect, Target, TargetFacts};
use workload::Workload;
use workload::dataset::{CheckResult, DataSet, Status};

/// Where the data set comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Data {
    /// Loaded in bulk where it is missing.
    #[default]
    LoadMissing,
    /// It is there; one that truetail did not make will do. The command that makes it.
    Expected { load: String },
    /// The run's requests are the load, into tables that are made first or are there. The command that drops it.
    ByRequests { cleanup: String },
}

/// What there is to be done after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    Nothing,
    /// To verify it, where that is cheap.
    Verify,
    /// To verify it, and to say that it is complete where it is.
    Complete,
}

/// Makes sure of the data set, and lets the workload look at it.
pub(super) fn prepare<T: Target, W: Workload>(
    target: &T,
    workload: &mut W,
    data: &Data,
    loading: &dataset::Loading<'_>,
) -> anyhow::Result<(TargetFacts, After)> {
    let needs_data = target.dialect() != Dialect::Null;
    let mut after = After::Nothing;
    if let Some(of_workload) = workload.dataset().filter(|_| needs_data) {
        after = match data {
            Data::LoadMissing => {
                dataset::ensure(target, of_workload, OnIncomplete::Refuse, loading)?;
                After::Verify
            }
            Data::Expected { load } => expect(target.administer()?.as_mut(), of_workload, load, loading)?,
            Data::ByRequests { cleanup } => begin(target, of_workload, cleanup, loading)?,
        };
    }
    let mut administration = target.administer()?;
    if needs_data {
        workload.observe(administration.as_mut()).map_err(|reason| anyhow!(reason))?;
    }
    Ok((administration.facts()?, after))
}

fn expect(
    administration: &mut dyn Administration,
    data: &dyn DataSet,
    load: &str,
    loading: &dataset::Loading<'_>,
) -> anyhow::Result<After> {
    match workload::dataset::status(administration, data)? {
        Status::Matching { .. } => Ok(After::Verify),
        Status::Foreign { table } => {
            output::note(&format!(
                "`{table}` was not made by truetail: it is used as it is, and not verified"
            ));
            Ok(After::Nothing)
        }
        Status::Missing => bail!("no data set is in this database; `{load}` makes it"),
        Status::Incomplete => bail!("{}: `{load}` goes on", Status::Incomplete.describe(data)),
        other => Err(dataset::other(&other, data, loading)),
    }
}

fn begin<T: Target>(
    target: &T,
    data: &dyn DataSet,
    cleanup: &str,
    loading: &dataset::Loading<'_>,
) -> anyhow::Result<After> {
    let mut administration = target.administer()?;
    let administration = administration.as_mut();
    match workload::dataset::status(administration, data)? {
        Status::Matching { .. } => {
            bail!("all rows are there already, as {}; `{cleanup}` drops them", data.marker().workload)
        }
        Status::Missing => {
            workload::dataset::begin(administration, data, target.dialect())?;
            Ok(After::Complete)
        }
        Status::Incomplete if administration.table_exists(data.tables()[0])? => Ok(After::Complete),
        Status::Incomplete => {
            workload::dataset::begin(administration, data, target.dialect())?;
            Ok(After::Complete)
        }
        Status::Foreign { table } => {
            output::note(&format!(
                "`{table}` was not made by truetail: records are inserted into it as it is"
            ));
            Ok(After::Nothing)
        }
        other => Err(dataset::other(&other, data, loading)),
    }
}

/// Verifies the data set where there is one; an inability to verify is a broken check.
pub(super) fn check_after<T: Target, W: Workload>(
    target: &T,
    workload: &W,
    after: After,
) -> Vec<CheckResult> {
    let Some(data) = workload.dataset().filter(|_| after != After::Nothing) else { return Vec::new() };
    if after == After::Verify && !data.check_is_cheap() {
        return Vec::new();
    }
    let results = target.administer().and_then(|mut administration| {
        let (administration, dialect) = (administration.as_mut(), target.dialect());
        if after == After::Verify {
            return workload::dataset::check_dataset(administration, data, dialect);
        }
        let results = data.check(administration, dialect)?;
        if results.iter().all(|result| result.passed) {
            workload::dataset::complete(administration, data, dialect)?;
            return Ok(results);
        }
        // Other loads may bring the rest.
        for result in results.iter().filter(|result| !result.passed) {
            output::note(&format!("the data set is not complete yet: {}: {}", result.name, result.detail));
        }
        Ok(Vec::new())
    });
    results.unwrap_or_else(|error| {
        let name = "the data set can be verified after the run".to_owned();
        vec![CheckResult { name, passed: false, detail: error.to_string() }]
    })
}
