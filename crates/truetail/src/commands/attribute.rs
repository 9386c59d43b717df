//! `truetail attribute`: whose the tail is, in full.

use super::{ended, one_of_each_client};
use crate::cli::AttributeArguments;
use crate::settings::RunOptions;
use crate::{Ended, output};
use analysis::Options;
use record::Recording;

/// Analyses the recordings together and shows all slow requests.
pub(super) fn run(arguments: AttributeArguments, json: bool) -> anyhow::Result<Ended> {
    let above = RunOptions::latency_limit("--above", arguments.above.as_deref())?;
    let recordings: Vec<Recording> =
        arguments.recordings.iter().map(Recording::open).collect::<Result<_, _>>()?;
    one_of_each_client(&recordings)?;
    let laid_over = arguments.logs.over(&recordings)?;
    let options = Options { above, worst: usize::MAX, laid_over, ..output::analysis_options() };
    let analysis = analysis::analyse(&recordings, &options)?;
    if json {
        output::json(&report::json::attribution_document(&analysis))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        output::result(&report::text::attribution_page(&analysis, above, &options))?;
    }
    Ok(ended(&analysis))
}
