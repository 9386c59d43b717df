//! What the measuring side itself costs: a page of its own, and a section of a run's.

use super::drawn::{inline, still_page};
use super::head::{count, time_cell};
use super::markup::{Column, Table, text};
use super::section;
use crate::floor::{bounds, doubts, explained, network_note, order, problems, sentence, share_words};
use crate::svg::floor_figure;
use crate::text::capital;
use analysis::{Floor, FloorPart, FloorShare, RunFloor};
use serde_json::{Value, json};
use units::format_nanos;

/// The whole page of a floor; without scripts.
pub fn floor_page(floor: &Floor) -> String {
    let figure = floor_figure(floor).map_or_else(String::new, |svg| inline("floor", &svg));
    let body = heading(floor)
        + &section("quantiles", "Quantiles", &(parts(floor) + MEANING))
        + &section("figure", "Curves", &figure);
    still_page("floor", "", &body)
}

const MEANING: &str = "<p class=\"note\"><b>null</b>: nobody answers, in process; <b>echo</b>: a process that sends the same bytes \
     back over the same kind of socket; <b>noop</b>: the database, asked for nothing. Each has one exchange for each request, \
     but for empty+commit, which has two.</p>\n";

fn heading(floor: &Floor) -> String {
    let load = floor.parts.first().map_or_else(String::new, |part| {
        let load = &part.info.header.load;
        let offered = part.offered.map_or(String::new(), |rate| format!(", {rate} offered"));
        format!(
            "<strong>{}</strong>: {}{offered}, {} sessions",
            text(load.model.name()),
            text(&load.arrivals),
            load.sessions
        )
    });
    let state = if floor.decisive().is_some() { "valid" } else { "invalid" };
    let notes = bounds(floor).into_iter().chain(problems(floor));
    let notes = notes.chain(floor.network_left_out(None).map(|host| network_note(&host)));
    let notes: String = notes
        .map(|words| format!("<li><span></span><span>{}.</span></li>\n", text(&capital(&words))))
        .collect();
    format!(
        "<header>\n<p class=\"load\">{load}</p>\n<h1>What the measuring side itself costs</h1>\n</header>\n\
         <section class=\"verdict {state}\"><p class=\"says\"><strong>{}</strong>.</p>\n<ul>\n{notes}</ul>\n</section>\n",
        text(&capital(&sentence(floor)))
    )
}

/// Quantiles down, parts across.
fn parts(floor: &Floor) -> String {
    let mut head = vec![(Column::Words, "")];
    head.extend(floor.parts.iter().map(|part| (Column::Number, part.name.as_str())));
    let mut table = Table::new("Times where nothing is asked, with their intervals", &head);
    let mut row = |name: &str, cell: &dyn Fn(&FloorPart) -> String| {
        let cells = floor.parts.iter().map(cell);
        table.row(&std::iter::once(text(name)).chain(cells).collect::<Vec<_>>());
    };
    row("made of", &|part| text(part.kind.made_of()));
    for quantile in floor.quantiles() {
        row(&quantile.name(), &|part| {
            let found = part.times().and_then(|times| times.quantile(quantile));
            found.map_or_else(|| "–".to_owned(), time_cell)
        });
    }
    row("max", &|part| {
        part.times().map_or_else(
            || "–".to_owned(),
            |times| format!("{} <small>observed</small>", format_nanos(times.max)),
        )
    });
    row("requests", &|part| count(part.summary.as_ref().map_or(0, |summary| summary.n)));
    row("verdict", &|part| text(part.verdict.state.name()));
    let targets: Vec<String> =
        floor.parts.iter().map(|part| format!("{} on {}", part.name, part.info.header.target)).collect();
    let doubts: String =
        doubts(floor).iter().map(|why| format!("<p class=\"note\">{}.</p>\n", text(&capital(why)))).collect();
    table.finish() + &doubts + &format!("<p class=\"note\">{}.</p>\n", text(&targets.join("; ")))
}

/// What the section of a run's page holds.
pub(super) fn content(run: &RunFloor) -> String {
    let said = [Some(sentence(&run.floor)), explained(run)].into_iter().flatten();
    let said: String = said.map(|words| format!("<p>{}.</p>\n", text(&capital(&words)))).collect();
    let notes =
        problems(&run.floor).into_iter().chain(run.network_left_out.iter().map(|host| network_note(host)));
    let notes: String =
        notes.map(|words| format!("<p class=\"note\">{}.</p>\n", text(&capital(&words)))).collect();
    let shares = if run.rows.is_empty() { String::new() } else { shares(run) };
    said + &shares
        + &notes
        + "<p class=\"note\">Measured right before the run, with its configuration. A share is the quantile of the floor over that \
           of the run; it is all of it where the two intervals overlap.</p>\n"
        + MEANING
}

fn shares(run: &RunFloor) -> String {
    let order = order(&run.floor);
    let titles: Vec<String> =
        order.iter().map(|&part| format!("{} explains", run.floor.parts[part].name)).collect();
    let mut head = vec![(Column::Words, ""), (Column::Number, "this run")];
    head.extend(titles.iter().map(|title| (Column::Number, title.as_str())));
    let mut table = Table::new("Which share of each quantile the floor explains", &head);
    for row in &run.rows {
        let cells = order.iter().map(|&part| row.shares[part].as_ref().map_or("–".to_owned(), share_cell));
        let first = [text(&row.quantile.name()), time_cell(&row.run)];
        table.row(&first.into_iter().chain(cells).collect::<Vec<_>>());
    }
    table.finish()
}

/// Its interval in small letters, as in the other tables.
fn share_cell(share: &FloorShare) -> String {
    let words = text(&share_words(share));
    match words.split_once(" [") {
        Some((point, interval)) => format!("{point} <small>[{interval}</small>"),
        None => words,
    }
}

/// What the spectrum draws beside the run: the curves as far as their samples carry them.
pub(super) fn curves(run: Option<&RunFloor>) -> Vec<Value> {
    let Some(run) = run else { return Vec::new() };
    let curve = |part: &FloorPart| {
        let times = part.times()?;
        let carried = |q: units::Quantile| q.get() < 0.5 || times.n >= q.samples_needed();
        let points = times.spectrum.iter().take_while(|p| carried(p.quantile));
        let points: Vec<[f64; 2]> = points.map(|p| [p.quantile.get(), p.value_ns]).collect();
        Some(json!({"name": part.name, "kind": part.kind.name(), "points": points}))
    };
    run.floor.parts.iter().filter_map(curve).collect()
}
