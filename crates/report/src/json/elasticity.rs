//! `truetail.elasticity/1`.

use super::{estimate, number};
use analysis::{Elasticity, ElasticityCurve, ElasticityJoin, ElasticityPoint, ElasticitySpan, JoinPhase};
use serde_json::{Value, json};

/// The whole experiment.
pub fn elasticity(found: &Elasticity) -> Value {
    json!({
        "schema": "truetail.elasticity/1",
        "window_ns": found.width.0,
        "runs": found.joins.iter().map(run).collect::<Vec<_>>(),
        "curves": found.curves.iter().map(curve).collect::<Vec<_>>(),
    })
}

fn run(join: &ElasticityJoin) -> Value {
    json!({
        "model": join.header.load.model.name(),
        "workload": join.header.workload,
        "target": join.header.target,
        "verdict": join.verdict,
        "phases": join.phases.iter().map(phase).collect::<Vec<_>>(),
    })
}

fn phase(phase: &JoinPhase) -> Value {
    json!({
        "name": phase.name,
        "begin_ns": phase.begin.get().map(|at| at.0),
        "end_ns": phase.end.get().map(|at| at.0),
    })
}

fn curve(curve: &ElasticityCurve) -> Value {
    json!({
        "reported": curve.reported.name(),
        "spans": curve.spans.iter().map(span).collect::<Vec<_>>(),
        "points": curve.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn span(span: &ElasticitySpan) -> Value {
    json!({
        "name": span.name,
        "requests": span.requests,
        "failed": span.failed,
        "mean": span.mean.as_ref().map(estimate),
        "p99": span.p99.as_ref().map(estimate),
        "longest": span.longest.as_ref().map(estimate),
    })
}

fn point(point: &ElasticityPoint) -> Value {
    json!({
        "at_ns": point.at.0,
        "requests": point.requests,
        "mean": number(point.mean),
        "p99": number(point.p99),
        "longest": number(point.longest),
    })
}
