//! A store's truth beside the measurement: tables, and where its figure goes.

use super::drawn;
use super::markup::{Column, Table, facts, text};
use super::place;
use crate::svg::node_joins;
use crate::text::time;
use crate::truth::{doubts, error, name, pairing, statements, statistics};
use analysis::{Analysis, Overlay};
use serde_json::{Value, json};

use super::blob::Blob;

/// What the section holds.
pub(super) fn content(analysis: &Analysis, overlay: &Overlay) -> String {
    let mut markup = format!("<p>{}.</p>\n", text(&pairing(overlay)));
    for doubt in doubts(overlay) {
        markup += &format!("<p class=\"note\">{}.</p>\n", text(&doubt));
    }
    if !overlay.measures.is_empty() {
        markup += &values(overlay);
    }
    if let Some(moment) = &overlay.moment {
        let says = format!(
            "The {} of the requests around the worst one, by the store (line) and by the client (points); below, how far \
             they are apart: the way back, and the delays of both hosts.{}",
            moment.measure.name(),
            if moment.thinned > 1 {
                format!(" One request of {} is drawn.", moment.thinned)
            } else {
                String::new()
            },
        );
        markup += &place("truth", 0, "Truth and measurement around the worst moment", &says);
    }
    markup += &node_joins(analysis).map_or_else(String::new, |svg| drawn::inline("node-joins", &svg));
    let said = statements(overlay);
    markup += &facts("In numbers", said.iter().map(|(label, text)| (*label, text.clone())));
    markup += &largest(overlay);
    let store = &overlay.store;
    let own = [("command", &store.command), ("version", &store.tool_version)];
    let own = own.into_iter().map(|(name, value)| (name, value.clone()));
    let settings = store.settings.iter().map(|(name, value)| (name.as_str(), value.clone()));
    markup + &facts("The store", own.chain(settings))
}

fn values(overlay: &Overlay) -> String {
    let titles: Vec<String> = overlay
        .measures
        .iter()
        .flat_map(|m| [format!("true {}", m.measure.name()), "measured".to_owned(), "error".to_owned()])
        .collect();
    let mut head = vec![(Column::Words, "")];
    head.extend(titles.iter().map(|title| (Column::Number, title.as_str())));
    let mut table = Table::new("True and measured times of the same requests", &head);
    for statistic in statistics(&overlay.measures) {
        let mut row = vec![name(statistic)];
        for value in overlay.measures.iter().filter_map(|m| m.value(statistic)) {
            row.extend([time(value.truth), time(value.measured), error(value)]);
        }
        table.row(&row);
    }
    table.finish()
}

fn largest(overlay: &Overlay) -> String {
    if overlay.largest.is_empty() {
        return String::new();
    }
    let head = [
        (Column::Number, "request"),
        (Column::Number, "at"),
        (Column::Words, "operation"),
        (Column::Words, "outcome"),
        (Column::Number, "session"),
        (Column::Number, "true service time"),
        (Column::Number, "measured"),
        (Column::Words, "rules that acted"),
    ];
    let mut table = Table::new("Where measurement and truth are farthest apart", &head);
    for one in &overlay.largest {
        table.row(&[
            one.seq.to_string(),
            format!("{:.3} s", one.at.0 as f64 / 1e9),
            text(&one.operation),
            text(one.outcome.name()),
            one.session.to_string(),
            one.truth.to_string(),
            one.measured.to_string(),
            text(&one.rules.join(", ")),
        ]);
    }
    table.finish()
}

/// What the figure is drawn from; null without one.
pub(super) fn figure(overlay: Option<&Overlay>, blob: &mut Blob) -> Value {
    let Some(moment) = overlay.and_then(|overlay| overlay.moment.as_ref()) else { return Value::Null };
    let mut floats = |of: fn(&analysis::overlay::OverlayPoint) -> u64| {
        blob.f64s(&moment.points.iter().map(|point| of(point) as f64).collect::<Vec<f64>>())
    };
    json!({
        "measure": moment.measure.name(),
        "worst": moment.worst.0,
        "at": floats(|point| point.at.0),
        "truth": floats(|point| point.truth.0),
        "measured": floats(|point| point.measured.0),
    })
}
