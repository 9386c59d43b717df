//! Up to which quantile the number is the database's.

use crate::host::HostEvidence;
use crate::limits::{HARNESS_SHARE, STALL_REACH, STALL_SHARE};
use crate::{Anatomy, AnatomyRow, Extreme, MeasureSummary};
use record::Provenance;
use units::{Bound, Estimate, Quantile, format_count, format_counted};

const HARNESS: &str = "above it the harness's own delay (lag and pick-up) is more than 5 % of the number";
const HOST: &str = "above it the host's own stalls decide";
const UNWATCHED: &str = "no source saw the host's stalls";
const UNSEEN: &str = "hiccup threads did not watch all the time";
const NO_PICK_UP: &str = "pick-up was not measured";
const LEAST_PICK_UP: &str = "pick-up is a lower bound";
const CENSORED: &str = "above it only lower bounds are known";
const NO_INTERVAL: &str = "above it the requests are too much alike in time for an interval";

/// The highest printed quantile such that it and all below are the database's; what decides above, and what
/// nothing watched: that nothing was seen there proves nothing.
pub(crate) fn bound(
    whole: &MeasureSummary,
    anatomy: &Anatomy,
    host: &HostEvidence,
    largest: Option<&Extreme>,
    provenance: &Provenance,
    pick_up: Option<&MeasureSummary>,
) -> (Option<Quantile>, String) {
    let (reached, decider) = reach(whole, anatomy, host, largest);
    let mut words: Vec<String> = decider.into_iter().collect();
    // A simulation has neither a host nor a wire.
    if *provenance != Provenance::Simulated {
        words.extend((!host.stalls_watched).then(|| UNWATCHED.to_owned()));
        words.extend((host.stalls_watched && !host.unseen.is_empty()).then(|| UNSEEN.to_owned()));
        words.extend(pick_up_gap(whole, pick_up));
    }
    (reached, words.join("; "))
}

/// What is not known of the pick-up.
fn pick_up_gap(whole: &MeasureSummary, pick_up: Option<&MeasureSummary>) -> Option<String> {
    let Some(pick_up) = pick_up else { return Some(NO_PICK_UP.to_owned()) };
    if pick_up.n < whole.n {
        let (some, all) = (format_count(pick_up.n), format_count(whole.n));
        return Some(format!("pick-up was measured for {some} of {all} requests"));
    }
    (pick_up.censored > 0).then(|| LEAST_PICK_UP.to_owned())
}

/// How far no evidence speaks against the database, and what does from there on.
fn reach(
    whole: &MeasureSummary,
    anatomy: &Anatomy,
    host: &HostEvidence,
    largest: Option<&Extreme>,
) -> (Option<Quantile>, Option<String>) {
    let mut reached = None;
    for (quantile, estimate) in &whole.quantiles {
        let row = anatomy.rows.iter().find(|r| r.quantile == *quantile);
        let decider = uncarried(estimate).or_else(|| {
            let value = estimate.low();
            decider(value, 1.0 - quantile.get(), row, host)
        });
        if decider.is_some() {
            return (reached, decider.map(str::to_owned));
        }
        reached = Some(*quantile);
    }
    if let Some(first) = whole.withheld.first() {
        let (n, needed) = (format_counted(whole.n, "request is", "requests are"), first.samples_needed());
        return (reached, Some(format!("{n} too few for {first}, which needs {}", format_count(needed))));
    }
    let max = Quantile::new(1.0);
    let row = anatomy.rows.iter().find(|r| Some(r.quantile) == max);
    let value = whole.max.0 as f64;
    if row.is_some_and(|r| harness_share(r, value) > HARNESS_SHARE) {
        return (reached, Some(HARNESS.to_owned()));
    }
    if largest.is_some_and(|e| host.hits(e.at.0, e.at.0.saturating_add(e.value.0), value * STALL_SHARE)) {
        return (reached, Some(HOST.to_owned()));
    }
    (max, None)
}

/// Why the samples do not carry this quantile, if so: a point without an interval is of one run alone.
fn uncarried(estimate: &Estimate) -> Option<&'static str> {
    match (estimate.interval, estimate.bound) {
        (_, Bound::AtLeast) => Some(CENSORED),
        (None, Bound::Exact) => Some(NO_INTERVAL),
        (Some(_), Bound::Exact) => None,
    }
}

/// lag + pick-up over a quantile's value; only lag where pick-up was not measured.
pub(crate) fn harness_share(row: &AnatomyRow, value: f64) -> f64 {
    let harness = row.harness_ns();
    if value > 0.0 { harness / value } else { f64::from(u8::from(harness > 0.0)) }
}

/// What decides a quantile other than the database; `value` is the lower limit of its interval.
fn decider(value: f64, beyond: f64, row: Option<&AnatomyRow>, host: &HostEvidence) -> Option<&'static str> {
    if row.is_some_and(|r| harness_share(r, value) > HARNESS_SHARE) {
        return Some(HARNESS);
    }
    (host.hit_share(value * STALL_SHARE, value) > STALL_REACH * beyond).then_some(HOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stalls::Stall;

    #[test]
    fn stalls_decide_the_quantiles_that_they_can_reach() {
        // A stall of 50 ms in each of 100 s: 5 % of the requests can be hit, those of 1 ms and more.
        let stall = |i: u64| {
            let begin = i * 1_000_000_000;
            Stall::new(0, begin, begin + 100_000_000, 5e7)
        };
        let host = HostEvidence {
            stalls: (0..100).map(stall).collect(),
            stalls_watched: true,
            measured_ns: 1e11,
            ..HostEvidence::default()
        };
        assert!((host.hit_share(0.0, 0.0) - 0.05).abs() < 1e-12);
        assert_eq!(decider(1e6, 0.5, None, &host), None);
        assert_eq!(decider(1e6, 0.01, None, &host), Some(HOST));
        // A quantile of 2 s is not moved by 50 ms.
        assert_eq!(decider(2e9, 0.01, None, &host), None);
        assert!(host.hits(50_000_000, 60_000_000, 4e7) && !host.hits(200_000_000, 300_000_000, 4e7));
    }
}
