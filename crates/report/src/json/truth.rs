//! A store's truth laid over a run.

use super::{number, staleness};
use crate::truth::name;
use analysis::Overlay;
use analysis::overlay::{OverlayDifference, OverlayJoin, OverlayMeasure, OverlayStatistic, OverlayStore};
use record::Measure;
use serde_json::{Value, json};
use stats::{Recovery, Settled};
use units::Nanos;

/// The field `truth`; null where no log was given.
pub(super) fn truth(overlay: Option<&Overlay>) -> Value {
    let Some(overlay) = overlay else { return Value::Null };
    let measure = |wanted| overlay.measures.iter().find(|m| m.measure == wanted).map(measure);
    let (requests, rows) = (&overlay.requests, &overlay.rows);
    json!({
        "store": store(&overlay.store),
        "tolerance": overlay.tolerance.0,
        "requests": {
            "sent": requests.sent,
            "never_sent": requests.never_sent,
            "matched": requests.matched,
            "unmatched": requests.unmatched,
            "given_up": requests.given_up,
            "unanswered": requests.unanswered,
            "warm_up": requests.warm_up,
            "compared": requests.compared,
        },
        "rows": {
            "logged": rows.logged,
            "in_time": rows.in_time,
            "matched": rows.matched,
            "ambiguous": rows.ambiguous,
            "outside": rows.outside,
        },
        "response_time": measure(Measure::Response),
        "service_time": measure(Measure::Service),
        "difference": overlay.difference.iter().map(|(s, ns)| statistic(*s, *ns)).collect::<Vec<_>>(),
        "lateness": durations(&overlay.lateness),
        "rules": overlay.rules.iter().map(|(name, n)| json!({"name": name, "matched": n})).collect::<Vec<_>>(),
        "staleness": overlay.staleness.as_ref().map(|staleness| json!({
            "reads": staleness.reads,
            "stale": staleness.stale,
            "versions_max": staleness.versions_max,
            "time": durations(&staleness.time),
        })),
        "lag": staleness::graded(overlay.lag.as_ref()),
        "join": overlay.join.as_ref().map(join),
        "largest": overlay.largest.iter().map(difference).collect::<Vec<_>>(),
    })
}

fn store(store: &OverlayStore) -> Value {
    let settings: Vec<Value> =
        store.settings.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let unreadable: Vec<Value> =
        store.unreadable.iter().map(|(file, why)| json!({"file": file, "why": why})).collect();
    json!({
        "name": store.name,
        "command": store.command,
        "tool_version": store.tool_version,
        "settings": settings,
        "complete": store.complete,
        "lost": store.lost,
        "unreadable": unreadable,
    })
}

fn measure(measure: &OverlayMeasure) -> Value {
    let values = measure.values.iter().map(|value| {
        json!({
            "statistic": name(value.statistic),
            "truth": number(value.truth),
            "measured": number(value.measured),
            "error": number(value.error()),
            "relative_error": value.relative_error().and_then(number),
        })
    });
    json!({"compared": measure.n, "values": values.collect::<Vec<_>>()})
}

fn statistic(statistic: OverlayStatistic, value: f64) -> Value {
    json!({"statistic": name(statistic), "value": number(value)})
}

pub(super) fn durations(list: &[(OverlayStatistic, Nanos)]) -> Vec<Value> {
    list.iter().map(|(s, duration)| statistic(*s, duration.0 as f64)).collect()
}

fn difference(one: &OverlayDifference) -> Value {
    json!({
        "at": one.at.0,
        "seq": one.seq,
        "client": one.client,
        "session": one.session,
        "operation": one.operation,
        "outcome": one.outcome.name(),
        "truth": one.truth.0,
        "measured": one.measured.0,
        "rules": one.rules,
    })
}

fn join(join: &OverlayJoin) -> Value {
    json!({
        "begin": join.begin.0,
        "streaming": join.streaming.0,
        "detail": join.detail,
        "measure": join.measure.key(),
        "truth": recovery(&join.truth),
        "measured": recovery(&join.measured),
    })
}

/// When it was stable; the form that a proof's elasticity has, too.
pub(super) fn recovery(recovery: &Recovery) -> Value {
    let (settled, after) = match recovery.settled {
        Settled::After(after) => ("reached", Some(after.0)),
        Settled::NotReached => ("not_reached", None),
        Settled::TooShort => ("too_short", None),
    };
    let windows = recovery.windows.iter().map(|w| json!({"begin": w.begin.0, "p95": w.value}));
    json!({
        "settled": settled,
        "stable_after": after,
        "final_p95": recovery.level,
        "worst_p95": recovery.worst,
        "windows": windows.collect::<Vec<_>>(),
    })
}
