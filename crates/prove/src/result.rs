//! What came of scenarios, ready to be rendered.

use crate::elasticity::ElasticityResult;
use crate::grade::{Grade, Limits};
use crate::nosqlmark::NosqlmarkResult;
use crate::scenario::Scenario;
use crate::truth::Truth;
use crate::verdict::{Judgement, Verdict};
use crate::{Figures, Statistic, Timeline};

/// How a host stood still during a live run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Host {
    /// The longest time, as truetail's lag and the store's own lateness show.
    pub longest: units::Nanos,
    /// The share of the time, in [0, 1]: the larger of the gaps that the store's spinning thread has seen and of the hiccups that the
    /// client has; `None`: unknown.
    pub share: Option<f64>,
}

/// On what clock truetail was measured.
#[derive(Clone, PartialEq, Debug)]
pub enum Clock {
    /// The simulated one: exact.
    Simulated,
    /// Over the network, in this protocol (`resp`, `postgres`).
    Live {
        /// The protocol.
        protocol: String,
        /// What the host did meanwhile.
        host: Host,
    },
}

impl Clock {
    /// `simulated clock`, `live, resp`.
    pub fn name(&self) -> String {
        match self {
            Clock::Simulated => "simulated clock".to_owned(),
            Clock::Live { protocol, .. } => format!("live, {protocol}"),
        }
    }

    /// What the host did meanwhile, in words; `None` on the simulated clock.
    pub fn host(&self) -> Option<String> {
        let Clock::Live { host, .. } = self else { return None };
        let stood = units::format_nanos(host.longest);
        let share =
            host.share.map_or(String::new(), |share| format!(", and for {:.2} % of the time", 100.0 * share));
        Some(format!(
            "the host stood still for up to {stood} meanwhile{share}; a maximum may be off by so much more"
        ))
    }

    /// Why a quantile can't be expected to be within its limit: the host stood still for longer than the share of the
    /// requests above it. `None` where it can.
    pub fn excuse(&self, statistic: Statistic) -> Option<String> {
        let Clock::Live { host, .. } = self else { return None };
        let (share, quantile) = (host.share?, statistic.quantile()?);
        let above = 1.0 - quantile.get();
        (above > 0.0 && share > above).then(|| {
            let name = statistic.name();
            format!(
                "the host stood still for {:.2} % of the time, and {name} leaves {:.2} %",
                100.0 * share,
                100.0 * above
            )
        })
    }
}

/// Truetail in one scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct ScenarioResult {
    /// What was asked.
    pub scenario: Scenario,
    /// On what clock.
    pub clock: Clock,
    /// What is true.
    pub truth: Truth,
    /// The response time as truetail states it.
    pub response: Figures,
    /// The service time as truetail states it.
    pub service: Figures,
    /// The one against the other.
    pub grade: Grade,
    /// The run over time.
    pub timeline: Timeline,
}

impl ScenarioResult {
    /// Of a live run. `truth` is that of the same run, request by request: response times from the truth log's answers and
    /// the recording's intended starts, service times likewise.
    pub fn live(
        scenario: Scenario,
        protocol: &str,
        truth: Truth,
        (response, service): (Figures, Figures),
        host: Host,
        timeline: Timeline,
    ) -> ScenarioResult {
        let limits = Limits::Live { host_hiccup: host.longest };
        let grade = Grade::new(&truth, &response, &service, limits);
        let clock = Clock::Live { protocol: protocol.to_owned(), host };
        ScenarioResult { scenario, clock, truth, response, service, grade, timeline }
    }
}

/// A foreign tool in one scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolScenario {
    /// The scenario's name.
    pub scenario: String,
    /// The protocol that the tool spoke.
    pub protocol: String,
    /// What it states.
    pub stated: Figures,
    /// What that is held against, and what follows.
    pub judgement: Judgement,
    /// The share of the time for which the host let the store stand still, in [0, 1]; `None`: unknown.
    pub host_standstill: Option<f64>,
}

/// A foreign tool in all the scenarios that it was run through.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolResult {
    /// The tool, and which of its measures, such as `YCSB, Intended-READ`.
    pub tool: String,
    /// Its command line, with places such as `{port}` still in it.
    pub command: String,
    /// In the order in which they were run.
    pub scenarios: Vec<ToolScenario>,
}

impl ToolScenario {
    /// What a reader must know besides the verdict: why none could be given, and a host that stood still for long enough to
    /// move a p99.9.
    pub fn remark(&self) -> Option<String> {
        let untold = self.judgement.verdict == Verdict::CannotTell;
        let why = untold.then(|| self.judgement.why.clone());
        let share = self.host_standstill.filter(|share| *share > HOST_STOOD_STILL);
        let host = share.map(|share| {
            format!(
                "the host stood still for {:.1} % of the time: figures may be its, not the tool's",
                100.0 * share
            )
        });
        let remarks: Vec<String> = [why, host].into_iter().flatten().collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }
}

/// From which share of the time on a host that stands still is worth a remark: what p99.9 leaves.
const HOST_STOOD_STILL: f64 = 0.001;

impl ToolResult {
    /// Over all scenarios.
    pub fn verdict(&self) -> Verdict {
        Verdict::overall(self.scenarios.iter().map(|s| s.judgement.verdict))
    }
}

/// Everything that one `truetail prove` found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Proof {
    /// Truetail, simulated and live.
    pub scenarios: Vec<ScenarioResult>,
    /// Foreign tools.
    pub tools: Vec<ToolResult>,
    /// The paper's experiment.
    pub nosqlmark: Option<NosqlmarkResult>,
    /// A node that joins.
    pub elasticity: Option<ElasticityResult>,
}

impl Proof {
    /// Whether truetail keeps all limits; `None` where it was not graded at all, as in a proof of foreign tools alone.
    pub fn verdict(&self) -> Option<bool> {
        let graded = !self.scenarios.is_empty() || self.nosqlmark.is_some() || self.elasticity.is_some();
        graded.then(|| self.passed())
    }

    /// Whether no limit of truetail's own is broken. Foreign tools have none.
    pub fn passed(&self) -> bool {
        self.scenarios.iter().all(|s| s.grade.passed())
            && self.nosqlmark.as_ref().is_none_or(|n| n.checks.iter().all(|check| check.passed))
            && self.elasticity.as_ref().is_none_or(ElasticityResult::passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_excused_where_the_host_stood_still_for_longer_than_it_leaves() {
        let live = |share| {
            let host = Host { longest: units::Nanos::from_millis(5), share };
            Clock::Live { protocol: "resp".to_owned(), host }
        };
        let excused = |clock: &Clock| {
            let excused = Statistic::ALL.into_iter().filter(|s| clock.excuse(*s).is_some());
            excused.map(Statistic::name).collect::<Vec<_>>()
        };
        assert_eq!(excused(&live(Some(0.013))), ["p99", "p99.9"]);
        assert_eq!(excused(&live(Some(0.002))), ["p99.9"]);
        assert_eq!(excused(&live(Some(0.0005))), [""; 0]);
        assert_eq!(excused(&live(None)), [""; 0]);
        assert_eq!(excused(&Clock::Simulated), [""; 0]);
        let words = live(Some(0.013)).excuse(Statistic::P99);
        assert_eq!(
            words.as_deref(),
            Some("the host stood still for 1.30 % of the time, and p99 leaves 1.00 %")
        );
    }
}
