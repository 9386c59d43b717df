//! What a recording of foreign results says of itself.

use super::Request;
use analysis::facts;
use anyhow::bail;
use import::{LoggedPhase, Survey};
use record::{HostFacts, LoadFacts, LoadModel, PhaseFacts, PhaseKind, Provenance, RunHeader};
use units::{Instant, Nanos, PerSecond};

/// What no foreign output tells.
const NOT_KNOWN: &str = "not known";

/// The header of a log of requests.
pub(super) fn of_requests(request: &Request, survey: &Survey) -> anyhow::Result<RunHeader> {
    let tool = &survey.stated.tool;
    let model = model(survey.has_schedule, survey.stated.asked);
    let sessions = request.sessions.unwrap_or(u32::try_from(survey.sessions).unwrap_or(u32::MAX));
    let mut header = of_tool(request, tool, model, sessions);
    header.epoch_wall_ns = survey.earliest;
    header.phases = phases(request, survey, sessions)?;
    header.operations = survey.operations.clone();
    let moments = match survey.is_wall_time {
        true => format!("{tool}’s wall times, of {}", survey.moment_resolution),
        false => "of a clock of the file’s own".to_owned(),
    };
    header.clock_facts = vec![
        ("moments".to_owned(), moments),
        (facts::MOMENTS_TOLD_TO.to_owned(), format!("{} ns", survey.moment_resolution.0)),
        ("lengths of time".to_owned(), format!("of {}", survey.length_resolution)),
        (facts::LENGTHS_TOLD_TO.to_owned(), format!("{} ns", survey.length_resolution.0)),
    ];
    let skipped = (survey.skipped > 0).then(|| ("not sent".to_owned(), survey.skipped.to_string()));
    header.workload_facts.extend(skipped);
    Ok(header)
}

/// The model of a load whose times count from a schedule or do not, with the rate that it was asked for.
pub(super) fn model(has_schedule: bool, asked: Option<PerSecond>) -> LoadModel {
    match (has_schedule, asked) {
        (true, _) => LoadModel::Open,
        // It waits for each answer, and tries to keep a rate all the same.
        (false, Some(_)) => LoadModel::ThrottledClosed,
        (false, None) => LoadModel::Closed,
    }
}

/// The header of another tool's results; phases and operations are still to come.
pub(super) fn of_tool(request: &Request, tool: &str, model: LoadModel, sessions: u32) -> RunHeader {
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    let files: Vec<String> = request.files.iter().map(|file| file.display().to_string()).collect();
    let arrivals = match model {
        LoadModel::Open => format!("{tool}’s own schedule"),
        _ => format!("as {tool} made it"),
    };
    RunHeader {
        tool_version: crate::VERSION.to_owned(),
        command: request.command.clone(),
        client: 0,
        epoch_wall_ns: 0,
        provenance: Provenance::Imported { tool: tool.to_owned() },
        load: LoadFacts {
            model,
            arrivals,
            sessions,
            workers: 0,
            timeout: None,
            pacing: NOT_KNOWN.to_owned(),
            seed: 0,
        },
        phases: Vec::new(),
        operations: Vec::new(),
        statements: None,
        workload: or(&request.workload, facts::NO_WORKLOAD),
        workload_facts: vec![("imported from".to_owned(), files.join(", "))],
        target: or(&request.target, facts::NO_TARGET),
        target_facts: Vec::new(),
        host: HostFacts::default(),
        clock_facts: Vec::new(),
        capabilities: Vec::new(),
        config: String::new(),
    }
}

/// The rate that the tool was asked for, as its own command line or summary says it; else, where its log names those that it
/// did not send, what it had to send.
fn offered(survey: &Survey) -> Option<PerSecond> {
    let length = Nanos(survey.latest - survey.earliest);
    let counted = (survey.skipped > 0 && length > Nanos::ZERO)
        .then(|| PerSecond::of(survey.requests.saturating_add(survey.skipped), length));
    survey.stated.asked.or(counted)
}

/// The tool's phases, and the warm-up before them.
fn phases(request: &Request, survey: &Survey, sessions: u32) -> anyhow::Result<Vec<PhaseFacts>> {
    let at = |moment: u64| Instant(moment - survey.earliest);
    let length = Nanos(survey.latest - survey.earliest);
    let phase = |name: String, kind, begin: Instant, end: Instant| PhaseFacts {
        name,
        kind,
        begin,
        end,
        offered: offered(survey).map(|rate| (rate, rate)),
        sessions,
        // Which share each operation was meant to have is not told.
        mix: Vec::new(),
    };
    let mut phases = Vec::new();
    let mut from = Instant::EPOCH;
    if let Some(warm_up) = request.warm_up {
        if warm_up >= length {
            bail!(
                "--warmup {warm_up}: the requests span {length} alone, so nothing would be measured; name less"
            );
        }
        from = Instant(warm_up.0);
        phases.push(phase("warm-up".to_owned(), PhaseKind::WarmUp, Instant::EPOCH, from));
    }
    let counting: Vec<&LoggedPhase> = survey.phases.iter().filter(|phase| !phase.is_warm_up()).collect();
    let Some(first) = counting.iter().map(|phase| phase.begin).min() else {
        bail!(
            "all requests are of the warm-up phase, so nothing would be measured: hand over the whole file"
        );
    };
    for logged in &survey.phases {
        let (begin, end) = (at(logged.begin).max(from), at(logged.end).max(from));
        phases.push(match counting.len() {
            // Its last requests may be answered when the next phase has begun.
            _ if logged.is_warm_up() => {
                phase("warm-up".to_owned(), PhaseKind::WarmUp, begin, end.min(at(first)).max(begin))
            }
            1 => phase("measured".to_owned(), PhaseKind::Measured, begin, end),
            _ => phase(format!("phase {}", logged.number), PhaseKind::Measured, begin, end),
        });
    }
    Ok(phases)
}
