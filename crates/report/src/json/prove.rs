//! The document of a proof.

use super::number;
use prove::elasticity::ElasticityResult;
use prove::grade::Row;
use prove::nosqlmark::{CapacityRow, ClosedRow, FourFigures, NosqlmarkResult, remarks};
use prove::verdict::{Place, Placed};
use prove::{Clock, Figures, Proof, ScenarioResult, Statistic, ToolResult, ToolScenario};
use serde_json::{Value, json};

/// The document of `truetail prove`: schema `truetail.prove/1`.
pub fn proof(proof: &Proof) -> Value {
    json!({
        "schema": "truetail.prove/1",
        "passed": proof.verdict(),
        "scenarios": proof.scenarios.iter().map(scenario).collect::<Vec<_>>(),
        "tools": proof.tools.iter().map(tool).collect::<Vec<_>>(),
        "nosqlmark": proof.nosqlmark.as_ref().map(nosqlmark),
        "elasticity": proof.elasticity.as_ref().map(elasticity),
    })
}

fn scenario(result: &ScenarioResult) -> Value {
    let scenario = &result.scenario;
    let protocol = match &result.clock {
        Clock::Simulated => None,
        Clock::Live { protocol, host } => Some((protocol, host)),
    };
    json!({
        "scenario": scenario.name,
        "asks": scenario.asks,
        "protocol": protocol.map(|(protocol, _)| protocol),
        "host_hiccup": protocol.map(|(_, host)| host.longest.0),
        "host_standstill": protocol.and_then(|(_, host)| host.share),
        "offered_per_second": scenario.rate.get(),
        "arrivals": scenario.arrivals.to_string(),
        "seconds": scenario.duration.as_secs_f64(),
        "sessions": scenario.sessions,
        "store": scenario.store(),
        "requests": result.grade.requests,
        "measured_requests": result.grade.measured,
        "passed": result.grade.passed(),
        "rows": result.grade.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    json!({
        "measure": row.measure.key(),
        "statistic": row.statistic.name(),
        "true": number(row.truth),
        "measured": row.measured.and_then(number),
        "error": row.error().and_then(number),
        "limit": number(row.limit),
        "passed": row.passed(),
    })
}

fn tool(result: &ToolResult) -> Value {
    json!({
        "tool": result.tool,
        "command": result.command,
        "verdict": result.verdict().key(),
        "runs": result.scenarios.iter().map(tool_run).collect::<Vec<_>>(),
    })
}

fn tool_run(run: &ToolScenario) -> Value {
    json!({
        "scenario": run.scenario,
        "protocol": run.protocol,
        "verdict": run.judgement.verdict.key(),
        "why": run.judgement.why,
        "host_standstill": run.host_standstill,
        "figures": run.judgement.placed.iter().map(placed).collect::<Vec<_>>(),
    })
}

fn placed(placed: &Placed) -> Value {
    let place = match placed.place {
        Place::AtResponse => Some("response"),
        Place::AtService => Some("service"),
        Place::Elsewhere => Some("elsewhere"),
        Place::CannotTell => None,
    };
    json!({
        "statistic": placed.statistic.name(),
        "measured": number(placed.measured),
        "true_service": number(placed.service),
        "true_response_low": number(placed.response.0),
        "true_response_high": number(placed.response.1),
        "place": place,
        "factor": placed.factor(),
    })
}

/// What is not known is null.
fn figures(figures: &Figures) -> Value {
    let value = |s: Statistic| figures.get(s).and_then(number);
    let inner = Statistic::ALL.into_iter().filter(|s| !matches!(s, Statistic::Mean | Statistic::Max));
    let quantiles = inner.map(|s| (s.name().to_owned(), json!(value(s)))).collect();
    json!({
        "mean": value(Statistic::Mean),
        "quantiles": Value::Object(quantiles),
        "max": value(Statistic::Max),
    })
}

fn nosqlmark(result: &NosqlmarkResult) -> Value {
    let table = result.table.iter().map(
        |row| json!({"name": row.name, "simulated": four(&row.simulated), "published": four(&row.published)}),
    );
    let checks = result.checks.iter().map(|check| {
        json!({"says": check.says, "found": number(check.found), "limit": check.limit, "passed": check.passed})
    });
    json!({
        "capacities": result.rows.iter().map(capacity).collect::<Vec<_>>(),
        "table": table.collect::<Vec<_>>(),
        "checks": checks.collect::<Vec<_>>(),
        "remarks": remarks(),
    })
}

fn capacity(row: &CapacityRow) -> Value {
    json!({
        "capacity_per_second": row.capacity,
        "open": figures(&row.open),
        "open_mean_form": number(row.open_form),
        "delayed": row.delayed,
        "delayed_form": row.delayed_form,
        "closed": row.closed.iter().map(closed).collect::<Vec<_>>(),
    })
}

fn closed(row: &ClosedRow) -> Value {
    json!({
        "threads": row.threads,
        "plain": figures(&row.plain),
        "plain_mean_form": number(row.plain_form),
        "intended": figures(&row.intended),
        "corrected": figures(&row.corrected),
        "corrected_1ms": figures(&row.corrected_1ms),
    })
}

/// In ns, as all times of all documents.
fn four(figures: &FourFigures) -> Value {
    let ns = |ms: Option<f64>| ms.map(|ms| ms * 1e6);
    json!({
        "mean": ns(figures.mean_ms),
        "quantiles": {"p90": ns(figures.p90_ms), "p99": ns(figures.p99_ms)},
        "max": ns(figures.max_ms),
    })
}

fn elasticity(result: &ElasticityResult) -> Value {
    let e = &result.elasticity;
    let mut document = super::truth::recovery(&result.recovery);
    let own = [
        ("offered_per_second", json!(e.rate.get())),
        ("capacity_before_per_second", json!(e.before.get())),
        ("capacity_during_per_second", json!(e.during())),
        ("capacity_after_per_second", json!(e.after.get())),
        ("joins_at", json!(e.at.0)),
        ("streaming", json!(e.streaming.0)),
        ("stable_after_form", json!(e.expected_seconds().map(|s| s * 1e9))),
    ];
    own.into_iter().for_each(|(name, value)| document[name] = value);
    document
}
