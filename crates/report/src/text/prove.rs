//! The page of a proof: truetail's scenarios, the league of foreign tools, the experiments.

use super::sheet::Sheet;
use super::table::Table;
use super::{TextOptions, count, time};
use crate::prove::{VERDICTS, factor_words, headline, worst_factor};
use analysis::VerdictState;
use prove::elasticity::ElasticityResult;
use prove::grade::Row;
use prove::{Proof, ScenarioResult, Statistic, ToolResult};
use record::Measure;
use stats::Settled;

/// The whole page: the verdict first, then 9 lines for each scenario.
pub fn prove_page(proof: &Proof, options: &TextOptions) -> String {
    let mut page = Sheet::new(options);
    let verdict = match proof.verdict() {
        Some(passed) => page.verdict(passed),
        None => "not graded".to_owned(),
    };
    page.say("", "  ", &format!("{verdict}: {}", headline(proof)));
    proof.scenarios.iter().for_each(|result| page.scenario(result));
    if !proof.tools.is_empty() {
        page.tools(&proof.tools);
    }
    if let Some(result) = &proof.nosqlmark {
        page.blank();
        page.text += &super::nosqlmark::page(result, &page.paint, page.width);
    }
    if let Some(result) = &proof.elasticity {
        page.elasticity(result);
    }
    page.text
}

impl Sheet {
    fn verdict(&self, passed: bool) -> String {
        match passed {
            true => self.paint.as_state(VerdictState::Valid, "pass"),
            false => self.paint.as_state(VerdictState::Invalid, "FAIL"),
        }
    }

    fn scenario(&mut self, result: &ScenarioResult) {
        let (scenario, grade) = (&result.scenario, &result.grade);
        let verdict = self.verdict(grade.passed());
        let name = self.paint.head(scenario.name);
        self.blank();
        self.say("", "  ", &format!("{name} ({}): {verdict}", result.clock.name()));
        self.say("  ", "  ", scenario.asks);
        self.say("  ", "    ", &format!("offered {}; the store: {}", scenario.offered(), scenario.store()));
        if let Some(host) = result.clock.host() {
            self.say("  ", "    ", &host);
        }
        let lost = grade.requests.saturating_sub(grade.measured);
        if grade.measured != grade.requests {
            self.say(
                "  ",
                "    ",
                &format!("{} of {} requests were not measured", count(lost), count(grade.requests)),
            );
        }
        self.indented(&table(&grade.rows));
        for row in grade.broken() {
            let error = row.error().map_or("not measured".to_owned(), |e| format!("{} off", time(e.abs())));
            let limit = time(row.limit);
            let text = format!(
                "{} of the {}: {error}, the limit is {limit}",
                row.statistic.name(),
                row.measure.name()
            );
            let excuse =
                result.clock.excuse(row.statistic).map_or(String::new(), |excuse| format!("; {excuse}"));
            let text = format!("{}: {text}{excuse}", self.verdict(false));
            self.say("  ", "    ", &text);
        }
    }

    fn tools(&mut self, tools: &[ToolResult]) {
        let mut table = Table::new(["tool", "verdict", "p99", "p99.9"].map(str::to_owned).to_vec());
        for tool in tools {
            let factor = |statistic| factor_words(worst_factor(tool, statistic));
            let verdict = tool.verdict().name().to_owned();
            table.row(vec![tool.tool.clone(), verdict, factor(Statistic::P99), factor(Statistic::P999)]);
        }
        self.table(&table);
        let note =
            format!("p99, p99.9: the worst over all scenarios against the true response time. {VERDICTS}");
        self.faint(&note);
        tools.iter().for_each(|tool| self.tool(tool));
    }

    fn tool(&mut self, tool: &ToolResult) {
        self.blank();
        let name = self.paint.head(&tool.tool);
        self.say("", "  ", &format!("{name}: {}", tool.verdict().name()));
        if !tool.command.is_empty() {
            self.say("  ", "    ", &tool.command);
        }
        let head = ["scenario", "verdict", "mean", "p99", "true p99", "p99.9", "true p99.9"];
        let mut table = Table::new(head.map(str::to_owned).to_vec());
        for run in &tool.scenarios {
            let stated = |s| run.stated.get(s).map_or("–".to_owned(), time);
            let truth = |s| {
                let placed = run.judgement.placed.iter().find(|p| p.statistic == s);
                placed.map_or("–".to_owned(), |p| range(p.response))
            };
            let (p99, p999) = (Statistic::P99, Statistic::P999);
            table.row(vec![
                format!("{}, {}", run.scenario, run.protocol),
                run.judgement.verdict.name().to_owned(),
                stated(Statistic::Mean),
                stated(p99),
                truth(p99),
                stated(p999),
                truth(p999),
            ]);
        }
        self.indented(&table);
        for (run, remark) in tool.scenarios.iter().filter_map(|run| Some((run, run.remark()?))) {
            self.say("  ", "    ", &format!("{}: {remark}", run.scenario));
        }
    }

    fn elasticity(&mut self, result: &ElasticityResult) {
        self.blank();
        let title = self.paint.head("a second node joins");
        self.say("", "  ", &format!("{title}: {}", settled_words(result)));
        self.say("  ", "    ", &elasticity_words(result));
    }
}

/// One value, or the range where what is true was drawn.
fn range((low, high): (f64, f64)) -> String {
    let (low, high) = (time(low), time(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// When response times were stable, beside the closed form.
pub(crate) fn settled_words(result: &ElasticityResult) -> String {
    let formula = result.elasticity.expected_seconds();
    let formula =
        formula.map_or("the closed form: never".to_owned(), |s| format!("the closed form: {s:.1} s"));
    match result.recovery.settled {
        Settled::After(after) => {
            format!(
                "response times are stable {:.0} s after it began to join ({formula})",
                after.as_secs_f64()
            )
        }
        Settled::NotReached => format!("response times are not stable before the end ({formula})"),
        Settled::TooShort => "too short to tell".to_owned(),
    }
}

/// What happened.
pub(crate) fn elasticity_words(result: &ElasticityResult) -> String {
    let e = &result.elasticity;
    let during = units::PerSecond::new(e.during()).map_or(String::new(), |rate| rate.to_string());
    format!(
        "offered {} for {}; the store: {} before, {during} for {} while data is streamed to the new node from {} on, {} \
         with both; stable: every window of 1 s has a p95 within 20 % of the final one",
        e.rate, e.duration, e.before, e.streaming, e.at, e.after
    )
}

/// True, measured and error of both times, a column for each statistic.
fn table(rows: &[Row]) -> Table {
    let mut head = vec![String::new(), String::new()];
    head.extend(Statistic::ALL.map(|s| s.name().to_owned()));
    let mut table = Table::new(head);
    for measure in [Measure::Response, Measure::Service] {
        let row = |s: Statistic| rows.iter().find(|r| r.measure == measure && r.statistic == s);
        let cells = |cell: &dyn Fn(&Row) -> String| {
            Statistic::ALL.map(|s| row(s).map_or("–".to_owned(), cell)).to_vec()
        };
        let line = |title: &str, kind: &str, cells: Vec<String>| {
            let mut line = vec![title.to_owned(), kind.to_owned()];
            line.extend(cells);
            line
        };
        table.row(line(measure.name(), "true", cells(&|r| time(r.truth))));
        table.row(line("", "measured", cells(&|r| r.measured.map_or("–".to_owned(), time))));
        table.row(line("", "error", cells(&error_words)));
    }
    table
}

/// As a share of the true value, with its sign.
pub(crate) fn error_words(row: &Row) -> String {
    match row.share() {
        None => "–".to_owned(),
        Some(share) if share.abs() < 5e-7 => "0".to_owned(),
        Some(share) if share.abs() < 0.01 => format!("{:+.3} %", 100.0 * share).replace('-', "−"),
        Some(share) => format!("{:+.1} %", 100.0 * share).replace('-', "−"),
    }
}
