//! Outcomes, operations, phases, clients and events as tables.

use super::head::{count, time_cell};
use super::markup::{Column, Table, text};
use analysis::{Analysis, Counts, Scope, ScopeSummary};
use units::{OutcomeClass, Quantile, format_nanos};

/// Quantiles of the tables by operation, phase and client.
const SHOWN: [f64; 4] = [0.5, 0.95, 0.99, 0.999];
/// Events in the page; the recording has them all.
const MOST_EVENTS: usize = 500;

/// All of them; those with nothing to show are left out.
pub(super) fn tables(analysis: &Analysis) -> String {
    let by = |title: &str, wanted: fn(&Scope) -> bool| {
        let found: Vec<&ScopeSummary> = analysis.scopes.iter().filter(|s| wanted(&s.scope)).collect();
        if found.is_empty() { String::new() } else { scopes(title, &found) }
    };
    let mut markup = outcomes(analysis);
    markup += &by("By operation", |s| matches!(s, Scope::Operation(_)));
    markup += &retries(analysis);
    markup += &by("By phase", |s| matches!(s, Scope::Phase(_)));
    markup += &by("By client", |s| matches!(s, Scope::Client(_)));
    markup + &clients(analysis) + &events(analysis)
}

fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    match share {
        s if s == 0.0 || s == 100.0 => format!("{s:.0} %"),
        s if s < 0.001 => "< 0.001 %".to_owned(),
        s => format!("{s:.3} %"),
    }
}

fn outcomes(analysis: &Analysis) -> String {
    let counts = &analysis.total.counts;
    let head = [
        (Column::Words, "outcome"),
        (Column::Words, "class"),
        (Column::Number, "requests"),
        (Column::Number, "share"),
    ];
    let mut table = Table::new("How the measured requests ended", &head);
    for (outcome, n) in &counts.outcomes {
        table.row(&[
            text(outcome.name()),
            text(outcome.class().name()),
            count(*n),
            text(&percent(*n, counts.total)),
        ]);
    }
    table.row(&["all".to_owned(), String::new(), count(counts.total), String::new()]);
    let retries = match counts.retried {
        0 => String::new(),
        _ => format!("<p class=\"note\">Tried again: {}.</p>\n", text(&crate::words::retries(counts))),
    };
    table.finish() + &retries
}

/// The operations of which requests were tried again.
fn retries(analysis: &Analysis) -> String {
    let is_retried = |s: &&ScopeSummary| matches!(s.scope, Scope::Operation(_)) && s.counts.retried > 0;
    let found: Vec<&ScopeSummary> = analysis.scopes.iter().filter(is_retried).collect();
    if found.is_empty() {
        return String::new();
    }
    let head = [
        (Column::Words, ""),
        (Column::Number, "requests"),
        (Column::Number, "retried"),
        (Column::Number, "retries"),
        (Column::Number, "in vain"),
    ];
    let mut table = Table::new("Tried again, by operation", &head);
    for scope in found {
        let c = &scope.counts;
        let numbers = [c.total, c.retried, c.retries, c.gave_up].map(count);
        table.row(&[vec![text(&scope.name)], numbers.to_vec()].concat());
    }
    table.finish()
}

fn not_ok(counts: &Counts) -> u64 {
    counts.outcomes.iter().filter(|(o, _)| o.class() != OutcomeClass::Ok).map(|(_, n)| n).sum()
}

fn scopes(title: &str, found: &[&ScopeSummary]) -> String {
    let measure = found.iter().find_map(|s| s.whole()).map_or("", |m| m.measure.name());
    let shown: Vec<Quantile> = SHOWN.into_iter().filter_map(Quantile::new).collect();
    let names: Vec<String> = shown.iter().map(|q| q.name()).collect();
    let mut head = vec![(Column::Words, ""), (Column::Number, "requests"), (Column::Number, "not ok")];
    head.extend(names.iter().map(|n| (Column::Number, n.as_str())));
    head.extend([(Column::Number, "max"), (Column::Number, "mean")]);
    let caption = if measure.is_empty() { title.to_owned() } else { format!("{title}: {measure}") };
    let mut table = Table::new(&caption, &head);
    for scope in found {
        let mut row = vec![text(&scope.name), count(scope.counts.total), count(not_ok(&scope.counts))];
        if let Some(m) = scope.whole() {
            row.extend(shown.iter().map(|q| m.quantile(*q).map_or_else(|| "–".to_owned(), time_cell)));
            row.push(format_nanos(m.max));
            row.push(time_cell(&m.mean));
        }
        table.row(&row);
    }
    table.finish()
}

/// Only where there are several: else they are the totals once more.
fn clients(analysis: &Analysis) -> String {
    if analysis.clients.len() < 2 {
        return String::new();
    }
    let head = [
        (Column::Words, "client"),
        (Column::Words, "host"),
        (Column::Number, "requests, warm-up included"),
        (Column::Number, "not ok"),
    ];
    let mut table = Table::new("Load machines", &head);
    for c in &analysis.clients {
        table.row(&[c.client.to_string(), text(&c.host), count(c.counts.total), count(not_ok(&c.counts))]);
    }
    table.finish()
}

fn events(analysis: &Analysis) -> String {
    let all: Vec<_> = crate::jvm::other_events(analysis).collect();
    if all.is_empty() {
        return "<p class=\"note\">No event besides the phases was recorded.</p>\n".to_owned();
    }
    let head = [
        (Column::Number, "at"),
        (Column::Number, "for"),
        (Column::Words, "event"),
        (Column::Words, "of"),
        (Column::Words, "in words"),
    ];
    let mut table = Table::new("Events", &head);
    for e in all.iter().take(MOST_EVENTS) {
        let length = match e.end.since(e.begin) {
            Some(length) if length.0 > 0 => format_nanos(length),
            _ => String::new(),
        };
        let at = format!("{:.3} s", e.begin.0 as f64 / 1e9);
        table.row(&[at, length, text(e.kind.name()), text(&e.subject), text(&e.detail)]);
    }
    let more = match all.len().saturating_sub(MOST_EVENTS) {
        0 => String::new(),
        n => format!("<p class=\"note\">… and {} more in the recording.</p>\n", count(n as u64)),
    };
    table.finish() + &more
}
