//! Did a foreign tool make the load that it was told to make?
//!
//! Figures of another load than the one whose true response times are known say nothing about where they are counted from:
//! a tool that sends half of the requests, or whose requests fail at once, states short times and omits nothing. Such a run
//! is not judged.
//!
//! The rate is that of the truth log: how many requests reached the store, over how long. A hundredth of them is left out at
//! either end, so that a question on connecting or a late straggler does not stretch the time. What the store can't serve
//! can't be sent by a tool with so many sessions, so that the least rate is what an ideal tool with the scenario's sessions
//! sends ([`crate::truth::recursion`]), less [`OFF`].

use crate::invocations::Pacing;
use crate::scenario::Scenario;
use crate::truth;
use import::{Reported, ToolReport};
use units::PerSecond;

/// By how much the rate may be off, as a share.
pub const OFF: f64 = 0.05;

/// What a tool made of its load.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Made {
    /// When each request of the load arrived at the store, ns since any moment; in any order.
    pub arrivals: Vec<f64>,
    /// Requests that failed, as the tool says.
    pub failed: u64,
    /// Requests that the tool left out, as it says.
    pub skipped: u64,
}

impl Made {
    /// From a tool's report and the truth log's arrivals.
    pub fn new(report: &ToolReport, arrivals: Vec<f64>) -> Made {
        let skipped = report.skipped.unwrap_or(0);
        let in_rows = report.rows.iter().map(failures).max().unwrap_or(0);
        // A skipped request is logged as one that failed.
        let failed = report.errors.unwrap_or(0).max(in_rows.saturating_sub(skipped));
        Made { arrivals, failed, skipped }
    }

    /// Why the run is not to be judged, in one line; `None`: it is the load that was wanted. O(n log n).
    pub fn objection(&self, scenario: &Scenario, pacing: Pacing) -> Option<String> {
        match (self.failed, self.skipped) {
            (0, 0) => {}
            (0, skipped) => return Some(format!("it skipped {skipped} requests")),
            (failed, _) => return Some(format!("{failed} requests failed")),
        }
        let offered = scenario.rate.get();
        let ideal = truth::recursion(scenario).iter().map(|exact| exact.sent).collect();
        let servable = rate(ideal).map_or(offered, |rate| rate.min(offered));
        let shown = |rate: f64| PerSecond::new(rate).map_or("0/s".to_owned(), |rate| rate.to_string());
        match rate(self.arrivals.clone()) {
            _ if pacing == Pacing::Closed => None,
            Some(made) if made >= servable * (1.0 - OFF) && made <= offered * (1.0 + OFF) => None,
            made => Some(format!("it offered {} of {}", shown(made.unwrap_or(0.0)), scenario.rate)),
        }
    }
}

/// Requests of a row that did not do what they were meant to do.
fn failures(row: &Reported) -> u64 {
    let logged = row.samples.iter().filter(|sample| sample.failed).count() as u64;
    let returned = row.returns.iter().filter(|(word, _)| word != "OK").map(|(_, count)| count).sum();
    logged.max(returned)
}

/// Per second, of all but a hundredth at either end; `None` of so few that there is no rate.
fn rate(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    let cut = times.len() / 100;
    let kept = times.get(cut..times.len() - cut)?;
    let (first, last) = (kept.first()?, kept.last()?);
    let rate = (kept.len() - 1) as f64 / ((last - first) / 1e9);
    rate.is_finite().then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Size, by_name};
    use import::ForeignSample;

    fn scenario(name: &str) -> Scenario {
        by_name(name, Size::Live).unwrap()
    }

    /// So many requests at this rate.
    fn at(rate: f64) -> Made {
        Made { arrivals: (0..4_000).map(|k| f64::from(k) * 1e9 / rate).collect(), ..Made::default() }
    }

    #[test]
    fn a_tool_that_offers_another_rate_is_not_judged() {
        let steady = scenario("steady");
        let why = |share: f64| at(steady.rate.get() * share).objection(&steady, Pacing::Rate);
        assert_eq!((why(0.96), why(1.0), why(1.04)), (None, None, None));
        assert_eq!(why(0.6).unwrap(), "it offered 1,200/s of 2,000/s");
        assert!(why(0.94).is_some() && why(1.06).is_some());
        let nothing = Made::default().objection(&steady, Pacing::Rate).unwrap();
        assert!(nothing.starts_with("it offered ") && nothing.ends_with("of 2,000/s"), "{nothing}");
        assert_eq!(at(1.0).objection(&steady, Pacing::Closed), None);
    }

    /// An ideal tool is judged in each scenario, also where the store can't serve what is offered.
    #[test]
    fn an_ideal_tool_is_judged_everywhere() {
        for run in crate::scenario::all(Size::Live) {
            let arrivals = truth::recursion(&run).iter().map(|exact| exact.sent).collect();
            let made = Made { arrivals, ..Made::default() };
            assert_eq!(made.objection(&run, Pacing::Rate), None, "{}", run.name);
        }
        let overload = scenario("overload");
        let served = overload.rate.get() / 1.1;
        assert_eq!(at(served).objection(&overload, Pacing::Rate), None);
        assert!(at(served * 0.9).objection(&overload, Pacing::Rate).is_some());
    }

    /// A question on connecting, long before the load, changes no rate.
    #[test]
    fn a_stray_request_changes_no_rate() {
        let steady = scenario("steady");
        let mut made = at(steady.rate.get());
        made.arrivals.push(-60e9);
        assert_eq!(made.objection(&steady, Pacing::Rate), None);
    }

    #[test]
    fn failures_and_skipped_requests_are_reasons() {
        let steady = scenario("steady");
        let why = |report: &ToolReport| {
            let arrivals = at(steady.rate.get()).arrivals;
            Made::new(report, arrivals).objection(&steady, Pacing::Closed)
        };
        assert_eq!(why(&ToolReport { errors: Some(0), skipped: Some(0), ..ToolReport::default() }), None);
        let counted = ToolReport { errors: Some(7), ..ToolReport::default() };
        assert_eq!(why(&counted).unwrap(), "7 requests failed");
        let skipped = ToolReport { skipped: Some(3), ..ToolReport::default() };
        assert_eq!(why(&skipped).unwrap(), "it skipped 3 requests");
        let row = |row| ToolReport { rows: vec![row], ..ToolReport::default() };
        let returns = vec![("OK".to_owned(), 90), ("ERROR".to_owned(), 2)];
        assert_eq!(why(&row(Reported { returns, ..Reported::default() })).unwrap(), "2 requests failed");
        let failed = ForeignSample {
            completed_wall_ns: None,
            elapsed: None,
            schedule_lag: None,
            session: None,
            failed: true,
        };
        let logged = Reported { samples: vec![failed], ..Reported::default() };
        assert_eq!(why(&row(logged.clone())).unwrap(), "1 requests failed");
        let left_out = ToolReport { skipped: Some(1), ..row(logged) };
        assert_eq!(why(&left_out).unwrap(), "it skipped 1 requests");
    }
}
