//! What stands before any figure: the load, the verdict, the key numbers, the quantiles.

use super::markup::{Column, Table, text};
use crate::text::{squared, time};
use crate::words::{bound, subject};
use analysis::{Analysis, MeasureSummary, Severity, VerdictState};
use record::{Measure, Provenance};
use units::{Bound, Estimate, OutcomeClass, Quantile, format_nanos};

/// Quantiles on the cards.
const CARDS: [f64; 3] = [0.5, 0.99, 0.999];

/// The workload and target, the load model in words, when and how long.
pub(super) fn headline(analysis: &Analysis) -> String {
    let Some(header) = analysis.recordings.first().map(|r| &r.header) else { return String::new() };
    let load = &header.load;
    let is_stated_alone = analysis.is_stated_alone();
    let offered = analysis.offered.filter(|_| !is_stated_alone);
    let offered = offered.map_or(String::new(), |r| format!(", {r} offered"));
    let seconds = (analysis.measured.1 - analysis.measured.0).as_secs_f64();
    let clients = match analysis.recordings.len() {
        1 => String::new(),
        n => format!(", {n} recordings merged from their samples"),
    };
    let from = match &header.provenance {
        Provenance::Live => String::new(),
        Provenance::Simulated => ", made on a simulated clock".to_owned(),
        Provenance::Imported { tool } => format!(", imported from {tool}"),
    };
    // Of an import, sessions and the moment may not be known.
    let sessions = match load.sessions {
        0 => String::new(),
        n => format!(", {n} sessions"),
    };
    let line = format!("{}{offered}{sessions}{clients}", load.arrivals);
    let at = match header.epoch_wall_ns {
        0 => "at a time that is not known".to_owned(),
        wall_ns => utc(wall_ns),
    };
    let requests = match is_stated_alone {
        true => String::new(),
        false => format!(", {} requests in {seconds:.1} s", count(analysis.total.counts.total)),
    };
    let when = format!("{at}{requests}{from}");
    format!(
        "<header>\n<p class=\"load\"><strong>{}</strong>: {}</p>\n<h1>{}</h1>\n<p class=\"when\">{}</p>\n</header>\n",
        text(load.model.name()),
        text(&line),
        text(&subject(header)),
        text(&when)
    )
}

/// Thousands apart.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `2026-11-21 10:36:51 UTC`.
fn utc(wall_ns: u64) -> String {
    let seconds = wall_ns / 1_000_000_000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March put the leap day last; 146,097 days are 400 of them.
    let since_march = days + 719_468;
    let (era, of_era) = (since_march / 146_097, since_march % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Suspect => VerdictState::Suspect.name(),
        Severity::Invalid => VerdictState::Invalid.name(),
    }
}

/// The state, up to where to believe, and why not further.
pub(super) fn verdict(analysis: &Analysis) -> String {
    let verdict = &analysis.verdict;
    let state = verdict.state.name();
    let believable = match verdict.believable_to {
        None => "No printed quantile is shown to be the database’s own".to_owned(),
        Some(q) if q.get() >= 1.0 => "Believable to the maximum".to_owned(),
        Some(q) => format!("Believable to {q}"),
    };
    let bound = bound(verdict);
    let believable = match verdict.state {
        VerdictState::Invalid => {
            // The bound weighs the harness and the host alone; it must not be read as a pardon.
            let first = believable.chars().next().map_or_else(String::new, |c| c.to_lowercase().to_string());
            let rest: String = believable.chars().skip(1).collect();
            format!("Not to be used. But for the reasons below: {first}{rest}")
        }
        _ => believable,
    };
    let mut markup = format!(
        "<section class=\"verdict {state}\" aria-label=\"verdict\">\n<p class=\"says\">\
         <span class=\"badge {state}\">{state}</span> <strong>{}</strong>{}.</p>\n",
        text(&believable),
        text(&bound)
    );
    if !verdict.reasons.is_empty() {
        markup.push_str("<ul>\n");
        for reason in &verdict.reasons {
            let name = severity_name(reason.severity);
            let hint = match reason.hint.as_str() {
                "" => String::new(),
                hint => format!("<span class=\"hint\">{}</span>", text(hint)),
            };
            markup.push_str(&format!(
                "<li data-kind=\"{}\"><span class=\"badge small {name}\">{name}</span><span>{}{hint}</span></li>\n",
                reason.kind.name(),
                text(&reason.text)
            ));
        }
        markup.push_str("</ul>\n");
    }
    markup + "</section>\n"
}

fn card(name: &str, value: &str, below: &str) -> String {
    format!(
        "<div class=\"card\"><dt>{}</dt><dd><b>{}</b><small>{}</small></dd></div>\n",
        text(name),
        text(value),
        text(below)
    )
}

/// Rates, and the quantiles of the response time (of the service time in a closed loop).
pub(super) fn key_numbers(analysis: &Analysis) -> String {
    if analysis.is_stated_alone() {
        return String::new();
    }
    let counts = &analysis.total.counts;
    let ok: u64 = counts.outcomes.iter().filter(|(o, _)| o.class() == OutcomeClass::Ok).map(|(_, n)| n).sum();
    let mut cards = String::new();
    if let Some(offered) = analysis.offered {
        cards += &card("offered", &offered.to_string(), "by the schedule");
        let share = 100.0 * analysis.achieved.get() / offered.get().max(f64::MIN_POSITIVE);
        cards += &card("achieved", &analysis.achieved.to_string(), &format!("{share:.1} % of offered"));
    } else {
        cards += &card("achieved", &analysis.achieved.to_string(), "as fast as the answers came");
    }
    let share = 100.0 * ok as f64 / counts.total.max(1) as f64;
    cards += &card("goodput", &analysis.goodput.to_string(), &format!("{share:.2} % ended ok"));
    let Some(whole) = analysis.total.whole() else {
        return format!("<dl class=\"cards\">\n{cards}</dl>\n");
    };
    for q in CARDS.into_iter().filter_map(Quantile::new) {
        let name = format!("{q} {}", whole.measure.name());
        cards += &match whole.quantile(q) {
            Some(e) => card(&name, &point(e), &interval(e).unwrap_or_else(|| "no interval".to_owned())),
            None => card(&name, "–", &needs(q)),
        };
    }
    let name = format!("max {}", whole.measure.name());
    let (value, how) = maximum(whole);
    cards += &card(&name, &value, how);
    format!("<dl class=\"cards\">\n{cards}</dl>\n")
}

fn point(e: &Estimate) -> String {
    let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
    format!("{least}{}", time(e.point))
}

/// `[259, 433] µs`; each limit with its own unit where they differ.
fn interval(e: &Estimate) -> Option<String> {
    e.interval.map(|(low, high)| bracketed(&time(low), &time(high)))
}

fn bracketed(low: &str, high: &str) -> String {
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((other, its))) if unit == its => format!("[{number}, {other}] {unit}"),
        _ => format!("[{low}, {high}]"),
    }
}

/// The largest value and what it is: a censored request may have taken longer than was seen of it.
fn maximum(m: &MeasureSummary) -> (String, &'static str) {
    match m.censored {
        0 => (format_nanos(m.max), "observed"),
        _ => (format!("≥ {}", format_nanos(m.max)), "as far as seen"),
    }
}

fn needs(q: Quantile) -> String {
    format!("needs {} samples", count(q.samples_needed()))
}

/// Point and interval of a time as a table's cell.
pub(super) fn time_cell(e: &Estimate) -> String {
    let interval = interval(e).unwrap_or_else(|| "no interval".to_owned());
    format!("{} <small>{}</small>", text(&point(e)), text(&interval))
}

/// Two decimals while they mean something.
fn ratio(value: f64) -> String {
    if value < 99.995 { format!("{value:.2}") } else { count(value.round() as u64) }
}

fn ratio_cell(e: &Estimate) -> String {
    let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
    let interval = match e.interval {
        Some((low, high)) => format!("[{}, {}]", ratio(low), ratio(high)),
        None => "no interval".to_owned(),
    };
    format!("{least}{} <small>{interval}</small>", ratio(e.point))
}

/// A ratio that a time of zero would divide is unknown.
fn known(e: Option<&Estimate>, cell: fn(&Estimate) -> String) -> String {
    e.map_or_else(|| "–".to_owned(), cell)
}

/// In the square of the unit of the standard deviation.
fn variance_cell(e: &Estimate) -> String {
    let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
    let interval = match e.interval {
        Some((low, high)) => bracketed(&squared(low), &squared(high)),
        None => "no interval".to_owned(),
    };
    format!("{least}{} <small>{interval}</small>", squared(e.point))
}

/// One run has one maximum and one minimum: where the next ones would lie, nothing in it says.
fn extreme_cell(e: &Estimate) -> String {
    match e.interval {
        Some(_) => ratio_cell(e),
        None => {
            let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
            format!("{least}{} <small>observed</small>", ratio(e.point))
        }
    }
}

fn quantile_cell(m: &MeasureSummary, q: Quantile) -> String {
    m.quantile(q).map_or_else(|| format!("<small>{}</small>", needs(q)), time_cell)
}

/// All printed quantiles of all measures, with maxima, means and spreads.
pub(super) fn quantiles(analysis: &Analysis) -> String {
    let present: Vec<&MeasureSummary> = analysis.total.measures.iter().filter(|m| m.n > 0).collect();
    let Some(first) = present.first() else { return "<p>No request was measured.</p>\n".to_owned() };
    let mut head = vec![(Column::Words, "")];
    head.extend(present.iter().map(|m| (Column::Number, m.measure.name())));
    let caption =
        format!("Quantiles of all measured requests, with {:.0} % intervals", first.mean.level * 100.0);
    let mut table = Table::new(&caption, &head);
    let mut row = |name: &str, cell: &dyn Fn(&MeasureSummary) -> String| {
        let cells = present.iter().map(|m| cell(m));
        table.row(&std::iter::once(text(name)).chain(cells).collect::<Vec<_>>());
    };
    row("requests", &|m| count(m.n));
    row("min", &|m| format!("{} <small>observed</small>", format_nanos(m.min)));
    let mut asked: Vec<Quantile> =
        first.quantiles.iter().map(|(q, _)| *q).chain(first.withheld.clone()).collect();
    asked.sort_by(|a, b| a.get().total_cmp(&b.get()));
    for q in asked {
        row(&q.name(), &|m| quantile_cell(m, q));
    }
    row("max", &|m| {
        let (value, how) = maximum(m);
        format!("{value} <small>{how}</small>")
    });
    row("mean", &|m| time_cell(&m.mean));
    row("standard deviation", &|m| time_cell(&m.sd));
    row("variance", &|m| variance_cell(&m.variance));
    row("sd / mean", &|m| known(m.spreads.coefficient_of_variation.as_ref(), ratio_cell));
    row("p99 / mean", &|m| known(m.spreads.p99_over_mean.as_ref(), ratio_cell));
    row("max / median", &|m| known(m.spreads.max_over_median.as_ref(), extreme_cell));
    row("median / min", &|m| known(m.spreads.median_over_min.as_ref(), extreme_cell));
    if present.iter().any(|m| m.censored > 0) {
        row("censored", &|m| count(m.censored));
    }
    table.finish() + &definitions(&present) + &above(analysis)
}

fn definitions(present: &[&MeasureSummary]) -> String {
    let meaning = |m: Measure| match m {
        Measure::Response => "from when the schedule meant a request to start until its answer was seen",
        Measure::Service => "from handing the request over until its answer was seen",
        Measure::PoolWait => "how long no session was free for it",
        Measure::Lag => "the measuring side’s own delay before sending",
        Measure::PickUp => "its own delay between the answer’s arrival at the kernel and seeing it",
    };
    let each = present.iter().map(|m| format!("<b>{}</b>: {}", m.measure.name(), meaning(m.measure)));
    format!("<p class=\"note\">{}.</p>\n", each.collect::<Vec<_>>().join("; "))
}

/// How many requests took longer than round limits: maxima say nothing without it.
fn above(analysis: &Analysis) -> String {
    let Some(whole) = analysis.total.whole().filter(|m| !m.above.is_empty()) else { return String::new() };
    let parts = whole.above.iter().map(|(limit, n)| format!("<b>{}</b> above {limit}", count(*n)));
    format!(
        "<p class=\"note\">Of the {}s: {}.</p>\n",
        whole.measure.name(),
        parts.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let shown =
            [0, 951_782_400, 951_868_799, 1_795_257_411, 4_107_542_399].map(|s| utc(s * 1_000_000_000));
        assert_eq!(
            shown,
            [
                "1970-01-01 00:00:00 UTC",
                "2000-02-29 00:00:00 UTC",
                "2000-02-29 23:59:59 UTC",
                "2026-11-21 10:36:51 UTC",
                "2100-02-28 23:59:59 UTC"
            ]
        );
    }

    #[test]
    fn counts_have_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
