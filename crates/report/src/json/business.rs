//! What a workload asks of its own run.

use super::{estimate, number};
use analysis::{Asked, Business, BusinessRate, Rule};
use serde_json::{Value, json};

/// The field `business`; null where the workload asks nothing.
pub(super) fn business(business: Option<&Business>) -> Value {
    let Some(business) = business else { return Value::Null };
    let counts = business.counts.iter().map(|(name, count)| json!({"name": name, "count": count}));
    json!({
        "rates": business.rates.iter().map(rate).collect::<Vec<_>>(),
        "rules": business.rules.iter().map(rule).collect::<Vec<_>>(),
        "counts": counts.collect::<Vec<_>>(),
    })
}

fn rate(rate: &BusinessRate) -> Value {
    json!({
        "name": rate.name,
        "operation": rate.operation,
        "per_minute": number(rate.per_minute),
        "committed_per_minute": number(rate.committed_per_minute),
        "ceiling": rate.ceiling.and_then(number),
        "share_of_ceiling": rate.share_of_ceiling().and_then(number),
    })
}

fn rule(rule: &Rule) -> Value {
    let (kind, quantile, measure, limit, found) = match &rule.asked {
        Asked::AtMost { quantile, limit, measure, found } => {
            let found = found.as_ref().map_or(Value::Null, estimate);
            ("at-most", json!(quantile.name()), json!(measure.key()), json!(limit.0), found)
        }
        Asked::AtLeast { limit, found } => {
            ("at-least", Value::Null, Value::Null, json!(limit), json!(found.and_then(number)))
        }
        Asked::Succeeds { limits: (low, _), .. } => {
            let found = json!(rule.asked.success().and_then(number));
            ("succeeds", Value::Null, Value::Null, json!(low), found)
        }
    };
    let most = match &rule.asked {
        Asked::Succeeds { limits: (_, high), .. } => json!(high),
        _ => Value::Null,
    };
    json!({
        "operation": rule.operation,
        "kind": kind,
        "quantile": quantile,
        "measure": measure,
        "limit": limit,
        "most": most,
        "requests": rule.asked.judged_by_success(),
        "found": found,
        "state": rule.state.name(),
    })
}
