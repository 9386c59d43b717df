//! Truetail itself, as a process of its own, against the store over TCP.

use super::bench::{Behaviour, Bench};
use super::{process, standstill};
use crate::store::Ended;
use analysis::overlay::{Overlay, OverlayOptions, OverlayStatistic};
use anyhow::{Context, bail};
use prove::grade;
use prove::invocations::Protocol;
use prove::scenario::Scenario;
use prove::truth::Truth;
use prove::{Figures, Host, ScenarioResult, Statistic, Timeline, Times};
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
    // What is asked while the sessions connect, a PING each, is no part of the scenario.
    let begin = || {
        bench.begin_anew();
    };
    process::truetail(&arguments, &[], process::limit(scenario.duration), &recording, begin)?;
    let truth = bench.truth.clone();
    let ended = bench.end()?;
    let recordings = [Recording::open(&recording)?];
    let log = TruthLog::open(&truth)?;
    let requests = kept_schedule(&scenario, &recordings[0])?;
    let overlay = analysis::overlay::overlay(&recordings, &log, &OverlayOptions::default())?;
    super::foreign::whole(&log)?;
    let analysis = analysis::analyse(&recordings, &crate::output::analysis_options())?;
    let truth = truth_of(&overlay, requests);
    let scope = &analysis.total;
    let (mut response, service) =
        (grade::stated(scope, Measure::Response), grade::stated(scope, Measure::Service));
    // What was compared request by request; whatever has no counterpart in the truth log was not measured.
    response.count = overlay.requests.compared;
    let figures = (response, service);
    let host = Host { longest: host_hiccup(scope, &ended), share: host_share(&recordings[0], &ended)? };
    let timeline = timeline(&scenario, &recordings[0])?;
    let mut result = ScenarioResult::live(scenario, spoken.name(), truth, figures, host, timeline);
    let lag = scope.measure(Measure::Lag).context("the recording has no lag")?;
    result.grade = result.grade.with_lag(lag.mean.point);
    let reasons: Vec<&str> = analysis.verdict.reasons.iter().map(|r| r.text.as_str()).collect();
    Ok(LiveRun {
        result,
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

/// The longest time that the host stood still: how late truetail sent what was due, how late the store answered, and the
/// longest gap that its spinning thread has seen. The pick-up is left out: it is the very error of a measured maximum. A
/// harness that sends late by itself does not get room by that: its mean lag has a limit.
fn host_hiccup(scope: &analysis::ScopeSummary, store: &Ended) -> Nanos {
    let lag = scope.measure(Measure::Lag).map_or(Nanos::ZERO, |summary| summary.max);
    let late = store.lateness.max().map_or(Nanos::ZERO, Nanos);
    lag.max(late).max(store.totals.standstill.longest)
}

/// The share of the time for which the host stood still: of what the store saw of it and what the client's hiccup threads did
/// the larger, since how far they overlap is not known; `None` where neither looked.
fn host_share(recording: &Recording, store: &Ended) -> anyhow::Result<Option<f64>> {
    let shares = [store.totals.standstill.share(), standstill::of_client(recording)?];
    Ok(shares.into_iter().flatten().reduce(f64::max))
}

/// How many requests the scenario asks for, if the recording has kept to its schedule: a harness that moves its intended
/// starts moves the true response times along, and would be graded by its own measure.
///
/// # Errors
/// The first request that was intended at another time, or is not there.
fn kept_schedule(scenario: &Scenario, recording: &Recording) -> anyhow::Result<u64> {
    let begin = recording.header().phases.first().context("the recording has no phase")?.begin;
    let add = |intended: &mut Vec<u64>, batch: &SampleBatch| intended.extend(&batch.intended);
    let parts = recording.scan_columns(Columns::INTENDED, 1, Vec::new, add)?;
    let mut found: Vec<u64> = parts.into_iter().flatten().collect();
    found.sort_unstable();
    let wanted = prove::truth::arrivals(scenario);
    let since = |at: u64| Instant(at).since(begin).map_or(f64::NAN, |nanos| nanos.0 as f64);
    let off = found.iter().zip(&wanted).position(|(found, wanted)| {
        let off = (since(*found) - wanted).abs();
        off.is_nan() || off >= SCHEDULE_STEP + SCHEDULE_SHARE * wanted
    });
    if let Some(at) = off {
        bail!("request {at} was intended {} after the begin, and not at {}", since(found[at]), wanted[at]);
    }
    if found.len() != wanted.len() {
        bail!("{} requests are recorded, and {} were to be offered", found.len(), wanted.len());
    }
    Ok(wanted.len() as u64)
}

/// How exactly an intended start must be that of the scenario: within so many ns …
const SCHEDULE_STEP: f64 = 2_000.0;
/// … and this share of the time since the begin: the schedule is kept in ticks, by the frequency that was measured at the
/// start, and recorded in instants, by that of the whole run. A harness that moves its schedule moves it by milliseconds.
const SCHEDULE_SHARE: f64 = 200e-6;

/// True times, from the store's log.
fn truth_of(overlay: &Overlay, requests: u64) -> Truth {
    let figures = |measure| {
        let mut figures = Figures::counted(requests);
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
