//! The page `report.html`: everything in one file, nothing from the network.
//!
//! ```text
//!  Analysis ─┬─ head, tables, facts ──► markup with all numbers in words: readable without scripts
//!            └─ figures ──► JSON description + arrays (blob) ──► drawn by assets/*.js
//! ```
//!
//! Figures over time are drawn from pyramids, so that the page's size does not grow with the number of
//! requests.

mod attribution;
mod blob;
mod business;
mod drawn;
mod elasticity;
mod facts;
mod figures;
mod floor;
mod head;
mod jvm;
mod markup;
mod predictability;
mod prove;
mod server_log;
mod staleness;
mod stated;
mod statements;
mod tables;
mod tell_tale;
mod truth;

pub use elasticity::elasticity_page;
pub use floor::floor_page;
pub use predictability::predictability_page;
pub use prove::prove_page;
pub use tell_tale::tell_tale_page;

use crate::svg::has_anatomy;
use crate::text::capital;
use crate::words::subject;
use analysis::Analysis;
use markup::{script_json, text};

const STYLE: &str = include_str!("../assets/report.css");

/// In the order in which they are run: each uses only names of those before it.
const SCRIPTS: [&str; 13] = [
    include_str!("../assets/data.js"),
    include_str!("../assets/words.js"),
    include_str!("../assets/axes.js"),
    include_str!("../assets/plot.js"),
    include_str!("../assets/zoom.js"),
    include_str!("../assets/backdrop.js"),
    include_str!("../assets/anatomy.js"),
    include_str!("../assets/series.js"),
    include_str!("../assets/spectrum.js"),
    include_str!("../assets/boxes.js"),
    include_str!("../assets/heat.js"),
    include_str!("../assets/load.js"),
    include_str!("../assets/truth.js"),
];

/// The last script: finds the figures' places and draws them.
const START: &str = include_str!("../assets/start.js");

/// The whole page. At most about 3 MB, whatever the number of requests.
pub fn page(analysis: &Analysis) -> String {
    let (description, numbers) = figures::describe(analysis);
    let title = analysis.recordings.first().map_or_else(String::new, |r| subject(&r.header));
    let body = [
        head::headline(analysis),
        head::verdict(analysis),
        head::key_numbers(analysis),
        if analysis.is_stated_alone() {
            String::new()
        } else {
            section("quantiles", "Quantiles", &head::quantiles(analysis))
        },
        if analysis.stated.is_empty() {
            String::new()
        } else {
            section("stated", "Stated by the tool", &stated::content(analysis))
        },
        analysis.business.as_ref().map_or_else(String::new, |business| {
            section("business", crate::business::TITLE, &business::content(business))
        }),
        analysis
            .floor
            .as_ref()
            .map_or_else(String::new, |floor| section("floor", "Floor", &floor::content(floor))),
        analysis.statements.as_ref().map_or_else(String::new, |statements| {
            section("statements", crate::statements::TITLE, &statements::content(analysis, statements))
        }),
        analysis.staleness.as_ref().map_or_else(String::new, |staleness| {
            section("staleness", "Read-after-write lag", &staleness::content(staleness))
        }),
        analysis.overlay.as_ref().map_or_else(String::new, |overlay| {
            section("truth", "Against the store’s truth", &truth::content(analysis, overlay))
        }),
        if analysis.jvm_logs.is_empty() {
            String::new()
        } else {
            section("jvm", "Pauses of JVMs", &jvm::content(analysis))
        },
        if analysis.server_logs.is_empty() {
            String::new()
        } else {
            section("server-log", "The server’s log", &server_log::content(analysis))
        },
        analysis.attribution.as_ref().map_or_else(String::new, |attribution| {
            section("attribution", "Whose tail is it?", &attribution::content(analysis, attribution))
        }),
        if analysis.is_stated_alone() {
            String::new()
        } else {
            section("figures", "Figures", &places(analysis))
                + &section("tables", "Tables", &tables::tables(analysis))
        },
        section("facts", "How the numbers were made", &facts::facts_of(analysis)),
    ]
    .concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{} – truetail</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <script type=\"application/json\" id=\"description\">{}</script>\n\
         <script type=\"text/plain\" id=\"numbers\">{numbers}</script>\n\
         <script>\n\"use strict\";\n(() => {{\n{}\n{START}}})();\n</script>\n</body>\n</html>\n",
        text(&title),
        style(analysis),
        script_json(&description),
        SCRIPTS.join("\n"),
    )
}

/// The part of the style sheet for drawn figures, where there is one.
fn style(analysis: &Analysis) -> &'static str {
    let joins = analysis.overlay.as_ref().is_some_and(|overlay| overlay.join.is_some());
    if joins || analysis.attribution.is_some() || analysis.statements.is_some() { drawn::STYLE } else { "" }
}

fn section(id: &str, title: &str, content: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{content}</section>\n")
}

/// A figure's place: the script with the kind's name draws into it.
fn place(kind: &str, index: usize, title: &str, says: &str) -> String {
    let (title, says) = (text(title), text(says));
    format!(
        "<figure id=\"{kind}-{index}\" data-kind=\"{kind}\" data-index=\"{index}\">\n\
         <figcaption><h3>{title}</h3><p>{says}</p></figcaption>\n\
         <div class=\"plot\"><canvas role=\"img\" aria-label=\"{title}. {says}\"></canvas></div>\n\
         <div class=\"legend\"></div>\n</figure>\n"
    )
}

/// Where the figures go, in the order of the page.
fn places(analysis: &Analysis) -> String {
    let whole = analysis.total.whole().map_or("service time", |m| m.measure.name());
    let mut markup = String::from(
        "<noscript><p class=\"note\">The figures need JavaScript; all numbers are in the tables.</p></noscript>\n\
         <p class=\"note\" id=\"trouble\" hidden></p>\n",
    );
    if has_anatomy(analysis) {
        let says = format!(
            "What the requests around each quantile of the {whole} spent their time on, as shares of the whole. \
             Only the service belongs to the database."
        );
        markup += &place("anatomy", 0, "Where the time goes", &says);
    }
    for (index, series) in analysis.series.iter().enumerate() {
        let title = format!("{} over time", capital(series.measure.name()));
        let says = "The band reaches from the shortest to the longest request of each moment, so that no extreme \
                    is lost at any zoom. Drag to zoom in, double-click for the whole run.";
        markup += &place("series", index, &title, says);
    }
    if !analysis.total.measures.is_empty() {
        let says = "How long the slowest requests took: each step to the right leaves a tenth of them. \
                    Whiskers are the intervals of the printed quantiles. Dotted where fewer than ten requests lie \
                    beyond: what happened, not what to expect.";
        let floor = if analysis.floor.is_some() {
            " Thin: the floor, what was measured right before the run where nothing was asked."
        } else {
            ""
        };
        markup += &place("spectrum", 0, "Percentile spectrum", &format!("{says}{floor}"));
        let says = format!(
            "{} of each operation: the box holds the middle half, the line in it is the median, whiskers reach \
             to 1.5 box lengths; marks are the 0th, 95th, 99th and 100th percentile.",
            capital(whole)
        );
        markup += &place("boxes", 0, "Operations side by side", &says);
    }
    for (index, map) in analysis.heat_maps.iter().enumerate() {
        let title = format!("{} over time, by frequency", capital(map.measure.name()));
        let says = "How many requests of each duration began at each time; the key tells the colours.";
        markup += &place("heat", index, &title, says);
    }
    if !analysis.load.is_empty() {
        let says = match analysis.offered {
            Some(_) => "What the schedule asked, what completed, and what failed.",
            None => "What completed, and what failed; a closed loop offers no load of its own.",
        };
        markup += &place("load", 0, "Load over time", says);
    }
    markup
}
