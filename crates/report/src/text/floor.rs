//! What the measuring side itself costs: a page of its own, and a section of a run's.

use super::paint::{Paint, wrap};
use super::table::Table;
use super::times::{NOT_KNOWN, with_interval};
use super::{Page, TextOptions, count, estimate_point, longest};
use crate::floor::{bounds, explained, network_note, order, problems, sentence, share_words};
use analysis::{Floor, FloorPart, RunFloor};
use units::Quantile;

/// The page of a floor: at most about 40 lines.
pub fn floor_page(floor: &Floor, options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut text = String::new();
    let mut say = |first: &str, words: &str| {
        for line in wrap(first, "  ", words, options.width) {
            text += line.trim_end();
            text.push('\n');
        }
    };
    say("", &headline(floor));
    say("", "");
    say("", &sentence(floor));
    bounds(floor).iter().for_each(|words| say("", words));
    problems(floor).iter().for_each(|words| say("", words));
    floor.network_left_out(None).iter().for_each(|host| say("", &network_note(host)));
    say("", "");
    let tables = tables(floor, options.width);
    let rendered: Vec<String> = tables.iter().map(|table| table.render(&paint, options.width)).collect();
    text += &rendered.join("\n");
    let unknown = rendered.iter().any(|table| table.contains(NOT_KNOWN));
    let level = floor.decisive().and_then(FloorPart::times).map_or(0.95, |times| times.mean.level);
    let mut note = format!("[low, high]: {:.0} % intervals", level * 100.0);
    if unknown {
        note += &format!("; {NOT_KNOWN}: too few requests are independent to state one");
    }
    text + &paint.faint(&note) + "\n"
}

/// The load that all parts had.
fn headline(floor: &Floor) -> String {
    let Some(part) = floor.parts.first() else { return "floor: nothing was measured".to_owned() };
    let load = &part.info.header.load;
    let offered = part.offered.map_or(String::new(), |rate| format!(", {rate} offered"));
    let sessions = if load.sessions == 1 { "session" } else { "sessions" };
    format!("floor: {}: {}{offered}, {} {sessions}", load.model.name(), load.arrivals, load.sessions)
}

/// Quantiles down and parts across: as many parts side by side as the page has room for.
fn tables(floor: &Floor, width: usize) -> Vec<Table> {
    let quantiles = floor.quantiles();
    let mut rest: Vec<&FloorPart> = floor.parts.iter().collect();
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let fitting = (1..=rest.len()).rev().find(|&n| table(&rest[..n], &quantiles).fits(width));
        let shown = fitting.unwrap_or(1);
        tables.push(table(&rest[..shown], &quantiles));
        rest.drain(..shown);
    }
    tables
}

fn table(parts: &[&FloorPart], quantiles: &[Quantile]) -> Table {
    let head = parts.iter().map(|part| part.name.clone());
    let mut table = Table::new(std::iter::once(String::new()).chain(head).collect());
    let mut row = |name: String, cell: &dyn Fn(&FloorPart) -> String| {
        table.row(std::iter::once(name).chain(parts.iter().map(|part| cell(part))).collect());
    };
    row("made of".to_owned(), &|part| part.kind.made_of().to_owned());
    for quantile in quantiles {
        row(quantile.name(), &|part| {
            let found = part.times().and_then(|times| times.quantile(*quantile));
            found.map_or_else(|| "–".to_owned(), with_interval)
        });
    }
    row("max".to_owned(), &|part| {
        part.times().map_or_else(|| "–".to_owned(), |times| format!("{} observed", longest(times)))
    });
    row("requests".to_owned(), &|part| count(part.summary.as_ref().map_or(0, |summary| summary.n)));
    table
}

impl Page<'_> {
    /// The section; nothing where no floor was measured.
    pub(super) fn floor(&mut self) {
        let analysis = self.analysis;
        let Some(run) = &analysis.floor else { return };
        self.line(&self.paint.head("floor, measured right before the run"));
        self.wrapped("", "  ", &sentence(&run.floor));
        explained(run).iter().for_each(|words| self.wrapped("", "  ", words));
        problems(&run.floor).iter().for_each(|words| self.wrapped("", "  ", words));
        run.network_left_out.iter().for_each(|host| self.wrapped("", "  ", &network_note(host)));
        if !run.rows.is_empty() {
            for table in shares(run, self.width) {
                self.text.push_str(&table.render(&self.paint, self.width));
            }
        }
        self.line("");
    }
}

/// For each quantile of the run, which share each part explains.
fn shares(run: &RunFloor, width: usize) -> Vec<Table> {
    let mut rest = order(&run.floor);
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let fitting = (1..=rest.len()).rev().find(|&n| share_table(run, &rest[..n]).fits(width));
        let shown = fitting.unwrap_or(1);
        tables.push(share_table(run, &rest[..shown]));
        rest.drain(..shown);
    }
    tables
}

fn share_table(run: &RunFloor, parts: &[usize]) -> Table {
    let mut head = vec![String::new(), "this run".to_owned()];
    head.extend(parts.iter().map(|&part| format!("{} explains", run.floor.parts[part].name)));
    let mut table = Table::new(head);
    for row in &run.rows {
        let cells = parts.iter().map(|&part| row.shares[part].as_ref().map_or("–".to_owned(), share_words));
        let first = [row.quantile.name(), estimate_point(&row.run)];
        table.row(first.into_iter().chain(cells).collect());
    }
    table
}
