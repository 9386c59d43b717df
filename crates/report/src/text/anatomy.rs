//! What the requests around a quantile spent their time on.

use super::{Page, count, time};
use crate::svg::has_anatomy;
use analysis::limits::HEADLINE;
use analysis::{Analysis, AnatomyRow};
use record::Measure;
use units::Bound;

impl Page<'_> {
    /// A line on p99, or on the highest quantile below it whose parts are known.
    pub(super) fn anatomy(&mut self) {
        if let Some(text) = split(self.analysis) {
            self.wrapped("", "  ", &text);
        }
    }
}

/// `around p99 (1,000 requests): pool wait 2.10 ms, lag 20.0 µs, service time 560 µs`. Those that were given up have no parts that
/// are known.
fn split(analysis: &Analysis) -> Option<String> {
    let whole = analysis.total.whole().filter(|_| has_anatomy(analysis))?;
    let is_known = |row: &&AnatomyRow| {
        row.quantile.get() <= HEADLINE
            && whole.quantile(row.quantile).is_some_and(|e| e.bound == Bound::Exact)
    };
    let row = analysis.anatomy.rows.iter().rfind(is_known)?;
    let parts: Vec<String> = parts(analysis, row).map(|(name, ns)| format!("{name} {}", time(ns))).collect();
    let requests = if row.requests == 1 { "request" } else { "requests" };
    let (name, n) = (row.quantile.name(), count(row.requests));
    Some(format!("around {name} ({n} {requests}): {}", parts.join(", ")))
}

/// Means of those that were measured: what was not is unknown, not zero.
fn parts(analysis: &Analysis, row: &AnatomyRow) -> impl Iterator<Item = (&'static str, f64)> {
    let measures = &analysis.total.measures;
    let is_measured = |measure: Measure| measures.iter().any(|m| m.measure == measure && m.n > 0);
    // A closed loop's service time begins when the request is sent.
    let has_response = is_measured(Measure::Response);
    let parts = [
        (Measure::PoolWait, Some(row.pool_wait_ns).filter(|_| has_response)),
        (Measure::Lag, Some(row.lag_ns).filter(|_| has_response)),
        (Measure::Service, Some(row.service_ns)),
        (Measure::PickUp, row.pick_up_ns),
    ];
    let known = parts.map(|(measure, ns)| ns.filter(|_| is_measured(measure)).map(|ns| (measure.name(), ns)));
    known.into_iter().flatten()
}
