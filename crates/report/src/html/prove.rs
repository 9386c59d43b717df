//! The page of a proof: verdict, league table, figures, every figure of every scenario.
//!
//! Without scripts: the figures are SVG within the page, whose colours follow the page's light or dark.

use super::drawn::{inline, still_page};
use super::markup::{Column, Table, text};
use super::section;
use crate::prove::{VERDICTS, factor_words, headline, worst_factor};
use crate::svg::proof_figures;
use crate::text::nosqlmark::{check_words, mean, ms, rate, threads};
use crate::text::prove::{elasticity_words, error_words, settled_words};
use crate::text::time;
use prove::nosqlmark::{NosqlmarkResult, PUBLISHED, remarks};
use prove::verdict::{Place, Verdict};
use prove::{Proof, ScenarioResult, Statistic, ToolResult, ToolScenario};
use record::Measure;

const OWN_STYLE: &str = include_str!("../../assets/prove.css");

/// The whole page.
pub fn prove_page(proof: &Proof) -> String {
    let figures = proof_figures(proof);
    let figure = |name: &str| {
        figures.iter().find(|(n, _)| *n == name).map_or(String::new(), |(n, svg)| inline(n, svg))
    };
    let mut body = heading(proof);
    if !proof.tools.is_empty() {
        let content =
            league(&proof.tools) + &figure("league") + &proof.tools.iter().map(tool).collect::<String>();
        body += &section("league", "Tools", &content);
    }
    if !proof.scenarios.is_empty() {
        let content = overview(&proof.scenarios) + &proof.scenarios.iter().map(scenario).collect::<String>();
        body += &section("scenarios", "Truetail itself, scenario by scenario", &content);
    }
    if let Some(result) = &proof.nosqlmark {
        let content = figure("mean-over-capacity") + &figure("around-the-hiccup") + &nosqlmark(result);
        body += &section("nosqlmark", "The NoSQLMark experiment", &content);
    }
    if let Some(result) = &proof.elasticity {
        let words = format!(
            "<p>{}.</p>\n<p class=\"note\">{}</p>\n",
            text(&settled_words(result)),
            text(&elasticity_words(result))
        );
        body += &section("elasticity", "A second node joins", &(words + &figure("node-joins")));
    }
    still_page("proof", OWN_STYLE, &body)
}

fn heading(proof: &Proof) -> String {
    let (state, word) = match proof.verdict() {
        Some(true) => ("valid", "pass"),
        Some(false) => ("invalid", "fail"),
        None => ("note", "not graded"),
    };
    let what = "A tool that measures must be measured: against a store whose times are known, and formulas that neither the \
                tool nor the store had a part in.";
    format!(
        "<header>\n<h1>Does it measure what users wait?</h1>\n<p class=\"load\">{what}</p>\n</header>\n\
         <section class=\"verdict {state}\"><p class=\"says\"><span class=\"badge\">{word}</span> {}</p></section>\n",
        text(&headline(proof))
    )
}

fn badge(verdict: Verdict) -> String {
    let state = match verdict {
        Verdict::Intended => "valid",
        Verdict::Approximates => "suspect",
        Verdict::Omits => "invalid",
        Verdict::CannotTell => "note",
    };
    format!("<span class=\"badge {state}\">{}</span>", text(verdict.name()))
}

/// The tools, those that measure from the intended start first.
fn league(tools: &[ToolResult]) -> String {
    use Column::{Number, Words};
    let head = [
        (Words, "tool"),
        (Words, "verdict"),
        (Number, "p99"),
        (Number, "p99.9"),
        (Number, "scenarios that tell"),
    ];
    let mut table = Table::new("League table", &head);
    let mut sorted: Vec<&ToolResult> = tools.iter().collect();
    let distance = |tool: &ToolResult| {
        let factors =
            [Statistic::P99, Statistic::P999].map(|s| worst_factor(tool, s).unwrap_or(1.0).ln().abs());
        factors[0].max(factors[1])
    };
    sorted.sort_by(|a, b| {
        (a.verdict() as u8).cmp(&(b.verdict() as u8)).then(distance(a).total_cmp(&distance(b)))
    });
    for tool in sorted {
        let tell = tool.scenarios.iter().filter(|s| s.judgement.verdict != Verdict::CannotTell).count();
        table.row(&[
            text(&tool.tool),
            badge(tool.verdict()),
            text(&factor_words(worst_factor(tool, Statistic::P99))),
            text(&factor_words(worst_factor(tool, Statistic::P999))),
            format!("{tell} of {}", tool.scenarios.len()),
        ]);
    }
    let note = format!(
        "p99 and p99.9: the worst over all scenarios that tell, against the true response time. {VERDICTS}"
    );
    table.finish() + &format!("<p class=\"note\">{}</p>\n", text(&note))
}

/// One tool, scenario by scenario, folded away.
fn tool(tool: &ToolResult) -> String {
    use Column::{Number, Words};
    let mut head = vec![(Words, "scenario"), (Words, "verdict")];
    head.extend([
        (Number, "mean"),
        (Number, "true"),
        (Number, "p99"),
        (Number, "true"),
        (Number, "p99.9"),
        (Number, "true"),
    ]);
    head.extend([(Number, "max"), (Number, "true"), (Words, "why")]);
    let mut table = Table::new(&format!("{}, scenario by scenario", tool.tool), &head);
    tool.scenarios.iter().for_each(|run| table.row(&tool_row(run)));
    let command = match tool.command.as_str() {
        "" => String::new(),
        command => format!("<pre>{}</pre>\n", text(command)),
    };
    format!("<details><summary>{}</summary>\n{command}{}</details>\n", text(&tool.tool), table.finish())
}

fn tool_row(run: &ToolScenario) -> Vec<String> {
    let mut cells = vec![text(&format!("{}, {}", run.scenario, run.protocol)), badge(run.judgement.verdict)];
    for statistic in prove::verdict::LOOKED_AT {
        let placed = run.judgement.placed.iter().find(|p| p.statistic == statistic);
        let stated = run.stated.get(statistic).map_or("–".to_owned(), time);
        let class = match placed.map(|p| p.place) {
            Some(Place::AtResponse) => "right",
            Some(Place::CannotTell) | None => "silent",
            _ => "wrong",
        };
        cells.push(format!("<span class=\"{class}\">{stated}</span>"));
        cells.push(placed.map_or("–".to_owned(), |p| {
            let (low, high) = (time(p.response.0), time(p.response.1));
            if low == high { low } else { format!("{low} – {high}") }
        }));
    }
    let told = Some(run.judgement.why.clone()).filter(|_| run.judgement.verdict != Verdict::CannotTell);
    let said: Vec<String> = told.into_iter().chain(run.remark()).collect();
    cells.push(text(&said.join("; ")));
    cells
}

/// A line for each run of truetail.
fn overview(results: &[ScenarioResult]) -> String {
    use Column::{Number, Words};
    let head = [
        (Words, "scenario"),
        (Words, "clock"),
        (Words, "grade"),
        (Number, "requests"),
        (Number, "largest error / its limit"),
        (Words, "what it asks"),
    ];
    let mut table = Table::new("All runs", &head);
    for result in results {
        let shares =
            result.grade.rows.iter().map(|row| row.error().map_or(f64::INFINITY, |e| e.abs() / row.limit));
        let worst = shares.fold(0.0, f64::max);
        table.row(&[
            text(result.scenario.name),
            text(&result.clock.name()),
            pass(result.grade.passed()),
            measured_of(&result.grade),
            if worst.is_finite() { format!("{:.0} %", 100.0 * worst) } else { "not measured".to_owned() },
            text(result.scenario.asks),
        ]);
    }
    table.finish()
}

/// How many requests were measured, and of how many where it is not all.
fn measured_of(grade: &prove::grade::Grade) -> String {
    let measured = units::format_count(grade.measured);
    match grade.measured == grade.requests {
        true => measured,
        false => {
            format!("<span class=\"wrong\">{measured} of {}</span>", units::format_count(grade.requests))
        }
    }
}

fn pass(passed: bool) -> String {
    let (state, word) = if passed { ("valid", "pass") } else { ("invalid", "fail") };
    format!("<span class=\"badge {state}\">{word}</span>")
}

/// All figures of one run, folded away unless a limit is broken.
fn scenario(result: &ScenarioResult) -> String {
    use Column::{Number, Words};
    let scenario = &result.scenario;
    let head: Vec<(Column, &str)> =
        [(Words, ""), (Words, "")].into_iter().chain(Statistic::ALL.map(|s| (Number, s.name()))).collect();
    let asks = match result.clock.host() {
        Some(host) => format!("{}; {host}", scenario.asks),
        None => scenario.asks.to_owned(),
    };
    let mut table = Table::new(&asks, &head);
    for measure in [Measure::Response, Measure::Service] {
        let row = |s| result.grade.rows.iter().find(|r| r.measure == measure && r.statistic == s);
        for kind in ["true", "measured", "error", "limit"] {
            let title = if kind == "true" { measure.name() } else { "" };
            let mut cells = vec![title.to_owned(), kind.to_owned()];
            cells.extend(Statistic::ALL.map(|s| {
                let Some(row) = row(s) else { return "–".to_owned() };
                let shown = match kind {
                    "true" => time(row.truth),
                    "measured" => row.measured.map_or("–".to_owned(), time),
                    "error" => error_words(row),
                    _ if row.limit.is_finite() => time(row.limit),
                    _ => "none".to_owned(),
                };
                if kind == "error" && !row.passed() {
                    format!("<span class=\"wrong\">{shown}</span>")
                } else {
                    shown
                }
            }));
            table.row(&cells);
        }
    }
    let open = if result.grade.passed() { "" } else { " open" };
    let mut settings = format!("Offered {}. The store: {}.", scenario.offered(), scenario.store());
    for row in result.grade.broken() {
        let error =
            row.error().map_or("not measured".to_owned(), |error| format!("{} off", time(error.abs())));
        let excuse = result.clock.excuse(row.statistic).map_or(String::new(), |excuse| format!("; {excuse}"));
        let (statistic, measure) = (row.statistic.name(), row.measure.name());
        settings += &format!(
            " Broken: {statistic} of the {measure}, {error}, the limit is {}{excuse}.",
            time(row.limit)
        );
    }
    format!(
        "<details{open} id=\"{}-{}\"><summary>{} ({}) {}</summary>\n<p class=\"note\">{}</p>\n{}</details>\n",
        scenario.name,
        text(&result.clock.name().replace([' ', ','], "-")),
        text(scenario.name),
        text(&result.clock.name()),
        pass(result.grade.passed()),
        text(&settings),
        table.finish()
    )
}

fn nosqlmark(result: &NosqlmarkResult) -> String {
    let groups = PUBLISHED.map(|p| format!("{}/{}/{}", p.plain_ms, p.open_ms, p.intended_ms)).join(", ");
    let said = format!("Published means at 1,250/s, ms (YCSB plain/NoSQLMark/YCSB intended): {groups}.");
    let remarks: String = remarks().iter().map(|r| format!("<li>{}</li>\n", text(r))).collect();
    let checks: String = result
        .checks
        .iter()
        .map(|check| format!("<li>{} {}</li>\n", pass(check.passed), text(&check_words(check))))
        .collect();
    [
        means(result),
        corrections(result),
        the_results(result),
        format!("<h3>What of the published numbers can come from an ideal store</h3>\n<p>{}</p>\n<ul>\n{remarks}</ul>\n", text(&said)),
        format!("<h3>Checks</h3>\n<ul class=\"checks\">\n{checks}</ul>\n"),
    ]
    .concat()
}

fn means(result: &NosqlmarkResult) -> String {
    let titles: Vec<String> = threads(result).iter().map(|n| format!("N={n}")).collect();
    let mut head = vec![(Column::Number, "capacity"), (Column::Number, "open")];
    head.extend(titles.iter().map(|t| (Column::Number, t.as_str())));
    let mut table = Table::new("Means, ms: measured, and the closed form in brackets", &head);
    let both = |found: Option<f64>, form: f64| format!("{} <small>({})</small>", ms(found), ms(Some(form)));
    for row in &result.rows {
        let mut cells = vec![rate(row.capacity), both(mean(&row.open), row.open_form)];
        cells.extend(row.closed.iter().map(|c| both(mean(&c.plain), c.plain_form)));
        table.row(&cells);
    }
    let note = "Open: what users wait. N: what N closed threads report. The same operations of the closed threads from the \
                intended start have the open mean at every N.";
    table.finish() + &format!("<p class=\"note\">{note}</p>\n")
}

fn corrections(result: &NosqlmarkResult) -> String {
    let titles: Vec<String> = threads(result).iter().map(|n| format!("N={n}")).collect();
    let mut head = vec![(Column::Number, "capacity")];
    head.extend(titles.iter().map(|t| (Column::Number, t.as_str())));
    let mut table = Table::new(
        "HdrHistogram's correction: mean as a share of the truth, with N ms, and with 1 ms in brackets",
        &head,
    );
    for row in &result.rows {
        let share = |figures: &prove::Figures| match mean(figures).zip(mean(&row.open)) {
            Some((found, open)) => format!("{:.0} %", 100.0 * found / open),
            None => "–".to_owned(),
        };
        let mut cells = vec![rate(row.capacity)];
        let cell = |c: &prove::nosqlmark::ClosedRow| {
            format!("{} <small>({})</small>", share(&c.corrected), share(&c.corrected_1ms))
        };
        cells.extend(row.closed.iter().map(cell));
        table.row(&cells);
    }
    table.finish()
}

fn the_results(result: &NosqlmarkResult) -> String {
    let head: Vec<(Column, &str)> = [(Column::Words, "")]
        .into_iter()
        .chain(["mean", "p90", "p99", "max"].map(|name| (Column::Number, name)))
        .collect();
    let mut table =
        Table::new("The slides' table \"The Results\", ms: simulated, and published in brackets", &head);
    for row in &result.table {
        let mut cells = vec![text(row.name)];
        cells.extend(row.simulated.named().into_iter().zip(row.published.named()).map(
            |((_, found), (_, known))| {
                let known = known.map_or(String::new(), |ms| format!(" <small>({ms})</small>"));
                found.map_or("–".to_owned(), |ms| format!("{ms:.2}{known}"))
            },
        ));
        table.row(&cells);
    }
    table.finish()
}
