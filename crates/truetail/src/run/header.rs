//! The header of a recording: what was asked and what was found.

use crate::host;
use crate::registry;
use crate::settings::RunOptions;
use driver::{Execution, Isolation, StatementSpec, TargetFacts, TargetUrl, statement_names};
use load::LoadSpec;
use record::{LoadFacts, PhaseFacts, PhaseKind, Provenance, RunHeader, StatementFacts};
use units::{Instant, Nanos};
use workload::WorkloadFacts;

/// What the header is made from.
pub(super) struct Parts<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) url: &'a TargetUrl,
    pub(super) spec: &'a LoadSpec,
    pub(super) workload: WorkloadFacts,
    /// The level that sessions ask for; `None` is the target's own default.
    pub(super) isolation: Option<Isolation>,
    pub(super) target: &'a TargetFacts,
    pub(super) execution: Execution,
    pub(super) calibration: &'a clock::Calibration,
    /// The prepared statements, where what is inside of requests is timed.
    pub(super) statements: Option<&'a [StatementSpec]>,
}

pub(super) fn make(parts: &Parts<'_>) -> anyhow::Result<RunHeader> {
    let spec = parts.spec;
    let workers = load::rings_needed(spec, parts.execution) - 1;
    let mut workload_facts = vec![("scale".to_owned(), parts.workload.scale.to_string())];
    workload_facts.extend(parts.isolation.map(|level| ("isolation".to_owned(), level.name().to_owned())));
    workload_facts.extend(parts.workload.parameters.clone());
    Ok(RunHeader {
        tool_version: crate::VERSION.to_owned(),
        command: command_line(parts.url),
        client: parts.options.client().number,
        epoch_wall_ns: clock::wall_time_ns(),
        provenance: Provenance::Live,
        load: LoadFacts {
            model: spec.model.load_model(),
            arrivals: spec.model.describe(),
            sessions: spec.sessions,
            workers: workers as u32,
            timeout: spec.timeout,
            pacing: spec.pacing.name().to_owned(),
            seed: parts.options.seed().0,
        },
        phases: phases(spec)?,
        operations: spec.operations.clone(),
        statements: parts.statements.map(statement_facts),
        workload: parts.workload.name.clone(),
        workload_facts,
        target: parts.url.to_string(),
        target_facts: target_facts(parts.target),
        host: host::facts(),
        clock_facts: clock_facts(parts.calibration),
        capabilities: capabilities(parts)?,
        config: parts.options.to_toml()?,
    })
}

fn statement_facts(statements: &[StatementSpec]) -> Vec<StatementFacts> {
    let named = statement_names(statements).into_iter().zip(statements);
    named.map(|(name, spec)| StatementFacts { name, text: spec.sql.clone() }).collect()
}

/// The command line, with the target's URL in its form without a password.
fn command_line(url: &TargetUrl) -> String {
    let hide = |word: String| match TargetUrl::parse(&word) {
        Ok(found)
            if (word.contains("://") || registry::driver_of(&found).is_ok())
                && !word.starts_with("jdbc:") =>
        {
            found.to_string()
        }
        _ => without_password(word),
    };
    let words: Vec<String> = std::env::args().skip(1).map(hide).collect();
    if words.is_empty() { format!("truetail run {url}") } else { format!("truetail {}", words.join(" ")) }
}

/// Properties such as `db.passwd=…`, and URLs as values, without what nobody else may know.
fn without_password(word: String) -> String {
    let Some((name, value)) = word.split_once('=') else { return word };
    let lower = word.to_ascii_lowercase();
    if name.to_ascii_lowercase().contains("passw") {
        return format!("{name}=…");
    }
    match TargetUrl::parse(value) {
        Ok(url) if value.contains("://") && !value.starts_with("jdbc:") => format!("{name}={url}"),
        _ if lower.contains("passw") => format!("{name}=…"),
        _ => word,
    }
}

fn phases(spec: &LoadSpec) -> anyhow::Result<Vec<PhaseFacts>> {
    let mut begin = Instant::EPOCH + load::LEAD_IN;
    let mut phases = Vec::with_capacity(spec.phases.len());
    for phase in &spec.phases {
        let end = begin + phase.duration;
        phases.push(PhaseFacts {
            name: phase.name.clone(),
            kind: if phase.warm_up { PhaseKind::WarmUp } else { PhaseKind::Measured },
            begin,
            end,
            offered: phase.rate,
            sessions: phase.sessions.unwrap_or(spec.sessions),
            mix: spec.phase_mix(phase)?,
        });
        begin = end;
    }
    Ok(phases)
}

fn target_facts(facts: &TargetFacts) -> Vec<(String, String)> {
    let mut list = vec![
        ("product".to_owned(), facts.product.clone()),
        ("version".to_owned(), facts.version.clone()),
        ("address".to_owned(), facts.address.clone()),
        ("transport".to_owned(), facts.transport.clone()),
        ("driver".to_owned(), if facts.native { "native" } else { "foreign library" }.to_owned()),
        ("kernel stamps".to_owned(), facts.kernel_stamps.to_string()),
    ];
    list.extend(facts.settings.clone());
    list
}

fn clock_facts(calibration: &clock::Calibration) -> Vec<(String, String)> {
    let facts = calibration.facts();
    let mut list = vec![
        ("kind".to_owned(), facts.kind.name().to_owned()),
        ("cost of a reading".to_owned(), facts.cost.to_string()),
        ("ticks per ns".to_owned(), format!("{:.6}", facts.ticks_per_nano)),
    ];
    if let Some(reason) = &facts.fallback_reason {
        list.push((analysis::facts::CLOCK_FALLBACK.to_owned(), reason.clone()));
    }
    if facts.kind == clock::ClockKind::Tsc {
        list.push((analysis::facts::CLOCK_SKEW.to_owned(), skew(facts.ticks_per_nano)));
    }
    list
}

/// The worst skew between the first CPU and each of the others (at most 16).
fn skew(ticks_per_nano: f64) -> String {
    let cpus = load::available_cpus();
    let Some((first, others)) = cpus.split_first() else { return "unknown".to_owned() };
    let measured = others.iter().take(16).filter_map(|&cpu| clock::tsc_skew(*first, cpu));
    let worst = measured.max_by_key(|s| s.offset_ticks.unsigned_abs());
    match worst {
        None => "not measured: one CPU".to_owned(),
        Some(skew) => format!(
            "{:+.0} ns ± {:.0} ns",
            skew.offset_ticks as f64 / ticks_per_nano,
            skew.uncertainty_ticks as f64 / ticks_per_nano
        ),
    }
}

/// What was asked of the system, and what was granted.
fn capabilities(parts: &Parts<'_>) -> anyhow::Result<Vec<(String, String)>> {
    let mut list = Vec::new();
    let slack = clock::set_timer_slack(Nanos(1));
    list.push(("timer slack 1 ns".to_owned(), if slack { "granted" } else { "refused" }.to_owned()));
    list.push(slices(parts));
    if let Some(cpus) = &parts.options.cpus {
        let asked = format!("workers on CPUs {cpus}");
        list.push((asked, pinning(&parts.spec.cpus)));
    }
    if let Some(cpus) = parts.options.server_cpus()? {
        list.push(host::server_cpus(&cpus, &parts.target.server_pids));
    }
    Ok(list)
}

/// Where recorder, observer, view and supervisor run when the workers have CPUs of their own.
pub(super) fn helpers(spec: &LoadSpec, off_workers: &load::OffWorkers) -> Option<(String, String)> {
    let asked = format!("other threads off CPUs {}", load::show_cpu_list(&spec.cpus));
    (!spec.cpus.is_empty()).then(|| (asked, off_workers.found(&spec.cpus)))
}

/// Tries a worker's short slices on a thread of its own.
fn slices(parts: &Parts<'_>) -> (String, String) {
    let asked = format!("slices of {} µs for workers", load::WORKER_SLICE.0 / 1000);
    if parts.execution == Execution::Blocking {
        return (asked, "not asked: the workers are the database".to_owned());
    }
    let tried = std::thread::spawn(|| clock::ask_for_short_slices(load::WORKER_SLICE)).join();
    (asked, tried.map_or_else(|_| "not verified".to_owned(), |answer| answer.to_string()))
}

/// Tries the pinning on a thread of its own and reads it back.
fn pinning(cpus: &[usize]) -> String {
    let cpus = cpus.to_vec();
    let tried = std::thread::spawn(move || load::pin_to_set(&cpus).map(|()| load::available_cpus() == cpus));
    match tried.join() {
        Ok(Ok(true)) => "granted".to_owned(),
        Ok(Ok(false)) => "granted, but read back otherwise".to_owned(),
        Ok(Err(error)) => format!("refused: {error}"),
        Err(_) => "not verified".to_owned(),
    }
}
