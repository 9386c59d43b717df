//! One line for each request, under a header that names columns and units: what a tool without a parser of its own can
//! write, or a script can make of its log.
//!
//! ```text
//! operation,start_us,elapsed_us,ok
//! GET,1795247165882296,316,1
//! ```
//!
//! Which names are known stands in `docs/import.md`; a [`ColumnMap`] names others. Other columns are passed over. An empty
//! length of time says that nothing was measured.

mod columns;
mod fields;
mod map;
mod steps;

pub(crate) use columns::{Columns, Role, Row};
pub(crate) use fields::{fields, other_separator};
pub use map::ColumnMap;
pub(crate) use steps::Steps;

use crate::ImportError;
use crate::format::Output;
use crate::report::{ForeignSample, Reported, ToolReport};
use std::collections::HashMap;
use units::Outcome;

/// Reads every output that has a header.
pub(crate) fn read(outputs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut rows = Rows::default();
    for output in outputs {
        rows.read(output)?;
    }
    if rows.rows.is_empty() {
        let hint = "no header with a column `elapsed_us` (or _ns, _ms, _s), or no line below it";
        return Err(ImportError::Nothing { format: "csv", hint: hint.to_owned() });
    }
    for (row, resolution) in rows.rows.iter_mut().zip(rows.steps.iter().map(Steps::of_lengths)) {
        row.resolution = resolution;
        row.describe_samples();
    }
    let failed: usize =
        rows.rows.iter().map(|row| row.samples.iter().filter(|sample| sample.failed).count()).sum();
    let errors = rows.says_ok.then_some(failed as u64);
    Ok(ToolReport { tool: "csv".to_owned(), errors, rows: rows.rows, ..ToolReport::default() })
}

#[derive(Default)]
struct Rows {
    rows: Vec<Reported>,
    /// How finely the measured times of each are told.
    steps: Vec<Steps>,
    /// Where an operation's row is, by operation and measure.
    known: HashMap<(String, &'static str), usize>,
    /// Sessions by their names, in the order in which they appear.
    sessions: HashMap<String, u32>,
    says_ok: bool,
}

impl Rows {
    fn read(&mut self, output: &Output) -> Result<(), ImportError> {
        let mut columns: Option<Columns> = None;
        for (line, text) in output.lines() {
            let wrong = |why: String| output.wrong_line(line, why);
            match (&columns, Columns::of(text)) {
                (_, Some(found)) => columns = Some(found.map_err(wrong)?),
                (Some(_), None) if text.trim().is_empty() => {}
                (Some(columns), None) => self.take(columns, text).map_err(wrong)?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, columns: &Columns, line: &str) -> Result<(), String> {
        let row = columns.row(line)?;
        let session = row.session.as_ref().map(|name| self.session(name));
        self.says_ok |= row.outcome.is_some();
        // What stands in another column counts from another moment.
        let spent = match columns.measured() {
            Some(Role::Response) => row.response,
            Some(Role::Elapsed) => row.elapsed,
            Some(Role::Service) => row.service,
            _ => None,
        };
        let start = row.start.or(row.intended).or(row.sent);
        let ended =
            row.completed.or_else(|| start.zip(spent).and_then(|(start, spent)| start.checked_add(spent.0)));
        let sample = ForeignSample {
            completed_wall_ns: ended,
            elapsed: spent,
            schedule_lag: row.lag,
            session,
            failed: row.outcome.is_some_and(|outcome| outcome != Outcome::Ok),
        };
        let at = self.place(&row.operation, columns);
        self.rows[at].samples.push(sample);
        self.steps[at].add(columns.measured().map_or_else(Steps::default, |role| row.steps.only(role)));
        Ok(())
    }

    fn session(&mut self, name: &str) -> u32 {
        if let Some(number) = self.sessions.get(name) {
            return *number;
        }
        // There are fewer lines than that.
        let number = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX);
        self.sessions.insert(name.to_owned(), number);
        number
    }

    /// Where the row of an operation is.
    fn place(&mut self, operation: &str, columns: &Columns) -> usize {
        let (measure, counted_from) = columns.measure().unwrap_or_default();
        let (rows, steps) = (&mut self.rows, &mut self.steps);
        *self.known.entry((operation.to_owned(), measure)).or_insert_with(|| {
            rows.push(Reported {
                operation: operation.to_owned(),
                measure: measure.to_owned(),
                counted_from,
                ..Reported::default()
            });
            steps.push(Steps::default());
            rows.len() - 1
        })
    }
}
