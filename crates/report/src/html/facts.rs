//! How the numbers were made: configuration, target, host, clock, capabilities, noise sources.

use super::markup::{Column, Table, facts, text};
use crate::words::{observers, setting};
use analysis::{Analysis, RecordingInfo};
use record::{NoiseSourceFacts, Provenance};
use units::{Nanos, format_nanos};

/// In place of what a foreign tool does not tell.
const NOT_KNOWN: &str = "not known";

/// One block for each recording, then the noise sources of all.
pub(super) fn facts_of(analysis: &Analysis) -> String {
    let several = analysis.recordings.len() > 1;
    let blocks = analysis.recordings.iter().map(|r| recording(r, several));
    let told = observers(&analysis.observers)
        .map(|words| format!("<p class=\"note\">Observers: {}.</p>\n", text(&words)));
    blocks.collect::<String>() + &noise_sources(&analysis.noise_sources) + &told.unwrap_or_default()
}

fn pairs(list: &[(String, String)]) -> impl Iterator<Item = (&str, String)> {
    list.iter().map(|(name, value)| (name.as_str(), value.clone()))
}

fn recording(info: &RecordingInfo, several: bool) -> String {
    let header = &info.header;
    let title = if several { format!("<h3>{}</h3>\n", text(&info.name)) } else { String::new() };
    let timeout = header.load.timeout.map_or_else(|| "none".to_owned(), format_nanos);
    let is_imported = matches!(header.provenance, Provenance::Imported { .. });
    // What a foreign tool does not tell is not zero.
    let known = |number: String| if is_imported && number == "0" { NOT_KNOWN.to_owned() } else { number };
    let load = [
        ("model", header.load.model.name().to_owned()),
        ("arrivals", header.load.arrivals.clone()),
        ("sessions", known(header.load.sessions.to_string())),
        ("worker threads", known(header.load.workers.to_string())),
        ("timeout", if is_imported { NOT_KNOWN.to_owned() } else { timeout }),
        ("pacing", header.load.pacing.clone()),
        ("seed", if is_imported { NOT_KNOWN.to_owned() } else { header.load.seed.to_string() }),
    ];
    let workload = [("name", header.workload.clone()), ("operations", header.operations.join(", "))];
    let host = &header.host;
    let memory = match host.memory_bytes {
        0 => String::new(),
        bytes => format!("{:.1} GiB", bytes as f64 / f64::from(1u32 << 30)),
    };
    let about_host = [
        ("name", host.name.clone()),
        ("CPU", host.cpu.clone()),
        ("CPUs", known(host.cpus.to_string())),
        ("memory", memory),
        ("kernel", host.kernel.clone()),
        ("system", host.system.clone()),
        ("virtualisation", host.virtualisation.clone()),
    ];
    let ended = if info.complete { "orderly" } else { "cut short" };
    let about = [
        ("directory", info.name.clone()),
        ("written by", format!("truetail {}", header.tool_version)),
        ("command", header.command.clone()),
        ("ended", ended.to_owned()),
        ("samples dropped", info.dropped.to_string()),
    ];
    let unreadable = info.unreadable.iter().map(|(file, why)| (file.as_str(), why.clone()));
    let target_facts = header.target_facts.iter().map(|(n, v)| (n.as_str(), setting(header, n, v)));
    let sections = [
        facts("Load", load),
        facts("Workload", workload.into_iter().chain(pairs(&header.workload_facts))),
        facts("Target", std::iter::once(("target", header.target.clone())).chain(target_facts)),
        facts("Measuring host", about_host.into_iter().chain(pairs(&host.more))),
        facts("Clock", pairs(&header.clock_facts)),
        facts("Asked of the system, and granted", pairs(&header.capabilities)),
        facts("Recording", about),
        facts("Unreadable parts", unreadable),
    ];
    let config = match header.config.trim() {
        "" => String::new(),
        config => format!(
            "<details><summary>Effective configuration (TOML)</summary><pre tabindex=\"0\">{}</pre></details>\n",
            text(config)
        ),
    };
    format!("{title}<div class=\"grid\">\n{}</div>\n{config}", sections.concat())
}

/// Those that were not available, too: what nobody watched can't be excluded.
fn noise_sources(sources: &[NoiseSourceFacts]) -> String {
    if sources.is_empty() {
        return "<p class=\"note\">No noise source was asked: nothing is known of the host’s own stalls.</p>\n".to_owned();
    }
    let head = [
        (Column::Words, "noise source"),
        (Column::Words, "unit"),
        (Column::Words, "available"),
        (Column::Words, "cost of a reading, or why not"),
    ];
    let mut table = Table::new("What watched the measuring host", &head);
    for source in sources {
        let (available, detail) = match &source.available {
            Ok(cost) => ("yes", format_nanos(Nanos(*cost))),
            Err(why) => ("no", why.clone()),
        };
        table.row(&[text(&source.name), text(&source.unit), available.to_owned(), text(&detail)]);
    }
    table.finish()
}
