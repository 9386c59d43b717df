//! Truetail itself, as a process of its own, against the store over TCP.

use super::bench::{Behaviour, Bench};
use super::process;
use analysis::overlay::{Overlay, OverlayOptions, OverlayStatistic};
use anyhow::Context;
use prove::grade::{self, Limits};
use prove::invocations::Protocol;
use prove::scenario::Scenario;
use prove::truth::Truth;
use prove::{Figures, ScenarioResult, Statistic, Timeline, Times};
use record::{Columns, Measure, Recording, SampleBatch, TruthLog};
use std::path::Path;
use units::{Instant, Nanos};

/// What a live run showed besides the grade.
pub(super) struct LiveRun {
    pub(super) result: ScenarioResult,
    /// Written − due at the store, in words.
    pub(super) lateness: String,
    /// The verdict that truetail itself gave, with its reasons.
    pub(super) verdict: String,
}

/// One scenario in one protocol; recording and truth log stay in `dir`.
pub(super) fn run(scenario: Scenario, spoken: Protocol, dir: &Path) -> anyhow::Result<LiveRun> {
    std::fs::create_dir_all(dir).with_context(|| format!("can't create {}", dir.display()))?;
    let bench = Bench::start(Behaviour::of(&scenario), spoken, &dir.join("truth"))?;
    let recording = dir.join("run");
    let arguments = arguments(&scenario, &bench.url(), &recording)?;
    process::truetail(&arguments, process::limit(scenario.duration))?;
    let truth = bench.truth.clone();
    let ended = bench.end()?;
    let recordings = [Recording::open(&recording)?];
    let log = TruthLog::open(&truth)?;
    let overlay = analysis::overlay::overlay(&recordings, &log, &OverlayOptions::default())?;
    let analysis = analysis::analyse(&recordings, &crate::output::analysis_options())?;
    let truth = truth_of(&overlay);
    let scope = &analysis.total;
    let figures = (grade::stated(scope, Measure::Response), grade::stated(scope, Measure::Service));
    let limits = Limits::Live { host_hiccup: host_hiccup(scope) };
    let timeline = timeline(&scenario, &recordings[0])?;
    let reasons: Vec<&str> = analysis.verdict.reasons.iter().map(|r| r.text.as_str()).collect();
    Ok(LiveRun {
        result: ScenarioResult::live(scenario, spoken.name(), truth, figures, limits, timeline),
        lateness: crate::store::lateness(&ended.lateness),
        verdict: format!("{}: {}", analysis.verdict.state.name(), reasons.join("; ")),
    })
}

/// Flags of `truetail run` for a scenario.
fn arguments(scenario: &Scenario, url: &str, out: &Path) -> anyhow::Result<Vec<String>> {
    let mut arguments = vec!["run".to_owned(), url.to_owned()];
    let out = out.to_str().context("the directory's name is not UTF-8")?;
    let mode = if url.starts_with("redis:") { "mode=ping" } else { "mode=select1" };
    for (flag, value) in [
        ("--workload", "noop"),
        ("--param", mode),
        ("--rate", &format!("{}/s", scenario.rate.get())),
        ("--arrivals", &scenario.arrivals.to_string()),
        ("--duration", &format!("{}ns", scenario.duration.0)),
        ("--warmup", "0s"),
        ("--drain", "60s"),
        ("--clients", &scenario.sessions.to_string()),
        ("--seed", &scenario.seed.0.to_string()),
        ("--out", out),
    ] {
        arguments.extend([flag.to_owned(), value.to_owned()]);
    }
    arguments.push("--json".to_owned());
    Ok(arguments)
}

/// The longest delay of the measuring side itself that the recording shows of any request.
fn host_hiccup(scope: &analysis::ScopeSummary) -> Nanos {
    let longest = |measure| scope.measure(measure).map_or(Nanos::ZERO, |summary| summary.max);
    longest(Measure::Lag).max(longest(Measure::PickUp))
}

/// True times, from the store's log.
fn truth_of(overlay: &Overlay) -> Truth {
    let figures = |measure| {
        let mut figures = Figures::counted(overlay.requests.sent + overlay.requests.never_sent);
        let found = overlay.measures.iter().find(|m| m.measure == measure);
        for statistic in Statistic::ALL {
            if let Some(value) = found.and_then(|m| m.value(of_overlay(statistic)?)) {
                figures = figures.with(statistic, value.truth);
            }
        }
        figures
    };
    Truth { response: figures(Measure::Response), service: figures(Measure::Service) }
}

fn of_overlay(statistic: Statistic) -> Option<OverlayStatistic> {
    Some(match statistic {
        Statistic::Mean => OverlayStatistic::Mean,
        Statistic::Max => OverlayStatistic::Max,
        _ => OverlayStatistic::Quantile(statistic.quantile()?),
    })
}

/// The run over time, from the recording.
fn timeline(scenario: &Scenario, recording: &Recording) -> anyhow::Result<Timeline> {
    let begin = recording.header().phases.first().context("the recording has no phase")?.begin;
    let add = |times: &mut Vec<Times>, batch: &SampleBatch| {
        for ((intended, sent), completed) in batch.intended.iter().zip(&batch.sent).zip(&batch.completed) {
            let (intended, sent, completed) = (Instant(*intended), Instant(*sent), Instant(*completed));
            let since = |instant: Instant| completed.since(instant).map(|nanos| nanos.0 as f64);
            if let (Some(at), Some(response)) = (intended.since(begin), since(intended)) {
                times.push(Times { begin: at.0, response, service: since(sent) });
            }
        }
    };
    let columns = Columns::INTENDED | Columns::SENT;
    let parts = recording.scan_columns(columns, 1, Vec::new, add)?;
    Ok(Timeline::of(scenario.duration, parts.into_iter().flatten()))
}
