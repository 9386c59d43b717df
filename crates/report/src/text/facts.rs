//! What the numbers depend on: the same facts as the report's, in a few dense lines.

use super::count;
use crate::words::{by_cpu, observers, setting};
use analysis::{Analysis, RecordingInfo};
use record::{EventKind, NoiseSourceFacts, PhaseFacts, PhaseKind, Provenance, RunHeader};
use units::format_nanos;

/// Columns of the labels at the left.
pub(super) const LABEL: usize = 10;
/// Entries of a list such as the mix, at most; the rest is in the report.
const MOST_ENTRIES: usize = 16;
/// Characters of a value, at most.
const LONGEST_VALUE: usize = 60;
/// Clients whose differing facts are shown, at most.
const MOST_CLIENTS: usize = 3;

/// (label, text) line by line. Of several recordings those of the first, and what differs in the others.
pub(super) fn facts(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let Some((first, others)) = analysis.recordings.split_first() else { return Vec::new() };
    let mut lines = of_recording(first, analysis);
    let shared = lines.clone();
    for other in others.iter().take(MOST_CLIENTS) {
        let differing = of_recording(other, analysis).into_iter().filter(|line| !shared.contains(line));
        let client = other.header.client;
        lines.extend(differing.map(|(label, text)| (label, format!("client {client}: {text}"))));
    }
    if others.len() > MOST_CLIENTS {
        lines.push(("", format!("… {} more clients in the report", others.len() - MOST_CLIENTS)));
    }
    lines.extend(observers(&analysis.observers).map(|text| ("observers", text)));
    lines.push(("noise", noise(&analysis.noise_sources)));
    lines
}

fn of_recording(info: &RecordingInfo, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let header = &info.header;
    let lines = [
        ("target", target(header)),
        ("workload", workload(header)),
        ("mix", mix(header)),
        ("load", load(header)),
        ("host", host(header)),
        ("clock", clock(header, analysis)),
        ("granted", sentences(&header.capabilities)),
        ("recorder", recorder(info)),
    ];
    lines.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// On one line, and cut where it is too long.
fn value(raw: &str) -> String {
    let line: String = raw.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= LONGEST_VALUE {
        return line;
    }
    line.chars().take(LONGEST_VALUE - 1).chain(['…']).collect()
}

/// `a, b, … 3 more`.
fn list(entries: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = entries.collect();
    let mut text = all[..all.len().min(MOST_ENTRIES)].join(", ");
    if all.len() > MOST_ENTRIES {
        text += &format!(", … {} more", all.len() - MOST_ENTRIES);
    }
    text
}

/// `name=value, name=value`.
fn pairs(facts: &[(String, String)]) -> String {
    list(facts.iter().map(|(name, v)| format!("{name}={}", value(v))))
}

/// `what in words: what in words; …`.
fn sentences(facts: &[(String, String)]) -> String {
    let shown = facts.iter().take(MOST_ENTRIES).map(|(name, v)| format!("{name}: {}", value(v)));
    shown.collect::<Vec<_>>().join("; ")
}

/// What it is, the settings that were read back, then where it is and how it was spoken to.
fn target(header: &RunHeader) -> String {
    const OTHER: [&str; 6] = ["product", "version", "transport", "address", "driver", "kernel stamps"];
    let fact = |name: &str| header.target_facts.iter().find(|(n, _)| n == name).map(|(_, v)| value(v));
    let product = match (fact("product"), fact("version")) {
        // Some servers begin their version with their name.
        (Some(product), Some(version)) if version.starts_with(&product) => version,
        (product, version) => [product, version].into_iter().flatten().collect::<Vec<_>>().join(" "),
    };
    let identity = list([product].into_iter().filter(|p| !p.is_empty()).chain(fact("transport")));
    let settings = header.target_facts.iter().filter(|(n, _)| !OTHER.contains(&n.as_str()));
    let settings = list(settings.map(|(n, v)| format!("{n}={}", value(&setting(header, n, v)))));
    let driver = fact("driver").map(|driver| format!("driver: {driver}"));
    let stamps = fact("kernel stamps").map(|stamps| match stamps.as_str() {
        "true" => "kernel stamps".to_owned(),
        _ => "no kernel stamps".to_owned(),
    });
    let reached = list([fact("address"), driver, stamps].into_iter().flatten());
    let parts = [identity, settings, reached].into_iter().filter(|p| !p.is_empty());
    let text = parts.collect::<Vec<_>>().join("; ");
    if text.is_empty() { value(&header.target) } else { text }
}

fn workload(header: &RunHeader) -> String {
    let facts = pairs(&header.workload_facts);
    if facts.is_empty() { header.workload.clone() } else { format!("{}: {facts}", header.workload) }
}

/// Shares of the operations in the first measured phase.
fn mix(header: &RunHeader) -> String {
    let mut measured = header.phases.iter().filter(|p| p.kind == PhaseKind::Measured);
    let Some(first) = measured.next() else { return String::new() };
    if first.mix.is_empty() {
        return String::new();
    }
    let total: f64 = first.mix.iter().sum();
    let shares = header.operations.iter().zip(&first.mix).filter(|(_, weight)| **weight > 0.0);
    let shares = list(shares.map(|(name, weight)| format!("{name} {}", share(100.0 * weight / total))));
    if measured.any(|other| other.mix != first.mix) {
        return format!("{shares} in the first phase, others in later ones");
    }
    shares
}

/// `12.5 %`, without a fraction that is zero.
fn share(percent: f64) -> String {
    let text = format!("{percent:.2}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn load(header: &RunHeader) -> String {
    let load = &header.load;
    if let Provenance::Imported { tool } = &header.provenance {
        let phases = list(header.phases.iter().map(|phase| phase.name.clone()));
        return format!(
            "made by {tool}, whose pacing, workers and time limit are not known; phases: {phases}"
        );
    }
    let plural = |n: u32, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let limit = load.timeout.map_or_else(|| "no time limit".to_owned(), |t| format!("time limit {t}"));
    let phase = |p: &PhaseFacts| {
        let length = p.end.since(p.begin).map(format_nanos);
        match (p.kind, length) {
            (PhaseKind::WarmUp, Some(length)) => format!("{} {length}", p.name),
            _ => p.name.clone(),
        }
    };
    format!(
        "{} on {}; pacing: {}; {limit}; seed {}; phases: {}",
        plural(load.sessions, "session"),
        plural(load.workers, "worker"),
        load.pacing,
        load.seed,
        list(header.phases.iter().map(phase)),
    )
}

fn host(header: &RunHeader) -> String {
    let host = &header.host;
    let memory = format!("{:.1} GiB", host.memory_bytes as f64 / f64::from(1u32 << 30));
    let known = [
        (!host.cpu.is_empty()).then(|| value(&host.cpu)),
        (host.cpus > 0).then(|| format!("{} CPU{}", host.cpus, if host.cpus == 1 { "" } else { "s" })),
        (host.memory_bytes > 0).then_some(memory),
        (!host.kernel.is_empty()).then(|| format!("kernel {}", value(&host.kernel))),
        (!host.system.is_empty()).then(|| value(&host.system)),
        (!host.virtualisation.is_empty()).then(|| format!("virtualisation: {}", value(&host.virtualisation))),
    ];
    let more = host.more.iter().map(|(name, v)| format!("{name}: {}", value(v)));
    let facts = list(known.into_iter().flatten().chain(more));
    match host.name.as_str() {
        "" => facts,
        name if facts.is_empty() => value(name),
        name => format!("{}: {facts}", value(name)),
    }
}

/// What it is and what was checked of it: steps of the wall clock are events.
fn clock(header: &RunHeader, analysis: &Analysis) -> String {
    if header.clock_facts.is_empty() {
        return String::new();
    }
    let steps = analysis.events.iter().filter(|e| e.kind == EventKind::ClockStep).count();
    let steps = match steps {
        0 => "no step of the wall clock seen".to_owned(),
        1 => "1 step of the wall clock seen".to_owned(),
        n => format!("{n} steps of the wall clock seen"),
    };
    format!("{}; {steps}", sentences(&header.clock_facts))
}

fn recorder(info: &RecordingInfo) -> String {
    let ended = if info.complete { "complete" } else { "cut short" };
    let unreadable = match info.unreadable.len() {
        0 => String::new(),
        1 => ", 1 part unreadable".to_owned(),
        n => format!(", {n} parts unreadable"),
    };
    let dropped = match info.dropped {
        0 => "no sample dropped".to_owned(),
        1 => "1 sample dropped".to_owned(),
        n => format!("{} samples dropped", count(n)),
    };
    format!("truetail {}, {ended}, {dropped}{unreadable}", value(&info.header.tool_version))
}

/// What nobody watched can't be excluded: those that were missing come with the reason.
fn noise(sources: &[NoiseSourceFacts]) -> String {
    let watching = sources.iter().filter(|s| s.available.is_ok()).map(|s| s.name.as_str());
    let watched = list(by_cpu(watching).into_iter());
    let missing = sources.iter().filter_map(|s| Some((&s.name, s.available.as_ref().err()?)));
    let missing = list(missing.map(|(name, why)| format!("{name} ({})", value(why))));
    match (watched.is_empty(), missing.is_empty()) {
        (true, true) => "nothing watched the host".to_owned(),
        (false, true) => format!("{watched}; all sources available"),
        (true, false) => format!("nothing watched the host; not available: {missing}"),
        (false, false) => format!("{watched}; not available: {missing}"),
    }
}
