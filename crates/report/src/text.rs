//! The terminal page.
//!
//! The first line names the load model, the verdict stands before any number, and every number has its
//! interval or says why it has none.

mod comparison;
mod paint;
mod table;

pub use comparison::comparison_page;

use analysis::{Analysis, MeasureSummary, Scope, ScopeSummary, Severity, VerdictState};
use paint::Paint;
use record::{EventKind, Measure, PhaseKind, RunHeader};
use table::Table;
use units::{Bound, Estimate, Nanos, OutcomeClass, Quantile, format_nanos};

/// How to render.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use ANSI colours.
    pub colour: bool,
}

/// The whole page: at most about 60 lines.
pub fn page(analysis: &Analysis, options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut page = Page { analysis, paint, width: options.width, text: String::new() };
    page.headline();
    page.verdict();
    page.load();
    page.times();
    page.spreads();
    page.operations();
    page.phases();
    page.clients();
    page.events();
    page.text
}

struct Page<'a> {
    analysis: &'a Analysis,
    paint: Paint,
    width: usize,
    text: String,
}

/// A duration of fractional nanoseconds.
pub(crate) fn time(ns: f64) -> String {
    format_nanos(Nanos(ns.max(0.0).round() as u64))
}

fn estimate_time(e: &Estimate) -> String {
    let least = if e.bound == Bound::AtLeast { "≥ " } else { "" };
    match e.interval {
        Some((low, high)) => format!("{least}{} [{}, {}]", time(e.point), time(low), time(high)),
        None => format!("{least}{}", time(e.point)),
    }
}

fn estimate_ratio(e: &Estimate) -> String {
    match e.interval {
        Some((low, high)) => format!("{:.2} [{low:.2}, {high:.2}]", e.point),
        None => format!("{:.2}", e.point),
    }
}

fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if share >= 10.0 || share == 0.0 { format!("{share:.0} %") } else { format!("{share:.2} %") }
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
        let offered = self.analysis.offered.map_or(String::new(), |r| format!(", {r} offered"));
        let headline = format!(
            "{}: {}{offered}, {} sessions, {} on {}",
            load.model.name(),
            load.arrivals,
            load.sessions,
            header.workload,
            product(header),
        );
        self.wrapped("", "  ", &headline);
        if self.analysis.recordings.len() > 1 {
            self.line(&format!("{} recordings merged from their samples", self.analysis.recordings.len()));
        }
        self.line("");
    }

    fn verdict(&mut self) {
        let verdict = &self.analysis.verdict;
        let name = self.paint.state(verdict.state);
        let believable = match verdict.believable_to {
            None => "no printed quantile is shown to be the database's own".to_owned(),
            Some(q) if q.get() >= 1.0 => "believable to the maximum".to_owned(),
            Some(q) => format!("believable to {q}"),
        };
        let mut text = format!("verdict {name}: {believable}");
        if !verdict.bound_reason.is_empty() {
            text += &format!("; {}", verdict.bound_reason);
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
            a.achieved, a.goodput, a.total.counts.total
        ));
        let counts = &a.total.counts;
        let by_class: Vec<String> = OutcomeClass::ALL
            .into_iter()
            .filter_map(|class| {
                let of_class = counts.outcomes.iter().filter(|(o, _)| o.class() == class);
                let n: u64 = of_class.map(|(_, n)| n).sum();
                let shown = n > 0 || class == OutcomeClass::Ok;
                shown.then(|| format!("{} {n} ({})", class.name(), percent(n, counts.total)))
            })
            .collect();
        let retries =
            if counts.retries > 0 { format!("   retries {}", counts.retries) } else { String::new() };
        self.line(&format!("outcomes: {}{retries}", by_class.join("   ")));
        self.line("");
    }

    fn times(&mut self) {
        let summaries: Vec<&MeasureSummary> = [Measure::Response, Measure::Service]
            .into_iter()
            .filter_map(|m| self.analysis.total.measures.iter().find(|s| s.measure == m))
            .collect();
        let mut head = vec![String::new()];
        head.extend(summaries.iter().map(|s| format!("{} (n = {})", s.measure.name(), s.n)));
        for measure in [Measure::PoolWait, Measure::Lag, Measure::PickUp] {
            if self.summary(measure).is_some() {
                head.push(measure.name().to_owned());
            }
        }
        let mut table = Table::new(head);
        for q in Quantile::PRINTED {
            let mut row = vec![q.name()];
            row.extend(summaries.iter().map(|s| quantile_cell(s, q)));
            row.extend(self.harness_cells(q));
            table.row(row);
        }
        let mut row = vec!["max".to_owned()];
        row.extend(summaries.iter().map(|s| format!("{} observed", format_nanos(s.max))));
        for measure in [Measure::PoolWait, Measure::Lag, Measure::PickUp] {
            row.extend(self.summary(measure).map(|s| format_nanos(s.max)));
        }
        table.row(row);
        let mut row = vec!["mean".to_owned()];
        row.extend(summaries.iter().map(|s| estimate_time(&s.mean)));
        for measure in [Measure::PoolWait, Measure::Lag, Measure::PickUp] {
            row.extend(self.summary(measure).map(|s| time(s.mean.point)));
        }
        table.row(row);
        self.text.push_str(&table.render(&self.paint));
        self.line(&self.paint.faint(&format!("[low, high]: {:.0} % intervals", self.level() * 100.0)));
        self.line("");
    }

    fn level(&self) -> f64 {
        self.analysis.total.measures.first().map_or(0.95, |m| m.mean.level)
    }

    fn summary(&self, measure: Measure) -> Option<&MeasureSummary> {
        self.analysis.total.measures.iter().find(|s| s.measure == measure && s.n > 0)
    }

    fn harness_cells(&self, q: Quantile) -> Vec<String> {
        [Measure::PoolWait, Measure::Lag, Measure::PickUp]
            .into_iter()
            .filter_map(|m| self.summary(m))
            .map(|s| {
                let found = s.quantiles.iter().find(|(printed, _)| *printed == q);
                found.map_or_else(|| "–".to_owned(), |(_, e)| time(e.point))
            })
            .collect()
    }

    fn spreads(&mut self) {
        for measure in [Measure::Response, Measure::Service] {
            let Some(s) = self.summary(measure) else { continue };
            let spreads = &s.spreads;
            let p99 = spreads.p99_over_mean.as_ref().map_or_else(|| "–".to_owned(), estimate_ratio);
            let text = format!(
                "sd {}   sd/mean {}   p99/mean {p99}   max/median {}   median/min {}",
                estimate_time(&s.sd),
                estimate_ratio(&spreads.coefficient_of_variation),
                estimate_ratio(&spreads.max_over_median),
                estimate_ratio(&spreads.median_over_min),
            );
            self.wrapped(&format!("{}: ", measure.name()), "  ", &text);
        }
        self.line("");
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
        let main =
            if self.summary(Measure::Response).is_some() { Measure::Response } else { Measure::Service };
        let shown = [Quantile::PRINTED[0], Quantile::PRINTED[4], Quantile::PRINTED[5]];
        let mut head = vec![format!("{kind} ({})", main.name()), "requests".to_owned(), "not ok".to_owned()];
        head.extend(shown.iter().map(|q| q.name()));
        head.push("max".to_owned());
        let mut table = Table::new(head);
        for scope in scopes {
            let ok: u64 = scope
                .counts
                .outcomes
                .iter()
                .filter(|(o, _)| o.class() == OutcomeClass::Ok)
                .map(|(_, n)| n)
                .sum();
            let mut row = vec![
                scope.name.clone(),
                scope.counts.total.to_string(),
                (scope.counts.total - ok).to_string(),
            ];
            let summary = scope.measures.iter().find(|m| m.measure == main && m.n > 0);
            for q in shown {
                let found = summary.and_then(|s| s.quantiles.iter().find(|(p, _)| *p == q));
                row.push(found.map_or_else(|| "–".to_owned(), |(_, e)| time(e.point)));
            }
            row.push(summary.map_or_else(|| "–".to_owned(), |s| format_nanos(s.max)));
            table.row(row);
        }
        self.text.push_str(&table.render(&self.paint));
        self.line("");
    }

    fn events(&mut self) {
        let shown: Vec<_> = self.analysis.events.iter().filter(|e| e.kind != EventKind::Phase).collect();
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
    }
}

fn quantile_cell(s: &MeasureSummary, q: Quantile) -> String {
    match s.quantiles.iter().find(|(printed, _)| *printed == q) {
        Some((_, e)) => estimate_time(e),
        None => format!("– (needs {} samples)", q.samples_needed()),
    }
}

fn product(header: &RunHeader) -> String {
    let fact = |name: &str| header.target_facts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    match (fact("product"), fact("version"), fact("transport")) {
        (Some(product), Some(version), Some(transport)) => {
            let version = version.split_whitespace().next().unwrap_or(version);
            format!("{product} {version} ({transport})")
        }
        _ => header.target.clone(),
    }
}
