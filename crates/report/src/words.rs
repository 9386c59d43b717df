//! Words that several renderers say in the same way.

use crate::text::count;
use analysis::{Analysis, Counts, Observers, Verdict, VerdictState, facts};
use record::{Provenance, RunHeader};

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

/// What was asked of whom: `ycsb-a on PostgreSQL 17.5 (TCP)`. Of what an import has no name for, the tool's stands: `run of sysbench,
/// imported`.
pub(crate) fn subject(header: &RunHeader) -> String {
    let (workload, product) = (header.workload.as_str(), product(header));
    let Provenance::Imported { tool } = &header.provenance else { return format!("{workload} on {product}") };
    match (workload == facts::NO_WORKLOAD, product == facts::NO_TARGET) {
        (true, true) => format!("run of {tool}, imported"),
        (true, false) => format!("run of {tool} on {product}, imported"),
        (false, true) => format!("{workload}, run of {tool}, imported"),
        (false, false) => format!("{workload} on {product}"),
    }
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

/// What was tried again: `10 requests, 19 times inside of their times, 1 of them in vain`.
pub(crate) fn retries(counts: &Counts) -> String {
    let requests = if counts.retried == 1 { "request" } else { "requests" };
    let times = if counts.retries == 1 { "once" } else { &format!("{} times", count(counts.retries)) };
    let in_vain = match counts.gave_up {
        0 => String::new(),
        n => format!(", {} of them in vain", count(n)),
    };
    format!("{} {requests}, {times} inside of their times{in_vain}", count(counts.retried))
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
        format!("{}: {}, {}", load.model.name(), load.arrivals, subject(&r.header))
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

/// `28 sources, 2 unavailable, cost 0.62 % of one core`; nothing where there is nothing to say.
pub(crate) fn observers(observers: &Observers) -> Option<String> {
    let Observers { sources, unavailable, core_share, off } = observers;
    if *sources == 0 && *unavailable == 0 {
        return off.then(|| "switched off: the host was not watched".to_owned());
    }
    let count = if *sources == 1 { "1 source".to_owned() } else { format!("{sources} sources") };
    let cost = match core_share {
        Some(share) => format!("cost {:.2} % of one core", share * 100.0),
        None => "their cost is not known".to_owned(),
    };
    let some = if *off { "; switched off for some of the recordings" } else { "" };
    Some(format!("{count}, {unavailable} unavailable, {cost}{some}"))
}

/// Names of sources, those that differ in a CPU's number as one: `hiccup cpu 0, 1`.
pub(crate) fn by_cpu<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in names {
        let (stem, cpu) = match name.rsplit_once(' ') {
            Some((stem, number)) if stem.ends_with(" cpu") && number.parse::<u32>().is_ok() => {
                (stem, Some(number))
            }
            _ => (name, None),
        };
        match groups.iter_mut().find(|(known, cpus)| *known == stem && !cpus.is_empty() && cpu.is_some()) {
            Some((_, cpus)) => cpus.extend(cpu),
            None => groups.push((stem, cpu.into_iter().collect())),
        }
    }
    let show = |(stem, cpus): (&str, Vec<&str>)| match cpus.len() {
        0 => stem.to_owned(),
        1..=4 => format!("{stem} {}", cpus.join(" ")),
        n => format!("{stem} ({n} CPUs)"),
    };
    groups.into_iter().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_single_cpus_are_named_together() {
        let names = [
            "hiccup cpu 0",
            "hiccup cpu 1",
            "hiccup watched",
            "softirqs cpu 12",
            "pressure cpu",
            "hiccup cpu 7",
        ];
        let shown = ["hiccup cpu 0 1 7", "hiccup watched", "softirqs cpu 12", "pressure cpu"];
        assert_eq!(by_cpu(names.into_iter()), shown);
        let many: Vec<String> = (0..9).map(|cpu| format!("hiccup cpu {cpu}")).collect();
        assert_eq!(by_cpu(many.iter().map(String::as_str)), ["hiccup cpu (9 CPUs)"]);
    }

    #[test]
    fn observers_are_counted_with_their_cost() {
        let of = |sources, unavailable, core_share, off| {
            observers(&Observers { sources, unavailable, core_share, off }).unwrap_or_default()
        };
        assert_eq!(of(28, 2, Some(0.0062), false), "28 sources, 2 unavailable, cost 0.62 % of one core");
        assert_eq!(of(1, 0, None, false), "1 source, 0 unavailable, their cost is not known");
        assert_eq!(of(0, 0, None, true), "switched off: the host was not watched");
        assert_eq!(of(0, 0, None, false), "");
        assert!(of(3, 0, None, true).ends_with("; switched off for some of the recordings"));
    }
}
