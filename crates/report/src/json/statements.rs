//! What is inside of the requests.

use super::{number, summary};
use analysis::{ExchangeSummary, OperationStatements, Part, Statements};
use serde_json::{Value, json};

/// The field `statements`; null where they were not timed.
pub(super) fn statements(statements: Option<&Statements>) -> Value {
    let Some(statements) = statements else { return Value::Null };
    json!({
        "dropped": statements.dropped,
        "operations": statements.operations.iter().map(operation).collect::<Vec<_>>(),
    })
}

fn operation(operation: &OperationStatements) -> Value {
    json!({
        "name": operation.operation,
        "requests": operation.requests,
        "mean": number(operation.mean_ns),
        "slowest": operation.slowest.map(|slowest| json!({
            "requests": slowest.requests,
            "from": slowest.from.0,
            "mean": number(slowest.mean_ns),
        })),
        "exchanges": operation.exchanges.iter().map(|one| exchange(operation, one)).collect::<Vec<_>>(),
        "between": part(operation, &operation.between),
    })
}

fn exchange(operation: &OperationStatements, exchange: &ExchangeSummary) -> Value {
    json!({
        "name": exchange.name,
        "statement": exchange.text,
        "count": exchange.count,
        "failed": exchange.failed,
        "commands": number(exchange.commands),
        "part": part(operation, &exchange.part),
        "service_time": summary(&exchange.times),
    })
}

fn part(operation: &OperationStatements, part: &Part) -> Value {
    json!({
        "mean": number(part.mean_ns),
        "slow_mean": part.slow_mean_ns.and_then(number),
        "share_of_excess": operation.share_of_excess(part).and_then(number),
    })
}
