//! JSON documents with versioned schemas; `docs/json.md` describes them.
//!
//! Times are nanoseconds, rates per second. What is not known is null, never zero.

mod attribution;
mod business;
mod elasticity;
mod floor;
mod jvm;
mod predictability;
mod prove;
mod server_log;
mod staleness;
mod stated;
mod statements;
mod tell_tale;
mod truth;

pub use attribution::attribution_document;
pub use elasticity::elasticity;
pub use floor::floor_document;
pub use predictability::predictability;
pub use prove::proof;
pub use stated::stated_comparison;
pub use tell_tale::tell_tale;

use analysis::{
    Analysis, ComparedRow, Comparison, Counts, MeasureSummary, RepeatedMeasure, RepeatedRow, Scope,
    ScopeSummary,
};
use record::{Measure, Provenance};
use serde_json::{Map, Value, json};
use units::{Bound, Estimate, OutcomeClass};

/// The document of `truetail run`, `report` and `export --format json`: schema `truetail.run/1`.
pub fn document(analysis: &Analysis) -> Value {
    json!({
        "schema": "truetail.run/1",
        "verdict": verdict(analysis),
        "load": load(analysis),
        "samples": analysis.total.counts.total,
        "outcomes": outcomes(&analysis.total.counts),
        "measures": measures(&analysis.total),
        "operations": scopes(analysis, |s| matches!(s, Scope::Operation(_))),
        "phases": scopes(analysis, |s| matches!(s, Scope::Phase(_))),
        "clients": scopes(analysis, |s| matches!(s, Scope::Client(_))),
        "recordings": analysis.recordings.iter().map(recording).collect::<Vec<_>>(),
        "stated": stated::stated(&analysis.stated),
        "jvm_logs": jvm::logs(&analysis.jvm_logs),
        "server_logs": server_log::logs(&analysis.server_logs),
        "attribution": attribution::attribution(analysis.attribution.as_ref()),
        "observers": {
            "sources": analysis.observers.sources,
            "unavailable": analysis.observers.unavailable,
            "core_share": analysis.observers.core_share.and_then(number),
            "off": analysis.observers.off,
        },
        "business": business::business(analysis.business.as_ref()),
        "statements": statements::statements(analysis.statements.as_ref()),
        "staleness": staleness::staleness(analysis.staleness.as_ref()),
        "truth": truth::truth(analysis.overlay.as_ref()),
        "floor": floor::run_floor(analysis.floor.as_ref()),
    })
}

/// Of a tool's statements alone, rates are not known: what it says of them itself is among the facts of the workload.
fn load(analysis: &Analysis) -> Value {
    let is_known = !analysis.is_stated_alone();
    let of_requests = |rate: units::PerSecond| is_known.then_some(rate.get());
    let measured = analysis.measured.1 - analysis.measured.0;
    json!({
        "model": analysis.recordings.first().map(|r| r.header.load.model.name()),
        "arrivals": analysis.recordings.first().map(|r| r.header.load.arrivals.clone()),
        "offered_per_second": analysis.offered.and_then(of_requests),
        "achieved_per_second": of_requests(analysis.achieved),
        "goodput_per_second": of_requests(analysis.goodput),
        // Intervals that a tool states span a time; a summary tells none.
        "measured_seconds": (is_known || measured.0 > 0).then(|| measured.as_secs_f64()),
    })
}

fn verdict(analysis: &Analysis) -> Value {
    let verdict = &analysis.verdict;
    let reasons: Vec<Value> = verdict
        .reasons
        .iter()
        .map(|r| {
            let severity = format!("{:?}", r.severity).to_lowercase();
            json!({"severity": severity, "kind": r.kind.name(), "text": r.text, "hint": r.hint})
        })
        .collect();
    json!({
        "state": verdict.state.name(),
        "reasons": reasons,
        "believable_to": verdict.believable_to.map(|q| q.name()),
        "bound_reason": verdict.bound_reason,
    })
}

fn outcomes(counts: &Counts) -> Value {
    let mut classes = Map::new();
    for class in OutcomeClass::ALL {
        let n: u64 = counts.outcomes.iter().filter(|(o, _)| o.class() == class).map(|(_, n)| n).sum();
        classes.insert(class.name().to_owned(), json!(n));
    }
    let detail: Map<String, Value> =
        counts.outcomes.iter().map(|(o, n)| (o.name().to_owned(), json!(n))).collect();
    json!({"by_class": classes, "by_outcome": detail, "retries": counts.retries,
           "retried": counts.retried, "gave_up": counts.gave_up})
}

/// All five measures; one that does not exist here is null.
fn measures(scope: &ScopeSummary) -> Value {
    let mut all = Map::new();
    for measure in Measure::ALL {
        let found = scope.measures.iter().find(|m| m.measure == measure);
        all.insert(measure.key().to_owned(), found.map_or(Value::Null, summary));
    }
    Value::Object(all)
}

fn summary(m: &MeasureSummary) -> Value {
    let mut quantiles = Map::new();
    for (q, e) in &m.quantiles {
        quantiles.insert(q.name(), estimate(e));
    }
    for q in &m.withheld {
        quantiles.insert(q.name(), Value::Null);
    }
    json!({
        "samples": m.n,
        "censored": m.censored,
        "min": m.min.0,
        "max": m.max.0,
        "quantiles": quantiles,
        "mean": estimate(&m.mean),
        "standard_deviation": estimate(&m.sd),
        "variance": estimate(&m.variance),
        "coefficient_of_variation": m.spreads.coefficient_of_variation.as_ref().map(estimate),
        "p99_over_mean": m.spreads.p99_over_mean.as_ref().map(estimate),
        "max_over_median": m.spreads.max_over_median.as_ref().map(estimate),
        "median_over_min": m.spreads.median_over_min.as_ref().map(estimate),
        "above": m.above.iter().map(|(limit, n)| json!({"limit": limit.0, "count": n})).collect::<Vec<_>>(),
    })
}

fn estimate(e: &Estimate) -> Value {
    json!({
        "point": number(e.point),
        "low": e.interval.and_then(|(low, _)| number(low)),
        "high": e.interval.and_then(|(_, high)| number(high)),
        "at_least": e.bound == Bound::AtLeast,
        "level": e.level,
        "n": e.n,
        "n_effective": number(e.n_effective),
        "method": e.method,
    })
}

/// JSON has no infinity and no NaN: they are unknown.
fn number(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn scopes(analysis: &Analysis, wanted: impl Fn(&Scope) -> bool) -> Value {
    let found = analysis.scopes.iter().filter(|s| wanted(&s.scope));
    found
        .map(|s| {
            json!({"name": s.name, "samples": s.counts.total, "outcomes": outcomes(&s.counts), "measures": measures(s)})
        })
        .collect()
}

fn recording(r: &analysis::RecordingInfo) -> Value {
    let header = &r.header;
    let pairs = |list: &[(String, String)]| -> Value {
        Value::Object(list.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
    };
    let provenance = match &header.provenance {
        Provenance::Live => "live".to_owned(),
        Provenance::Simulated => "simulated".to_owned(),
        Provenance::Imported { tool } => format!("imported from {tool}"),
    };
    json!({
        "name": r.name,
        "complete": r.complete,
        "dropped": r.dropped,
        "tool_version": header.tool_version,
        "provenance": provenance,
        "client": header.client,
        "epoch_wall_ns": header.epoch_wall_ns,
        "seed": header.load.seed,
        "sessions": header.load.sessions,
        "workers": header.load.workers,
        "pacing": header.load.pacing,
        "workload": header.workload,
        "workload_facts": pairs(&header.workload_facts),
        "target": header.target,
        "target_facts": pairs(&header.target_facts),
        "host": {"name": header.host.name, "cpu": header.host.cpu, "cpus": header.host.cpus,
                 "kernel": header.host.kernel, "virtualisation": header.host.virtualisation},
        "clock_facts": pairs(&header.clock_facts),
        "capabilities": pairs(&header.capabilities),
    })
}

/// The document of `truetail run --repeat N`: schema `truetail.repeat/1`.
pub fn repeats(runs: &[&Analysis], across: &[RepeatedMeasure]) -> Value {
    let measure = |m: &RepeatedMeasure| {
        let rows: Vec<Value> = m.rows.iter().map(repeated).collect();
        json!({"measure": m.measure.key(), "rows": rows})
    };
    json!({
        "schema": "truetail.repeat/1",
        "runs": runs.iter().map(|a| document(a)).collect::<Vec<_>>(),
        "across": across.iter().map(measure).collect::<Vec<_>>(),
    })
}

fn repeated(row: &RepeatedRow) -> Value {
    json!({
        "name": row.name,
        "unit": row.unit.name(),
        "across": estimate(&row.across),
        "points": row.points.iter().map(|p| number(*p)).collect::<Vec<_>>(),
        "least": number(row.least),
        "most": number(row.most),
        "most_over_least": row.most_over_least.and_then(number),
    })
}

/// The document of `truetail compare`: schema `truetail.compare/1`. `limits_broken` are the texts of those
/// limits that were given and do not hold.
pub fn comparison(comparison: &Comparison, limits_broken: &[String]) -> Value {
    type Side = (Vec<String>, analysis::VerdictState);
    let side = |(names, state): &Side, runs: usize| json!({"runs": runs, "recordings": names, "verdict": state.name()});
    json!({
        "schema": "truetail.compare/1",
        "measure": comparison.measure.key(),
        "base": side(&comparison.base, comparison.runs.0),
        "new": side(&comparison.new, comparison.runs.1),
        "difference": comparison.difference.name(),
        "decided_by": comparison.decided_by,
        "warnings": comparison.warnings,
        "limits_broken": limits_broken,
        "rows": comparison.rows.iter().map(compared).collect::<Vec<_>>(),
        "others": comparison.others.iter().map(|other| {
            json!({"measure": other.measure.key(), "rows": other.rows.iter().map(compared).collect::<Vec<_>>()})
        }).collect::<Vec<_>>(),
    })
}

fn compared(row: &ComparedRow) -> Value {
    json!({
        "name": row.name,
        "unit": row.unit.name(),
        "base": estimate(&row.base),
        "new": estimate(&row.new),
        "ratio": row.ratio.as_ref().map(estimate),
        "difference": row.difference.name(),
        "equivalent": row.equivalent,
    })
}
