//! What came of scenarios, ready to be rendered.

use crate::elasticity::ElasticityResult;
use crate::grade::{Grade, Limits};
use crate::nosqlmark::NosqlmarkResult;
use crate::scenario::Scenario;
use crate::truth::Truth;
use crate::verdict::{Judgement, Verdict};
use crate::{Figures, Timeline};

/// On what clock truetail was measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Clock {
    /// The simulated one: exact.
    Simulated,
    /// Over the network, in this protocol (`resp`, `postgres`).
    Live {
        /// The protocol.
        protocol: String,
        /// The longest time that the host stood still meanwhile, as truetail's lag and the store's own lateness show.
        host_hiccup: units::Nanos,
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
        let Clock::Live { host_hiccup, .. } = self else { return None };
        let stood = units::format_nanos(*host_hiccup);
        Some(format!(
            "the host stood still for up to {stood} meanwhile; a maximum may be off by so much more"
        ))
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
        limits: Limits,
        timeline: Timeline,
    ) -> ScenarioResult {
        let grade = Grade::new(&truth, &response, &service, limits);
        let host_hiccup = match limits {
            Limits::Live { host_hiccup } => host_hiccup,
            Limits::Simulated => units::Nanos::ZERO,
        };
        let clock = Clock::Live { protocol: protocol.to_owned(), host_hiccup };
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
