//! The read-after-write lag, as probes saw it.

use super::estimate;
use super::truth::durations;
use analysis::overlay::OverlayLag;
use analysis::{LagBound, Staleness};
use serde_json::{Map, Value, json};

/// The field `staleness`; null where none probed.
pub(super) fn staleness(staleness: Option<&Staleness>) -> Value {
    let Some(staleness) = staleness else { return Value::Null };
    json!({
        "probes": staleness.probes,
        "stale": staleness.stale,
        "unseen": staleness.unseen,
        "failed": staleness.failed,
        "at_least": staleness.at_least.as_ref().map(bound),
        "at_most": staleness.at_most.as_ref().map(bound),
    })
}

fn bound(bound: &LagBound) -> Value {
    let carried = bound.quantiles.iter().map(|(q, e)| (q.name(), estimate(e)));
    let withheld = bound.withheld.iter().map(|q| (q.name(), Value::Null));
    let quantiles: Map<String, Value> = carried.chain(withheld).collect();
    json!({"quantiles": quantiles, "max": estimate(&bound.max)})
}

/// The field `truth.lag`; null where the run had no probes.
pub(super) fn graded(lag: Option<&OverlayLag>) -> Value {
    let Some(lag) = lag else { return Value::Null };
    json!({
        "probes": lag.probes,
        "graded": lag.graded,
        "exact": lag.exact,
        "contained": lag.contained,
        "width_mean": lag.width_mean,
        "true": durations(&lag.truth),
        "at_least": durations(&lag.at_least),
        "at_most": durations(&lag.at_most),
    })
}
