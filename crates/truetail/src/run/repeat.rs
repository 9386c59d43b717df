//! `--repeat N`: several runs of the same, and how they differ.

use super::{Done, execute};
use crate::settings::RunOptions;
use crate::{Ended, commands, interrupt, output};
use analysis::Analysis;
use report::text::TextOptions;
use std::path::{Path, PathBuf};

/// Makes `repeats` runs into directories of their own below one, and shows each, and what
/// they show together.
pub(crate) fn repeat(options: &RunOptions, repeats: u32, quiet: bool) -> anyhow::Result<Ended> {
    let parent = options.out.clone().unwrap_or_else(|| {
        PathBuf::from("recordings").join(format!("{}-repeat", super::timestamp(clock::wall_time_ns())))
    });
    let mut done = Vec::new();
    for number in 1..=repeats {
        if interrupt::requested() {
            break;
        }
        output::note(&format!("run {number} of {repeats}"));
        let mut one = options.clone();
        one.out = Some(parent.join(format!("run-{number:03}")));
        done.push(execute(&one, quiet)?.whole()?);
    }
    show(&done, &parent, quiet)
}

fn show(done: &[Done], parent: &Path, as_json: bool) -> anyhow::Result<Ended> {
    let runs: Vec<&Analysis> = done.iter().map(|d| &d.analysis).collect();
    let across = analysis::across_repeats(&runs);
    if as_json {
        output::json(&report::json::repeats(&runs, &across))?;
    } else {
        let options = TextOptions { width: output::width(), colour: output::wants_colour() };
        output::result(&report::text::repeats_page(&runs, &across, &options))?;
        output::result(&format!("recordings: {}", parent.display()))?;
    }
    let invalid = runs.iter().any(|a| commands::ended(a) == Ended::Invalid);
    Ok(if invalid { Ended::Invalid } else { Ended::Well })
}
