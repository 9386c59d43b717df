//! Words that several renderers say in the same way.

use analysis::{Analysis, Verdict, VerdictState};
use record::RunHeader;

/// A fact on the target by its name.
fn target_fact<'a>(header: &'a RunHeader, name: &str) -> Option<&'a str> {
    header.target_facts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
}

/// Product, version and transport where the target told them, else its URL.
pub(crate) fn product(header: &RunHeader) -> String {
    let Some(product) = target_fact(header, "product") else { return header.target.clone() };
    let version = target_fact(header, "version").map_or(String::new(), |version| {
        // Some servers begin their version with their name.
        let version = version.strip_prefix(product).unwrap_or(version).trim_start();
        version.split_whitespace().next().map_or(String::new(), |word| format!(" {word}"))
    });
    let transport = target_fact(header, "transport").map_or(String::new(), |t| format!(" ({t})"));
    format!("{product}{version}{transport}")
}

/// A setting's value in the words of the database's manual: SQLite gives some of them as numbers.
pub(crate) fn setting(header: &RunHeader, name: &str, value: &str) -> String {
    if target_fact(header, "product") != Some("SQLite") {
        return value.to_owned();
    }
    let word = match (name, value) {
        ("journal_mode", mode) => return mode.to_uppercase(),
        ("synchronous", "0") => "OFF",
        ("synchronous", "1") => "NORMAL",
        ("synchronous", "2") => "FULL",
        ("synchronous", "3") => "EXTRA",
        ("temp_store", "0") => "DEFAULT",
        ("temp_store", "1") => "FILE",
        ("temp_store", "2") => "MEMORY",
        ("foreign_keys", "0") => "OFF",
        ("foreign_keys", "1") => "ON",
        _ => value,
    };
    word.to_owned()
}

/// Up to where to believe. An invalid run has no bound: nothing of it is to be used.
pub(crate) fn believable(verdict: &Verdict) -> String {
    match verdict.believable_to {
        _ if verdict.state == VerdictState::Invalid => "do not use the numbers below".to_owned(),
        None => "no printed quantile is shown to be the database's own".to_owned(),
        Some(q) if q.get() >= 1.0 => "believable to the maximum".to_owned(),
        Some(q) => format!("believable to {q}"),
    }
}

/// Why not further: what follows [`believable`] in a sentence; may be empty.
pub(crate) fn bound(verdict: &Verdict) -> String {
    match (verdict.believable_to, verdict.bound_reason.as_str()) {
        (_, "") => String::new(),
        // There is no bound that anything could lie above.
        (None, reason) => format!(": {}", reason.strip_prefix("above it ").unwrap_or(reason)),
        (Some(_), reason) => format!("; {reason}"),
    }
}

/// The load model, the workload and the target.
pub(crate) fn load(analysis: &Analysis) -> String {
    analysis.recordings.first().map_or_else(String::new, |r| {
        let load = &r.header.load;
        format!("{}: {}, {} on {}", load.model.name(), load.arrivals, r.header.workload, product(&r.header))
    })
}

/// What a figure that travels alone must say: the load model and the verdict.
pub(crate) fn origin(analysis: &Analysis) -> String {
    let verdict = &analysis.verdict;
    let bound = match verdict.state {
        VerdictState::Invalid => "do not use the numbers".to_owned(),
        _ => believable(verdict),
    };
    format!("{} · verdict {}: {bound}", load(analysis), verdict.state.name())
}
