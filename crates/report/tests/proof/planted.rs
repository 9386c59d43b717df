//! A proof with planted tools: one that is right, one that omits, one that corrects, one that says nothing of use.

use prove::elasticity::{self, Elasticity};
use prove::grade::{Grade, Limits};
use prove::nosqlmark::{self, Options};
use prove::scenario::{Scenario, Size, by_name};
use prove::truth::{Exact, Truth, figures_of, recursion, truth};
use prove::verdict::{Judgement, Reference};
use prove::{
    Clock, Figures, Host, Proof, ScenarioResult, Statistic, Timeline, ToolResult, ToolScenario, simulated,
};
use std::sync::OnceLock;
use units::Nanos;

/// The scenarios that the planted tools were run through.
pub const TOLD: [&str; 4] = ["steady", "hiccup-80", "hiccup-95", "overload"];

/// Everything at once; made once.
pub fn proof() -> &'static Proof {
    static PROOF: OnceLock<Proof> = OnceLock::new();
    PROOF.get_or_init(|| Proof {
        scenarios: scenarios(),
        tools: tools(),
        nosqlmark: Some(nosqlmark::run(&Options::default()).expect("sound options")),
        elasticity: Some(elasticity::run(Elasticity::default()).expect("sound settings")),
    })
}

/// Truetail, simulated and as if live; one live run has a median that is too long and requests that are missing.
fn scenarios() -> Vec<ScenarioResult> {
    let simulated =
        |name| simulated::run(by_name(name, Size::Simulated).expect("a scenario")).expect("a load");
    let mut all: Vec<ScenarioResult> = ["steady", "hiccup-80", "slow-requests"].map(simulated).to_vec();
    let scenario = by_name("hiccup-90", Size::Live).expect("a scenario");
    all.push(live(&scenario, 0.04e6));
    let mut failed = live(&scenario, 0.4e6);
    let host = Host { longest: Nanos::from_micros(120), share: Some(0.013) };
    failed.clock = Clock::Live { protocol: "postgres".to_owned(), host };
    failed.grade.measured -= 1_234;
    all.push(failed);
    all
}

fn live(scenario: &Scenario, late: f64) -> ScenarioResult {
    let truth: Truth = truth(scenario);
    let off = |figures: &Figures| figures.merged(figures, |value, _| value + late);
    let (response, service) = (off(&truth.response), off(&truth.service));
    let host = Host { longest: Nanos::from_micros(120), share: Some(0.0004) };
    let limits = Limits::Live { host_hiccup: host.longest };
    let result =
        ScenarioResult::live(scenario.clone(), "resp", truth, (response, service), host, Timeline::default());
    assert_eq!(result.grade, Grade::new(&result.truth, &response, &service, limits));
    result
}

/// What a tool makes of true response and service times.
type States = fn(&Figures, &Figures) -> Figures;

fn tools() -> Vec<ToolResult> {
    let stated: [(&str, &str, States); 4] = [
        ("omitter, READ", "omitter -h {host} -p {port} --rate {rate}", |_, service| *service),
        ("pgbench -R", "pgbench -h {host} -p {port} -R {rate} -T {seconds}", |response, _| {
            response.merged(response, |value, _| value + 0.2e6)
        }),
        ("corrector <2.0>", "", |response, service| {
            service.merged(response, |service, response| service + 0.3 * (response - service))
        }),
        ("median & co", "median {port}", |response, _| {
            response
                .without(Statistic::Mean)
                .without(Statistic::P99)
                .without(Statistic::P999)
                .without(Statistic::Max)
        }),
    ];
    stated.map(|(tool, command, states)| planted(tool, command, states)).to_vec()
}

fn planted(tool: &str, command: &str, states: States) -> ToolResult {
    let run = |name: &&str| {
        let scenario = by_name(name, Size::Live).expect("a scenario");
        let service = figures_of(&recursion(&scenario), Exact::service);
        let reference = Reference::new(&scenario, service, &scenario.arrivals, None);
        let stated = states(&reference.response_low, &service);
        ToolScenario {
            scenario: (*name).to_owned(),
            protocol: "resp".to_owned(),
            stated,
            judgement: Judgement::new(&stated, Nanos::from_micros(1), &reference),
            host_standstill: Some(0.0004),
        }
    };
    let scenarios = TOLD.iter().map(run).collect();
    ToolResult { tool: tool.to_owned(), command: command.to_owned(), scenarios }
}
