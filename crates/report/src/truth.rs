//! What text and page say of a store's truth, in the same words.

use crate::staleness::graded;
use crate::text::time;
use analysis::overlay::{
    Overlay, OverlayDifference, OverlayJoin, OverlayMeasure, OverlayStatistic, OverlayValue,
};
use stats::{Recovery, Settled};
use units::{format_count, format_nanos};

/// Differences that are told one by one.
const TOLD: usize = 3;

/// How many of the requests could be paired, and why not all.
pub(crate) fn pairing(overlay: &Overlay) -> String {
    let counts = &overlay.requests;
    let mut words = format!(
        "{} of {} requests sent were paired with rows of the store's log ({}; clocks within {})",
        format_count(counts.matched),
        format_count(counts.sent),
        overlay.store.name,
        overlay.tolerance,
    );
    let left_out = [
        (counts.given_up, "given up by the client"),
        (counts.unanswered, "not answered by the store"),
        (counts.warm_up, "of the warm-up"),
    ];
    let left_out: Vec<String> = left_out
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, why)| format!("{} {why}", format_count(n)))
        .collect();
    if !left_out.is_empty() {
        words += &format!("; of these, left out below: {}", left_out.join(", "));
    }
    words
}

/// What speaks against the pairing or the log; empty when nothing does.
pub(crate) fn doubts(overlay: &Overlay) -> Vec<String> {
    let (counts, rows, store) = (&overlay.requests, &overlay.rows, &overlay.store);
    let mut doubts = Vec::new();
    let mut doubt = |n: u64, text: &str| {
        if n > 0 {
            doubts.push(format!("{} {text}", format_count(n)));
        }
    };
    if counts.matched == 0 && counts.sent > 0 {
        doubt(
            counts.sent,
            "requests were sent, and the log has none of them: it is of another store, or of another time",
        );
    }
    doubt(
        counts.unmatched,
        "requests sent have no truth: their rows are missing, or could not be told apart",
    );
    doubt(
        rows.ambiguous,
        "rows belong to connections that several sessions could have had: left out, not guessed",
    );
    doubt(rows.outside, "rows lie outside of all requests: the set-up of connections, or other clients");
    doubt(store.lost, "rows are missing in the log: its ring was full, or its disk refused them");
    if !store.complete {
        doubts.push("the log was cut short: the store still runs, or was killed".to_owned());
    }
    doubts.extend(store.unreadable.iter().map(|(file, why)| format!("{file} could not be read: {why}")));
    doubts
}

/// The difference, the store's own lateness, rules, staleness, and the largest differences: (label, text).
pub(crate) fn statements(overlay: &Overlay) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let difference: Vec<String> =
        overlay.difference.iter().map(|(s, ns)| format!("{} {}", name(*s), signed(*ns))).collect();
    if !difference.is_empty() {
        let text = format!("{}: the network and both hosts' delays, in service times", difference.join(", "));
        all.push(("measured − true", text));
    }
    let lateness: Vec<String> =
        overlay.lateness.iter().map(|(s, ns)| format!("{} {}", name(*s), format_nanos(*ns))).collect();
    if !lateness.is_empty() {
        all.push((
            "store's lateness",
            format!("{}: answers written after they were due", lateness.join(", ")),
        ));
    }
    let acted: Vec<String> = overlay
        .rules
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(rule, n)| format!("{rule} {}", format_count(*n)))
        .collect();
    if !acted.is_empty() {
        all.push(("rules acted on", format!("{} of the paired requests", acted.join(", "))));
    }
    if let Some(staleness) = &overlay.staleness {
        let times: Vec<String> =
            staleness.time.iter().map(|(s, ns)| format!("{} {}", name(*s), format_nanos(*ns))).collect();
        let by = if times.is_empty() {
            String::new()
        } else {
            format!(", up to {} versions behind, by {}", staleness.versions_max, times.join(", "))
        };
        let (stale, reads) = (format_count(staleness.stale), format_count(staleness.reads));
        all.push(("stale reads", format!("{stale} of {reads}{by}")));
    }
    all.extend(overlay.lag.as_ref().map(|lag| ("probed lag", graded(lag))));
    all.extend(overlay.join.as_ref().map(|join| ("a node joined", joined(join))));
    all.extend(overlay.largest.iter().take(TOLD).map(|one| ("largest apart", told(one))));
    all
}

/// When times were stable again: as measured, and by the store.
pub(crate) fn joined(join: &OverlayJoin) -> String {
    let name = join.measure.name();
    let of = |recovery: &Recovery| match recovery.settled {
        Settled::After(after) => format!("stable {:.0} s after it began to join", after.as_secs_f64()),
        Settled::NotReached => match recovery.last_outside {
            None => "not stable before the end".to_owned(),
            Some(window) => format!(
                "not stable before the end (p95 was {} in the second from {:.0} s on)",
                window.value.map_or(String::new(), time),
                window.begin.0 as f64 / 1e9
            ),
        },
        Settled::TooShort => "seen for too short a time to tell".to_owned(),
    };
    let (measured, truth) = (of(&join.measured), of(&join.truth));
    let levels = join.measured.worst.zip(join.measured.level);
    let levels = levels.map_or_else(String::new, |(worst, level)| {
        format!("; p95 up to {}, in the end {}", time(worst), time(level))
    });
    match measured == truth {
        true => format!("{name}s are {measured}, as measured and by the store{levels}"),
        false => format!("{name}s as measured are {measured}; by the store {truth}{levels}"),
    }
}

/// What the store was told to do, and what stable means.
pub(crate) fn join_detail(join: &OverlayJoin) -> String {
    let begin = join.begin.0 as f64 / 1e9;
    format!(
        "the store's `--join '{}'` began at {begin:.1} s; stable: every window of 1 s has a p95 within 20 % of the final one",
        join.detail
    )
}

fn told(one: &OverlayDifference) -> String {
    let rules = if one.rules.is_empty() { String::new() } else { format!("; {}", one.rules.join(", ")) };
    format!(
        "request {} ({}, {}) at {:.3} s: true service {}, measured {}{rules}",
        one.seq,
        one.operation,
        one.outcome.name(),
        one.at.0 as f64 / 1e9,
        one.truth,
        one.measured,
    )
}

/// Mean, p50, …, max.
pub(crate) fn name(statistic: OverlayStatistic) -> String {
    match statistic {
        OverlayStatistic::Min => "least".to_owned(),
        OverlayStatistic::Mean => "mean".to_owned(),
        OverlayStatistic::Quantile(q) => q.name(),
        OverlayStatistic::Max => "max".to_owned(),
    }
}

/// A duration with its sign.
pub(crate) fn signed(ns: f64) -> String {
    let sign = if ns < 0.0 { "−" } else { "+" };
    format!("{sign}{}", time(ns.abs()))
}

/// The error, also as a share of the truth.
pub(crate) fn error(value: &OverlayValue) -> String {
    let share = value.relative_error().map_or_else(String::new, |share| {
        let sign = if share < 0.0 { "−" } else { "+" };
        format!(" ({sign}{:.1} %)", 100.0 * share.abs())
    });
    format!("{}{share}", signed(value.error()))
}

/// The statistics of all measures, in order: those of the first.
pub(crate) fn statistics(measures: &[OverlayMeasure]) -> Vec<OverlayStatistic> {
    measures.first().map(|measure| measure.values.iter().map(|v| v.statistic).collect()).unwrap_or_default()
}
