//! `truetail gaps`: what a thread that never sleeps sees of each CPU.

use crate::{Ended, output};
use anyhow::{anyhow, ensure};
use clap::Args;
use clock::{ClockChoice, LiveClock};
use noise::gaps::{Counted, Gaps};
use report::gaps::{CpuGaps, FROM, GapFigures};
use units::Nanos;

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct GapsArguments {
    /// CPUs to look at, such as `0,2-3` [default: all that this process may use]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,

    /// How long each CPU alone is looked at, and then all of them [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
}

const TIME: Nanos = Nanos::from_secs(2);
/// Less says nothing: interrupts come each few milliseconds.
const SHORTEST: Nanos = Nanos::from_millis(10);

/// Each CPU alone, then all at once.
pub(crate) fn run(arguments: &GapsArguments, json: bool) -> anyhow::Result<Ended> {
    let cpus = match &arguments.cpus {
        Some(list) => load::parse_cpu_list(list).map_err(|reason| anyhow!("--cpus: {reason}"))?,
        None => load::available_cpus(),
    };
    let time = match &arguments.time {
        Some(text) => units::parse_duration(text).map_err(|error| anyhow!("--time {text}: {error}"))?,
        None => TIME,
    };
    ensure!(
        time >= SHORTEST,
        "--time {time}: too short to see anything; at least {SHORTEST}, such as {TIME}"
    );
    let clock = clock::calibrate(ClockChoice::Auto)?.start();
    let mut seen = Vec::new();
    for cpu in &cpus {
        seen.extend(watch(&[*cpu], time, clock, false)?);
    }
    if cpus.len() > 1 {
        seen.extend(watch(&cpus, time, clock, true)?);
    }
    if json {
        output::json(&report::gaps::json(&seen))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        output::result(&report::gaps::text(&seen, &options))?;
    }
    Ok(Ended::Well)
}

fn watch(cpus: &[usize], time: Nanos, clock: LiveClock, together: bool) -> anyhow::Result<Vec<CpuGaps>> {
    let seen = noise::gaps::watch(cpus, time, &FROM, clock).map_err(|why| anyhow!("{why}"))?;
    Ok(seen.iter().map(|gaps| of(gaps, together)).collect())
}

fn of(seen: &Gaps, together: bool) -> CpuGaps {
    CpuGaps {
        cpu: seen.cpu,
        together,
        watched: seen.watched,
        counted: seen.counted.iter().map(|counted| figures(seen, counted)).collect(),
        longest: seen.longest,
    }
}

fn figures(seen: &Gaps, counted: &Counted) -> GapFigures {
    GapFigures { from: counted.from, per_second: seen.per_second(counted), lost: seen.lost(counted) }
}
