//! The table of exchanges inside of requests, where a run times its statements.

use super::column::{ColumnSink, ColumnSource};
use super::small::{Row, column, instant};
use crate::Statement;
use crate::sealed::{self, PartFacts, SealedFile};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use units::Outcome;

/// The name of the table in footers, and of its directory.
pub(crate) const STATEMENTS: &str = "statements";

/// Rows of a merged part: a reader decodes a part whole, and these take ≈ 50 MB.
pub(crate) const ROWS_TOGETHER: usize = 1 << 18;

impl Row for Statement {
    fn encode(rows: &[Statement], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
        let schema = sealed::schema(
            "message statement {
                REQUIRED INT64 seq (INTEGER(64,false));
                REQUIRED INT32 op (INTEGER(8,false));
                REQUIRED INT32 statement (INTEGER(16,false));
                REQUIRED INT32 commands (INTEGER(16,false));
                REQUIRED INT32 position (INTEGER(16,false));
                REQUIRED INT32 attempt (INTEGER(8,false));
                REQUIRED INT32 with (INTEGER(8,false));
                REQUIRED INT32 phase (INTEGER(8,false));
                REQUIRED INT32 outcome (INTEGER(8,false));
                OPTIONAL INT64 sent_ns;
                OPTIONAL INT64 service_ns;
                OPTIONAL INT64 pick_up_ns;
            }",
        );
        let delta = ["seq", "sent_ns", "service_ns", "pick_up_ns"];
        let dictionary = ["op", "statement", "commands", "position", "attempt", "with", "phase", "outcome"];
        let mut file = sealed::begin(schema, sealed::properties(&delta, &dictionary))?;
        let mut sink = ColumnSink::new(file.next_row_group()?);
        sink.required(rows.iter().map(|row| row.seq.cast_signed()))?;
        sink.small(rows.iter().map(|row| i32::from(row.op)))?;
        sink.small(rows.iter().map(|row| i32::from(row.label)))?;
        sink.small(rows.iter().map(|row| i32::from(row.commands)))?;
        sink.small(rows.iter().map(|row| i32::from(row.position)))?;
        sink.small(rows.iter().map(|row| i32::from(row.attempt)))?;
        sink.small(rows.iter().map(|row| i32::from(row.with)))?;
        sink.small(rows.iter().map(|row| i32::from(row.phase)))?;
        sink.small(rows.iter().map(|row| i32::from(row.outcome.code())))?;
        sink.optional(rows.iter().map(|row| column(row.sent)))?;
        let time = |n: Option<units::Nanos>| n.map(|time| time.0.cast_signed());
        sink.optional(rows.iter().map(|row| time(row.service())))?;
        // A stamp may lie a little behind: the difference is signed.
        let pick_up = |row: &Statement| {
            let known = row.arrived.is_some() && row.completed.is_some();
            known.then(|| row.completed.0.wrapping_sub(row.arrived.0).cast_signed())
        };
        sink.optional(rows.iter().map(pick_up))?;
        sink.close()?;
        sealed::seal(file, facts)
    }

    fn decode(file: &SealedFile) -> Result<Vec<Statement>, String> {
        let rows = usize::try_from(file.rows).map_err(|e| e.to_string())?;
        let long = |name: &'static str| -> Result<Vec<Option<u64>>, String> {
            let mut source = ColumnSource::<Int64Type>::new(name, file.column(name)?)?;
            source.advance(rows)?;
            Ok(source.options(rows).map(|value| value.map(i64::cast_unsigned)).collect())
        };
        let small = |name: &'static str| -> Result<Vec<i32>, String> {
            let mut source = ColumnSource::<Int32Type>::new(name, file.column(name)?)?;
            source.advance(rows)?;
            Ok(source.values().to_vec())
        };
        let mut seq = ColumnSource::<Int64Type>::new("seq", file.column("seq")?)?;
        seq.advance(rows)?;
        let (op, label, commands) = (small("op")?, small("statement")?, small("commands")?);
        let (position, attempt, with) = (small("position")?, small("attempt")?, small("with")?);
        let (phase, outcome, sent) = (small("phase")?, small("outcome")?, long("sent_ns")?);
        let (service, pick_up) = (long("service_ns")?, long("pick_up_ns")?);
        let mut all = Vec::with_capacity(rows);
        for (row, &seq) in seq.values().iter().enumerate() {
            let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.wrapping_add(b).cast_signed());
            let completed = instant(sum(sent[row], service[row]));
            let back = pick_up[row].map(u64::wrapping_neg);
            all.push(Statement {
                sent: instant(sent[row].map(u64::cast_signed)),
                arrived: instant(sum(completed.get().map(|at| at.0), back)),
                completed,
                seq: seq.cast_unsigned(),
                client: file.facts.client,
                label: label[row] as u16,
                commands: commands[row] as u16,
                position: position[row] as u16,
                op: op[row] as u8,
                attempt: attempt[row] as u8,
                with: with[row] as u8,
                phase: phase[row] as u8,
                // An outcome of a later version is an error all the same.
                outcome: Outcome::from_code(outcome[row] as u8).unwrap_or(Outcome::Server),
            });
        }
        Ok(all)
    }
}
