//! From a parsed command line to what it does.

use crate::cli::{Cli, Command, ReportArguments, RunArguments};
use crate::dataset::Verb;
use crate::settings::{self, RunOptions};
use crate::{Ended, dataset, echo, export, floor, gaps, output, prove, run, search, store};
use analysis::{Analysis, OverlayOptions, VerdictState};
use anyhow::{Context, bail};
use driver::Execution;
use record::{Recording, TruthLog};
use serde_json::json;
use std::path::{Path, PathBuf};

mod attribute;
mod compare;
mod experiment;
mod runs;

/// Carries a command out.
pub(crate) fn dispatch(arguments: Cli) -> anyhow::Result<Ended> {
    let json = arguments.json;
    match arguments.command {
        Command::Run(arguments) => run_command(arguments, json),
        Command::Ycsb(arguments) => crate::ycsb::run(&arguments, json),
        Command::Load(arguments) => dataset::run(Verb::Load, arguments, json),
        Command::Check(arguments) => dataset::run(Verb::Check, arguments, json),
        Command::Cleanup(arguments) => dataset::run(Verb::Cleanup, arguments, json),
        Command::Report(arguments) => report(arguments, json),
        Command::Attribute(arguments) => attribute::run(arguments, json),
        Command::Compare(arguments) => compare::run(arguments, json),
        Command::Export(arguments) => export::run(arguments, json),
        Command::Import(arguments) => crate::import::run(arguments, json),
        Command::Search(arguments) => search::run(arguments, json),
        Command::Floor(arguments) => floor::run(arguments, json),
        Command::Gaps(arguments) => gaps::run(&arguments, json),
        Command::Echo(arguments) => echo::run(&arguments, json),
        Command::Store(arguments) => store::run(&arguments, json),
        Command::Prove(arguments) => prove::run(&arguments, json),
        Command::Benchbase(arguments) => crate::benchbase::run(&arguments, json),
        Command::Experiment(arguments) => experiment::run(&arguments, json),
    }
}

/// Flags over the file that `--config` names.
pub(crate) fn with_file(options: RunOptions, file: Option<&Path>) -> anyhow::Result<RunOptions> {
    match file {
        Some(path) => Ok(options.over(RunOptions::from_file(path)?)),
        None => Ok(options),
    }
}

fn run_command(arguments: RunArguments, json: bool) -> anyhow::Result<Ended> {
    let options = with_file(arguments.options, arguments.config.as_deref())?;
    options.check()?;
    if options.echo.is_some() && options.floor.is_none() {
        bail!(
            "--echo without --floor: a run alone has no use for an echo server; add --floor, or name it as the target"
        );
    }
    if arguments.print_config {
        let text = options.target.clone().unwrap_or_else(|| crate::settings::DEFAULT_TARGET.to_owned());
        let is_file = crate::registry::driver_of(&driver::TargetUrl::parse(&text)?)?.file;
        let execution = if is_file { Execution::Blocking } else { Execution::Polled };
        let effective = options.effective(execution);
        if json {
            output::json(&json!({"schema": "truetail.config/1", "config": effective.shown()?}))?;
        } else {
            output::result(&effective.to_toml()?)?;
        }
        return Ok(Ended::Well);
    }
    let repeats = options.repeat.unwrap_or(1);
    if repeats == 1 {
        let done = run::execute(&options, json)?;
        let ended = show(&done.analysis, &done.directory, json)?;
        return done.end(ended);
    }
    run::repeat(&options, repeats, json)
}

/// Shows an analysis and says how the command ends.
pub(crate) fn show(analysis: &Analysis, directory: &Path, json: bool) -> anyhow::Result<Ended> {
    if json {
        output::json(&report::json::document(analysis))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let mut page = report::text::page(analysis, &options);
        page += &format!("\nreport: {}\n", directory.join("report.html").display());
        output::result(&page)?;
    }
    Ok(ended(analysis))
}

pub(crate) fn ended(analysis: &Analysis) -> Ended {
    if analysis.verdict.state == VerdictState::Invalid { Ended::Invalid } else { Ended::Well }
}

/// Opens recordings; a directory of repeats stands for its recordings.
pub(crate) fn open_recordings(path: &Path) -> anyhow::Result<Vec<Recording>> {
    if path.is_dir() && !path.join("run.toml").exists() {
        let mut inner: Vec<PathBuf> = std::fs::read_dir(path)
            .with_context(|| format!("can't read {}", path.display()))?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|p| p.join("run.toml").exists())
            .collect();
        inner.sort();
        if !inner.is_empty() {
            return inner.iter().map(|p| Ok(Recording::open(p)?)).collect();
        }
    }
    Ok(vec![Recording::open(path)?])
}

fn report(arguments: ReportArguments, json: bool) -> anyhow::Result<Ended> {
    let quantiles = arguments.percentiles.as_deref().map(settings::parse_percentiles).transpose()?;
    let quantiles = quantiles.unwrap_or_default();
    if let [directory] = &arguments.recordings[..]
        && let Some(ended) = floor::show_again(directory, &quantiles, json)?
    {
        return Ok(ended);
    }
    let recordings: Vec<Recording> =
        arguments.recordings.iter().map(Recording::open).collect::<Result<_, _>>()?;
    one_of_each_client(&recordings)?;
    let mut options = output::analysis_options_with(&quantiles);
    options.laid_over = arguments.logs.over(&recordings)?;
    let truth = arguments.truth.as_ref().map(TruthLog::open).transpose()?;
    let mut analysis = analysis::analyse(&recordings, &options)?;
    let paths: Vec<&Path> = arguments.recordings.iter().map(PathBuf::as_path).collect();
    floor::attach(&mut analysis, &paths, &quantiles);
    if let Some(truth) = &truth {
        let overlay = analysis::overlay(&recordings, truth, &OverlayOptions::default())?;
        analysis.overlay = Some(overlay);
    }
    let directory = arguments.out.unwrap_or_else(|| arguments.recordings[0].clone());
    run::write_report(&analysis, &directory)?;
    show(&analysis, &directory, json)
}

/// Merging two recordings of one client would count requests twice, or mix what can't be told apart.
fn one_of_each_client(recordings: &[Recording]) -> anyhow::Result<()> {
    for (index, second) in recordings.iter().enumerate() {
        let client = second.header().client;
        if let Some(first) = recordings[..index].iter().find(|r| r.header().client == client) {
            bail!(
                "{} and {} are both of client {client}: name each once, and make those that are to be merged \
                 with a --client of its own; `truetail compare` sets two runs side by side",
                first.path().display(),
                second.path().display()
            );
        }
    }
    Ok(())
}
