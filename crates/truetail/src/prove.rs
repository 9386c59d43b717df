//! `truetail prove`: grades truetail, and any other load tool, against known truth.

use crate::{Ended, interrupt, output, process, run};
use ::prove::invocations::Protocol;
use ::prove::scenario::{self, Scenario, Size};
use ::prove::{Proof, ToolResult};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use units::Nanos;

mod arguments;
mod bench;
mod foreign;
mod live;
mod standstill;
mod traps;

pub(crate) use arguments::ProveArguments;

/// Carries a proof out, shows it and writes its pages.
pub(crate) fn run(arguments: &ProveArguments, json: bool) -> anyhow::Result<Ended> {
    if arguments.list {
        output::result(&list())?;
        return Ok(Ended::Well);
    }
    let directory = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("proofs").join(run::timestamp(clock::wall_time_ns())));
    record::require_vacant(&directory)?;
    check(arguments)?;
    std::fs::create_dir_all(&directory).with_context(|| {
        format!("can't create {}; name another directory with --out", directory.display())
    })?;
    interrupt::flag();
    if arguments.driver_traps {
        return traps::run(&directory, json);
    }
    let proof = match (arguments.experiment.as_deref(), arguments.tool.is_empty()) {
        (Some(name), _) => experiment(name)?,
        (None, false) => Proof { tools: tools(arguments, &directory)?, ..Proof::default() },
        (None, true) => truetail(arguments, &directory)?,
    };
    write(&proof, &directory)?;
    if json {
        output::json(&report::prove::json(&proof))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let mut page = report::prove::text(&proof, &options);
        page += &format!("\nproof: {}\n", directory.join("proof.html").display());
        output::result(&page)?;
    }
    Ok(if proof.passed() { Ended::Well } else { Ended::LimitBroken })
}

/// Refuses what there is not, before anything is written.
fn check(arguments: &ProveArguments) -> anyhow::Result<()> {
    arguments.scenarios(Size::Live)?;
    arguments.protocols()?;
    foreign::candidates(arguments)?;
    match arguments.experiment.as_deref() {
        Some(name) if !EXPERIMENTS.contains(&name) => {
            bail!("--experiment {name}: there are {}", EXPERIMENTS.join(" and "))
        }
        _ => Ok(()),
    }
}

/// Names for `--experiment`.
const EXPERIMENTS: [&str; 2] = [NOSQLMARK, ELASTICITY];
const NOSQLMARK: &str = "nosqlmark";
const ELASTICITY: &str = "elasticity";

fn list() -> String {
    let mut text = String::from("scenarios:\n");
    for scenario in scenario::all(Size::Live) {
        text += &format!("  {:<16}{}\n", scenario.name, scenario.asks);
    }
    text += "ready-made tools:\n";
    for tool in &::prove::invocations::INVOCATIONS {
        let needs = tool.needs.join(", ");
        let class_path = if tool.command.contains("{class_path}") { ", --class-path" } else { "" };
        text += &format!("  {:<16}{:<10}needs {needs}{class_path}\n", tool.name, tool.protocol.name());
    }
    text
}

fn experiment(name: &str) -> anyhow::Result<Proof> {
    match name {
        NOSQLMARK => {
            let result = ::prove::nosqlmark::run(&::prove::nosqlmark::Options::default())?;
            Ok(Proof { nosqlmark: Some(result), ..Proof::default() })
        }
        ELASTICITY => {
            let result = ::prove::elasticity::run(::prove::elasticity::Elasticity::default())?;
            Ok(Proof { elasticity: Some(result), ..Proof::default() })
        }
        name => bail!("--experiment {name}: there are {}", EXPERIMENTS.join(" and ")),
    }
}

/// Truetail through all scenarios: on the simulated clock, and live in each protocol.
fn truetail(arguments: &ProveArguments, directory: &Path) -> anyhow::Result<Proof> {
    let mut proof = Proof::default();
    if !arguments.live {
        for scenario in arguments.scenarios(Size::Simulated)? {
            output::note(&format!("simulated clock: {}", scenario.name));
            proof.scenarios.push(::prove::simulated::run(scenario)?);
        }
    }
    if arguments.simulated {
        return Ok(proof);
    }
    let mut runs: Vec<(Scenario, Protocol)> = Vec::new();
    for spoken in arguments.protocols()? {
        runs.extend(arguments.scenarios(Size::Live)?.into_iter().map(|scenario| (scenario, spoken)));
    }
    let times: Vec<Nanos> = runs.iter().map(|(scenario, _)| scenario.duration + START_AND_END).collect();
    for (index, (scenario, spoken)) in runs.into_iter().enumerate() {
        let left = times[index..].iter().fold(Nanos::ZERO, |sum, time| sum + *time);
        let what = format!("live, {}: {}", spoken.name(), scenario.name);
        process::announce(index + 1, times.len(), &what, left);
        let place = directory.join(spoken.name()).join(scenario.name);
        let live = live::run(scenario, spoken, &place)?;
        output::note(&format!("  the store's {}; truetail's own verdict: {}", live.lateness, live.verdict));
        proof.scenarios.push(live.result);
    }
    Ok(proof)
}

/// What a live run takes besides its load.
const START_AND_END: Nanos = Nanos::from_secs(3);

/// Foreign tools through all scenarios.
fn tools(arguments: &ProveArguments, directory: &Path) -> anyhow::Result<Vec<ToolResult>> {
    let (candidates, missing) = foreign::candidates(arguments)?;
    missing.iter().for_each(|why| output::note(&format!("left out: {why}")));
    let scenarios = arguments.scenarios(Size::Live)?;
    let total = candidates.len() * scenarios.len();
    let each = scenarios.iter().fold(Nanos::ZERO, |sum, s| sum + s.duration + START_AND_END);
    let mut results = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let mut done = 0;
        let left = |done: usize| {
            let rest = (candidates.len() - index) as u64;
            Nanos(each.0 * rest).saturating_sub(Nanos(each.0 * done as u64 / scenarios.len().max(1) as u64))
        };
        results.push(foreign::through(candidate, &scenarios, directory, |scenario| {
            let number = index * scenarios.len() + done + 1;
            process::announce(number, total, &format!("{}: {}", candidate.name(), scenario.name), left(done));
            done += 1;
        })?);
    }
    Ok(results)
}

/// Writes the page, the document and the figures.
fn write(proof: &Proof, directory: &Path) -> anyhow::Result<()> {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    };
    write("proof.html", &report::prove::html(proof))?;
    write("proof.json", &format!("{:#}\n", report::prove::json(proof)))?;
    for (name, svg) in report::prove::figures(proof) {
        write(&format!("{name}.svg"), &svg)?;
    }
    Ok(())
}
