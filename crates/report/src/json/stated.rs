//! What another tool stated.

use crate::stated::asked;
use analysis::{STATED_LIMIT, StatedFigure, StatedPair};
use record::Stated;
use serde_json::{Map, Value, json};

/// The field `stated`.
pub(super) fn stated(all: &[Stated]) -> Value {
    all.iter().map(one).collect()
}

/// The document of `truetail compare` where a side has statements alone: schema `truetail.compare-stated/1`.
pub fn stated_comparison(pairs: &[StatedPair]) -> Value {
    let figure = |figure: &StatedFigure| {
        json!({
            "name": figure.name,
            "base": range(figure.base),
            "new": range(figure.new),
            "ratio": figure.ratio.map(|(low, high)| json!({"low": super::number(low), "high": super::number(high)})),
        })
    };
    let of = |side: &Stated| {
        json!({
            "operation": side.operation,
            "measure": side.measure,
            "counted_from": side.counted_from.name(),
        })
    };
    let pair = |pair: &StatedPair| {
        json!({
            "base": of(&pair.base),
            "new": of(&pair.new),
            "figures": pair.figures.iter().map(figure).collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": "truetail.compare-stated/1",
        "limit": STATED_LIMIT,
        "pairs": pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}

fn one(stated: &Stated) -> Value {
    let quantiles: Map<String, Value> =
        asked(&[stated]).into_iter().map(|q| (q.name(), range(stated.ends(q)))).collect();
    json!({
        "operation": stated.operation,
        "measure": stated.measure,
        "counted_from": stated.counted_from.name(),
        "interval": stated.interval.map(|(begin, end)| [begin.0, end.0]),
        "count": stated.count,
        "mean": stated.mean.map(|mean| mean.0),
        "min": stated.min.map(|min| min.0),
        "max": stated.max.map(|max| max.0),
        "quantiles": quantiles,
        "resolution": stated.resolution.map(|step| step.0),
        "relative_resolution": stated.relative_resolution.and_then(super::number),
    })
}

/// Both ends of what is told; null where nothing is.
fn range(ends: Option<(u64, u64)>) -> Value {
    ends.map_or(Value::Null, |(above, at_most)| json!({"above": above, "at_most": at_most}))
}
