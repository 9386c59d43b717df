//! The session: servers up, contenders in turn, a server stopped in the middle of some loads.

use super::contender::{Programs, Task, Tool, write_scripts};
use super::effort::{Effort, Kind, STALL_S, Step, left_s};
use super::results::{Figure, Results};
use super::server::{Server, System};
use super::told::Told;
use crate::bench::builds::{Builds, Scratch};
use crate::bench::child::{self, Cost};
use crate::bench::glances;
use crate::stopwatch::{Stopwatch, spoken};
use anyhow::{Context, anyhow};
use std::path::Path;
use std::process::Command;
use units::Nanos;

/// Seconds at the end of a load that are not its steady part.
const END_S: f64 = 0.5;

/// Servers that run, and where contenders work.
struct Ground<'a> {
    effort: &'a Effort,
    programs: Programs<'a>,
    servers: Vec<(System, Server)>,
    scratch: Scratch,
}

/// Runs all rounds. What a contender fails at is noted, and the others go on.
pub(crate) fn run(effort: &Effort, builds: &Builds) -> anyhow::Result<Results> {
    let ycsb = testkit::ycsb::class_path().context("YCSB is asked for: unset TRUETAIL_SKIP_JAVA")?;
    let scratch = builds.scratch()?;
    write_scripts(scratch.path()).with_context(|| format!("{}", scratch.path().display()))?;
    let mut servers = Vec::new();
    for system in System::ALL {
        eprintln!("{}: starting and filling", system.name());
        servers.push((system, Server::start(system, builds, scratch.path())?));
    }
    let ground = Ground { effort, programs: Programs { builds, ycsb }, servers, scratch };
    let steps = effort.steps();
    let mut results = Results::default();
    let stopwatch = Stopwatch::start()?;
    for (done, step) in steps.iter().enumerate() {
        let left = left_s(effort, &steps, done, stopwatch.seconds());
        eprintln!(
            "[{}/{}] round {}, {}, {}: {}; {} left",
            done + 1,
            steps.len(),
            step.round + 1,
            step.system.name(),
            step.kind.name(),
            step.tool.name(),
            spoken(left)
        );
        if let Err(error) = ground.step(step, &mut results) {
            let words = format!(
                "{} on {}, {}, round {}: {error:#}",
                step.tool.name(),
                step.system.name(),
                step.kind.name(),
                step.round + 1
            );
            eprintln!("failed: {words}");
            results.failures.push(words);
        }
    }
    Ok(results)
}

impl Ground<'_> {
    fn step(&self, step: &Step, results: &mut Results) -> anyhow::Result<()> {
        let (_, server) =
            self.servers.iter().find(|(system, _)| *system == step.system).context("its server runs")?;
        let place = self.scratch.free("load");
        std::fs::create_dir_all(&place).with_context(|| format!("{}", place.display()))?;
        let task = Task {
            system: step.system,
            tool: step.tool,
            kind: step.kind,
            effort: self.effort,
            requests: self.requests(step, results),
            place: &place,
        };
        let mut command = task.command(server, &self.programs);
        command.current_dir(self.scratch.path());
        let whose = (step.system, step.kind, step.tool);
        results.commands.entry(whose).or_insert_with(|| self.shown(&command));
        let mut load = || child::run_watching(&mut command, step.tool.accepted(), Some(step.tool.threads()));
        let cost = if step.kind == Kind::Stalled {
            let (cost, stall) = stalled(server, self.effort, load)?;
            results.stalls.push(stall);
            cost
        } else {
            load()?
        };
        let export = match (step.tool, step.kind) {
            (Tool::Truetail, Kind::Stalled) => Some(self.export(&task.recording())?),
            _ => None,
        };
        let told = Told::of(&task, &cost, export.as_deref())?;
        let steady = glances::steady(&cost.glances, (step.tool.warms_up_s(), END_S));
        results.take(step, &told, steady.map(|steady| steady.process));
        Ok(())
    }

    /// How many requests a tool makes that takes no time: by the rate that it reached before.
    fn requests(&self, step: &Step, results: &Results) -> u64 {
        let seconds = self.effort.seconds(step.tool, step.kind);
        let before = results.median((step.system, Kind::Closed, step.tool), "", Figure::Rate);
        let working = if step.kind == Kind::Stalled { seconds - STALL_S } else { seconds };
        (before.unwrap_or(FIRST_GUESS) * f64::from(working)) as u64
    }

    /// The table of a recording's requests.
    fn export(&self, recording: &Path) -> anyhow::Result<String> {
        let mut command = self.programs.builds.truetail(&["export", "--format", "csv"]);
        Ok(child::run(command.arg(recording), &[0])?.stdout)
    }

    /// A command as one would type it, without this machine's paths.
    fn shown(&self, command: &Command) -> String {
        let place = self.scratch.path().join("load").display().to_string();
        let program = Path::new(command.get_program()).file_name().unwrap_or_default();
        let words = command.get_args().map(|word| word.to_string_lossy().replace(&place, "DIR"));
        let words = words.map(|word| {
            let word = word.replace(&self.programs.ycsb, "CLASSPATH");
            if word.contains([' ', '\'']) { format!("'{word}'") } else { word }
        });
        let ports = self.servers.iter().map(|(_, server)| server.port().to_string());
        let line = std::iter::once(program.to_string_lossy().into_owned()).chain(words);
        let line = line.collect::<Vec<_>>().join(" ");
        ports.fold(line, |line, port| line.replace(&port, "PORT"))
    }
}

/// Requests per second of a tool that takes no time, before any is known.
const FIRST_GUESS: f64 = 40_000.0;

/// A load whose server stands still in the middle, and for how long it did, s.
fn stalled(
    server: &Server,
    effort: &Effort,
    load: impl FnOnce() -> anyhow::Result<Cost>,
) -> anyhow::Result<(Cost, f64)> {
    std::thread::scope(|scope| {
        let stall = scope.spawn(|| stand_still(server, effort.stall_after_s()));
        let cost = load();
        let stall = stall.join().map_err(|_| anyhow!("the thread that stops the server panicked"))?;
        Ok((cost?, stall?))
    })
}

fn stand_still(server: &Server, after_s: u32) -> anyhow::Result<f64> {
    clock::pause(Nanos::from_secs(after_s.into()));
    let stopwatch = Stopwatch::start()?;
    server.freeze()?;
    clock::pause(Nanos::from_secs(STALL_S.into()));
    // However late we are: it must go on.
    server.thaw()?;
    Ok(stopwatch.seconds())
}
