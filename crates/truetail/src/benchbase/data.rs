//! `--clear`, `--create` and `--load`: in this order, and never more than asked.

use super::arguments::Wish;
use crate::chosen::AnyWorkload;
use crate::dataset::{Loading, OnIncomplete, ensure};
use crate::output;
use crate::registry::{self, Action};
use anyhow::bail;
use driver::{Dialect, Target, TargetUrl};
use std::path::Path;
use workload::Workload;
use workload::dataset::{Status, drop_dataset, status};

/// A database file that is not there is made by loading alone.
pub(super) fn require_file(url: &TargetUrl, wish: &Wish, workload: &AnyWorkload) -> anyhow::Result<()> {
    let is_missing = registry::driver_of(url)?.file && !Path::new(&url.path).exists();
    if is_missing && !wish.load && workload.dataset().is_some() {
        bail!("target `{url}`: there is no such file; --create=true --load=true makes it");
    }
    Ok(())
}

/// Does what the flags say to the data set, and makes sure of it before it is measured.
pub(super) struct Prepare<'a> {
    pub(super) wish: &'a Wish,
    pub(super) loading: &'a Loading<'a>,
}

impl Action for Prepare<'_> {
    type Output = ();

    fn with<T: Target, W: Workload>(self, target: &T, workload: W) -> anyhow::Result<()> {
        let wish = self.wish;
        let Some(data) = workload.dataset().filter(|_| target.dialect() != Dialect::Null) else {
            if wish.create || wish.clear || wish.load {
                output::note(&format!("{} needs no data set", workload.facts().name));
            }
            return Ok(());
        };
        let mut administration = target.administer()?;
        if wish.clear {
            let was_there = drop_dataset(administration.as_mut(), data)?;
            let done = if was_there { "the data set is dropped" } else { "nothing was there" };
            output::note(&format!("--clear: {done}"));
        }
        if wish.create {
            let found = status(administration.as_mut(), data)?;
            if found != Status::Missing {
                bail!(
                    "--create=true: there is one already: {}; add --clear=true to drop it first, or leave --create out to \
                     use it",
                    found.describe(data)
                );
            }
            if !wish.load {
                output::note(
                    "--create without --load: tables are made together with their rows, by --load=true",
                );
            }
        }
        if wish.load {
            drop(administration);
            if !ensure(target, data, OnIncomplete::LoadAgain, self.loading)? {
                output::note(
                    "--load: the data set is there already, and used as it is; --clear=true drops it first",
                );
            }
        } else if wish.execute {
            let found = status(administration.as_mut(), data)?;
            if !matches!(found, Status::Matching { .. }) {
                bail!("--execute=true: {}; add --create=true --load=true", found.describe(data));
            }
        }
        Ok(())
    }
}
