//! The exchanges inside of requests: the figure, and a table for each operation.

use super::drawn::inline;
use super::head::{count, time_cell};
use super::markup::{Column, Table, text};
use crate::statements::{BETWEEN, missing, of_tail, of_time, per_request, sentence, shares};
use crate::svg::statements_figure;
use crate::text::{capital, time};
use analysis::{Analysis, ExchangeSummary, OperationStatements, Part, Statements};
use units::{Quantile, format_nanos};

/// What the section holds.
pub(super) fn content(analysis: &Analysis, statements: &Statements) -> String {
    let mut markup = statements_figure(analysis).map_or_else(String::new, |svg| inline("statements-0", &svg));
    for operation in &statements.operations {
        markup += &format!("<p class=\"says\">{}.</p>\n", text(&sentence(operation)));
        markup += &table(operation);
    }
    for note in std::iter::once(shares(statements).to_owned()).chain(missing(statements)) {
        markup += &format!("<p class=\"note\">{}.</p>\n", text(&capital(&note)));
    }
    markup
}

/// Median, p99 and p99.9.
const SHOWN: [usize; 3] = [0, 4, 5];

fn table(operation: &OperationStatements) -> String {
    let quantiles = SHOWN.map(|index| Quantile::PRINTED[index]);
    let names = quantiles.map(|q| q.name());
    let mut head =
        vec![(Column::Words, "exchange"), (Column::Number, "in a request"), (Column::Number, "not ok")];
    head.extend(names.iter().map(|name| (Column::Number, name.as_str())));
    let last = ["max", "of a mean request", "of time", "of a slow request", "of tail"];
    head.extend(last.map(|name| (Column::Number, name)));
    let caption = format!("{}: its {} requests’ exchanges", operation.operation, count(operation.requests));
    let mut table = Table::new(&caption, &head);
    for exchange in &operation.exchanges {
        let mut row = vec![name(exchange), per_request(operation, exchange), count(exchange.failed)];
        let needs = |q: Quantile| format!("<small>needs {}</small>", count(q.samples_needed()));
        row.extend(quantiles.map(|q| exchange.times.quantile(q).map_or_else(|| needs(q), time_cell)));
        let least = if exchange.times.censored > 0 { "≥ " } else { "" };
        row.push(format!("{least}{}", format_nanos(exchange.times.max)));
        row.extend(parts(operation, &exchange.part));
        table.row(&row);
    }
    let mut row = vec![BETWEEN.to_owned()];
    row.resize(head.len() - 4, String::new());
    row.extend(parts(operation, &operation.between));
    table.row(&row);
    table.finish()
}

/// Its name, with the statement in full for who points at it.
fn name(exchange: &ExchangeSummary) -> String {
    let commands = match exchange.commands {
        c if c <= 1.0 => String::new(),
        c => format!(" <small>{c:.1} commands</small>"),
    };
    match &exchange.text {
        None => text(&exchange.name) + &commands,
        Some(sql) => {
            format!("<abbr title=\"{}\">{}</abbr>{commands}", text(sql), text(&exchange.name))
        }
    }
}

fn parts(operation: &OperationStatements, part: &Part) -> [String; 4] {
    [
        time(part.mean_ns),
        of_time(operation, part),
        part.slow_mean_ns.map_or_else(|| "–".to_owned(), time),
        of_tail(operation, part),
    ]
}
