//! Up to which quantile the number is the database's.

use crate::host::HostEvidence;
use crate::limits::{HARNESS_SHARE, STALL_REACH, STALL_SHARE};
use crate::{Anatomy, AnatomyRow, Extreme, MeasureSummary};
use record::Provenance;
use units::Quantile;

const HARNESS: &str = "above it the harness's own delay (lag and pick-up) is more than 5 % of the number";
const HOST: &str = "above it the host's own stalls decide";
const UNWATCHED: &str = "no source saw the host's stalls";
const NO_PICK_UP: &str = "pick-up was not measured";
const PARTLY_PICKED_UP: &str = "pick-up was not measured for all requests";

/// The highest printed quantile such that it and all below are the database's; what decides above, and what
/// nothing watched: that nothing was seen there proves nothing.
pub(crate) fn bound(
    whole: &MeasureSummary,
    anatomy: &Anatomy,
    host: &HostEvidence,
    largest: Option<&Extreme>,
    provenance: &Provenance,
) -> (Option<Quantile>, String) {
    let (reached, decider) = reach(whole, anatomy, host, largest);
    let mut words: Vec<&str> = decider.into_iter().collect();
    // A simulation has neither a host nor a wire.
    if *provenance != Provenance::Simulated {
        words.extend((!host.stalls_watched).then_some(UNWATCHED));
        words.extend(pick_up_gap(anatomy));
    }
    (reached, words.join("; "))
}

fn pick_up_gap(anatomy: &Anatomy) -> Option<&'static str> {
    let missing = anatomy.rows.iter().filter(|r| r.pick_up_ns.is_none()).count();
    match missing {
        0 => None,
        n if n == anatomy.rows.len() => Some(NO_PICK_UP),
        _ => Some(PARTLY_PICKED_UP),
    }
}

/// How far no evidence speaks against the database, and what does from there on.
fn reach(
    whole: &MeasureSummary,
    anatomy: &Anatomy,
    host: &HostEvidence,
    largest: Option<&Extreme>,
) -> (Option<Quantile>, Option<&'static str>) {
    let mut reached = None;
    for (quantile, estimate) in &whole.quantiles {
        let row = anatomy.rows.iter().find(|r| r.quantile == *quantile);
        let decider = decider(estimate.low(), 1.0 - quantile.get(), row, host);
        if decider.is_some() {
            return (reached, decider);
        }
        reached = Some(*quantile);
    }
    let max = Quantile::new(1.0);
    let row = anatomy.rows.iter().find(|r| Some(r.quantile) == max);
    let value = whole.max.0 as f64;
    if row.is_some_and(|r| harness_share(r, value) > HARNESS_SHARE) {
        return (reached, Some(HARNESS));
    }
    if largest.is_some_and(|e| host.hits(e.at.0, e.at.0.saturating_add(e.value.0), value * STALL_SHARE)) {
        return (reached, Some(HOST));
    }
    (max, None)
}

/// lag + pick-up over a quantile's value; only lag where pick-up was not measured.
pub(crate) fn harness_share(row: &AnatomyRow, value: f64) -> f64 {
    let harness = row.lag_ns + row.pick_up_ns.unwrap_or(0.0);
    if value > 0.0 { harness / value } else { f64::from(u8::from(harness > 0.0)) }
}

/// What decides a quantile other than the database; `value` is the lower limit of its interval.
fn decider(value: f64, beyond: f64, row: Option<&AnatomyRow>, host: &HostEvidence) -> Option<&'static str> {
    if row.is_some_and(|r| harness_share(r, value) > HARNESS_SHARE) {
        return Some(HARNESS);
    }
    (host.hit_share(value * STALL_SHARE) > STALL_REACH * beyond).then_some(HOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Stall;

    #[test]
    fn stalls_decide_the_quantiles_that_they_can_reach() {
        // A stall of 50 ms in each of 100 s: 5 % of the requests can be hit, those of 1 ms and more.
        let stall =
            |i: u64| Stall { begin: i * 1_000_000_000, end: i * 1_000_000_000 + 100_000_000, length: 5e7 };
        let host = HostEvidence {
            stalls: (0..100).map(stall).collect(),
            stalls_watched: true,
            measured_ns: 1e11,
            ..HostEvidence::default()
        };
        assert!((host.hit_share(0.0) - 0.05).abs() < 1e-12);
        assert_eq!(decider(1e6, 0.5, None, &host), None);
        assert_eq!(decider(1e6, 0.01, None, &host), Some(HOST));
        // A quantile of 2 s is not moved by 50 ms.
        assert_eq!(decider(2e9, 0.01, None, &host), None);
        assert!(host.hits(50_000_000, 60_000_000, 4e7) && !host.hits(200_000_000, 300_000_000, 4e7));
    }
}
