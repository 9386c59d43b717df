//! The paper's experiment as tables.

use super::paint::{Paint, wrap};
use super::table::Table;
use prove::nosqlmark::{CapacityRow, Check, ClosedRow, NosqlmarkResult, PUBLISHED, remarks};
use prove::{Figures, Statistic};
use units::PerSecond;

/// The thread counts of the table of means.
const SHOWN: [u32; 5] = [1, 16, 64, 256, 1000];

/// A time in ms, with as many decimals as three digits need.
pub(crate) fn ms(ns: Option<f64>) -> String {
    match ns.map(|ns| ns / 1e6) {
        None => "–".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(ms) if ms < 10.0 => format!("{ms:.3}"),
        Some(ms) if ms < 100.0 => format!("{ms:.2}"),
        Some(ms) => format!("{ms:.1}"),
    }
}

pub(crate) fn mean(figures: &Figures) -> Option<f64> {
    figures.get(Statistic::Mean)
}

/// `1,250/s`
pub(crate) fn rate(per_second: f64) -> String {
    PerSecond::new(per_second).map_or_else(String::new, |rate| rate.to_string())
}

/// `check: 0.09 %, at most 2 %`
pub(crate) fn check_words(check: &Check) -> String {
    let found = if check.found < 1e-6 { "0 %".to_owned() } else { format!("{:.2} %", 100.0 * check.found) };
    format!("{}: {found}, at most {} %", check.says, 100.0 * check.limit)
}

pub(super) fn page(result: &NosqlmarkResult, paint: &Paint, width: usize) -> String {
    let mut text = String::new();
    let say = |text: &mut String, first: &str, rest: &str, line: &str| {
        for line in wrap(first, rest, line, width) {
            *text += line.trim_end();
            text.push('\n');
        }
    };
    let title = paint.head("the NoSQLMark experiment");
    let what = "90,000 operations at 1,000/s, the store stands still for 1 s at 30 s; means in ms";
    say(&mut text, "", "  ", &format!("{title}: {what}"));
    text.push('\n');
    text += &means(result, width).render(paint, width);
    let note = "closed: what N threads report that keep a schedule as well as they can. The same \
                operations from the intended start have the open mean at every N.";
    say(&mut text, "", "  ", note);
    text.push('\n');
    text += &corrections(result).render(paint, width);
    let note = "HdrHistogram's correction of the closed means, as a share of the open mean: N threads, told that each operates once in \
                N ms, as they do, and told 1 ms, as if one made all of the load.";
    say(&mut text, "", "  ", note);
    text.push('\n');
    text += &the_results(result).render(paint, width);
    say(&mut text, "", "  ", "The slides' table \"The Results\", ms: simulated, and published in brackets.");
    text.push('\n');
    let groups = PUBLISHED.map(|p| format!("{}/{}/{}", p.plain_ms, p.open_ms, p.intended_ms)).join(", ");
    say(&mut text, "", "  ", &format!("Published means, ms (YCSB plain/NoSQLMark/YCSB intended): {groups}."));
    remarks().iter().for_each(|remark| say(&mut text, "- ", "  ", remark));
    text.push('\n');
    for check in &result.checks {
        let state = if check.passed { "holds" } else { "BROKEN" };
        say(&mut text, "", "  ", &format!("{state}: {}", check_words(check)));
    }
    text
}

/// The thread counts of which the tables have a column: those that all capacities have.
pub(crate) fn threads(result: &NosqlmarkResult) -> Vec<u32> {
    result.rows.first().map_or(Vec::new(), |row| row.closed.iter().map(|c| c.threads).collect())
}

fn closed(row: &CapacityRow, threads: u32) -> Option<&ClosedRow> {
    row.closed.iter().find(|c| c.threads == threads)
}

/// With the closed forms beside them where the page is wide enough.
fn means(result: &NosqlmarkResult, width: usize) -> Table {
    let make = |forms: bool| {
        let shown: Vec<u32> = threads(result).into_iter().filter(|n| SHOWN.contains(n)).collect();
        let pair = |title: String| [title, "(form)".to_owned()].into_iter().take(if forms { 2 } else { 1 });
        let mut head = vec!["capacity".to_owned()];
        head.extend(pair("open".to_owned()));
        head.extend(shown.iter().flat_map(|n| pair(format!("N={n}"))));
        let mut table = Table::new(head);
        for row in &result.rows {
            let both = |found: Option<f64>, form: f64| {
                [ms(found), bracketed(Some(form))].into_iter().take(if forms { 2 } else { 1 })
            };
            let mut cells = vec![rate(row.capacity)];
            cells.extend(both(mean(&row.open), row.open_form));
            let closed = shown.iter().filter_map(|n| closed(row, *n));
            cells.extend(closed.flat_map(|c| both(mean(&c.plain), c.plain_form)));
            table.row(cells);
        }
        table
    };
    let whole = make(true);
    if whole.fits(width) { whole } else { make(false) }
}

fn bracketed(ns: Option<f64>) -> String {
    format!("({})", ms(ns))
}

fn corrections(result: &NosqlmarkResult) -> Table {
    let shown: Vec<u32> = threads(result).into_iter().filter(|n| [4, 64, 256].contains(n)).collect();
    let mut head = vec!["capacity".to_owned()];
    for n in &shown {
        head.extend([format!("N={n}, N ms"), "1 ms".to_owned()]);
    }
    let mut table = Table::new(head);
    for row in &result.rows {
        let share = |figures: &Figures| match mean(figures).zip(mean(&row.open)) {
            Some((found, open)) => format!("{:.0} %", 100.0 * found / open),
            None => "–".to_owned(),
        };
        let mut cells = vec![rate(row.capacity)];
        for closed in shown.iter().filter_map(|n| closed(row, *n)) {
            cells.extend([share(&closed.corrected), share(&closed.corrected_1ms)]);
        }
        table.row(cells);
    }
    table
}

fn the_results(result: &NosqlmarkResult) -> Table {
    let mut head = vec![String::new()];
    head.extend(["mean", "p90", "p99", "max"].map(str::to_owned));
    let mut table = Table::new(head);
    for row in &result.table {
        let pairs = row.simulated.named().into_iter().zip(row.published.named());
        let cell = |((_, found), (_, published)): ((_, Option<f64>), (_, Option<f64>))| {
            let known = published.map_or(String::new(), |ms| format!(" ({ms})"));
            found.map_or("–".to_owned(), |ms| format!("{ms:.2}{known}"))
        };
        let mut cells = vec![row.name.to_owned()];
        cells.extend(pairs.map(cell));
        table.row(cells);
    }
    table
}
