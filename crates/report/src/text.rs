//! The terminal page.
//!
//! The first line names the load model, the verdict stands before any number, and every number has its
//! interval or says why it has none. What the numbers depend on stands at the end.

mod anatomy;
mod attribution;
mod business;
mod comparison;
mod elasticity;
mod facts;
mod floor;
mod gaps;
mod jvm;
pub(crate) mod nosqlmark;
mod paint;
mod predictability;
pub(crate) mod prove;
mod repeats;
mod retries;
mod scopes;
mod server_log;
mod sheet;
mod staleness;
mod stated;
mod statements;
mod table;
pub(crate) mod tell_tale;
mod times;
mod truth;

pub use attribution::attribution_page;
pub use comparison::comparison_page;
pub use elasticity::elasticity_page;
pub use floor::floor_page;
pub(crate) use gaps::gaps_table;
pub use predictability::predictability_page;
pub use prove::prove_page;
pub use repeats::repeats_page;
pub use stated::stated_comparison_page;
pub use tell_tale::tell_tale_page;

use crate::words::{believable, bound, subject};
use analysis::{Analysis, MeasureSummary, Scope, ScopeSummary, Severity, VerdictState};
use paint::Paint;
use record::{Measure, PhaseKind};
use units::{Bound, Estimate, Nanos, OutcomeClass, format_nanos};

/// Rows of a table of operations, phases or clients, at most; the rest is in the report.
const MOST_ROWS: usize = 12;

/// How to render.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use ANSI colours.
    pub colour: bool,
}

/// The whole page: at most about 60 lines, and 20 more where there is a store's truth.
pub fn page(analysis: &Analysis, options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut page = Page { analysis, paint, width: options.width, text: String::new() };
    page.headline();
    page.verdict();
    if !analysis.is_stated_alone() {
        page.load();
        page.times();
    }
    page.stated();
    page.floor();
    page.business();
    page.operations();
    page.statements();
    page.phases();
    page.clients();
    page.attribution();
    page.staleness();
    page.truth();
    page.jvm();
    page.server_log();
    page.events();
    page.facts();
    page.text.truncate(page.text.trim_end().len());
    page.text + "\n"
}

struct Page<'a> {
    analysis: &'a Analysis,
    paint: Paint,
    width: usize,
    text: String,
}

/// With a capital at its begin, as the first word of a sentence.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A duration of fractional nanoseconds.
pub(crate) fn time(ns: f64) -> String {
    format_nanos(Nanos(ns.max(0.0).round() as u64))
}

/// A variance, given in ns²: three significant digits in the first unit that needs no more than four before
/// the point (10,000 of one are 0.01 of the next).
pub(crate) fn squared(ns2: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "ns²"), (1e6, "µs²"), (1e12, "ms²"), (1e18, "s²")];
    let variance = ns2.max(0.0);
    let fits = |(size, _): &&(f64, &str)| variance < 9_999.5 * size;
    let (size, unit) = UNITS.iter().find(fits).unwrap_or(&UNITS[3]);
    let number = match variance / size {
        v if v > 0.0 && v < 0.0995 => format!("{v:.4}"),
        v if v > 0.0 && v < 0.995 => format!("{v:.3}"),
        v => ratio(v),
    };
    format!("{number} {unit}")
}

/// A variance with its interval.
fn estimate_squared(e: &Estimate) -> String {
    let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
    match e.interval {
        Some((low, high)) => format!("{least}{} [{}, {}]", squared(e.point), squared(low), squared(high)),
        None => format!("{least}{}", squared(e.point)),
    }
}

/// Without its interval.
fn estimate_point(e: &Estimate) -> String {
    let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
    format!("{least}{}", time(e.point))
}

fn estimate_time(e: &Estimate) -> String {
    let point = estimate_point(e);
    match e.interval {
        Some((low, high)) => format!("{point} [{}, {}]", time(low), time(high)),
        None => point,
    }
}

/// Where requests were given up, what was seen is the least that it can be.
fn longest(s: &MeasureSummary) -> String {
    format!("{}{}", if s.censored > 0 { "≥ " } else { "" }, format_nanos(s.max))
}

fn estimate_ratio(e: &Estimate) -> String {
    match e.interval {
        Some((low, high)) => format!("{} [{}, {}]", ratio(e.point), ratio(low), ratio(high)),
        None => ratio(e.point),
    }
}

/// Three significant digits, two below a tenth; integers keep all of theirs.
fn ratio(value: f64) -> String {
    match value.abs() {
        v if v > 0.0 && v < 1e-6 => format!("{value:.1e}"),
        v if v > 0.0 && v < 0.0995 => {
            let digits = 1 - v.log10().floor() as i32;
            format!("{value:.*}", usize::try_from(digits).unwrap_or(0))
        }
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        v if v < 1e15 => count(value.max(0.0).round() as u64),
        _ => format!("{value:.2e}"),
    }
}

/// Thousands apart.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    match share {
        _ if part == whole || part == 0 => format!("{share:.0} %"),
        s if s < 0.01 => "< 0.01 %".to_owned(),
        // Not all of it must not look like all of it.
        s if s > 99.99 => "> 99.99 %".to_owned(),
        s if (10.0..99.0).contains(&s) => format!("{share:.0} %"),
        _ => format!("{share:.2} %"),
    }
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Wraps at the page's width, with a hanging indent.
    fn wrapped(&mut self, first: &str, rest: &str, text: &str) {
        for line in paint::wrap(first, rest, text, self.width) {
            self.line(&line);
        }
    }

    fn headline(&mut self) {
        let header = &self.analysis.recordings[0].header;
        let load = &header.load;
        let sessions = if load.sessions == 1 { "session" } else { "sessions" };
        let sessions = match load.sessions {
            // Of an import, that they are not known.
            0 => String::new(),
            n => format!("{n} {sessions}, "),
        };
        let headline = format!("{}: {}, {sessions}{}", load.model.name(), load.arrivals, subject(header));
        self.wrapped("", "  ", &headline);
        if self.analysis.recordings.len() > 1 {
            self.line(&format!("{} recordings merged from their samples", self.analysis.recordings.len()));
        }
        self.line("");
    }

    fn verdict(&mut self) {
        let verdict = &self.analysis.verdict;
        let name = self.paint.state(verdict.state);
        let mut text = format!("verdict {name}: {}", believable(verdict));
        if verdict.state != VerdictState::Invalid {
            text += &bound(verdict);
        }
        self.wrapped("", "  ", &text);
        for reason in &verdict.reasons {
            let mark = match reason.severity {
                Severity::Invalid => self.paint.state(VerdictState::Invalid),
                Severity::Suspect => self.paint.state(VerdictState::Suspect),
                Severity::Note => "note".to_owned(),
            };
            self.wrapped("  ", "    ", &format!("{mark}: {}", reason.text));
            if !reason.hint.is_empty() && reason.severity != Severity::Note {
                self.wrapped("    hint: ", "          ", &reason.hint);
            }
        }
        self.line("");
    }

    fn load(&mut self) {
        let a = self.analysis;
        let seconds = (a.measured.1 - a.measured.0).as_secs_f64();
        let offered = a.offered.map_or(String::new(), |r| format!("offered {r}   "));
        self.line(&format!(
            "{offered}achieved {}   goodput {}   {} requests in {seconds:.1} s",
            a.achieved,
            a.goodput,
            count(a.total.counts.total)
        ));
        let counts = &a.total.counts;
        let by_class: Vec<String> = OutcomeClass::ALL
            .into_iter()
            .filter_map(|class| {
                let of_class = counts.outcomes.iter().filter(|(o, _)| o.class() == class);
                let n: u64 = of_class.clone().map(|(_, n)| n).sum();
                let shown = n > 0 || class == OutcomeClass::Ok;
                let kinds = of_class.filter(|(_, n)| class == OutcomeClass::Error && *n > 0);
                let kinds: Vec<String> = kinds.map(|(o, n)| format!("{} {}", count(*n), o.name())).collect();
                let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
                let share = percent(n, counts.total);
                shown.then(|| format!("{} {} ({share}{kinds})", class.name(), count(n)))
            })
            .collect();
        self.wrapped("", "  ", &format!("outcomes: {}", by_class.join("   ")));
        self.retries();
        self.line("");
    }

    fn times(&mut self) {
        if self.summary(Measure::Response).or_else(|| self.summary(Measure::Service)).is_none() {
            self.line("no request was measured");
            self.line("");
            return;
        }
        let tables = times::tables(&self.analysis.total, self.width);
        for table in &tables {
            self.text.push_str(&table.render(&self.paint, self.width));
        }
        let mut note = format!("[low, high]: {:.0} % intervals", self.level() * 100.0);
        if self.text.contains(times::NOT_KNOWN) {
            note += &format!(
                "; {}: too few requests are independent, or a few of them decide, to state one",
                times::NOT_KNOWN
            );
        }
        for line in paint::wrap("", "  ", &note, self.width) {
            self.line(&self.paint.faint(&line));
        }
        self.anatomy();
        self.line("");
    }

    fn level(&self) -> f64 {
        self.analysis.total.measures.first().map_or(0.95, |m| m.mean.level)
    }

    fn summary(&self, measure: Measure) -> Option<&MeasureSummary> {
        self.analysis.total.measures.iter().find(|s| s.measure == measure && s.n > 0)
    }

    fn operations(&mut self) {
        let scopes: Vec<&ScopeSummary> =
            self.analysis.scopes.iter().filter(|s| matches!(s.scope, Scope::Operation(_))).collect();
        if scopes.len() > 1 {
            self.scope_table("operation", &scopes);
        }
    }

    fn phases(&mut self) {
        let scopes: Vec<&ScopeSummary> =
            self.analysis.scopes.iter().filter(|s| matches!(s.scope, Scope::Phase(_))).collect();
        let header = &self.analysis.recordings[0].header;
        let measured = header.phases.iter().filter(|p| p.kind == PhaseKind::Measured).count();
        if measured > 1 {
            self.scope_table("phase", &scopes);
        }
    }

    fn clients(&mut self) {
        let scopes: Vec<&ScopeSummary> =
            self.analysis.scopes.iter().filter(|s| matches!(s.scope, Scope::Client(_))).collect();
        if scopes.len() > 1 {
            self.scope_table("client", &scopes);
        }
    }

    fn scope_table(&mut self, kind: &str, scopes: &[&ScopeSummary]) {
        let has_response = self.summary(Measure::Response).is_some();
        let measure = if has_response { Measure::Response } else { Measure::Service };
        let shown = &scopes[..scopes.len().min(MOST_ROWS)];
        self.text.push_str(&scopes::table(kind, measure, shown).render(&self.paint, self.width));
        if scopes.len() > shown.len() {
            self.line(&format!("… {} more in the report", scopes.len() - shown.len()));
        }
        self.line("");
    }

    fn events(&mut self) {
        let shown: Vec<_> = crate::jvm::other_events(self.analysis).collect();
        if shown.is_empty() {
            return;
        }
        self.line(&format!("events: {}", shown.len()));
        for event in shown.iter().take(8) {
            let length = event.end - event.begin;
            let span = if length.0 > 0 { format!(" for {length}") } else { String::new() };
            let text = format!(
                "{:.3} s{span}  {}  {}  {}",
                event.begin.0 as f64 / 1e9,
                event.kind.name(),
                event.subject,
                event.detail
            );
            self.wrapped("  ", "    ", &text);
        }
        if shown.len() > 8 {
            self.line(&format!("  … {} more in the report", shown.len() - 8));
        }
        self.line("");
    }

    fn facts(&mut self) {
        let facts = facts::facts(self.analysis);
        if facts.is_empty() {
            return;
        }
        self.line(&self.paint.head("how the numbers were made"));
        let indent = " ".repeat(facts::LABEL);
        for (label, text) in &facts {
            self.wrapped(&format!("{label:<width$}", width = facts::LABEL), &indent, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_are_short_and_keep_three_digits() {
        let shown: Vec<String> =
            [0.0, 4.0, 9_999.0, 10_001.0, 858.8e9, 1.93e12, 33.6e15, 6.25e18, 2e24, -1.0]
                .map(squared)
                .to_vec();
        let expected = [
            "0.00 ns²",
            "4.00 ns²",
            "9,999 ns²",
            "0.0100 µs²",
            "0.859 ms²",
            "1.93 ms²",
            "0.0336 s²",
            "6.25 s²",
        ];
        assert_eq!(shown[..8], expected);
        assert_eq!(shown[8..], ["2,000,000 s²", "0.00 ns²"]);
    }
}
