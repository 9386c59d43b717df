//! What is said of the exchanges inside of requests, the same in text and on the page.

use crate::text::{count, time};
use analysis::{ExchangeSummary, OperationStatements, Part, Statements};

/// The heading.
pub(crate) const TITLE: &str = "Inside of the requests";

/// What lies between two exchanges.
pub(crate) const BETWEEN: &str = "between them";

/// What the shares are of.
pub(crate) fn shares(statements: &Statements) -> &'static str {
    match statements.operations.iter().any(|operation| operation.slowest.is_some()) {
        true => {
            "of time: of the mean service time of the operation's requests; of tail: of what its slowest hundredth take longer \
             than that. What lies between exchanges is the client's own time and pauses before retries"
        }
        false => {
            "of time: of the mean service time of the operation's requests. From 1,000 of them on, what makes the slowest \
             hundredth longer stands beside it"
        }
    }
}

/// `45 %`, `3.1 %`, `−0.4 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent.abs() < 9.95 { 1 } else { 0 };
    let text = format!("{:.digits$} %", percent.abs());
    if percent < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        format!("−{text}")
    } else {
        text
    }
}

/// Of the mean time of a request, what a part is.
pub(crate) fn of_time(operation: &OperationStatements, part: &Part) -> String {
    if operation.mean_ns > 0.0 { share(part.mean_ns / operation.mean_ns) } else { String::new() }
}

/// Of what the slowest take longer, what lies in a part.
pub(crate) fn of_tail(operation: &OperationStatements, part: &Part) -> String {
    operation.share_of_excess(part).map_or_else(|| "–".to_owned(), share)
}

/// How often a request has it: `1`, `10.1`, `0.60`.
pub(crate) fn per_request(operation: &OperationStatements, exchange: &ExchangeSummary) -> String {
    let times = exchange.count as f64 / operation.requests.max(1) as f64;
    match times {
        1.0 => "1".to_owned(),
        t if t >= 9.95 => format!("{t:.1}"),
        t => format!("{t:.2}"),
    }
}

/// `NewOrder takes 4.2 ms on average, its slowest hundredth 31 ms: 92 % of the difference is in UPDATE stock`.
pub(crate) fn sentence(operation: &OperationStatements) -> String {
    let OperationStatements { operation: name, mean_ns, .. } = operation;
    let mean = format!("{name} takes {} on average", time(*mean_ns));
    let Some(slowest) = operation.slowest else { return mean };
    let parts = operation.exchanges.iter().map(|one| (one.name.as_str(), &one.part));
    let parts = parts.chain([(BETWEEN, &operation.between)]);
    let largest = parts
        .filter_map(|(name, part)| Some((name, operation.share_of_excess(part)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let where_it_is = match largest {
        Some((BETWEEN, most)) => format!(": {} of the difference lies between its exchanges", share(most)),
        Some((name, most)) => format!(": {} of the difference is in {name}", share(most)),
        None => String::new(),
    };
    format!("{mean}, its slowest hundredth {}{where_it_is}", time(slowest.mean_ns))
}

/// What is missing, if anything.
pub(crate) fn missing(statements: &Statements) -> Option<String> {
    let words =
        "exchanges found their buffer full and are in no figure here; the requests themselves are complete";
    (statements.dropped > 0).then(|| format!("{} {words}", count(statements.dropped)))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_short() {
        let shown = [0.0, -0.0001, 0.0314, 0.4512, 0.999, 1.0, -0.034, -2.5].map(share);
        assert_eq!(shown, ["0.0 %", "0.0 %", "3.1 %", "45 %", "100 %", "100 %", "−3.4 %", "−250 %"]);
    }
}
