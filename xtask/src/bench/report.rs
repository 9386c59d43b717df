//! A large recording, shown: the whole process, from start to exit.

use super::Effort;
use super::builds::Builds;
use super::child;
use super::figures::Figures;

/// The verdict of a made-up recording does not matter here.
const ENDS: [i32; 2] = [0, 3];

/// Seconds and MiB that a report may take.
const WALL: f64 = 15.0;
const MEMORY: f64 = 1024.0;

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let scratch = builds.scratch()?;
    let recording = scratch.free("synthetic");
    let samples = effort.samples;
    let made =
        child::run(builds.example("record", "synthetic")?.arg(&recording).arg(samples.to_string()), &[0])?;
    figures.add("write the recording, merging included", "s", made.wall_s);
    let name = format!("report on {} million samples", samples / 1_000_000);
    for _ in 0..effort.rounds {
        let mut command = builds.truetail(&["report", "--json"]);
        let cost = child::run(command.arg(&recording), &ENDS)?;
        figures.add(&format!("{name}, wall"), "s", cost.wall_s);
        figures.add(&format!("{name}, CPU"), "s", cost.cpu_s());
        figures.add(&format!("{name}, peak memory"), "MiB", cost.peak_mib);
    }
    // The limits are for 10⁸ samples; time goes with the number, memory must not.
    figures.at_most(&format!("{name}, wall"), WALL * samples as f64 / 1e8);
    figures.at_most(&format!("{name}, peak memory"), MEMORY);
    Ok(())
}
