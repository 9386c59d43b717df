//! The table of operations, phases or clients.

use super::table::Table;
use super::{count, estimate_point};
use analysis::{MeasureSummary, ScopeSummary};
use record::Measure;
use units::{OutcomeClass, Quantile};

/// Median, p99 and p99.9: what of the printed ones tells most in a line.
const SHOWN: [usize; 3] = [0, 4, 5];

fn summary(scope: &ScopeSummary, measure: Measure) -> Option<&MeasureSummary> {
    scope.measures.iter().find(|m| m.measure == measure && m.n > 0)
}

fn estimate(scope: &ScopeSummary, measure: Measure, q: Quantile) -> Option<String> {
    let quantiles = &summary(scope, measure)?.quantiles;
    quantiles.iter().find(|(p, _)| *p == q).map(|(_, e)| estimate_point(e))
}

/// Quantiles that no scope carries have no column.
pub(super) fn table(kind: &str, measure: Measure, scopes: &[&ScopeSummary]) -> Table {
    let mut shown = SHOWN.map(|i| Quantile::PRINTED[i]).to_vec();
    shown.retain(|q| scopes.iter().any(|s| estimate(s, measure, *q).is_some()));
    let mut head = vec![format!("{kind} ({})", measure.name()), "requests".to_owned(), "not ok".to_owned()];
    head.extend(shown.iter().map(|q| q.name()));
    head.push("max".to_owned());
    let mut table = Table::new(head);
    for scope in scopes {
        let is_ok = |o: &units::Outcome| o.class() == OutcomeClass::Ok;
        let ok: u64 = scope.counts.outcomes.iter().filter(|(o, _)| is_ok(o)).map(|(_, n)| n).sum();
        let total = scope.counts.total;
        let mut row = vec![scope.name.clone(), count(total), count(total.saturating_sub(ok))];
        let absent = || "–".to_owned();
        row.extend(shown.iter().map(|q| estimate(scope, measure, *q).unwrap_or_else(absent)));
        row.push(summary(scope, measure).map_or_else(absent, super::longest));
        table.row(row);
    }
    table
}
