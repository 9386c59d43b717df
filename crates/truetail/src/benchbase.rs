//! `benchbase`: BenchBase's command line, configuration and result files, with truetail's load, recording and verdict.

mod arguments;
mod data;
mod files;
mod outcome;
mod steps;

pub(crate) use arguments::{BenchbaseArguments, spelt_out};

use crate::registry::{self, WorkloadChoice};
use crate::run::Done;
use crate::settings::RunOptions;
use crate::{Ended, interrupt, output, run};
use ::benchbase::{Benchmark, Configuration};
use anyhow::{Context, anyhow, bail};
use driver::TargetUrl;
use files::Place;
use outcome::Executed;
use steps::{Behaviour, Step};

/// Carries the command out.
pub(crate) fn run(arguments: &BenchbaseArguments, json: bool) -> anyhow::Result<Ended> {
    let wish = arguments.wish()?;
    let benchmark = benchmark(&arguments.bench)?;
    let path = arguments.configuration.display();
    let text = std::fs::read_to_string(&arguments.configuration)
        .with_context(|| format!("--config {path}: can't be read as UTF-8"))?;
    let configuration =
        Configuration::read(&text, benchmark).map_err(|error| anyhow!("--config {path}: {error}"))?;
    let unhonoured = configuration.require_honoured().map_err(|error| anyhow!("--config {path}: {error}"))?;
    let behaviour = Behaviour::parse(arguments.compat.as_deref(), benchmark)?;
    let steps = steps::of(&configuration).map_err(|error| anyhow!("--config {path}: {error}"))?;
    let mut base = steps::options(&configuration, behaviour);
    base.report_interval = wish.report_interval.clone();
    // All that can be wrong is told before anything is changed.
    for step in &steps {
        if let Step::Run(run) = step {
            run.options(&base).check()?;
        }
    }
    for note in unhonoured.notes.iter().chain(&wish.notes).chain(&steps::notes(&configuration)) {
        output::note(note);
    }
    let url = TargetUrl::parse(base.target.as_deref().unwrap_or_default())?;
    prepare(&base.workload_choice()?, &url, &wish, base.loaders()?)?;
    if !wish.execute {
        output::note("--execute is not given: nothing is measured");
        return outcome::prepared(benchmark, behaviour, json);
    }
    let place = Place::new(&arguments.directory, benchmark.name)?;
    let (done, steps) = execute(&steps, &base, &place, json)?;
    let executed = Executed::read(&configuration, behaviour, &done, &steps, &place)?;
    let written = executed.write(&text, arguments)?;
    let ended = executed.show(&written, json)?;
    for one in done {
        one.end(Ended::Well)?;
    }
    Ok(ended)
}

/// The benchmark of `-b`, if truetail has a workload for it.
fn benchmark(name: &str) -> anyhow::Result<&'static Benchmark> {
    if name.contains(',') {
        bail!("-b {name}: truetail runs one benchmark at a time; name one, and run the others after it");
    }
    let benchmark = Benchmark::named(name).map_err(|problem| anyhow!("-b {name}: {problem}"))?;
    let is_there =
        |benchmark: &Benchmark| registry::WORKLOADS.iter().any(|entry| entry.names.contains(&benchmark.name));
    if !is_there(benchmark) {
        let those: Vec<&str> = Benchmark::supported().filter(|b| is_there(b)).map(|b| b.name).collect();
        bail!(
            "-b {name}: truetail has no workload of BenchBase's {}; there are {}",
            benchmark.name,
            those.join(", ")
        );
    }
    Ok(benchmark)
}

/// Drops, checks and loads the data set as the flags have it.
fn prepare(
    choice: &WorkloadChoice,
    url: &TargetUrl,
    wish: &arguments::Wish,
    loaders: usize,
) -> anyhow::Result<()> {
    let target = registry::open_target(url)?;
    let workload = registry::make_workload(choice)?;
    data::require_file(url, wish, &workload)?;
    let loading = crate::dataset::Loading { connections: loaders, url, choice };
    registry::with(&target, workload, data::Prepare { wish, loading: &loading })
}

/// Makes the runs, one after the other; those that were made, with their works.
fn execute<'a>(
    steps: &'a [Step],
    base: &RunOptions,
    place: &Place,
    quiet: bool,
) -> anyhow::Result<(Vec<Done>, Vec<&'a steps::Run>)> {
    let runs = steps.iter().filter(|step| matches!(step, Step::Run(_))).count();
    let (mut done, mut made) = (Vec::new(), Vec::new());
    for step in steps {
        if interrupt::requested() {
            break;
        }
        match step {
            Step::Pause(time) => {
                output::note(&format!("a work is disabled: nothing is asked for {time}"));
                interrupt::flag();
                pause(*time);
            }
            Step::Run(run) => {
                let directory = place.recording((runs > 1).then_some(done.len() + 1));
                let mut options = run.options(base);
                options.out = Some(directory);
                done.push(run::execute(&options, quiet)?);
                made.push(run);
            }
        }
    }
    if done.is_empty() {
        bail!("interrupted before anything was measured");
    }
    Ok((done, made))
}

/// Waits, but not for longer than the user does.
fn pause(time: units::Nanos) {
    const SLICE: units::Nanos = units::Nanos::from_millis(100);
    let slices = time.0.div_ceil(SLICE.0);
    for _ in 0..slices {
        if interrupt::requested() {
            return;
        }
        clock::pause(SLICE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Workload;

    /// Weights are given in the order of the list, and files name transactions by it.
    #[test]
    fn workloads_have_benchbases_transactions_in_its_order() {
        let mut looked_at = Vec::new();
        for benchmark in Benchmark::supported() {
            if !registry::WORKLOADS.iter().any(|entry| entry.names.contains(&benchmark.name)) {
                continue;
            }
            let choice = WorkloadChoice {
                name: benchmark.name.to_owned(),
                scale: 1.0,
                seed: units::Seed(1),
                parameters: vec![],
                mix: None,
                client: crate::settings::ClientNumber::default(),
            };
            let workload = registry::make_workload(&choice).expect(benchmark.name);
            let names: Vec<&str> = workload.operations().iter().map(|operation| operation.name).collect();
            assert_eq!(names, benchmark.transactions(), "{}", benchmark.name);
            looked_at.push(benchmark.name);
        }
        for name in ["tpcc", "ycsb", "seats", "epinions", "tatp", "smallbank", "noop"] {
            assert!(looked_at.contains(&name), "{name}");
        }
    }
}
