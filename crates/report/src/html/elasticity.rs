//! The page of the elasticity experiment; without scripts.

use super::drawn::{inline, still_page};
use super::head::time_cell;
use super::markup::{Column, Table, text};
use super::section;
use crate::elasticity::{METHOD, phase_words, run_name, sentences};
use crate::svg::elasticity_figure;
use crate::text::capital;
use analysis::Elasticity;
use units::Estimate;

/// The whole page.
pub fn elasticity_page(found: &Elasticity) -> String {
    let figure = elasticity_figure(found).map_or_else(String::new, |svg| inline("elasticity", &svg));
    let note = format!("<p class=\"note\">{}.</p>\n", text(&capital(METHOD)));
    let body = heading(found)
        + &section("figure", "Over time", &figure)
        + &section("times", "Before, during and after the join", &times(found))
        + &section("runs", "Runs", &runs(found))
        + &section("method", "How it was measured", &note);
    still_page("elasticity", "", &body)
}

fn heading(found: &Elasticity) -> String {
    let said: String = sentences(found)
        .iter()
        .map(|said| format!("<li><span></span><span>{}.</span></li>\n", text(&capital(said))))
        .collect();
    let list = if said.is_empty() { said } else { format!("<ul>\n{said}</ul>\n") };
    format!(
        "<header>\n<h1>What does a cluster’s growth cost its users?</h1>\n</header>\n\
         <section class=\"verdict told\"><p class=\"says\">One rate, and a node that joins.</p>\n{list}</section>\n"
    )
}

fn times(found: &Elasticity) -> String {
    let head = [
        (Column::Words, "times"),
        (Column::Words, "join"),
        (Column::Number, "mean"),
        (Column::Number, "p99"),
        (Column::Number, "longest"),
        (Column::Number, "requests"),
        (Column::Number, "failed"),
    ];
    let mut table = Table::new("Times with their intervals within the run", &head);
    let shown = |e: &Option<Estimate>| e.as_ref().map_or_else(|| "–".to_owned(), time_cell);
    for curve in &found.curves {
        for span in &curve.spans {
            table.row(&[
                text(curve.reported.name()),
                text(span.name),
                shown(&span.mean),
                shown(&span.p99),
                shown(&span.longest),
                span.requests.to_string(),
                span.failed.to_string(),
            ]);
        }
    }
    table.finish()
}

fn runs(found: &Elasticity) -> String {
    let head = [(Column::Words, "run"), (Column::Words, "the join"), (Column::Words, "verdict")];
    let mut table = Table::new("Runs", &head);
    for join in &found.joins {
        table.row(&[text(&run_name(join)), text(&phase_words(&join.phases)), text(&join.verdict)]);
    }
    table.finish()
}
