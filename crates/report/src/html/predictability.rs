//! The page of the predictability experiment; without scripts.

use super::drawn::{inline, still_page};
use super::head::time_cell;
use super::markup::{Column, Table, text};
use super::section;
use crate::predictability::{
    METHOD, PUBLISHED, PUBLISHED_NOTE, cell_name, found, product, ratios, runs_words, sentences,
};
use crate::svg::predictability_figure;
use crate::text::capital;
use analysis::{PREDICTABILITY_QUANTITIES, Predictability};
use units::Estimate;

/// The whole page.
pub fn predictability_page(experiment: &Predictability) -> String {
    let figure = predictability_figure(experiment).map_or_else(String::new, |svg| inline("spreads", &svg));
    let notes = format!(
        "<p class=\"note\">{}.</p>\n<p class=\"note\">{}.</p>\n",
        text(&capital(METHOD)),
        text(&capital(PUBLISHED_NOTE))
    );
    let body = heading(experiment)
        + &section("figure", "Spreads", &figure)
        + &section("times", "Response times", &times(experiment))
        + &section("left", "What is left when all requests ask for the same", &left(experiment))
        + &section("runs", "Runs", &runs(experiment))
        + &section("method", "How it was measured", &notes);
    still_page("predictability", "", &body)
}

fn heading(experiment: &Predictability) -> String {
    let said: String = sentences(experiment)
        .iter()
        .map(|said| format!("<li><span></span><span>{}.</span></li>\n", text(&capital(said))))
        .collect();
    let list = if said.is_empty() { said } else { format!("<ul>\n{said}</ul>\n") };
    format!(
        "<header>\n<h1>How predictably does each database answer?</h1>\n</header>\n\
         <section class=\"verdict told\"><p class=\"says\">The same work, at one constant rate.</p>\n{list}</section>\n"
    )
}

fn times(experiment: &Predictability) -> String {
    let mut head = vec![(Column::Words, "")];
    head.extend(PREDICTABILITY_QUANTITIES.iter().map(|name| (Column::Number, *name)));
    let mut table = Table::new("Response times across runs, with the intervals between them", &head);
    for cell in &experiment.cells {
        let value = |name: &&str| {
            let shown = |e: &Estimate| if is_ratio(name) { ratio_cell(e) } else { time_cell(e) };
            found(cell, name).map_or_else(|| "–".to_owned(), shown)
        };
        let values = PREDICTABILITY_QUANTITIES.iter().map(value);
        table.row(&std::iter::once(text(&cell_name(cell))).chain(values).collect::<Vec<_>>());
    }
    for (server, spread, tail) in PUBLISHED {
        let empty = std::iter::repeat_n("–".to_owned(), PREDICTABILITY_QUANTITIES.len() - 2);
        let values = empty.chain([spread.to_string(), tail.to_string()]);
        let name = text(&format!("{server}, published"));
        table.row(&std::iter::once(name).chain(values).collect::<Vec<_>>());
    }
    table.finish()
}

fn is_ratio(name: &str) -> bool {
    matches!(name, "coefficient of variation" | "p99/mean")
}

fn ratio_cell(e: &Estimate) -> String {
    match e.interval {
        Some((low, high)) => format!("{:.2} <small>[{low:.2}, {high:.2}]</small>", e.point),
        None => format!("{:.2}", e.point),
    }
}

fn left(experiment: &Predictability) -> String {
    let head = [(Column::Words, "server"), (Column::Words, "quantity"), (Column::Number, "alike / standard")];
    let mut table = Table::new("Ratios, with their intervals", &head);
    for removal in &experiment.removals {
        for (row, ratio) in ratios(removal) {
            table.row(&[text(&removal.server), text(&row.name), ratio_cell(ratio)]);
        }
    }
    table.finish()
}

fn runs(experiment: &Predictability) -> String {
    let head = [
        (Column::Words, "cell"),
        (Column::Words, "server"),
        (Column::Number, "offered"),
        (Column::Number, "achieved"),
        (Column::Words, "runs"),
    ];
    let mut table = Table::new("What was run", &head);
    for cell in &experiment.cells {
        let rate = |pick: fn((f64, f64)) -> f64| {
            cell.rates.map_or_else(|| "–".to_owned(), |rates| format!("{:.0}/s", pick(rates)))
        };
        table.row(&[
            text(&cell_name(cell)),
            text(&product(cell)),
            rate(|(offered, _)| offered),
            rate(|(_, achieved)| achieved),
            text(&runs_words(cell)),
        ]);
    }
    table.finish()
}
