//! The exchanges inside of requests.

use super::table::Table;
use super::{MOST_ROWS, Page, estimate_point, longest};
use crate::statements::{missing, of_tail, of_time, per_request, sentence, shares};
use analysis::{ExchangeSummary, OperationStatements, Statements};
use units::Quantile;

/// Operations that are told of in a sentence, those with the most time first.
const MOST_SENTENCES: usize = 5;

/// Columns between name and shares, the dispensable last.
const COLUMNS: [&str; 4] = ["each", "p99", "max", "p50"];

type Row<'a> = (&'a OperationStatements, &'a ExchangeSummary);

impl Page<'_> {
    pub(super) fn statements(&mut self) {
        let Some(statements) = &self.analysis.statements else { return };
        let mut operations: Vec<&OperationStatements> = statements.operations.iter().collect();
        operations.sort_by(|a, b| total(b, b.mean_ns).total_cmp(&total(a, a.mean_ns)));
        let sentences: Vec<String> =
            operations.iter().take(MOST_SENTENCES).map(|operation| sentence(operation)).collect();
        self.wrapped("", "  ", &format!("inside of the requests: {}", sentences.join("; ")));
        let mut rows: Vec<Row> = statements.operations.iter().flat_map(rows_of).collect();
        rows.sort_by(|a, b| total(b.0, b.1.part.mean_ns).total_cmp(&total(a.0, a.1.part.mean_ns)));
        let shown = &rows[..rows.len().min(MOST_ROWS)];
        if !shown.is_empty() {
            let table = self.exchanges(statements, shown);
            self.text.push_str(&table.render(&self.paint, self.width));
        }
        if rows.len() > shown.len() {
            self.line(&format!("… {} more in the report", rows.len() - shown.len()));
        }
        for note in std::iter::once(shares(statements).to_owned()).chain(missing(statements)) {
            for line in super::paint::wrap("", "  ", &note, self.width) {
                self.line(&self.paint.faint(&line));
            }
        }
        self.line("");
    }

    /// With as many columns as the page has room for.
    fn exchanges(&self, statements: &Statements, rows: &[Row]) -> Table {
        let with = |columns: usize| table(statements.operations.len() > 1, &COLUMNS[..columns], rows);
        let fitting = (1..=COLUMNS.len()).rev().map(with).find(|table| table.fits(self.width));
        fitting.unwrap_or_else(|| with(0))
    }
}

/// Nanoseconds of all requests of an operation.
fn total(operation: &OperationStatements, mean_ns: f64) -> f64 {
    operation.requests as f64 * mean_ns
}

fn rows_of(operation: &OperationStatements) -> impl Iterator<Item = Row<'_>> {
    operation.exchanges.iter().map(move |exchange| (operation, exchange))
}

fn table(names_operation: bool, columns: &[&str], rows: &[Row]) -> Table {
    // As a reader expects them, whatever may be left out first.
    let order = ["each", "p50", "p99", "max"];
    let shown: Vec<&str> = order.into_iter().filter(|column| columns.contains(column)).collect();
    let mut head = vec!["exchange (service time)".to_owned()];
    head.extend(shown.iter().map(|&column| column.to_owned()));
    head.push("of time".to_owned());
    // Operations that are asked too seldom have no tail to speak of.
    let has_tail = rows.iter().any(|(operation, _)| operation.slowest.is_some());
    head.extend(has_tail.then(|| "of tail".to_owned()));
    let mut table = Table::new(head);
    for (operation, exchange) in rows {
        let name = match names_operation {
            true => format!("{}: {}", operation.operation, exchange.name),
            false => exchange.name.clone(),
        };
        let mut row = vec![name];
        row.extend(shown.iter().map(|&column| cell(operation, exchange, column)));
        row.push(of_time(operation, &exchange.part));
        row.extend(has_tail.then(|| of_tail(operation, &exchange.part)));
        table.row(row);
    }
    table
}

fn cell(operation: &OperationStatements, exchange: &ExchangeSummary, column: &str) -> String {
    let quantile = |index: usize| {
        let q: Quantile = Quantile::PRINTED[index];
        exchange.times.quantile(q).map_or_else(|| "–".to_owned(), estimate_point)
    };
    match column {
        "each" => per_request(operation, exchange),
        "p50" => quantile(0),
        "p99" => quantile(4),
        _ => longest(&exchange.times),
    }
}
