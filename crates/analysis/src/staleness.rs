//! How long writes took to be read, as probes beside the load saw it.
//!
//! A probe bounds the lag of one write from below and from above (`workload::staleness` derives how). Both bounds are
//! summarised as they are: the quantile of a lag lies between the same quantiles of the two bounds, since each probe's lag
//! lies between its own. A write that was never seen has a lower bound alone; among the upper ones it is censored at the
//! time until which it was looked for.

use crate::input::{Input, Options, Plan, measured_span};
use crate::stated::facts::{LAG_AT_LEAST, LAG_AT_MOST, PROBE_OF, PROBES_FAILED};
use record::{NoiseObservation, NoiseSourceFacts, RunHeader};
use stats::Distribution;
use std::collections::HashMap;
use units::{Estimate, Instant, Nanos, Quantile};

/// Quantiles of the bounds.
const SHOWN: [f64; 3] = [0.5, 0.95, 0.99];

/// The read-after-write lag of the measured time.
#[derive(Clone, PartialEq, Debug)]
pub struct Staleness {
    /// Probes that were acknowledged in the measured time.
    pub probes: u64,
    /// Of those, probes of which a read was stale.
    pub stale: u64,
    /// Of those, probes whose write was not seen before they were given up, or the run was over: their lag is known
    /// from below alone.
    pub unseen: u64,
    /// Probes that learnt nothing, since their write or a read failed; they are not among `probes`.
    pub failed: u64,
    /// The least that the lag can be; `None` without a probe.
    pub at_least: Option<LagBound>,
    /// The most that it can be; `None` without a probe.
    pub at_most: Option<LagBound>,
}

/// One bound of the lag, over all probes; nanoseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct LagBound {
    /// p50, p95, p99, as far as the probes carry them.
    pub quantiles: Vec<(Quantile, Estimate)>,
    /// Those that they do not carry.
    pub withheld: Vec<Quantile>,
    /// The largest; a lower bound itself where a write was never seen.
    pub max: Estimate,
}

/// One probe, on its recording's axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SeenProbe {
    /// When its write was acknowledged.
    pub(crate) acknowledged: Instant,
    /// When its last read was completed.
    pub(crate) ended: Instant,
    /// The lag is no shorter.
    pub(crate) at_least: Nanos,
    /// The lag is no longer; `None` where the write was not seen.
    pub(crate) at_most: Option<Nanos>,
}

/// Whether a noise source is one of a probe, and watches no host.
pub(crate) fn is_of_probes(source: &NoiseSourceFacts) -> bool {
    [LAG_AT_LEAST, LAG_AT_MOST, PROBES_FAILED].contains(&source.name.as_str())
}

/// The key of the record that a run's probes used; `None` where it had none.
pub(crate) fn probed_record(header: &RunHeader) -> Option<&str> {
    header.capabilities.iter().find_map(|(name, _)| name.strip_prefix(PROBE_OF))
}

fn of_source<'a>(
    name: &str,
    sources: &[NoiseSourceFacts],
    noise: &'a [NoiseObservation],
) -> impl Iterator<Item = &'a NoiseObservation> + use<'a> {
    let number = sources.iter().position(|source| source.name == name);
    let usable = |one: &&NoiseObservation| one.value.is_finite() && one.begin.is_some() && one.end.is_some();
    noise.iter().filter(move |one| Some(usize::from(one.source)) == number).filter(usable)
}

/// All probes of a recording, in order. Those that failed are not among them.
pub(crate) fn probes(sources: &[NoiseSourceFacts], noise: &[NoiseObservation]) -> Vec<SeenProbe> {
    let nanos = |value: f64| Nanos(value.max(0.0) as u64);
    // Both bounds of one probe have the same window, and no two probes of a run are under way at a time.
    let most: HashMap<Instant, Nanos> =
        of_source(LAG_AT_MOST, sources, noise).map(|one| (one.begin, nanos(one.value))).collect();
    let mut all: Vec<SeenProbe> = of_source(LAG_AT_LEAST, sources, noise)
        .map(|one| SeenProbe {
            acknowledged: one.begin,
            ended: one.end,
            at_least: nanos(one.value),
            at_most: most.get(&one.begin).copied(),
        })
        .collect();
    all.sort_by_key(|probe| probe.acknowledged);
    all
}

/// What the probes of all recordings say; `None` where none probed.
pub(crate) fn staleness(inputs: &[Input], plan: &Plan, options: &Options) -> Option<Staleness> {
    if !inputs.iter().any(|input| input.noise_sources.iter().any(is_of_probes)) {
        return None;
    }
    let origin = Instant::EPOCH;
    let (mut least, mut most) = (Distribution::new(origin), Distribution::new(origin));
    let (mut stale, mut unseen, mut failed) = (0, 0, 0);
    for (index, input) in inputs.iter().enumerate() {
        let (begin, end) = measured_span(input);
        let measured = |at: Instant| (begin..end).contains(&at);
        let failures = of_source(PROBES_FAILED, &input.noise_sources, &input.noise);
        failed += failures.filter(|one| measured(one.begin)).count() as u64;
        let all = probes(&input.noise_sources, &input.noise);
        for probe in all.into_iter().filter(|probe| measured(probe.acknowledged)) {
            let at = plan.on_axis(index, probe.acknowledged);
            stale += u64::from(probe.at_least > Nanos::ZERO);
            least.record(at, probe.at_least);
            match probe.at_most {
                Some(lag) => most.record(at, lag),
                None => {
                    unseen += 1;
                    most.record_censored(at, probe.ended - probe.acknowledged);
                }
            }
        }
    }
    Some(Staleness {
        probes: least.count(),
        stale,
        unseen,
        failed,
        at_least: bound(&least, options),
        at_most: bound(&most, options),
    })
}

fn bound(distribution: &Distribution, options: &Options) -> Option<LagBound> {
    let view = distribution.view();
    let max = Estimate { level: options.level, method: crate::summary::OBSERVED_ONCE, ..view.maximum()? };
    let (mut quantiles, mut withheld) = (Vec::new(), Vec::new());
    for quantile in SHOWN.into_iter().filter_map(Quantile::new) {
        match view.quantile(quantile, options.level) {
            Some(estimate) => quantiles.push((quantile, estimate)),
            None => withheld.push(quantile),
        }
    }
    Some(LagBound { quantiles, withheld, max })
}
