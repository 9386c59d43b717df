//! A truth log as CSV.

use super::quoted;
use record::{TruthHeader, TruthLog, TruthRow};
use std::io::{self, BufWriter, Write};
use units::Instant;

const COLUMNS: &str = "seq,connection,number,operation,node,rules,stamped,arrived_ns,begun_ns,due_ns,written_ns,\
                       lateness_ns,staleness_versions,staleness_ns,age_ns,key_hash";

/// One row per request, in the order in which they were logged.
pub(super) fn csv(log: &TruthLog, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    writeln!(out, "{COLUMNS}")?;
    let mut failed = None;
    log.scan(|rows| {
        if failed.is_none() {
            failed = rows.iter().try_for_each(|row| line(&mut out, row, log.header())).err();
        }
    });
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(out.flush()?),
    }
}

fn line(out: &mut impl Write, row: &TruthRow, header: &TruthHeader) -> io::Result<()> {
    let operation = header.operations.get(usize::from(row.operation)).map_or("?", String::as_str);
    let acted = header.rules.iter().take(16).enumerate().filter(|(bit, _)| row.rules >> bit & 1 == 1);
    let rules: Vec<&str> = acted.map(|(_, name)| name.as_str()).collect();
    let at = |instant: Instant| number(instant.get().map(|at| at.0));
    let staleness = row.staleness;
    writeln!(
        out,
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
        row.seq,
        row.connection,
        row.number,
        quoted(operation),
        row.node,
        quoted(&rules.join("+")),
        row.stamped,
        at(row.arrived),
        at(row.begun),
        at(row.due),
        at(row.written),
        number(row.lateness().map(|late| late.0)),
        number(staleness.map(|s| u64::from(s.versions))),
        number(staleness.map(|s| s.time.0)),
        number(staleness.map(|s| s.age.0)),
        row.key.map_or_else(String::new, |key| format!("{key:016x}")),
    )
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
