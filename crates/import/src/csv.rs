//! One line for each request, under a header that names columns and units: what a tool without a parser of its own can
//! write, or a script can make of its log.
//!
//! ```text
//! operation,start_us,elapsed_us,ok
//! GET,1795247165882296,316,1
//! ```
//!
//! | column | meaning |
//! |---|---|
//! | `elapsed_U` | required, unless `response_U` or `service_U` is there; U is `ns`, `us`, `ms` or `s` |
//! | `response_U`, `service_U` | the same, counted from the schedule or from sending |
//! | `start_U` | optional: the moment that the elapsed time counts from, since 1970 |
//! | `lag_U` | optional: how much later than scheduled it was sent |
//! | `operation` | optional: one row of the report for each |
//! | `session` | optional: a number |
//! | `ok` | optional: 1, 0, true, false |
//!
//! Other columns are passed over. Fields have no quotes and no commas. An empty `elapsed` says that nothing was measured.

use crate::ImportError;
use crate::figures::elapsed;
use crate::format::{Output, TimeUnit, quoted};
use crate::report::{CountedFrom, ForeignSample, Reported, ToolReport};
use std::collections::HashMap;
use units::Nanos;

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
    for row in &mut rows.rows {
        row.describe_samples();
    }
    let failed: usize =
        rows.rows.iter().map(|row| row.samples.iter().filter(|sample| sample.failed).count()).sum();
    let errors = rows.says_ok.then_some(failed as u64);
    Ok(ToolReport { tool: "csv".to_owned(), errors, rows: rows.rows, ..ToolReport::default() })
}

/// Where the columns are.
struct Columns {
    elapsed: (usize, TimeUnit),
    measure: &'static str,
    counted_from: CountedFrom,
    start: Option<(usize, TimeUnit)>,
    lag: Option<(usize, TimeUnit)>,
    operation: Option<usize>,
    session: Option<usize>,
    ok: Option<usize>,
    count: usize,
}

impl Columns {
    /// `None` if this is no header; an error if it is one and can't be used.
    fn of(line: &str) -> Option<Result<Columns, String>> {
        let names: Vec<&str> = line.split(',').map(str::trim).collect();
        let timed = |name: &str| {
            names.iter().enumerate().find_map(|(at, column)| {
                let unit = column.strip_prefix(name)?.strip_prefix('_')?;
                TimeUnit::parse(unit).map(|unit| (at, unit))
            })
        };
        let plain = |name: &str| names.iter().position(|column| *column == name);
        let measures = [
            ("response", CountedFrom::Schedule),
            ("elapsed", CountedFrom::Unsaid),
            ("service", CountedFrom::Send),
        ];
        let found = measures.iter().find_map(|(name, from)| Some((timed(name)?, *name, *from)));
        let Some((elapsed, measure, counted_from)) = found else {
            let bare = measures.iter().find(|(name, _)| plain(name).is_some());
            return bare.map(|(name, _)| {
                Err(format!("the column `{name}` has no unit; call it `{name}_us` or the like"))
            });
        };
        Some(Ok(Columns {
            elapsed,
            measure,
            counted_from,
            start: timed("start"),
            lag: timed("lag"),
            operation: plain("operation"),
            session: plain("session"),
            ok: plain("ok"),
            count: names.len(),
        }))
    }
}

#[derive(Default)]
struct Rows {
    rows: Vec<Reported>,
    /// Where an operation's row is, by operation and measure.
    known: HashMap<(String, &'static str), usize>,
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
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != columns.count {
            return Err(format!(
                "{} has {} fields, the header {}",
                quoted(line),
                fields.len(),
                columns.count
            ));
        }
        let time = |(at, unit): (usize, TimeUnit)| -> Result<Option<Nanos>, String> {
            let text = fields[at];
            let read = elapsed(text, unit.one());
            if text.is_empty() {
                Ok(None)
            } else {
                read.map(Some).ok_or_else(|| format!("{} is no time", quoted(text)))
            }
        };
        let start = columns.start.map(|column| moment(fields[column.0], column.1)).transpose()?.flatten();
        let spent = time(columns.elapsed)?;
        let ok = columns.ok.map(|at| truth(fields[at])).transpose()?;
        self.says_ok |= ok.is_some();
        let session = columns
            .session
            .map(|at| fields[at].parse().map_err(|_| format!("session {} is no number", quoted(fields[at]))));
        let sample = ForeignSample {
            completed_wall_ns: start.zip(spent).and_then(|(start, spent)| start.checked_add(spent.0)),
            elapsed: spent,
            schedule_lag: columns.lag.map(time).transpose()?.flatten(),
            session: session.transpose()?,
            failed: ok == Some(false),
        };
        let operation = columns.operation.map_or("", |at| fields[at]);
        self.row(operation, columns).samples.push(sample);
        Ok(())
    }

    fn row(&mut self, operation: &str, columns: &Columns) -> &mut Reported {
        let rows = &mut self.rows;
        let at = *self.known.entry((operation.to_owned(), columns.measure)).or_insert_with(|| {
            rows.push(Reported {
                operation: operation.to_owned(),
                measure: columns.measure.to_owned(),
                counted_from: columns.counted_from,
                resolution: Some(columns.elapsed.1.one()),
                ..Reported::default()
            });
            rows.len() - 1
        });
        &mut self.rows[at]
    }
}

/// Nanoseconds since 1970. Whole numbers are not rounded as floating point numbers would be.
fn moment(text: &str, unit: TimeUnit) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let whole = text.parse::<u64>().ok().and_then(|count| count.checked_mul(unit.one().0));
    let moment = whole.or_else(|| elapsed(text, unit.one()).map(|nanos| nanos.0));
    moment.map(Some).ok_or_else(|| format!("{} is no moment", quoted(text)))
}

fn truth(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("ok is {}; write 1 or 0", quoted(text))),
    }
}
